//! Linked tables in SQLite: read in one snapshot, published into a new file with keys that hold.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::tables_common::*;
use bosket_io::Create;
use bosket_io::tables::Writing;
use bosket_model::observe::Quiet;
use bosket_model::{Builder, ClassId, Kind};
use rusqlite::Connection;
use tempfile::TempDir;

const SCHOOL: &str = r#"version = 1
[source]
format = "sqlite"
path = "school.db"
[[source.table]]
name = "student"
key = "sid"
[[source.table]]
name = "takes"
key = "scid"
parent = "student"
foreign_key = "sid"
[[source.table]]
name = "book"
parent = "takes"
foreign_key = "scid"
[publish]
path = "out/published.db"
[[attribute]]
path = "student.name"
role = "identifying"
[[attribute]]
path = "student.photo"
role = "identifying"
[[attribute]]
path = "student.age"
role = "quasi"
[[attribute]]
path = "takes.course"
role = "quasi"
[[attribute]]
path = "takes.grade"
role = "sensitive"
[[attribute]]
path = "book.title"
role = "quasi"
"#;

const TABLES: &str = "
CREATE TABLE student (sid INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, photo BLOB);
CREATE TABLE takes (scid TEXT PRIMARY KEY, sid INTEGER REFERENCES student, course VARCHAR(20), grade NUMERIC(3,1));
CREATE TABLE book (scid TEXT REFERENCES takes, title);
INSERT INTO student VALUES (70, 'Ann', 20, x'00ff'), (10, 'Bob', 21, NULL), (5, 'Cy', NULL, NULL);
INSERT INTO takes VALUES ('a', 10, 'db', 1.0), ('b', 70, 'os', 2.5), ('c', 10, 'os', NULL);
INSERT INTO book VALUES ('a', 'Codd'), ('a', 1984), ('b', 'Tanenbaum');
";

fn school(sql: &str) -> TempDir {
    let dir = TempDir::new().expect("a folder");
    let db = Connection::open(dir.path().join("school.db")).expect("a database");
    db.execute_batch(sql).expect("tables");
    dir
}

fn query(path: &Path, sql: &str) -> Vec<String> {
    let db = Connection::open(path).expect("a database");
    let mut statement = db.prepare(sql).expect("a query");
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let cells: Vec<String> = (0..columns)
            .map(|i| match row.get_ref(i).expect("a cell") {
                rusqlite::types::ValueRef::Null => "-".to_owned(),
                rusqlite::types::ValueRef::Integer(n) => n.to_string(),
                rusqlite::types::ValueRef::Real(x) => format!("{x:?}"),
                rusqlite::types::ValueRef::Text(t) => format!("'{}'", String::from_utf8_lossy(t)),
                rusqlite::types::ValueRef::Blob(_) => "blob".to_owned(),
            })
            .collect();
        Ok(cells.join(" "))
    };
    statement.query_map([], row).expect("rows").map(|r| r.expect("a row")).collect()
}

#[test]
fn a_publication_is_a_new_database_with_the_same_tables_and_keys() {
    let dir = school(TABLES);
    let file = policy(dir.path(), SCHOOL);
    let (data, form) = read_input(&file).expect("tables");
    assert_eq!(
        canonical(&data),
        [
            "{age=20 takes{course=os grade=2.5 book{title=Tanenbaum}}}",
            "{age=21 takes{course=db grade=1 book{title=1984} book{title=Codd}} takes{course=os}}",
            "{}",
        ]
    );
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), canonical(&data));
    let out = dir.path().join("out/published.db");
    assert_eq!(query(&out, "SELECT * FROM student ORDER BY sid"), ["1 -", "2 '20'", "3 '21'"]);
    assert_eq!(
        query(&out, "SELECT * FROM takes ORDER BY scid"),
        ["1 2 'os' 2.5", "2 3 'db' 1", "3 3 'os' -"],
        "a generalized column is text, a sensitive one as it was"
    );
    assert!(query(&out, "PRAGMA foreign_key_check").is_empty());
    assert_eq!(
        query(&out, "SELECT name, type, pk FROM pragma_table_info('takes')"),
        ["'scid' 'INTEGER' 1", "'sid' 'INTEGER' 0", "'course' 'TEXT' 0", "'grade' 'NUMERIC(3,1)' 0"]
    );
    assert_eq!(
        query(&out, "SELECT \"table\", \"from\", \"to\" FROM pragma_foreign_key_list('book')"),
        ["'takes' 'scid' 'scid'"]
    );
    let names: Vec<_> = fs::read_dir(dir.path().join("out")).expect("a folder").collect();
    assert_eq!(names.len(), 1, "nothing hidden is left");

    let refused = publish(&file, &form, &data).expect_err("it exists").to_string();
    assert!(refused.contains("it exists"), "{refused}");
    let bytes = fs::read(&out).expect("published");
    let mut writing =
        Writing::begin(&file, &form, Create { force: true, ..Create::default() }).expect("forced");
    writing.write(&data, &Quiet).expect("writable");
    assert_eq!(fs::read(&out).expect("published"), bytes, "the old one stays until the new one is finished");
    writing.finish(Vec::new(), &Quiet).expect("finished");
    assert_eq!(fs::read(&out).expect("published"), bytes, "same records, same bytes");
}

