//! Reads the tables of a SQLite file, all in one snapshot.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Kind, Place, Result};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::{failure, quoted, quoted_all};
use crate::json::number;
use crate::tables::backend::{
    At, Backend, BadRow, Beside, Column, ColumnKind, Interrupt, Row, Take, no_such_table,
};

/// Rows between two signs of progress.
const STEP: u64 = 1 << 14;

/// The tables of a SQLite file.
#[derive(Debug)]
pub(crate) struct SqliteTables {
    pub(super) connection: Connection,
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// It is a publication, in which the order of rows counts.
    published: bool,
    described: Vec<(String, Vec<Column>)>,
}

impl SqliteTables {
    /// Opens a file. What is read from then on is as it is now.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        // SQLite tells a missing file and an unreadable one apart less well.
        std::fs::File::open(path).map_err(|e| crate::fault::reading(&name, &e))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|e| failure(&name, &e))?;
        // The first reading takes the snapshot, and finds out whether the file is a database at all.
        connection
            .execute_batch("BEGIN; SELECT count(*) FROM sqlite_master;")
            .map_err(|e| failure(&name, &e))?;
        Ok(SqliteTables { connection, name, path: path.to_owned(), published: false, described: Vec::new() })
    }

    pub(super) fn failure(&self, error: &rusqlite::Error) -> Failure {
        failure(&self.name, error)
    }

    /// The names of all tables and views, sorted.
    pub(crate) fn tables(&self) -> Result<Vec<String>> {
        let sql = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' \
                   ESCAPE '\\' ORDER BY name";
        let names = self.connection.prepare(sql).and_then(|mut s| s.query_map([], |r| r.get(0))?.collect());
        names.map_err(|e| self.failure(&e))
    }

    /// What brings rows into the order in which they lie in the file; a column may be called like it.
    pub(super) fn row_order(&self, table: &str) -> Result<&'static str> {
        let columns = self.columns(table)?;
        let free = |name: &&str| !columns.iter().any(|c| c.name.eq_ignore_ascii_case(name));
        ["rowid", "oid", "_rowid_"].into_iter().find(free).ok_or_else(|| {
            let what = format!("`{table}` has columns that hide the order of its rows");
            let what = Diagnostic::error(what).at(Place::source(self.name.as_str()));
            Failure::new(Fault::Data, what.help("rename `rowid`, `oid` or `_rowid_`"))
        })
    }

    fn columns(&self, table: &str) -> Result<Vec<Column>> {
        let sql = "SELECT name, type FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid";
        let columns = self.connection.prepare(sql).and_then(|mut statement| {
            let column = |row: &rusqlite::Row<'_>| {
                let declared: String = row.get(1)?;
                Ok(Column { name: row.get(0)?, form: form(&declared), declared })
            };
            statement.query_map([table], column)?.collect::<Result<Vec<Column>, _>>()
        });
        columns.map_err(|e| self.failure(&e))
    }
}

/// How values of a declared type come, by SQLite's own rules.
fn form(declared: &str) -> ColumnKind {
    let upper = declared.to_uppercase();
    let has = |parts: &[&str]| parts.iter().any(|p| upper.contains(p));
    if has(&["INT"]) {
        ColumnKind::Number
    } else if has(&["CHAR", "CLOB", "TEXT"]) || upper.is_empty() {
        ColumnKind::Text
    } else if has(&["BLOB"]) {
        ColumnKind::Foreign(declared.to_owned())
    } else {
        ColumnKind::Number
    }
}

impl Backend for SqliteTables {
    fn place(&self, table: &At<'_>) -> String {
        format!("{}, table {}", self.name, table.name)
    }

    fn describe(&mut self, table: &At<'_>) -> Result<Vec<Column>> {
        let columns = self.columns(table.name)?;
        if columns.is_empty() {
            return Err(no_such_table(&self.name, table.name, &self.tables()?));
        }
        self.described.retain(|(name, _)| name != table.name);
        self.described.push((table.name.to_owned(), columns.clone()));
        Ok(columns)
    }

