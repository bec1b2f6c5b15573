//! Whoever stops waiting is not kept waiting: every stage that reads or writes ends soon, as interrupted, and leaves
//! nothing behind.

use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bosket_io::tables::{Tables, Writing};
use bosket_io::{
    Create, Input, Layout, Loaded, Output, Publication, SourceForm, by_name, convert, fingerprint,
};
use bosket_model::observe::{Observer, Quiet};
use bosket_model::{Builder, ClassId, Dataset, Fault, Kind, Result};
use bosket_testkit::server::Server;
use tempfile::TempDir;

use crate::tables_common::{attribute, policy, read_input};

/// How long the result is waited for.
const PATIENCE: Duration = Duration::from_millis(50);

/// How late the work may end then. Asked is every 200 ms at least; the machine may be busy.
const LATE: Duration = Duration::from_millis(1000);

/// Somebody who loses patience, and counts how often they are asked.
struct Impatient {
    since: Instant,
    patience: Duration,
    asked: AtomicU64,
}

impl Impatient {
    fn after(patience: Duration) -> Self {
        Impatient { since: Instant::now(), patience, asked: AtomicU64::new(0) }
    }
}

impl Observer for Impatient {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.since.elapsed() >= self.patience
    }
}

#[track_caller]
fn interrupted<T>(what: &str, work: impl FnOnce(&Impatient) -> Result<T>) {
    interrupted_after(PATIENCE, what, work);
}

#[track_caller]
fn interrupted_after<T>(patience: Duration, what: &str, work: impl FnOnce(&Impatient) -> Result<T>) {
    let impatient = Impatient::after(patience);
    let failure = work(&impatient).map(|_| ()).expect_err(what);
    assert_eq!(failure.fault, Fault::Interrupted, "{what}: {failure}");
    let took = impatient.since.elapsed();
    assert!(took < PATIENCE + LATE, "{what} took {took:?}");
}

#[track_caller]
fn nothing_in(folder: &Path, but: &[&str]) {
    let names = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").file_name());
    let left: Vec<_> = names.filter(|n| !but.iter().any(|b| *n == **b)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A text that never ends.
struct Endless {
    head: Cursor<String>,
    unit: Vec<u8>,
    at: usize,
}

impl Endless {
    fn new(head: &str, unit: &str) -> Self {
        Endless { head: Cursor::new(head.to_owned()), unit: unit.repeat(1000).into_bytes(), at: 0 }
    }
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let head = self.head.read(buffer)?;
        if head > 0 {
            return Ok(head);
        }
        let read = buffer.len().min(self.unit.len() - self.at);
        buffer[..read].copy_from_slice(&self.unit[self.at..self.at + read]);
        self.at = (self.at + read) % self.unit.len();
        Ok(read)
    }
}

fn read_as(format: &str, input: Input, record: Option<&str>, observer: &dyn Observer) -> Result<Loaded> {
    let layout = Layout { record: record.map(str::to_owned), ..Layout::default() };
    bosket_io::read_observed(input, Some(format), &layout, observer)
}

const BUNDLE: &str =
    r#"{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Patient","gender":"female"}}]}"#;

#[test]
fn reading_a_document_that_never_ends() {
    for (format, record, head, unit) in [
        ("ndjson", None, "", "{\"age\":20,\"visits\":[{\"year\":2020}]}\n"),
        ("xml", Some("db/p"), "<db>", "<p><age>20</age><visit>a</visit><visit>b</visit></p>"),
        ("csv", None, "age,town\n", "20,Rome\n"),
        // One row, and one line: whoever asks between them never asks.
        ("csv", None, "age,town\n20,\"", "Rome\n"),
        ("ndjson", None, "{\"a\":\"", "on and on "),
        ("transactions", None, "", "a b c\n"),
        ("json", None, "[", "{\"age\":20},"),
        ("fhir-r4", None, "", &format!("{BUNDLE}\n")),
    ] {
        interrupted(format, |observer| {
            let input = Input::new("endless", Endless::new(head, unit), None)?;
            read_as(format, input, record, observer)
        });
    }
}

#[test]
fn reading_documents_that_are_in_memory_already() {
    let json = format!("[{}{{}}]", "{\"age\":20,\"visits\":[{\"year\":2020}]},".repeat(1 << 20));
    let fhir = format!("\n{{\n{}", BUNDLE[1..].to_owned() + "\n") + &format!("{BUNDLE}\n").repeat(1 << 18);
    for (format, text) in [("json", json), ("fhir-r4", fhir)] {
        let input = Input::new("large", Cursor::new(text.into_bytes()), None).expect("a text");
        interrupted(format, |observer| read_as(format, input, None, observer));
    }
}

#[test]
fn decompressing() {
    let dir = TempDir::new().expect("a folder");
    let text = "{\"age\":20,\"town\":\"Rome\"}\n".repeat(1 << 14);
    for name in ["large.ndjson.gz", "large.ndjson.zst"] {
        let path = dir.path().join(name);
        let mut out = Output::create(&path, Create::default()).expect("writable");
        for _ in 0..128 {
            out.write_all(text.as_bytes()).expect("room");
        }
        out.finish().expect("writable");
        interrupted(name, |observer| read_as("ndjson", Input::open(&path)?, None, observer));
    }
}

/// People with visits, enough to be busy with for a while.
fn people() -> &'static Dataset {
    static PEOPLE: OnceLock<Dataset> = OnceLock::new();
    PEOPLE.get_or_init(|| {
        let mut b = Builder::new();
        let key = |name: &str| vec![name.to_owned()];
        let id = b.attribute(ClassId::ROOT, &key("id"));
        let age = b.attribute(ClassId::ROOT, &key("age"));
        let visits = b.class(ClassId::ROOT, &key("visits"));
        let year = b.attribute(visits, &key("year"));
        for person in 0..400_000u32 {
            b.begin_record();
            b.set(id, Kind::Number, &person.to_string());
            b.set(age, Kind::Number, &(person % 91).to_string());
            for visit in 0..3 {
                b.open(visits);
                b.set(year, Kind::Number, &(2000 + (person + visit) % 20).to_string());
                b.close();
            }
            b.end_record().expect("nothing twice");
        }
        b.finish()
    })
}

