//! A column of single values, read some records at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::column::reader::ColumnReader;
use parquet::errors::{ParquetError, Result};

use super::decode::Raw;

/// The levels of the values read last: how deep each is defined, and where lists begin and go on.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    pub(crate) definition: Vec<i16>,
    pub(crate) repetition: Vec<i16>,
}

/// Reads so many records: their levels, and each value that is there. Whoever gets an error must not go on.
pub(crate) fn read(
    reader: &mut ColumnReader,
    records: usize,
    levels: &mut Levels,
    take: &mut dyn FnMut(Raw<'_>),
) -> Result<()> {
    // Pages whose content contradicts itself make the decoders of the library panic.
    catch_unwind(AssertUnwindSafe(|| read_levels(reader, records, levels, take)))
        .unwrap_or_else(|_| Err(ParquetError::General("a page contradicts itself".to_owned())))
}

fn read_levels(
    reader: &mut ColumnReader,
    records: usize,
    levels: &mut Levels,
    take: &mut dyn FnMut(Raw<'_>),
) -> Result<()> {
    let Levels { definition, repetition } = levels;
    definition.clear();
    repetition.clear();
    macro_rules! values {
        ($reader:expr, $value:pat => $raw:expr) => {{
            let mut values = Vec::new();
            let found = $reader.read_records(records, Some(definition), Some(repetition), &mut values)?;
            for $value in &values {
                take($raw);
            }
            found
        }};
    }
    let (found, _, count) = match reader {
        ColumnReader::BoolColumnReader(r) => values!(r, x => Raw::Bool(*x)),
        ColumnReader::Int32ColumnReader(r) => values!(r, x => Raw::I32(*x)),
        ColumnReader::Int64ColumnReader(r) => values!(r, x => Raw::I64(*x)),
        ColumnReader::Int96ColumnReader(r) => values!(r, x => Raw::I96(x)),
        ColumnReader::FloatColumnReader(r) => values!(r, x => Raw::F32(*x)),
        ColumnReader::DoubleColumnReader(r) => values!(r, x => Raw::F64(*x)),
        ColumnReader::ByteArrayColumnReader(r) => values!(r, x => Raw::Bytes(x.data())),
        ColumnReader::FixedLenByteArrayColumnReader(r) => values!(r, x => Raw::Bytes(x.data())),
    };
    // Columns without gaps or lists come without levels.
    if definition.is_empty() {
        definition.resize(count, 0);
    }
    if repetition.is_empty() {
        repetition.resize(count, 0);
    }
    if found != records || definition.len() != count || repetition.len() != count {
        return Err(ParquetError::General("a column has fewer values than the file has rows".to_owned()));
    }
    Ok(())
}
