//! Linked tables in chunks: the same publication as with all rows in memory, whatever the tables are kept in.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::verify::VerifyRequest;
use bosket_app::{PolicyAt, Settings, anonymize, verify};
use bosket_io::Create;
use bosket_io::tables::NewDatabase;
use bosket_model::observe::Quiet;
use bosket_model::{Fault, Result};
use bosket_testkit::dice::Dice;
use bosket_testkit::server::Server;
use tempfile::TempDir;

use crate::chunked_columns::columns;
use crate::util::Impatient;

/// Patients with visits by a key of two columns, and drugs below these that are looked up. A visit names its patient once
/// more, and an owner who is somebody else's.
const TABLES: &str = "CREATE TABLE patient (id INTEGER, sex TEXT, born INTEGER);\n\
    CREATE TABLE visit (patient INTEGER, no INTEGER, ward TEXT, cost INTEGER, again INTEGER, owner INTEGER);\n\
    CREATE TABLE drug (patient INTEGER, visit INTEGER, article INTEGER);\n\
    CREATE TABLE article (id INTEGER, name TEXT);\n";

const POLICY: &str = r#"version = 1
[[source.table]]
name = "patient"
key = "id"
[[source.table]]
name = "visit"
key = ["patient", "no"]
parent = "patient"
foreign_key = "patient"
[[source.table]]
name = "drug"
parent = "visit"
foreign_key = ["patient", "visit"]
[[source.lookup]]
name = "article"
key = "id"
column = "drug.article"
value = "name"
[[attribute]]
path = "patient.sex"
role = "quasi"
hierarchy = { build = "fanout", fanout = 2 }
[[attribute]]
path = "patient.born"
role = "quasi"
hierarchy = { build = "fanout", fanout = 2 }
[[attribute]]
path = "visit.ward"
role = "quasi"
hierarchy = { build = "fanout", fanout = 3 }
[[attribute]]
path = "visit.cost"
role = "sensitive"
[[attribute]]
path = "visit.again"
role = "key"
[[attribute]]
path = "visit.owner"
role = "key"
[[attribute]]
path = "drug.name"
role = "quasi"
hierarchy = { build = "fanout", fanout = 3 }
[privacy]
model = "kmn"
k = 6
m = 2
n = 1
root = "chain"
[method]
algorithm = "gcs"
cost = "lm"
"#;

const ARTICLES: [&str; 7] = ["salt", "iron", "zinc", "lime", "mint", "sage", "dill"];

/// Rows per table, those of one person far apart.
fn rows(people: usize) -> Vec<(&'static str, Vec<String>)> {
    let mut dice = Dice::new(11);
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for (i, name) in ARTICLES.iter().enumerate() {
        rows.push(("article", vec![i.to_string(), (*name).to_owned()]));
    }
    for person in 0..people {
        let key = (person * 7919 % 100_003).to_string();
        let (sex, born) = (["f", "m"][dice.below(2)], 1940 + dice.below(6) * 10);
        rows.push(("patient", vec![key.clone(), sex.to_owned(), born.to_string()]));
        for visit in 0..dice.below(4) {
            let visit = visit.to_string();
            let ward = ["a", "b", "c", "d"][dice.below(4).min(dice.below(4))].to_owned();
            let (cost, owner) = (dice.below(5).to_string(), dice.below(9).to_string());
            rows.push(("visit", vec![key.clone(), visit.clone(), ward, cost, key.clone(), owner]));
            for _ in 0..dice.below(3) {
                let article = dice.below(ARTICLES.len()).min(dice.below(ARTICLES.len())).to_string();
                rows.push(("drug", vec![key.clone(), visit.clone(), article]));
            }
        }
    }
    for at in (1..rows.len()).rev() {
        rows.swap(at, dice.below(at + 1));
    }
    rows
}

