//! The one verdict on a publication: claim, left-over attributes and sides together.

use bosket_io::{Input, Layout};
use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::dissected::Dissected;
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_verify::{Claim, JudgedSides, Kmn, Misplaced, PublishedSide, Verification};

fn lines(text: &str) -> Dataset {
    let input = Input::new("lines", std::io::Cursor::new(text.as_bytes().to_vec()), None).expect("readable");
    bosket_io::read(input, Some("ndjson"), &Layout::default()).expect("records").data
}

fn of_records(text: &str, k: u32) -> Verification {
    const POLICY: &str = r#"
        version = 1
        undeclared = "drop"
        [[attribute]]
        path = "zip"
        role = "quasi"
        [[attribute]]
        path = "name"
        role = "identifying"
        [[attribute]]
        path = "ssn"
        role = "key"
    "#;
    let data = lines(text);
    let (policy, _) = Policy::parse("policy", POLICY, &[]).expect("a good policy");
    let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, "lines").expect("bound");
    let claim = Claim::Kmn(Kmn::new(k, 1, 0));
    Verification::of_records(&data, &binding, &claim, &[], 1 << 20, &Quiet).expect("countable")
}

#[test]
fn an_attribute_that_the_policy_removes_breaks_what_holds_otherwise() {
    let clean = of_records("{\"zip\":1}\n{\"zip\":1}\n", 2);
    assert!(clean.holds(), "{clean:?}");
    assert_eq!(clean.to_json()["left_over"], serde_json::json!([]));
    for (left, path) in [("name", "name"), ("ssn", "ssn"), ("nobody_declared", "nobody_declared")] {
        let found = of_records(&format!("{{\"zip\":1,\"{left}\":\"x\"}}\n{{\"zip\":1}}\n"), 2);
        assert_eq!((found.witness(), found.left.as_slice()), (None, &[path.to_owned()][..]));
        assert!(!found.holds());
        assert_eq!(found.to_json()["holds"], false);
        assert_eq!(found.to_json()["left_over"], serde_json::json!([path]));
    }
}

#[test]
fn a_witness_breaks_it_and_is_told_with_its_claim() {
    let found = of_records("{\"zip\":1}\n{\"zip\":2}\n", 2);
    assert!(!found.holds());
    let told = found.to_json();
    assert_eq!((&told["records"], &told["claim"]["model"]), (&2.into(), &"kmn".into()));
    assert_eq!(told["witness"]["support"], 1);
    assert!(told.get("groups").is_none() && told.get("degrees").is_none());
}

#[test]
fn a_misplaced_attribute_breaks_it_without_any_claim() {
    let wrong = Misplaced { path: "zip".into(), side: PublishedSide::Sensitive, reason: "is not sensitive" };
    let sides = JudgedSides { misplaced: vec![wrong], ..nothing() };
    let found = Verification::of_dissected(&sides, None, &[], &Quiet).expect("nothing to count");
    assert!(!found.holds());
    let told = found.to_json();
    assert_eq!(told["misplaced"][0]["side"], "sensitive");
    assert!(Verification::of_dissected(&nothing(), None, &[], &Quiet).expect("nothing").holds());
}

/// Two sides on which nothing stands.
fn nothing() -> JudgedSides {
    JudgedSides { dissected: Dissected::default(), left: Vec::new(), misplaced: Vec::new() }
}
