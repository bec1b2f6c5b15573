//! MongoDB's Extended JSON: values whose types JSON does not have, written as objects with one key.
//!
//! `{"$oid": "…"}`, `{"$date": …}`, `{"$uuid": "…"}` and the numbers `{"$numberLong": "…"}` and so on are read as plain
//! values, in the canonical and in the relaxed form, and written as such types again where a value of the type is still
//! there. All other such objects (`$binary`, `$timestamp`, …) are objects like any.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::Kind;
use bosket_model::calendar::Civil;

use super::error::Error;
use super::number::canonical;
use super::parser::{Parser, Token};
use super::write::push_string;

/// A type that JSON does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extended {
    /// `$oid`
    ObjectId,
    /// `$date`
    Date,
    /// `$uuid`
    Uuid,
    /// `$numberInt`
    Int,
    /// `$numberLong`
    Long,
    /// `$numberDouble`
    Double,
    /// `$numberDecimal`
    Decimal,
}

/// The types that attributes have had, by path.
pub type Types = BTreeMap<String, BTreeSet<Extended>>;

/// The milliseconds of a day.
const DAY: i64 = 86_400_000;

impl Extended {
    pub(super) const ALL: [Extended; 7] = [
        Extended::ObjectId,
        Extended::Date,
        Extended::Uuid,
        Extended::Int,
        Extended::Long,
        Extended::Double,
        Extended::Decimal,
    ];

    fn key(self) -> &'static str {
        match self {
            Extended::ObjectId => "$oid",
            Extended::Date => "$date",
            Extended::Uuid => "$uuid",
            Extended::Int => "$numberInt",
            Extended::Long => "$numberLong",
            Extended::Double => "$numberDouble",
            Extended::Decimal => "$numberDecimal",
        }
    }

    fn is_number(self) -> bool {
        self >= Extended::Int
    }

    /// The type that an object with this key has.
    pub(super) fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.key() == key)
    }

    /// What the value should have been.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Extended::ObjectId => "24 hexadecimal digits in quotes",
            Extended::Date => {
                "a time such as \"2013-04-17T10:00:00Z\", or {\"$numberLong\": \"milliseconds\"}, in the years 1 to 9999"
            }
            Extended::Uuid => "a UUID in quotes",
            Extended::Int => "a whole number of 32 bits in quotes",
            Extended::Long => "a whole number of 64 bits in quotes",
            Extended::Double | Extended::Decimal => "a number, NaN or Infinity in quotes",
        }
    }

    /// Reads the value after the key, and the end of the object; none if it is not of the type.
    pub(super) fn read(self, parser: &mut Parser<'_>) -> Result<Option<(Kind, String)>, Error> {
        let (at, depth) = (parser.position(), parser.depth());
        let text = match parser.value()? {
            Token::Text(text) => Some(text.to_owned()),
            Token::Number(raw) if self == Extended::Date => raw.parse().ok().and_then(date),
            Token::Object if self == Extended::Date => milliseconds(parser)?.and_then(date),
            _ => None,
        };
        if text.is_none() {
            parser.rewind(at, depth);
            parser.skip()?;
        }
        let mut alone = true;
        while parser.key()?.is_some() {
            alone = false;
            parser.skip()?;
        }
        Ok(text.filter(|_| alone).and_then(|text| self.value(&text)))
    }

    /// A text as a value of the type.
    fn value(self, text: &str) -> Option<(Kind, String)> {
        if self.is_number() && !not_finite(text) {
            // JSON has whole numbers of 64 bits, doubles and decimals do not end there.
            let whole = text.bytes().all(|c| c.is_ascii_digit() || c == b'-');
            let raw = if whole && self >= Extended::Double { format!("{text}.0") } else { text.to_owned() };
            let mut parser = Parser::new(&raw);
            let mut spelt = String::new();
            let number = match parser.value() {
                Ok(Token::Number(raw)) => Some(canonical(raw, &mut spelt).to_owned()),
                _ => None,
            };
            if let Some(number) = number {
                let fits = parser.finish().is_ok() && self.fits(Kind::Number, &number);
                return fits.then_some((Kind::Number, number));
            }
        }
        self.fits(Kind::Text, text).then(|| (Kind::Text, text.to_owned()))
    }

    /// Whether a value is one of the type.
    fn fits(self, kind: Kind, text: &str) -> bool {
        let hex = |part: &str| part.bytes().all(|c| c.is_ascii_hexdigit());
        match (self, kind) {
            (Extended::ObjectId, Kind::Text) => text.len() == 24 && hex(text),
            (Extended::Date, Kind::Text) => is_time(text),
            (Extended::Uuid, Kind::Text) => {
                let parts: Vec<&str> = text.split('-').collect();
                parts.iter().map(|p| p.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(|p| hex(p))
            }
            (Extended::Int, Kind::Number) => text.parse::<i32>().is_ok(),
            (Extended::Long, Kind::Number) => text.parse::<i64>().is_ok(),
            (Extended::Double | Extended::Decimal, Kind::Number) => true,
            (Extended::Double, Kind::Text) => not_finite(text),
            (Extended::Decimal, Kind::Text) => not_finite(text) || is_decimal(text),
            _ => false,
        }
    }
}

