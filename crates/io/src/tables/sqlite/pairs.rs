//! Tables of two columns beside the linked ones: a group, and a value that belongs to it.

use std::path::Path;

use bosket_model::Result;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, params};

use super::sealed::insert;
use super::write::{column, table_sql};
use super::{failure, quoted};
use crate::tables::{Pair, more_columns};

/// Adds a table to a database that nobody sees yet.
pub(super) fn write(
    hidden: &Path,
    name: &str,
    table: &str,
    columns: [&str; 2],
    rows: &[(u32, &str)],
) -> Result<()> {
    let [group, value] = columns;
    let parts = [column(group, "INTEGER"), column(value, "TEXT")];
    let run = || -> rusqlite::Result<()> {
        let mut connection = Connection::open(hidden)?;
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
        let transaction = connection.transaction()?;
        transaction.execute_batch(&table_sql(table, &parts))?;
        {
            let mut insert = transaction.prepare(&insert(table, parts.len()))?;
            for (group, value) in rows {
                insert.execute(params![group, value])?;
            }
        }
        transaction.commit()
    };
    run().map_err(|e| failure(name, &e))
}

/// Reads such a table.
pub(crate) fn read(at: &Path, table: &str, columns: [&str; 2]) -> Result<Vec<Pair>> {
    let [group, value] = columns.map(quoted);
    let mut others = false;
    let mut run = || -> rusqlite::Result<Vec<Pair>> {
        let connection = Connection::open_with_flags(at, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        others = connection.prepare(&format!("SELECT * FROM {}", quoted(table)))?.column_count() > 2;
        let mut select =
            connection.prepare(&format!("SELECT {group}, {value} FROM {} ORDER BY rowid", quoted(table)))?;
        let mut rows = select.query([])?;
        let mut pairs = Vec::new();
        while let Some(row) = rows.next()? {
            pairs.push((text(row.get_ref(0)?), text(row.get_ref(1)?)));
        }
        Ok(pairs)
    };
    let name = at.display().to_string();
    let pairs = run().map_err(|e| failure(&name, &e))?;
    if others { Err(more_columns(&name, table)) } else { Ok(pairs) }
}

fn text(cell: ValueRef<'_>) -> Option<String> {
    match cell {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}
