//! Whether a published file holds nothing but its tables.
//!
//! A database has many places that no query of its tables shows: further objects, comments in their SQL, numbers in the
//! header, free pages, free room in pages, fields behind the last column. So the file is written once more from the rows
//! of its tables, and both must be the same bytes.

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::{SqliteTables, failure, quoted, quoted_all};
use crate::fault;

/// What goes along with a file, and is part of what is handed out.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Bytes of the header that count changes or name SQLite's version, which differ without a difference in content.
const COUNTERS: [std::ops::Range<usize>; 2] = [24..28, 92..100];

/// How much is compared at once.
const PIECE: usize = 1 << 16;

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// What begins a file that nobody else sees: a half-written one is thrown away.
pub(super) const BEGIN: &str =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; BEGIN";

/// What adds a row to a table.
pub(super) fn insert(table: &str, columns: usize) -> String {
    format!("INSERT INTO {} VALUES ({})", quoted(table), vec!["?"; columns].join(", "))
}

/// A file in the folder for temporary ones, gone when it is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn create() -> Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        loop {
            let count = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!(".bosket-{}-{count}.db", std::process::id()));
            match options.open(&path) {
                Ok(_) => return Ok(Temporary(path)),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(fault::writing(&path.to_string_lossy(), &e)),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Nobody can do anything about it.
        let _ = fs::remove_file(&self.0);
    }
}

/// An object that a database has.
struct Object {
    kind: String,
    name: String,
    table: String,
    sql: Option<String>,
}

impl SqliteTables {
    /// Refuses a publication with anything beside the rows of these tables.
    pub(super) fn refuse_others(&self, known: &[&str], observer: &dyn Observer) -> Result<()> {
        let refuse = |what: String| {
            let help = "`verify` cannot judge it, so it must not be handed out; hand the file out as `anonymize` wrote it";
            let what = Diagnostic::error(what).at(Place::source(self.name.as_str()));
            Err(Failure::new(Fault::Data, what.help(help)))
        };
        for ending in COMPANIONS {
            let mut beside = self.path.clone().into_os_string();
            beside.push(ending);
            if Path::new(&beside).exists() {
                return refuse(format!(
                    "there is a file `…{ending}` beside the database, which belongs to it"
                ));
            }
        }
        let sql = |e: rusqlite::Error| failure(&self.name, &e);
        let objects = self.objects().map_err(sql)?;
        let is_known = |name: &str| known.iter().any(|k| k.eq_ignore_ascii_case(name));
        for Object { kind, name, table, sql: text } in &objects {
            let own = match kind.as_str() {
                "table" => is_known(name),
                // Keys have indexes that SQLite makes by itself.
                "index" => is_known(table) && text.is_none(),
                _ => false,
            };
            if !own {
                return refuse(format!(
                    "the database has {} `{name}`, no part of the publication",
                    article(kind)
                ));
            }
        }
        let tables: Vec<&Object> = objects.iter().filter(|o| o.kind == "table").collect();
        for table in &tables {
            if table.sql.as_deref() != Some(&self.plain_sql(&table.name).map_err(sql)?) {
                let what = format!("`{}` is declared in other words than publications use", table.name);
                return refuse(what + ": with a comment, a default, a check or the like");
            }
        }
        for (pragma, what) in [
            ("freelist_count", "free pages, which may hold what was deleted"),
            ("application_id", "an `application_id`"),
            ("user_version", "a `user_version`"),
        ] {
            let value: i64 =
                self.connection.query_row(&format!("PRAGMA {pragma}"), [], |r| r.get(0)).map_err(sql)?;
            if value != 0 {
                return refuse(format!("the database has {what}"));
            }
        }
        let again = Temporary::create()?;
        self.write_again(&tables, &again.0, observer)?;
        let same = same_bytes(&self.path, &again.0, observer);
        observer.go_on()?;
        match same {
            Ok(true) => Ok(()),
            Ok(false) => refuse("the database holds more than the rows of its tables".to_owned()),
            Err(e) => Err(fault::reading(&self.name, &e)),
        }
    }

