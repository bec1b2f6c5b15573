//! A hospital's database: the tables of the Common Data Model, the same bytes from the same seed, and what is hard about real ones.

use std::collections::{BTreeMap, BTreeSet};

use bosket_generate::hospital::{self, Size};
use bosket_io::Create;
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;

type Rows = BTreeMap<&'static str, Vec<Vec<String>>>;

fn tables(people: u64, events: u64, seed: u64) -> Rows {
    let mut tables = Rows::new();
    for (table, cells) in hospital::lines(Size { people, events, seed }).expect("drawn") {
        tables.entry(table).or_default().push(cells);
    }
    tables
}

const EVENTS: [&str; 6] = [
    "visit_occurrence",
    "condition_occurrence",
    "drug_exposure",
    "procedure_occurrence",
    "measurement",
    "observation",
];

#[test]
fn every_row_belongs_to_somebody_and_to_a_visit_of_theirs() {
    let tables = tables(200, 40, 3);
    let people: BTreeSet<&str> = tables["person"].iter().map(|row| row[0].as_str()).collect();
    assert_eq!(people.len(), 200);
    let visits: BTreeMap<&str, &str> =
        tables["visit_occurrence"].iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
    for table in EVENTS {
        let rows = &tables[table];
        let keys: BTreeSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(keys.len(), rows.len(), "{table} has a key twice");
        assert!(rows.iter().all(|row| people.contains(row[1].as_str())), "{table}");
        // Which of them is the visit is no matter: no other number of another table is as large and of the same person.
        let at = |row: &Vec<String>| {
            row.iter().skip(2).any(|cell| visits.get(cell.as_str()) == Some(&row[1].as_str()))
        };
        assert!(table == "visit_occurrence" || rows.iter().all(at), "{table}");
    }
}

#[test]
fn some_people_have_one_event_and_some_a_thousand() {
    let tables = tables(600, 300, 0);
    let mut events: BTreeMap<&str, usize> = BTreeMap::new();
    for row in EVENTS.iter().flat_map(|table| &tables[table]) {
        *events.entry(&row[1]).or_default() += 1;
    }
    let counts: Vec<usize> = events.values().copied().collect();
    let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    assert!((250.0..350.0).contains(&mean), "{mean}");
    assert!(counts.contains(&1) && counts.contains(&1000));
    let codes: BTreeMap<&str, usize> =
        tables["condition_occurrence"].iter().fold(BTreeMap::new(), |mut all, row| {
            *all.entry(row[2].as_str()).or_default() += 1;
            all
        });
    let most = codes.values().max().expect("a code");
    assert!(
        codes.len() > 400 && codes.values().filter(|n| **n * 50 < *most).count() > 200,
        "most codes are rare"
    );
    let years: BTreeSet<&str> = tables["visit_occurrence"].iter().map(|row| &row[3][..4]).collect();
    assert!(years.len() > 40, "dates go back for decades: {years:?}");
}

#[test]
fn more_people_are_the_same_people_and_others() {
    let (few, many) = (tables(20, 30, 7), tables(30, 30, 7));
    for (table, rows) in &few {
        assert!(many[table].starts_with(rows), "{table}");
    }
    assert_ne!(tables(20, 30, 8)["person"], few["person"]);
}

#[test]
fn the_same_bytes_in_files_and_policies_that_are_read() {
    let folders = [(); 2].map(|()| tempfile::TempDir::new().expect("a folder"));
    let size = Size { people: 30, events: 20, seed: 1 };
    for folder in &folders {
        hospital::write(folder.path(), size, Create::default(), &Quiet).expect("written");
    }
    for table in EVENTS.iter().chain(&["person", "death", "location", "concept"]) {
        let [a, b] = [0, 1]
            .map(|i| std::fs::read(folders[i].path().join(format!("tables/{table}.csv"))).expect("a table"));
        assert_eq!(a, b, "{table}");
        let columns =
            a.split(|&byte| byte == b'\n').next().expect("a header").split(|&byte| byte == b',').count();
        let lines = a.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        assert!(lines.into_iter().all(|line| line.split(|&byte| byte == b',').count() == columns), "{table}");
    }
    assert!(
        hospital::write(folders[0].path(), size, Create::default(), &Quiet).is_err(),
        "nothing is replaced unasked"
    );
    for sqlite in [false, true] {
        Policy::parse("p", &hospital::policy(sqlite), &[]).unwrap_or_else(|problems| panic!("{problems:?}"));
    }
}
