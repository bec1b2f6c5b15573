//! Parquet: columns of single values, which lists and structs put together to records.
//!
//! A file is read as one record per row, like the lines of NDJSON: a list is a class, a struct a part of its parent's
//! vertex. [`tables`](crate::tables) reads files whose rows are linked by keys instead. Only the columns' own readers
//! and writers are used; nothing here needs Arrow.

mod calendar;
pub(crate) mod chunks;
pub(crate) mod decode;
mod escaped;
mod fill;
pub(crate) mod fitting;
pub mod frame;
pub(crate) mod from_chunks;
pub(crate) mod leaf;
pub(crate) mod pairs;
pub mod parts;
pub(crate) mod people;
mod plan;
mod read;
pub(crate) mod scalar;
mod sealed;
mod shape;
mod write;
pub(crate) mod writer;

use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::schema::Schema;
use bosket_model::{Dataset, Result};

use crate::batches::BatchSize;
use crate::format::{Format, Layout};
use crate::input::Input;
use scalar::Scalar;

/// The first bytes of a file, and the last.
pub(crate) const MAGIC: &[u8] = b"PAR1";

/// Records of a part.
const PART: usize = 4096;

/// The columns that a file has, so that a publication can have the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// Path and type of each, in their order.
    leaves: Vec<(String, Scalar)>,
}

impl Eq for Columns {}

impl Columns {
    fn of(schema: &Schema, leaves: &[shape::Leaf]) -> Self {
        let leaf = |l: &shape::Leaf| (schema.attribute(l.attribute).path.clone(), l.scalar.clone());
        Columns { leaves: leaves.iter().map(leaf).collect() }
    }

    /// The type of a column.
    pub(crate) fn scalar(&self, path: &str) -> Option<&Scalar> {
        self.find(path).map(|at| &self.leaves[at].1)
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.leaves.iter().position(|(p, _)| p == path)
    }
}

/// The columns of a file, which may have no record.
pub(crate) fn columns_of(input: &mut Input) -> Result<Columns> {
    read::columns(input)
}

/// Hands out the records of a file in parts, so that no more than one is in memory. All parts have the same columns, by
/// the same numbers.
pub(crate) fn each_part(input: &mut Input, take: &mut read::Take<'_>) -> Result<()> {
    read::read_parts(input, BatchSize { records: PART, bytes: usize::MAX }, take)?;
    input.nothing_outside()
}

/// The same with parts of a size, or some more.
pub(crate) fn parts_of(input: &mut Input, size: BatchSize, take: &mut read::Take<'_>) -> Result<()> {
    read::read_parts(input, size, take)?;
    input.nothing_outside()
}

/// One record per row.
#[derive(Debug)]
pub struct Parquet;

impl Format for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["parquet", "pq"]
    }

    fn read(&self, input: &mut Input, layout: &Layout) -> Result<(Dataset, Layout)> {
        let (data, columns) = read::read(input)?;
        Ok((data, Layout { columns: Box::new(columns), ..layout.clone() }))
    }

    fn write(
        &self,
        data: &Dataset,
        layout: &Layout,
        out: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<()> {
        write::write(data, &layout.columns, out, observer)
    }
}
