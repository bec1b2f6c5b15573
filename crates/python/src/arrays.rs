//! Published records as Arrow columns, of the types that a Parquet file of them has.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BooleanArray, LargeStringArray, ListArray, NullArray, PrimitiveArray, RecordBatch,
    RecordBatchOptions, StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, Field, Fields, Schema};
use bosket_io::parquet::Columns;
use bosket_io::parquet::frame::{Cell, ColumnType, RowColumns, RowField, SecondUnit};
use bosket_model::{AttributeId, Dataset, Failure, MISSING, Result};

/// Records while they become columns.
struct Rows<'a> {
    data: &'a Dataset,
    columns: &'a RowColumns,
    /// Per class its vertices, in their order.
    vertices: Vec<Vec<usize>>,
    /// Per class how many of its vertices lie below each of the class above.
    below: Vec<Vec<usize>>,
}

/// The records as one batch.
pub(crate) fn batch(data: &Dataset, known: &Columns) -> Result<RecordBatch> {
    let columns = RowColumns::new(data, known)?;
    let schema = data.schema();
    let mut vertices = vec![Vec::new(); schema.classes().len()];
    let mut ordinal = Vec::with_capacity(data.vertex_count());
    for vertex in 0..data.vertex_count() {
        let own: &mut Vec<usize> = &mut vertices[data.class(vertex).index()];
        ordinal.push(own.len());
        own.push(vertex);
    }
    let count = |class: Option<bosket_model::ClassId>| class.map_or(0, |c| vertices[c.index()].len());
    let mut below: Vec<Vec<usize>> = schema.classes().map(|(_, c)| vec![0; count(c.parent)]).collect();
    for vertex in 0..data.vertex_count() {
        if let Some(parent) = data.parent(vertex) {
            below[data.class(vertex).index()][ordinal[parent]] += 1;
        }
    }
    let rows = Rows { data, columns: &columns, vertices, below };
    rows.batch().map_err(|e| Failure::defect(format!("the publication cannot be shown as Arrow: {e}")))
}

