//! Tables of two columns beside the linked ones: a group, and a value that belongs to it.

use bosket_model::observe::Quiet;
use bosket_model::{Diagnostic, Failure, Fault, Kind, Place, Result};

use super::write::push_line;
use super::{PgPublication, PgTables, qualified, quoted};
use crate::tables::{Pairs, TakePair, more_columns};

/// Rows that are fetched at once, and bytes that are sent.
const FETCH: usize = 10_000;
const PIECE: usize = 1 << 20;

/// What reads such a table; groups and values come as text.
fn select(schema: Option<&str>, table: &str, columns: [&str; 2]) -> String {
    let [group, value] = columns.map(quoted);
    // In the order in which rows lie there, which whoever has the database can see.
    format!("SELECT {group}::text, {value}::text FROM {} ORDER BY ctid", qualified(table, schema))
}

/// Reads such a table of a publication.
pub(crate) fn read(
    url: &str,
    schema: Option<&str>,
    table: &str,
    columns: [&str; 2],
    take: &mut TakePair<'_>,
) -> Result<()> {
    let mut tables = PgTables::open(url, schema, &Quiet)?;
    let sql = "SELECT count(*) > 2 FROM pg_attribute \
               WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND NOT attisdropped";
    let others = tables.query(sql, &[&qualified(table, schema)])?;
    if others.first().is_some_and(|row| row.get(0)) {
        return Err(more_columns(url, table));
    }
    each(&mut tables, &select(schema, table, columns), take)
}

/// Hands out the rows of a query, some at a time.
fn each(tables: &mut PgTables, select: &str, take: &mut TakePair<'_>) -> Result<()> {
    tables.run(&format!("DECLARE bosket_pairs NO SCROLL CURSOR FOR {select}"))?;
    loop {
        let rows = tables.query(&format!("FETCH FORWARD {FETCH} FROM bosket_pairs"), &[])?;
        rows.iter().for_each(|row| take(row.get(0), row.get(1)));
        if rows.len() < FETCH {
            return tables.run("CLOSE bosket_pairs");
        }
    }
}

/// Which of these tables are there.
pub(crate) fn present(url: &str, schema: Option<&str>, candidates: &[String]) -> Result<Vec<String>> {
    let mut tables = PgTables::open(url, schema, &Quiet)?;
    let mut found = Vec::new();
    for table in candidates {
        let sql = "SELECT to_regclass($1::text) IS NOT NULL";
        let there = tables.query(sql, &[&qualified(table, schema)])?;
        if there.first().is_some_and(|row| row.get(0)) && !found.contains(table) {
            found.push(table.clone());
        }
    }
    Ok(found)
}

impl PgPublication {
    /// Adds such a table in the transaction of the others.
    pub(crate) fn add_pairs(&mut self, table: &str, columns: [&str; 2], rows: &mut Pairs<'_>) -> Result<()> {
        let to = self.table(table);
        let there =
            self.reading(|tables| tables.query("SELECT to_regclass($1::text) IS NOT NULL", &[&to]))?;
        if there.first().is_some_and(|row| row.get(0)) {
            if !self.force {
                let what = format!("there is a table `{table}` already");
                let place = Place::source(format!("{}, schema {}", self.name, self.schema));
                let what = Diagnostic::error(what).at(place);
                let help = "use --force to replace it, or publish elsewhere";
                return Err(Failure::new(Fault::Environment, what.help(help)));
            }
            self.run(&format!("DROP TABLE {to}"))?;
        }
        let [group, value] = columns.map(quoted);
        self.run(&format!("CREATE TABLE {to} ({group} bigint, {value} text)"))?;
        let mut text = Vec::new();
        for (group, value) in rows {
            let group = group.to_string();
            let cells = [Some((Kind::Number, group.as_str())), Some((Kind::Text, value))];
            push_line(&mut text, cells.into_iter());
            if text.len() >= PIECE {
                self.copy(table, &text, &Quiet)?;
                text.clear();
            }
        }
        self.copy(table, &text, &Quiet)?;
        self.tables.push(table.to_owned());
        Ok(())
    }

    /// Reads such a table again.
    pub(crate) fn pairs(&mut self, table: &str, columns: [&str; 2], take: &mut TakePair<'_>) -> Result<()> {
        let sql = select(Some(&self.schema), table, columns);
        self.reading(|tables| each(tables, &sql, take))
    }
}
