//! What the policy leaves out by choice: in no publication of any family, and a violation where it is.

use bosket_app::anonymize;
use bosket_model::observe::Quiet;

use crate::util::{Case, families};

#[test]
fn a_dropped_attribute_is_in_no_publication() {
    let dropped = [
        ("clinic", "visits[].year", "\"year\""),
        ("students", "gpa", "\"gpa\""),
        ("anatomized students", "gpa", "\"gpa\""),
        ("dissected JSON", "work", "\"work\""),
        ("dissected XML", "work", "<work>"),
    ];
    for example in families() {
        let Some((name, path, text)) = dropped.iter().find(|(name, ..)| *name == example.name) else {
            continue;
        };
        let set = format!("attribute[\"{path}\"].role=\"drop\"");
        // Without the years of visits, towns are told so finely that nothing covers the rare ones.
        let sets: &[&str] = if *name == "clinic" { &[&set, "privacy.guess="] } else { &[&set] };
        let release = anonymize(&example.request(sets), &Quiet);
        let release = release.unwrap_or_else(|failure| panic!("{name}: {failure}")).value;
        let published = std::fs::read_to_string(release.target).expect("published");
        assert!(!published.contains(text), "{name}: {path} is published");
    }
}

fn people() -> Case {
    let rows: String = (0..6).map(|i| format!("n{},{},{}\n", i % 2, 30 + i % 3, i % 3)).collect();
    let policy = "version = 1\n[source]\nformat = \"csv\"\npath = \"data.csv\"\n\
        [[attribute]]\npath = \"note\"\nrole = \"drop\"\n\
        [[attribute]]\npath = \"age\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 3 }\n\
        [[attribute]]\npath = \"code\"\nrole = \"insensitive\"\nfollows = \"note\"\n\
        [privacy]\nmodel = \"k-anonymity\"\nk = 2\n[publish]\npath = \"pub.csv\"\n";
    Case::new(&[("data.csv", &format!("note,age,code\n{rows}")), ("p.toml", policy)])
}

#[test]
fn what_follows_a_dropped_attribute_is_left_out_too() {
    let case = people();
    case.publish(&[]).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(case.text("pub.csv").lines().next(), Some("age"));
    let found = case.look("pub.csv", &[], "data.csv");
    assert!(found.holds());
    assert_eq!(found.unprotected.expect("told").dropped, ["note", "code"]);
}

#[test]
fn a_dropped_attribute_that_is_left_is_a_violation() {
    let case = people();
    case.write("other.csv", "age,note\n30,n0\n30,n1\n");
    let found = case.look("other.csv", &[], "data.csv");
    assert!(!found.holds());
    assert_eq!(found.verification.expect("verified").left, ["note"]);
}
