//! A build without Parquet: its files are recognised and refused.

mod escaped;

use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::{Dataset, Failure, Result};

use crate::batches::BatchSize;
use crate::format::{Format, Layout};
use crate::input::Input;
use crate::left_out::left_out;
use scalar::Scalar;

/// The first bytes of a file, and the last.
pub(crate) const MAGIC: &[u8] = b"PAR1";

pub(crate) fn refused() -> Failure {
    left_out("Parquet", "parquet")
}

/// The columns that a file has: none that this build knows of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {}

impl Columns {
    pub(crate) fn scalar(&self, _: &str) -> Option<&Scalar> {
        None
    }
}

pub(crate) fn columns_of(_: &mut Input) -> Result<Columns> {
    Err(refused())
}

pub(crate) fn each_part(_: &mut Input, _: &mut dyn FnMut(Dataset, &Columns) -> Result<()>) -> Result<()> {
    Err(refused())
}

/// There are none.
pub(crate) fn parts_of(
    _: &mut Input,
    _: BatchSize,
    _: &mut dyn FnMut(Dataset, &Columns) -> Result<()>,
) -> Result<()> {
    Err(refused())
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

    fn read(&self, _: &mut Input, _: &Layout) -> Result<(Dataset, Layout)> {
        Err(refused())
    }

    fn write(&self, _: &Dataset, _: &Layout, _: &mut (dyn Write + Send), _: &dyn Observer) -> Result<()> {
        Err(refused())
    }
}

pub(crate) mod scalar {
    use bosket_model::Kind;
    use bosket_model::dictionary::Dictionary;

    /// The type of a column; there is none to choose from.
    #[derive(Clone, Debug)]
    pub(crate) struct Scalar;

    impl Scalar {
        pub(crate) fn text() -> Self {
            Scalar
        }

        pub(crate) fn candidates() -> [Self; 0] {
            []
        }

        pub(crate) fn from_words(_: &str) -> Option<Self> {
            None
        }

        pub(crate) fn for_codes(_: Option<Self>, _: &Dictionary, _: &[u32]) -> Self {
            Scalar
        }

        pub(crate) fn fits<'a>(&self, _: impl Iterator<Item = (Kind, &'a str)>) -> bool {
            true
        }
    }
}

pub(crate) mod pairs {
    use std::convert::Infallible;
    use std::io::Write;
    use std::marker::PhantomData;

    use bosket_model::{Kind, Result};

    use super::scalar::Scalar;
    use crate::input::Input;

    /// A file that cannot be begun.
    pub(crate) struct Pairs<W: Write + Send>(Infallible, PhantomData<W>);

    impl<W: Write + Send> Pairs<W> {
        pub(crate) fn begin(_: [&str; 2], _: Scalar, _: W) -> Result<Self> {
            Err(super::refused())
        }

        pub(crate) fn push(&mut self, _: u64, _: &str) -> Result<()> {
            match self.0 {}
        }

        pub(crate) fn finish(self) -> Result<W> {
            match self.0 {}
        }
    }

