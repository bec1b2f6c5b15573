//! A SQLite file that appears whole or not at all, for whoever makes data.

use std::path::Path;

use bosket_model::Result;
use rusqlite::{Connection, params_from_iter};

use super::failure;
use crate::atomic::{AtomicFile, Create};
use crate::output::{Output, finish_with};

/// A database under construction. Dropping it leaves no trace.
#[derive(Debug)]
pub struct NewDatabase {
    /// Closed before the file goes.
    connection: Connection,
    file: AtomicFile,
    name: String,
}

impl NewDatabase {
    /// Begins a database with these tables, written in SQL.
    pub fn create(path: &Path, create: Create, tables: &str) -> Result<Self> {
        let name = path.display().to_string();
        let file = AtomicFile::create(path, create)?;
        let begun = Connection::open(file.hidden()).and_then(|connection| {
            // Nobody else sees the file, and a half-written one is thrown away.
            connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")?;
            connection.execute_batch(tables)?;
            Ok(connection)
        });
        let connection = begun.map_err(|e| failure(&name, &e))?;
        Ok(NewDatabase { connection, file, name })
    }

    /// Runs an `INSERT` with these cells.
    pub fn insert(&mut self, sql: &str, cells: &[&str]) -> Result<()> {
        let run = self.connection.prepare_cached(sql).and_then(|mut s| s.execute(params_from_iter(cells)));
        run.map(|_| ()).map_err(|e| failure(&self.name, &e))
    }

    /// Completes the database and gives it its name, together with other files.
    pub fn finish(self, others: Vec<Output>) -> Result<()> {
        let NewDatabase { connection, file, name } = self;
        connection.execute_batch("COMMIT").map_err(|e| failure(&name, &e))?;
        connection.close().map_err(|(_, e)| failure(&name, &e))?;
        finish_with(others, vec![file])
    }
}
