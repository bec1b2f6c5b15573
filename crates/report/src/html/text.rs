//! Text and numbers as HTML.

use bosket_model::words::grouped;

/// Escapes what has a meaning in HTML, in texts and in attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Browsers replace or drop what is not a character of HTML.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A share as per cent. What is not nothing is never shown as nothing, what is not all never as all.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        p if p <= 0.0 => "0 %".to_owned(),
        p if p < 0.1 => "&lt; 0.1 %".to_owned(),
        p if p >= 100.0 => "100 %".to_owned(),
        p if p > 99.9 => "&gt; 99.9 %".to_owned(),
        // Near all nothing is rounded up: nine people of a thousand are more than one of a thousand.
        p if p >= 99.0 => format!("{:.1} %", (10.0 * p + 1e-9).floor() / 10.0),
        p if p >= 10.0 => format!("{p:.0} %"),
        p => format!("{p:.1} %"),
    }
}

/// A whole number in groups of three digits.
pub(super) fn count(number: usize) -> String {
    grouped(number, '\u{202f}')
}

/// A figure of any size in few characters.
pub(super) fn figure(value: f64) -> String {
    let size = value.abs();
    if value.fract() == 0.0 && size < 1e15 {
        let sign = if value < 0.0 { "−" } else { "" };
        return format!("{sign}{}", count(size as usize));
    }
    if (1e-3..1e6).contains(&size) { format!("{value:.3}") } else { format!("{value:.2e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_place() {
        assert_eq!(escape("<a href=\"x\" b='y'>&"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
        assert_eq!(escape("a\u{0}b"), "a\u{fffd}b");
    }

    #[test]
    fn shares_are_not_rounded_to_none_or_all() {
        let shown: Vec<String> = [0.0, 0.0002, 0.012, 0.5, 0.9985, 0.9996, 1.0].map(percent).into();
        assert_eq!(shown, ["0 %", "&lt; 0.1 %", "1.2 %", "50 %", "99.8 %", "&gt; 99.9 %", "100 %"]);
        // 499 of 500 people, and others where one decimal says it exactly.
        for people in [495, 496, 497, 498, 499] {
            assert_eq!(percent(f64::from(people) / 500.0), format!("{:.1} %", f64::from(people) / 5.0));
        }
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(figure(0.12345), "0.123");
        assert_eq!(figure(12.0), "12");
        assert_eq!(figure(1.5e-7), "1.50e-7");
    }
}
