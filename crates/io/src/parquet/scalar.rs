//! The types of single values: what they mean, and how they are declared.

use bosket_model::{Dictionary, Kind};
use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::schema::parser::parse_message_type;
use parquet::schema::printer::print_schema;
use parquet::schema::types::{Type, TypePtr};

use super::calendar::Unit;

/// The most digits that a decimal of 16 bytes holds.
const DIGITS: i32 = 38;

/// The type of single values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scalar {
    pub(super) physical: Physical,
    /// Bytes of a value, where all have the same number.
    length: i32,
    logical: Option<LogicalType>,
    pub(super) meaning: Meaning,
}

/// What values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Bool,
    Whole,
    /// A whole number without sign, of so many bits.
    Unsigned(i8),
    Float,
    Decimal {
        scale: i32,
    },
    Day,
    Time(Unit),
    Moment {
        unit: Unit,
        utc: bool,
    },
    /// A moment as older programs write it: nanoseconds and day in 12 bytes.
    OldMoment,
    Text,
    Uuid,
}

fn unit(unit: &TimeUnit) -> Unit {
    match unit {
        TimeUnit::MILLIS => Unit::Milli,
        TimeUnit::MICROS => Unit::Micro,
        TimeUnit::NANOS => Unit::Nano,
    }
}

/// What older programs say in other words.
fn modern(converted: ConvertedType, declared: &Type) -> Option<LogicalType> {
    Some(match converted {
        ConvertedType::UTF8 => LogicalType::String,
        ConvertedType::ENUM => LogicalType::Enum,
        ConvertedType::DECIMAL => LogicalType::decimal(declared.get_scale(), declared.get_precision()),
        ConvertedType::DATE => LogicalType::Date,
        ConvertedType::TIME_MILLIS => LogicalType::time(true, TimeUnit::MILLIS),
        ConvertedType::TIME_MICROS => LogicalType::time(true, TimeUnit::MICROS),
        ConvertedType::TIMESTAMP_MILLIS => LogicalType::timestamp(true, TimeUnit::MILLIS),
        ConvertedType::TIMESTAMP_MICROS => LogicalType::timestamp(true, TimeUnit::MICROS),
        ConvertedType::UINT_8 => LogicalType::integer(8, false),
        ConvertedType::UINT_16 => LogicalType::integer(16, false),
        ConvertedType::UINT_32 => LogicalType::integer(32, false),
        ConvertedType::UINT_64 => LogicalType::integer(64, false),
        ConvertedType::INT_8 => LogicalType::integer(8, true),
        ConvertedType::INT_16 => LogicalType::integer(16, true),
        ConvertedType::INT_32 => LogicalType::integer(32, true),
        ConvertedType::INT_64 => LogicalType::integer(64, true),
        ConvertedType::JSON => LogicalType::Json,
        ConvertedType::BSON => LogicalType::Bson,
        _ => return None,
    })
}

