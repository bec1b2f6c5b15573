//! Students: the measures of the papers, the same bytes from the same seed, hierarchies that cover everything.

use bosket_generate::students::{Kind, document_policy, hierarchies, write_records};
use bosket_io::Create;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use serde_json::Value;

fn records(kind: Kind, number: u64, seed: u64) -> Vec<Value> {
    let mut text = Vec::new();
    write_records(&mut text, kind, number, seed).expect("writing to memory");
    let lines = text.split(|&b| b == b'\n').filter(|l| !l.is_empty());
    lines.map(|l| serde_json::from_slice(l).expect("JSON")).collect()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn a_whole_program_has_twenty_courses_and_42_vertices() {
    for kind in [Kind::SyntheticS, Kind::SyntheticT] {
        let mut text = Vec::new();
        let summary = write_records(&mut text, kind, 1000, 0).expect("writing to memory");
        let (courses, vertices) = (summary.courses as f64 / 1000.0, summary.vertices as f64 / 1000.0);
        assert!((19.0..22.0).contains(&courses), "{courses}");
        let years = if kind == Kind::SyntheticT { 4.0 } else { 0.0 };
        assert!((vertices - years - 42.0).abs() < 1.5, "{vertices}");
    }
}

#[test]
fn a_school_has_one_obligatory_course_and_four_to_six_electives() {
    let obligatory = ["Turkish I", "Turkish II", "English I", "English II"];
    for student in records(Kind::School, 300, 1) {
        let takes = list(&student, "takes");
        let must = takes.iter().filter(|t| obligatory.contains(&t["course"].as_str().expect("a name")));
        assert_eq!(must.count(), 1);
        assert!((5..=7).contains(&takes.len()));
        assert!(takes.iter().all(|t| list(t, "books").len() <= 2));
    }
}

#[test]
fn hierarchies_cover_all_courses_and_books() {
    for kind in [Kind::School, Kind::SyntheticS, Kind::SyntheticT] {
        let files = hierarchies(kind);
        let hierarchy = |name: &str| -> Hierarchy {
            let (_, text) = files.iter().find(|f| f.0 == name).expect("a hierarchy");
            csv::parse(name, text).expect("a good hierarchy")
        };
        let (courses, books) = (hierarchy("course"), hierarchy("book"));
        for student in records(kind, 200, 3) {
            let years = list(&student, "years");
            let direct = list(&student, "takes").iter();
            for taken in direct.chain(years.iter().flat_map(|y| list(y, "takes"))) {
                assert!(courses.leaf(taken["course"].as_str().expect("a name")).is_some());
                for book in list(taken, "books") {
                    assert!(books.leaf(book["book"].as_str().expect("a title")).is_some());
                }
            }
        }
        Policy::parse("p", &document_policy(kind), &[]).expect("a good policy");
    }
}

#[test]
fn equal_seeds_give_equal_students() {
    assert_eq!(records(Kind::SyntheticS, 20, 5), records(Kind::SyntheticS, 20, 5));
    assert_ne!(records(Kind::SyntheticS, 20, 5), records(Kind::SyntheticS, 20, 6));
}

#[test]
fn a_folder_holds_documents_tables_and_policies() {
    let folder = tempfile::tempdir().expect("a folder");
    let create = Create::default();
    let summary =
        bosket_generate::students::write(folder.path(), Kind::SyntheticT, 10, 0, create.clone(), &Quiet)
            .expect("written");
    assert_eq!(summary.students, 10);
    for file in
        ["data.ndjson", "policy.toml", "hierarchies/year.csv", "tables/year.csv", "tables/students.db"]
    {
        assert!(folder.path().join(file).exists(), "{file}");
    }
    let again = bosket_generate::students::write(folder.path(), Kind::SyntheticT, 10, 0, create, &Quiet);
    assert!(again.is_err(), "files that exist are not replaced");
}
