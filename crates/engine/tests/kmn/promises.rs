//! k^(m,n): every publication is verified and true, whatever the search.

use bosket_engine::kmn::{Algorithm, Cost, Disassociation, Params, Release, Shortcuts, Verdict, run};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::csv;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Missing, Negative, Payload, Policy, Relations, RootMode, Rows};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Result};
use bosket_testkit::hurried::Hurried;
use bosket_testkit::trees::{ATTRIBUTES, PathRecord, dataset};
use bosket_verify::truth::{Comparison, Recoding, Side, compare};
use bosket_verify::{Claim, Kmn, verify};
use proptest::prelude::*;

use crate::{hierarchies, params};

fn bind(data: &Dataset) -> (Policy, Binding) {
    let (policy, _) = Policy::parse("p", ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("all declared");
    (policy, binding)
}

const NONE: Shortcuts = Shortcuts { memo: false, incremental: false, early_exit: false, leap: true };

fn anonymize(data: &Dataset, params: &Params) -> Result<Release> {
    let (_, binding) = bind(data);
    let trees = ValueTrees::new(data, &binding, RootMode::Separate, Payload::Keep);
    run(&trees, &hierarchies(3), params, None, &Quiet)
}

fn records() -> impl Strategy<Value = Vec<PathRecord>> {
    let path = (0..5usize, 0..5usize, 0..5usize).prop_map(|(a, b, c)| {
        let mut path = Vec::new();
        for (level, n) in [("A", a), ("B", b), ("C", c)] {
            if n > 0 {
                path.push(format!("{level}{n}"));
            }
        }
        path
    });
    prop::collection::vec(prop::collection::vec(path, 0..4), 1..12)
}

/// Records whose paths have all attributes.
fn whole_records() -> impl Strategy<Value = Vec<PathRecord>> {
    let path = (1..5usize, 1..5usize, 1..5usize)
        .prop_map(|(a, b, c)| vec![format!("A{a}"), format!("B{b}"), format!("C{c}")]);
    prop::collection::vec(prop::collection::vec(path, 1..4), 4..40)
}

/// What the search promises.
fn promised(p: &Params) -> Claim {
    Claim::Kmn(Kmn::new(p.k, p.m as u32, p.n as u32))
}

/// Reads the publication as a stranger would: from the records that were written.
fn check(data: &Dataset, release: &Release, p: &Params, claim: &Claim) {
    let (_, input_binding) = bind(data);
    let published = release.published.write_back(&input_binding);
    let (_, binding) = bind(&published);
    let again = ValueTrees::new(&published, &binding, RootMode::Separate, Payload::Keep);
    assert_eq!(again.len(), release.published.len());
    let witness = verify(&published, &binding, claim, &[], 1 << 30, &Quiet).expect("countable");
    assert_eq!(witness, None, "{p:?}\n{release:?}");
    let comparison = Comparison {
        published: Side { data: &published, binding: &binding },
        input: Side { data, binding: &input_binding },
        hierarchies: &hierarchies(3),
        recoding: Recoding::GlobalTrees {
            root: RootMode::Separate,
            payload: Payload::Keep,
            rows: Rows::United,
            missing: Missing::Nothing,
        },
        suppress: p.suppress,
        mapping: None,
        sensitive: &[],
    };
    assert_eq!(compare(&comparison, &Quiet).expect("comparable"), [], "{p:?}\n{release:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn publications_are_verified_and_true(records in records(), k in 2u32..5, m in 1usize..5, n in 0usize..4) {
        let data = dataset(&records);
        for algorithm in [Algorithm::Acs, Algorithm::Gcs, Algorithm::Ocs, Algorithm::Best] {
            let p = params(3, algorithm, k, m, n);
            if let Ok(release) = anonymize(&data, &p) {
                check(&data, &release, &p, &promised(&p));
            }
        }
    }

    #[test]
    fn promises_beyond_the_search_are_kept(records in records(), k in 2u32..4, m in 2usize..4, guard: bool) {
        let data = dataset(&records);
        let (_, binding) = bind(&data);
        let claim = Claim::Kmn(Kmn { relations: Relations::Embedded, guard, rows: Rows::United, ..Kmn::new(k, m as u32, 2) });
        let holds = |trees: &ValueTrees| {
            let published = trees.write_back(&binding);
            let (_, binding) = bind(&published);
            let witness = verify(&published, &binding, &claim, &[], 1 << 30, &Quiet)?;
            Ok(witness.map_or(Verdict::Kept, |w| {
                let value = |i: usize| {
                    let known = &w.values[i];
                    let declared = binding.declared.iter().position(|d| d.path == known.path);
                    (declared.expect("a declared path"), known.value.clone())
                };
                Verdict::Broken(w.relations.iter().map(|&(a, b)| (value(a), value(b))).collect())
            }))
        };
        let p = Params { beyond: true, ..params(3, Algorithm::Best, k, m, 2) };
        let trees = ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Keep);
        if let Ok(release) = run(&trees, &hierarchies(3), &p, Some(&holds), &Quiet) {
            // Neither reading of relations contains the other: only the one that was asked for is promised.
            check(&data, &release, &p, &claim);
        }
    }

    #[test]
    fn every_way_to_part_values_keeps_the_promise(records in records(), k in 2u32..5, m in 2usize..4, n in 1usize..3) {
        let data = dataset(&records);
        for disassociation in [Disassociation::Subtree, Disassociation::Ancestor, Disassociation::Cheapest] {
            for algorithm in [Algorithm::Gcs, Algorithm::Best] {
                let p = Params { disassociation, ..params(3, algorithm, k, m, n) };
                if let Ok(release) = anonymize(&data, &p) {
                    check(&data, &release, &p, &promised(&p));
                }
            }
        }
    }

    #[test]
    fn values_left_out_keep_the_promise(records in records(), k in 2u32..5, m in 1usize..4, n in 0usize..3) {
        let data = dataset(&records);
        for algorithm in [Algorithm::Acs, Algorithm::Gcs, Algorithm::Best] {
            let plain = params(3, algorithm, k, m, n);
            let p = Params { suppress: true, ..plain.clone() };
            match (anonymize(&data, &p), anonymize(&data, &plain)) {
                (Ok(release), with) => {
                    check(&data, &release, &p, &promised(&p));
                    let plain = Params { shortcuts: NONE, ..p.clone() };
                    prop_assert_eq!(&anonymize(&data, &plain).expect("as with").published, &release.published);
                    prop_assert!(release.emptied > 0 || algorithm != Algorithm::Acs || with.is_ok());
                }
                (Err(_), without) => prop_assert!(without.is_err()),
            }
        }
    }

    #[test]
    fn absent_values_keep_the_promise(records in records(), k in 2u32..4, m in 1usize..4) {
        let data = dataset(&records);
        let negative: Vec<String> = ["A1", "A2", "B3", "C1", "C2", "C3", "C4"].map(str::to_owned).to_vec();
        for algorithm in [Algorithm::Acs, Algorithm::Gcs, Algorithm::Best] {
            let p = Params { negative: negative.clone(), ..params(3, algorithm, k, m, 0) };
            let Ok(release) = anonymize(&data, &p) else { continue };
            check(&data, &release, &p, &promised(&p));
            let trees = &release.published;
            let listed = |label: &str| {
                negative.iter().any(|n| n == label) || matches!(label, "Ax" | "Cx" | "Cy")
            };
            // Present items as they are, absent ones after them.
            let items = trees.items().len();
            let signed: Vec<Vec<usize>> = (0..trees.len())
                .map(|r| {
                    let has = |i: usize| trees.nodes(r).any(|n| trees.item(n) as usize == i);
                    let absent = |i: &usize| {
                        let item = &trees.items()[*i];
                        !has(*i) && (listed(&item.label) || (item.declared == 2 && item.label == "*"))
                    };
                    (0..items).filter(|&i| has(i)).chain((0..items).filter(absent).map(|i| i + items)).collect()
                })
                .collect();
            for own in &signed {
                for set in subsets(own, m) {
                    let support = signed.iter().filter(|r| set.iter().all(|i| r.contains(i))).count();
                    prop_assert!(support >= k as usize, "{set:?} of {:?}: {support}\n{:?}", trees.items(), release);
                }
            }
        }
    }

    #[test]
    fn absent_values_keep_the_promise_with_relations(records in records(), k in 2u32..4, m in 2usize..4, n in 1usize..3) {
        let data = dataset(&records);
        let (_, input_binding) = bind(&data);
        let negative: Vec<String> = ["A1", "B1", "B2", "C1", "C2", "C3", "C4"].map(str::to_owned).to_vec();
        let claim = Claim::Kmn(Kmn {
            negative: negative.iter().cloned().map(Negative::Value).collect(),
            ..Kmn::new(k, m as u32, n as u32)
        });
        for algorithm in [Algorithm::Gcs, Algorithm::Best] {
            let p = Params { negative: negative.clone(), ..params(3, algorithm, k, m, n) };
            let Ok(release) = anonymize(&data, &p) else { continue };
            let published = release.published.write_back(&input_binding);
            let (_, binding) = bind(&published);
            let witness = verify(&published, &binding, &claim, &hierarchies(3), 1 << 30, &Quiet);
            prop_assert_eq!(witness.expect("countable"), None);
        }
    }

    #[test]
    fn shared_attributes_have_one_cut(records in records(), k in 2u32..4, m in 1usize..4, n in 0usize..3) {
        let data = dataset(&records);
        let leaves = ["A", "B", "C"].iter().flat_map(|l| {
            [(1, 'x'), (2, 'x'), (3, 'y'), (4, 'y')].map(|(n, group)| format!("{l}{n};{group};*\n"))
        });
        let one = csv::parse("h", &leaves.collect::<String>()).expect("a hierarchy");
        let all = vec![Some(one.clone()), Some(one.clone()), Some(one)];
        let (_, binding) = bind(&data);
        let trees = ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Keep);
        for algorithm in [Algorithm::Acs, Algorithm::Gcs, Algorithm::Best] {
            let p = Params { shared: vec![0, 1, 0], ..params(3, algorithm, k, m, n) };
            let Ok(release) = run(&trees, &all, &p, None, &Quiet) else { continue };
            let cut = |declared: usize| release.cut.iter().find(|c| c.0 == declared).map_or(&[][..], |c| &c.1);
            let below = |label: &str| match &label[1..] {
                "1" | "2" => "x",
                "3" | "4" => "y",
                _ => "",
            };
            for a in cut(0) {
                for c in cut(2) {
                    prop_assert_eq!(a == "*", c == "*");
                    prop_assert!(below(a) != c && below(c) != a, "{a} and {c}");
                }
            }
            let occurs = |declared: usize| trees.items().iter().any(|i| i.declared == declared);
            if occurs(0) && occurs(2) {
                prop_assert_eq!(cut(0).is_empty(), cut(2).is_empty());
            }
        }
    }

    #[test]
    fn without_relations_repair_changes_nothing(records in records(), k in 2u32..4, m in 1usize..4) {
        let data = dataset(&records);
        let gcs = anonymize(&data, &params(3, Algorithm::Gcs, k, m, 0));
        let ocs = anonymize(&data, &params(3, Algorithm::Ocs, k, m, 0));
        match (gcs, ocs) {
            (Ok(a), Ok(b)) => prop_assert_eq!(a.published, b.published),
            (a, b) => prop_assert_eq!(a.is_ok(), b.is_ok()),
        }
    }

    #[test]
    fn shortcuts_change_nothing(records in records(), k in 2u32..5, m in 1usize..5, n in 0usize..4) {
        let data = dataset(&records);
        let one_off = [
            Shortcuts { memo: false, ..Shortcuts::default() },
            Shortcuts { incremental: false, ..Shortcuts::default() },
            Shortcuts { early_exit: false, ..Shortcuts::default() },
            NONE,
        ];
        let by = [Cost::RpdA, Cost::Lm];
        let all = [Algorithm::Acs, Algorithm::Gcs, Algorithm::Ocs, Algorithm::Best];
        for (algorithm, cost) in all.into_iter().flat_map(|algorithm| by.map(|cost| (algorithm, cost))) {
            let p = Params { cost, ..params(3, algorithm, k, m, n) };
            let with = anonymize(&data, &p).ok().map(|r| (r.published, r.rules, r.cut));
            for shortcuts in one_off {
                let plain = Params { shortcuts, ..p.clone() };
                let without = anonymize(&data, &plain).ok().map(|r| (r.published, r.rules, r.cut));
                prop_assert_eq!(&with, &without);
            }
        }
    }

    #[test]
    fn an_easy_promise_is_found_at_once_and_loses_no_more(
        records in whole_records(), k in 1u32..4, m in 1usize..3, n in 0usize..2,
    ) {
        let data = dataset(&records);
        for algorithm in [Algorithm::Gcs, Algorithm::Ocs, Algorithm::Best] {
            let p = params(3, algorithm, k, m, n);
            let walking = Params { shortcuts: Shortcuts { leap: false, ..Shortcuts::default() }, ..p.clone() };
            let (Ok(leapt), Ok(walked)) = (anonymize(&data, &p), anonymize(&data, &walking)) else { continue };
            check(&data, &leapt, &p, &promised(&p));
            prop_assert!(leapt.cost <= walked.cost * (1.0 + 1e-9), "{} against {}", leapt.cost, walked.cost);
        }
    }

    #[test]
    fn what_is_cut_short_keeps_its_promise(
        records in records(), k in 2u32..4, m in 1usize..4, n in 0usize..3, asks in 0usize..40,
    ) {
        let data = dataset(&records);
        let trees = ValueTrees::new(&data, &bind(&data).1, RootMode::Separate, Payload::Keep);
        for algorithm in [Algorithm::Acs, Algorithm::Gcs, Algorithm::Ocs, Algorithm::Best] {
            let p = params(3, algorithm, k, m, n);
            let observer = Hurried::new(asks);
            if let Ok(release) = run(&trees, &hierarchies(3), &p, None, &observer) {
                check(&data, &release, &p, &promised(&p));
                prop_assert!(!release.cut_short || observer.is_over());
            }
        }
    }

    /// Cuts are compared by a few of the records; what is published is judged by all, whatever their order.
    #[test]
    fn a_search_by_a_sample_keeps_the_promise(
        records in whole_records(), k in 2u32..5, m in 1usize..4, n in 0usize..3, sample in 1usize..4,
    ) {
        let data = dataset(&records);
        let p = Params { sample, ..params(3, Algorithm::Best, k, m, n) };
        let found = anonymize(&data, &p).ok();
        if let Some(release) = &found {
            check(&data, release, &p, &promised(&p));
        }
        let seen = |release: Option<Release>| release.map(|r| (r.cut, r.rules, r.rpd.to_bits() >> 16));
        let turned: Vec<PathRecord> = records.iter().rev().cloned().collect();
        let again = anonymize(&dataset(&turned), &p).ok();
        let plain = anonymize(&data, &Params { shortcuts: NONE, ..p.clone() }).ok();
        let (found, again, plain) = (seen(found), seen(again), seen(plain));
        prop_assert_eq!(&found, &again);
        prop_assert_eq!(&found, &plain);
    }

    #[test]
    fn threads_change_nothing(records in records(), k in 2u32..4, m in 2usize..4, n in 0usize..3) {
        let data = dataset(&records);
        let p = params(3, Algorithm::Gcs, k, m, n);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| anonymize(&data, &p).map(|r| (r.published, r.rules)).ok())
        };
        prop_assert_eq!(with(1), with(3));
    }
}

