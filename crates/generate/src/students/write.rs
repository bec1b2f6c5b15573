//! Students as JSON lines, as rows of CSV files and as rows of a database.

use std::fmt::Write as _;
use std::io::Write;

use bosket_io::Output;
use bosket_io::tables::NewDatabase;
use bosket_model::Result;

use super::Kind;
use super::catalogue::Course;
use super::draw::{Student, Taken, YEARS};

/// The major of every student.
const MAJOR: &str = "Computer Science";

/// The college years in which a student took anything, from 0.
pub(super) fn years(student: &Student) -> Vec<usize> {
    (0..YEARS.len()).filter(|&y| student.taken.iter().any(|t| t.year == y)).collect()
}

fn gpa(student: &Student) -> String {
    format!("{}.{:02}", student.gpa / 100, student.gpa % 100)
}

/// A number as JSON has it: without zeros at the end.
fn short(text: &str) -> &str {
    text.trim_end_matches('0').trim_end_matches('.')
}

/// A student as a line of JSON.
pub(super) fn json(kind: Kind, courses: &[Course], number: u64, student: &Student) -> String {
    let mut line = format!(r#"{{"sid":"S{number:06}","#);
    // Writing to a String cannot fail.
    if kind != Kind::School {
        let _ = write!(line, r#""major":"{MAJOR}","yob":{},"#, student.born);
    }
    let _ = write!(line, r#""gpa":{},"#, short(&gpa(student)));
    if kind == Kind::SyntheticT {
        line.push_str(r#""years":["#);
        for (i, year) in years(student).into_iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            let _ = write!(line, r#"{comma}{{"year":"{}","#, YEARS[year]);
            push_taken(&mut line, courses, student.taken.iter().filter(|t| t.year == year));
            line.push('}');
        }
        line.push(']');
    } else {
        push_taken(&mut line, courses, student.taken.iter());
    }
    line.push_str("}\n");
    line
}

fn push_taken<'a>(line: &mut String, courses: &[Course], taken: impl Iterator<Item = &'a Taken>) {
    line.push_str(r#""takes":["#);
    for (i, t) in taken.enumerate() {
        let comma = if i > 0 { "," } else { "" };
        let course = &courses[t.course];
        let _ = write!(line, r#"{comma}{{"course":"{}","grade":"{}""#, course.name, t.grade);
        let books: Vec<String> =
            t.books.iter().map(|&b| format!(r#"{{"book":"{}"}}"#, course.books[b])).collect();
        if !books.is_empty() {
            let _ = write!(line, r#","books":[{}]"#, books.join(","));
        }
        line.push('}');
    }
    line.push(']');
}

/// The names of the tables.
pub(super) fn table_names(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::SyntheticT => &["student", "takes", "book", "year"],
        _ => &["student", "takes", "book"],
    }
}

/// The tables in SQL.
pub(super) fn database(kind: Kind) -> &'static str {
    match kind {
        Kind::School => {
            "CREATE TABLE student (sid TEXT PRIMARY KEY, gpa REAL NOT NULL);
             CREATE TABLE takes (scid INTEGER PRIMARY KEY, sid TEXT NOT NULL REFERENCES student (sid), course TEXT NOT NULL, grade TEXT NOT NULL);
             CREATE TABLE book (scid INTEGER NOT NULL REFERENCES takes (scid), book TEXT NOT NULL);"
        }
        Kind::SyntheticS => {
            "CREATE TABLE student (sid TEXT PRIMARY KEY, major TEXT NOT NULL, yob INTEGER NOT NULL, gpa REAL NOT NULL);
             CREATE TABLE takes (scid INTEGER PRIMARY KEY, sid TEXT NOT NULL REFERENCES student (sid), course TEXT NOT NULL, grade TEXT NOT NULL);
             CREATE TABLE book (scid INTEGER NOT NULL REFERENCES takes (scid), book TEXT NOT NULL);"
        }
        Kind::SyntheticT => {
            "CREATE TABLE student (sid TEXT PRIMARY KEY, major TEXT NOT NULL, yob INTEGER NOT NULL, gpa REAL NOT NULL);
             CREATE TABLE year (yid INTEGER PRIMARY KEY, sid TEXT NOT NULL REFERENCES student (sid), year TEXT NOT NULL);
             CREATE TABLE takes (scid INTEGER PRIMARY KEY, yid INTEGER NOT NULL REFERENCES year (yid), course TEXT NOT NULL, grade TEXT NOT NULL);
             CREATE TABLE book (scid INTEGER NOT NULL REFERENCES takes (scid), book TEXT NOT NULL);"
        }
    }
}

/// The linked tables, in files and in a database.
pub(super) struct Tables {
    kind: Kind,
    files: Vec<Output>,
    database: NewDatabase,
    /// How many rows `takes` and `year` have.
    taken: u64,
    years: u64,
}

impl Tables {
    pub(super) fn new(kind: Kind, files: Vec<Output>, database: NewDatabase) -> Self {
        Tables { kind, files, database, taken: 0, years: 0 }
    }

    pub(super) fn write_headers(&mut self) -> Result<()> {
        let headers: &[&str] = match self.kind {
            Kind::School => &["sid,gpa", "scid,sid,course,grade", "scid,book"],
            Kind::SyntheticS => &["sid,major,yob,gpa", "scid,sid,course,grade", "scid,book"],
            Kind::SyntheticT => &["sid,major,yob,gpa", "scid,yid,course,grade", "scid,book", "yid,sid,year"],
        };
        for (file, header) in self.files.iter_mut().zip(headers) {
            writeln!(file, "{header}").map_err(bosket_io::write_failure)?;
        }
        Ok(())
    }

    /// Adds a student's rows.
    pub(super) fn add(&mut self, courses: &[Course], number: u64, student: &Student) -> Result<()> {
        let sid = format!("S{number:06}");
        let (born, gpa) = (student.born.to_string(), gpa(student));
        match self.kind {
            Kind::School => self.row(0, "INSERT INTO student VALUES (?, ?)", &[&sid, &gpa])?,
            _ => self.row(0, "INSERT INTO student VALUES (?, ?, ?, ?)", &[&sid, MAJOR, &born, &gpa])?,
        }
        if self.kind != Kind::SyntheticT {
            return student.taken.iter().try_for_each(|t| self.taken(courses, &sid, t));
        }
        for year in years(student) {
            self.years += 1;
            let yid = self.years.to_string();
            self.row(3, "INSERT INTO year VALUES (?, ?, ?)", &[&yid, &sid, YEARS[year]])?;
            student.taken.iter().filter(|t| t.year == year).try_for_each(|t| self.taken(courses, &yid, t))?;
        }
        Ok(())
    }

    fn taken(&mut self, courses: &[Course], above: &str, taken: &Taken) -> Result<()> {
        self.taken += 1;
        let scid = self.taken.to_string();
        let course = &courses[taken.course];
        self.row(1, "INSERT INTO takes VALUES (?, ?, ?, ?)", &[&scid, above, &course.name, taken.grade])?;
        let mut books = taken.books.iter();
        books.try_for_each(|&b| self.row(2, "INSERT INTO book VALUES (?, ?)", &[&scid, &course.books[b]]))
    }

    fn row(&mut self, table: usize, sql: &str, cells: &[&str]) -> Result<()> {
        // Books of the school have a comma in their titles.
        let quoted: Vec<String> = cells
            .iter()
            .map(|c| if c.contains(',') { format!("\"{c}\"") } else { (*c).to_owned() })
            .collect();
        writeln!(self.files[table], "{}", quoted.join(",")).map_err(bosket_io::write_failure)?;
        self.database.insert(sql, cells)
    }

    pub(super) fn into_parts(self) -> (Vec<Output>, NewDatabase) {
        (self.files, self.database)
    }
}
