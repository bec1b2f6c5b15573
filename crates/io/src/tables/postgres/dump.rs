//! The fingerprints of tables: a dump in an order that depends on nothing but what they hold.

use std::io::Read;

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Fingerprint, Place, Result};
use sha2::{Digest, Sha256};

use super::{PgTables, failure, quoted};
use crate::fingerprint::hex;
use crate::tables::backend::{At, Backend, waiting};

impl PgTables {
    /// Of each table: its columns with their types, then its rows as `COPY` writes them, ordered by all columns. Tables
    /// that are not there are left out.
    pub(crate) fn fingerprints(
        &mut self,
        tables: &[&str],
        observer: &dyn Observer,
    ) -> Result<Vec<Fingerprint>> {
        waiting(self.interrupt(), observer, |observer| self.fingerprints_of(tables, observer))
    }

    fn fingerprints_of(&mut self, tables: &[&str], observer: &dyn Observer) -> Result<Vec<Fingerprint>> {
        let mut found = Vec::new();
        for table in tables {
            let there = "SELECT to_regclass($1::text) IS NOT NULL";
            let name = self.qualified(table);
            if self.query(there, &[&name])?.first().is_some_and(|row| row.get(0)) {
                found.push(Fingerprint {
                    name: (*table).to_owned(),
                    sha256: self.fingerprint(table, observer)?,
                });
            }
        }
        Ok(found)
    }

    fn fingerprint(&mut self, table: &str, observer: &dyn Observer) -> Result<String> {
        let columns = self.describe(&At { name: table, path: None })?;
        let mut hash = Sha256::new();
        for column in &columns {
            hash.update(format!("{} {}\n", quoted(&column.name), column.declared));
        }
        hash.update(b"\n");
        let cell = |name: &str| format!("{}::text", quoted(name));
        let cells: Vec<String> = columns.iter().map(|c| cell(&c.name)).collect();
        // The order of texts in the server's own language may change with its version.
        let order: Vec<String> = cells.iter().map(|c| format!("({c}) COLLATE \"C\" NULLS FIRST")).collect();
        let from = self.qualified(table);
        let (cells, order) = (cells.join(", "), order.join(", "));
        let copy = format!("COPY (SELECT {cells} FROM {from} ORDER BY {order}) TO STDOUT");
        let name = self.name.clone();
        let mut reader = self.client().copy_out(&copy).map_err(|e| failure(&name, &e))?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            observer.go_on()?;
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(hex(hash)),
                Ok(read) => hash.update(&buffer[..read]),
                Err(_) => {
                    let what = Diagnostic::error("the connection was lost").at(Place::source(name));
                    return Err(Failure::new(Fault::Environment, what.help("try again")));
                }
            }
        }
    }
}
