//! Reads records out of columns.
//!
//! All columns are read side by side, some records at a time, and their values put into the dictionaries at once. The
//! levels then say how the values go together.

use bosket_model::{AttributeId, Builder, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result};
use parquet::column::reader::ColumnReader;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::Columns;
use super::chunks::{Chunks, damaged, failure, open};
use super::decode::{Raw, Scratch, Wrong};
use super::leaf::{self, Levels};
use super::parts::other_columns;
use super::scalar::Scalar;
use super::shape::{Field, Leaf, Shape};
use crate::batches::BatchSize;
use crate::input::Input;
use crate::problems::{Problems, no_record, too_large};

/// Takes a part of the records, and the file's columns.
pub(crate) type Take<'a> = dyn FnMut(Dataset, &Columns) -> Result<()> + 'a;

/// Records that are read at once.
const BATCH: usize = 2048;

/// Bytes that a value takes beside its text.
const VALUE: usize = 8;

/// Values whose codes are remembered per column, so that frequent numbers need not be spelt again and again.
const REMEMBERED: usize = 1 << 10;

/// All records of a file, and its columns.
pub(super) fn read(input: &mut Input) -> Result<(Dataset, Columns)> {
    let mut whole = None;
    let size = BatchSize { records: usize::MAX, bytes: usize::MAX };
    read_parts(input, size, &mut |data, columns| {
        whole = Some((data, columns.clone()));
        Ok(())
    })?;
    whole.ok_or_else(|| Failure::new(Fault::Data, no_record(Place::source(input.name()))))
}

/// The columns of a file.
pub(super) fn columns(input: &mut Input) -> Result<Columns> {
    let file = open(input)?;
    let (mut builder, mut shape) = (Builder::new(), Shape::default());
    shape.record(file.metadata().file_metadata().schema(), &mut builder, input.name());
    if !shape.problems.is_empty() {
        return Err(Failure::all(Fault::Data, shape.problems));
    }
    Ok(Columns::of(builder.schema(), &shape.leaves))
}

/// Hands out the records of a file in parts that have all its columns, so that no more than one is in memory; a part has
/// so many records, or values of so many bytes and some more. A file without records has no part.
pub(super) fn read_parts(input: &mut Input, size: BatchSize, take: &mut Take<'_>) -> Result<()> {
    let file = open(input)?;
    let name = input.name().to_owned();
    let root = file.metadata().file_metadata().schema();
    let shaped = || {
        let (mut builder, mut shape) = (Builder::new(), Shape::default());
        let record = shape.record(root, &mut builder, &name);
        (builder, shape, record)
    };
    let (builder, shape, record) = shaped();
    if !shape.problems.is_empty() {
        return Err(Failure::all(Fault::Data, shape.problems));
    }
    let columns = Columns::of(builder.schema(), &shape.leaves);
    let mut reader = Reader {
        columns: shape.leaves.into_iter().map(Column::new).collect(),
        builder,
        problems: Problems::new(&name),
        records: 0,
        most: size.records,
        bytes: 0,
    };
    let whole = reader.file(&file, &record, input, &mut |reader| {
        let full = reader.builder.len() >= size.records || reader.bytes >= size.bytes;
        if !full || !reader.problems.is_empty() {
            return Ok(());
        }
        // The same columns have the same numbers in every part.
        take(reader.next_part(shaped().0), &columns)
    })?;
    if !whole {
        return reader.problems.settle();
    }
    reader.problems.settle()?;
    if reader.builder.is_empty() { Ok(()) } else { take(reader.builder.finish(), &columns) }
}

