//! The tables of a SQLite file, as its catalogue declares them.

use bosket_model::Result;

use super::{SqliteTables, quoted};
use crate::tables::catalogue::{Catalogue, Listed, Reference};

impl SqliteTables {
    /// The tables with their keys.
    pub(crate) fn catalogue(&self) -> Result<Catalogue> {
        let mut tables = Vec::new();
        for name in self.tables()? {
            // A view may ask for what is not there any more.
            let listed = self.listed(name.clone()).unwrap_or_else(|e| Listed {
                unreadable: self.failure(&e).diagnostics.first().map(|d| d.message.clone()),
                name,
                ..Listed::default()
            });
            tables.push(listed);
        }
        Ok(Catalogue { tables, ..Catalogue::default() })
    }

    fn listed(&self, name: String) -> rusqlite::Result<Listed> {
        let rows: i64 =
            self.connection
                .query_row(&format!("SELECT count(*) FROM {}", quoted(&name)), [], |row| row.get(0))?;
        let key = self.key(&name)?;
        let mut statement = self.connection.prepare(
            "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq",
        )?;
        let parts = statement.query_map([&name], |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?, row.get::<_, Option<String>>(3)?))
        })?;
        let mut references: Vec<(i64, Reference)> = Vec::new();
        for part in parts {
            let (id, table, from, to): (i64, String, String, Option<String>) = part?;
            if references.last().is_none_or(|(last, _)| *last != id) {
                references.push((id, Reference { table, ..Reference::default() }));
            }
            if let Some((_, reference)) = references.last_mut() {
                // Without a column the primary key is meant.
                let own = self.key(&reference.table)?;
                reference.key.extend(to.or_else(|| own.get(reference.columns.len()).cloned()));
                reference.columns.push(from);
            }
        }
        let whole = |(_, r): (i64, Reference)| (r.key.len() == r.columns.len()).then_some(r);
        let references = references.into_iter().filter_map(whole).collect();
        let mut columns =
            self.connection.prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden <> 1")?;
        let columns = columns.query_map([&name], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let derived = "SELECT count(*) FROM sqlite_master WHERE type = 'view' AND name = ?1";
        let derived = self.connection.query_row(derived, [&name], |row| row.get::<_, i64>(0))? > 0;
        Ok(Listed { name, key, references, rows: rows as u64, columns, derived, ..Listed::default() })
    }

    fn key(&self, table: &str) -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk";
        self.connection.prepare(sql)?.query_map([table], |row| row.get(0))?.collect()
    }
}
