//! The second count: it finds whatever a first count that says yes to everything lets through, and agrees with one that
//! does not.

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Diversity, Policy, Relations, Siblings, Undeclared};
use bosket_model::{Dataset, Fault, Result};
use bosket_testkit::dice::Dice;
use bosket_testkit::{sets, trees};
use bosket_verify::recount::{Recount, of_records};
use bosket_verify::vertex::Diverse;
use bosket_verify::{Claim, Km, Kmn, Verification, Witness};

/// Holds the second count to what the first one found; for use wherever that is held to a definition.
pub(crate) fn agrees(
    (data, binding): (&Dataset, &Binding),
    claim: &Claim,
    hierarchies: &[Option<Hierarchy>],
    found: Option<Witness>,
) -> Option<Witness> {
    let again = of_records(data, binding, claim, hierarchies, &Quiet);
    match &found {
        // Only relations that are known to be absent are not counted again, and then it says so.
        Some(witness) if !witness.unrelated.is_empty() && again.is_ok() => {
            assert!(!again.expect("not looked at").not_covered.is_empty());
        }
        found => judges(again, found.is_none()),
    }
    found
}

/// On a few records the second count sees everything: it passes what holds and nothing else.
pub(crate) fn judges(again: Result<Recount>, holds: bool) {
    match again {
        Ok(recount) => {
            assert!(holds, "the second count passed what does not hold: {recount:?}");
            assert!(recount.complete, "{recount:?}");
        }
        Err(failure) => {
            assert_eq!(failure.fault, Fault::Defect);
            assert!(!holds, "the second count broke what holds: {failure}");
        }
    }
}

fn bound(data: Dataset, attributes: &str) -> (Dataset, Binding) {
    let (policy, _) = Policy::parse("p", attributes, &[]).expect("a good policy");
    let binding = Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data");
    (data, binding.expect("all declared"))
}

/// People of a few kinds, all alike within a kind; `lonely` of them are like nobody else.
fn people(count: usize, lonely: usize) -> (Dataset, Binding) {
    let mut dice = Dice::new(7);
    let kinds: Vec<trees::PathRecord> = (0..40)
        .map(|_| {
            let path =
                |dice: &mut Dice| trees::LEVELS.map(|level| format!("{level}{}", dice.below(5))).to_vec();
            (0..1 + dice.below(6)).map(|_| path(&mut dice)).collect()
        })
        .collect();
    let mut records: Vec<trees::PathRecord> = (0..count).map(|i| kinds[i % kinds.len()].clone()).collect();
    for at in 0..lonely {
        let place = at * count / lonely;
        records[place].push(vec![format!("A-{at}"), format!("B-{at}")]);
    }
    bound(trees::dataset(&records), trees::ATTRIBUTES)
}

fn claims() -> Vec<Claim> {
    let kmn = |m, n, relations| Claim::Kmn(Kmn { relations, ..Kmn::new(5, m, n) });
    vec![
        kmn(2, 0, Relations::Pair),
        kmn(3, 2, Relations::Pair),
        kmn(3, 2, Relations::Embedded),
        Claim::Kmn(Kmn { guard: true, ..Kmn::new(5, 2, 1) }),
        Claim::Km(Km { k: 5, m: 3, ..Km::default() }),
        Claim::KAnonymity { k: 5 },
    ]
}

#[test]
fn many_records_are_sampled_and_the_same_ones_every_time() {
    let (data, binding) = people(60_000, 0);
    for claim in claims() {
        let again = || of_records(&data, &binding, &claim, &[], &Quiet).expect("it holds");
        let recount = again();
        assert!(!recount.complete && recount.pieces >= 40 && recount.records >= 20, "{claim:?} {recount:?}");
        assert_eq!(recount, again(), "{claim:?}");
        let guarded = matches!(&claim, Claim::Kmn(claim) if claim.guard);
        assert_eq!(recount.not_covered.is_empty(), !guarded, "{claim:?} {recount:?}");
    }
}

