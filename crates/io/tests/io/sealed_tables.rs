//! Publications of linked tables in which something stands that no guarantee looks at: each kind is refused, with its place.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tables_common::*;
use bosket_io::PolicyFile;
use rusqlite::Connection;
use tempfile::TempDir;

/// A policy for tables of students and what they take.
pub(crate) fn school(format: &str, publish: &str) -> String {
    let file = |name: &str| match format {
        "sqlite" => String::new(),
        _ => format!("path = \"{name}.{format}\"\n"),
    };
    let database = if format == "sqlite" { "path = \"school.db\"\n" } else { "" };
    let mut text = format!(
        "version = 1\n[source]\nformat = \"{format}\"\n{database}[[source.table]]\nname = \"student\"\n{}key = \"sid\"\n\
         [[source.table]]\nname = \"takes\"\n{}key = [\"sid\", \"no\"]\nparent = \"student\"\nforeign_key = \"sid\"\n\
         [publish]\npath = \"{publish}\"\n",
        file("student"),
        file("takes"),
    );
    for (path, role) in [("student.town", "quasi"), ("takes.course", "quasi"), ("takes.grade", "sensitive")] {
        text += &attribute(path, role);
    }
    text
}

fn csv() -> (TempDir, PolicyFile) {
    let dir = TempDir::new().expect("a folder");
    fs::write(dir.path().join("student.csv"), "sid,town\nSSN-9,B\nSSN-1,A\nSSN-5,A\n").expect("written");
    let takes = "sid,no,course,grade\nSSN-9,x,db,1\nSSN-9,y,ai,2\nSSN-1,x,os,3\n";
    fs::write(dir.path().join("takes.csv"), takes).expect("written");
    let file = policy(dir.path(), &school("csv", "out"));
    let (data, form) = read_input(&file).expect("readable");
    publish(&file, &form, &data).expect("published");
    (dir, file)
}

#[track_caller]
fn refused_published(file: &PolicyFile, at: &Path) -> String {
    let failure = read_published(file, at).map(|_| ()).expect_err("must not be accepted");
    assert_eq!(failure.fault, bosket_model::Fault::Data, "{failure}");
    failure.to_string()
}

/// What reading says when a file of the publication has this text instead.
#[track_caller]
fn with_text(name: &str, text: &str) -> String {
    let (dir, file) = csv();
    let out = dir.path().join("out");
    read_published(&file, &out).expect("accepted as it was written");
    fs::write(out.join(name), text).expect("written");
    refused_published(&file, &out)
}

#[test]
fn a_publication_is_accepted_as_it_was_written() {
    let (dir, _) = csv();
    let text = |name: &str| fs::read_to_string(dir.path().join("out").join(name)).expect("a text");
    assert_eq!(text("student.csv"), "sid,town\n1,A\n2,A\n3,B\n");
    assert_eq!(text("takes.csv"), "sid,no,course,grade\n2,1,os,3\n3,2,ai,2\n3,3,db,1\n");
}

#[test]
fn raw_keys_are_no_surrogates() {
    let told = with_text("student.csv", "sid,town\nSSN-1,A\n2,A\n3,B\n");
    assert!(told.contains("a key in `student` is no surrogate"), "{told}");
    assert!(told.contains("student.csv:2") && !told.contains("SSN"), "{told}");
    let told = with_text("takes.csv", "sid,no,course,grade\n2,7,os,3\n3,2,ai,2\n3,3,db,1\n");
    assert!(told.contains("a key in `takes` is no surrogate"), "{told}");
}

#[test]
fn numbers_that_are_spelt_otherwise_are_no_surrogates() {
    for key in ["01", "1.0", "+1", " 1", "4"] {
        let told = with_text("student.csv", &format!("sid,town\n{key},A\n2,A\n3,B\n"));
        assert!(told.contains("no surrogate"), "{key}: {told}");
    }
}

#[test]
fn numbers_in_the_order_of_the_input_are_refused() {
    // As the input has its people, and not as what is published about them orders them.
    let (dir, file) = csv();
    let out = dir.path().join("out");
    fs::write(out.join("student.csv"), "sid,town\n1,B\n2,A\n3,A\n").expect("written");
    fs::write(out.join("takes.csv"), "sid,no,course,grade\n1,1,ai,2\n1,2,db,1\n2,3,os,3\n").expect("written");
    let told = refused_published(&file, &out);
    assert!(told.contains("row 1 of `student` is not where what it says puts it"), "{told}");
    let told = with_text("takes.csv", "sid,no,course,grade\n2,1,os,3\n3,2,db,1\n3,3,ai,2\n");
    assert!(told.contains("row 2 of `takes` is not where"), "{told}");
}

