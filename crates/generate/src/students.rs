//! Students, the courses they take and the books they buy for them: the records that multirelational k-anonymity and
//! hierarchical l-diversity were first measured on.
//!
//! - `school` (Nergiz, Clifton, Nergiz: Multirelational k-anonymity): one obligatory course, two or three technical and
//!   two or three other electives out of 22, each with two to four books to choose from.
//! - `syntheticS` (Ozalp, Gursoy, Nergiz, Saygin: Privacy-preserving publishing of hierarchical data): about 20 courses
//!   of a computer science program and up to two books for each, some 42 vertices per student.
//! - `syntheticT`: the same with the college years between student and courses.

mod catalogue;
mod draw;
mod policy;
mod write;

use std::io::{self, Write};
use std::path::Path;

use bosket_io::tables::NewDatabase;
use bosket_io::{Create, Output};
use bosket_model::Result;
use bosket_model::observe::Observer;

use bosket_model::random::Random;
use catalogue::{Course, courses};
use policy::{PolicyFormat, policy};
use write::Tables;

/// Which students.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A few courses each.
    School,
    /// A whole program.
    SyntheticS,
    /// A whole program, year by year.
    SyntheticT,
}

/// What has been written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Students, each one record.
    pub students: u64,
    /// All their vertices.
    pub vertices: u64,
    /// The courses they took.
    pub courses: u64,
}

/// Steps of progress are this many students.
const STEP: u64 = 1 << 12;

/// Hierarchies by the name of their attribute, as `leaf;parent;…;*` lines.
pub fn hierarchies(kind: Kind) -> Vec<(&'static str, String)> {
    catalogue::hierarchies(kind, &courses(kind))
}

/// The policy that goes with `data.ndjson`.
pub fn document_policy(kind: Kind) -> String {
    policy(kind, PolicyFormat::Ndjson)
}

/// Writes the records, one JSON object per line.
pub fn write_records(out: &mut dyn Write, kind: Kind, students: u64, seed: u64) -> io::Result<Summary> {
    let courses = courses(kind);
    let mut random = Random::new(seed);
    let mut summary = Summary::default();
    for number in 1..=students {
        let student = draw::student(kind, &courses, &mut random);
        count(&mut summary, kind, &student);
        out.write_all(write::json(kind, &courses, number, &student).as_bytes())?;
    }
    Ok(summary)
}

fn count(summary: &mut Summary, kind: Kind, student: &draw::Student) {
    let below: usize = student.taken.iter().map(|t| 1 + t.books.len()).sum();
    let years = if kind == Kind::SyntheticT { write::years(student).len() } else { 0 };
    summary.students += 1;
    summary.vertices += (1 + below + years) as u64;
    summary.courses += student.taken.len() as u64;
}

/// Writes `data.ndjson` and `policy.toml`, `hierarchies/`, and the same records as linked tables in `tables/`, with
/// `policy-csv.toml` and `policy-sqlite.toml`, into a folder, all or nothing.
pub fn write(
    folder: &Path,
    kind: Kind,
    students: u64,
    seed: u64,
    create: Create,
    observer: &dyn Observer,
) -> Result<Summary> {
    bosket_io::make_folder(&folder.join("hierarchies"))?;
    bosket_io::make_folder(&folder.join("tables"))?;
    // Every file is begun before the work, so that one that exists is told at once.
    let begin = |name: &str| Output::create(&folder.join(name), create.clone());
    let policies = [
        ("policy.toml", PolicyFormat::Ndjson),
        ("tables/policy-csv.toml", PolicyFormat::Csv),
        ("tables/policy-sqlite.toml", PolicyFormat::Sqlite),
    ];
    let courses: Vec<Course> = courses(kind);
    let texts: Vec<(Output, String)> = policies
        .map(|(name, form)| (name.to_owned(), policy(kind, form)))
        .into_iter()
        .chain(hierarchies(kind).into_iter().map(|(name, text)| (format!("hierarchies/{name}.csv"), text)))
        .map(|(name, text)| Ok((begin(&name)?, text)))
        .collect::<Result<_>>()?;
    let mut data = begin("data.ndjson")?;
    let names = write::table_names(kind);
    let files = names.iter().map(|name| begin(&format!("tables/{name}.csv"))).collect::<Result<Vec<_>>>()?;
    let database = NewDatabase::create(&folder.join("tables/students.db"), create, write::database(kind))?;
    let mut tables = Tables::new(kind, files, database);

    observer.stage("writing students", students);
    let mut random = Random::new(seed);
    let mut summary = Summary::default();
    tables.write_headers()?;
    for number in 1..=students {
        let student = draw::student(kind, &courses, &mut random);
        count(&mut summary, kind, &student);
        let line = write::json(kind, &courses, number, &student);
        data.write_all(line.as_bytes()).map_err(bosket_io::write_failure)?;
        tables.add(&courses, number, &student)?;
        if number % STEP == 0 {
            observer.advance(STEP);
        }
    }
    let (mut files, database) = tables.into_parts();
    files.push(data);
    for (mut file, text) in texts {
        file.write_all(text.as_bytes()).map_err(bosket_io::write_failure)?;
        files.push(file);
    }
    database.finish(files)?;
    Ok(summary)
}
