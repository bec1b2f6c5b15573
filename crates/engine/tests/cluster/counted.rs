//! What a run says it cost: missing values cannot be lost, sensitive ones can, and what the policy drops is not pruned.

use std::io::Cursor;

use bosket_engine::cluster::{Algorithm, Params, Release, foreseen, refuse_unfit, run};
use bosket_io::{Input, Layout};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_model::{Dataset, Failure, Fault};

use super::diverse;

const POLICY: &str = "version = 1
undeclared = 'drop'
[[attribute]]
path = 'town'
role = 'quasi'
hierarchy = 't.csv'
[[attribute]]
path = 'born'
role = 'quasi'
hierarchy = 't.csv'
[[attribute]]
path = 'loans[].amount'
role = 'sensitive'
[[attribute]]
path = 'notes[].secret'
role = 'identifying'
[[attribute]]
path = 'illness'
role = 'sensitive'
";

struct People {
    data: Dataset,
    binding: Binding,
    hierarchies: Vec<Option<Hierarchy>>,
}

impl People {
    fn new(text: &str) -> Self {
        let input = Input::new("people", Cursor::new(text.as_bytes().to_vec()), None).expect("readable");
        let data = bosket_io::read(input, Some("ndjson"), &Layout::default()).expect("good records").data;
        let (policy, _) = Policy::parse("p", POLICY, &[]).expect("a good policy");
        let binding = Binding::of_input(data.schema(), &policy.attributes, policy.undeclared, "people");
        let letters = csv::parse("t.csv", "x,*\ny,*\n").expect("a good hierarchy");
        let hierarchies = vec![Some(letters.clone()), Some(letters), None, None, None];
        People { data, binding: binding.expect("bound"), hierarchies }
    }

    fn run(&self, params: &Params) -> Release {
        run(&self.data, &self.binding, &self.hierarchies, params, &Quiet).expect("reachable")
    }

    fn unfit(&self, params: &Params) -> Failure {
        refuse_unfit(&self.data, &self.binding, &self.hierarchies, params).expect_err("unfit")
    }
}

/// Values of an attribute that are published.
fn published(release: &Release, path: &str) -> usize {
    let Some(id) = release.data.schema().find(path) else { return 0 };
    let class = release.data.schema().attribute(id).class;
    let own = (0..release.data.vertex_count()).filter(|&v| release.data.class(v) == class);
    own.filter(|&v| release.data.value(v, id) != bosket_model::MISSING).count()
}

#[test]
fn a_missing_value_is_not_published_as_it_was() {
    let people = People::new(
        r#"{"town":"x","born":"x","notes":[{"secret":1},{"secret":2}],"other":[{"a":1}]}
{"town":"x"}
{"town":"y"}
{"town":"y"}
"#,
    );
    let release = people.run(&Params::plain(Algorithm::Ctoff, 2, None));
    // The one date there is is gone; four towns are as they were.
    assert!((release.lm - 1.0 / 5.0).abs() < 1e-12, "{}", release.lm);
    assert_eq!(release.pruned, 0, "what the policy drops is not pruned");
}

const LOANS: &str = r#"{"town":"x","loans":[{"amount":1}]}
{"town":"x"}
{"town":"y","loans":[{"amount":2}]}
{"town":"y"}
"#;

#[test]
fn dropping_every_loan_is_not_for_nothing() {
    let people = People::new(LOANS);
    for algorithm in [Algorithm::Ctoff, Algorithm::Clustree, Algorithm::Dmiracle] {
        let of = |lost: f64| {
            let plain = Params::plain(algorithm, 2, Some(diverse(2.0)));
            people.run(&Params { lost, th: 1.0, climit: 1, ..plain })
        };
        let (cheap, dear) = (of(0.0), of(8.0));
        if algorithm != Algorithm::Dmiracle {
            assert_eq!(published(&cheap, "loans[].amount"), 0, "{algorithm:?}");
            assert_eq!(cheap.lm, 0.0, "{algorithm:?}: loans count nothing");
            assert_eq!(published(&dear, "loans[].amount"), 2, "{algorithm:?}: towns are given up instead");
            assert_eq!(dear.lm, 1.0, "{algorithm:?}");
        }
        // Two lost loans count as much as two towns.
        let usual = of(1.0);
        let lost = 2 - published(&usual, "loans[].amount");
        assert!(lost == 0 || usual.lm > 0.0, "{algorithm:?}: {lost} loans are lost for {}", usual.lm);
    }
}

#[test]
fn k_and_l_that_exclude_each_other_are_told_with_those_that_would_do() {
    let line = |i: usize| format!("{{\"town\":\"x\",\"illness\":\"i{}\"}}\n", i % 4);
    let people = People::new(&(0..40).map(line).collect::<String>());
    for algorithm in [Algorithm::Ctoff, Algorithm::Clustree, Algorithm::Miracle] {
        let ask = |k: u32, l: f64| Params::plain(algorithm, k, Some(diverse(l)));
        let failure = people.unfit(&ask(5, 3.0));
        assert_eq!(failure.fault, Fault::Unreachable);
        let told = failure.to_string();
        for part in
            ["k = 5 and l = 3 exclude each other", "4 different values", "k = 6", "l = 2.5", "illness"]
        {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(!told.contains("i1"), "no value of the data is told");
        // What is named does.
        for (k, l) in [(6, 3.0), (5, 2.5)] {
            let params = ask(k, l);
            refuse_unfit(&people.data, &people.binding, &people.hierarchies, &params).expect("fit");
            assert!(!people.run(&params).records.is_empty());
        }
    }
}

#[test]
fn a_value_with_too_large_a_share_is_foreseen() {
    let line = |i: usize| {
        let illness = if i < 6 { 0 } else { i };
        format!("{{\"town\":\"x\",\"illness\":\"i{illness}\"}}\n")
    };
    let people = People::new(&(0..10).map(line).collect::<String>());
    let told = |l: f64| {
        let params = Params::plain(Algorithm::Ctoff, 2, Some(diverse(l)));
        let found = foreseen(&people.data, &people.binding, &params).expect("labels");
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    // Six of ten: with four others only four of them can stand.
    for part in ["60.0 %", "at least 2 records have to be suppressed", "l = 1.66 would do", "illness"] {
        assert!(told(2.0).contains(part), "{part}: {}", told(2.0));
    }
    assert_eq!(told(1.5), "");
    let params = Params::plain(Algorithm::Ctoff, 2, Some(diverse(2.0)));
    assert!(people.run(&params).suppressed.len() >= 2);
}