#[test]
fn single_values_are_not_walked_one_by_one() {
    let value = |level: &str, n: usize| format!("{level}{}", n % 4 + 1);
    let path = |r: usize| vec![value("A", r), value("B", r / 2), value("C", r / 3)];
    let records: Vec<PathRecord> = (0..60).map(|r| vec![path(r), path(r + 7)]).collect();
    let data = dataset(&records);
    let p = params(3, Algorithm::Gcs, 2, 1, 0);
    let walking = Params { shortcuts: Shortcuts { leap: false, ..Shortcuts::default() }, ..p.clone() };
    let (leapt, walked) = (anonymize(&data, &p).expect("easy"), anonymize(&data, &walking).expect("easy"));
    assert_eq!((&leapt.published, &leapt.cut), (&walked.published, &walked.cut));
    assert!(leapt.examined <= 3 && walked.examined > 20, "{} and {}", leapt.examined, walked.examined);
}

/// A4 and B4 are common, but in one record only they are together: one of the two steps has to be left out. All others
/// stand in nobody's way and are taken at once.
#[test]
fn what_stands_in_nobodys_way_is_not_walked_one_by_one() {
    let value = |level: &str, n: usize| format!("{level}{}", n % 3 + 1);
    let path = |r: usize| match r % 9 {
        7 => vec!["A4".to_owned(), value("B", r / 2), value("C", r / 3)],
        8 => vec![value("A", r), "B4".to_owned(), value("C", r / 3)],
        _ => vec![value("A", r), value("B", r / 2), value("C", r / 3)],
    };
    let mut records: Vec<PathRecord> = (0..21_000).map(|r| vec![path(r * 7 + r / 11)]).collect();
    records.push(vec![vec!["A4".to_owned(), "B4".to_owned(), "C1".to_owned()]]);
    let data = dataset(&records);
    let p = params(3, Algorithm::Gcs, 2, 2, 0);
    let walking = Params { shortcuts: Shortcuts { leap: false, ..Shortcuts::default() }, ..p.clone() };
    let (leapt, walked) = (anonymize(&data, &p).expect("easy"), anonymize(&data, &walking).expect("easy"));
    check(&data, &leapt, &p, &promised(&p));
    assert!(leapt.cost <= walked.cost * (1.0 + 1e-9), "{} against {}", leapt.cost, walked.cost);
    assert!(2 * leapt.examined < walked.examined, "{} and {}", leapt.examined, walked.examined);
}

