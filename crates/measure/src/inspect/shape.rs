//! What the values of an attribute look like.

use std::fmt;

use bosket_model::Kind;
use bosket_model::hierarchy::atc;

use super::codes::{Code, Codes};
use super::written::{Found, Written};

/// What an attribute's values are. Numbers in text columns count as numbers, unless they start with a zero: then they
/// are codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// There is no value.
    Empty,
    /// Whole numbers.
    Integer,
    /// Whole numbers that are years.
    Year,
    /// Numbers, some with a fraction.
    Decimal,
    /// `true` and `false`.
    Bool,
    /// Days or months: `YYYY-MM-DD`, `YYYY-MM`.
    Date,
    /// Days, some with a time.
    DateTime,
    /// Text.
    Text,
    /// Mostly numbers or dates, but not only.
    Mixed,
}

impl ValueType {
    /// How it is called.
    pub const fn name(self) -> &'static str {
        match self {
            ValueType::Empty => "empty",
            ValueType::Integer => "integer",
            ValueType::Year => "year",
            ValueType::Decimal => "decimal",
            ValueType::Bool => "bool",
            ValueType::Date => "date",
            ValueType::DateTime => "date-time",
            ValueType::Text => "text",
            ValueType::Mixed => "mixed",
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Smallest and largest number. Extremes are values of the data, so not even debugging output shows them.
#[derive(Clone, Copy)]
pub(super) struct Extremes {
    pub(super) min: f64,
    pub(super) max: f64,
}

impl fmt::Debug for Extremes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(not shown)")
    }
}