fn sqlite(people: usize) -> (TempDir, String) {
    let folder = TempDir::new().expect("a folder");
    let place = folder.path().join("data.db");
    let mut database = NewDatabase::create(&place, Create::default(), TABLES).expect("a database");
    for (table, cells) in rows(people) {
        let marks = vec!["?"; cells.len()].join(",");
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        database.insert(&format!("INSERT INTO {table} VALUES ({marks})"), &cells).expect("a row");
    }
    database.finish(Vec::new()).expect("written");
    (folder, format!("[source]\nformat = \"sqlite\"\npath = \"data.db\"\n{POLICY}[publish]\n"))
}

/// The same tables in columns, most of them of numbers; none in a build that has no columns.
fn parquet(people: usize) -> Option<(TempDir, String)> {
    let (folder, policy) = csv(people);
    let tables = ["patient", "visit", "drug", "article"];
    in_columns(folder.path(), &tables)
        .then(|| (folder, policy.replace("\"csv\"", "\"parquet\"").replace(".csv\"", ".parquet\"")))
}

/// Makes columns of tables with commas, and numbers of cells that are; false in a build that has no columns.
pub(crate) fn in_columns(folder: &Path, tables: &[&str]) -> bool {
    tables.iter().all(|table| {
        let from = folder.join(format!("{table}.csv"));
        let rows = std::fs::read_to_string(&from).expect("rows");
        let mut rows = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = rows.next().expect("a header");
        let mut text = String::new();
        for row in rows {
            let cell = |(name, cell): (&&str, &&str)| match cell.parse::<i64>() {
                Ok(number) => format!("\"{name}\":{number}"),
                Err(_) => format!("\"{name}\":\"{cell}\""),
            };
            let cells: Vec<String> = names.iter().zip(&row).map(cell).collect();
            text += &format!("{{{}}}\n", cells.join(","));
        }
        let lines = folder.join("rows.ndjson");
        std::fs::write(&lines, text).expect("written");
        let made = columns(&lines, &folder.join(format!("{table}.parquet")));
        std::fs::remove_file(lines).expect("there");
        std::fs::remove_file(from).expect("there");
        made
    })
}

/// The same tables as files.
fn csv(people: usize) -> (TempDir, String) {
    let folder = TempDir::new().expect("a folder");
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for table in TABLES.lines() {
        let (name, columns) = table["CREATE TABLE ".len()..].split_once(" (").expect("columns");
        let columns: Vec<&str> = columns.split(", ").filter_map(|c| c.split(' ').next()).collect();
        texts.insert(name, columns.join(",") + "\n");
    }
    for (table, cells) in rows(people) {
        *texts.get_mut(table).expect("a table") += &(cells.join(",") + "\n");
    }
    let mut policy = format!("[source]\nformat = \"csv\"\n{POLICY}[publish]\n");
    for (name, text) in texts {
        std::fs::write(folder.path().join(format!("{name}.csv")), text).expect("written");
        let named = format!("]]\nname = \"{name}\"\n");
        policy = policy.replace(&named, &format!("{named}path = \"{name}.csv\"\n"));
    }
    (folder, policy)
}

fn request(folder: &Path, text: &str, sets: &[&str], chunk: Option<usize>) -> AnonymizeRequest {
    let text = text.replacen("version = 1\n", "", 1);
    AnonymizeRequest {
        policy: PolicyAt {
            path: folder.join("p.toml"),
            text: Some(format!("version = 1\n{text}")),
            sets: sets.iter().map(ToString::to_string).collect(),
            ..PolicyAt::default()
        },
        settings: Settings { chunk: chunk.and_then(NonZeroUsize::new), ..Settings::default() },
        ..AnonymizeRequest::default()
    }
}

