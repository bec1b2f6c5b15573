//! Linked tables: rows below a person table, joined by keys.
//!
//! Reading: a `backend` hands out the rows of each table, `columns` says what each column is, `assemble` joins the rows
//! to records, with `lookup`s done on the way. Writing: `disassemble` orders the records, `emit` numbers and hands out
//! the rows, and each backend has its way to keep them hidden until they are verified (`writing`). `batched` does both where
//! rows do not fit into memory.

mod assemble;
pub(crate) mod backend;
mod batched;
mod bridge;
mod build;
pub mod catalogue;
mod chain;
mod columns;
mod content;
mod copy;
mod csv;
mod disassemble;
mod emit;
mod facts;
mod files;
mod guess;
mod keys;
mod link;
mod lookup;
pub(crate) mod names;
mod omop;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "absent/parquet.rs"]
mod parquet;
mod places;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(not(feature = "postgres"))]
#[path = "absent/postgres.rs"]
mod postgres;
mod published;
mod reading;
mod repeating;
mod second_way;
mod shape;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(not(feature = "sqlite"))]
#[path = "absent/sqlite.rs"]
mod sqlite;
mod surrogates;
mod survey;
mod target;
mod transfer;
mod trouble;
mod undeclared;
mod writing;

use std::path::{Path, PathBuf};

use bosket_model::observe::Observer;
use bosket_model::path::AttributePath;
use bosket_model::policy::{AttributePolicy, Format, Ground, Role, Selection, Source, Undeclared};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::format::by_name;
use crate::frames::Frames;
use crate::input::document_files;
use crate::policy_file::PolicyFile;
use backend::{Backend, Beside, Column, waiting};
pub use catalogue::{Brought, Catalogue, Linked, Listed, Reference};
use columns::Mode;
pub use copy::Whole;
pub(crate) use copy::copy_records;
pub use facts::ColumnFacts;
use files::Files;
pub use files::certificate_files;
pub(crate) use files::file_name;
pub(crate) use parquet::write_again as write_columns_again;
pub use places::is_address;
use places::{is_sqlite, said_at, sqlite_target};
pub(crate) use postgres::PgTables;
pub use second_way::{Contradiction, contradictions, contradictions_of_frames};
use shape::Shape;
pub use sqlite::NewDatabase;
use sqlite::SqliteTables;
pub use survey::{survey, survey_frames};
pub(crate) use target::refuse_overwriting;
pub use transfer::Destination;
pub use undeclared::complete;
pub use writing::Writing;

/// Where linked tables are.
#[derive(Debug)]
enum Store {
    Csv(Files),
    Parquet(Files),
    Sqlite(PathBuf),
    Postgres {
        url: String,
        /// The schema of a publication.
        schema: Option<String>,
        /// Where the policy says it, if it does.
        said: Place,
    },
    /// In memory.
    Frames(Frames),
}

/// Linked tables that are there to be read.
#[derive(Debug)]
pub struct Tables {
    source: Source,
    shape: Shape,
    mode: Mode,
    store: Store,
    /// What a publication may have beside the tables.
    beside: Beside,
}

/// How linked tables were written down, so that a publication can be written the same way.
#[derive(Clone, Debug)]
pub struct TablesForm {
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
    /// What should be known about how they were read.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl TablesForm {
    /// The same tables with other attributes, and one more column in that of the people.
    pub(crate) fn dissected(
        &self,
        attributes: &[AttributePolicy],
        undeclared: Undeclared,
        column: &str,
    ) -> TablesForm {
        let mut form = self.clone();
        let repeating = std::mem::take(&mut form.shape.repeating);
        form.shape = Shape::new(&form.source, attributes, undeclared).repeating(repeating);
        if let Some(person) = form.columns.first_mut() {
            let (name, declared) = (column.to_owned(), "INTEGER".to_owned());
            person.insert(0, Column { name, declared, form: backend::ColumnKind::Number });
        }
        form
    }

    /// The files they were read from.
    pub(crate) fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    /// What the policy says that cells are separated by.
    pub(crate) fn named_separator(&self) -> Option<&str> {
        self.source.separator.as_deref()
    }

