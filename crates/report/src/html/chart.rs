//! Charts as SVG, coloured by the page's style so that they follow its light and dark sides. Each has a text alternative
//! inside and its numbers in a table beside it.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::text::{escape, percent};

/// The width that charts are drawn for: that of a phone, so that letters stay readable there.
const WIDTH: f64 = 350.0;

/// One line of a bar chart: a name and its parts, as shares.
pub(super) struct Bar<'a> {
    pub(super) name: String,
    pub(super) parts: Vec<Part<'a>>,
}

/// A part of a line.
pub(super) struct Part<'a> {
    /// What names its colour.
    pub(super) class: &'a str,
    /// What it is called for those who do not see it.
    pub(super) name: Cow<'a, str>,
    pub(super) share: f64,
}

impl<'a> Part<'a> {
    /// A part that is called like its colour.
    pub(super) fn new(class: &'a str, share: f64) -> Self {
        Part { class, name: Cow::Borrowed(class), share }
    }
}

/// Wraps a drawing with its title and description.
fn frame(id: &str, title: &str, description: &str, height: f64, body: &str) -> String {
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
         <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>{body}</svg>\n",
        escape(title),
        escape(description)
    )
}

/// Bars beside each other per line, for comparing. Classes name the colours.
pub(super) fn grouped(id: &str, title: &str, bars: &[Bar<'_>]) -> String {
    let longest = bars.iter().flat_map(|b| &b.parts).map(|p| p.share).fold(0.0, f64::max).max(1e-9);
    let (left, right, thick, gap) = (102.0, 56.0, 11.0, 9.0);
    let mut body = String::new();
    let mut told = String::new();
    let mut y = 4.0;
    for bar in bars {
        let height = thick * bar.parts.len() as f64;
        let middle = y + height / 2.0 + 4.0;
        let _ = write!(body, "<text x=\"0\" y=\"{middle:.1}\">{}</text>", escape(&bar.name));
        for Part { class, name, share } in &bar.parts {
            let width = (WIDTH - left - right) * share / longest;
            let shown = percent(*share);
            let _ = write!(
                body,
                "<rect class=\"{class}\" x=\"{left}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"2\"/>\
                 <text class=\"faint\" x=\"{:.1}\" y=\"{:.1}\">{shown}</text>",
                thick - 1.0,
                left + width + 4.0,
                y + thick - 2.0
            );
            let _ = write!(told, "{}, {name}: {}; ", bar.name, plain(&shown));
            y += thick;
        }
        y += gap;
    }
    frame(id, title, told.trim_end_matches("; "), y, &body)
}

/// One bar per line, parted; names above the bars since paths are long.
pub(super) fn stacked(id: &str, title: &str, bars: &[Bar<'_>]) -> String {
    let mut body = String::new();
    let mut told = String::new();
    let mut y = 14.0;
    for bar in bars {
        let _ = write!(body, "<text x=\"0\" y=\"{y:.1}\">{}</text>", escape(&shortened(&bar.name)));
        let mut x = 0.0;
        for Part { class, name, share } in &bar.parts {
            let width = WIDTH * share;
            if width > 0.0 {
                let _ = write!(
                    body,
                    "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"12\"/>",
                    y + 5.0
                );
            }
            let _ = write!(told, "{}, {name}: {}; ", bar.name, plain(&percent(*share)));
            x += width;
        }
        y += 36.0;
    }
    frame(id, title, told.trim_end_matches("; "), y - 14.0, &body)
}

/// Lines of shares over whole numbers.
pub(super) fn lines(id: &str, title: &str, across: &str, series: &[(&str, Vec<(u32, f64)>)]) -> String {
    let (left, right, top, bottom) = (44.0, 14.0, 10.0, 40.0);
    let height = 210.0;
    let xs = series.iter().flat_map(|s| s.1.iter().map(|p| p.0));
    let (low, high) = (xs.clone().min().unwrap_or(1), xs.max().unwrap_or(1));
    let x = |v: u32| {
        let span = f64::from((high - low).max(1));
        left + f64::from(v - low) / span * (WIDTH - left - right)
    };
    let y = |share: f64| top + (1.0 - share) * (height - top - bottom);
    let mut body = String::new();
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let _ = write!(
            body,
            "<path class=\"rule\" d=\"M{left} {0:.1}H{1:.1}\"/><text class=\"faint\" x=\"{2:.1}\" y=\"{3:.1}\" text-anchor=\"end\">{4:.0} %</text>",
            y(tick),
            WIDTH - right,
            left - 6.0,
            y(tick) + 4.0,
            tick * 100.0
        );
    }
    for v in low..=high {
        let _ = write!(
            body,
            "<text class=\"faint\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{v}</text>",
            x(v),
            height - bottom + 16.0
        );
    }
    let _ = write!(
        body,
        "<text class=\"faint\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        (left + WIDTH - right) / 2.0,
        height - 6.0,
        escape(across)
    );
    let mut told = String::new();
    for (class, points) in series {
        let mut path = String::new();
        for (i, (at, share)) in points.iter().enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}", if i == 0 { "M" } else { "L" }, x(*at), y(*share));
            let _ = write!(
                body,
                "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"/>",
                x(*at),
                y(*share)
            );
            let _ = write!(told, "{class} at {at}: {}; ", plain(&percent(*share)));
        }
        let _ = write!(body, "<path class=\"line {class}\" d=\"{path}\"/>");
    }
    frame(id, title, told.trim_end_matches("; "), height, &body)
}

/// A share as text that is escaped later.
fn plain(percent: &str) -> String {
    percent.replace("&lt;", "<").replace("&gt;", ">")
}

/// A path that fits above its bar: its end says more than its beginning.
fn shortened(path: &str) -> String {
    const FIT: usize = 40;
    let length = path.chars().count();
    if length <= FIT {
        path.to_owned()
    } else {
        format!("…{}", path.chars().skip(length - FIT + 1).collect::<String>())
    }
}