    fn objects(&self) -> rusqlite::Result<Vec<Object>> {
        let sql = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid";
        let object = |row: &rusqlite::Row<'_>| {
            Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, sql: row.get(3)? })
        };
        self.connection.prepare(sql)?.query_map([], object)?.collect()
    }

    /// How a table with these columns and keys is declared in a publication.
    fn plain_sql(&self, table: &str) -> rusqlite::Result<String> {
        let texts = |sql: &str, of: &str| -> rusqlite::Result<Vec<String>> {
            self.connection.prepare(sql)?.query_map([of], |row| row.get(0))?.collect()
        };
        let columns = "SELECT name, type FROM pragma_table_xinfo(?1) ORDER BY cid";
        let mut parts: Vec<String> = (self.connection.prepare(columns)?)
            .query_map([table], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?
            .map(|column| column.map(|(name, declared)| super::write::column(&name, &declared)))
            .collect::<rusqlite::Result<_>>()?;
        let primary = texts("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk", table)?;
        if !primary.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", quoted_all(&primary)));
        }
        let unique = "SELECT name FROM pragma_index_list(?1) WHERE origin = 'u' ORDER BY seq DESC";
        for index in texts(unique, table)? {
            let columns = texts("SELECT name FROM pragma_index_info(?1) ORDER BY seqno", &index)?;
            parts.push(format!("UNIQUE ({})", quoted_all(&columns)));
        }
        // The last one declared has the number 0.
        let keys = "SELECT DISTINCT id FROM pragma_foreign_key_list(?1) ORDER BY id DESC";
        let keys: Vec<i64> =
            self.connection.prepare(keys)?.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for key in keys {
            let list = "SELECT \"from\", \"to\", \"table\" FROM pragma_foreign_key_list(?1) WHERE id = ?2 ORDER BY seq";
            let mut statement = self.connection.prepare(list)?;
            let column = |row: &rusqlite::Row<'_>| {
                Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?, row.get::<_, String>(2)?))
            };
            let rows: Vec<(String, Option<String>, String)> =
                statement.query_map((table, key), column)?.collect::<Result<_, _>>()?;
            let columns: Vec<String> = rows.iter().map(|r| r.0.clone()).collect();
            let referenced: Vec<String> = rows.iter().filter_map(|r| r.1.clone()).collect();
            let target = rows.first().map_or("", |r| r.2.as_str());
            let (columns, referenced) = (quoted_all(&columns), quoted_all(&referenced));
            parts.push(format!("FOREIGN KEY ({columns}) REFERENCES {} ({referenced})", quoted(target)));
        }
        Ok(super::write::table_sql(table, &parts))
    }

    /// Writes the same tables with the same rows as publications are written: one table after the other.
    fn write_again(&self, tables: &[&Object], to: &Path, observer: &dyn Observer) -> Result<()> {
        let sql = |e: rusqlite::Error| failure(&self.name, &e);
        let connection = Connection::open(to).map_err(sql)?;
        connection.execute_batch(BEGIN).map_err(sql)?;
        for table in tables {
            connection.execute_batch(table.sql.as_deref().unwrap_or_default()).map_err(sql)?;
            let from =
                format!("SELECT * FROM {} ORDER BY {}", quoted(&table.name), self.row_order(&table.name)?);
            let mut select = self.connection.prepare(&from).map_err(sql)?;
            let columns = select.column_count();
            let mut insert = connection.prepare(&insert(&table.name, columns)).map_err(sql)?;
            let mut rows = select.query([]).map_err(sql)?;
            while let Some(row) = rows.next().map_err(sql)? {
                observer.go_on()?;
                let cells: Vec<Value> =
                    (0..columns).map(|i| row.get(i)).collect::<rusqlite::Result<_>>().map_err(sql)?;
                insert.execute(params_from_iter(cells)).map_err(sql)?;
            }
        }
        connection.execute_batch("COMMIT").map_err(sql)?;
        connection.close().map_err(|(_, e)| sql(e))
    }
}

fn article(kind: &str) -> String {
    if kind == "index" { format!("an {kind}") } else { format!("a {kind}") }
}

/// Whether two databases are the same but for what counts changes.
fn same_bytes(a: &Path, b: &Path, observer: &dyn Observer) -> std::io::Result<bool> {
    let open = |path: &Path| File::open(path).map(BufReader::new);
    let (mut a, mut b) = (open(a)?, open(b)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut first = true;
    loop {
        left.clear();
        right.clear();
        a.by_ref().take(PIECE as u64).read_to_end(&mut left)?;
        b.by_ref().take(PIECE as u64).read_to_end(&mut right)?;
        if std::mem::take(&mut first) {
            for counter in COUNTERS {
                for side in [&mut left, &mut right] {
                    side.get_mut(counter.clone()).into_iter().flatten().for_each(|byte| *byte = 0);
                }
            }
        }
        if left != right || observer.cancelled() {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}
