//! The same for one Parquet file of nested records.
#![cfg(target_os = "linux")]

mod sales;

use std::path::Path;

use bosket_io::{Input, Layout};
use sales::columns::{Column, GROUP, group, writer};

#[test]
fn nested_records() {
    let Some(dir) = sales::apart("nested_records", make) else { return };
    let path = dir.path().join("nested.parquet");
    sales::at_most_twice("nested Parquet", || {
        Ok(bosket_io::read(Input::open(&path)?, None, &Layout::default())?.data)
    });
}

fn make(dir: &Path) {
    // Ten vertices per record: a customer and its orders.
    let schema = "message m { required binary town (STRING); optional group orders (LIST) { repeated group list { \
                  optional group element { optional binary day (STRING); optional binary total (STRING); } } } }";
    let path = dir.join("nested.parquet");
    let mut out = writer(&path, schema);
    let mut buffers: Vec<Column> = vec![Default::default(); 3];
    let records = sales::rows() / 10;
    for i in 0..records {
        buffers[0].0.push(format!("town {}", i % 500).as_str().into());
        for j in 0..9u64 {
            let cells = [((i + j) % 365).to_string(), ((i * 7 + j) % 9973).to_string()];
            for (cell, (values, definition, repetition)) in cells.iter().zip(&mut buffers[1..]) {
                values.push(cell.as_str().into());
                definition.push(4);
                repetition.push(i16::from(j > 0));
            }
        }
        if buffers[0].0.len() == GROUP || i + 1 == records {
            group(&mut out, &mut buffers);
        }
    }
    out.close().expect("complete");
}