fn holds(folder: &Path, text: &str, sets: &[&str], at: &Path, chunk: Option<usize>) -> bool {
    let AnonymizeRequest { policy, settings, .. } = request(folder, text, sets, chunk);
    let publication = at.to_owned();
    let request = VerifyRequest { publication, policy: Some(policy), settings, ..VerifyRequest::default() };
    verify(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value.holds()
}

/// The names and bytes of what was published, but for certificates.
fn contents(at: &Path) -> Vec<(String, Vec<u8>)> {
    if at.is_file() {
        return vec![(String::new(), std::fs::read(at).expect("a file"))];
    }
    let files = std::fs::read_dir(at).expect("a folder").map(|entry| entry.expect("an entry").path());
    let tables = files.filter(|path| path.extension().is_some_and(|e| e == "csv" || e == "parquet"));
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut all: Vec<_> = tables.map(|path| (name(&path), std::fs::read(&path).expect("a file"))).collect();
    all.sort();
    all
}

/// Publishes at once and in chunks, and compares the bytes.
fn same((folder, text): &(TempDir, String), sets: &[&str], suffix: &str) {
    let publish = |out: &str, chunk| -> Result<Vec<String>> {
        let path = format!("publish.path={out}");
        let sets: Vec<&str> = sets.iter().copied().chain([path.as_str()]).collect();
        let warned = anonymize(&request(folder.path(), text, &sets, chunk), &Quiet)?;
        Ok(warned.warnings.iter().map(|w| w.message.clone()).collect())
    };
    let whole = format!("whole{suffix}");
    let told = publish(&whole, None).unwrap_or_else(|failure| panic!("{failure}"));
    for (i, chunk) in [37, 500].into_iter().enumerate() {
        let out = format!("chunk{i}{suffix}");
        let warnings = publish(&out, Some(chunk)).unwrap_or_else(|failure| panic!("{failure}"));
        let places = [&out, &whole].map(|name| folder.path().join(name));
        assert!(contents(&places[0]) == contents(&places[1]), "{sets:?}: chunks of {chunk} differ");
        let about = |all: &[String]| all.iter().filter(|w| w.contains("visit.")).cloned().collect::<Vec<_>>();
        assert_eq!(about(&warnings), about(&told));
        for size in [None, Some(53)] {
            assert!(holds(folder.path(), text, sets, &places[0], size), "{sets:?} {size:?}");
        }
    }
}

const KM: [&str; 3] = ["privacy.model=km", "method.algorithm=aa", "privacy.m=2"];

/// Sets of drugs: whatever else there is says nothing.
fn baskets(text: &str) -> String {
    let (before, after) = text.split_once("[privacy]").expect("a policy");
    let drop = |part: &str| {
        let sets = part.starts_with("\npath = \"drug.name\"") || part.contains("role = \"key\"");
        if sets {
            part.to_owned()
        } else {
            format!("\n{}\nrole = \"drop\"\n", part.lines().nth(1).expect("a path"))
        }
    };
    let mut parts = before.split("[[attribute]]");
    let mut text = parts.next().expect("a source").to_owned();
    for part in parts {
        text += "[[attribute]]";
        text += &drop(part);
    }
    let after = &after[after.find("[publish]").expect("a publication")..];
    format!("{text}[privacy]\nk = 6\n{after}")
}

#[test]
fn a_database_is_published_alike_in_chunks() {
    let data = sqlite(600);
    same(&data, &[], ".db");
    let data = (data.0, baskets(&data.1));
    same(&data, &KM, "km.db");
}

#[test]
fn files_are_published_alike_in_chunks() {
    let data = csv(600);
    same(&data, &[], "");
    same(&data, &["privacy.n=0"], "0");
    let data = (data.0, baskets(&data.1));
    same(&data, &KM, "km");
}

#[test]
fn columns_of_tables_are_published_alike_in_chunks() {
    let Some(data) = parquet(600) else { return };
    same(&data, &[], "");
    let (before, after) = data.1.split_once("[privacy]").expect("a policy");
    let after = &after[after.find("[publish]").expect("a publication")..];
    let cells = "[privacy]\nmodel = \"k-anonymity\"\nk = 4\n[method]\nalgorithm = \"ctoff\"\ncells = 2\n";
    let cells = (data.0, format!("{before}{cells}{after}"));
    same(&cells, &[], "cells");
    same(&(cells.0, baskets(&data.1)), &KM, "km");
}

#[test]
fn a_database_on_a_server_is_published_alike_in_chunks() {
    let Some(server) = Server::start("trust") else { return };
    for database in ["source", "whole", "chunks"] {
        server.sql("postgres", &format!("CREATE DATABASE {database}"));
    }
    server.sql("source", TABLES);
    let mut inserts = String::new();
    for (table, cells) in rows(600) {
        inserts += &format!("INSERT INTO {table} VALUES ('{}');\n", cells.join("','"));
    }
    server.sql("source", &inserts);
    let source =
        format!("[source]\nformat = \"postgres\"\nurl = \"{}\"\n{POLICY}[publish]\n", server.url("source"));
    let folder = TempDir::new().expect("a folder");
    for (text, sets, schema) in [(source.clone(), &[][..], "kmn"), (baskets(&source), &KM, "km")] {
        let mut tables = Vec::new();
        for (database, chunk) in [("whole", None), ("chunks", Some(500))] {
            let url = server.url(database);
            let certificate = format!("publish.certificate={database}-{schema}.json");
            let own = [format!("publish.url={url}"), format!("publish.schema={schema}"), certificate];
            let own: Vec<&str> = sets.iter().copied().chain(own.iter().map(String::as_str)).collect();
            let request = request(folder.path(), &text, &own, chunk);
            match anonymize(&request, &Quiet) {
                Ok(_) => {}
                Err(failure) if failure.to_string().contains("reads no PostgreSQL") => {
                    eprintln!("skipped: built without PostgreSQL");
                    return;
                }
                Err(failure) => panic!("{failure}"),
            }
            for size in [None, Some(53)] {
                assert!(holds(folder.path(), &text, &own, Path::new(&url), size), "{database} {size:?}");
            }
            for table in ["patient", "visit", "drug"] {
                tables.push(server.sql(database, &format!("SELECT * FROM {schema}.{table} ORDER BY ctid")));
            }
        }
        let (whole, chunks) = tables.split_at(3);
        assert!(whole == chunks, "{schema}: chunks differ");
        assert!(whole.iter().all(|rows| !rows.is_empty()));
    }
}

#[test]
fn rows_that_belong_to_nobody_are_told_once_in_chunks() {
    let (folder, text) = csv(60);
    let mut visits = std::fs::read_to_string(folder.path().join("visit.csv")).expect("a file");
    visits += "99999991,1,a,1,1,1\n99999992,1,a,1,1,1\n";
    std::fs::write(folder.path().join("visit.csv"), visits).expect("written");
    let told = [None, Some(7)].map(|chunk| {
        let request = request(folder.path(), &text, &["publish.path=out"], chunk);
        let failure = anonymize(&request, &Quiet).map(|_| ()).expect_err("orphans");
        assert_eq!(failure.fault, Fault::Data);
        assert!(!folder.path().join("out").exists());
        failure.to_string()
    });
    assert!(told[0].contains("belongs to nobody") && told[0].contains("one more record"), "{}", told[0]);
    assert_eq!(told[0], told[1]);
}

#[test]
fn an_interrupted_run_in_chunks_leaves_no_table() {
    let (folder, text) = sqlite(60);
    let request = request(folder.path(), &text, &["publish.path=out.db"], Some(17));
    let (mut asks, mut interrupted) = (0, 0);
    while let Err(failure) = anonymize(&request, &Impatient::after(asks)) {
        assert_eq!(failure.fault, Fault::Interrupted, "{failure}");
        let files = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(files, 1, "after {asks} asks");
        interrupted += 1;
        asks = asks * 2 + 1;
    }
    assert!(interrupted > 4);
}
