//! Columns of single values on their way into a file.

use std::io::{self, Write};
use std::sync::Arc;

use bosket_model::observe::Observer;
use bosket_model::{Failure, Result};
use bytes::Bytes;
use parquet::basic::{Compression, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use super::decode::Value;
use super::scalar::Scalar;
use crate::fault;

/// Who wrote a file. A version here would change the bytes of an unchanged publication.
pub(super) const CREATED_BY: &str = "bosket";

/// When a row group is full. It follows from nothing but the rows: whether all of them were in memory or came from chunks
/// does not show in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full {
    /// Values in one column.
    values: usize,
    /// Bytes that all columns take in memory.
    bytes: usize,
}

impl Full {
    /// Of the only file that is written.
    pub(crate) const ONE: Full = Full { values: 1 << 16, bytes: 16 << 20 };

    /// Of files that are written side by side.
    pub(crate) fn among(files: usize) -> Full {
        Full { bytes: (Self::ONE.bytes / files.max(1)).max(2 << 20), ..Self::ONE }
    }
}

/// Values of a column, with their levels.
#[derive(Debug)]
pub(crate) struct Column {
    scalar: Scalar,
    definition: Vec<i16>,
    repetition: Vec<i16>,
    values: Values,
    /// Bytes that values and levels take.
    bytes: usize,
}

/// Bytes of a value's levels, and of a value, or of the place of its text.
const LEVELS: usize = 4;
const VALUE: usize = 8;

#[derive(Debug)]
enum Values {
    Bool(Vec<bool>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Bytes(Texts),
    Fixed(Texts),
}

/// Texts one behind the other: each on its own would take several times its bytes.
#[derive(Debug, Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    /// All of them, without copying any; none are left.
    fn take(&mut self) -> Vec<ByteArray> {
        let bytes = Bytes::from(std::mem::take(&mut self.bytes));
        let mut start = 0;
        let text = |end: usize| bytes.slice(std::mem::replace(&mut start, end)..end).into();
        std::mem::take(&mut self.ends).into_iter().map(text).collect()
    }
}

impl Column {
    pub(crate) fn new(scalar: Scalar) -> Self {
        let values = match scalar.physical {
            Physical::BOOLEAN => Values::Bool(Vec::new()),
            Physical::INT32 => Values::I32(Vec::new()),
            Physical::INT64 | Physical::INT96 => Values::I64(Vec::new()),
            Physical::FLOAT => Values::F32(Vec::new()),
            Physical::DOUBLE => Values::F64(Vec::new()),
            Physical::BYTE_ARRAY => Values::Bytes(Texts::default()),
            Physical::FIXED_LEN_BYTE_ARRAY => Values::Fixed(Texts::default()),
        };
        Column { scalar, definition: Vec::new(), repetition: Vec::new(), values, bytes: 0 }
    }

    /// Adds a gap.
    pub(crate) fn push_missing(&mut self, definition: i16, repetition: i16) {
        self.definition.push(definition);
        self.repetition.push(repetition);
        self.bytes += LEVELS;
    }

    /// Adds a value, which the type must hold.
    pub(crate) fn push(&mut self, definition: i16, repetition: i16, text: &str) {
        self.push_missing(definition, repetition);
        let value = self.scalar.encode(text).expect("the type was chosen to hold all values");
        self.bytes += VALUE + text.len();
        match (&mut self.values, value) {
            (Values::Bool(all), Value::Bool(x)) => all.push(x),
            (Values::I32(all), Value::I32(x)) => all.push(x),
            (Values::I64(all), Value::I64(x)) => all.push(x),
            (Values::F32(all), Value::F32(x)) => all.push(x),
            (Values::F64(all), Value::F64(x)) => all.push(x),
            (Values::Bytes(all) | Values::Fixed(all), Value::Bytes(x)) => all.push(&x),
            _ => unreachable!("a type has one physical form"),
        }
    }

    fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
        let (definition, repetition) = (Some(&self.definition[..]), Some(&self.repetition[..]));
        macro_rules! write {
            ($writer:expr, $values:expr) => {{
                $writer.write_batch(&std::mem::take($values), definition, repetition)?;
            }};
        }
        match (&mut self.values, writer) {
            (Values::Bool(v), ColumnWriter::BoolColumnWriter(w)) => write!(w, v),
            (Values::I32(v), ColumnWriter::Int32ColumnWriter(w)) => write!(w, v),
            (Values::I64(v), ColumnWriter::Int64ColumnWriter(w)) => write!(w, v),
            (Values::F32(v), ColumnWriter::FloatColumnWriter(w)) => write!(w, v),
            (Values::F64(v), ColumnWriter::DoubleColumnWriter(w)) => write!(w, v),
            (Values::Bytes(v), ColumnWriter::ByteArrayColumnWriter(w)) => write!(w, &mut v.take()),
            (Values::Fixed(v), ColumnWriter::FixedLenByteArrayColumnWriter(w)) => {
                let fixed = v.take().into_iter().map(FixedLenByteArray::from);
                write!(w, &mut fixed.collect::<Vec<_>>())
            }
            _ => return Err(ParquetError::General("a column has another type than its writer".to_owned())),
        }
        self.definition.clear();
        self.repetition.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// A file under construction.
pub(crate) struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    /// The columns that are filled next.
    pub(crate) columns: Vec<Column>,
    full: Full,
}

impl<W: Write + Send> Writer<W> {
    pub(crate) fn new(
        schema: TypePtr,
        columns: Vec<Scalar>,
        full: Full,
        to: W,
    ) -> Result<Self, ParquetError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(Default::default()))
            .set_created_by(CREATED_BY.to_owned())
            // What says something about values beside the rows is not looked at by any guarantee.
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_dictionary_enabled(false)
            .build();
        let file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
        Ok(Writer { file, columns: columns.into_iter().map(Column::new).collect(), full })
    }

    /// Writes the columns out if they are full; to be asked between records.
    pub(crate) fn record_done(&mut self) -> Result<(), ParquetError> {
        let bytes: usize = self.columns.iter().map(|c| c.bytes).sum();
        let full = |c: &Column| c.definition.len() >= self.full.values;
        if bytes >= self.full.bytes || self.columns.iter().any(full) { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column()? else {
                return Err(ParquetError::General("the file has fewer columns".to_owned()));
            };
            column.write(writer.untyped())?;
            writer.close()?;
        }
        group.close().map(|_| ())
    }

    /// Completes the file and gives back where it went.
    pub(crate) fn finish(mut self) -> Result<W, ParquetError> {
        if self.columns.iter().any(|c| !c.definition.is_empty()) {
            self.write()?;
        }
        self.file.into_inner()
    }
}

/// Where a file goes, until nobody waits for it any more. A row group is many values: whoever asks only between rows asks
/// too rarely.
pub(crate) struct Observed<'o, W> {
    pub(crate) out: W,
    pub(crate) observer: &'o dyn Observer,
}

impl<W: Write> Write for Observed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.observer.go_on().map_err(io::Error::other)?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The schema of rows of single values.
pub(crate) fn flat_schema(names: &[&str], columns: &[Scalar]) -> Result<TypePtr, ParquetError> {
    let fields: Result<Vec<TypePtr>, ParquetError> =
        names.iter().zip(columns).map(|(name, scalar)| scalar.column(name)).collect();
    Ok(Type::group_type_builder("schema").with_fields(fields?).build()?.into())
}

/// What went wrong while a file was written.
pub(crate) fn failure(error: ParquetError) -> Failure {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => fault::from_write(*error),
            Err(other) => fault::from_write(std::io::Error::other(other)),
        },
        other => fault::from_write(std::io::Error::other(other)),
    }
}