/// All records of several files that have the same columns, these columns, and how many records each file has.
pub(super) fn read_files(
    inputs: impl Iterator<Item = Result<Input>>,
) -> Result<(Dataset, Columns, Vec<u64>)> {
    let (mut builder, mut columns, mut counts) = (Builder::new(), None, Vec::new());
    for input in inputs {
        let mut input = input?;
        let file = open(&mut input)?;
        let name = input.name().to_owned();
        let mut shape = Shape::default();
        let record = shape.record(file.metadata().file_metadata().schema(), &mut builder, &name);
        if !shape.problems.is_empty() {
            return Err(Failure::all(Fault::Data, shape.problems));
        }
        let own = Columns::of(builder.schema(), &shape.leaves);
        if *columns.get_or_insert_with(|| own.clone()) != own {
            return Err(other_columns(&name));
        }
        let before = builder.len();
        let mut reader = Reader {
            columns: shape.leaves.into_iter().map(Column::new).collect(),
            builder,
            problems: Problems::new(&name),
            records: 0,
            most: usize::MAX,
            bytes: 0,
        };
        reader.file(&file, &record, &input, &mut |_| Ok(()))?;
        reader.problems.settle()?;
        input.nothing_outside()?;
        builder = reader.builder;
        counts.push((builder.len() - before) as u64);
    }
    Ok((builder.finish(), columns.unwrap_or_default(), counts))
}

struct Column {
    attribute: AttributeId,
    /// The definition level of a value that is there.
    definition: i16,
    scalar: Scalar,
    levels: Levels,
    codes: Vec<u32>,
    /// The next level and the next value.
    level: usize,
    value: usize,
    remembered: Vec<(u64, u32)>,
    scratch: Scratch,
    /// What the values take as texts.
    bytes: usize,
}

impl Column {
    fn new(leaf: Leaf) -> Self {
        Column {
            attribute: leaf.attribute,
            definition: leaf.definition,
            scalar: leaf.scalar,
            levels: Levels::default(),
            codes: Vec::new(),
            level: 0,
            value: 0,
            remembered: Vec::new(),
            scratch: Scratch::default(),
            bytes: 0,
        }
    }

