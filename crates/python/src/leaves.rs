//! Arrow's types of single values, and the values of a column as they come in a batch.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float32Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Decimal128Array, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int64Array, LargeBinaryArray, LargeStringArray, StringArray, StringViewArray,
    UInt64Array,
};
use arrow_cast::cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use bosket_io::parquet::frame::{Cell, ColumnType, SecondUnit};

/// Most digits of a decimal.
const DIGITS: u8 = 38;

/// The type of a column of single values; none if no attribute can hold it.
pub(crate) fn column_type(of: &DataType) -> Option<ColumnType> {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::Second | TimeUnit::Millisecond => SecondUnit::Milli,
        TimeUnit::Microsecond => SecondUnit::Micro,
        TimeUnit::Nanosecond => SecondUnit::Nano,
    };
    Some(match of {
        DataType::Boolean => ColumnType::Bool,
        DataType::Int8 => ColumnType::Whole(8),
        DataType::Int16 => ColumnType::Whole(16),
        // A column without any value says nothing about them.
        DataType::Int32 | DataType::Null => ColumnType::Whole(32),
        DataType::Int64 => ColumnType::Whole(64),
        DataType::UInt8 => ColumnType::Unsigned(8),
        DataType::UInt16 => ColumnType::Unsigned(16),
        DataType::UInt32 => ColumnType::Unsigned(32),
        DataType::UInt64 => ColumnType::Unsigned(64),
        DataType::Float16 | DataType::Float32 => ColumnType::Float,
        DataType::Float64 => ColumnType::Double,
        DataType::Decimal32(digits, scale)
        | DataType::Decimal64(digits, scale)
        | DataType::Decimal128(digits, scale) => {
            let scale = u8::try_from(*scale).ok().filter(|scale| *scale <= DIGITS)?;
            ColumnType::Decimal(*digits, scale)
        }
        DataType::Date32 | DataType::Date64 => ColumnType::Day,
        DataType::Time32(of) | DataType::Time64(of) => ColumnType::Time(unit(of)),
        DataType::Timestamp(of, zone) => ColumnType::Moment(unit(of), zone.is_some()),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnType::Text,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            ColumnType::Bytes
        }
        DataType::Dictionary(_, values) => return column_type(values),
        _ => return None,
    })
}

/// The values of a column in a batch, none of them copied unless Arrow has many types for what is one to us.
pub(crate) enum Leaf {
    Nothing,
    Bool(BooleanArray),
    Whole(Int64Array),
    Unsigned(UInt64Array),
    Float(Float32Array),
    Double(Float64Array),
    Decimal(Decimal128Array),
    Text(StringArray),
    LargeText(LargeStringArray),
    TextView(StringViewArray),
    Binary(BinaryArray),
    LargeBinary(LargeBinaryArray),
    BinaryView(BinaryViewArray),
    FixedBinary(FixedSizeBinaryArray),
    /// Values by number, and per number the code that it was found to have.
    Dictionary {
        array: ArrayRef,
        keys: Vec<usize>,
        values: Box<Leaf>,
        codes: Vec<Option<u32>>,
    },
}

