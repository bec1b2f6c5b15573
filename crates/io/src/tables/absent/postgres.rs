//! A build without PostgreSQL: its databases are recognised by their addresses and refused.

use bosket_model::observe::Observer;
use bosket_model::{Failure, Fingerprint, Result};

use crate::fingerprint::Certify;
use crate::left_out::left_out;
use crate::output::Output;
use crate::tables::backend::{At, Backend, Beside, Column, Take};
use crate::tables::catalogue::Catalogue;
use crate::tables::emit::Outflow;
use crate::tables::{Pairs, TakePair};

fn refused() -> Failure {
    left_out("PostgreSQL", "postgres")
}

/// The database that a publication is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) identity: String,
    pub(crate) schemas: Vec<String>,
}

/// A database that cannot be opened.
#[derive(Debug)]
pub(crate) enum PgTables {}

impl PgTables {
    pub(crate) fn open(_: &str, _: Option<&str>, _: &dyn Observer) -> Result<Self> {
        Err(refused())
    }

    pub(crate) fn identity(&mut self) -> Result<String> {
        match *self {}
    }

    pub(crate) fn schemas(&mut self, _: &[&str]) -> Result<Vec<String>> {
        match *self {}
    }

    pub(crate) fn weight(&mut self, _: &[&str]) -> Result<u64> {
        match *self {}
    }

    pub(crate) fn catalogue(&mut self) -> Result<Catalogue> {
        match *self {}
    }

    pub(crate) fn fingerprints(&mut self, _: &[&str], _: &dyn Observer) -> Result<Vec<Fingerprint>> {
        match *self {}
    }
}

impl Backend for PgTables {
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

/// A publication that cannot be begun.
#[derive(Debug)]
pub(crate) enum PgPublication {}

impl PgPublication {
    pub(crate) fn begin(_: &str, _: &str, _: &[&str], _: Option<&Origin>, _: bool) -> Result<Self> {
        Err(refused())
    }

    pub(crate) fn refuse_occupied(&mut self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn write(&mut self, _: &dyn Outflow, _: &[Option<&str>], _: &dyn Observer) -> Result<()> {
        match *self {}
    }

    pub(crate) fn add_pairs(&mut self, _: &str, _: [&str; 2], _: &mut Pairs<'_>) -> Result<()> {
        match *self {}
    }

    pub(crate) fn pairs(&mut self, _: &str, _: [&str; 2], _: &mut TakePair<'_>) -> Result<()> {
        match *self {}
    }

    pub(crate) fn reading<T>(&mut self, _: impl FnOnce(&mut PgTables) -> Result<T>) -> Result<T> {
        match *self {}
    }

    pub(crate) fn finish(self, _: Vec<Output>, _: Certify<'_>, _: &dyn Observer) -> Result<()> {
        match self {}
    }
}

pub(crate) mod pairs {
    use bosket_model::Result;

    use crate::tables::TakePair;

    pub(crate) fn read(_: &str, _: Option<&str>, _: &str, _: [&str; 2], _: &mut TakePair<'_>) -> Result<()> {
        Err(super::refused())
    }

    pub(crate) fn present(_: &str, _: Option<&str>, _: &[String]) -> Result<Vec<String>> {
        Err(super::refused())
    }
}