/// A4 and B4 are in many records, but one above the other in two only, and so are A3 and C4: relations that have to be taken
/// apart, or else a step that is left out. Of many rows most such children are glanced at alone.
#[test]
fn children_that_are_not_repaired_at_once_change_nothing() {
    let value = |level: &str, n: usize| format!("{level}{}", n % 3 + 1);
    let path = |r: usize| vec![value("A", r), value("B", r / 2), value("C", r / 3)];
    let row = |values: [&str; 3]| values.map(str::to_owned).to_vec();
    let record = |r: usize| match r {
        0 | 1 => vec![row(["A4", "B4", "C1"]), path(r)],
        2 | 3 => vec![row(["A3", "B1", "C4"])],
        _ if r.is_multiple_of(9) => vec![row(["A4", "B1", "C2"]), row(["A1", "B4", "C4"])],
        _ => vec![path(r * 7 + r / 11)],
    };
    let data = dataset(&(0..21_000).map(record).collect::<Vec<PathRecord>>());
    for (algorithm, cost) in
        [(Algorithm::Gcs, Cost::RpdA), (Algorithm::Ocs, Cost::RpdA), (Algorithm::Gcs, Cost::Lm)]
    {
        let p = Params { cost, ..params(3, algorithm, 5, 2, 1) };
        let whole = Params { shortcuts: NONE, ..p.clone() };
        let (glanced, whole) = (anonymize(&data, &p).expect("easy"), anonymize(&data, &whole).expect("easy"));
        check(&data, &glanced, &p, &promised(&p));
        assert_eq!(
            (&glanced.published, &glanced.rules, &glanced.cut),
            (&whole.published, &whole.rules, &whole.cut)
        );
        assert_eq!(glanced.rules.is_empty(), algorithm == Algorithm::Ocs, "{:?}", glanced.rules);
    }
}

fn subsets(of: &[usize], largest: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for &i in of {
        let more: Vec<Vec<usize>> =
            all.iter().filter(|s| s.len() < largest).map(|s| [s.as_slice(), &[i]].concat()).collect();
        all.extend(more);
    }
    all.retain(|s| !s.is_empty());
    all
}