#[test]
fn a_folder_as_path_keeps_the_name_of_the_source() {
    let dir = school(TABLES);
    let file = policy(dir.path(), &SCHOOL.replace("out/published.db", "out"));
    let (data, form) = read_input(&file).expect("tables");
    publish(&file, &form, &data).expect("published");
    assert!(dir.path().join("out/school.db").exists());
    let (published, _) = read_published(&file, &dir.path().join("out")).expect("readable");
    assert_eq!(canonical(&published), canonical(&data));
    let file = policy(dir.path(), &SCHOOL.replace("out/published.db", "."));
    let create = Create { force: true, ..Create::default() };
    let refused = Writing::begin(&file, &form, create).expect_err("the input").to_string();
    assert!(refused.contains("would overwrite"), "{refused}");
}

#[test]
fn moved_rows_have_no_foreign_key_and_say_where_they_belong() {
    let dir = school(TABLES);
    let file = policy(dir.path(), SCHOOL);
    let (_, form) = read_input(&file).expect("tables");
    let keys = |name: &str| vec![name.to_owned()];
    let mut b = Builder::new();
    let takes = b.class(ClassId::ROOT, &keys("takes"));
    let course = b.attribute(takes, &keys("course"));
    let moved = b.class(ClassId::ROOT, &keys("book"));
    let title = b.attribute(moved, &keys("title"));
    b.begin_record();
    b.open(takes);
    b.set(course, Kind::Text, "*");
    b.close();
    b.open(moved);
    b.set(title, Kind::Text, "Codd");
    b.close();
    b.end_record().expect("nothing twice");
    let data = b.finish();
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), ["{book{title=Codd} takes{course=*}}"]);
    let out = dir.path().join("out/published.db");
    assert_eq!(query(&out, "SELECT scid, title, student_sid FROM book"), ["- 'Codd' 1"]);
    assert_eq!(
        query(&out, "SELECT \"table\", \"from\" FROM pragma_foreign_key_list('book') ORDER BY 1"),
        ["'student' 'student_sid'", "'takes' 'scid'"]
    );
    assert!(query(&out, "PRAGMA foreign_key_check").is_empty());
}

#[test]
fn what_cannot_be_represented_or_found_is_told() {
    let dir = school(TABLES);
    let photo = SCHOOL.replace(
        "path = \"student.photo\"\nrole = \"identifying\"",
        "path = \"student.photo\"\nrole = \"quasi\"",
    );
    let said = refused(&policy(dir.path(), &photo));
    assert!(said.contains("`student.photo` has the type BLOB, which no attribute can hold"), "{said}");

    let db = Connection::open(dir.path().join("school.db")).expect("a database");
    db.execute_batch(
        "PRAGMA foreign_keys = OFF; INSERT INTO book VALUES ('a', x'01'), ('zz', 'x'), ('a', 9e999)",
    )
    .expect("rows");
    let said = refused(&policy(dir.path(), SCHOOL));
    assert!(said.contains("row 4: column `title` holds binary data"), "{said}");
    assert!(said.contains("row 5: a row of `book` belongs to nobody"), "{said}");
    assert!(said.contains("row 6: column `title` holds an infinite number"), "{said}");

    let said =
        refused(&policy(dir.path(), &SCHOOL.replace("\"takes\"", "\"tekes\"").replace("takes.", "tekes.")));
    assert!(said.contains("there is no table `tekes` (help: did you mean `takes`?)"), "{said}");
    db.execute_batch("ALTER TABLE takes DROP COLUMN grade").expect("altered");
    assert!(refused(&policy(dir.path(), SCHOOL)).contains("no column `grade`"));

    fs::write(dir.path().join("school.db"), "sid,name\n1,x\n".repeat(99)).expect("a file");
    assert!(refused(&policy(dir.path(), SCHOOL)).contains("this is not a SQLite database"));
    fs::remove_file(dir.path().join("school.db")).expect("a file");
    assert!(refused(&policy(dir.path(), SCHOOL)).contains("no such file"));
}

