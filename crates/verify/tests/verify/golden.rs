//! The worked examples, where they lie beside the repository.

use bosket_io::{Input, Layout};
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_testkit::shared::{shared, shared_json};
use bosket_verify::{Claim, Witness, verify};

const TREES: &str = r#"
version = 1
undeclared = "drop"
[[attribute]]
path = "visits[].hospital"
role = "quasi"
[[attribute]]
path = "visits[].diagnoses[].disease"
role = "quasi"
[[attribute]]
path = "visits[].diagnoses[].treatments[].treatment"
role = "quasi"
"#;

const STUDENTS: &str = r#"
version = 1
[[attribute]]
path = "major"
role = "quasi"
[[attribute]]
path = "yob"
role = "quasi"
[[attribute]]
path = "gpa"
role = "sensitive"
[[attribute]]
path = "takes[].class"
role = "quasi"
[[attribute]]
path = "takes[].grade"
role = "sensitive"
"#;

fn check(file: &str, format: &str, policy: &str, sets: &[&str]) -> Option<Option<Witness>> {
    let path = shared(&format!("golden/{file}"))?;
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    let (policy, _) = Policy::parse("policy", policy, &sets).expect("a good policy");
    let input = Input::open(&path).expect("readable");
    let data = bosket_io::read(input, Some(format), &Layout::default()).expect("valid records").data;
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, file).expect("all declared");
    let claim = Claim::new(&policy).expect("a claim");
    Some(verify(&data, &binding, &claim, &[], 1 << 30, &Quiet).expect("countable"))
}

#[test]
fn verdicts_on_trees() {
    let Some(expected) = shared_json("golden/kmn/expected.json") else {
        return;
    };
    for case in expected["verify"].as_array().expect("a list") {
        let file = format!("kmn/{}", case["file"].as_str().expect("a name"));
        let sets = [
            "privacy.model=kmn".to_owned(),
            format!("privacy.k={}", case["k"]),
            format!("privacy.m={}", case["m"]),
            format!("privacy.n={}", case["n"]),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        for reading in ["pair", "embedded"] {
            let reading = format!("privacy.relations={reading}");
            let sets: Vec<&str> = sets.iter().copied().chain([reading.as_str()]).collect();
            let witness = check(&file, "ndjson", TREES, &sets).expect("the file is there");
            assert_eq!(witness.is_none(), case["holds"].as_bool().expect("a verdict"), "{case}");
            let Some(expected) = case.get("witness") else {
                continue;
            };
            let witness = witness.expect("it is violated");
            let mut values: Vec<&str> = witness.values.iter().map(|v| v.value.as_str()).collect();
            values.sort_unstable();
            assert_eq!(serde_json::json!(values), expected["values"]);
            assert_eq!(serde_json::json!(witness.relations), expected["relations"]);
            assert_eq!(serde_json::json!(witness.support), expected["support"]);
        }
    }
}

/// Record 4's Medicine can only have come from Gastritis: Lung Disease is related to Medicine elsewhere.
#[test]
fn the_guard_sees_what_can_be_put_back() {
    let sets = ["privacy.model=kmn", "privacy.k=2", "privacy.m=2", "privacy.n=1", "privacy.guard=true"];
    let Some(witness) = check("kmn/example7.ndjson", "ndjson", TREES, &sets) else {
        return;
    };
    let witness = witness.expect("with the guard it is violated");
    let values: Vec<&str> = witness.values.iter().map(|v| v.value.as_str()).collect();
    assert_eq!((values.as_slice(), witness.support), (["Gastritis", "Medicine"].as_slice(), 1));
    assert_eq!(
        (witness.relations.as_slice(), witness.records.as_slice()),
        ([(0, 1)].as_slice(), [3].as_slice())
    );
}

#[test]
fn sets_of_figure_2() {
    let policy = "version = 1\n[[attribute]]\npath = \"item\"\nrole = \"quasi\"\n[privacy]\nmodel = \"km\"\nk = 2\nm = 2\n";
    let Some(witness) = check("km/fig2.dat", "transactions", policy, &[]) else {
        return;
    };
    let witness = witness.expect("{a1, b1} is in one transaction only");
    let values: Vec<&str> = witness.values.iter().map(|v| v.value.as_str()).collect();
    assert_eq!((values.as_slice(), witness.support), (["a1", "a2"].as_slice(), 1));
    assert!(check("km/fig2.dat", "transactions", policy, &["privacy.m=1"]).expect("there").is_none());
}

#[test]
fn publications_to_refuse() {
    let kanon = ["privacy.model=k-anonymity", "privacy.k=2"];
    for file in ["clusters/refuse_separate_tables.ndjson", "clusters/refuse_universal_relation.ndjson"] {
        let Some(witness) = check(file, "ndjson", STUDENTS, &kanon) else {
            return;
        };
        assert_eq!(witness.expect("refused").support, 1, "{file}");
    }
    let homogeneous = "clusters/refuse_homogeneous.ndjson";
    assert_eq!(check(homogeneous, "ndjson", STUDENTS, &kanon).expect("there"), None);
    for extra in ["privacy.siblings=pooled", "privacy.siblings=each", "privacy.diversity=entropy"] {
        let sets = ["privacy.model=l-diversity", "privacy.l=2", extra];
        let witness = check(homogeneous, "ndjson", STUDENTS, &sets).expect("there").expect("refused");
        let sensitive = witness.sensitive.expect("a value is too common");
        assert_eq!(
            (sensitive.path.as_str(), sensitive.value.as_str(), sensitive.share),
            ("takes[].grade", "A-", 1.0)
        );
    }
}
