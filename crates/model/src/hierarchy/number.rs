//! Decimal numbers exactly as they are written, so that interval bounds carry no binary noise.

/// ± digits × 10^exponent, without zeros at either end of the digits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Reads `-12.50`, `.5`, `1e3`, … with blanks around allowed.
    pub(super) fn parse(text: &str) -> Option<Decimal> {
        let text = text.trim();
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, power) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let kept = all.trim_end_matches('0');
        let exponent = i64::from(power) - fraction.len() as i64 + (all.len() - kept.len()) as i64;
        let digits = kept.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Decimal { negative: false, digits, exponent: 0 });
        }
        Some(Decimal { negative, digits, exponent })
    }

    /// The shortest decimal that means this number; none for infinities and NaN.
    pub(super) fn from_f64(number: f64) -> Option<Decimal> {
        Decimal::parse(&number.to_string())
    }

    /// How many digits stand after the point.
    pub(super) fn places(&self) -> u64 {
        self.exponent.min(0).unsigned_abs()
    }

    /// The number in units of 10^-scale, rounded down, and whether rounding changed it. What is too large for the
    /// result becomes its largest or smallest value.
    pub(super) fn floor(&self, scale: u32) -> (i128, bool) {
        let shift = self.exponent + i64::from(scale);
        let length = self.digits.len() as i64 + shift;
        let (magnitude, cut) = if length > 37 {
            (i128::MAX - 1, false)
        } else if length <= 0 || self.digits.is_empty() {
            (0, !self.digits.is_empty())
        } else {
            let kept = self.digits.len().min(length as usize);
            let zeros = length as usize - kept;
            let parsed = self.digits[..kept].parse::<i128>().expect("at most 37 digits");
            (parsed * 10i128.pow(zeros as u32), kept < self.digits.len())
        };
        if self.negative { (-magnitude - i128::from(cut), cut) } else { (magnitude, cut) }
    }
}

/// A number in units of 10^-scale, written as short as it can be.
pub(super) fn show(number: i128, scale: u32) -> String {
    let unit = 10u128.pow(scale);
    let sign = if number < 0 { "-" } else { "" };
    let (whole, fraction) = (number.unsigned_abs() / unit, number.unsigned_abs() % unit);
    if fraction == 0 {
        return format!("{sign}{whole}");
    }
    let fraction = format!("{fraction:0width$}", width = scale as usize);
    format!("{sign}{whole}.{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_number() {
        let five = Decimal::parse("5");
        for text in ["05", "5.0", "+5", "0.5e1", "500E-2", " 5 ", "5."] {
            assert_eq!(Decimal::parse(text), five, "{text}");
        }
        for text in ["", ".", "5,0", "1900-1904", "e5", "--5", "NaN", "inf", "0x5", "1e", "5 5"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse("-0.0"), Decimal::parse("0"));
    }

    #[test]
    fn rounding_goes_down() {
        let floor = |text: &str, scale| Decimal::parse(text).expect("a number").floor(scale);
        assert_eq!(floor("3.59", 1), (35, true));
        assert_eq!(floor("3.5", 1), (35, false));
        assert_eq!(floor("-3.59", 1), (-36, true));
        assert_eq!(floor("-0.001", 0), (-1, true));
        assert_eq!(floor("0.001", 0), (0, true));
        assert_eq!(floor("0", 3), (0, false));
        assert_eq!(floor("12e2", 2), (120_000, false));
        assert_eq!(floor("1e999999999", 0).0, i128::MAX - 1);
        assert_eq!(floor("1e-999999999", 0), (0, true));
    }

    #[test]
    fn no_binary_noise() {
        assert_eq!(Decimal::from_f64(0.1).expect("finite").places(), 1);
        assert_eq!(show(3, 1), "0.3");
        assert_eq!(show(-1250, 2), "-12.5");
        assert_eq!(show(-5, 2), "-0.05");
        assert_eq!(show(1900, 0), "1900");
    }
}
