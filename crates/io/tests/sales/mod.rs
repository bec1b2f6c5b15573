//! Sales in three linked tables of any size, and the memory that reading them takes. For tests alone in their process,
//! since they look at the process's memory.
#![allow(dead_code)] // each test binary uses its own part

pub(crate) mod columns;

use std::fs;
use std::path::Path;
use std::process::Command;

use bosket_model::{Dataset, Result};
use tempfile::TempDir;

/// `ROWS=10000000 cargo test -p bosket-io --test tables_memory -- --nocapture` for the full size.
pub(crate) fn rows() -> u64 {
    std::env::var("ROWS").ok().and_then(|r| r.parse().ok()).unwrap_or(2_000_000)
}

/// Has a process of its own make the data, so that nothing of what that takes is left in this one. None in that process.
pub(crate) fn apart(test: &str, make: impl FnOnce(&Path)) -> Option<TempDir> {
    if let Ok(folder) = std::env::var("SALES_FOLDER") {
        make(Path::new(&folder));
        return None;
    }
    let dir = TempDir::new().expect("a folder");
    let this = std::env::current_exe().expect("a program");
    let made = Command::new(this).args([test, "--exact"]).env("SALES_FOLDER", dir.path()).output();
    assert!(made.expect("it runs").status.success(), "the data could not be made");
    Some(dir)
}

/// The tables: name, columns, and how many rows they have of all.
pub(crate) const TABLES: [(&str, &[&str]); 3] = [
    ("customer", &["id", "town"]),
    ("orders", &["id", "customer", "day", "total"]),
    ("line", &["order", "article", "amount", "price"]),
];

/// Rows per table.
pub(crate) fn counts(rows: u64) -> [u64; 3] {
    let (customers, orders) = (rows / 10, rows / 4);
    [customers, orders, rows - customers - orders]
}

/// The cells of a row, into as many texts.
pub(crate) fn row(table: usize, i: u64, counts: [u64; 3], cells: &mut Vec<String>) {
    cells.clear();
    match table {
        0 => cells.extend([format!("C{i:09}"), format!("town {}", i % 500)]),
        1 => cells.extend([
            i.to_string(),
            format!("C{:09}", i * 7919 % counts[0]),
            (i % 365).to_string(),
            (i % 997).to_string(),
        ]),
        _ => cells.extend([
            (i * 104_729 % counts[1]).to_string(),
            format!("article {}", i % 1657),
            (i % 9).to_string(),
            (i % 4999).to_string(),
        ]),
    }
}

/// A policy for them; `path` says where each table is.
pub(crate) fn policy(source: &str, path: impl Fn(&str) -> String) -> String {
    let mut text = format!("version = 1\n[source]\n{source}\n");
    let links = [
        "key = \"id\"",
        "key = \"id\"\nparent = \"customer\"\nforeign_key = \"customer\"",
        "parent = \"orders\"\nforeign_key = \"order\"",
    ];
    for ((name, _), link) in TABLES.iter().zip(links) {
        text += &format!("[[source.table]]\nname = \"{name}\"\n{}{link}\n", path(name));
    }
    for (path, role) in [
        ("customer.town", "quasi"),
        ("orders.day", "quasi"),
        ("orders.total", "sensitive"),
        ("line.article", "quasi"),
        ("line.amount", "quasi"),
        ("line.price", "sensitive"),
    ] {
        text += &format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n");
    }
    text
}

/// Bytes of memory by the name that Linux gives them.
pub(crate) fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|l| l.starts_with(name)).expect("a line");
    let kilobytes = line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok());
    kilobytes.expect("a number") * 1024
}

/// Seconds that this thread has run: others may use the machine too.
fn cpu() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// Reads, and checks that never more than twice of what the records take was used.
pub(crate) fn at_most_twice(what: &str, read: impl FnOnce() -> Result<Dataset>) {
    let before = memory("VmRSS");
    let begun = cpu();
    let data = read().unwrap_or_else(|e| panic!("{e}"));
    let time = cpu() - begun;
    assert_eq!(data.vertex_count() as u64, rows());
    let (peak, after) = (memory("VmHWM") - before, memory("VmRSS") - before);
    eprintln!(
        "{} rows of {what}: records take {} MB, at most {} MB were used; {time:.1} s of this thread",
        rows(),
        after >> 20,
        peak >> 20
    );
    // The smallest sizes are hidden by what a process needs anyway.
    assert!(peak <= 2 * after + (16 << 20), "{peak} bytes for {after}");
    drop(data);
}
