//! Values that are not there, from the file to the verdict.

use bosket_app::verify::VerifyRequest;
use bosket_app::{PolicyAt, anonymize, verify};
use bosket_model::observe::Quiet;
use bosket_verify::Witness;
use serde_json::Value;

use crate::util::{Case, plain_clinic, untruths};

fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

/// Genders of most people as they are, left out of those who have the rarest: whoever knows that gender knows who lacks one.
#[test]
fn a_gender_that_is_left_out_was_known_all_the_same() {
    let example = plain_clinic(2000);
    let input = std::fs::read_to_string(example.folder.path().join("data.ndjson")).expect("input");
    let operation = "\"Surgery\"";
    let mut lines = String::new();
    for (record, text) in json(&input).into_iter().zip(input.lines()) {
        let mut told = serde_json::Map::new();
        if record["gender"] != "diverse" {
            told.insert("gender".to_owned(), record["gender"].clone());
        }
        if text.contains(operation) {
            let visits = serde_json::json!([{"diagnoses": [{"treatments": ["Operation"]}]}]);
            told.insert("visits".to_owned(), visits);
        }
        lines += &format!("{}\n", Value::Object(told));
    }
    let at = example.folder.path().join("old.ndjson");
    std::fs::write(&at, lines).expect("written");
    let witness = |missing: &str| -> Option<Witness> {
        let sets = vec![format!("privacy.missing={missing}")];
        let policy =
            PolicyAt { path: example.folder.path().join("policy.toml"), sets, ..PolicyAt::default() };
        let request = VerifyRequest {
            publication: at.clone(),
            policy: Some(policy),
            foreign: true,
            ..VerifyRequest::default()
        };
        let verified = verify(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value;
        verified.verification.and_then(|found| found.witness().cloned())
    };
    assert_eq!(witness("nothing"), None, "nobody looks at what is not there");
    let found = witness("counted").expect("three people without gender had an operation");
    assert!(found.values.iter().any(|v| v.path == "gender" && v.value == "*"), "{found:?}");
    assert!(found.support < 5);
}

/// With `suppress` some people say nothing at all; genders and towns of the others are told, and `*` stands for a value.
#[test]
fn emptied_people_say_that_anything_may_be() {
    let example = plain_clinic(2000);
    let request = example.request(&["method.suppress=true"]);
    let release = anonymize(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value;
    let published = json(&std::fs::read_to_string(&release.target).expect("published"));
    let emptied: Vec<&Value> = published.iter().filter(|record| record["gender"] == "*").collect();
    assert!((5..200).contains(&emptied.len()), "{}", emptied.len());
    let told = |record: &&Value| record["birth_year"] != "*" || record.get("visits").is_some();
    assert!(!emptied.iter().any(told));
    assert!(published.iter().any(|record| record["gender"] == "diverse"));
}

/// People with an age and a gender: two are misspelt, and four were born at the beginning of time.
fn dirty() -> Case {
    let mut rows = String::from("gender,year\n");
    for person in 0..1000 {
        let gender = match person {
            500 => "femal",
            700 => "mael",
            _ => ["female", "male"][person % 2],
        };
        let year = if (300..304).contains(&person) { 1900 } else { 1970 + person % 7 };
        rows += &format!("{gender},{year}\n");
    }
    let policy = "version = 1\n[source]\nformat = \"csv\"\npath = \"data.csv\"\n\
        [[attribute]]\npath = \"gender\"\nrole = \"quasi\"\n\
        hierarchy = { build = \"order\", groups = [\"female\", \"male\", \"femal\", \"mael\"] }\n\
        [[attribute]]\npath = \"year\"\nrole = \"quasi\"\n\
        hierarchy = { build = \"interval\", min = 1900, max = 1999, widths = [10] }\n\
        [privacy]\nmodel = \"kmn\"\nk = 5\nm = 2\nn = 1\n[method]\ncost = \"lm\"\n\
        [publish]\npath = \"pub.csv\"\n";
    Case::new(&[("data.csv", &rows), ("p.toml", policy)])
}

#[test]
fn a_handful_of_dirty_records_decides_no_attribute() {
    let case = dirty();
    case.publish(&["publish.path=plain.csv"]).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(case.text("plain.csv").lines().skip(1).all(|line| line.starts_with("*,")));
    let sets = ["method.suppress=true"];
    case.publish(&sets).unwrap_or_else(|failure| panic!("{failure}"));
    let text = case.text("pub.csv");
    let emptied = text.lines().filter(|line| *line == "*,*").count();
    assert!((6..20).contains(&emptied), "{emptied} people are emptied");
    let whole = text.lines().filter(|line| line.starts_with("female,197") || line.starts_with("male,197"));
    assert_eq!(whole.count(), 1000 - emptied);
    let verified = case.look("pub.csv", &sets, "data.csv");
    assert!(verified.verification.as_ref().is_some_and(|found| found.holds()));
    assert_eq!(untruths(&verified), [""; 0]);
}

/// What was missing before counts as `*`, is written as nothing, and is not lost.
#[test]
fn a_missing_value_fits_whatever_is_known() {
    let case = dirty();
    let mut rows = String::from("gender,year\n");
    (0..40).for_each(|person| rows += &format!("{},19{}\n", ["female", "male"][person % 2], 70 + person % 2));
    case.write("data.csv", &(rows.clone() + ",1970\n,1971\n,1970\n"));
    // Three people without gender: that they have none would find them.
    case.publish(&["publish.path=few.csv"]).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(case.text("few.csv").lines().skip(1).all(|line| line.starts_with("*,")));
    let verified = case.look("few.csv", &[], "data.csv");
    assert!(verified.verification.as_ref().is_some_and(|found| found.holds()));
    assert_eq!(untruths(&verified), [""; 0]);
    case.publish(&["publish.path=old.csv", "privacy.missing=nothing"])
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert!(case.text("old.csv").contains("female"));
    let more: String = (0..10).map(|person| format!(",197{}\n", person % 2)).collect();
    case.write("data.csv", &(rows + &more));
    case.publish(&["publish.path=many.csv"]).unwrap_or_else(|failure| panic!("{failure}"));
    let text = case.text("many.csv");
    assert_eq!(text.lines().filter(|line| line.starts_with(',')).count(), 10, "{text}");
    assert_eq!(untruths(&case.look("many.csv", &[], "data.csv")), [""; 0]);
}

/// Three people of x have a visit, of 33; of y nine of 27.
fn visits(of: impl Fn(usize) -> String) -> String {
    let visit = |town: &str, at: usize| format!("{{\"c\":\"{town}\",\"h\":[{{{}}}]}}\n", of(at));
    let x = (0..3).map(|at| visit("x", at)).chain((0..30).map(|_| "{\"c\":\"x\"}\n".to_owned()));
    x.chain((3..12).map(|at| visit("y", at))).chain((0..18).map(|_| "{\"c\":\"y\"}\n".to_owned())).collect()
}

const VISITS: &str = "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n\
    [[attribute]]\npath = \"c\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 5 }\n\
    [[attribute]]\npath = \"h[].id\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 20 }\n\
    [[attribute]]\npath = \"h[].t\"\nrole = \"insensitive\"\n\
    [privacy]\nmodel = \"kmn\"\nk = 5\nm = 2\nn = 1\n[publish]\npath = \"pub.ndjson\"\nmapping = \"map.csv\"\n";

/// Numbers of visits are left out as a whole while visits stay for what is published as it is: whoever knows x and a number knows
/// one of three.
#[test]
fn a_place_that_was_left_out_of_the_whole_file_still_counts() {
    let case = Case::new(&[
        ("in.ndjson", &visits(|at| format!("\"id\":\"i{at}\",\"t\":\"same\""))),
        ("p.toml", VISITS),
    ]);
    case.write("left-out.ndjson", &visits(|_| "\"t\":\"same\"".to_owned()));
    case.write("star.ndjson", &visits(|_| "\"id\":\"*\",\"t\":\"same\"".to_owned()));
    for role in ["insensitive", "sensitive"] {
        let role = format!("attribute[\"h[].t\"].role=\"{role}\"");
        for file in ["left-out.ndjson", "star.ndjson"] {
            let found = case.look(file, &[&role], "in.ndjson").verification.expect("verified");
            let witness = found.witness().cloned().unwrap_or_else(|| panic!("{file} holds with {role}"));
            assert_eq!(witness.support, 3, "{file}");
        }
    }
}

/// And it is never published so, whatever makes it: the visits go, or the town says less.
#[test]
fn a_place_is_never_left_out_where_it_would_tell() {
    for role in ["insensitive", "sensitive"] {
        for rows in ["distinct", "all", "united"] {
            for recoding in ["global", "local"] {
                if (rows, recoding) == ("united", "local") {
                    continue;
                }
                let sets = [
                    format!("attribute[\"h[].t\"].role=\"{role}\""),
                    format!("publish.rows=\"{rows}\""),
                    format!("method.recoding=\"{recoding}\""),
                ];
                let sets = sets.each_ref().map(String::as_str);
                let case = Case::new(&[
                    ("in.ndjson", &visits(|at| format!("\"id\":\"i{at}\",\"t\":\"same\""))),
                    ("p.toml", VISITS),
                ]);
                case.publish(&sets).unwrap_or_else(|failure| panic!("{sets:?}: {failure}"));
                let found = case.look("pub.ndjson", &sets, "in.ndjson");
                assert!(found.holds(), "{sets:?}: {:?} {:?}", found.verification, untruths(&found));
                let published = case.text("pub.ndjson");
                assert!(
                    published.contains("\"c\":\"x\"") || published.contains("\"t\""),
                    "{sets:?}: {published}"
                );
            }
        }
    }
}