#[test]
fn a_sample_finds_what_is_wrong_with_many() {
    let (data, binding) = people(60_000, 30_000);
    for claim in claims() {
        let failure = of_records(&data, &binding, &claim, &[], &Quiet).expect_err("half of them are alone");
        assert_eq!(failure.fault, Fault::Defect, "{claim:?}");
        assert!(!failure.to_string().contains("A-"), "{failure}");
    }
}

/// Relations of such records would be counted each with each; what they could decide is left out, the rest is not.
#[test]
fn a_record_of_thousands_of_vertices_took_the_second_count_hours() {
    let large: trees::PathRecord =
        (0..1_000).map(|i| vec![format!("A{}", i % 7), format!("B{}", i % 50), format!("C{i}")]).collect();
    let small: trees::PathRecord = vec![vec!["A1".to_owned(), "B1".to_owned()]];
    let records: Vec<_> = (0..10).map(|i| if i < 5 { large.clone() } else { small.clone() }).collect();
    let (data, binding) = bound(trees::dataset(&records), trees::ATTRIBUTES);
    for claim in claims() {
        let recount = of_records(&data, &binding, &claim, &[], &Quiet).expect("it holds");
        assert!(recount.pieces > 0, "{claim:?} {recount:?}");
    }
}

/// A bound on what somebody may know keeps the count of everything small; one lonely person is found wherever it is.
#[test]
fn of_few_records_all_are_counted() {
    for count in [80, 400, 1200] {
        for lonely in [0, 1] {
            let (data, binding) = people(count, lonely);
            let k = count as u32 / 40;
            for claim in [Claim::Kmn(Kmn::new(k, 2, 1)), Claim::KAnonymity { k }] {
                let again = of_records(&data, &binding, &claim, &[], &Quiet);
                assert_eq!(again.is_ok(), lonely == 0, "{count} {again:?}");
                assert!(again.is_err() || again.is_ok_and(|recount| recount.complete), "{count}");
            }
        }
    }
}

#[test]
fn what_is_said_about_sensitive_values_is_sampled_too() {
    const SECRET: &str = r#"
        version = 1
        [[attribute]]
        path = "a[].v"
        role = "quasi"
        [[attribute]]
        path = "a[].b[].v"
        role = "quasi"
        [[attribute]]
        path = "a[].b[].c[].v"
        role = "sensitive"
    "#;
    let (data, _) = people(30_000, 0);
    let (data, binding) = bound(data, SECRET);
    let ask = |l| Diverse {
        l,
        diversity: Diversity::Frequency,
        siblings: Siblings::Pooled,
        distinct_everywhere: Vec::new(),
        buckets: vec![None; 3],
    };
    for (l, holds) in [(1.0, true), (4.9, false)] {
        let alike = Claim::LDiversity { k: Some(5), ask: ask(l) };
        let known = Claim::Kmn(Kmn { l: Some(l), ..Kmn::new(5, 2, 1) });
        for claim in [alike, known] {
            let again = of_records(&data, &binding, &claim, &[], &Quiet);
            assert_eq!(again.is_ok(), holds, "{claim:?} {again:?}");
            assert!(again.is_err() || again.is_ok_and(|recount| recount.not_covered.is_empty()), "{claim:?}");
        }
    }
}

#[test]
fn a_verification_says_what_was_counted_again() {
    let transactions = vec![vec!["x".to_owned(), "y".to_owned()]; 3];
    let (data, binding) = bound(sets::dataset(&transactions), sets::ATTRIBUTES);
    let claim = |k| Claim::Km(Km { k, m: 2, ..Km::default() });
    let check =
        |k| Verification::of_records(&data, &binding, &claim(k), &[], 1 << 20, &Quiet).expect("small");
    let told = check(3).to_json();
    assert_eq!(
        told["recount"],
        serde_json::json!({"pieces": 3, "records": 3, "complete": true, "not_covered": []})
    );
    let broken = check(4);
    assert!(broken.recount().is_none() && broken.to_json()["recount"].is_null());
}
