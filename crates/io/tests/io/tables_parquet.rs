//! Linked tables in Parquet files: those of another program, what is published, what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tables_common::*;
use bosket_io::tables::{Tables, catalogue};
use bosket_model::observe::Quiet;
use bosket_model::policy::Format;
use parquet::file::reader::{FileReader, SerializedFileReader};
use tempfile::TempDir;

const SCHOOL: &str = r#"version = 1
undeclared = "drop"
[source]
format = "parquet"
[[source.table]]
name = "student"
path = "student.parquet"
key = "sid"
[[source.table]]
name = "takes"
path = "takes.parquet"
key = "scid"
parent = "student"
foreign_key = "sid"
[[source.table]]
name = "book"
path = "book.parquet"
parent = "takes"
foreign_key = "scid"
[publish]
path = "out"
"#;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parquet")
}

fn school() -> (TempDir, String) {
    let dir = TempDir::new().expect("a folder");
    for name in ["student", "takes", "book"] {
        let file = format!("{name}.parquet");
        fs::copy(data().join(&file), dir.path().join(&file)).expect("copied");
    }
    let mut text = SCHOOL.to_owned();
    for (path, role) in [
        ("student.name", "identifying"),
        ("student.born", "sensitive"),
        ("takes.course", "quasi"),
        ("takes.grade", "sensitive"),
        ("takes.passed", "insensitive"),
        ("takes.fee", "insensitive"),
        ("book.title", "quasi"),
    ] {
        text += &attribute(path, role);
    }
    (dir, text)
}

#[test]
fn tables_of_another_program_are_joined_and_published() {
    let (dir, text) = school();
    let file = policy(dir.path(), &text);
    let (data, form) = read_input(&file).expect("readable");
    let records = [
        "{born=1999-12-31 takes{course=MA fee=0 grade=2 passed=false book{title=Sets}}}",
        "{born=2001-05-06 takes{course=CS fee=10.5 grade=1.3 passed=true book{title=Sets} book{title=Trees}} takes{course=}}",
        "{}",
    ];
    let sorted: Vec<String> = canonical(&data);
    assert_eq!(sorted, records);
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), records);
    let mut schemas = String::new();
    for name in ["student", "takes", "book"] {
        let published = fs::File::open(dir.path().join(format!("out/{name}.parquet"))).expect("published");
        let reader = SerializedFileReader::new(published).expect("Parquet");
        let mut schema = Vec::new();
        parquet::schema::printer::print_schema(&mut schema, reader.metadata().file_metadata().schema());
        schemas += &String::from_utf8(schema).expect("UTF-8");
    }
    for part in [
        "INT64 sid;",
        "INT32 born (DATE);",
        "BYTE_ARRAY course (STRING);",
        "DOUBLE grade;",
        "BOOLEAN passed;",
        "fee (DECIMAL(20,2));",
    ] {
        assert!(schemas.contains(part), "{part} in {schemas}");
    }
    assert!(!schemas.contains("name") && !schemas.contains("photo"), "{schemas}");
}

#[test]
fn keys_are_guessed_as_for_csv() {
    let (format, found) = catalogue(&data(), None, None, &Quiet).expect("readable").expect("tables");
    assert_eq!(format, Format::Parquet);
    let linked = found.link(Some("student"), &[]).expect("a tree");
    let links: Vec<String> = linked
        .tables
        .iter()
        .map(|t| format!("{} {} {}", t.name, t.key.join("+"), t.parent.as_deref().unwrap_or("-")))
        .collect();
    assert_eq!(links, ["student sid -", "takes scid student", "book  takes"]);
}

#[test]
fn a_folder_of_both_kinds_of_tables_needs_a_choice() {
    let (dir, _) = school();
    fs::write(dir.path().join("x.csv"), "id,a\n1,2\n2,3\n").expect("a file");
    let failure = catalogue(dir.path(), None, None, &Quiet).expect_err("two kinds").to_string();
    assert!(failure.contains("CSV and in Parquet") && failure.contains("--format"), "{failure}");
    let (format, found) = catalogue(dir.path(), Some("csv"), None, &Quiet).expect("chosen").expect("tables");
    assert_eq!((format, found.tables.len()), (Format::Csv, 1));
    let (format, _) = catalogue(dir.path(), Some("parquet"), None, &Quiet).expect("chosen").expect("tables");
    assert_eq!(format, Format::Parquet);
}

#[test]
fn columns_that_vanished_and_types_that_do_not_fit() {
    let (dir, text) = school();
    let gone = text.clone() + &attribute("takes.grades", "sensitive");
    let failure = refused(&policy(dir.path(), &gone));
    assert!(failure.contains("no column `grades`") && failure.contains("did you mean `grade`?"), "{failure}");
    // A list has no place in a row, unless nobody wants it.
    let nested = text.replace("student.parquet", "patients.parquet").replace("\"sid\"", "\"id\"");
    fs::copy(data().join("patients.parquet"), dir.path().join("patients.parquet")).expect("copied");
    let nested = nested.replace("student.born", "student.tags").replace("student.name", "student.alive");
    let failure = refused(&policy(dir.path(), &nested));
    assert!(failure.contains("`student.tags`") && failure.contains("no attribute can hold"), "{failure}");
}

#[test]
fn binary_data_is_refused_where_it_is_wanted() {
    let (dir, text) = school();
    let wanted = text.clone() + &attribute("student.photo", "sensitive");
    let failure = refused(&policy(dir.path(), &wanted));
    assert!(failure.contains("row 1") && failure.contains("`photo` holds binary data"), "{failure}");
    let removed = text + &attribute("student.photo", "identifying");
    read_input(&policy(dir.path(), &removed)).expect("nobody looks at it");
}

#[test]
fn rows_that_belong_to_nobody() {
    let (dir, text) = school();
    let swapped = text.replace("foreign_key = \"sid\"", "foreign_key = \"scid\"");
    let failure = refused(&policy(dir.path(), &swapped));
    assert!(failure.contains("no row of `student` has its foreign key"), "{failure}");
    assert!(failure.contains("row 1") && failure.contains("takes.parquet"), "{failure}");
}

#[test]
fn a_table_that_is_cut_off() {
    let (dir, text) = school();
    let whole = fs::read(dir.path().join("takes.parquet")).expect("a file");
    fs::write(dir.path().join("takes.parquet"), &whole[..whole.len() - 10]).expect("a file");
    let failure = refused(&policy(dir.path(), &text));
    assert!(failure.contains("damaged or cut off") && failure.contains("takes.parquet"), "{failure}");
    fs::remove_file(dir.path().join("takes.parquet")).expect("gone");
    assert!(refused(&policy(dir.path(), &text)).contains("there is no such file"));
}

#[test]
fn looking_reads_every_column() {
    let (_, found) = catalogue(&data(), None, None, &Quiet).expect("readable").expect("tables");
    let linked = found.link(Some("takes"), &[]).expect("a tree");
    let (data, _) =
        Tables::look(&data(), Format::Parquet, None, &linked).expect("tables").read(&Quiet).expect("read");
    assert_eq!(data.len(), 3);
    assert!(data.schema().find("takes.fee").is_some());
}
