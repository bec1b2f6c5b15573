//! Linked tables stream into the model: while they are read, never more than twice of what the records take is used.
//! Alone in its process, since it looks at the process's memory.
#![cfg(target_os = "linux")]

mod tables_common;

use std::fs;
use std::io::{BufWriter, Write};

use tables_common::*;
use tempfile::TempDir;

const SALES: &str = r#"version = 1
[source]
format = "csv"
[[source.table]]
name = "customer"
path = "customer.csv"
key = "id"
[[source.table]]
name = "orders"
path = "orders.csv"
key = "id"
parent = "customer"
foreign_key = "customer"
[[source.table]]
name = "line"
path = "line.csv"
parent = "orders"
foreign_key = "order"
[[attribute]]
path = "customer.town"
role = "quasi"
[[attribute]]
path = "orders.day"
role = "quasi"
[[attribute]]
path = "orders.total"
role = "sensitive"
[[attribute]]
path = "line.article"
role = "quasi"
[[attribute]]
path = "line.amount"
role = "quasi"
[[attribute]]
path = "line.price"
role = "sensitive"
"#;

/// Bytes of memory by the name that Linux gives them.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|l| l.starts_with(name)).expect("a line");
    let kilobytes = line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok());
    kilobytes.expect("a number") * 1024
}

fn write(dir: &TempDir, name: &str, header: &str, rows: u64, row: impl Fn(u64) -> String) {
    let mut out = BufWriter::new(fs::File::create(dir.path().join(name)).expect("a file"));
    writeln!(out, "{header}").expect("room");
    (0..rows).for_each(|i| writeln!(out, "{}", row(i)).expect("room"));
}

#[test]
fn at_most_twice_the_records() {
    // `ROWS=10000000 cargo test -p bosket-io --test tables_memory -- --nocapture` for the full size.
    let rows: u64 = std::env::var("ROWS").ok().and_then(|r| r.parse().ok()).unwrap_or(2_000_000);
    let dir = TempDir::new().expect("a folder");
    let (customers, orders) = (rows / 10, rows / 4);
    let lines = rows - customers - orders;
    write(&dir, "customer.csv", "id,town", customers, |i| format!("C{i:09},town {}", i % 500));
    write(&dir, "orders.csv", "id,customer,day,total", orders, |i| {
        format!("{i},C{:09},{},{}", i * 7919 % customers, i % 365, i % 997)
    });
    write(&dir, "line.csv", "order,article,amount,price", lines, |i| {
        format!("{},article {},{},{}", i * 104_729 % orders, i % 1657, i % 9, i % 4999)
    });
    let policy = policy(dir.path(), SALES);
    let before = memory("VmRSS");
    let (data, _) = read_input(&policy).expect("tables");
    assert_eq!(data.vertex_count() as u64, rows);
    let (peak, after) = (memory("VmHWM") - before, memory("VmRSS") - before);
    eprintln!("{rows} rows: records take {} MB, at most {} MB were used", after >> 20, peak >> 20);
    // The smallest sizes are hidden by what a process needs anyway.
    assert!(peak <= 2 * after + (8 << 20), "{peak} bytes for {after}");
    drop(data);
}
