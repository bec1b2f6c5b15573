//! A build without Parquet: linked tables in its files are refused.

use std::io::Write;

use bosket_model::Result;
use bosket_model::observe::Observer;

use crate::input::Input;
use crate::output::Output;
use crate::parquet::refused;
use crate::parquet::scalar::Scalar;
use crate::tables::backend::{At, Backend, Beside, Column, Take};
use crate::tables::emit::Outflow;
use crate::tables::files::Files;
use crate::tables::shape::Shape;

/// Tables that cannot be opened.
#[derive(Debug)]
pub(crate) struct ParquetTables {
    files: Files,
}

impl ParquetTables {
    pub(crate) fn new(files: Files) -> Self {
        ParquetTables { files }
    }
}

impl Backend for ParquetTables {
    fn place(&self, table: &At<'_>) -> String {
        self.files.place(table.path.unwrap_or(table.name))
    }

    fn describe(&mut self, _: &At<'_>) -> Result<Vec<Column>> {
        Err(refused())
    }

    fn read(
        &mut self,
        _: &At<'_>,
        _: &[usize],
        _: &[usize],
        _: &dyn Observer,
        _: &mut Take<'_>,
    ) -> Result<()> {
        Err(refused())
    }

    fn seal(&mut self, _: &[At<'_>], _: &Beside, _: &dyn Observer) -> Result<()> {
        Err(refused())
    }
}

pub(crate) fn write(
    _: &dyn Outflow,
    _: Vec<Option<&mut Output>>,
    _: Vec<Vec<Scalar>>,
    _: &dyn Observer,
) -> Result<()> {
    Err(refused())
}

pub(crate) fn types(_: &dyn Outflow, _: &Shape, _: &dyn Observer) -> Result<Vec<Vec<Scalar>>> {
    Err(refused())
}

pub(crate) fn write_again(
    _: &mut Input,
    _: usize,
    _: &mut (dyn Write + Send),
    _: &dyn Observer,
) -> Result<()> {
    Err(refused())
}
