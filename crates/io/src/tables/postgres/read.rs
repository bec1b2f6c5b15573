//! Reads the tables of a PostgreSQL database: one snapshot for all of them, through a cursor.

use std::sync::Arc;

use bosket_model::observe::Observer;
use bosket_model::{Kind, Result};
use postgres::{Client, SimpleQueryMessage};

use super::connect::{Connected, connect};
use super::{failure, qualified, quoted, quoted_all};
use crate::json::number;
use crate::tables::backend::{
    At, Backend, BadRow, Beside, Column, ColumnKind, Interrupt, Row, Take, no_such_table,
};

/// Rows fetched at once.
const FETCH: usize = 8192;

/// Bytes that a row takes on disk beside its values.
const HEADER: f64 = 28.0;

/// The tables of a database.
pub(crate) struct PgTables {
    client: Client,
    pub(super) name: String,
    /// The schema all tables are in, whatever their names say: a publication's.
    schema: Option<String>,
    /// It is a publication, in which the order of rows counts.
    published: bool,
    described: Vec<(String, Vec<Column>)>,
    interrupt: Interrupt,
}

impl std::fmt::Debug for PgTables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PgTables").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PgTables {
    /// Connects. What is read from then on is as it is now.
    pub(crate) fn open(url: &str, schema: Option<&str>, observer: &dyn Observer) -> Result<Self> {
        let mut tables = Self::over(connect(url, observer)?, schema);
        tables.run("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")?;
        Ok(tables)
    }

    /// Reads in a transaction that has begun.
    pub(super) fn over(connected: Connected, schema: Option<&str>) -> Self {
        let Connected { client, name, interrupt } = connected;
        let schema = schema.map(str::to_owned);
        PgTables { client, name, schema, published: false, described: Vec::new(), interrupt }
    }

    /// What messages call the database, with the schema of a publication.
    pub(super) fn schema_name(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{}, schema {schema}", self.name),
            None => self.name.clone(),
        }
    }

    /// The connection, to go on with.
    pub(super) fn into_client(self) -> Client {
        self.client
    }

    pub(super) fn run(&mut self, sql: &str) -> Result<()> {
        self.client.batch_execute(sql).map_err(|e| failure(&self.name, &e))
    }

    pub(super) fn query(
        &mut self,
        sql: &str,
        params: &[&(dyn postgres::types::ToSql + Sync)],
    ) -> Result<Vec<postgres::Row>> {
        self.client.query(sql, params).map_err(|e| failure(&self.name, &e))
    }

    pub(super) fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    pub(super) fn qualified(&self, table: &str) -> String {
        qualified(table, self.schema.as_deref())
    }

    /// What tells this database from any other: when its server was started, and its number there.
    pub(crate) fn identity(&mut self) -> Result<String> {
        identity(&mut self.client, &self.name)
    }

    /// Bytes that tables take on disk, without their indexes; of what takes none there, such as a view, those that the
    /// server expects of its rows.
    pub(crate) fn weight(&mut self, tables: &[&str]) -> Result<u64> {
        let sql = "SELECT CASE WHEN relkind IN ('r', 'm', 't') THEN pg_table_size(oid) END \
                   FROM pg_class WHERE oid = to_regclass($1::text)";
        let mut bytes = 0;
        for table in tables {
            let name = self.qualified(table);
            let Some(found) = self.query(sql, &[&name])?.first().map(|row| row.get::<_, Option<i64>>(0))
            else {
                continue;
            };
            bytes += match found {
                Some(size) => u64::try_from(size).unwrap_or(0),
                None => self.expected(&name)?,
            };
        }
        Ok(bytes)
    }

    /// Bytes of the rows of a relation as the server plans to read them, which it does not do.
    fn expected(&mut self, relation: &str) -> Result<u64> {
        let sql = format!("EXPLAIN (FORMAT JSON) SELECT * FROM {relation}");
        let told = self.client.simple_query(&sql).map_err(|e| failure(&self.name, &e))?;
        let row = told.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        let plan = row.unwrap_or_default();
        Ok((planned(plan, "Plan Rows") * (planned(plan, "Plan Width") + HEADER)) as u64)
    }

    /// The schemas that tables are in.
    pub(crate) fn schemas(&mut self, tables: &[&str]) -> Result<Vec<String>> {
        let sql = "SELECT n.nspname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE c.oid = to_regclass($1::text)";
        let mut found = Vec::new();
        for table in tables {
            let name = self.qualified(table);
            found.extend(self.query(sql, &[&name])?.iter().map(|row| row.get::<_, String>(0)));
        }
        Ok(found)
    }
}

/// A number of the outermost step of a plan, which says its own before those of the steps below.
fn planned(plan: &str, key: &str) -> f64 {
    let after = plan.split_once(&format!("\"{key}\": ")).map_or("", |(_, after)| after);
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    after[..end].parse().unwrap_or(0.0)
}

/// What tells a database from any other.
pub(super) fn identity(client: &mut Client, name: &str) -> Result<String> {
    let sql = "SELECT pg_postmaster_start_time()::text || ' ' || oid::text FROM pg_database \
               WHERE datname = current_database()";
    client.query_one(sql, &[]).map(|row| row.get(0)).map_err(|e| failure(name, &e))
}