    /// The type that the source declares for a column, by its path.
    pub(crate) fn declared(&self, path: &str) -> Option<&str> {
        let own = |table: &str, c: &Column| {
            path.strip_prefix(table).and_then(|p| p.strip_prefix('.')) == Some(&c.name)
        };
        let tables = self.shape.nodes.iter().zip(&self.columns);
        let column = tables.flat_map(|(node, columns)| columns.iter().map(move |c| (node, c)));
        column.into_iter().find(|(node, c)| own(&node.name, c)).map(|(_, c)| c.declared.as_str())
    }

    /// What separates the cells of the person table's file.
    pub(crate) fn separator(&self) -> u8 {
        self.separators.first().copied().unwrap_or(b',')
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
        if let Some(frames) = &file.frames {
            frames.check(source, &file.policy.name)?;
            return Ok(Self::new(file, source, Mode::Input, Store::Frames(frames.clone())));
        }
        let store = match source.format {
            Format::Csv => Store::Csv(Files::Paths(file.folder.clone())),
            Format::Parquet => Store::Parquet(Files::Paths(file.folder.clone())),
            Format::Sqlite => Store::Sqlite(file.resolve(source.path.as_deref().unwrap_or_default())),
            Format::Postgres => {
                let (url, said) = (source.url.clone().unwrap_or_default(), source.url_place.clone());
                Store::Postgres { url, schema: None, said }
            }
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
            Format::Parquet => Store::Parquet(Files::Folder(at.to_owned())),
            Format::Sqlite => Store::Sqlite(sqlite_target(at, source.path.as_deref())),
            Format::Postgres => {
                let publish = file.policy.publish.as_ref();
                let schema = publish.and_then(|p| p.schema.clone()).filter(|_| publication);
                let url = at.to_string_lossy().into_owned();
                let said = publish.filter(|p| publication && p.url.as_ref() == Some(&url));
                let said = said.map(|p| p.url_place.clone()).unwrap_or_default();
                Store::Postgres { url, schema, said }
            }
            other => return Err(unknown(other, &file.policy.name)),
        };
        let mode = if publication { Mode::Publication } else { Mode::Input };
        let mut tables = Self::new(file, source, mode, store);
        tables.beside.files.extend(certificate_files(&file.policy));
        Ok(tables)
    }

    /// Tables that no policy describes yet, all columns of which are read.
    pub fn look(at: &Path, format: Format, separator: Option<&str>, linked: &Linked) -> Result<Self> {
        let store = match format {
            Format::Csv => Store::Csv(Files::Paths(PathBuf::new())),
            Format::Parquet => Store::Parquet(Files::Paths(PathBuf::new())),
            Format::Sqlite => Store::Sqlite(at.to_owned()),
            Format::Postgres => {
                let (url, said) = (at.to_string_lossy().into_owned(), Place::default());
                Store::Postgres { url, schema: None, said }
            }
            other => return Err(unknown(other, "")),
        };
        Ok(Self::looked(at, format, separator, linked, store))
    }

    /// The same of frames.
    pub fn look_frames(frames: &Frames, linked: &Linked) -> Self {
        Self::looked(Path::new(""), Format::Parquet, None, linked, Store::Frames(frames.clone()))
    }

    fn looked(at: &Path, format: Format, separator: Option<&str>, linked: &Linked, store: Store) -> Self {
        let source = Source {
            format,
            path: Some(at.to_string_lossy().into_owned()),
            url: None,
            url_place: Place::default(),
            record: None,
            person: Vec::new(),
            schema: None,
            separator: separator.map(str::to_owned),
            tables: linked.tables.clone(),
            lookups: linked.lookups.clone(),
            selection: Selection::default(),
        };
        let parts: Vec<AttributePolicy> = linked.parts.iter().filter_map(|path| part_of_key(path)).collect();
        let shape = Shape::new(&source, &parts, Undeclared::Refuse);
        Tables { source, shape, mode: Mode::Look, store, beside: Beside::default() }
    }