    /// Reads so many records; what cannot be taken is told by the number of the value.
    fn fill(
        &mut self,
        reader: &mut ColumnReader,
        records: usize,
        builder: &mut Builder,
        wrong: &mut dyn FnMut(usize, Wrong),
    ) -> parquet::errors::Result<()> {
        let Column { attribute, scalar, levels, codes, remembered, scratch, bytes, .. } = self;
        codes.clear();
        *bytes = 0;
        leaf::read(reader, records, levels, &mut |raw| {
            let bits = match raw {
                Raw::I32(x) => Some(x as u64),
                Raw::I64(x) => Some(x as u64),
                Raw::F32(x) => Some(u64::from(x.to_bits())),
                Raw::F64(x) => Some(x.to_bits()),
                _ => None,
            };
            *bytes += VALUE;
            let place = bits.map(|b| (b.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize % REMEMBERED);
            if let (Some(bits), Some(&known)) = (bits, place.and_then(|p| remembered.get(p)))
                && known.0 == bits
                && known.1 != MISSING
            {
                codes.push(known.1);
                return;
            }
            let code = match scalar.decode(raw, scratch) {
                Ok((kind, text)) => {
                    *bytes += text.len();
                    builder.code(*attribute, kind, text)
                }
                Err(what) => {
                    wrong(codes.len(), what);
                    MISSING
                }
            };
            codes.push(code);
            if let (Some(bits), Some(place)) = (bits, place) {
                remembered.resize(REMEMBERED, (0, MISSING));
                remembered[place] = (bits, code);
            }
        })?;
        (self.level, self.value) = (0, 0);
        Ok(())
    }

    /// The record of this batch that a value belongs to.
    fn record_of(&self, value: usize) -> usize {
        let levels = self.levels.definition.iter().zip(&self.levels.repetition);
        let mut there = 0;
        let mut records = 0;
        for (&definition, &repetition) in levels {
            records += usize::from(repetition == 0);
            there += usize::from(definition == self.definition);
            if there > value {
                break;
            }
        }
        records
    }
}

/// Columns that do not go together.
struct Torn;

struct Reader {
    columns: Vec<Column>,
    builder: Builder,
    problems: Problems,
    records: u64,
    /// Most records of a part.
    most: usize,
    /// What the values since the last part take as texts.
    bytes: usize,
}

impl Reader {
    /// Reads a file, and lets somebody look after each batch; false if no more can be taken.
    fn file(
        &mut self,
        file: &SerializedFileReader<Chunks>,
        record: &Field,
        input: &Input,
        after: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<bool> {
        let name = input.name();
        for group in 0..file.num_row_groups() {
            let group = file.get_row_group(group).map_err(|e| failure(name, &e))?;
            let mut readers = Vec::new();
            for column in 0..self.columns.len() {
                readers.push(group.get_column_reader(column).map_err(|e| failure(name, &e))?);
            }
            let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            while left > 0 {
                input.stop().go_on()?;
                let room = self.most.saturating_sub(self.builder.len()).max(1);
                let count = left.min(BATCH).min(room);
                if !self.batch(&mut readers, count, record, name)? {
                    return Ok(false);
                }
                left -= count;
                after(self)?;
            }
        }
        Ok(true)
    }

    /// The records since the last part.
    fn next_part(&mut self, empty: Builder) -> Dataset {
        for column in &mut self.columns {
            column.remembered.clear();
        }
        self.bytes = 0;
        std::mem::replace(&mut self.builder, empty).finish()
    }

    /// Reads so many records; false if no more can be taken.
    fn batch(
        &mut self,
        readers: &mut [ColumnReader],
        count: usize,
        record: &Field,
        name: &str,
    ) -> Result<bool> {
        for (column, reader) in self.columns.iter_mut().zip(readers) {
            let mut wrong = Vec::new();
            column
                .fill(reader, count, &mut self.builder, &mut |value, what| wrong.push((value, what)))
                .map_err(|e| failure(name, &e))?;
            for (value, what) in wrong {
                let path = &self.builder.schema().attribute(column.attribute).path;
                let number = self.records + column.record_of(value) as u64;
                let (message, help) = what.describe();
                self.problems.push_like(Some(format!("{path} {message}")), |place| {
                    let place = place.record(number).path(path.as_str());
                    Diagnostic::error(format!("the column {message}")).at(place).help(help)
                });
            }
        }
        self.bytes += self.columns.iter().map(|c| c.bytes).sum::<usize>();
        for _ in 0..count {
            self.records += 1;
            self.builder.begin_record();
            self.walk(record).map_err(|Torn| damaged(name, "its columns do not go together"))?;
            if self.builder.end_record().is_err() {
                let record = self.records;
                self.problems.push(|place| too_large(place.record(record)));
                return Ok(false);
            }
        }
        if self.columns.iter().any(|c| c.level != c.levels.definition.len()) {
            return Err(damaged(name, "its columns do not go together"));
        }
        Ok(true)
    }

    fn walk(&mut self, field: &Field) -> Result<(), Torn> {
        match field {
            Field::Value(column) => {
                let column = &mut self.columns[*column];
                let definition = *column.levels.definition.get(column.level).ok_or(Torn)?;
                column.level += 1;
                if definition == column.definition {
                    let code = *column.codes.get(column.value).ok_or(Torn)?;
                    column.value += 1;
                    if code != MISSING {
                        self.builder.set_code(column.attribute, code);
                    }
                }
            }
            Field::Struct(fields) => {
                for field in fields {
                    self.walk(field)?;
                }
            }
            Field::List { class, columns, definition, repetition, element } => {
                let first = columns.start;
                let next = |reader: &Self| {
                    let column = reader.columns.get(first)?;
                    let levels = &column.levels;
                    levels
                        .definition
                        .get(column.level)
                        .copied()
                        .zip(levels.repetition.get(column.level).copied())
                };
                if next(self).ok_or(Torn)?.0 < *definition {
                    for column in &mut self.columns[columns.clone()] {
                        column.level += 1;
                    }
                    return Ok(());
                }
                loop {
                    self.builder.open(*class);
                    self.walk(element)?;
                    self.builder.close();
                    if next(self).is_none_or(|(_, r)| r != *repetition) {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}