    fn read(
        &mut self,
        table: &At<'_>,
        wanted: &[usize],
        _: &[usize],
        observer: &dyn Observer,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let columns = match self.described.iter().find(|(name, _)| name == table.name) {
            Some((_, columns)) => columns.clone(),
            None => self.describe(table)?,
        };
        let names: Vec<String> = wanted.iter().map(|&i| columns[i].name.clone()).collect();
        // A row counts even if nothing in it is wanted.
        let list = if names.is_empty() { "1".to_owned() } else { quoted_all(&names) };
        let from = quoted(table.name);
        let order =
            if self.published { format!(" ORDER BY {}", self.row_order(table.name)?) } else { String::new() };
        let mut run = || -> rusqlite::Result<()> {
            let total: i64 =
                self.connection.query_row(&format!("SELECT count(*) FROM {from}"), [], |r| r.get(0))?;
            observer.stage(&format!("reading {}", table.name), total as u64);
            let mut statement = self.connection.prepare(&format!("SELECT {list} FROM {from}{order}"))?;
            let mut rows = statement.query([])?;
            let mut row = Row::default();
            let mut number = 0;
            while let Some(found) = rows.next()? {
                number += 1;
                row.clear();
                let mut bad = None;
                for (i, &column) in wanted.iter().enumerate() {
                    if let Err(what) = push(&mut row, found.get_ref(i)?, &columns[column]) {
                        bad = Some(what);
                        break;
                    }
                }
                let taken = match bad {
                    None => take(number, Ok(&mut row)),
                    Some(bad) => take(number, Err(bad)),
                };
                if !taken || observer.cancelled() {
                    break;
                }
                if number.is_multiple_of(STEP) {
                    observer.advance(STEP);
                }
            }
            Ok(())
        };
        run().map_err(|e| self.failure(&e))?;
        observer.go_on()
    }

    fn seal(&mut self, tables: &[At<'_>], beside: &Beside, observer: &dyn Observer) -> Result<()> {
        self.published = true;
        let known = tables.iter().map(|t| t.name).chain(beside.tables.iter().map(String::as_str));
        self.refuse_others(&known.collect::<Vec<_>>(), observer)
    }

    fn limit(&mut self, bytes: u64) {
        let most = i32::try_from(bytes).unwrap_or(i32::MAX);
        // Only a limit that there is not could be refused.
        let _ = self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, most);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        let handle = self.connection.get_interrupt_handle();
        Some(Arc::new(move || handle.interrupt()))
    }
}

fn push(row: &mut Row, value: ValueRef<'_>, column: &Column) -> Result<(), BadRow> {
    // A column without a numeric type may hold both 5 and '5', which would look alike and be different.
    let kind = if column.form == ColumnKind::Number { Kind::Number } else { Kind::Text };
    let name = &column.name;
    match value {
        ValueRef::Null => row.push_missing(),
        ValueRef::Integer(n) => row.push(kind, &n.to_string()),
        ValueRef::Real(x) if x.is_finite() => {
            let mut scratch = String::new();
            row.push(kind, number::canonical(&x.to_string(), &mut scratch));
        }
        ValueRef::Real(_) => {
            let message = format!("column `{name}` holds an infinite number");
            return Err(BadRow { message, help: "replace it by NULL" });
        }
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => row.push(Kind::Text, text),
            Err(_) => {
                let message = format!("column `{name}` is not valid UTF-8");
                return Err(BadRow { message, help: "correct the text" });
            }
        },
        ValueRef::Blob(_) => {
            let message = format!("column `{name}` holds binary data, which no attribute can hold");
            let help =
                "make it `identifying`, leave it out with `undeclared = \"drop\"`, or convert it to text";
            return Err(BadRow { message, help });
        }
    }
    Ok(())
}