    /// The same with all columns, keys too, whatever a policy says about them; only what repeats the key of the row
    /// above is left out.
    pub fn whole(self) -> Self {
        Tables { shape: Shape::new(&self.source, &[], Undeclared::Refuse), mode: Mode::Whole, ..self }
    }

    fn new(file: &PolicyFile, source: &Source, mode: Mode, store: Store) -> Self {
        let shape = Shape::new(source, &file.policy.attributes, file.policy.undeclared);
        Tables { source: source.clone(), shape, mode, store, beside: Beside::default() }
    }

    /// A publication that has these tables of groups and values, too.
    pub(crate) fn with_pairs(mut self, tables: &[String]) -> Self {
        let format = self.source.format;
        self.beside.files.extend(tables.iter().map(|table| format!("{table}.{format}")));
        self.beside.tables.extend_from_slice(tables);
        self
    }

    /// What messages call them.
    pub fn name(&self) -> String {
        match &self.store {
            Store::Csv(Files::Folder(folder)) | Store::Parquet(Files::Folder(folder)) => {
                folder.display().to_string()
            }
            Store::Csv(_) | Store::Parquet(_) | Store::Frames(_) => {
                let names: Vec<&str> = self.source.tables.iter().map(|t| t.name.as_str()).collect();
                format!("tables {}", names.join(", "))
            }
            Store::Sqlite(path) => path.display().to_string(),
            Store::Postgres { url, schema: Some(schema), .. } => format!("{url}, schema {schema}"),
            Store::Postgres { url, .. } => url.clone(),
        }
    }

    /// The files that hold them.
    pub fn paths(&self) -> Vec<PathBuf> {
        let files = self.source.tables.iter().map(|t| &t.path);
        let files = files.chain(self.source.lookups.iter().map(|l| &l.path)).flatten();
        match &self.store {
            Store::Csv(place) | Store::Parquet(place) => match place {
                Files::Paths(folder) => files.map(|f| folder.join(f)).collect(),
                Files::Folder(folder) => files.map(|f| folder.join(file_name(f))).collect(),
                Files::Hidden(_) => Vec::new(),
            },
            Store::Sqlite(path) => vec![path.clone()],
            Store::Postgres { .. } | Store::Frames(_) => Vec::new(),
        }
    }
}

/// A part of a key that is read as a value.
fn part_of_key(path: &str) -> Option<AttributePolicy> {
    let (_, column) = path.rsplit_once('.')?;
    Some(AttributePolicy {
        path: path.to_owned(),
        role: Role::Quasi,
        why: None,
        protection: None,
        hierarchy: None,
        follows: None,
        shared: false,
        acknowledge: false,
        buckets: None,
        ground: Ground::Equal,
        weight: None,
        shift: None,
        structure: Some(AttributePath { classes: Vec::new(), name: vec![column.to_owned()] }),
        place: Place::default(),
    })
}

/// Groups and the values that belong to them, in the order of both.
pub(crate) type Pairs<'a> = dyn Iterator<Item = (u32, &'a str)> + 'a;

/// Takes a group and a value that belongs to it; none where a cell is empty.
pub(crate) type TakePair<'a> = dyn FnMut(Option<&str>, Option<&str>) + 'a;

/// Hands out a table of groups and values in a database that was published; false where it is a file of its own.
pub(crate) fn published_pairs(
    file: &PolicyFile,
    at: &Path,
    table: &str,
    columns: [&str; 2],
    take: &mut TakePair<'_>,
) -> Result<bool> {
    let source = file.policy.need_source()?;
    match source.format {
        Format::Sqlite => {
            let path = sqlite_target(at, source.path.as_deref());
            sqlite::pairs::read(&path, table, columns, take).map(|()| true)
        }
        Format::Postgres => {
            let schema = file.policy.publish.as_ref().and_then(|p| p.schema.as_deref());
            postgres::pairs::read(&at.to_string_lossy(), schema, table, columns, take).map(|()| true)
        }
        _ => Ok(false),
    }
}