/// The same without visits.
fn flat() -> &'static Dataset {
    static FLAT: OnceLock<Dataset> = OnceLock::new();
    FLAT.get_or_init(|| {
        let mut b = Builder::new();
        let columns: Vec<_> =
            ["id", "age", "town"].iter().map(|n| b.attribute(ClassId::ROOT, &[(*n).to_owned()])).collect();
        for person in 0..600_000u32 {
            b.begin_record();
            b.set(columns[0], Kind::Text, &person.to_string());
            b.set(columns[1], Kind::Text, &(person % 91).to_string());
            b.set(columns[2], Kind::Text, &format!("town {}", person % 1009));
            b.end_record().expect("nothing twice");
        }
        b.finish()
    })
}

fn sets() -> Dataset {
    let text: String = (0..300_000u32).map(|i| format!("i{} i{} i{}\n", i % 977, i % 1009, i % 13)).collect();
    let input = Input::new("sets", Cursor::new(text.into_bytes()), None).expect("a text");
    read_as("transactions", input, None, &Quiet).expect("readable").data
}

fn bundles() -> Loaded {
    let patient = |i: u32| BUNDLE.replace("\"gender\"", &format!("\"id\":\"p{i}\",\"gender\""));
    let text: String = (0..60_000).map(|i| patient(i) + "\n").collect();
    let input = Input::new("bundles", Cursor::new(text.into_bytes()), None).expect("a text");
    read_as("fhir-r4", input, None, &Quiet).expect("readable")
}