/// Writes a value as the type that it had, if it is clear which; says whether it did.
pub(super) fn push(out: &mut Vec<u8>, types: &BTreeSet<Extended>, kind: Kind, text: &str) -> bool {
    // Of several types of numbers, which one an equal number had is not known.
    let numbers = types.iter().filter(|t| t.is_number()).count();
    let clear = |t: &&Extended| !t.is_number() || numbers == 1;
    let Some(found) = types.iter().filter(clear).find(|t| t.fits(kind, text)) else {
        return false;
    };
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(found.key().as_bytes());
    out.extend_from_slice(b"\":");
    push_string(out, text);
    out.push(b'}');
    true
}

fn not_finite(text: &str) -> bool {
    matches!(text, "NaN" | "Infinity" | "-Infinity")
}

/// Whether a text is a decimal number, however large.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    let unsigned = |part: &str| part.strip_prefix(['-', '+']).unwrap_or(part).to_owned();
    let mantissa = unsigned(mantissa);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((&mantissa, "0"));
    digits(whole) && digits(fraction) && exponent.is_none_or(|e| digits(&unsigned(e)))
}

/// Whether a text says a day and a time of it.
fn is_time(text: &str) -> bool {
    let Some((day, time)) = text.split_once('T') else {
        return false;
    };
    let shape =
        |text: &str| -> String { text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect() };
    let end = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(end);
    let (clock, part) = clock.split_once('.').unwrap_or((clock, "0"));
    shape(day) == "0000-00-00"
        && matches!(shape(clock).as_str(), "00:00:00" | "00:00")
        && !part.is_empty()
        && part.bytes().all(|c| c.is_ascii_digit())
        && matches!(shape(zone).as_str(), "Z" | "+00:00" | "-00:00" | "+0000" | "-0000")
}

/// The milliseconds in `{"$numberLong": "…"}`, of which the bracket has been read.
fn milliseconds(parser: &mut Parser<'_>) -> Result<Option<i64>, Error> {
    let mut found = None;
    let mut keys = 0;
    while let Some(key) = parser.key()? {
        keys += 1;
        let long = key == Extended::Long.key();
        let (at, depth) = (parser.position(), parser.depth());
        match parser.value()? {
            Token::Text(text) if long => found = text.parse().ok(),
            _ => {
                parser.rewind(at, depth);
                parser.skip()?;
            }
        }
    }
    Ok(found.filter(|_| keys == 1))
}

/// A moment as a text, from its milliseconds since 1970; none outside the years 1 to 9999.
fn date(milliseconds: i64) -> Option<String> {
    let (days, rest) = (milliseconds.div_euclid(DAY), milliseconds.rem_euclid(DAY));
    let day = Civil::from_days(days)?;
    let (seconds, part) = (rest / 1_000, rest % 1_000);
    let part = if part > 0 { format!(".{part:03}") } else { String::new() };
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    Some(format!("{day}T{clock}{part}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_moments() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (1_356_351_330_501, "2012-12-24T12:15:30.501Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(date(milliseconds).as_deref(), Some(text));
            assert!(is_time(text));
        }
        for milliseconds in [-62_135_596_800_001, 253_402_300_800_000, i64::MIN, i64::MAX] {
            assert_eq!(date(milliseconds), None);
        }
        for label in
            ["2012-12-24", "2012", "2012-Q4", "2012-12-24T12:15:30.501Z (unspecified)", "2012-12-24T", "T"]
        {
            assert!(!is_time(label), "{label}");
        }
    }

    #[test]
    fn only_values_of_the_type_fit() {
        for (extended, kind, text, fits) in [
            (Extended::ObjectId, Kind::Text, "507f1f77bcf86cd799439011", true),
            (Extended::ObjectId, Kind::Text, "507f1f77bcf86cd79943901*", false),
            (Extended::Long, Kind::Number, "9223372036854775807", true),
            (Extended::Long, Kind::Number, "1.5", false),
            (Extended::Long, Kind::Text, "1900-1904", false),
            (Extended::Int, Kind::Number, "2147483648", false),
            (Extended::Decimal, Kind::Text, "1E+6000", true),
            (Extended::Decimal, Kind::Text, "[1,2)", false),
            (Extended::Double, Kind::Text, "NaN", true),
            (Extended::Uuid, Kind::Text, "0ba1b4c1-82fb-4f24-87ff-1bc302cfc6ba", true),
        ] {
            assert_eq!(extended.fits(kind, text), fits, "{extended:?} {text}");
        }
    }
}