impl Default for Extremes {
    fn default() -> Self {
        Extremes { min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl Extremes {
    fn add(&mut self, number: f64) {
        self.min = self.min.min(number);
        self.max = self.max.max(number);
    }
}

/// How many distinct values have which form.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub(super) values: usize,
    pub(super) integers: usize,
    pub(super) decimals: usize,
    pub(super) bools: usize,
    /// Days and months.
    pub(super) dates: usize,
    pub(super) times: usize,
    /// Digits that start with a zero.
    pub(super) codes: usize,
    pub(super) texts: usize,
    /// Written as ATC codes of medicines, and as nothing else that is known here: `A10BA02`, `A10BA`, `A10B`.
    pub(super) atc: usize,
    /// Of three characters, which may be a group of ATC as well as a category of ICD-10: `C09`.
    pub(super) atc_or_icd: usize,
    /// Written as ICD-10 codes, dot included.
    pub(super) icd_dotted: usize,
    /// Written as ICD-10 codes, the dot left out or not needed.
    pub(super) icd_plain: usize,
    pub(super) uuids: usize,
    codes_by_form: Codes,
    /// What the values are by their form, if that is known.
    pub(super) code: Option<Code>,
    pub(super) numbers: Extremes,
    written: Written,
    /// How days are written, if values are days that are not written in the usual way.
    pub(super) days: Option<Found>,
    lengths: Option<(usize, usize)>,
}

/// What one value looks like.
enum ValueForm {
    Integer(f64),
    Decimal(f64),
    Bool,
    Date,
    Time,
    Code,
    Text,
}

impl Shape {
    /// Adds a distinct value of so many characters.
    pub(super) fn add(&mut self, kind: Kind, text: &str, length: usize) {
        self.values += 1;
        let (low, high) = self.lengths.unwrap_or((length, length));
        self.lengths = Some((low.min(length), high.max(length)));
        self.written.add(text.trim());
        self.codes_by_form.add(text.trim());
        match form(kind, text.trim()) {
            ValueForm::Integer(number) => {
                self.integers += 1;
                self.numbers.add(number);
            }
            ValueForm::Decimal(number) => {
                self.decimals += 1;
                self.numbers.add(number);
            }
            ValueForm::Bool => self.bools += 1,
            ValueForm::Date => self.dates += 1,
            ValueForm::Time => self.times += 1,
            ValueForm::Code => self.codes += 1,
            ValueForm::Text => {
                self.texts += 1;
                self.uuids += usize::from(is_uuid(text.trim()));
                match (atc::known(text), icd(text.trim())) {
                    (Some(4..), _) => self.atc += 1,
                    (known, Some(is_dotted)) => {
                        self.atc_or_icd += usize::from(known.is_some());
                        self.icd_dotted += usize::from(is_dotted);
                        self.icd_plain += usize::from(!is_dotted);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Whether all values are digits, as many in each, and some start with a zero.
    pub(super) fn is_fixed_code(&self) -> bool {
        let fixed = self.lengths.is_some_and(|(low, high)| low == high && low > 1);
        fixed && self.codes > 0 && self.codes + self.integers == self.values
    }

    /// Whether all values are numbers.
    pub(super) fn is_numeric(&self) -> bool {
        self.values > 0 && self.integers + self.decimals == self.values
    }

    /// Finds out whether the values are days that are not written in the usual way; `named` if the attribute's name
    /// speaks of a time.
    pub(super) fn find_days(&mut self, named: bool) {
        self.days = self.written.found(self.values, named);
    }

    /// Finds out whether the values are codes that are known by their form; `named` if the attribute's name speaks of health.
    pub(super) fn find_code(&mut self, named: bool) {
        self.code = self.codes_by_form.found(self.values, named);
    }

    /// The type; `named_year` if the attribute's name speaks of years.
    pub(super) fn value_type(&self, named_year: bool) -> ValueType {
        let all = |count: usize| count == self.values;
        let between = |low: f64, high: f64| self.numbers.min >= low && self.numbers.max <= high;
        let plain = self.texts + self.codes;
        if self.values == 0 {
            ValueType::Empty
        } else if let Some(days) = self.days {
            if days.timed { ValueType::DateTime } else { ValueType::Date }
        } else if all(self.bools) {
            ValueType::Bool
        } else if all(self.integers) {
            let years = between(1000.0, 2100.0) && named_year || between(1900.0, 2030.0) && self.values >= 3;
            if years { ValueType::Year } else { ValueType::Integer }
        } else if self.is_numeric() {
            ValueType::Decimal
        } else if all(self.dates) {
            ValueType::Date
        } else if all(self.dates + self.times) {
            ValueType::DateTime
        } else if 2 * plain >= self.values || all(self.codes + self.integers) {
            ValueType::Text
        } else {
            ValueType::Mixed
        }
    }
}

fn form(kind: Kind, text: &str) -> ValueForm {
    if kind == Kind::Bool || text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return ValueForm::Bool;
    }
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits(unsigned) {
        if unsigned.len() > 1 && unsigned.starts_with('0') {
            return ValueForm::Code;
        }
        return text.parse().map_or(ValueForm::Text, ValueForm::Integer);
    }
    // `parse` also knows infinities, which no interval holds.
    if unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && let Some(number) = text.parse::<f64>().ok().filter(|n| n.is_finite())
    {
        return ValueForm::Decimal(number);
    }
    when(text).unwrap_or(ValueForm::Text)
}

/// Close enough to tell what an attribute is; whether each value really is a date, the hierarchy says.
fn when(text: &str) -> Option<ValueForm> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<u32> {
        let part = bytes.get(from..to)?;
        let digit = |sum: u32, b: &u8| b.is_ascii_digit().then(|| 10 * sum + u32::from(b - b'0'));
        part.iter().try_fold(0, digit)
    };
    let (_, b'-', 1..=12) = (number(0, 4)?, bytes.get(4)?, number(5, 7)?) else {
        return None;
    };
    if bytes.len() == 7 {
        return Some(ValueForm::Date);
    }
    let (b'-', 1..=31) = (bytes[7], number(8, 10)?) else {
        return None;
    };
    match bytes.get(10) {
        None => Some(ValueForm::Date),
        Some(b'T' | b't' | b' ') if number(11, 13).is_some() => Some(ValueForm::Time),
        Some(_) => None,
    }
}

/// Whether a text is written like an ICD-10 code, and if so whether with a dot.
fn icd(text: &str) -> Option<bool> {
    let (category, rest) = text.split_at_checked(3)?;
    let [letter, digit, third] = category.as_bytes() else {
        return None;
    };
    let dotted = rest.strip_prefix('.');
    let detail = dotted.unwrap_or(rest);
    let fits = letter.is_ascii_alphabetic()
        && digit.is_ascii_digit()
        && third.is_ascii_alphanumeric()
        && detail.len() <= 4
        && detail.bytes().all(|b| b.is_ascii_alphanumeric());
    fits.then_some(dotted.is_some())
}

fn is_uuid(text: &str) -> bool {
    let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let fits = |(at, b): (usize, u8)| if dash(at) { b == b'-' } else { b.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(values: &[&str]) -> Shape {
        let mut shape = Shape::default();
        values.iter().for_each(|v| shape.add(Kind::Text, v, v.chars().count()));
        shape
    }

    #[test]
    fn types_of_text_columns() {
        for (values, expected) in [
            (&["1", "-2", "+30"][..], ValueType::Integer),
            (&["1", "2.5", "-0.0", "1e3"], ValueType::Decimal),
            (&["true", "FALSE"], ValueType::Bool),
            (&["2013-04-17", "2013-05"], ValueType::Date),
            (&["2013-04-17", "2013-04-17T10:00:00+02:00"], ValueType::DateTime),
            (&["1950", "1980", "2001"], ValueType::Year),
            (&["1950", "1980"], ValueType::Integer),
            (&["02743", "10115"], ValueType::Text),
            (&["a", "b", "3"], ValueType::Text),
            (&["1", "2", "3+"], ValueType::Mixed),
            (&["2013-04-17", "2013-04-18", "0000-00-00"], ValueType::Mixed),
            (&["1", "2", "inf", "nan"], ValueType::Text),
            (&["1-3", "4-6"], ValueType::Text),
            (&[], ValueType::Empty),
        ] {
            assert_eq!(shape(values).value_type(false), expected, "{values:?}");
        }
    }

    #[test]
    fn a_name_makes_old_numbers_years() {
        assert_eq!(shape(&["1066", "1492"]).value_type(true), ValueType::Year);
        assert_eq!(shape(&["1066", "1492"]).value_type(false), ValueType::Integer);
        assert_eq!(shape(&["3", "1492"]).value_type(true), ValueType::Integer);
    }

    #[test]
    fn codes_of_one_length() {
        assert!(shape(&["02743", "10115"]).is_fixed_code());
        assert!(!shape(&["2743", "10115"]).is_fixed_code());
        assert!(!shape(&["12743", "10115"]).is_fixed_code());
    }

    #[test]
    fn icd_codes() {
        for (text, expected) in [
            ("J45.901", Some(true)),
            ("E11", Some(false)),
            ("C4A.9", Some(true)),
            ("J45901", Some(false)),
            ("JJ5.1", None),
            ("J45.90123", None),
            ("J4", None),
            ("Jé5", None),
        ] {
            assert_eq!(icd(text), expected, "{text}");
        }
    }

    #[test]
    fn uuids() {
        assert!(is_uuid("2e27c71e-30c8-4ceb-8c1c-5641e066c0a4"));
        assert!(!is_uuid("2e27c71e-30c8-4ceb-8c1c-5641e066c0ag"));
        assert!(!is_uuid("2e27c71ee30c8-4ceb-8c1c-5641e066c0a4"));
    }

    #[test]
    fn extremes_are_not_even_debugged() {
        assert!(!format!("{:?}", shape(&["4711"])).contains("4711"));
    }
}