#[test]
fn writing_documents() {
    let bundles = bundles();
    let sets = sets();
    let record = Layout { record: Some("db/p".to_owned()), ..Layout::default() };
    let plain = Layout::default();
    for (format, name, data, layout) in [
        ("ndjson", "out.ndjson", people(), &plain),
        ("ndjson", "out.ndjson.zst", people(), &plain),
        ("json", "out.json.gz", people(), &plain),
        ("xml", "out.xml", people(), &record),
        ("csv", "out.csv", flat(), &plain),
        ("parquet", "out.parquet", people(), &plain),
        ("transactions", "out.txt", &sets, &plain),
        ("fhir-r4", "out.ndjson", &bundles.data, &bundles.layout),
    ] {
        let dir = TempDir::new().expect("a folder");
        let source = format!("version = 1\n[source]\nformat = {format:?}\npath = \"in\"\n");
        let source = if format == "xml" { format!("{source}record = \"db/p\"\n") } else { source };
        let known = if format == "transactions" { "item" } else { "age" };
        let text = format!("{source}[publish]\npath = {name:?}\n{}", attribute(known, "quasi"));
        let file = policy(dir.path(), &text);
        let form = SourceForm::Document {
            format: by_name(format).expect("known"),
            layout: Box::new(layout.clone()),
        };
        // A fast machine is done with what fits a test before anybody's patience ends.
        interrupted_after(Duration::ZERO, name, |observer| {
            let mut publication = Publication::begin(&file, &form, Create::default())?;
            publication.write(data, observer)
        });
        nothing_in(dir.path(), &[]);
        // Nobody is kept waiting between two records.
        let patient = Impatient::after(Duration::MAX);
        by_name(format).expect("known").write(data, layout, &mut io::sink(), &patient).expect("written");
        assert!(patient.asked.load(Ordering::Relaxed) >= 2 * data.len() as u64, "{name}");
    }
}

#[test]
fn reading_again_and_fingerprinting() {
    let dir = TempDir::new().expect("a folder");
    let source =
        "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in\"\n[publish]\npath = \"out.ndjson\"\n";
    let file = policy(dir.path(), &format!("{source}{}", attribute("age", "quasi")));
    let form = SourceForm::Document { format: by_name("ndjson").expect("known"), layout: Box::default() };
    let mut publication = Publication::begin(&file, &form, Create::default()).expect("room");
    publication.write(people(), &Quiet).expect("written");
    interrupted("reading again", |observer| publication.read_again(observer));
    let impatient = Impatient::after(Duration::ZERO);
    let certify: bosket_io::Certify<'_> = Some(Box::new(|_| -> Result<Output> { panic!("nobody waits") }));
    let failure = publication.finish_certified(Vec::new(), certify, &impatient).expect_err("nobody waits");
    assert_eq!(failure.fault, Fault::Interrupted);
    nothing_in(dir.path(), &[]);
    let large = dir.path().join("large");
    fs::write(&large, vec![0; 1 << 20]).expect("a file");
    let failure = fingerprint::of_file(&large, &Impatient::after(Duration::ZERO)).expect_err("nobody waits");
    assert_eq!(failure.fault, Fault::Interrupted);
}

#[test]
fn reading_parquet() {
    let dir = TempDir::new().expect("a folder");
    let path = dir.path().join("large.parquet");
    let mut out = Output::create(&path, Create::default()).expect("writable");
    let parquet = by_name("parquet").expect("known");
    parquet.write(flat(), &Layout::default(), &mut out, &Quiet).expect("writable");
    out.finish().expect("writable");
    interrupted("a document", |observer| read_as("parquet", Input::open(&path)?, None, observer));
    let file = policy(dir.path(), &linked("parquet", "path = \"large.parquet\"\n", ""));
    interrupted("a table", |observer| Tables::input(&file)?.read(observer));
}

/// A policy for one table of people.
fn linked(format: &str, table: &str, source: &str) -> String {
    let source = format!("version = 1\n[source]\nformat = {format:?}\n{source}");
    let table = format!("[[source.table]]\nname = \"people\"\n{table}key = \"id\"\n");
    let publish = match format {
        "postgres" => {
            format!("[publish]\n{source_url}schema = \"published\"\n", source_url = url_of(&source))
        }
        "sqlite" => "[publish]\npath = \"out.db\"\n".to_owned(),
        _ => "[publish]\npath = \"out\"\n".to_owned(),
    };
    let attributes = attribute("people.age", "quasi") + &attribute("people.town", "quasi");
    format!("{source}{table}{publish}{attributes}")
}

fn url_of(source: &str) -> String {
    source.lines().find(|l| l.starts_with("url")).map(|l| format!("{l}\n")).unwrap_or_default()
}

