//! A publication of linked tables while it is written.

use std::path::Path;

use bosket_model::observe::Observer;
use bosket_model::policy::{Format, Source};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

use super::assemble::assemble_sealed;
use super::backend::Beside;
use super::batched::{SortedRows, gather_sealed, sorting};
use super::disassemble::disassemble;
use super::emit::Outflow;
use super::places::{said_at, sqlite_target};
use super::shape::Shape;
use super::target::{Details, Place, Target};
use super::{Pairs, TablesForm, TakePair, parquet};
use crate::Create;
use crate::batches::BatchSize;
use crate::chunks::Chunks;
use crate::fingerprint::Certify;
use crate::output::Output;
use crate::policy_file::PolicyFile;

/// A publication of linked tables that is not there yet.
#[derive(Debug)]
pub struct Writing {
    form: TablesForm,
    /// What somebody knows of the tables who has nothing but the policy.
    known: (Source, Shape),
    written: bool,
    /// The tables of groups and values that were added.
    beside: Beside,
    target: Target,
}

impl Writing {
    /// Begins a publication in the place that the policy names, which must be free unless it is to be replaced.
    pub fn begin(file: &PolicyFile, form: &TablesForm, create: Create) -> Result<Self> {
        let publish = file.policy.need_publish()?;
        let mut path = file.resolve(publish.path.as_deref().unwrap_or_default());
        if path == Path::new("-") {
            let what = Diagnostic::error("linked tables cannot go to standard output");
            return Err(Failure::new(Fault::Policy, what.help("name a folder, or a file for a database")));
        }
        if form.source.format == Format::Sqlite {
            path = sqlite_target(&path, form.source.path.as_deref());
        }
        let tables = form.source.tables.iter();
        let place = Place {
            format: form.source.format,
            path: &path,
            url: publish.url.as_deref().unwrap_or_default(),
            schema: publish.schema.as_deref().unwrap_or_default(),
            tables: tables.map(|t| (t.name.as_str(), t.path.clone().unwrap_or(t.name.clone()))).collect(),
            inputs: &form.inputs,
            database: form.database.as_ref(),
        };
        let mut target =
            Target::begin(&place, create).map_err(|failure| said_at(failure, &publish.url_place))?;
        if let Target::Postgres(publication) = &mut target {
            publication.refuse_occupied()?;
        }
        let source = file.policy.need_source()?.clone();
        let shape = Shape::new(&source, &file.policy.attributes, file.policy.undeclared);
        Ok(Writing {
            form: form.clone(),
            known: (source, shape),
            written: false,
            beside: Beside::default(),
            target,
        })
    }

    /// Writes all records, once, to where nobody looks yet. They are ordered and numbered by what is written.
    pub fn write(&mut self, data: &Dataset, observer: &dyn Observer) -> Result<()> {
        if std::mem::replace(&mut self.written, true) {
            return Err(Failure::defect("a publication was written twice"));
        }
        let rows = disassemble(data, &self.form.shape, &self.form.columns, observer)?;
        self.write_rows(&rows, observer)
    }

    fn write_rows(&mut self, rows: &dyn Outflow, observer: &dyn Observer) -> Result<()> {
        let types = match self.form.source.format {
            Format::Parquet => parquet::types(rows, &self.form.shape, observer)?,
            _ => Vec::new(),
        };
        let nodes = &self.form.shape.nodes;
        let names: Vec<Option<&str>> = nodes.iter().map(|n| n.table.map(|_| n.name.as_str())).collect();
        let files: Vec<Option<usize>> = nodes.iter().map(|n| n.table).collect();
        let details = Details { separators: self.form.separators.clone(), types };
        self.target.write(rows, &names, &files, details, observer)
    }

    /// Writes the records of all chunks, once; ordered and numbered by what is written, over all chunks. Sorting takes about
    /// as much memory as told.
    pub(crate) fn write_parts(
        &mut self,
        chunks: &mut Chunks,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<()> {
        if std::mem::replace(&mut self.written, true) {
            return Err(Failure::defect("a publication was written twice"));
        }
        let TablesForm { shape, columns, .. } = &self.form;
        let rows = SortedRows::new(chunks, shape, columns, memory, observer)?;
        self.write_rows(&rows, observer)
    }

    /// Reads what has been written in batches, as a stranger would.
    pub(crate) fn read_again_in_parts(
        &mut self,
        size: BatchSize,
        observer: &dyn Observer,
        take: &mut dyn FnMut(Dataset) -> Result<()>,
    ) -> Result<()> {
        let ((source, shape), beside) = (&self.known, &self.beside);
        let gathered = self.target.reading(source.separator.as_deref(), observer, |backend, observer| {
            gather_sealed(backend, source, shape, beside, sorting(size), observer)
        })?;
        let last = gathered.batches(shape, size, observer, take)?;
        take(last.data)
    }

    /// Adds a table of groups and values where it belongs into the same database; false if it is a file of its own.
    pub(crate) fn add_pairs(
        &mut self,
        table: &str,
        columns: [&str; 2],
        rows: &mut Pairs<'_>,
    ) -> Result<bool> {
        self.beside.tables.push(table.to_owned());
        match &mut self.target {
            Target::Sqlite { file, .. } => file.add_pairs(table, columns, rows).map(|()| true),
            Target::Postgres(publication) => publication.add_pairs(table, columns, rows).map(|()| true),
            Target::Files { .. } => Ok(false),
        }
    }

    /// Hands out such a table again; false if it is a file of its own.
    pub(crate) fn pairs(&mut self, table: &str, columns: [&str; 2], take: &mut TakePair<'_>) -> Result<bool> {
        match &mut self.target {
            Target::Sqlite { file, .. } => file.pairs(table, columns, take).map(|()| true),
            Target::Postgres(publication) => publication.pairs(table, columns, take).map(|()| true),
            Target::Files { .. } => Ok(false),
        }
    }

    /// Reads what has been written, as a stranger would: the finished bytes, and nothing known but the policy.
    pub fn read_again(&mut self, observer: &dyn Observer) -> Result<Dataset> {
        let ((source, shape), beside) = (&self.known, &self.beside);
        let assembled = self.target.reading(source.separator.as_deref(), observer, |backend, observer| {
            assemble_sealed(backend, source, shape, beside, observer)
        })?;
        Ok(assembled.data)
    }

    /// Puts the publication in its place, together with other files.
    pub fn finish(self, others: Vec<Output>, observer: &dyn Observer) -> Result<()> {
        self.finish_certified(others, None, observer)
    }

    /// The same, together with the certificate that is made of its fingerprints.
    pub fn finish_certified(
        self,
        others: Vec<Output>,
        certify: Certify<'_>,
        observer: &dyn Observer,
    ) -> Result<()> {
        self.target.finish(others, certify, observer)
    }
}
