//! A dry run refuses whatever a run would refuse before it searches.

use bosket_app::{anonymize, open, prepare};
use bosket_model::Fault;
use bosket_model::observe::Quiet;

use crate::util::{Example, families};

fn example(name: &str) -> Example {
    families().into_iter().find(|e| e.name == name).expect("an example")
}

/// What needs no data: the data is not even there.
#[test]
fn what_needs_no_data_is_refused_before_any_is_read() {
    let nowhere = "source.path=nowhere.ndjson";
    let cases: &[(&str, &[&str])] = &[
        ("clinic", &["privacy.model=km", "privacy.multiset=true"]),
        ("baskets", &["privacy.multiset=true"]),
        ("baskets", &["method.algorithm=lra", "privacy.negative=[\"1\"]"]),
        ("baskets", &["method.algorithm=ctoff"]),
        ("students", &["publish.anatomize=true", "privacy.siblings=each"]),
        ("clinic", &["publish.mapping=-"]),
        ("clinic", &["publish.certificate=-"]),
    ];
    for (name, sets) in cases {
        let example = example(name);
        let mut request = example.request(sets);
        if *name != "students" {
            request.policy.sets.push(nowhere.to_owned());
        }
        let dry = prepare(&request, &Quiet).err().unwrap_or_else(|| panic!("{name} {sets:?}"));
        assert_eq!(dry.fault, Fault::Policy, "{name} {sets:?}: {dry}");
        let real = anonymize(&request, &Quiet).expect_err("refused");
        assert_eq!(dry.diagnostics, real.diagnostics, "{name} {sets:?}");
    }
}

#[test]
fn a_policy_that_no_run_could_keep_is_refused_when_it_is_checked() {
    let example = example("baskets");
    for sets in [&["privacy.multiset=true"][..], &["method.algorithm=lra", "privacy.negative=[\"1\"]"]] {
        let request = example.request(sets);
        let refused = open::checked_policy(&request.policy, &request.settings, &Quiet);
        assert_eq!(refused.expect_err("refused").fault, Fault::Policy, "{sets:?}");
    }
}

#[test]
fn what_the_data_cannot_give_is_refused_without_a_search() {
    for (name, sets, fault) in [
        ("clinic", "privacy.k=1000", Fault::Unreachable),
        ("baskets", "privacy.k=1000", Fault::Unreachable),
        ("students", "method.algorithm=blocks", Fault::Policy),
        ("dissected JSON", "privacy.group_size=100000", Fault::Unreachable),
    ] {
        let example = example(name);
        let before = example.files();
        let dry = prepare(&example.request(&[sets]), &Quiet).expect_err("refused");
        assert_eq!(dry.fault, fault, "{name}: {dry}");
        assert_eq!(example.files(), before);
    }
}

#[test]
fn a_dry_run_writes_nothing_and_knows_the_data() {
    for example in families() {
        let before = example.files();
        let prepared = prepare(&example.request(&[]), &Quiet).expect("prepared").value;
        assert!(prepared.records() > 0, "{}", example.name);
        assert_eq!(example.files(), before);
    }
}
