//! Linked tables: rows below a person table, joined by keys.
//!
//! Reading: a `backend` hands out the rows of each table, `columns` says what each column is, `assemble` joins the rows
//! to records, with `lookup`s done on the way. Writing: `disassemble` orders the records, `emit` numbers and hands out
//! the rows, and each backend has its way to keep them hidden until they are verified (`writing`).

mod assemble;
mod backend;
pub mod catalogue;
mod columns;
mod csv;
mod disassemble;
mod emit;
mod guess;
mod keys;
mod lookup;
mod postgres;
mod published;
mod shape;
mod sqlite;
mod trouble;
mod writing;

use std::path::{Path, PathBuf};

use bosket_model::observe::Observer;
use bosket_model::policy::{AttributePolicy, Format, Source, Undeclared};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

use crate::policy_file::PolicyFile;
use assemble::assemble;
use backend::{Backend, Column};
pub use catalogue::{Catalogue, Linked, Listed, Reference};
use columns::Mode;
use csv::{CsvTables, Files};
use postgres::PgTables;
use shape::Shape;
pub use sqlite::NewDatabase;
use sqlite::SqliteTables;
pub use writing::Writing;

/// Where linked tables are.
#[derive(Debug)]
enum Store {
    Csv(Files),
    Sqlite(PathBuf),
    Postgres {
        url: String,
        /// The schema of a publication.
        schema: Option<String>,
    },
}

/// Linked tables that are there to be read.
#[derive(Debug)]
pub struct Tables {
    source: Source,
    shape: Shape,
    mode: Mode,
    store: Store,
}

/// How linked tables were written down, so that a publication can be written the same way.
#[derive(Clone, Debug)]
pub struct Form {
    source: Source,
    shape: Shape,
    /// Per table of the shape its columns, lookups done.
    columns: Vec<Vec<Column>>,
    /// Per table of the shape what separates the cells of its file.
    separators: Vec<u8>,
    /// The files they were read from.
    inputs: Vec<PathBuf>,
    /// The database they were read from, if it is a server's.
    database: Option<postgres::Origin>,
}

impl Form {
    /// A publication must not take the place of what it is made from, by whatever name.
    fn refuse_overwriting(&self, target: &Path) -> Result<()> {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let target_real = real(target);
        match self.inputs.iter().find(|input| target_real.is_some() && real(input) == target_real) {
            None => Ok(()),
            Some(input) => {
                let (target, input) = (target.display(), input.display());
                let what = format!("writing {target} would overwrite {input}, which the run reads");
                let help = "publish elsewhere; --force replaces older publications, never inputs";
                Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)))
            }
        }
    }

    /// The same tables with other attributes, and one more column in that of the people.
    pub(crate) fn dissected(
        &self,
        attributes: &[AttributePolicy],
        undeclared: Undeclared,
        column: &str,
    ) -> Form {
        let mut form = self.clone();
        form.shape = Shape::new(&form.source, attributes, undeclared);
        if let Some(person) = form.columns.first_mut() {
            let (name, declared) = (column.to_owned(), "INTEGER".to_owned());
            person.insert(0, Column { name, declared, form: backend::Form::Number });
        }
        form
    }

    /// What policies call the format.
    pub fn format(&self) -> Format {
        self.source.format
    }
}

/// Whether a source is linked tables rather than one document.
pub fn is_linked(source: &Source) -> bool {
    !source.tables.is_empty()
}

impl Tables {
    /// The tables that a policy's source names.
    pub fn input(file: &PolicyFile) -> Result<Self> {
        let source = file.policy.need_source()?;
        let store = match source.format {
            Format::Csv => Store::Csv(Files::Paths(file.folder.clone())),
            Format::Sqlite => Store::Sqlite(file.resolve(source.path.as_deref().unwrap_or_default())),
            Format::Postgres => Store::Postgres { url: source.url.clone().unwrap_or_default(), schema: None },
            other => return Err(unknown(other, &file.policy.name)),
        };
        Ok(Self::new(file, source, Mode::Input, store))
    }

    /// Tables of the shape that a policy describes, at a place given on the command line: private ones like its
    /// source, or a publication.
    pub fn given(file: &PolicyFile, at: &Path, publication: bool) -> Result<Self> {
        let source = file.policy.need_source()?;
        let store = match source.format {
            Format::Csv => Store::Csv(Files::Folder(at.to_owned())),
            Format::Sqlite => Store::Sqlite(sqlite::target(at, source.path.as_deref())),
            Format::Postgres => {
                let schema = file.policy.publish.as_ref().and_then(|p| p.schema.clone());
                Store::Postgres {
                    url: at.to_string_lossy().into_owned(),
                    schema: schema.filter(|_| publication),
                }
            }
            other => return Err(unknown(other, &file.policy.name)),
        };
        let mode = if publication { Mode::Publication } else { Mode::Input };
        Ok(Self::new(file, source, mode, store))
    }