impl Leaf {
    /// The values of an array of a type that [`column_type`] knows.
    pub(crate) fn new(array: &ArrayRef) -> Result<Self, ArrowError> {
        // What does not fit is an error, not a gap.
        let options = CastOptions { safe: false, ..CastOptions::default() };
        let cast = |to: &DataType| cast_with_options(array, to, &options);
        Ok(match array.data_type() {
            DataType::Boolean => Leaf::Bool(array.as_boolean().clone()),
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                Leaf::Whole(cast(&DataType::Int64)?.as_primitive::<Int64Type>().clone())
            }
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
                Leaf::Unsigned(cast(&DataType::UInt64)?.as_primitive::<UInt64Type>().clone())
            }
            DataType::Float16 | DataType::Float32 => {
                Leaf::Float(cast(&DataType::Float32)?.as_primitive::<Float32Type>().clone())
            }
            DataType::Float64 => Leaf::Double(array.as_primitive::<Float64Type>().clone()),
            DataType::Decimal32(digits, scale)
            | DataType::Decimal64(digits, scale)
            | DataType::Decimal128(digits, scale) => {
                let decimal = cast(&DataType::Decimal128(*digits, *scale))?;
                Leaf::Decimal(decimal.as_primitive::<Decimal128Type>().clone())
            }
            DataType::Date64 => whole(&cast(&DataType::Date32)?, &options)?,
            DataType::Time32(TimeUnit::Second) => {
                whole(&cast(&DataType::Time32(TimeUnit::Millisecond))?, &options)?
            }
            DataType::Timestamp(TimeUnit::Second, zone) => {
                whole(&cast(&DataType::Timestamp(TimeUnit::Millisecond, zone.clone()))?, &options)?
            }
            DataType::Date32 | DataType::Time32(_) | DataType::Time64(_) | DataType::Timestamp(..) => {
                whole(array, &options)?
            }
            DataType::Utf8 => Leaf::Text(array.as_string::<i32>().clone()),
            DataType::LargeUtf8 => Leaf::LargeText(array.as_string::<i64>().clone()),
            DataType::Utf8View => Leaf::TextView(array.as_string_view().clone()),
            DataType::Binary => Leaf::Binary(array.as_binary::<i32>().clone()),
            DataType::LargeBinary => Leaf::LargeBinary(array.as_binary::<i64>().clone()),
            DataType::BinaryView => Leaf::BinaryView(array.as_binary_view().clone()),
            DataType::FixedSizeBinary(_) => Leaf::FixedBinary(array.as_fixed_size_binary().clone()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let values = Box::new(Leaf::new(dictionary.values())?);
                let codes = vec![None; dictionary.values().len()];
                // Of a dictionary without values all keys are gaps.
                let keys = if codes.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
                Leaf::Dictionary { array: array.clone(), keys, values, codes }
            }
            _ => Leaf::Nothing,
        })
    }

    /// The value at a place; a gap, and what is no number among numbers, is none.
    pub(crate) fn cell(&self, at: usize) -> Option<Cell<'_>> {
        let there = |array: &dyn Array| !array.is_null(at);
        match self {
            Leaf::Nothing | Leaf::Dictionary { .. } => None,
            Leaf::Bool(array) => there(array).then(|| Cell::Bool(array.value(at))),
            Leaf::Whole(array) => there(array).then(|| Cell::Whole(array.value(at))),
            Leaf::Unsigned(array) => there(array).then(|| Cell::Unsigned(array.value(at))),
            Leaf::Float(array) => {
                Some(array.value(at)).filter(|x| there(array) && !x.is_nan()).map(Cell::Float)
            }
            Leaf::Double(array) => {
                Some(array.value(at)).filter(|x| there(array) && !x.is_nan()).map(Cell::Double)
            }
            Leaf::Decimal(array) => there(array).then(|| Cell::Decimal(array.value(at))),
            Leaf::Text(array) => there(array).then(|| Cell::Text(array.value(at).as_bytes())),
            Leaf::LargeText(array) => there(array).then(|| Cell::Text(array.value(at).as_bytes())),
            Leaf::TextView(array) => there(array).then(|| Cell::Text(array.value(at).as_bytes())),
            Leaf::Binary(array) => there(array).then(|| Cell::Text(array.value(at))),
            Leaf::LargeBinary(array) => there(array).then(|| Cell::Text(array.value(at))),
            Leaf::BinaryView(array) => there(array).then(|| Cell::Text(array.value(at))),
            Leaf::FixedBinary(array) => there(array).then(|| Cell::Text(array.value(at))),
        }
    }
}

/// Days, times and moments as the numbers that they are.
fn whole(array: &ArrayRef, options: &CastOptions<'_>) -> Result<Leaf, ArrowError> {
    Ok(Leaf::Whole(cast_with_options(array, &DataType::Int64, options)?.as_primitive::<Int64Type>().clone()))
}
