//! A build without SQLite: its databases are recognised and refused.

use std::convert::Infallible;
use std::path::Path;

use bosket_model::observe::Observer;
use bosket_model::{Failure, Result};

use crate::atomic::Create;
use crate::fingerprint::Certify;
use crate::left_out::left_out;
use crate::output::Output;
use crate::tables::backend::{At, Backend, Beside, Column, Take};
use crate::tables::catalogue::Catalogue;
use crate::tables::emit::Outflow;
use crate::tables::{Pairs, TakePair};

fn refused() -> Failure {
    left_out("SQLite", "sqlite")
}

/// A database that cannot be opened.
#[derive(Debug)]
pub(crate) enum SqliteTables {}

impl SqliteTables {
    pub(crate) fn open(_: &Path) -> Result<Self> {
        Err(refused())
    }

    pub(crate) fn tables(&self) -> Result<Vec<String>> {
        match *self {}
    }

    pub(crate) fn catalogue(&self) -> Result<Catalogue> {
        match *self {}
    }
}

impl Backend for SqliteTables {
    fn place(&self, _: &At<'_>) -> String {
        match *self {}
    }

    fn describe(&mut self, _: &At<'_>) -> Result<Vec<Column>> {
        match *self {}
    }

    fn read(
        &mut self,
        _: &At<'_>,
        _: &[usize],
        _: &[usize],
        _: &dyn Observer,
        _: &mut Take<'_>,
    ) -> Result<()> {
        match *self {}
    }

    fn seal(&mut self, _: &[At<'_>], _: &Beside, _: &dyn Observer) -> Result<()> {
        match *self {}
    }
}

/// A file that cannot be begun.
#[derive(Debug)]
pub(crate) enum SqliteFile {}

impl SqliteFile {
    pub(crate) fn create(_: &Path, _: Create) -> Result<Self> {
        Err(refused())
    }

    pub(crate) fn write(&self, _: &dyn Outflow, _: &[Option<&str>], _: &dyn Observer) -> Result<()> {
        match *self {}
    }

    pub(crate) fn add_pairs(&self, _: &str, _: [&str; 2], _: &mut Pairs<'_>) -> Result<()> {
        match *self {}
    }

    pub(crate) fn pairs(&self, _: &str, _: [&str; 2], _: &mut TakePair<'_>) -> Result<()> {
        match *self {}
    }

    pub(crate) fn open(&self) -> Result<SqliteTables> {
        match *self {}
    }

    pub(crate) fn finish(self, _: Vec<Output>, _: Certify<'_>, _: &dyn Observer) -> Result<()> {
        match self {}
    }
}

/// A database that cannot be begun.
#[derive(Debug)]
pub struct NewDatabase(Infallible);

impl NewDatabase {
    /// Refuses to begin a database.
    pub fn create(_: &Path, _: Create, _: &str) -> Result<Self> {
        Err(refused())
    }

    /// Runs an `INSERT` with these cells.
    pub fn insert(&mut self, _: &str, _: &[&str]) -> Result<()> {
        match self.0 {}
    }

    /// Completes the database and gives it its name, together with other files.
    pub fn finish(self, _: Vec<Output>) -> Result<()> {
        match self.0 {}
    }
}

pub(crate) mod pairs {
    use std::path::Path;

    use bosket_model::Result;

    use crate::tables::TakePair;

    pub(crate) fn read(_: &Path, _: &str, _: [&str; 2], _: &mut TakePair<'_>) -> Result<()> {
        Err(super::refused())
    }
}
