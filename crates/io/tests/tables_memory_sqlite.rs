//! The same for a SQLite file.
#![cfg(target_os = "linux")]

mod sales;
mod tables_common;

use std::path::Path;

#[test]
fn a_sqlite_file() {
    let Some(dir) = sales::apart("a_sqlite_file", make) else { return };
    let text = sales::policy("format = \"sqlite\"\npath = \"sales.db\"", |_| String::new());
    let policy = tables_common::policy(dir.path(), &text);
    sales::at_most_twice("SQLite", || tables_common::read_whole(&policy).map(|(data, _)| data));
}

fn make(dir: &Path) {
    let counts = sales::counts(sales::rows());
    let db = rusqlite::Connection::open(dir.join("sales.db")).expect("a database");
    db.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN").expect("settings");
    let mut cells = Vec::new();
    for (table, (name, columns)) in sales::TABLES.iter().enumerate() {
        db.execute_batch(&format!("CREATE TABLE {name} (\"{}\")", columns.join("\",\""))).expect("a table");
        let marks = vec!["?"; columns.len()].join(",");
        let mut insert = db.prepare(&format!("INSERT INTO {name} VALUES ({marks})")).expect("prepared");
        for i in 0..counts[table] {
            sales::row(table, i, counts, &mut cells);
            insert.execute(rusqlite::params_from_iter(&cells)).expect("a row");
        }
    }
    db.execute_batch("COMMIT").expect("written");
    db.close().expect("closed");
}
