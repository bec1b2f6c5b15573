//! Publishes linked tables into a schema of a PostgreSQL database, in one transaction: all of it, or nothing.

use std::io::Write;
use std::sync::Arc;

use bosket_model::observe::{Observer, Quiet};
use bosket_model::{Diagnostic, Failure, Fault, Kind, Place, Result};
use postgres::Client;

use super::connect::{Connected, connect};
use super::read::identity;
use super::{PgTables, bare, failure, qualified, quoted, quoted_all};
use crate::atomic::complete_all;
use crate::fingerprint::Certify;
use crate::output::{Closed, Output};
use crate::stop::interruptible;
use crate::tables::backend::Interrupt;
use crate::tables::emit::Outflow;
use crate::tables::published::{Published, Table, Typed};

/// How much is sent to the server at once.
const PIECE: usize = 1 << 16;

/// The database that a publication is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) identity: String,
    pub(crate) schemas: Vec<String>,
}

/// A publication that nobody sees before it is finished.
pub(crate) struct PgPublication {
    /// None only while it is lent out for reading.
    client: Option<Client>,
    pub(super) name: String,
    pub(super) schema: String,
    pub(super) tables: Vec<String>,
    pub(super) force: bool,
    interrupt: Interrupt,
}

impl std::fmt::Debug for PgPublication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PgPublication").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PgPublication {
    /// Connects, and checks that the place is free or may be replaced, and is not what is published.
    pub(crate) fn begin(
        url: &str,
        schema: &str,
        tables: &[&str],
        origin: Option<&Origin>,
        force: bool,
    ) -> Result<Self> {
        let Connected { mut client, name, interrupt } = connect(url, &Quiet)?;
        let refuse = |fault, what: String, help: &str| {
            let place = Place::source(format!("{name}, schema {schema}"));
            Err(Failure::new(fault, Diagnostic::error(what).at(place).help(help)))
        };
        let same = |origin: &Origin| -> Result<bool> {
            Ok(origin.identity == identity(&mut client, &name)? && origin.schemas.iter().any(|s| s == schema))
        };
        if origin.map(same).transpose()? == Some(true) {
            let what = "the publication would take the place of the tables it is made from".to_owned();
            return refuse(Fault::Policy, what, "publish into another schema or database");
        }
        let mut names: Vec<&str> = tables.iter().map(|t| bare(t)).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let what = format!("two tables would be published as `{}`", pair[0]);
            return refuse(Fault::Policy, what, "rename one of them in a view");
        }
        let sql = |e: postgres::Error| failure(&name, &e);
        let read_only: String = client.query_one("SHOW transaction_read_only", &[]).map_err(sql)?.get(0);
        if read_only == "on" {
            let help = "publish into another database, or as another user";
            return refuse(Fault::Environment, "the database is read-only".to_owned(), help);
        }
        let allowed = "SELECT CASE WHEN EXISTS (SELECT FROM pg_namespace WHERE nspname = $1::text) \
                       THEN has_schema_privilege($1::text, 'CREATE') \
                       ELSE has_database_privilege(current_database(), 'CREATE') END";
        let allowed: bool = client.query_one(allowed, &[&schema]).map_err(sql)?.get(0);
        if !allowed {
            let what = "the user may not create tables there".to_owned();
            return refuse(Fault::Environment, what, "ask for the privilege, or use another user or schema");
        }
        if !force {
            for table in tables {
                let there = "SELECT to_regclass($1::text) IS NOT NULL";
                let there: bool =
                    client.query_one(there, &[&qualified(table, Some(schema))]).map_err(sql)?.get(0);
                if there {
                    let what = format!("there is a table `{}` already", bare(table));
                    return refuse(
                        Fault::Environment,
                        what,
                        "use --force to replace it, or publish elsewhere",
                    );
                }
            }
        }
        let tables = tables.iter().map(|t| bare(t).to_owned()).collect();
        Ok(PgPublication { client: Some(client), name, schema: schema.to_owned(), tables, force, interrupt })
    }

    pub(super) fn client(&mut self) -> Result<&mut Client> {
        let lost = || Failure::new(Fault::Environment, Diagnostic::error("the connection was lost"));
        self.client.as_mut().ok_or_else(lost)
    }

    pub(super) fn run(&mut self, sql: &str) -> Result<()> {
        let done = self.client()?.batch_execute(sql);
        done.map_err(|e| failure(&self.name, &e))
    }

    pub(super) fn table(&self, name: &str) -> String {
        qualified(name, Some(&self.schema))
    }

    /// Writes all tables and their keys in a transaction that stays open.
    pub(crate) fn write(
        &mut self,
        rows: &dyn Outflow,
        names: &[Option<&str>],
        observer: &dyn Observer,
    ) -> Result<()> {
        let interrupt = Arc::clone(&self.interrupt);
        interruptible(observer, || interrupt(), |observer| self.write_all(rows, names, observer))
    }

    fn write_all(
        &mut self,
        rows: &dyn Outflow,
        names: &[Option<&str>],
        observer: &dyn Observer,
    ) -> Result<()> {
        self.run("ROLLBACK; BEGIN READ WRITE")?;
        self.run(&format!("CREATE SCHEMA IF NOT EXISTS {}", quoted(&self.schema)))?;
        let all: Vec<(usize, &str)> =
            names.iter().enumerate().filter_map(|(i, n)| Some((i, (*n)?))).collect();
        if self.force {
            let old: Vec<String> = all.iter().map(|(_, name)| self.table(name)).collect();
            self.run(&format!("DROP TABLE IF EXISTS {}", old.join(", ")))?;
        }
        for &(node, name) in &all {
            let columns: Vec<String> = (rows.tables()[node].columns.iter())
                .map(|c| format!("{} {}", quoted(&c.name), declared(c)))
                .collect();
            self.run(&format!("CREATE TABLE {} ({})", self.table(name), columns.join(", ")))?;
        }
        for &(node, name) in &all {
            self.copy_rows(name, node, rows, observer)?;
        }
        for &(node, name) in &all {
            self.keys(&rows.tables()[node], name)?;
        }
        for &(node, name) in &all {
            for key in &rows.tables()[node].foreign {
                if let Some(target) = names[key.node] {
                    let (columns, referenced) = (quoted_all(&key.columns), quoted_all(&key.referenced));
                    let (table, target) = (self.table(name), self.table(target));
                    self.run(&format!(
                        "ALTER TABLE {table} ADD FOREIGN KEY ({columns}) REFERENCES {target} ({referenced})"
                    ))?;
                }
            }
        }
        Ok(())
    }

    /// Fills a table with its rows, as they come.
    fn copy_rows(
        &mut self,
        table: &str,
        node: usize,
        rows: &dyn Outflow,
        observer: &dyn Observer,
    ) -> Result<()> {
        let copy = format!("COPY {} FROM STDIN", self.table(table));
        let copied = self.client()?.copy_in(&copy).and_then(|mut writer| {
            let (mut text, mut written) = (Vec::new(), Ok(()));
            let sent = rows.each_of(node, &mut |_, row| {
                push_line(&mut text, row.iter());
                if text.len() >= PIECE && written.is_ok() {
                    // A failed write is told by the server when the copy is finished.
                    written = writer.write_all(&text);
                    text.clear();
                    observer.go_on()?;
                }
                Ok(())
            });
            written = written.and_then(|()| writer.write_all(&text));
            writer.finish().map(|_| (sent, written))
        });
        observer.go_on()?;
        match copied {
            Ok((sent, Ok(()))) => sent,
            Ok((sent, Err(_))) => sent.and(Err(self.lost())),
            Err(e) => Err(failure(&self.name, &e)),
        }
    }

    /// Fills a table with lines as `COPY` takes them.
    pub(super) fn copy(&mut self, table: &str, text: &[u8], observer: &dyn Observer) -> Result<()> {
        let copy = format!("COPY {} FROM STDIN", self.table(table));
        let copied = self.client()?.copy_in(&copy).and_then(|mut writer| {
            // A failed write is told by the server when the copy is finished.
            let mut pieces = text.chunks(PIECE).take_while(|_| !observer.cancelled());
            let written = pieces.try_for_each(|piece| writer.write_all(piece));
            writer.finish().map(|_| written)
        });
        observer.go_on()?;
        match copied {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(self.lost()),
            Err(e) => Err(failure(&self.name, &e)),
        }
    }

    fn keys(&mut self, table: &Table, name: &str) -> Result<()> {
        let to = self.table(name);
        if !table.primary.is_empty() {
            self.run(&format!("ALTER TABLE {to} ADD PRIMARY KEY ({})", quoted_all(&table.primary)))?;
        }
        if !table.unique.is_empty() {
            self.run(&format!("ALTER TABLE {to} ADD UNIQUE ({})", quoted_all(&table.unique)))?;
        }
        Ok(())
    }

    fn lost(&self) -> Failure {
        let what = Diagnostic::error("the connection was lost").at(Place::source(self.name.as_str()));
        Failure::new(Fault::Environment, what.help("try again; nothing was published"))
    }

    /// Whoever loses the connection while committing cannot know whether it was done.
    fn uncertain(&self, error: &postgres::Error) -> Failure {
        let mut failure = failure(&self.name, error);
        let help = format!("look whether schema `{}` has the tables; if not, try again", self.schema);
        failure.diagnostics.iter_mut().for_each(|d| d.help = Some(help.clone()));
        failure
    }

    /// Lends the connection out to whoever reads what has been written.
    pub(crate) fn reading<T>(&mut self, read: impl FnOnce(&mut PgTables) -> Result<T>) -> Result<T> {
        let client = self.client.take().ok_or_else(|| self.lost())?;
        let connected = Connected { client, name: self.name.clone(), interrupt: Arc::clone(&self.interrupt) };
        let mut tables = PgTables::over(connected, Some(&self.schema));
        let result = read(&mut tables);
        self.client = Some(tables.into_client());
        result
    }

    /// Makes the publication visible, together with other files.
    pub(crate) fn finish(
        mut self,
        others: Vec<Output>,
        certify: Certify<'_>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut closed = Closed::all(others)?;
        if certify.is_some() {
            let tables = std::mem::take(&mut self.tables);
            let names: Vec<&str> = tables.iter().map(String::as_str).collect();
            let fingerprints = self.reading(|written| written.fingerprints(&names, observer))?;
            closed.fingerprints.splice(0..0, fingerprints);
        }
        // Nothing that can fail for want of space comes after the transaction.
        let mut files = closed.certified(certify)?;
        complete_all(&mut files)?;
        let committed = self.client()?.batch_execute("COMMIT");
        committed.map_err(|e| self.uncertain(&e))?;
        crate::atomic::commit_all(files)
    }
}

fn declared(column: &Published) -> &str {
    match &column.typed {
        Typed::Text => "text",
        Typed::Number => "bigint",
        Typed::As(declared) => declared,
    }
}

/// Adds a row as `COPY` takes it.
pub(super) fn push_line<'a>(out: &mut Vec<u8>, cells: impl Iterator<Item = Option<(Kind, &'a str)>>) {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.push(b'\t');
        }
        let Some((_, text)) = cell else {
            out.extend_from_slice(b"\\N");
            continue;
        };
        for byte in text.bytes() {
            match byte {
                b'\\' => out.extend_from_slice(b"\\\\"),
                b'\t' => out.extend_from_slice(b"\\t"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                byte => out.push(byte),
            }
        }
    }
    out.push(b'\n');
}
