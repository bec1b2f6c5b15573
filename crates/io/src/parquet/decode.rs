//! Single values as texts, and back.

use std::fmt::Write;

use bosket_model::Kind;
use parquet::basic::Type as Physical;
use parquet::data_type::Int96;

use super::calendar::{Unit, parse_day, parse_moment, parse_time, push_day, push_moment, push_time};
use super::scalar::{Meaning, Scalar};
use crate::json::number::canonical;

/// Julian day of 1970-01-01.
const JULIAN: i64 = 2_440_588;

/// A value as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Raw<'a> {
    Bool(bool),
    I32(i32),
    I64(i64),
    I96(&'a Int96),
    F32(f32),
    F64(f64),
    Bytes(&'a [u8]),
}

/// A value as it goes into a file.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Bool(bool),
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
    Bytes(Vec<u8>),
}

impl Value {
    fn raw(&self) -> Raw<'_> {
        match self {
            Value::Bool(x) => Raw::Bool(*x),
            Value::I32(x) => Raw::I32(*x),
            Value::I64(x) => Raw::I64(*x),
            Value::F32(x) => Raw::F32(*x),
            Value::F64(x) => Raw::F64(*x),
            Value::Bytes(x) => Raw::Bytes(x),
        }
    }
}

/// Why a value cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    NotText,
    NotFinite,
    OutOfRange,
}

impl Wrong {
    /// What is wrong with a column that has such a value, and what to do.
    pub(crate) fn describe(self) -> (&'static str, &'static str) {
        match self {
            Wrong::NotText => (
                "holds binary data that is not text",
                "convert it to text, or leave the column out of the file",
            ),
            Wrong::NotFinite => ("holds a value that is no finite number", "replace it by null"),
            Wrong::OutOfRange => (
                "holds a day or time that no calendar from year 1 to 9999 has",
                "correct it, or replace it by null",
            ),
        }
    }
}

/// Room for texts while values are decoded.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    text: String,
    number: String,
}

