//! Linked tables stream into the model: while they are read, never more than twice of what the records take is used.
#![cfg(target_os = "linux")]

mod sales;
mod tables_common;

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

#[test]
fn csv_files() {
    let Some(dir) = sales::apart("csv_files", make) else { return };
    let text = sales::policy("format = \"csv\"", |name| format!("path = \"{name}.csv\"\n"));
    let policy = tables_common::policy(dir.path(), &text);
    sales::at_most_twice("CSV", || tables_common::read_whole(&policy).map(|(data, _)| data));
}

fn make(dir: &Path) {
    let counts = sales::counts(sales::rows());
    let mut cells = Vec::new();
    for (table, (name, columns)) in sales::TABLES.iter().enumerate() {
        let file = fs::File::create(dir.join(format!("{name}.csv"))).expect("a file");
        let mut out = BufWriter::new(file);
        writeln!(out, "{}", columns.join(",")).expect("room");
        for i in 0..counts[table] {
            sales::row(table, i, counts, &mut cells);
            writeln!(out, "{}", cells.join(",")).expect("room");
        }
    }
}
