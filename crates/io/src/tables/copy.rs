//! Copies tables row by row, without joining them to records.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{ClassId, Dataset, Diagnostic, Kind, MISSING, Place as Where, Result};

use super::backend::{At, Backend, Column, ColumnKind, Row, waiting};
use super::catalogue::{Catalogue, Listed, Reference};
use super::csv::CsvTables;
use super::emit::{Outflow, Sink};
use super::parquet::ParquetTables;
use super::postgres::{self, PgTables};
use super::published::{Foreign, Origin, Published, Table, Typed};
use super::sqlite::SqliteTables;
use super::transfer::{Destination, read_rows, transfer};
use super::{Store, Tables};
use crate::Create;
use crate::convert::{Summary, lossy};
use crate::frames::FrameTables;
use crate::policy_file::PolicyFile;

/// Tables as they are.
#[derive(Debug)]
pub struct Whole {
    format: Format,
    separator: Option<String>,
    store: Store,
    tables: Vec<Listed>,
    /// Somebody has declared the keys.
    declared: bool,
    inputs: Vec<PathBuf>,
}

impl Whole {
    /// The tables that a policy names, lookups too.
    pub fn of_policy(file: &PolicyFile) -> Result<Self> {
        let tables = Tables::input(file)?;
        let inputs = tables.paths();
        let source = tables.source;
        let mut listed: Vec<Listed> = Vec::new();
        for table in &source.tables {
            let reference = table.parent.as_ref().map(|parent| Reference {
                columns: table.foreign_key.clone(),
                table: parent.clone(),
                key: source.tables.iter().find(|t| t.name == *parent).map_or(Vec::new(), |t| t.key.clone()),
                ..Reference::default()
            });
            listed.push(Listed {
                name: table.name.clone(),
                path: table.path.clone(),
                key: table.key.clone(),
                references: reference.into_iter().collect(),
                ..Listed::default()
            });
        }
        for lookup in &source.lookups {
            if listed.iter().all(|t| t.name != lookup.name) {
                let (name, path, key) = (lookup.name.clone(), lookup.path.clone(), lookup.key.clone());
                listed.push(Listed { name, path, key, ..Listed::default() });
            }
        }
        let (format, separator) = (source.format, source.separator);
        Ok(Whole { format, separator, store: tables.store, tables: listed, declared: true, inputs })
    }

    /// All tables of a folder or database.
    pub fn found(at: &Path, format: Format, separator: Option<&str>, found: &Catalogue) -> Result<Self> {
        let linked = super::Linked::default();
        let store = Tables::look(at, format, separator, &linked)?.store;
        let mut inputs: Vec<PathBuf> =
            found.tables.iter().filter_map(|t| t.path.as_ref().map(Into::into)).collect();
        inputs.extend((format == Format::Sqlite).then(|| at.to_owned()));
        let (tables, separator) = (found.tables.clone(), separator.map(str::to_owned));
        Ok(Whole { format, separator, store, tables, declared: !found.guessed, inputs })
    }

    /// Copies all rows.
    pub fn copy(self, to: &Destination<'_>, create: Create, observer: &dyn Observer) -> Result<Summary> {
        let Whole { format, separator, store, tables, declared, inputs } = self;
        let mut database = None;
        let mut backend: Box<dyn Backend> = match store {
            Store::Csv(files) => Box::new(CsvTables::new(files, separator.as_deref())?),
            Store::Parquet(files) => Box::new(ParquetTables::new(files)),
            Store::Frames(frames) => Box::new(FrameTables(frames)),
            Store::Sqlite(path) => Box::new(SqliteTables::open(&path)?),
            Store::Postgres { url, schema, .. } => {
                let mut backend = PgTables::open(&url, schema.as_deref(), observer)?;
                let names: Vec<&str> = tables.iter().map(|t| t.name.as_str()).collect();
                database = Some(postgres::Origin {
                    identity: backend.identity()?,
                    schemas: backend.schemas(&names)?,
                });
                Box::new(backend)
            }
        };
        backend.limit(observer.limits().record);
        let mut columns = Vec::new();
        let mut problems = Vec::new();
        for table in &tables {
            let at = At { name: &table.name, path: table.path.as_deref() };
            let found = backend.describe(&at)?;
            for column in &found {
                if let ColumnKind::Foreign(kind) = &column.form {
                    let what = format!("`{}.{}` has the type {kind}", table.name, column.name);
                    problems.push(Diagnostic::error(what).at(Where::source(backend.place(&at))));
                }
            }
            columns.push(found);
        }
        if !problems.is_empty() {
            return Err(lossy(problems, to.format.name()));
        }
        let same_kind = format == to.format;
        let published: Vec<Table> = (tables.iter().zip(&columns))
            .map(|(table, columns)| published(table, columns, &tables, to.format, same_kind, declared))
            .collect();
        let interrupt = backend.interrupt();
        let names: Vec<&str> = tables.iter().map(|t| t.name.as_str()).collect();
        let rows = waiting(interrupt, observer, |observer| {
            let backend = RefCell::new(backend);
            let flow = Copying { backend, listed: &tables, tables: published, columns: &columns, observer };
            transfer(&flow, &names, to, &inputs, database.as_ref(), create, observer)
        })?;
        Ok(Summary { count: rows, tables: tables.len(), notes: Vec::new() })
    }
}

