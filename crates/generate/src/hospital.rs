//! A hospital's database in the shape of OMOP's Common Data Model 5.4: invented people with what was noted about them.
//!
//! It has what makes real databases hard: dozens of columns, dates everywhere with a long tail into the past, codes of which most
//! are rare, people with a single event and people with a thousand. A person's rows depend on seed and number alone, so that more
//! people are the same people and others.

mod draw;
mod model;

use std::io::Write;
use std::path::Path;

use bosket_io::tables::NewDatabase;
use bosket_io::{Create, Output};
use bosket_model::Result;
use bosket_model::observe::Observer;

use draw::People;
use model::TABLES;

/// What has been written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// People, each one record.
    pub people: u64,
    /// Their rows in the tables of events.
    pub events: u64,
    /// The most events of one person.
    pub most: u64,
}

/// How much is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// How many people.
    pub people: u64,
    /// How many events a person has on average, more or less.
    pub events: u64,
    /// Another seed gives other people.
    pub seed: u64,
}

/// Steps of progress are this many people.
const STEP: u64 = 1 << 8;

/// Takes rows: the table's place in [`TABLES`], and its cells.
type Take<'a> = dyn FnMut(usize, &[String]) -> Result<()> + 'a;

/// The policy that goes with the tables.
pub fn policy(sqlite: bool) -> String {
    let source = match sqlite {
        true => "format = \"sqlite\"\npath = \"hospital.db\"\n".to_owned(),
        false => "format = \"csv\"\n".to_owned(),
    };
    let table = |(name, parent): &(&str, &str)| {
        let path = if sqlite { String::new() } else { format!("path = \"tables/{name}.csv\"\n") };
        let key = if *name == "death" { "" } else { "_id" };
        let key = if key.is_empty() { String::new() } else { format!("key = \"{name}{key}\"\n") };
        let parent = match *parent {
            "" => String::new(),
            parent => format!("parent = \"{parent}\"\nforeign_key = \"{parent}_id\"\n"),
        };
        format!("[[source.table]]\nname = \"{name}\"\n{path}{key}{parent}\n")
    };
    let tables: String = POLICY_TABLES.iter().map(table).collect();
    let published = if sqlite { "published.db" } else { "published" };
    format!("{POLICY_BEGIN}[source]\n{source}\n{tables}{POLICY_REST}[publish]\npath = \"{published}\"\n")
}

const POLICY_TABLES: [(&str, &str); 5] = [
    ("person", ""),
    ("visit_occurrence", "person"),
    ("condition_occurrence", "visit_occurrence"),
    ("drug_exposure", "visit_occurrence"),
    ("death", "person"),
];

const POLICY_BEGIN: &str = "# A part of the hospital's tables. `bosket inspect --preset omop` drafts a policy for all of them.\n\
    version = 1\nundeclared = \"drop\"\n\n";

const POLICY_REST: &str = r#"[[attribute]]
path = "person.gender_concept_id"
role = "quasi"
hierarchy = { build = "fanout", fanout = 5 }

[[attribute]]
path = "person.year_of_birth"
role = "quasi"
hierarchy = { build = "interval", min = 1920, max = 2029, widths = [10, 30] }

[[attribute]]
path = "visit_occurrence.visit_concept_id"
role = "quasi"
hierarchy = { build = "fanout", fanout = 5 }

[[attribute]]
path = "visit_occurrence.visit_start_date"
role = "quasi"
hierarchy = { build = "date", min = 1930-01-01, max = 2029-12-31, levels = ["month", "year", "decade"] }

[[attribute]]
path = "condition_occurrence.condition_source_value"
role = "quasi"
hierarchy = { build = "prefix" }

[[attribute]]
path = "drug_exposure.drug_source_value"
role = "quasi"
hierarchy = { build = "prefix" }

[[attribute]]
path = "death.death_date"
role = "quasi"
hierarchy = { build = "date", min = 1930-01-01, max = 2029-12-31, levels = ["month", "year", "decade"] }

[privacy]
model = "kmn"
k = 5
m = 2
n = 1

[method]
algorithm = "gcs"
cost = "lm"
recoding = "local"

"#;

/// Writes the linked tables `tables/*.csv`, the same as `hospital.db`, and a policy for each, into a folder, all or nothing.
pub fn write(folder: &Path, size: Size, create: Create, observer: &dyn Observer) -> Result<Summary> {
    bosket_io::make_folder(&folder.join("tables"))?;
    // Every file is begun before the work, so that one that exists is told at once.
    let begin = |name: &str| Output::create(&folder.join(name), create.clone());
    let mut policies = Vec::new();
    for (name, sqlite) in [("policy-csv.toml", false), ("policy-sqlite.toml", true)] {
        let mut file = begin(name)?;
        file.write_all(policy(sqlite).as_bytes()).map_err(bosket_io::write_failure)?;
        policies.push(file);
    }
    let mut files =
        TABLES.iter().map(|t| begin(&format!("tables/{}.csv", t.name))).collect::<Result<Vec<_>>>()?;
    let mut database = NewDatabase::create(&folder.join("hospital.db"), create.clone(), &model::schema())?;
    for (file, table) in files.iter_mut().zip(&TABLES) {
        writeln!(file, "{}", table.columns.join(",")).map_err(bosket_io::write_failure)?;
    }
    let inserts: Vec<String> = TABLES.iter().map(model::insert).collect();
    let summary = rows(size, observer, &mut |table, cells| {
        writeln!(files[table], "{}", cells.join(",")).map_err(bosket_io::write_failure)?;
        let texts: Vec<&str> = cells.iter().map(String::as_str).collect();
        database.insert(&inserts[table], &texts)
    })?;
    files.extend(policies);
    database.finish(files)?;
    Ok(summary)
}

/// Tells all rows of all tables.
fn rows(size: Size, observer: &dyn Observer, take: &mut Take<'_>) -> Result<Summary> {
    observer.stage("writing people", size.people);
    let mut people = People::new(size, take)?;
    for number in 1..=size.people {
        people.add(number)?;
        if number % STEP == 0 {
            observer.go_on()?;
            observer.advance(STEP);
        }
    }
    Ok(people.summary)
}

/// All rows as lines of text, each behind the name of its table: what tests look at.
pub fn lines(size: Size) -> Result<Vec<(&'static str, Vec<String>)>> {
    let mut all = Vec::new();
    rows(size, &bosket_model::observe::Quiet, &mut |table, cells| {
        all.push((TABLES[table].name, cells.to_vec()));
        Ok(())
    })?;
    Ok(all)
}
