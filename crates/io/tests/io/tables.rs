//! Linked tables in CSV files: joined, published, read again; and everything that can be wrong with them.

use std::fs;

use crate::tables_common::*;
use bosket_model::observe::Quiet;
use tempfile::TempDir;

const SCHOOL: &str = r#"version = 1
[source]
format = "csv"
[[source.table]]
name = "book"
path = "book.csv"
parent = "takes"
foreign_key = "scid"
[[source.table]]
name = "student"
path = "student.csv"
key = "sid"
[[source.table]]
name = "takes"
path = "takes.csv"
key = "scid"
parent = "student"
foreign_key = "sid"
[publish]
path = "out"
"#;

const ATTRIBUTES: [(&str, &str); 6] = [
    ("student.name", "identifying"),
    ("student.age", "quasi"),
    ("takes.course", "quasi"),
    ("takes.grade", "sensitive"),
    ("book.title", "quasi"),
    ("book.page", "insensitive"),
];

fn school_policy() -> String {
    let attributes: String = ATTRIBUTES.iter().map(|(path, role)| attribute(path, role)).collect();
    format!("{SCHOOL}{attributes}")
}

fn school() -> TempDir {
    let dir = TempDir::new().expect("a folder");
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("a file");
    write("student.csv", "sid,name,age\ns9,Ann,20\ns1,Bob,20\ns5,Cy,\n");
    write("takes.csv", "scid,sid,course,grade\n7,s1,db,A\n3,s9,os,B\n4,s1,os,\n");
    write("book.csv", "title;page;scid\nCodd;3;7\n\"Date; later\";9;7\nTanenbaum;1;3\n");
    dir
}

#[test]
fn rows_become_records() {
    let dir = school();
    let file = policy(dir.path(), &school_policy());
    let (data, _) = read_input(&file).expect("tables");
    assert_eq!(
        canonical(&data),
        [
            "{age=20 takes{course=db grade=A book{page=3 title=Codd} book{page=9 title=Date; later}} takes{course=os}}",
            "{age=20 takes{course=os grade=B book{page=1 title=Tanenbaum}}}",
            "{}",
        ]
    );
    let paths: Vec<&str> = data.schema().attributes().map(|(_, a)| a.path.as_str()).collect();
    assert_eq!(
        paths,
        ["student.name", "student.age", "takes.course", "takes.grade", "book.title", "book.page"]
    );
}

#[test]
fn a_publication_has_the_same_tables_with_fresh_keys_ordered_by_content() {
    let dir = school();
    let file = policy(dir.path(), &school_policy());
    let (data, form) = read_input(&file).expect("tables");
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), canonical(&data));
    let text = |name: &str| fs::read_to_string(dir.path().join("out").join(name)).expect("published");
    assert_eq!(text("student.csv"), "sid,age\n1,\n2,20\n3,20\n");
    assert_eq!(text("takes.csv"), "scid,sid,course,grade\n1,2,db,A\n2,2,os,\n3,3,os,B\n");
    assert_eq!(text("book.csv"), "title;page;scid\nCodd;3;1\n\"Date; later\";9;1\nTanenbaum;1;3\n");
    let (published, _) = read_published(&file, &dir.path().join("out")).expect("readable");
    assert_eq!(canonical(&published), canonical(&data));

    let refused = publish(&file, &form, &data).expect_err("it exists").to_string();
    assert!(refused.contains("it exists"), "{refused}");
}

#[test]
fn the_order_of_rows_does_not_show() {
    let (one, other) = (school(), school());
    let reverse = |name: &str| {
        let path = other.path().join(name);
        let text = fs::read_to_string(&path).expect("a file");
        let mut lines: Vec<&str> = text.lines().collect();
        lines[1..].reverse();
        fs::write(path, lines.join("\r\n")).expect("a file");
    };
    ["student.csv", "takes.csv", "book.csv"].iter().for_each(|n| reverse(n));
    for dir in [&one, &other] {
        let file = policy(dir.path(), &school_policy());
        let (data, form) = read_input(&file).expect("tables");
        publish(&file, &form, &data).expect("published");
    }
    for name in ["student.csv", "takes.csv", "book.csv"] {
        let read = |dir: &TempDir| fs::read(dir.path().join("out").join(name)).expect("published");
        assert_eq!(read(&one), read(&other));
    }
}

#[test]
fn what_is_published_never_takes_the_place_of_what_is_read() {
    let dir = school();
    let file = policy(dir.path(), &school_policy().replace("path = \"out\"", "path = \".\""));
    let (data, form) = read_input(&file).expect("tables");
    let before = fs::read(dir.path().join("takes.csv")).expect("a file");
    let create = bosket_io::Create { force: true, ..bosket_io::Create::default() };
    let refused = bosket_io::tables::Writing::begin(&file, &form, create).expect_err("the input").to_string();
    assert!(refused.contains("would overwrite"), "{refused}");
    drop(data);
    assert_eq!(fs::read(dir.path().join("takes.csv")).expect("a file"), before);
}