#[test]
fn a_target_that_cannot_be_written() {
    let dir = school(TABLES);
    let file = policy(dir.path(), SCHOOL);
    let (_, form) = read_input(&file).expect("tables");
    for target in ["/proc/published.db", "school.db/published.db"] {
        let file = policy(dir.path(), &SCHOOL.replace("out/published.db", target));
        let refused = Writing::begin(&file, &form, Create::default()).expect_err("no room").to_string();
        assert!(refused.contains("cannot write the file"), "{refused}");
    }
}

#[test]
fn a_dropped_publication_leaves_nothing() {
    let dir = school(TABLES);
    let file = policy(dir.path(), SCHOOL);
    let (data, form) = read_input(&file).expect("tables");
    let mut writing = Writing::begin(&file, &form, Create::default()).expect("room");
    writing.write(&data, &Quiet).expect("writable");
    writing.read_again(&Quiet).expect("readable");
    drop(writing);
    assert!(!dir.path().join("out").exists());
}

/// Customers of the Chinook music store with their invoices; tracks become genres.
#[test]
fn chinook() {
    let Some(packed) = crate::common::shared("rel-chinook/Chinook_Sqlite.sqlite.gz") else { return };
    let dir = TempDir::new().expect("a folder");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(fs::File::open(packed).expect("a file"))
        .read_to_end(&mut bytes)
        .expect("gzip");
    fs::write(dir.path().join("chinook.db"), bytes).expect("a file");
    let text = r#"version = 1
undeclared = "drop"
[source]
format = "sqlite"
path = "chinook.db"
[[source.table]]
name = "Customer"
key = "CustomerId"
[[source.table]]
name = "Invoice"
key = "InvoiceId"
parent = "Customer"
foreign_key = "CustomerId"
[[source.table]]
name = "InvoiceLine"
key = "InvoiceLineId"
parent = "Invoice"
foreign_key = "InvoiceId"
[[source.lookup]]
name = "Track"
key = "TrackId"
column = "InvoiceLine.TrackId"
value = "GenreId"
[[source.lookup]]
name = "Genre"
key = "GenreId"
column = "InvoiceLine.GenreId"
value = "Name"
as = "Genre"
[publish]
path = "out"
[[attribute]]
path = "Customer.Country"
role = "quasi"
[[attribute]]
path = "Invoice.Total"
role = "sensitive"
[[attribute]]
path = "InvoiceLine.Genre"
role = "quasi"
"#;
    let file = policy(dir.path(), text);
    let (data, form) = read_input(&file).expect("tables");
    assert_eq!((data.len(), data.vertex_count()), (59, 59 + 412 + 2240));
    let genre = data.schema().find("InvoiceLine.Genre").expect("looked up");
    assert_eq!(data.dictionary(genre).len(), 24);
    assert!(data.dictionary(genre).get(Kind::Text, "Rock").is_some());
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), canonical(&data));
    let out = dir.path().join("out/chinook.db");
    assert_eq!(query(&out, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1").len(), 3);
    assert!(query(&out, "PRAGMA foreign_key_check").is_empty());
    assert_eq!(
        query(&out, "SELECT sum(Total) > 2328 FROM Invoice"),
        query(&dir.path().join("chinook.db"), "SELECT sum(Total) > 2328 FROM Invoice")
    );
}
