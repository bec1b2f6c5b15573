//! The tables of a PostgreSQL database, as its catalogue declares them.

use bosket_model::Result;

use super::PgTables;
use crate::tables::catalogue::{Catalogue, Listed, Reference};

/// Tables are called by their own names where the server finds them so, else with their schema.
const NAME: &str = "CASE WHEN pg_table_is_visible(c.oid) THEN c.relname::text \
                    ELSE n.nspname::text || '.' || c.relname::text END";
const TABLES: &str = "pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                      WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'";

impl PgTables {
    /// The names of all tables, sorted.
    pub(super) fn names(&mut self) -> Result<Vec<String>> {
        let rows = self.query(&format!("SELECT {NAME} FROM {TABLES} ORDER BY 1"), &[])?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// The tables with their keys.
    pub(crate) fn catalogue(&mut self) -> Result<Catalogue> {
        let sql = format!(
            "SELECT {NAME}, c.oid, greatest(c.reltuples, 0)::bigint, \
                            has_table_privilege(c.oid, 'SELECT') FROM {TABLES} ORDER BY 1"
        );
        let mut tables = Vec::new();
        for row in self.query(&sql, &[])? {
            let (name, oid, rows): (String, u32, i64) = (row.get(0), row.get(1), row.get(2));
            if !row.get::<_, bool>(3) {
                let unreadable = Some("this user may not read it".to_owned());
                tables.push(Listed { name, unreadable, ..Listed::default() });
                continue;
            }
            let key = self.constraints(oid, "p")?.into_iter().next().map_or(Vec::new(), |r| r.columns);
            let references = self.constraints(oid, "f")?;
            let rows = if rows > 0 { rows as u64 } else { self.count(&name)? };
            let columns = "SELECT attname::text FROM pg_attribute WHERE attrelid = $1 AND attnum > 0 \
                           AND NOT attisdropped ORDER BY attnum";
            let columns = self.query(columns, &[&oid])?.iter().map(|row| row.get(0)).collect();
            tables.push(Listed { name, key, references, rows, columns, ..Listed::default() });
        }
        Ok(Catalogue { tables, ..Catalogue::default() })
    }

    /// Tables that were never analysed have no estimate.
    fn count(&mut self, name: &str) -> Result<u64> {
        let from = super::qualified(name, None);
        let rows = self.query(&format!("SELECT count(*) FROM {from}"), &[])?;
        Ok(rows.first().map_or(0, |row| row.get::<_, i64>(0) as u64))
    }

    fn constraints(&mut self, table: u32, kind: &str) -> Result<Vec<Reference>> {
        let columns = |table: &str, key: &str| {
            format!(
                "ARRAY(SELECT a.attname::text FROM unnest(k.{key}) WITH ORDINALITY AS o(number, place) \
                 JOIN pg_attribute a ON a.attrelid = k.{table} AND a.attnum = o.number ORDER BY o.place)"
            )
        };
        let sql = format!(
            "SELECT {}, {}, (SELECT {NAME} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.oid = k.confrelid) FROM pg_constraint k WHERE k.conrelid = $1 AND k.contype::text = $2 \
             ORDER BY k.conname",
            columns("conrelid", "conkey"),
            columns("confrelid", "confkey"),
        );
        let rows = self.query(&sql, &[&table, &kind])?;
        let reference = |row: &postgres::Row| Reference {
            columns: row.get(0),
            key: row.get(1),
            table: row.get::<_, Option<String>>(2).unwrap_or_default(),
            ..Reference::default()
        };
        Ok(rows.iter().map(reference).collect())
    }
}