#[test]
fn a_part_of_a_key_that_repeats_something_else_is_refused() {
    // The region is published with the student, and part of the key that is repeated below.
    let dir = TempDir::new().expect("a folder");
    fs::write(dir.path().join("student.csv"), "region,sid\nN,s1\nS,s2\n").expect("written");
    fs::write(dir.path().join("takes.csv"), "region,sid,course\nN,s1,db\nS,s2,db\n").expect("written");
    let text = "version = 1\n[source]\nformat = \"csv\"\n[[source.table]]\nname = \"student\"\npath = \"student.csv\"\n\
                key = [\"region\", \"sid\"]\n[[source.table]]\nname = \"takes\"\npath = \"takes.csv\"\n\
                parent = \"student\"\nforeign_key = [\"region\", \"sid\"]\n[publish]\npath = \"out\"\n"
        .to_owned();
    let text = text + &attribute("student.region", "quasi") + &attribute("takes.course", "quasi");
    let file = policy(dir.path(), &text);
    let (data, form) = read_input(&file).expect("readable");
    publish(&file, &form, &data).expect("published");
    let out = dir.path().join("out");
    read_published(&file, &out).expect("accepted as it was written");
    assert_eq!(
        fs::read_to_string(out.join("takes.csv")).expect("a text"),
        "region,sid,course\nN,1,db\nS,2,db\n"
    );
    fs::write(out.join("takes.csv"), "region,sid,course\nSSN-1,1,db\nS,2,db\n").expect("written");
    let told = refused_published(&file, &out);
    assert!(told.contains("row 1 of `takes`") && !told.contains("SSN"), "{told}");
}

#[test]
fn files_beside_the_tables_are_refused() {
    for name in ["raw.csv", ".hidden", "notes.txt"] {
        let told = with_text(name, "SSN-1\n");
        assert!(told.contains(&format!("`{name}` lies in the folder")), "{told}");
    }
}

#[test]
fn columns_without_name_and_more_cells_than_columns_are_refused() {
    let told = with_text("student.csv", "sid,town,\n1,A,\n2,A,\n3,B,\n");
    assert!(told.contains("has no name"), "{told}");
    let told = with_text("student.csv", "sid,town\n1,A,Ann\n2,A\n3,B\n");
    assert!(told.contains("the row has 3 cells, the header 2"), "{told}");
}

fn sqlite() -> (TempDir, PolicyFile, PathBuf) {
    let dir = TempDir::new().expect("a folder");
    let db = Connection::open(dir.path().join("school.db")).expect("a database");
    db.execute_batch(
        "CREATE TABLE student (sid TEXT PRIMARY KEY, town TEXT);
         CREATE TABLE takes (sid TEXT REFERENCES student, no TEXT, course TEXT, grade REAL, PRIMARY KEY (sid, no));
         INSERT INTO student VALUES ('SSN-9', 'B'), ('SSN-1', 'A'), ('SSN-5', 'A');
         INSERT INTO takes VALUES ('SSN-9', 'x', 'db', 1), ('SSN-9', 'y', 'ai', 2.5), ('SSN-1', 'x', 'os', 3);",
    )
    .expect("tables");
    let file = policy(dir.path(), &school("sqlite", "out.db"));
    let (data, form) = read_input(&file).expect("readable");
    publish(&file, &form, &data).expect("published");
    let out = dir.path().join("out.db");
    (dir, file, out)
}

/// What reading says after this SQL was run in the publication.
#[track_caller]
fn after_sql(sql: &str) -> String {
    let (_dir, file, out) = sqlite();
    read_published(&file, &out).expect("accepted as it was written");
    Connection::open(&out).expect("a database").execute_batch(sql).expect(sql);
    refused_published(&file, &out)
}

#[test]
fn further_objects_of_a_database_are_refused() {
    for (sql, what) in [
        ("CREATE TABLE raw (ssn TEXT); INSERT INTO raw VALUES ('SSN-1')", "a table `raw`"),
        ("CREATE VIEW old AS SELECT 'SSN-1'", "a view `old`"),
        ("CREATE TRIGGER t AFTER INSERT ON student BEGIN SELECT 'SSN-1'; END", "a trigger `t`"),
        ("CREATE INDEX towns ON student (town)", "an index `towns`"),
        ("CREATE TABLE n (i INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE n", "a table `sqlite_sequence`"),
        ("ANALYZE", "a table `sqlite_stat1`"),
    ] {
        let told = after_sql(sql);
        assert!(told.contains(&format!("the database has {what}")), "{sql}: {told}");
    }
}