impl Scalar {
    /// The type of a column, or the name of a type that no attribute can hold.
    pub(crate) fn of(declared: &Type) -> Result<Self, String> {
        let basic = declared.get_basic_info();
        if basic.converted_type() == ConvertedType::INTERVAL {
            return Err("INTERVAL".to_owned());
        }
        let logical = basic.logical_type_ref().cloned();
        let logical = logical.or_else(|| modern(basic.converted_type(), declared));
        let length = match declared {
            Type::PrimitiveType { type_length, .. } => *type_length,
            Type::GroupType { .. } => -1,
        };
        let physical = declared.get_physical_type();
        // The type of columns that are always empty says nothing about values.
        let logical = logical.filter(|l| *l != LogicalType::Unknown);
        let unfit = || {
            Err(logical.as_ref().map_or_else(|| physical.to_string(), |l| format!("{l:?}").to_uppercase()))
        };
        let whole = matches!(physical, Physical::INT32 | Physical::INT64);
        let bytes = matches!(physical, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY);
        let meaning = match &logical {
            None => match physical {
                Physical::BOOLEAN => Meaning::Bool,
                Physical::INT32 | Physical::INT64 => Meaning::Whole,
                Physical::INT96 => Meaning::OldMoment,
                Physical::FLOAT | Physical::DOUBLE => Meaning::Float,
                Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => Meaning::Text,
            },
            Some(LogicalType::Integer(int)) if whole && int.is_signed => Meaning::Whole,
            Some(LogicalType::Integer(int)) if whole => Meaning::Unsigned(int.bit_width),
            Some(LogicalType::Decimal(decimal)) if whole || bytes => {
                if decimal.precision > DIGITS || !(0..=DIGITS).contains(&decimal.scale) {
                    return Err(format!("DECIMAL({},{})", decimal.precision, decimal.scale));
                }
                Meaning::Decimal { scale: decimal.scale }
            }
            Some(LogicalType::Date) if physical == Physical::INT32 => Meaning::Day,
            Some(LogicalType::Time(time)) if whole => Meaning::Time(unit(&time.unit)),
            Some(LogicalType::Timestamp(time)) if physical == Physical::INT64 => {
                Meaning::Moment { unit: unit(&time.unit), utc: time.is_adjusted_to_u_t_c }
            }
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) if bytes => Meaning::Text,
            Some(LogicalType::Uuid) if length == 16 => Meaning::Uuid,
            Some(_) => return unfit(),
        };
        Ok(Scalar { physical, length, logical, meaning })
    }

    /// A type by all that is declared of it.
    pub(super) fn fixed(
        physical: Physical,
        length: i32,
        logical: Option<LogicalType>,
        meaning: Meaning,
    ) -> Self {
        Scalar { physical, length, logical, meaning }
    }

    /// Bits that a whole number is declared with.
    pub(super) fn bits(&self) -> u8 {
        match &self.logical {
            Some(LogicalType::Integer(int)) => int.bit_width.unsigned_abs(),
            _ if self.physical == Physical::INT32 => 32,
            _ => 64,
        }
    }

    /// Digits that a decimal is declared with.
    pub(super) fn digits(&self) -> u8 {
        match &self.logical {
            Some(LogicalType::Decimal(decimal)) => decimal.precision as u8,
            _ => DIGITS as u8,
        }
    }

    fn plain(physical: Physical, logical: Option<LogicalType>, meaning: Meaning) -> Self {
        Scalar { physical, length: -1, logical, meaning }
    }

    /// Text.
    pub(crate) fn text() -> Self {
        Self::plain(Physical::BYTE_ARRAY, Some(LogicalType::String), Meaning::Text)
    }

    /// Whole numbers.
    pub(crate) fn whole() -> Self {
        Self::plain(Physical::INT64, None, Meaning::Whole)
    }

    /// The types that values of no declared type are tried with, narrow ones first.
    pub(crate) fn candidates() -> [Self; 4] {
        let unsigned = Some(LogicalType::integer(64, false));
        [
            Self::plain(Physical::BOOLEAN, None, Meaning::Bool),
            Self::whole(),
            Self::plain(Physical::INT64, unsigned, Meaning::Unsigned(64)),
            Self::plain(Physical::DOUBLE, None, Meaning::Float),
        ]
    }

    /// The narrowest of a few types that holds all these values, text for want of another.
    pub(crate) fn natural<'a>(values: impl Iterator<Item = (Kind, &'a str)> + Clone) -> Self {
        if values.clone().next().is_none() {
            return Self::text();
        }
        let fit = Self::candidates().into_iter().find(|c| c.fits(values.clone()));
        let decimal = || {
            let places = values.clone().map(|(_, text)| Self::places(text)).max()?;
            Self::decimal(places).filter(|decimal| decimal.fits(values.clone()))
        };
        fit.or_else(decimal).unwrap_or_else(Self::text)
    }

    /// How many digits a number has behind its point.
    pub(super) fn places(text: &str) -> usize {
        text.split_once('.').map_or(0, |(_, fraction)| fraction.len())
    }

    /// Decimals with so many places, if there are any.
    pub(super) fn decimal(places: usize) -> Option<Self> {
        let scale = i32::try_from(places).ok().filter(|&scale| scale <= DIGITS)?;
        let (physical, length) = (Physical::FIXED_LEN_BYTE_ARRAY, 16);
        let logical = Some(LogicalType::decimal(scale, DIGITS));
        Some(Scalar { physical, length, logical, meaning: Meaning::Decimal { scale } })
    }

    /// Whether columns of this type are ever written: some are only read.
    pub(super) fn is_written(&self) -> bool {
        self.meaning != Meaning::OldMoment
    }

    /// The type of these values: this one if it holds them all.
    pub(crate) fn holding<'a>(self, values: impl Iterator<Item = (Kind, &'a str)> + Clone) -> Self {
        if self.is_written() && self.fits(values.clone()) {
            return self;
        }
        Self::natural(values)
    }

    /// The values of an attribute that occur.
    pub(crate) fn for_codes(source: Option<Self>, dictionary: &Dictionary, codes: &[u32]) -> Self {
        let values = codes.iter().map(|&c| (dictionary.kind(c), dictionary.text(c)));
        match source {
            Some(source) => source.holding(values),
            None => Self::natural(values),
        }
    }

    /// Bytes of a value: those of a decimal where the type leaves it open.
    pub(super) fn length(&self) -> usize {
        usize::try_from(self.length).unwrap_or(16)
    }

    /// Whether a number that its bytes could hold is also among those that the type is declared for.
    pub(super) fn has_room(&self, text: &str) -> bool {
        match &self.logical {
            Some(LogicalType::Integer(int)) if int.bit_width < 32 => {
                let below = 1_i64 << (int.bit_width - i8::from(int.is_signed)).clamp(0, 32);
                let range = if int.is_signed { -below..below } else { 0..below };
                text.parse().is_ok_and(|n: i64| range.contains(&n))
            }
            Some(LogicalType::Decimal(decimal)) => {
                let (whole, _) = text.split_once('.').unwrap_or((text, ""));
                let digits = whole.trim_start_matches('-').trim_start_matches('0').len() as i32;
                digits <= decimal.precision - decimal.scale
            }
            _ => true,
        }
    }

    /// How values come, for linked tables.
    pub(crate) fn kind(&self) -> Kind {
        match self.meaning {
            Meaning::Bool => Kind::Bool,
            Meaning::Whole | Meaning::Unsigned(_) | Meaning::Float | Meaning::Decimal { .. } => Kind::Number,
            _ => Kind::Text,
        }
    }

    /// A column of this type that may have gaps.
    pub(crate) fn column(&self, name: &str) -> Result<TypePtr, ParquetError> {
        let mut builder = Type::primitive_type_builder(name, self.physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(self.logical.clone())
            .with_length(self.length);
        if let Some(LogicalType::Decimal(decimal)) = &self.logical {
            builder = builder.with_precision(decimal.precision).with_scale(decimal.scale);
        }
        builder.build().map(Into::into)
    }

    /// The type in words that [`Scalar::from_words`] understands.
    pub(crate) fn words(&self) -> String {
        let mut text = Vec::new();
        if let Ok(column) = self.column("c") {
            print_schema(&mut text, &column);
        }
        String::from_utf8_lossy(&text).trim().to_owned()
    }

    /// The type that some words declare, if they do.
    pub(crate) fn from_words(words: &str) -> Option<Self> {
        if !words.starts_with("OPTIONAL ") {
            return None;
        }
        let message = parse_message_type(&format!("message m {{ {words} }}")).ok()?;
        match message.get_fields() {
            [column] => Self::of(column).ok(),
            _ => None,
        }
    }
}
