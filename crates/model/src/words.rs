//! Numbers in sentences.

/// A whole number with a sign between groups of three digits.
pub fn grouped(n: usize, sign: char) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(sign);
        }
        out.push(c);
    }
    out
}

/// A number as terminals show it: 1,234,567.
pub fn count(n: usize) -> String {
    grouped(n, ',')
}

/// `1 record`, `2 records`, `1,234 records`.
pub fn plural(n: usize, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three_digits() {
        let shown = [0, 12, 123, 1_234, 123_456, 1_234_567].map(count);
        assert_eq!(shown, ["0", "12", "123", "1,234", "123,456", "1,234,567"]);
        assert_eq!(grouped(1_234_567, '\u{202f}'), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn only_one_is_one() {
        let shown = [0, 1, 2, 1_000].map(|n| plural(n, "record"));
        assert_eq!(shown, ["0 records", "1 record", "2 records", "1,000 records"]);
    }
}
