//! The worked examples beside the repository.

use std::collections::BTreeSet;
use std::io::Cursor;

use bosket_engine::cluster::{Algorithm, Cost, Lm, Matching, Params, run};
use bosket_io::{Input, Layout};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_model::{Dataset, MISSING};
use bosket_testkit::shared::{shared_json, shared_text};
use serde_json::Value;

const POLICY: &str = r#"
version = 1
[[attribute]]
path = "sid"
role = "identifying"
[[attribute]]
path = "gpa"
role = "sensitive"
[[attribute]]
path = "takes[].course"
role = "quasi"
hierarchy = "course.csv"
[[attribute]]
path = "takes[].grade"
role = "sensitive"
[[attribute]]
path = "takes[].books[].book"
role = "quasi"
hierarchy = "book.csv"
"#;

fn read(text: &str) -> Dataset {
    let input = Input::new("students", Cursor::new(text.as_bytes().to_vec()), None).expect("readable");
    bosket_io::read(input, Some("ndjson"), &Layout::default()).expect("good records").data
}

fn hierarchy(file: &str) -> Option<Hierarchy> {
    shared_text(file).map(|text| csv::parse(file, &text).expect("a good hierarchy"))
}

#[test]
fn lm_of_courses() {
    let (Some(courses), Some(expected)) =
        (hierarchy("golden/clusters/course.csv"), shared_json("golden/clusters/expected.json"))
    else {
        return;
    };
    let near = |h: &Hierarchy, label: &str, value: &Value| {
        let node = h.node(label).expect("a node");
        let wanted = value.as_f64().expect("a number");
        assert!((Lm.of(0, h, node, false) - wanted).abs() < 1e-12, "{label}");
    };
    for (label, value) in expected["lm_prime"].as_object().expect("an object") {
        near(&courses, label, value);
    }
    let Some(courses) = hierarchy("golden/clusters/students.course.csv") else { return };
    for (label, value) in expected["lm_prime_students"].as_object().expect("an object") {
        near(&courses, label, value);
    }
}

/// Courses with their books, as sets of texts.
fn takes(data: &Dataset, record: usize) -> BTreeSet<(String, Vec<String>)> {
    let schema = data.schema();
    let text = |v: usize, path: &str| {
        let a = schema.find(path).expect("an attribute");
        let code = data.value(v, a);
        (code != MISSING).then(|| data.dictionary(a).text(code).to_owned())
    };
    let root = data.vertices(record).start;
    let below = |v: usize| data.vertices(record).filter(move |&w| data.parent(w) == Some(v));
    below(root)
        .map(|course| {
            let mut books: Vec<String> =
                below(course).filter_map(|b| text(b, "takes[].books[].book")).collect();
            books.sort();
            (text(course, "takes[].course").expect("a course"), books)
        })
        .collect()
}

fn wanted(expected: &Value) -> BTreeSet<(String, Vec<String>)> {
    let text = |v: &Value| v.as_str().expect("a text").to_owned();
    let course = |c: &Value| {
        let books = c["books"].as_array().into_iter().flatten().map(|b| text(&b["book"]));
        (text(&c["course"]), books.collect())
    };
    expected["takes"].as_array().expect("a list").iter().map(course).collect()
}

#[test]
fn four_students_and_their_2_anonymization() {
    let (Some(text), Some(expected)) =
        (shared_text("golden/clusters/students.ndjson"), shared_json("golden/clusters/expected.json"))
    else {
        return;
    };
    let data = read(&text);
    let (policy, _) = Policy::parse("p", POLICY, &[]).expect("a good policy");
    let binding = Binding::of_input(data.schema(), &policy.attributes, policy.undeclared, "students")
        .expect("all declared");
    let course = hierarchy("golden/clusters/students.course.csv");
    let book = hierarchy("golden/clusters/students.book.csv");
    let hierarchies = vec![None, None, course, None, book];
    for algorithm in [Algorithm::Ctoff, Algorithm::Clustree, Algorithm::Miracle] {
        // Greedy matching is led astray by the book of S4's History.
        let params = Params { th: 1.0, matching: Matching::Lsap, ..Params::plain(algorithm, 2, None) };
        let release = run(&data, &binding, &hierarchies, &params, &Quiet).expect("reachable");
        assert_eq!(release.clusters, [[0, 1], [2, 3]], "{algorithm:?}");
        assert!(release.suppressed.is_empty());
        assert_eq!(release.pruned, 2, "Calc of S1 and Am.Hist of S4");
        let expected = &expected["two_anonymization"];
        for (record, class) in [(0, "S1_S2"), (1, "S1_S2"), (2, "S3_S4"), (3, "S3_S4")] {
            assert_eq!(takes(&release.data, record), wanted(&expected[class]), "{algorithm:?}");
        }
        // Who was in school is not told.
        assert!(release.data.schema().find("sid").is_none());
        // LM: Science and Social cost 2/4 and 1/4 for two students each, two books are pruned; 16 values in all.
        let lm = (2.0 * 0.5 + 2.0 * 0.25 + 2.0) / 16.0;
        assert!((release.lm - lm).abs() < 1e-12, "{}", release.lm);
    }
}

#[test]
fn lm_of_a_publication_is_this_arithmetic() {
    let Some(expected) = shared_json("golden/clusters/expected.json") else { return };
    let case = &expected["lm_of_publication"];
    let number = |v: &Value| v.as_f64().expect("a number");
    let published = case["published_generalizations"].as_array().expect("a list");
    let generalized: f64 = published.iter().map(|p| number(&p[0]) * number(&p[1])).sum();
    let lm =
        (generalized + number(&case["suppressed_quasi_values"])) / number(&case["quasi_values_in_input"]);
    assert!((lm - number(&case["lm"])).abs() < 1e-12);
}