impl Scalar {
    /// The text of a value.
    pub(crate) fn decode<'a>(
        &self,
        raw: Raw<'a>,
        scratch: &'a mut Scratch,
    ) -> Result<(Kind, &'a str), Wrong> {
        let Scratch { text, number } = scratch;
        text.clear();
        let fits = match (self.meaning, raw) {
            (Meaning::Bool, Raw::Bool(x)) => return Ok((Kind::Bool, if x { "true" } else { "false" })),
            (Meaning::Text, Raw::Bytes(bytes)) => {
                return std::str::from_utf8(bytes).map(|t| (Kind::Text, t)).map_err(|_| Wrong::NotText);
            }
            (Meaning::Float, Raw::F32(x)) if x.is_finite() => {
                let _ = write!(text, "{x:e}");
                return Ok((Kind::Number, canonical(text, number)));
            }
            (Meaning::Float, Raw::F64(x)) if x.is_finite() => {
                let _ = write!(text, "{x:e}");
                return Ok((Kind::Number, canonical(text, number)));
            }
            (Meaning::Float, _) => return Err(Wrong::NotFinite),
            (Meaning::Uuid, Raw::Bytes(bytes)) => {
                push_uuid(text, bytes);
                true
            }
            (Meaning::OldMoment, Raw::I96(x)) => {
                let [low, high, day] = x.data() else { return Err(Wrong::OutOfRange) };
                let nanos = i64::try_from(u64::from(*high) << 32 | u64::from(*low));
                // The day is signed, though it is kept without sign.
                let fits = push_day(text, i64::from(*day as i32) - JULIAN);
                text.push('T');
                fits && push_time(text, nanos.unwrap_or(-1), Unit::Nano)
            }
            (Meaning::Decimal { scale }, raw) => {
                push_decimal(text, unscaled(raw).ok_or(Wrong::OutOfRange)?, scale);
                return Ok((Kind::Number, canonical(text, number)));
            }
            (meaning, raw) => {
                let whole = match raw {
                    Raw::I32(x) => i64::from(x),
                    Raw::I64(x) => x,
                    _ => return Err(Wrong::OutOfRange),
                };
                match meaning {
                    Meaning::Day => push_day(text, whole),
                    Meaning::Time(unit) => push_time(text, whole, unit),
                    Meaning::Moment { unit, utc } => push_moment(text, whole, unit, utc),
                    Meaning::Unsigned(_) => {
                        let unsigned = match raw {
                            Raw::I32(x) => u64::from(x as u32),
                            _ => whole as u64,
                        };
                        let _ = write!(text, "{unsigned}");
                        true
                    }
                    _ => {
                        let _ = write!(text, "{whole}");
                        true
                    }
                }
            }
        };
        if fits { Ok((self.kind(), text)) } else { Err(Wrong::OutOfRange) }
    }

    /// The value of a text; none if it has none of this type.
    pub(super) fn encode(&self, text: &str) -> Option<Value> {
        let whole = match self.meaning {
            Meaning::Bool => return text.parse().ok().map(Value::Bool),
            Meaning::Text if self.physical == Physical::BYTE_ARRAY || self.length() == text.len() => {
                return Some(Value::Bytes(text.as_bytes().to_vec()));
            }
            Meaning::Text => return None,
            Meaning::Float if self.physical == Physical::FLOAT => return text.parse().ok().map(Value::F32),
            Meaning::Float => return text.parse().ok().map(Value::F64),
            Meaning::Uuid => return parse_uuid(text).map(Value::Bytes),
            Meaning::OldMoment => return None,
            Meaning::Decimal { scale } => {
                let number = parse_decimal(text, scale)?;
                match self.physical {
                    Physical::INT32 | Physical::INT64 => i64::try_from(number).ok()?,
                    _ => return self.bytes_of(number).map(Value::Bytes),
                }
            }
            Meaning::Day => parse_day(text)?,
            Meaning::Time(unit) => parse_time(text, unit)?,
            Meaning::Moment { unit, utc } => parse_moment(text, unit, utc)?,
            // Without sign the upper half of the numbers is below zero.
            Meaning::Unsigned(_) if self.physical == Physical::INT32 => {
                return text.parse::<u32>().ok().map(|x| Value::I32(x as i32));
            }
            Meaning::Unsigned(_) => return text.parse::<u64>().ok().map(|x| Value::I64(x as i64)),
            Meaning::Whole => text.parse().ok()?,
        };
        match self.physical {
            Physical::INT32 => i32::try_from(whole).ok().map(Value::I32),
            _ => Some(Value::I64(whole)),
        }
    }

    /// Whether all values can be written and are the same when read again.
    pub(crate) fn fits<'a>(&self, mut values: impl Iterator<Item = (Kind, &'a str)>) -> bool {
        let mut scratch = Scratch::default();
        values.all(|(kind, text)| self.holds_with(kind, text, &mut scratch))
    }

    /// The same for one value.
    pub(super) fn holds(&self, kind: Kind, text: &str) -> bool {
        self.holds_with(kind, text, &mut Scratch::default())
    }

    fn holds_with(&self, kind: Kind, text: &str, scratch: &mut Scratch) -> bool {
        if kind != self.kind() || !self.has_room(text) {
            return false;
        }
        // Most columns are text, which holds every text.
        if self.meaning == Meaning::Text && self.physical == Physical::BYTE_ARRAY {
            return true;
        }
        self.encode(text).is_some_and(|value| self.decode(value.raw(), scratch) == Ok((kind, text)))
    }

    /// A whole number as the bytes of a decimal.
    fn bytes_of(&self, number: i128) -> Option<Vec<u8>> {
        let bytes = number.to_be_bytes();
        let (cut, kept) = bytes.split_at(bytes.len().checked_sub(self.length())?);
        let sign = if number < 0 { 0xFF } else { 0 };
        let same_sign = kept.first().is_some_and(|b| (b & 0x80 != 0) == (number < 0));
        (cut.iter().all(|&b| b == sign) && same_sign).then(|| kept.to_vec())
    }
}

pub(super) fn unscaled(raw: Raw<'_>) -> Option<i128> {
    match raw {
        Raw::I32(x) => Some(i128::from(x)),
        Raw::I64(x) => Some(i128::from(x)),
        Raw::Bytes(bytes) => {
            let sign = bytes.first().is_some_and(|b| b & 0x80 != 0);
            let mut all = [if sign { 0xFF } else { 0 }; 16];
            let at = all.len().checked_sub(bytes.len())?;
            all[at..].copy_from_slice(bytes);
            Some(i128::from_be_bytes(all))
        }
        _ => None,
    }
}

fn push_decimal(out: &mut String, number: i128, scale: i32) {
    let scale = scale as usize;
    if number < 0 {
        out.push('-');
    }
    let digits = format!("{:0width$}", number.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    out.push_str(whole);
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
}

fn parse_decimal(text: &str, scale: i32) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let zeros = (scale as usize).checked_sub(fraction.len())?;
    let digits = format!("{whole}{fraction}{}", "0".repeat(zeros));
    digits.parse().ok()
}

fn push_uuid(out: &mut String, bytes: &[u8]) {
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        let _ = write!(out, "{byte:02x}");
    }
}

fn parse_uuid(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let pairs = digits.as_bytes().chunks_exact(2);
    let bytes: Option<Vec<u8>> =
        pairs.map(|p| std::str::from_utf8(p).ok().and_then(|p| u8::from_str_radix(p, 16).ok())).collect();
    bytes.filter(|b| b.len() == 16 && digits.len() == 32)
}
