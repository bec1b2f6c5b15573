//! Rows and values in and out, as text.

use bosket_measure::kept::{Before, Fate, Kept, Lost};
use bosket_model::policy::Role;

use crate::output::count;

/// A line per class, and below it one per attribute: `payment[]: 5,593 of 16,049 rows, 10,456 pruned`.
pub(super) fn text(kept: &Kept) -> String {
    let mut out = String::new();
    let mut told = vec![false; kept.attributes.len()];
    for class in &kept.classes {
        out.push_str(&format!("{}{}\n", class_name(&class.path), fate(&class.rows, rows(&class.path))));
        for (attribute, told) in kept.attributes.iter().zip(&mut told).filter(|(a, _)| a.class == class.path)
        {
            *told = true;
            let name = attribute_name(&attribute.path, attribute.kind());
            out.push_str(&format!("  {name}: {}\n", fate(&attribute.values, " values")));
        }
    }
    // Rows of sensitive values alone are none any more where these stand apart.
    for (attribute, _) in kept.attributes.iter().zip(told).filter(|(_, told)| !told) {
        let name = attribute_name(&attribute.path, attribute.kind());
        out.push_str(&format!("{name}: {}\n", fate(&attribute.values, " values")));
    }
    out
}

/// What goes in.
pub(super) fn before(before: &Before) -> String {
    let mut out = String::new();
    for (path, number) in &before.classes {
        out.push_str(&format!("  {}{}{}\n", class_name(path), count(*number as usize), rows(path)));
        let own = before.attributes.iter().filter(|a| a.1 == *path);
        own.for_each(|(path, _, role, values)| {
            let name = attribute_name(path, (*role != Role::Quasi).then(|| role.name().to_owned()));
            out.push_str(&format!("    {name}: {} values\n", count(*values as usize)));
        });
    }
    out
}

fn class_name(path: &str) -> String {
    if path.is_empty() { "records: ".to_owned() } else { format!("{path}: ") }
}

fn rows(path: &str) -> &'static str {
    if path.is_empty() { "" } else { " rows" }
}

fn attribute_name(path: &str, kind: Option<String>) -> String {
    kind.map_or_else(|| path.to_owned(), |kind| format!("{path} ({kind})"))
}

fn fate(fate: &Fate, what: &str) -> String {
    let number = |n: u64| count(n as usize);
    let mut out = format!("{} of {}{what}", number(fate.published), number(fate.input));
    let mut add = |n: u64, how: &str| {
        if n > 0 {
            out.push_str(&format!(", {} {how}", number(n)));
        }
    };
    add(fate.moved, "of them moved");
    add(fate.anything, "of them as `*`");
    add(fate.published.saturating_sub(fate.input), "more than there were");
    match fate.lost {
        Some(Lost { merged, pruned, left_out, suppressed }) => {
            add(merged, "merged with look-alikes");
            add(pruned, "pruned");
            add(left_out, "left out");
            add(suppressed, "suppressed with their record");
        }
        None => add(fate.gone(), "not published (a mapping tells how)"),
    }
    out
}
