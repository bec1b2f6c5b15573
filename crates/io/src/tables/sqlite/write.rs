//! Publishes linked tables as a new SQLite file: hidden until it is finished.

use std::path::Path;

use bosket_model::observe::Observer;
use bosket_model::{Failure, Fingerprint, Kind, Result};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::pairs;
use super::sealed::{BEGIN, insert};
use super::{SqliteTables, failure, quoted, quoted_all};
use crate::atomic::{AtomicFile, Create, commit_all};
use crate::fingerprint::{self, Certify};
use crate::output::{Closed, Output};
use crate::publication::name_of;
use crate::stop::interruptible;
use crate::tables::emit::Outflow;
use crate::tables::published::{Published, Table, Typed};
use crate::tables::{Pairs, TakePair};

/// A SQLite file under construction.
#[derive(Debug)]
pub(crate) struct SqliteFile {
    file: AtomicFile,
    name: String,
}

impl SqliteFile {
    /// Begins a file. Fails if it exists already and is not to be replaced.
    pub(crate) fn create(path: &Path, create: Create) -> Result<Self> {
        Ok(SqliteFile { file: AtomicFile::create(path, create)?, name: path.display().to_string() })
    }

    fn failure(&self, error: &rusqlite::Error) -> Failure {
        failure(&self.name, error)
    }

    /// Writes all tables and checks their keys.
    pub(crate) fn write(
        &self,
        rows: &dyn Outflow,
        names: &[Option<&str>],
        observer: &dyn Observer,
    ) -> Result<()> {
        let connection = Connection::open(self.file.hidden()).map_err(|e| self.failure(&e))?;
        let handle = connection.get_interrupt_handle();
        interruptible(observer, || handle.interrupt(), |_| self.write_into(connection, rows, names))
    }

    fn write_into(&self, connection: Connection, rows: &dyn Outflow, names: &[Option<&str>]) -> Result<()> {
        let sql = |e: rusqlite::Error| self.failure(&e);
        connection.execute_batch(BEGIN).map_err(sql)?;
        // One table after the other: so whoever reads the file can write the same bytes again.
        for (own, (table, name)) in rows.tables().iter().zip(names).enumerate() {
            let Some(name) = name else { continue };
            connection.execute_batch(&create_table(table, name, names)).map_err(sql)?;
            let mut insert = connection.prepare(&insert(name, table.columns.len())).map_err(sql)?;
            rows.each_of(own, &mut |_, row| {
                let cells = row.iter().zip(&table.columns).map(|(cell, column)| value(cell, column));
                insert.execute(params_from_iter(cells)).map(|_| ()).map_err(sql)
            })?;
        }
        connection.execute_batch("COMMIT").map_err(sql)?;
        let broken: i64 = connection
            .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |r| r.get(0))
            .map_err(sql)?;
        if broken > 0 {
            let what = format!("{broken} foreign keys of the publication refer to nothing");
            return Err(Failure::defect(&what));
        }
        connection.close().map_err(|(_, e)| self.failure(&e))
    }

    /// Adds a table of groups and values.
    pub(crate) fn add_pairs(&self, table: &str, columns: [&str; 2], rows: &mut Pairs<'_>) -> Result<()> {
        pairs::write(self.file.hidden(), &self.name, table, columns, rows)
    }

    /// Reads such a table again.
    pub(crate) fn pairs(&self, table: &str, columns: [&str; 2], take: &mut TakePair<'_>) -> Result<()> {
        pairs::read(self.file.hidden(), table, columns, take)
    }

    /// The tables as they have been written.
    pub(crate) fn open(&self) -> Result<SqliteTables> {
        SqliteTables::open(self.file.hidden())
    }

    /// Puts the file in its place, together with others.
    pub(crate) fn finish(
        self,
        others: Vec<Output>,
        certify: Certify<'_>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut closed = Closed::all(others)?;
        if certify.is_some() {
            let name = name_of(Path::new(&self.name));
            let sha256 = fingerprint::of_file(self.file.hidden(), observer)?;
            closed.fingerprints.insert(0, Fingerprint { name, sha256 });
        }
        closed.files.insert(0, self.file);
        commit_all(closed.certified(certify)?)
    }
}

fn create_table(table: &Table, name: &str, names: &[Option<&str>]) -> String {
    let mut parts: Vec<String> = table.columns.iter().map(|c| column(&c.name, declared(c))).collect();
    if !table.primary.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", quoted_all(&table.primary)));
    }
    if !table.unique.is_empty() {
        parts.push(format!("UNIQUE ({})", quoted_all(&table.unique)));
    }
    for key in &table.foreign {
        if let Some(target) = names[key.node] {
            let (columns, referenced) = (quoted_all(&key.columns), quoted_all(&key.referenced));
            parts.push(format!("FOREIGN KEY ({columns}) REFERENCES {} ({referenced})", quoted(target)));
        }
    }
    table_sql(name, &parts)
}

/// How a table is declared.
pub(super) fn table_sql(name: &str, parts: &[String]) -> String {
    format!("CREATE TABLE {} (\n  {}\n)", quoted(name), parts.join(",\n  "))
}

/// How a column is declared. SQLite takes any words for a type; what is more than words is not repeated.
pub(super) fn column(name: &str, declared: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '(' | ')' | ',' | '_');
    let declared = if declared.chars().all(plain) { declared } else { "TEXT" };
    format!("{} {declared}", quoted(name)).trim_end().to_owned()
}

fn declared(column: &Published) -> &str {
    match &column.typed {
        Typed::Text => "TEXT",
        Typed::Number => "INTEGER",
        Typed::As(declared) => declared,
    }
}

fn value<'a>(cell: Option<(Kind, &'a str)>, column: &Published) -> ToSqlOutput<'a> {
    let text = |text: &'a str| ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()));
    match cell {
        None => ToSqlOutput::Owned(Value::Null),
        Some((Kind::Number, number)) if column.typed != Typed::Text => match number.parse::<i64>() {
            Ok(whole) => ToSqlOutput::Owned(Value::Integer(whole)),
            Err(_) => number.parse::<f64>().map_or(text(number), |x| ToSqlOutput::Owned(Value::Real(x))),
        },
        Some((_, string)) => text(string),
    }
}