    /// A group and a value of a row, where they are there.
    pub(crate) type Row<'r> = (Option<&'r str>, Option<(Kind, &'r str)>);

    pub(crate) fn each_pair(_: &mut Input, _: [&str; 2], _: &mut dyn FnMut(Row<'_>)) -> Result<()> {
        Err(super::refused())
    }
}

pub(crate) mod people {
    use std::convert::Infallible;
    use std::io::Write;
    use std::marker::PhantomData;

    use bosket_model::schema::Schema;
    use bosket_model::{Dataset, Result};

    use super::Columns;
    pub(crate) use super::escaped::{push_escaped, unescaped};
    use crate::sorted::Sorted;

    /// Columns that people cannot be published in.
    #[derive(Debug)]
    pub(crate) enum Sheet {}

    impl Sheet {
        pub(crate) fn new(_: &Schema, _: &Columns) -> Result<Self> {
            Err(super::refused())
        }

        pub(crate) fn texts(&mut self, _: &Dataset) -> Result<Sorted> {
            match *self {}
        }

        pub(crate) fn holds(&mut self, _: &Dataset) -> bool {
            match *self {}
        }

        pub(crate) fn begin<W: Write + Send>(&self, _: &str, _: W) -> Result<Rows<W>> {
            match *self {}
        }
    }

    /// A file that cannot be begun.
    pub(crate) struct Rows<W>(Infallible, PhantomData<W>);

    impl<W> Rows<W> {
        pub(crate) fn person(&mut self, _: u64, _: &[u8]) -> Result<()> {
            match self.0 {}
        }

        pub(crate) fn finish(self) -> Result<W> {
            match self.0 {}
        }
    }
}

pub(crate) mod from_chunks {
    use std::convert::Infallible;
    use std::io::Write;

    use bosket_model::observe::Observer;
    use bosket_model::schema::Schema;
    use bosket_model::{Dataset, Result};

    use super::Columns;

    /// Columns whose types nobody can find.
    #[derive(Debug)]
    pub(crate) struct ColumnTypes(Infallible);

    impl ColumnTypes {
        pub(crate) fn begin(_: &Columns) -> Result<Self> {
            Err(super::refused())
        }

        pub(crate) fn add(&mut self, _: &Dataset, _: &dyn Observer) -> Result<()> {
            match self.0 {}
        }

        pub(crate) fn pass_done(&mut self) -> bool {
            match self.0 {}
        }

        pub(crate) fn sheet(&self, _: &Schema) -> Result<ChunkSheet> {
            match self.0 {}
        }
    }

    /// Columns that cannot be written.
    #[derive(Debug)]
    pub(crate) struct ChunkSheet(Infallible);

    impl ChunkSheet {
        pub(crate) fn texts(
            &self,
            _: &Dataset,
            _: &dyn Observer,
            _: &mut dyn FnMut(&[u8]) -> Result<()>,
        ) -> Result<()> {
            match self.0 {}
        }

        pub(crate) fn begin<W: Write + Send>(&self, _: W) -> Result<ChunkRows> {
            match self.0 {}
        }
    }

    /// A file that cannot be begun.
    pub(crate) struct ChunkRows(Infallible);

    impl ChunkRows {
        pub(crate) fn record(&mut self, _: &[u8]) -> Result<()> {
            match self.0 {}
        }

        pub(crate) fn finish(self) -> Result<()> {
            match self.0 {}
        }
    }
}

pub mod parts {
    //! Publications in several files, which this build cannot read.

    use bosket_model::{Dataset, Diagnostic, Result};

    use super::Columns;
    use crate::form::There;
    use crate::input::Input;
    use crate::parts::PartFacts;

    pub(crate) fn of_parts(_: &[There], _: &Columns, _: &Dataset) -> Result<Option<Diagnostic>> {
        Err(super::refused())
    }

    pub(crate) fn read(_: &mut Input) -> Result<(Dataset, Columns, Vec<PartFacts>)> {
        Err(super::refused())
    }

    /// The columns that all parts have: nobody can have any.
    #[derive(Debug)]
    pub struct PartSheet(std::convert::Infallible);

    impl PartSheet {
        /// Refused.
        pub fn new(_: &Dataset, _: &Columns) -> Result<Self> {
            Err(super::refused())
        }

        /// Nothing.
        pub fn texts(&mut self, _: &Dataset, _: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
            match self.0 {}
        }

        /// Nothing.
        pub fn fit(&mut self, _: &Dataset) {
            match self.0 {}
        }

        /// Nothing.
        pub fn spelled(&self) -> Vec<String> {
            match self.0 {}
        }

        /// Nothing.
        pub fn spell(&mut self, _: &[String]) {
            match self.0 {}
        }
    }
}
