//! A build without a format recognises what it cannot read, and says how to get one that can. Of the usual builds, which
//! have all formats, nothing is asked here; see `.ci/run`.
#![cfg(not(any(feature = "parquet", feature = "postgres", feature = "sqlite")))]

use std::fs;
use std::path::Path;

use bosket_io::convert::To;
use bosket_io::tables::{self, Tables, catalogue};
use bosket_io::{Create, Input, Layout, PolicyFile, convert, read};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Format, Policy};
use bosket_model::{Builder, ClassId, Dataset, Failure, Fault, Kind, Result};
use tempfile::TempDir;

#[track_caller]
fn refused<T>(result: Result<T>, format: &str, feature: &str) {
    let failure: Failure = result.map(|_| ()).expect_err("it cannot be read");
    assert_eq!(failure.fault, Fault::Environment);
    let [diagnostic] = failure.diagnostics.as_slice() else { panic!("{failure}") };
    assert_eq!(diagnostic.message, format!("this build of bosket reads no {format}"));
    assert_eq!(diagnostic.help.as_deref(), Some(format!("build it with --features {feature}").as_str()));
}

fn one_record() -> Dataset {
    let mut b = Builder::new();
    let age = b.attribute(ClassId::ROOT, &["age".to_owned()]);
    b.begin_record();
    b.set(age, Kind::Number, "20");
    b.end_record().expect("nothing twice");
    b.finish()
}

fn linked(folder: &Path, source: &str) -> PolicyFile {
    let table = "[[source.table]]\nname = \"people\"\npath = \"people.parquet\"\nkey = \"id\"\n";
    let table = if source.contains("parquet") {
        table.to_owned()
    } else {
        table.replace("path = \"people.parquet\"\n", "")
    };
    let attribute = "[[attribute]]\npath = \"people.age\"\nrole = \"quasi\"\n";
    let text = format!("version = 1\n[source]\n{source}{table}{attribute}");
    let (policy, warnings) = Policy::parse("policy.toml", &text, &[]).unwrap_or_else(|e| panic!("{e:?}"));
    PolicyFile { policy, folder: folder.to_owned(), warnings, frames: None }
}

fn nothing_but(folder: &Path, names: &[&str]) {
    let found = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").file_name());
    assert_eq!(found.filter(|n| !names.iter().any(|m| *n == **m)).count(), 0);
}

#[test]
fn parquet_is_refused_by_name_ending_and_content() {
    let dir = TempDir::new().expect("a folder");
    let path = dir.path().join("people.parquet");
    fs::write(&path, "PAR1 and more").expect("a file");
    let plain = dir.path().join("unnamed");
    fs::copy(&path, &plain).expect("a file");
    for (path, format) in [(&path, None), (&plain, None), (&plain, Some("parquet"))] {
        let read = Input::open(path).and_then(|input| read(input, format, &Layout::default()));
        refused(read, "Parquet", "parquet");
    }
    refused(catalogue(dir.path(), None, None, &Quiet), "Parquet", "parquet");
    let file = linked(dir.path(), "format = \"parquet\"\n");
    refused(Tables::input(&file).and_then(|t| t.read(&Quiet)), "Parquet", "parquet");
    let out = dir.path().join("out.parquet");
    let To::Document { format, .. } = To::new(&out, None, false).expect("a format") else {
        panic!("one document")
    };
    let written =
        convert::document(&one_record(), Layout::default(), (&out, format), &[], Create::default(), &Quiet);
    refused(written, "Parquet", "parquet");
    nothing_but(dir.path(), &["people.parquet", "unnamed"]);
}

#[test]
fn databases_are_refused_by_address_and_content() {
    let dir = TempDir::new().expect("a folder");
    let path = dir.path().join("people");
    fs::write(&path, "SQLite format 3\0 and more").expect("a file");
    refused(catalogue(&path, None, None, &Quiet), "SQLite", "sqlite");
    let file = linked(dir.path(), "format = \"sqlite\"\npath = \"people\"\n");
    refused(Tables::input(&file).and_then(|t| t.read(&Quiet)), "SQLite", "sqlite");
    let url = "postgres://ann@localhost/clinic";
    refused(catalogue(Path::new(url), None, None, &Quiet), "PostgreSQL", "postgres");
    let file = linked(dir.path(), &format!("format = \"postgres\"\nurl = \"{url}\"\n"));
    refused(Tables::input(&file).and_then(|t| t.read(&Quiet)), "PostgreSQL", "postgres");
    for (format, at, names) in [
        (Format::Sqlite, dir.path().join("out.db"), ("SQLite", "sqlite")),
        (Format::Postgres, Path::new(url).to_owned(), ("PostgreSQL", "postgres")),
        (Format::Parquet, dir.path().join("out"), ("Parquet", "parquet")),
    ] {
        let to = tables::Destination { format, path: &at, schema: "public", separator: b',' };
        let written = convert::table(&one_record(), "people", &to, &[], Create::default(), &Quiet);
        refused(written, names.0, names.1);
    }
    nothing_but(dir.path(), &["people"]);
}