    /// Tables that no policy describes yet, all columns of which are read.
    pub fn look(at: &Path, format: Format, separator: Option<&str>, linked: &Linked) -> Result<Self> {
        let store = match format {
            Format::Csv => Store::Csv(Files::Paths(PathBuf::new())),
            Format::Sqlite => Store::Sqlite(at.to_owned()),
            Format::Postgres => Store::Postgres { url: at.to_string_lossy().into_owned(), schema: None },
            other => return Err(unknown(other, "")),
        };
        let source = Source {
            format,
            path: Some(at.to_string_lossy().into_owned()),
            url: None,
            record: None,
            schema: None,
            separator: separator.map(str::to_owned),
            tables: linked.tables.clone(),
            lookups: Vec::new(),
        };
        let shape = Shape::new(&source, &[], Undeclared::Refuse);
        Ok(Tables { source, shape, mode: Mode::Look, store })
    }

    fn new(file: &PolicyFile, source: &Source, mode: Mode, store: Store) -> Self {
        let shape = Shape::new(source, &file.policy.attributes, file.policy.undeclared);
        Tables { source: source.clone(), shape, mode, store }
    }

    /// What messages call them.
    pub fn name(&self) -> String {
        match &self.store {
            Store::Csv(Files::Folder(folder)) => folder.display().to_string(),
            Store::Csv(_) => {
                let names: Vec<&str> = self.source.tables.iter().map(|t| t.name.as_str()).collect();
                format!("tables {}", names.join(", "))
            }
            Store::Sqlite(path) => path.display().to_string(),
            Store::Postgres { url, .. } => url.clone(),
        }
    }

    /// The files that hold them.
    pub fn paths(&self) -> Vec<PathBuf> {
        let files = self.source.tables.iter().map(|t| &t.path);
        let files = files.chain(self.source.lookups.iter().map(|l| &l.path)).flatten();
        match &self.store {
            Store::Csv(Files::Paths(folder)) => files.map(|f| folder.join(f)).collect(),
            Store::Csv(Files::Folder(folder)) => files.map(|f| folder.join(csv::file_name(f))).collect(),
            Store::Csv(Files::Memory(_)) => Vec::new(),
            Store::Sqlite(path) => vec![path.clone()],
            Store::Postgres { .. } => Vec::new(),
        }
    }

    /// Reads all records, or says everything that is wrong with them.
    pub fn read(self, observer: &dyn Observer) -> Result<(Dataset, Form)> {
        let inputs = self.paths();
        let Tables { source, shape, mode, store } = self;
        let read = |backend: &mut dyn Backend| assemble(backend, &source, &shape, mode, observer);
        let mut database = None;
        let ((data, columns), separators) = match store {
            Store::Csv(files) => {
                let mut backend = CsvTables::new(files, source.separator.as_deref())?;
                let read = read(&mut backend)?;
                (read, shape.nodes.iter().map(|n| backend.separator(&n.name)).collect())
            }
            Store::Sqlite(path) => (read(&mut SqliteTables::open(&path)?)?, Vec::new()),
            Store::Postgres { url, schema } => {
                let mut backend = PgTables::open(&url, schema.as_deref())?;
                let read = read(&mut backend)?;
                let tables: Vec<&str> = source.tables.iter().map(|t| t.name.as_str()).collect();
                let (identity, schemas) = (backend.identity()?, backend.schemas(&tables)?);
                database = Some(postgres::Origin { identity, schemas });
                (read, Vec::new())
            }
        };
        Ok((data, Form { source, shape, columns, separators, inputs, database }))
    }
}

/// A table of groups and values in a SQLite publication.
pub(crate) fn sqlite_pairs(
    at: &Path,
    source: Option<&str>,
    table: &str,
    columns: [&str; 2],
) -> Result<Vec<sqlite::pairs::Pair>> {
    sqlite::pairs::read(&sqlite::target(at, source), table, columns)
}

/// What a folder of CSV files or a database holds; none for a document.
pub fn catalogue(
    at: &Path,
    format: Option<&str>,
    separator: Option<&str>,
    observer: &dyn Observer,
) -> Result<Option<(Format, Catalogue)>> {
    if let Some(url) = at.to_str().filter(|text| postgres::is_address(text)) {
        return Ok(Some((Format::Postgres, PgTables::open(url, None)?.catalogue()?)));
    }
    if at.is_dir() {
        return Ok(Some((Format::Csv, guess::csv_folder(at, separator, observer)?)));
    }
    if format == Some(Format::Sqlite.name()) || (format.is_none() && sqlite::is_database(at)) {
        return Ok(Some((Format::Sqlite, SqliteTables::open(at)?.catalogue()?)));
    }
    Ok(None)
}

fn unknown(format: Format, policy: &str) -> Failure {
    let what = format!("this version cannot read linked tables in the format `{format}`");
    let help = "it reads csv, sqlite and postgres";
    Failure::new(Fault::Policy, Diagnostic::error(what).at(Place::source(policy)).help(help))
}
