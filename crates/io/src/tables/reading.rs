//! Opens linked tables and has them read: all at once, or in batches.

use bosket_model::observe::{Observer, Quiet};
use bosket_model::words::plural;
use bosket_model::{Dataset, Diagnostic, Result};

use super::assemble::{Assembled, assemble, assemble_sealed};
use super::backend::{Backend, Beside, reading};
use super::batched::{Gathered, gather, gather_sealed, sorting};
use super::columns::Mode;
use super::csv::CsvTables;
use super::parquet::ParquetTables;
use super::places::said_at;
use super::shape::Shape;
use super::sqlite::SqliteTables;
use super::{PgTables, Store, Tables, TablesForm, postgres};
use crate::batches::{BatchSize, TakeBatch};
use crate::frames::FrameTables;
use crate::source::{Opened, SourceForm};

impl Tables {
    /// Reads all records, or says everything that is wrong with them.
    pub fn read(self, observer: &dyn Observer) -> Result<(Dataset, TablesForm)> {
        let (tables, store) = self.opened();
        let Known { mode, beside, .. } = &tables;
        let (assembled, told) = tables.reading(store, observer, |b, observer| match mode {
            Mode::Publication => {
                assemble_sealed(b, &tables.form.source, &tables.form.shape, beside, observer)
            }
            _ => assemble(b, &tables.form.source, &tables.form.shape, *mode, observer),
        })?;
        Ok(tables.formed(assembled, told))
    }

    /// Reads all records batch by batch. They are those that would be read at once, in the same order.
    pub(crate) fn batches(
        self,
        size: BatchSize,
        observer: &dyn Observer,
        take: TakeBatch<'_>,
    ) -> Result<SourceForm> {
        let (tables, store) = self.opened();
        let (gathered, told) = tables.gathered(store, size, observer)?;
        // How columns refer to people is known when all rows have been seen.
        let early = SourceForm::Tables(Box::new(tables.form.clone()));
        let last = gathered.batches(&tables.form.shape, size, observer, &mut |data| {
            take(Opened { data, form: early.clone(), warnings: Vec::new(), written: None })
        })?;
        let (data, form) = tables.formed(last, told);
        let warnings = form.warnings.clone();
        let form = SourceForm::Tables(Box::new(form));
        take(Opened { data, form: form.clone(), warnings, written: None })?;
        Ok(form)
    }

    /// Bytes that the tables take where they are; none if files have them.
    pub(crate) fn weight(&self) -> Option<u64> {
        let Store::Postgres { url, schema, .. } = &self.store else { return None };
        let names = self.source.tables.iter().map(|t| t.name.as_str());
        let names: Vec<&str> = names.chain(self.source.lookups.iter().map(|l| l.name.as_str())).collect();
        // Whoever reads the tables will be told why that cannot be done.
        let weight = PgTables::open(url, schema.as_deref(), &Quiet).and_then(|mut b| b.weight(&names));
        Some(weight.unwrap_or(0))
    }

    /// Whether they are in memory already.
    pub(crate) fn are_frames(&self) -> bool {
        matches!(self.store, Store::Frames(_))
    }

    fn opened(self) -> (Known, Store) {
        let inputs = self.paths();
        let Tables { source, shape, mode, store, beside } = self;
        let (columns, separators, warnings) = (Vec::new(), Vec::new(), Vec::new());
        let form = TablesForm { source, shape, columns, separators, inputs, database: None, warnings };
        (Known { form, mode, beside }, store)
    }
}

/// What is known of tables before they are read.
struct Known {
    form: TablesForm,
    mode: Mode,
    beside: Beside,
}

/// What is known when they were read, beside their rows.
#[derive(Default)]
struct Told {
    separators: Vec<u8>,
    database: Option<postgres::Origin>,
}

impl Known {
    fn gathered(&self, store: Store, size: BatchSize, observer: &dyn Observer) -> Result<(Gathered, Told)> {
        let (source, shape, sorting) = (&self.form.source, &self.form.shape, sorting(size));
        self.reading(store, observer, |b, observer| match self.mode {
            Mode::Publication => gather_sealed(b, source, shape, &self.beside, sorting, observer),
            mode => gather(b, source, shape, mode, sorting, observer),
        })
    }

    fn reading<T>(
        &self,
        store: Store,
        observer: &dyn Observer,
        read: impl FnOnce(&mut dyn Backend, &dyn Observer) -> Result<T>,
    ) -> Result<(T, Told)> {
        let (source, nodes) = (&self.form.source, &self.form.shape.nodes);
        let read = |backend: &mut dyn Backend| reading(backend, observer, read);
        let mut told = Told::default();
        let read = match store {
            Store::Csv(files) => {
                let mut backend = CsvTables::new(files, source.separator.as_deref())?;
                let read = read(&mut backend)?;
                told.separators = nodes.iter().map(|n| backend.separator(&n.name)).collect();
                read
            }
            Store::Parquet(files) => read(&mut ParquetTables::new(files))?,
            Store::Sqlite(path) => read(&mut SqliteTables::open(&path)?)?,
            Store::Frames(frames) => {
                told.separators = vec![b','; nodes.len()];
                read(&mut FrameTables(frames))?
            }
            Store::Postgres { url, schema, said } => {
                let backend = PgTables::open(&url, schema.as_deref(), observer);
                let mut backend = backend.map_err(|failure| said_at(failure, &said))?;
                let read = read(&mut backend)?;
                let tables: Vec<&str> = source.tables.iter().map(|t| t.name.as_str()).collect();
                let (identity, schemas) = (backend.identity()?, backend.schemas(&tables)?);
                told.database = Some(postgres::Origin { identity, schemas });
                read
            }
        };
        Ok((read, told))
    }

    /// The records with how they were written down.
    fn formed(self, assembled: Assembled, told: Told) -> (Dataset, TablesForm) {
        let Assembled { data, columns, repeating, contradicting } = assembled;
        let shape = self.form.shape.repeating(repeating);
        let warnings =
            contradicting.iter().map(|(node, column, rows)| contradiction(&shape, *node, column, *rows));
        let warnings = warnings.collect();
        let Told { separators, database } = told;
        (data, TablesForm { shape, columns, separators, database, warnings, ..self.form })
    }
}

fn contradiction(shape: &Shape, node: usize, column: &str, rows: usize) -> Diagnostic {
    let (table, person) = (&shape.nodes[node].name, &shape.nodes[0].name);
    let what = format!(
        "in {} `{table}.{column}` does not name the row of `{person}` that the row belongs to; it is published empty",
        plural(rows, "row")
    );
    Diagnostic::warning(what).help("correct the rows, and it is published as the number that they belong to")
}
