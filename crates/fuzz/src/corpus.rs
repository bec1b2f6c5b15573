//! The corpus: small files per target, from which all other bytes are made.
//!
//! No databases lie in the repository: a `.sql` file of `sqlite` and an `.ndjson` file of `parquet` say what to put into
//! one. Files of families hold a seed, or any bytes to make one of.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use bosket_io::{Input, Layout, by_name, read};
use bosket_model::observe::Quiet;
use rusqlite::Connection;
use tempfile::TempDir;

/// The files of a target with their names, in the order of these.
pub fn files(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    (paths.into_iter())
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let bytes = match (target, path.extension().and_then(|e| e.to_str())) {
                ("sqlite", Some("sql")) => database(&bytes),
                ("parquet", Some("ndjson")) => columns(bytes),
                _ => bytes,
            };
            (name, bytes)
        })
        .collect()
}

/// The same without their names.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    files(target).into_iter().map(|(_, bytes)| bytes).collect()
}

fn database(sql: &[u8]) -> Vec<u8> {
    let folder = TempDir::new().expect("a folder");
    let place = folder.path().join("db");
    let db = Connection::open(&place).expect("a database");
    // Small pages, so that a change meets something.
    db.execute_batch("PRAGMA page_size = 512").expect("an empty database");
    db.execute_batch(std::str::from_utf8(sql).expect("UTF-8")).expect("good SQL");
    db.close().expect("nothing under way");
    std::fs::read(place).expect("a file")
}

fn columns(records: Vec<u8>) -> Vec<u8> {
    let input = Input::new("seed", Cursor::new(records), None).expect("a text");
    let data = read(input, Some("ndjson"), &Layout::default()).expect("good records").data;
    let mut out = Vec::new();
    let parquet = by_name("parquet").expect("known");
    parquet.write(&data, &Layout::default(), &mut out, &Quiet).expect("writable");
    out
}
