//! Untruths that were once believed, and a truth that was not.

use bosket_io::{Input, Layout};
use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Undeclared};
use bosket_verify::truth::{Comparison, Recoding, Side, compare};

const ATTRIBUTES: &str = r#"
version = 1
[[attribute]]
path = "visits[].hospital"
role = "quasi"
[[attribute]]
path = "visits[].ward"
role = "insensitive"
[[attribute]]
path = "visits[].cost"
role = "insensitive"
"#;

const KMN: &[&str] = &["privacy.model=kmn", "privacy.k=2", "privacy.m=2", "privacy.n=1"];
const KM: &[&str] = &["privacy.model=km", "privacy.k=2", "privacy.m=2"];
const LRA: &[&str] = &["privacy.model=km", "privacy.k=2", "privacy.m=2", "method.algorithm=lra"];
const DROP: &[&str] =
    &["privacy.model=kmn", "privacy.k=2", "privacy.m=2", "privacy.n=1", "privacy.payload=drop"];

fn read(text: &'static str) -> Dataset {
    let input = Input::new("records", text.as_bytes(), None).expect("readable");
    bosket_io::read(input, Some("ndjson"), &Layout::default()).expect("valid records").data
}

/// Whether a publication without generalization is true.
fn is_true(published: &'static str, input: &'static str, sets: &[&str]) -> bool {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    let (policy, _) = Policy::parse("p", ATTRIBUTES, &sets).expect("a good policy");
    let data = [published, input].map(read);
    let bindings = data.each_ref().map(|data| {
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared")
    });
    let comparison = Comparison {
        published: Side { data: &data[0], binding: &bindings[0] },
        input: Side { data: &data[1], binding: &bindings[1] },
        hierarchies: &[None, None, None],
        recoding: Recoding::of(&policy).expect("comparable"),
        suppress: false,
        mapping: None,
        sensitive: &[],
    };
    compare(&comparison, &Quiet).expect("comparable").is_empty()
}

const INPUT: &str =
    r#"{"visits":[{"hospital":"H1","ward":"eyes","cost":5},{"hospital":"H2","ward":"heart","cost":9}]}"#;

#[test]
fn payloads_were_believed_below_another_value() {
    let swapped =
        r#"{"visits":[{"hospital":"H1","ward":"heart","cost":9},{"hospital":"H2","ward":"eyes","cost":5}]}"#;
    for model in [KMN, KM, LRA] {
        assert!(is_true(INPUT, INPUT, model), "{model:?}");
        assert!(!is_true(swapped, INPUT, model), "{model:?}");
    }
}

#[test]
fn payloads_were_believed_in_new_company() {
    let mixed =
        r#"{"visits":[{"hospital":"H1","ward":"eyes","cost":9},{"hospital":"H2","ward":"heart","cost":5}]}"#;
    for model in [KMN, KM, LRA] {
        assert!(!is_true(mixed, INPUT, model), "{model:?}");
    }
}

#[test]
fn payloads_of_sets_were_not_looked_at() {
    let invented =
        r#"{"visits":[{"hospital":"H1","ward":"eyes","cost":5},{"hospital":"H2","ward":"nose","cost":9}]}"#;
    for model in [KM, LRA] {
        assert!(!is_true(invented, INPUT, model), "{model:?}");
    }
}

#[test]
fn payloads_were_not_looked_at_where_the_policy_drops_them() {
    assert!(!is_true(INPUT, INPUT, DROP));
    assert!(is_true(r#"{"visits":[{"hospital":"H1"},{"hospital":"H2"}]}"#, INPUT, DROP));
}

/// What was parted from its value stands alone, which is still true.
#[test]
fn payloads_may_lose_their_value() {
    let parted = r#"{"visits":[{"hospital":"H1"},{"ward":"eyes","cost":5},{"hospital":"H2","ward":"heart","cost":9}]}"#;
    assert!(is_true(parted, INPUT, KMN));
}

#[test]
fn a_number_beside_the_same_digits_as_text_was_called_untrue() {
    let both = r#"{"visits":[{"hospital":7},{"hospital":"7"}]}
{"visits":[{"hospital":"7"}]}"#;
    for model in [KMN, KM, LRA] {
        assert!(is_true(both, both, model), "{model:?}");
    }
}

/// An algorithm that there is not was taken for one that recodes globally.
#[test]
fn an_unknown_algorithm_is_not_taken_for_a_global_one() {
    let sets: Vec<String> = LRA.iter().map(|s| (*s).to_owned()).collect();
    let (mut policy, _) = Policy::parse("p", ATTRIBUTES, &sets).expect("a good policy");
    assert_eq!(Recoding::of(&policy).expect("known"), Recoding::LocalSets);
    policy.method.algorithm = Some("lraa".to_owned());
    assert_eq!(Recoding::of(&policy).expect_err("unknown").fault, bosket_model::Fault::Policy);
}

const LOCAL: &[&str] = &[
    "privacy.model=kmn",
    "privacy.k=2",
    "privacy.m=2",
    "privacy.n=1",
    "method.recoding=local",
    "publish.path=o.ndjson",
];

/// Rows were paired loosely: one row of the input stood for several published ones.
#[test]
fn a_row_of_the_input_stood_for_several() {
    let input = r#"{"visits":[{"hospital":"x"},{"hospital":"x"},{"hospital":"y"}]}"#;
    let moved = r#"{"visits":[{"hospital":"x"},{"hospital":"y"},{"hospital":"y"}]}"#;
    let fewer = r#"{"visits":[{"hospital":"x"},{"hospital":"y"}]}"#;
    let twice = r#"{"visits":[{"hospital":"y"},{"hospital":"y"}]}"#;
    for rows in ["distinct", "all"] {
        let rows = format!("publish.rows={rows}");
        for model in [LOCAL, KMN] {
            let sets = [model, &["publish.path=o.ndjson", rows.as_str()]].concat();
            assert!(is_true(input, input, &sets), "{sets:?}");
            assert!(!is_true(moved, input, &sets), "{sets:?}");
            assert!(!is_true(twice, input, &sets), "{sets:?}");
        }
        assert!(is_true(fewer, input, &[LOCAL, &[rows.as_str()]].concat()));
    }
}

/// A value that stands alone took the place of one that was published in its row.
#[test]
fn a_value_was_parted_and_stayed() {
    let parted = r#"{"visits":[{"hospital":"H1","ward":"eyes","cost":5},{"hospital":"H1"}]}"#;
    let input = r#"{"visits":[{"hospital":"H1","ward":"eyes","cost":5},{"ward":"nose","cost":1}]}"#;
    let honest = r#"{"visits":[{"hospital":"H1"},{"ward":"eyes","cost":5},{"ward":"nose","cost":1}]}"#;
    for model in [LOCAL, KMN] {
        assert!(!is_true(parted, input, model), "{model:?}");
        assert!(is_true(honest, input, model), "{model:?}");
    }
}
