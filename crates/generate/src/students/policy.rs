//! The policies that go with students.

use std::fmt::Write as _;

use super::Kind;

/// The form that a policy reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PolicyFormat {
    Ndjson,
    Csv,
    Sqlite,
}

/// The policy of a kind of students in one form.
pub(super) fn policy(kind: Kind, form: PolicyFormat) -> String {
    let mut text =
        String::from("# What may be told about students, and under which guarantee.\nversion = 1\n\n");
    // Writing to a String cannot fail.
    let _ = text.write_str(&source(kind, form));
    let tables = form != PolicyFormat::Ndjson;
    let hierarchies = if tables { "../hierarchies" } else { "hierarchies" };
    let mut attribute = |document: &str, column: &str, rest: &str| {
        let path = if tables { column } else { document };
        let _ = write!(text, "[[attribute]]\npath = \"{path}\"\n{}\n\n", rest.replace("DIR", hierarchies));
    };
    let takes = if kind == Kind::SyntheticT { "years[].takes[]" } else { "takes[]" };
    if !tables {
        attribute("sid", "", "role = \"identifying\"");
    }
    if kind != Kind::School {
        attribute("major", "student.major", "role = \"quasi\"\nhierarchy = \"DIR/major.csv\"");
        let born = "role = \"quasi\"\nhierarchy = { build = \"interval\", min = 1980, max = 1999, widths = [5, 10] }";
        attribute("yob", "student.yob", born);
    }
    attribute("gpa", "student.gpa", &format!("role = \"sensitive\"\nbuckets = {}", buckets()));
    if kind == Kind::SyntheticT {
        attribute("years[].year", "year.year", "role = \"quasi\"\nhierarchy = \"DIR/year.csv\"");
    }
    attribute(&format!("{takes}.course"), "takes.course", "role = \"quasi\"\nhierarchy = \"DIR/course.csv\"");
    attribute(&format!("{takes}.grade"), "takes.grade", "role = \"sensitive\"");
    attribute(
        &format!("{takes}.books[].book"),
        "book.book",
        "role = \"quasi\"\nhierarchy = \"DIR/book.csv\"",
    );
    text.push_str(match kind {
        Kind::School => "[privacy]\nmodel = \"k-anonymity\"\nk = 5\n\n[method]\nalgorithm = \"ctoff\"\n\n",
        _ => "[privacy]\nmodel = \"l-diversity\"\nl = 3\n\n[method]\nalgorithm = \"clustree\"\nmatching = \"lsap\"\n\n",
    });
    let published = match form {
        PolicyFormat::Ndjson => "published.ndjson",
        PolicyFormat::Csv => "published",
        PolicyFormat::Sqlite => "published.db",
    };
    let _ = writeln!(text, "[publish]\npath = \"{published}\"");
    text
}

fn buckets() -> String {
    let bounds: Vec<String> = (0..=16).map(|quarter| format!("{:.2}", f64::from(quarter) / 4.0)).collect();
    format!("[{}]", bounds.join(", "))
}

fn source(kind: Kind, form: PolicyFormat) -> String {
    if form == PolicyFormat::Ndjson {
        return "[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n\n".to_owned();
    }
    let mut text = match form {
        PolicyFormat::Sqlite => "[source]\nformat = \"sqlite\"\npath = \"students.db\"\n\n".to_owned(),
        _ => "[source]\nformat = \"csv\"\n\n".to_owned(),
    };
    let mut table = |name: &str, rest: &str| {
        let path = if form == PolicyFormat::Csv { format!("path = \"{name}.csv\"\n") } else { String::new() };
        let _ = write!(text, "[[source.table]]\nname = \"{name}\"\n{path}{rest}\n");
    };
    table("student", "key = \"sid\"\n");
    if kind == Kind::SyntheticT {
        table("year", "key = \"yid\"\nparent = \"student\"\nforeign_key = \"sid\"\n");
        table("takes", "key = \"scid\"\nparent = \"year\"\nforeign_key = \"yid\"\n");
    } else {
        table("takes", "key = \"scid\"\nparent = \"student\"\nforeign_key = \"sid\"\n");
    }
    table("book", "parent = \"takes\"\nforeign_key = \"scid\"\n");
    text
}
