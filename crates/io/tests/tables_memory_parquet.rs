//! The same for Parquet files.
#![cfg(target_os = "linux")]

mod sales;
mod tables_common;

use std::path::Path;

use sales::columns::{Column, GROUP, group, writer};

#[test]
fn parquet_files() {
    let Some(dir) = sales::apart("parquet_files", make) else { return };
    let text = sales::policy("format = \"parquet\"", |name| format!("path = \"{name}.parquet\"\n"));
    let policy = tables_common::policy(dir.path(), &text);
    sales::at_most_twice("Parquet", || tables_common::read_whole(&policy).map(|(data, _)| data));
}

fn make(dir: &Path) {
    let counts = sales::counts(sales::rows());
    let mut cells = Vec::new();
    for (table, (name, columns)) in sales::TABLES.iter().enumerate() {
        let fields: String = columns.iter().map(|c| format!("required binary {c} (STRING); ")).collect();
        let mut out = writer(&dir.join(format!("{name}.parquet")), &format!("message m {{ {fields} }}"));
        let mut buffers: Vec<Column> = vec![Default::default(); columns.len()];
        for i in 0..counts[table] {
            sales::row(table, i, counts, &mut cells);
            for (cell, buffer) in cells.iter().zip(&mut buffers) {
                buffer.0.push(cell.as_str().into());
            }
            if buffers[0].0.len() == GROUP || i + 1 == counts[table] {
                group(&mut out, &mut buffers);
            }
        }
        out.close().expect("complete");
    }
}