fn typed(column: &Column, to: Format, same_kind: bool) -> Typed {
    // SQLite calls these numeric and keeps texts in them.
    let upper = column.declared.to_uppercase();
    let loose = ["DATE", "TIME", "STRING"].iter().any(|word| upper.contains(word));
    match (to, &column.form) {
        _ if same_kind => Typed::As(column.declared.clone()),
        (Format::Parquet, _) => Typed::As(column.declared.clone()),
        (_, ColumnKind::Number) if loose => Typed::Text,
        (Format::Sqlite, ColumnKind::Number) => Typed::As("NUMERIC".to_owned()),
        (Format::Postgres, ColumnKind::Number) => Typed::As("numeric".to_owned()),
        (Format::Postgres, ColumnKind::Bool) => Typed::As("boolean".to_owned()),
        _ => Typed::Text,
    }
}

fn published(
    table: &Listed,
    columns: &[Column],
    all: &[Listed],
    to: Format,
    same_kind: bool,
    declared: bool,
) -> Table {
    let column = |(i, c): (usize, &Column)| Published {
        name: c.name.clone(),
        origin: Origin::Value(i),
        typed: typed(c, to, same_kind),
    };
    let mut out = Table { columns: columns.iter().enumerate().map(column).collect(), ..Table::default() };
    out.values = columns.iter().map(|c| c.name.clone()).collect();
    if declared {
        out.primary.clone_from(&table.key);
        for reference in &table.references {
            // Only what a primary key names can be declared.
            let target = all.iter().position(|t| t.name == reference.table && t.key == reference.key);
            if let Some(node) = target {
                let (columns, referenced) = (reference.columns.clone(), reference.key.clone());
                out.foreign.push(Foreign { columns, node, referenced });
            }
        }
    }
    out
}

/// Rows of tables, as they are read.
struct Copying<'a> {
    backend: RefCell<Box<dyn Backend>>,
    listed: &'a [Listed],
    tables: Vec<Table>,
    columns: &'a [Vec<Column>],
    observer: &'a dyn Observer,
}

impl Outflow for Copying<'_> {
    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn each(&self, sink: &mut Sink<'_>) -> Result<()> {
        (0..self.listed.len()).try_for_each(|node| self.each_of(node, sink))
    }

    fn each_of(&self, node: usize, sink: &mut Sink<'_>) -> Result<()> {
        let (table, mut backend) = (&self.listed[node], self.backend.borrow_mut());
        let at = At { name: &table.name, path: table.path.as_deref() };
        let mut take = |row: &Row| sink(node, row);
        read_rows(&mut **backend, &at, &self.columns[node], &table.key, self.observer, &mut take)
    }
}

/// A flat dataset as the rows of one table.
struct Records<'d> {
    data: &'d Dataset,
    tables: Vec<Table>,
}

impl Outflow for Records<'_> {
    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn each(&self, sink: &mut Sink<'_>) -> Result<()> {
        let mut row = Row::default();
        for record in 0..self.data.len() {
            let vertex = self.data.vertices(record).start;
            row.clear();
            for &id in &self.data.schema().class(ClassId::ROOT).attributes {
                let code = self.data.value(vertex, id);
                let dictionary = self.data.dictionary(id);
                row.push_cell((code != MISSING).then(|| (dictionary.kind(code), dictionary.text(code))));
            }
            sink(0, &row)?;
        }
        Ok(())
    }
}

/// Writes flat records as one table, and says how many there were.
pub(crate) fn copy_records(
    data: &Dataset,
    name: &str,
    to: &Destination<'_>,
    inputs: &[PathBuf],
    create: Create,
    observer: &dyn Observer,
) -> Result<usize> {
    let schema = data.schema();
    let columns: Vec<Column> = (schema.class(ClassId::ROOT).attributes.iter())
        .map(|&id| {
            let mut kinds = data.dictionary(id).iter().map(|(kind, _)| kind);
            let first = kinds.next().filter(|first| kinds.all(|k| k == *first));
            let form = match first {
                Some(Kind::Number) => ColumnKind::Number,
                Some(Kind::Bool) => ColumnKind::Bool,
                _ => ColumnKind::Text,
            };
            let name = schema.attribute(id).name.first().cloned().unwrap_or_default();
            Column { name, declared: String::new(), form }
        })
        .collect();
    let listed = Listed { name: name.to_owned(), ..Listed::default() };
    let table = published(&listed, &columns, &[], to.format, false, false);
    let flow = Records { data, tables: vec![table] };
    transfer(&flow, &[name], to, inputs, None, create, observer)
}