/// The tables of groups and values that are there, expected or not: in a folder or a database of its own all that are called
/// like one, on a server, where others may publish too, those among `candidates`.
pub(crate) fn sensitive_tables(file: &PolicyFile, at: &Path, candidates: &[String]) -> Result<Vec<String>> {
    let source = file.policy.need_source()?;
    let mut tables = match source.format {
        Format::Sqlite => SqliteTables::open(&sqlite_target(at, source.path.as_deref()))?.tables()?,
        Format::Postgres => {
            let schema = file.policy.publish.as_ref().and_then(|p| p.schema.as_deref());
            postgres::pairs::present(&at.to_string_lossy(), schema, candidates)?
        }
        _ => return crate::apart::tables_in(at, file),
    };
    tables.retain(|table| table.to_ascii_lowercase().starts_with(crate::apart::SENSITIVE));
    Ok(tables)
}

/// Whether a policy's own publication is there, in a database of a server; none if it goes elsewhere.
pub fn is_published(file: &PolicyFile) -> Result<Option<bool>> {
    let (source, publish) = (file.policy.need_source()?, file.policy.need_publish()?);
    let Some(url) = publish.url.as_deref().filter(|_| source.format == Format::Postgres) else {
        return Ok(None);
    };
    let people = source.tables.iter().find(|t| t.parent.is_none()).map(|t| t.name.clone());
    let there = postgres::pairs::present(url, publish.schema.as_deref(), people.as_slice());
    there.map(|there| Some(!there.is_empty())).map_err(|failure| said_at(failure, &publish.url_place))
}

/// A table of groups and values says something else, too.
pub(crate) fn more_columns(place: &str, table: &str) -> Failure {
    let what = Diagnostic::error(format!("`{table}` has more columns than those of its groups and values"));
    let help = "`verify` cannot judge them, so they must not be handed out; publish again";
    Failure::new(Fault::Data, what.at(Place::source(place)).help(help))
}

/// What a folder of CSV or Parquet files or a database holds; none for a document.
pub fn catalogue(
    at: &Path,
    format: Option<&str>,
    separator: Option<&str>,
    observer: &dyn Observer,
) -> Result<Option<(Format, Catalogue)>> {
    if let Some(url) = at.to_str().filter(|text| is_address(text)) {
        let mut tables = PgTables::open(url, None, observer)?;
        let catalogue = waiting(tables.interrupt(), observer, |_| tables.catalogue())?;
        return Ok(Some((Format::Postgres, catalogue)));
    }
    let folder_of_documents = match format {
        Some(format) => by_name(format).is_ok_and(|f| f.reads_folders()),
        // Tables come first: what else lies in their folder is named as left aside.
        None => at.is_dir() && !guess::has_tables(at) && document_files(at).is_ok_and(|f| !f.is_empty()),
    };
    if at.is_dir() && !folder_of_documents {
        return guess::folder(at, format, separator, observer).map(Some);
    }
    if format == Some(Format::Sqlite.name()) || (format.is_none() && is_sqlite(at)) {
        let tables = SqliteTables::open(at)?;
        let catalogue = waiting(tables.interrupt(), observer, |_| tables.catalogue())?;
        return Ok(Some((Format::Sqlite, catalogue)));
    }
    Ok(None)
}

/// What a file holds that is one table, whose rows are to be grouped by the people that a column names; none if it cannot be a
/// linked table.
pub fn rows_of_people(
    at: &Path,
    (format, separator): (Format, Option<&str>),
    person: &str,
    observer: &dyn Observer,
) -> Result<Option<Catalogue>> {
    guess::rows_of_people(at, (format, separator), person, observer)
}

/// What linked frames hold.
pub fn catalogue_of_frames(frames: &Frames, observer: &dyn Observer) -> Result<Catalogue> {
    guess::frames(frames, observer)
}

fn unknown(format: Format, policy: &str) -> Failure {
    let what = format!("this version cannot read linked tables in the format `{format}`");
    let help = "it reads csv, parquet, sqlite and postgres";
    Failure::new(Fault::Policy, Diagnostic::error(what).at(Place::source(policy)).help(help))
}
