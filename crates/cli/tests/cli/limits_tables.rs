//! Linked tables that are far larger than anybody wants to read: the same bounds as for documents.

use crate::util::Dir;

/// Students with a long name each, and what they take, as a folder of CSV files.
fn school(students: usize, name: usize) -> Dir {
    let dir = Dir::new();
    let students: String = (0..students).map(|i| format!("{i},{i}{}\n", "x".repeat(name))).collect();
    dir.write("in/student.csv", format!("student_id,name\n{students}"))
        .write("in/takes.csv", "student_id,course\n0,db\n1,db\n");
    dir
}

/// A policy for these tables in a format.
fn policy(dir: &Dir, format: &str, place: &str) {
    let path = |table: &str| match format {
        "sqlite" => String::new(),
        _ => format!("path = '{place}/{table}.{format}'\n"),
    };
    let database = if format == "sqlite" { format!("path = '{place}'\n") } else { String::new() };
    let (student, takes) = (path("student"), path("takes"));
    let text = format!(
        "version = 1\n[source]\nformat = '{format}'\n{database}[[source.table]]\nname = 'student'\n{student}key = 'student_id'\n\
         [[source.table]]\nname = 'takes'\n{takes}parent = 'student'\nforeign_key = 'student_id'\n\
         [[attribute]]\npath = 'student.name'\nrole = 'insensitive'\n[[attribute]]\npath = 'takes.course'\nrole = 'quasi'\n\
         hierarchy = 'h.csv'\n[privacy]\nmodel = 'k-anonymity'\nk = 2\n[publish]\npath = 'out'\n"
    );
    dir.write("h.csv", "db;*\n").write("p.toml", text);
}

#[test]
fn linked_tables_took_all_memory() {
    let dir = school(250_000, 400);
    dir.run(&["convert", "in", "parquet", "--to", "parquet"]).exits(0);
    dir.run(&["convert", "in", "in.db", "--to", "sqlite"]).exits(0);
    for (format, place) in [("csv", "in"), ("parquet", "parquet"), ("sqlite", "in.db")] {
        let words = ["the data takes more than 64 MiB of memory", "raise --memory"];
        dir.run(&["inspect", place, "--memory", "1M"]).exits(3).says(&words);
        policy(&dir, format, place);
        dir.run(&["anonymize", "p.toml", "--memory", "1M"]).exits(3).says(&words);
        assert!(!dir.path("out").exists(), "{format}");
    }
}

#[test]
fn rows_of_linked_tables_had_limits_of_their_own() {
    let dir = school(2, 2 << 20);
    dir.run(&["convert", "in", "in.db", "--to", "sqlite"]).exits(0);
    for (format, place, words) in [
        ("csv", "in", "a line is longer than 1 MiB"),
        ("sqlite", "in.db", "a row holds more than is read of one"),
    ] {
        policy(&dir, format, place);
        let words = [words, "--limit-record allows more"];
        dir.run(&["inspect", place, "--record", "student"]).exits(0);
        dir.run(&["inspect", place, "--record", "student", "--limit-record", "1M"]).exits(3).says(&words);
        dir.run(&["anonymize", "p.toml", "--dry-run", "--limit-record", "1M"]).exits(3).says(&words);
    }
}

#[test]
fn a_quote_that_is_never_closed_took_the_whole_file() {
    let dir = school(2, 2);
    dir.write("in/student.csv", format!("student_id,name\n0,\"{}", "Ann\n".repeat(1 << 19)));
    policy(&dir, "csv", "in");
    let words = ["a row is longer than 1 MiB", "--limit-record allows more"];
    dir.run(&["anonymize", "p.toml", "--dry-run", "--limit-record", "1M"]).exits(3).says(&words);
}

#[test]
fn packed_tables_unfolded_to_gigabytes() {
    let dir = school(2, 2);
    let zeros = format!("student_id,name\n0,{}\n1,b\n", "0".repeat(8 << 20));
    dir.write_compressed("in/student.csv.gz", zeros);
    policy(&dir, "csv", "in");
    let text = dir.text("p.toml").replace("student.csv", "student.csv.gz");
    dir.write("p.toml", text);
    dir.run(&["anonymize", "p.toml", "--dry-run", "--limit-record", "1M"])
        .exits(3)
        .says(&["than 1 MiB", "--limit-record allows more"]);
    // A Parquet file is unpacked as a whole before anything is looked at.
    dir.run(&["convert", "in", "parquet", "--to", "parquet"]).exits(0);
    dir.write("packed/takes.parquet", dir.read("parquet/takes.parquet"));
    dir.write_compressed("packed/student.parquet.gz", vec![0; 8 << 20]);
    policy(&dir, "parquet", "packed");
    let text = dir.text("p.toml").replace("student.parquet", "student.parquet.gz");
    dir.write("p.toml", text);
    dir.run(&["anonymize", "p.toml", "--dry-run", "--limit-record", "1M"])
        .exits(3)
        .says(&["than 1", "--limit-record allows more"]);
}

#[test]
fn files_of_a_folder_had_limits_of_their_own() {
    let dir = Dir::new();
    let bundle = format!("{{\"resourceType\":\"Bundle\",\"note\":\"{}\"}}\n", "x".repeat(2 << 20));
    dir.write("in/a.ndjson", bundle);
    dir.run(&["inspect", "in", "--format", "fhir-r4", "--limit-record", "1M"])
        .exits(3)
        .says(&["a line is longer than 1 MiB", "--limit-record allows more"]);
}
