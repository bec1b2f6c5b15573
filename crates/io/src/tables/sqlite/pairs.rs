//! Tables of two columns beside the linked ones: a group, and a value that belongs to it.

use std::borrow::Cow;
use std::path::Path;

use bosket_model::Result;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, params};

use super::sealed::insert;
use super::write::{column, table_sql};
use super::{failure, quoted};
use crate::tables::{Pairs, TakePair, more_columns};

/// Adds a table to a database that nobody sees yet.
pub(super) fn write(
    hidden: &Path,
    name: &str,
    table: &str,
    columns: [&str; 2],
    rows: &mut Pairs<'_>,
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
pub(crate) fn read(at: &Path, table: &str, columns: [&str; 2], take: &mut TakePair<'_>) -> Result<()> {
    let [group, value] = columns.map(quoted);
    let mut others = false;
    let mut run = || -> rusqlite::Result<()> {
        let connection = Connection::open_with_flags(at, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        others = connection.prepare(&format!("SELECT * FROM {}", quoted(table)))?.column_count() > 2;
        if others {
            return Ok(());
        }
        let mut select =
            connection.prepare(&format!("SELECT {group}, {value} FROM {} ORDER BY rowid", quoted(table)))?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            take(text(row.get_ref(0)?).as_deref(), text(row.get_ref(1)?).as_deref());
        }
        Ok(())
    };
    let name = at.display().to_string();
    run().map_err(|e| failure(&name, &e))?;
    if others { Err(more_columns(&name, table)) } else { Ok(()) }
}

fn text(cell: ValueRef<'_>) -> Option<Cow<'_, str>> {
    match cell {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string().into()),
        ValueRef::Real(number) => Some(number.to_string().into()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes)),
    }
}