/// A column's type, and how its values come. Types that another database may not have are published as text.
fn column(row: &postgres::Row) -> Column {
    let (name, declared, base): (String, String, String) = (row.get(0), row.get(1), row.get(2));
    let (category, own): (String, bool) = (row.get(3), row.get(4));
    let form = match category.as_str() {
        _ if base == "money" || base == "uuid" => ColumnKind::Text,
        "B" => ColumnKind::Bool,
        "N" => ColumnKind::Number,
        "S" | "D" | "E" | "T" | "I" => ColumnKind::Text,
        _ => ColumnKind::Foreign(declared.clone()),
    };
    let declared = if own { declared } else { "text".to_owned() };
    Column { name, declared, form }
}

impl Backend for PgTables {
    fn place(&self, table: &At<'_>) -> String {
        format!("{}, table {}", self.schema_name(), table.name)
    }

    fn describe(&mut self, table: &At<'_>) -> Result<Vec<Column>> {
        let sql = "SELECT a.attname::text, \
                   CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) \
                        ELSE format_type(a.atttypid, a.atttypmod) END, \
                   coalesce(b.typname, t.typname)::text, t.typcategory::text, \
                   coalesce(b.typnamespace, t.typnamespace) = 'pg_catalog'::regnamespace \
                   FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
                   LEFT JOIN pg_type b ON b.oid = t.typbasetype AND t.typtype = 'd' \
                   WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped \
                   ORDER BY a.attnum";
        let name = self.qualified(table.name);
        let columns: Vec<Column> = self.query(sql, &[&name])?.iter().map(column).collect();
        if columns.is_empty() {
            let tables = self.names()?;
            return Err(no_such_table(&self.name, table.name, &tables));
        }
        self.described.retain(|(name, _)| name != table.name);
        self.described.push((table.name.to_owned(), columns.clone()));
        Ok(columns)
    }

    fn read(
        &mut self,
        table: &At<'_>,
        wanted: &[usize],
        key: &[usize],
        observer: &dyn Observer,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let columns = match self.described.iter().find(|(name, _)| name == table.name) {
            Some((_, columns)) => columns.clone(),
            None => self.describe(table)?,
        };
        let from = self.qualified(table.name);
        let rows = self.query(
            "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = to_regclass($1::text)",
            &[&from],
        )?;
        let guess: i64 = rows.first().map_or(0, |row| row.get(0));
        observer.stage(&format!("reading {}", table.name), guess as u64);
        let cell = |&i: &usize| format!("{}::text", quoted(&columns[i].name));
        // A row counts even if nothing in it is wanted.
        let list = match wanted {
            [] => "NULL::text".to_owned(),
            wanted => wanted.iter().map(cell).collect::<Vec<_>>().join(", "),
        };
        let order: Vec<String> = key.iter().map(|&i| columns[i].name.clone()).collect();
        let order = match order.as_slice() {
            // As the rows lie there, which whoever has the database can see.
            _ if self.published => " ORDER BY ctid".to_owned(),
            [] => String::new(),
            order => format!(" ORDER BY {}", quoted_all(order)),
        };
        self.run(&format!("DECLARE bosket_rows NO SCROLL CURSOR FOR SELECT {list} FROM {from}{order}"))?;
        let fetch = format!("FETCH FORWARD {FETCH} FROM bosket_rows");
        let mut row = Row::default();
        let mut number = 0;
        let mut more = true;
        while more {
            observer.go_on()?;
            let rows = self.query(&fetch, &[])?;
            for found in &rows {
                number += 1;
                let filled = fill(&mut row, found, wanted, &columns);
                if !take(number, filled.map(|()| &mut row)) {
                    more = false;
                    break;
                }
            }
            observer.advance(rows.len() as u64);
            more &= rows.len() == FETCH;
        }
        self.run("CLOSE bosket_rows")
    }

    fn seal(&mut self, tables: &[At<'_>], beside: &Beside, _: &dyn Observer) -> Result<()> {
        self.published = true;
        let known: Vec<&str> =
            tables.iter().map(|t| t.name).chain(beside.tables.iter().map(String::as_str)).collect();
        self.refuse_others(&known)
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(Arc::clone(&self.interrupt))
    }
}

fn fill(row: &mut Row, found: &postgres::Row, wanted: &[usize], columns: &[Column]) -> Result<(), BadRow> {
    row.clear();
    let mut scratch = String::new();
    for (i, &column) in wanted.iter().enumerate() {
        let column = &columns[column];
        let text: Option<&str> = found.try_get(i).map_err(|_| BadRow {
            message: format!("column `{}` cannot be read as text", column.name),
            help: "convert it to text in a view",
        })?;
        match (text, &column.form) {
            (None, _) => row.push_missing(),
            (Some(text), ColumnKind::Number)
                if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && !text.ends_with('y') =>
            {
                row.push(Kind::Number, number::canonical(text, &mut scratch));
            }
            (Some(_), ColumnKind::Number) => {
                let message = format!("column `{}` holds a value that is no finite number", column.name);
                return Err(BadRow { message, help: "replace it by NULL" });
            }
            (Some(text), ColumnKind::Bool) => row.push(Kind::Bool, text),
            (Some(text), _) => row.push(Kind::Text, text),
        }
    }
    Ok(())
}