#[test]
fn reading_and_writing_tables_in_csv_and_parquet() {
    for format in ["csv", "parquet"] {
        let dir = TempDir::new().expect("a folder");
        let name = format!("people.{format}");
        let mut out = Output::create(&dir.path().join(&name), Create::default()).expect("writable");
        let own = by_name(format).expect("known");
        own.write(flat(), &Layout::default(), &mut out, &Quiet).expect("writable");
        out.finish().expect("writable");
        let file = policy(dir.path(), &linked(format, &format!("path = {name:?}\n"), ""));
        interrupted(format, |observer| Tables::input(&file)?.read(observer));
        let (data, form) = read_input(&file).expect("readable");
        interrupted(format, |observer| {
            let mut writing = Writing::begin(&file, &form, Create::default())?;
            writing.write(&data, observer)
        });
        nothing_in(dir.path(), &[name.as_str()]);
    }
}

#[test]
fn reading_and_writing_sqlite() {
    let dir = TempDir::new().expect("a folder");
    let tables = "CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, town TEXT);
        INSERT INTO people WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
        SELECT i, i % 90, 'town ' || (i % 1000) FROM n;";
    // A question that the database never finishes answering.
    let endless = "CREATE VIEW people AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT i AS id, i % 90 AS age, '' AS town FROM n;";
    for (name, sql) in [("large.db", tables), ("endless.db", endless)] {
        let new = bosket_io::tables::NewDatabase::create(&dir.path().join(name), Create::default(), sql);
        new.and_then(|database| database.finish(Vec::new())).expect("writable");
        let file = policy(dir.path(), &linked("sqlite", "", &format!("path = {name:?}\n")));
        interrupted(name, |observer| Tables::input(&file)?.read(observer));
        if name == "large.db" {
            let (data, form) = read_input(&file).expect("readable");
            interrupted("writing", |observer| {
                let mut writing = Writing::begin(&file, &form, Create::default())?;
                writing.write(&data, observer)
            });
        }
    }
    let endless = dir.path().join("endless.db");
    interrupted("looking", |observer| bosket_io::tables::catalogue(&endless, None, None, observer));
    nothing_in(dir.path(), &["large.db", "endless.db"]);
}

#[test]
fn reading_and_writing_postgres() {
    let Some(server) = Server::start("trust") else { return };
    server.sql("postgres", "CREATE DATABASE clinic");
    server.sql(
        "clinic",
        "CREATE TABLE people AS SELECT i AS id, i % 90 AS age, 'town ' || (i % 1000) AS town \
         FROM generate_series(1, 300000) i",
    );
    let url = format!("url = {:?}\n", server.url("clinic"));
    let file = policy(Path::new(""), &linked("postgres", "", &url));
    interrupted("reading", |observer| Tables::input(&file)?.read(observer));
    let (data, form) = read_input(&file).expect("readable");
    interrupted("writing", |observer| {
        let mut writing = Writing::begin(&file, &form, Create::default())?;
        writing.write(&data, observer)
    });
    assert_eq!(server.sql("clinic", "SELECT to_regclass('published.people') IS NULL"), ["t"]);
    // The server itself is busy, and would be for long.
    server.sql(
        "clinic",
        "ALTER TABLE people RENAME TO others; \
         CREATE VIEW people AS SELECT id, age, town, pg_sleep(60)::text AS asleep FROM others",
    );
    let asleep = linked("postgres", "", &url) + &attribute("people.asleep", "insensitive");
    let file = policy(Path::new(""), &asleep);
    interrupted("waiting", |observer| Tables::input(&file)?.read(observer));
    interrupted("fingerprinting", |observer| {
        fingerprint::of_database(&server.url("clinic"), "public", &["people"], observer)
    });
}

#[test]
fn converting() {
    let dir = TempDir::new().expect("a folder");
    let json = by_name("json").expect("known");
    let path = dir.path().join("out.json");
    let (people, flat) = (people(), flat());
    interrupted("a document", |observer| {
        convert::document(people, Layout::default(), (&path, json), &[], Create::default(), observer)
    });
    for (format, name) in [
        (bosket_model::policy::Format::Csv, "out"),
        (bosket_model::policy::Format::Parquet, "out"),
        (bosket_model::policy::Format::Sqlite, "out.db"),
    ] {
        let path = dir.path().join(name);
        let to = bosket_io::tables::Destination { format, path: &path, schema: "", separator: b',' };
        interrupted(format.name(), |observer| {
            convert::table(flat, "people", &to, &[], Create::default(), observer)
        });
    }
    nothing_in(dir.path(), &[]);
}
