//! One value, one spelling: what a person reads as the same is the same, whatever kind a format gives it.

use bosket_io::{Input, Layout};
use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_verify::{Claim, Verification};

fn lines(text: &str) -> Dataset {
    let input = Input::new("lines", std::io::Cursor::new(text.as_bytes().to_vec()), None).expect("readable");
    bosket_io::read(input, Some("ndjson"), &Layout::default()).expect("records").data
}

fn of_records(text: &str, privacy: &str) -> Verification {
    let attributes =
        ["v[].a", "v[].t[]"].map(|path| format!("[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\n"));
    let policy =
        format!("version = 1\n{}[publish]\nrows = \"united\"\n[privacy]\n{privacy}", attributes.concat());
    let (policy, _) = Policy::parse("policy", &policy, &[]).expect("a good policy");
    let data = lines(text);
    let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, "lines").expect("bound");
    let claim = Claim::new(&policy).expect("a claim");
    Verification::of_records(&data, &binding, &claim, &[], 1 << 20, &Quiet).expect("countable")
}

/// Nine records in which `1` and `"1"` hide that one person has both p and q below 1.
const MIXED: &str = r#"{"v": [{"a": 1, "t": ["p"]}, {"a": "1", "t": ["q"]}]}
{"v": [{"a": 1, "t": ["p"]}, {"a": 2, "t": ["q"]}]}
{"v": [{"a": 1, "t": ["p"]}, {"a": 2, "t": ["q"]}]}
{"v": [{"a": "1", "t": ["q"]}, {"a": 2, "t": ["p"]}]}
{"v": [{"a": "1", "t": ["q"]}, {"a": 2, "t": ["p"]}]}
{"v": [{"a": 1, "t": ["p"]}, {"a": "1"}]}
{"v": [{"a": 1, "t": ["p"]}, {"a": "1"}]}
{"v": [{"a": "1", "t": ["q"]}, {"a": 1}]}
{"v": [{"a": "1", "t": ["q"]}, {"a": 1}]}
"#;

#[test]
fn a_mixture_of_kinds_is_judged_like_its_text() {
    let text = MIXED.replace("\"a\": 1", "\"a\": \"1\"").replace("\"a\": 2", "\"a\": \"2\"");
    for relations in ["pair", "embedded"] {
        let kmn = format!("model = \"kmn\"\nk = 2\nm = 3\nn = 2\nrelations = \"{relations}\"\n");
        let (mixed, plain) = (of_records(MIXED, &kmn), of_records(&text, &kmn));
        assert_eq!(mixed.holds(), plain.holds(), "{relations}");
        assert_eq!(mixed.to_json()["witness"], plain.to_json()["witness"], "{relations}");
    }
    assert!(!of_records(MIXED, "model = \"kmn\"\nk = 2\nm = 3\nn = 2\n").holds());
}

#[test]
fn records_look_alike_if_they_read_alike() {
    let (number, text) = (r#"{"v": [{"a": 1, "t": [true]}]}"#, r#"{"v": [{"a": "1", "t": ["true"]}]}"#);
    let alike = of_records(&format!("{number}\n{text}\n"), "model = \"k-anonymity\"\nk = 2\n");
    assert!(alike.holds(), "{alike:?}");
    assert!(alike.recount().is_some_and(|recount| recount.complete && recount.pieces == 1));
    // What is written in another way is read in another way.
    let other = number.replace('1', "\"1.0\"");
    assert!(!of_records(&format!("{number}\n{other}\n"), "model = \"k-anonymity\"\nk = 2\n").holds());
}
