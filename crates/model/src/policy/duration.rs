//! How long something may take: `500ms`, `60s`, `5m`, `2h`.

use std::time::Duration;

/// What is said to who writes anything else.
pub(super) const EXPECTED: &str = "a whole number with its unit: \"500ms\", \"60s\", \"5m\" or \"2h\"";

/// The same for a JSON Schema.
pub(super) const PATTERN: &str = "^0*[1-9][0-9]*(ms|s|m|h)$";

/// A whole number with its unit, more than nothing.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit);
    let number: u64 = number.parse().ok().filter(|&n| n > 0)?;
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        "h" => number.checked_mul(3600).map(Duration::from_secs),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        assert_eq!(parse("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(parse("60s"), Some(Duration::from_secs(60)));
        assert_eq!(parse("5m"), Some(Duration::from_secs(300)));
        assert_eq!(parse("2h"), Some(Duration::from_secs(7200)));
    }

    #[test]
    fn anything_else_is_no_duration() {
        for text in [
            "",
            "60",
            "s",
            "0s",
            "1.5s",
            "-1s",
            "60 s",
            "60S",
            "1d",
            "99999999999999999999s",
            "9999999999999999999h",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