#[test]
fn an_abandoned_publication_leaves_nothing() {
    let dir = school();
    let file = policy(dir.path(), &school_policy());
    let (data, form) = read_input(&file).expect("tables");
    let mut writing =
        bosket_io::tables::Writing::begin(&file, &form, bosket_io::Create::default()).expect("room");
    writing.write(&data, &Quiet).expect("writable");
    drop(writing);
    assert!(!dir.path().join("out").exists());
}

#[test]
fn orphans_duplicates_and_missing_keys_are_all_told_at_once() {
    let dir = school();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("a file");
    write("student.csv", "sid,name,age\ns9,Ann,20\ns1,Bob,20\ns1,Cy,\n,Di,4\n");
    write("takes.csv", "scid,sid,course,grade\n7,s1,db,A\n3,sX,os,B\n4,sY,os,\n5,,os,\n");
    write("book.csv", "title;page;scid\nCodd;3;8\nshort;1\n");
    let said = refused(&policy(dir.path(), &school_policy()));
    for part in [
        "student.csv:4: error: another row of `student` has the same key",
        "student.csv:5: error: a row of `student` has no key",
        "takes.csv:3: error: a row of `takes` belongs to nobody: no row of `student` has its foreign key; the same in one more record",
        "takes.csv:5: error: a row of `takes` belongs to nobody: its foreign key is empty",
        "book.csv:2: error: a row of `book` belongs to nobody: no row of `takes` has its foreign key",
        "book.csv:3: error: the row has 2 cells, the header 3",
    ] {
        assert!(said.contains(part), "not said: {part}\n{said}");
    }
    for value in ["s1", "sX", "Bob", "Codd"] {
        assert!(!said.contains(value), "said: {value}\n{said}");
    }
}

#[test]
fn columns_that_vanished_are_named_with_what_may_be_meant() {
    let dir = school();
    fs::write(dir.path().join("takes.csv"), "scid,s_id,course\n7,s1,db\n").expect("a file");
    let said = refused(&policy(dir.path(), &school_policy()));
    assert!(
        said.contains("the table has no column `sid` (help: did you mean `scid`?)")
            || said.contains("did you mean `s_id`?"),
        "{said}"
    );
    assert!(said.contains("the table has no column `grade`"), "{said}");
}

#[test]
fn a_table_without_rows_and_a_missing_file() {
    let dir = school();
    fs::write(dir.path().join("student.csv"), "sid,name,age\n").expect("a file");
    fs::write(dir.path().join("takes.csv"), "scid,sid,course,grade\n").expect("a file");
    fs::write(dir.path().join("book.csv"), "title,page,scid\n").expect("a file");
    let said = refused(&policy(dir.path(), &school_policy()));
    assert!(said.contains("holds no record"), "{said}");
    fs::remove_file(dir.path().join("takes.csv")).expect("a file");
    let said = refused(&policy(dir.path(), &school_policy()));
    assert!(said.contains("takes.csv") && said.contains("no such file"), "{said}");
}

#[test]
fn a_column_that_the_policy_does_not_name_is_left_to_the_binding() {
    let dir = school();
    let text = school_policy().replace(&attribute("takes.grade", "sensitive"), "");
    let (data, _) = read_input(&policy(dir.path(), &text)).expect("tables");
    let grade = data.schema().find("takes.grade").expect("named");
    assert!(data.dictionary(grade).is_empty(), "its values are not even read");
    let dropped = text.replace("version = 1", "version = 1\nundeclared = \"drop\"");
    let (data, _) = read_input(&policy(dir.path(), &dropped)).expect("tables");
    assert_eq!(data.schema().find("takes.grade"), None);
}

#[test]
fn a_broken_publication_is_no_publication() {
    let dir = school();
    let file = policy(dir.path(), &school_policy());
    let (data, form) = read_input(&file).expect("tables");
    publish(&file, &form, &data).expect("published");
    let out = dir.path().join("out");
    let takes = fs::read_to_string(out.join("takes.csv")).expect("published");
    let says = |text: &str| {
        fs::write(out.join("takes.csv"), text).expect("a file");
        read_published(&file, &out).map(|_| ()).expect_err("broken").to_string()
    };
    assert!(says(&takes.replace("\n3,3,", "\n3,9,")).contains("no row of `student` has its foreign key"));
    assert!(says(&takes.replace("\n3,3,", "\n2,3,")).contains("another row of `takes` has the same key"));
    assert!(says(&takes.replace("\n3,3,", "\n3,,")).contains("its foreign key is empty"));
}
