//! At which levels of their hierarchies values are published, drawn and in numbers.

use std::fmt::Write as _;

use super::chart::{Bar, Part, stacked};
use super::text::{count, escape, percent};
use crate::levels::Levels;

/// Colours between those of values as they were and of `*`.
const SHADES: [&str; 3] = ["level-1", "level-2", "level-3"];

const TITLE: &str = "At which level the values of each attribute are published";

/// The figure and its table; nothing where no attribute has a hierarchy.
pub(super) fn section(all: &[Levels]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let bars: Vec<Bar<'_>> =
        all.iter().map(|levels| Bar { name: levels.path.clone(), parts: parts(levels) }).collect();
    let colour = |name: &str, what: &str| format!("<li><i class=\"{name}\"></i>{what}</li>");
    format!(
        "<figure><figcaption>{TITLE}</figcaption><ul class=\"key\">{}{}{}{}{}</ul>{}</figure>\n{}",
        colour("after", "as it was"),
        colour(SHADES[0], "a low level"),
        colour(SHADES[1], "in the middle"),
        colour(SHADES[2], "a high level"),
        colour("gone", "<code>*</code>, anything"),
        stacked("levels", TITLE, &bars),
        table(all)
    )
}

fn parts(levels: &Levels) -> Vec<Part<'static>> {
    let inner = levels.between.len();
    let mut parts = vec![Part { class: "kept", name: "as it was".into(), share: levels.share(levels.exact) }];
    parts.extend(levels.between.iter().enumerate().map(|(i, &values)| Part {
        class: SHADES[(2 * i + 1) * SHADES.len() / (2 * inner)],
        name: format!("level {}", inner - i).into(),
        share: levels.share(values),
    }));
    parts.push(Part { class: "gone", name: "*".into(), share: levels.share(levels.anything) });
    parts
}

fn table(all: &[Levels]) -> String {
    let deepest = all.iter().map(|levels| levels.between.len()).max().unwrap_or(0);
    let mut out = String::from(
        "<div class=\"scroll\"><table><thead><tr><th>attribute</th><th class=\"n\">published</th><th class=\"n\">as it was</th>",
    );
    for level in (1..=deepest).rev() {
        let _ = write!(out, "<th class=\"n\">level {level}</th>");
    }
    out.push_str("<th class=\"n\"><code>*</code></th></tr></thead><tbody>");
    for levels in all {
        let _ = write!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>",
            escape(&levels.path),
            count(levels.all()),
            percent(levels.share(levels.exact))
        );
        for level in (1..=deepest).rev() {
            let own = levels.between.len().checked_sub(level).map(|i| levels.share(levels.between[i]));
            let _ = write!(out, "<td class=\"n\">{}</td>", own.map_or("–".to_owned(), percent));
        }
        let _ = write!(out, "<td class=\"n\">{}</td></tr>", percent(levels.share(levels.anything)));
    }
    out.push_str(
        "</tbody></table></div>\n<p class=\"soft\">Shares of the published values. Level 1 is the one below <code>*</code>; –: the \
         hierarchy has no such level.</p>\n",
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_its_share_and_a_colour() {
        let town = Levels { path: "t<wn".to_owned(), exact: 5, between: vec![3, 0], anything: 2 };
        let html = section(&[town]);
        assert!(
            html.contains("t&lt;wn, as it was: 50 %; t&lt;wn, level 2: 30 %; t&lt;wn, level 1: 0 %"),
            "{html}"
        );
        assert!(html.contains("class=\"level-1\" x=\"175.0\""), "{html}");
        assert!(html.contains("class=\"gone\" x=\"280.0\""), "{html}");
        assert!(section(&[]).is_empty());
    }

    #[test]
    fn neighbouring_levels_differ_as_far_as_there_are_colours() {
        for inner in 0..9 {
            let parts =
                parts(&Levels { path: String::new(), exact: 1, between: vec![1; inner], anything: 1 });
            let classes: Vec<&str> = parts.iter().map(|part| part.class).collect();
            assert_eq!((classes[0], classes[inner + 1]), ("kept", "gone"));
            assert!(inner > SHADES.len() || classes.windows(2).all(|two| two[0] != two[1]), "{classes:?}");
        }
    }
}