impl Rows<'_> {
    fn batch(&self) -> std::result::Result<RecordBatch, ArrowError> {
        let (fields, arrays) = self.members(&self.columns.fields(), &self.vertices[0])?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.data.len()));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
    }

    fn members(
        &self,
        fields: &[(String, RowField)],
        vertices: &[usize],
    ) -> std::result::Result<(Fields, Vec<ArrayRef>), ArrowError> {
        let (mut named, mut arrays) = (Vec::new(), Vec::new());
        for (name, field) in fields {
            let array = self.array(field, vertices)?;
            named.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        Ok((named.into(), arrays))
    }

    fn array(&self, field: &RowField, vertices: &[usize]) -> std::result::Result<ArrayRef, ArrowError> {
        Ok(match field {
            RowField::Nothing => Arc::new(NullArray::new(vertices.len())),
            RowField::Value(attribute, of) => self.values(*attribute, *of, vertices)?,
            RowField::Struct(fields) => {
                let (fields, arrays) = self.members(fields, vertices)?;
                Arc::new(StructArray::try_new_with_length(fields, arrays, None, vertices.len())?)
            }
            RowField::List(class, element) => {
                let lengths = &self.below[class.index()];
                let values = self.array(element, &self.vertices[class.index()])?;
                let element = Arc::new(Field::new("element", values.data_type().clone(), true));
                // As in the file, a list without elements is a gap.
                let nulls: NullBuffer = lengths.iter().map(|&length| length > 0).collect();
                let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
                Arc::new(ListArray::try_new(element, offsets, values, Some(nulls))?)
            }
        })
    }

    /// The code of an attribute in each vertex.
    fn codes<'s>(
        &'s self,
        attribute: AttributeId,
        vertices: &'s [usize],
    ) -> impl Iterator<Item = Option<usize>> + 's {
        let slot = self.data.schema().attribute(attribute).slot as usize;
        vertices.iter().map(move |&vertex| {
            let code = self.data.values(vertex).get(slot).copied().unwrap_or(MISSING);
            (code != MISSING).then_some(code as usize)
        })
    }

    /// Every value of the dictionary once, as a number of a type.
    fn numbers<T: ArrowPrimitiveType>(
        &self,
        attribute: AttributeId,
        vertices: &[usize],
        number: impl Fn(Cell<'_>) -> Option<T::Native>,
    ) -> PrimitiveArray<T> {
        let dictionary = self.data.dictionary(attribute);
        let values: Vec<Option<T::Native>> = dictionary
            .iter()
            .map(|(_, text)| self.columns.with_cell(attribute, text, &number).flatten())
            .collect();
        self.codes(attribute, vertices).map(|code| code.and_then(|code| values[code])).collect()
    }

    fn values(
        &self,
        attribute: AttributeId,
        of: ColumnType,
        vertices: &[usize],
    ) -> std::result::Result<ArrayRef, ArrowError> {
        macro_rules! whole {
            ($kind:ty) => {
                self.numbers::<$kind>(attribute, vertices, |cell| match cell {
                    Cell::Whole(x) => x.try_into().ok(),
                    Cell::Unsigned(x) => x.try_into().ok(),
                    _ => None,
                })
            };
        }
        macro_rules! moments {
            ($kind:ty, $utc:expr) => {
                Arc::new(whole!($kind).with_timezone_opt($utc.then_some("UTC")))
            };
        }
        let dictionary = self.data.dictionary(attribute);
        Ok(match of {
            ColumnType::Bool => {
                let value = |code: usize| dictionary.text(code as u32) == "true";
                Arc::new(self.codes(attribute, vertices).map(|c| c.map(value)).collect::<BooleanArray>())
            }
            ColumnType::Whole(8) => Arc::new(whole!(Int8Type)),
            ColumnType::Whole(16) => Arc::new(whole!(Int16Type)),
            ColumnType::Whole(32) => Arc::new(whole!(Int32Type)),
            ColumnType::Whole(_) => Arc::new(whole!(Int64Type)),
            ColumnType::Unsigned(8) => Arc::new(whole!(UInt8Type)),
            ColumnType::Unsigned(16) => Arc::new(whole!(UInt16Type)),
            ColumnType::Unsigned(32) => Arc::new(whole!(UInt32Type)),
            ColumnType::Unsigned(_) => Arc::new(whole!(UInt64Type)),
            ColumnType::Float => {
                Arc::new(self.numbers::<Float32Type>(attribute, vertices, |cell| match cell {
                    Cell::Float(x) => Some(x),
                    _ => None,
                }))
            }
            ColumnType::Double => {
                Arc::new(self.numbers::<Float64Type>(attribute, vertices, |cell| match cell {
                    Cell::Double(x) => Some(x),
                    _ => None,
                }))
            }
            ColumnType::Decimal(digits, scale) => {
                let numbers = self.numbers::<Decimal128Type>(attribute, vertices, |cell| match cell {
                    Cell::Decimal(x) => Some(x),
                    _ => None,
                });
                Arc::new(numbers.with_precision_and_scale(digits, scale as i8)?)
            }
            ColumnType::Day => Arc::new(whole!(Date32Type)),
            ColumnType::Time(SecondUnit::Milli) => Arc::new(whole!(Time32MillisecondType)),
            ColumnType::Time(SecondUnit::Micro) => Arc::new(whole!(Time64MicrosecondType)),
            ColumnType::Time(SecondUnit::Nano) => Arc::new(whole!(Time64NanosecondType)),
            ColumnType::Moment(SecondUnit::Milli, utc) => moments!(TimestampMillisecondType, utc),
            ColumnType::Moment(SecondUnit::Micro, utc) => moments!(TimestampMicrosecondType, utc),
            ColumnType::Moment(SecondUnit::Nano, utc) => moments!(TimestampNanosecondType, utc),
            ColumnType::Text | ColumnType::Bytes => {
                let texts = || {
                    let text = |code: usize| dictionary.text(code as u32);
                    self.codes(attribute, vertices).map(move |code| code.map(text))
                };
                let length: usize = texts().flatten().map(str::len).sum();
                match i32::try_from(length) {
                    Ok(_) => Arc::new(texts().collect::<StringArray>()),
                    Err(_) => Arc::new(texts().collect::<LargeStringArray>()),
                }
            }
        })
    }
}