#[test]
fn comments_and_defaults_in_the_sql_of_a_table_are_refused() {
    for added in ["note TEXT DEFAULT 'SSN-1'", "note TEXT /* SSN-1 */", "note TEXT CHECK (note <> 'SSN-1')"] {
        let told = after_sql(&format!("ALTER TABLE takes ADD COLUMN {added}"));
        assert!(told.contains("`takes` is declared in other words"), "{added}: {told}");
    }
}

#[test]
fn numbers_in_the_header_of_a_database_are_refused() {
    for pragma in ["application_id", "user_version"] {
        let told = after_sql(&format!("PRAGMA {pragma} = 111222333"));
        assert!(told.contains(pragma), "{told}");
    }
}

#[test]
fn what_was_deleted_from_a_database_is_refused() {
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)";
    let told = after_sql(&format!(
        "PRAGMA secure_delete = OFF; CREATE TABLE raw (ssn TEXT); {rows} INSERT INTO raw SELECT 'SSN-' || i FROM n; \
         DROP TABLE raw"
    ));
    assert!(told.contains("free pages"), "{told}");
    // Within a page: the bytes of the row stay where they were.
    let told = after_sql(
        "PRAGMA secure_delete = OFF; INSERT INTO student VALUES (4, 'SSN-1'); DELETE FROM student WHERE sid = 4",
    );
    assert!(told.contains("the database holds more than the rows of its tables"), "{told}");
}

#[test]
fn bytes_outside_the_rows_of_a_database_are_refused() {
    let (_dir, file, out) = sqlite();
    let bytes = fs::read(&out).expect("bytes");
    let mut longer = bytes.clone();
    longer.extend_from_slice(&[7; 4096]);
    // Room that SQLite keeps for itself in the header, and room that no row of a page takes.
    let mut reserved = bytes.clone();
    reserved[72] = 7;
    let mut room = bytes.clone();
    room[4096 + 200] = 7;
    for changed in [longer, reserved, room] {
        fs::write(&out, changed).expect("written");
        let told = read_published(&file, &out).map(|_| ()).expect_err("must not be accepted").to_string();
        assert!(told.contains("holds more than the rows"), "{told}");
    }
    fs::write(&out, bytes).expect("written");
    read_published(&file, &out).expect("accepted as it was written");
}

/// Records may be longer than the columns that their table has now.
#[test]
fn fields_behind_the_last_column_are_refused() {
    let declared = "SELECT sql FROM sqlite_master WHERE name = 'takes'";
    let told = after_sql(&format!(
        "CREATE TEMP TABLE kept AS {declared};
         ALTER TABLE takes ADD COLUMN ssn TEXT;
         UPDATE takes SET ssn = 'SSN-1';
         PRAGMA writable_schema = ON;
         UPDATE sqlite_master SET sql = (SELECT sql FROM kept) WHERE name = 'takes';"
    ));
    assert!(told.contains("the database holds more than the rows of its tables"), "{told}");
    assert!(!told.contains("SSN"), "{told}");
}

#[test]
fn files_that_belong_to_a_database_are_refused() {
    for ending in ["-wal", "-journal", "-shm"] {
        let (dir, file, out) = sqlite();
        fs::write(dir.path().join(format!("out.db{ending}")), "").expect("written");
        let told = refused_published(&file, &out);
        assert!(told.contains(ending), "{told}");
    }
}

#[test]
fn rows_of_a_database_in_another_order_are_refused() {
    let (dir, file, out) = sqlite();
    // Without numbers of their own the rows of `takes` lie as they were put in.
    let again = dir.path().join("again.db");
    let db = Connection::open(&again).expect("a database");
    db.execute_batch(&format!("ATTACH '{}' AS old", out.display())).expect("attached");
    let sql = |table: &str| -> String {
        let sql = "SELECT sql FROM old.sqlite_master WHERE name = ?1";
        db.query_row(sql, [table], |row| row.get(0)).expect("a table")
    };
    db.execute_batch(&sql("student")).expect("made");
    db.execute_batch("INSERT INTO student SELECT * FROM old.student ORDER BY sid").expect("filled");
    db.execute_batch(&sql("takes")).expect("made");
    db.execute_batch("INSERT INTO takes SELECT * FROM old.takes ORDER BY no DESC").expect("filled");
    drop(db);
    let told = refused_published(&file, &again);
    assert!(told.contains("`takes`"), "{told}");
}
