//! k^(m,n): every publication is verified and true, whatever the search.

use bosket_engine::kmn::{Algorithm, Cost, Params, Release, run};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Payload, Policy, Relations, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Result};
use bosket_testkit::trees::{ATTRIBUTES, PathRecord, dataset};
use bosket_verify::truth::{Comparison, Recoding, Side, compare};
use bosket_verify::{Claim, verify};
use proptest::prelude::*;

fn hierarchies() -> Vec<Option<Hierarchy>> {
    ["A", "B", "C"]
        .iter()
        .map(|l| {
            let text = format!("{l}1;{l}x;*\n{l}2;{l}x;*\n{l}3;{l}y;*\n{l}4;{l}y;*\n");
            Some(csv::parse("h", &text).expect("a hierarchy"))
        })
        .collect()
}

fn bind(data: &Dataset) -> (Policy, Binding) {
    let (policy, _) = Policy::parse("p", ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("all declared");
    (policy, binding)
}

fn params(algorithm: Algorithm, k: u32, m: usize, n: usize) -> Params {
    Params {
        algorithm,
        k,
        m,
        n,
        g: 2,
        cost: Cost::RpdA,
        max_cuts: 100_000,
        weights: vec![1.0; 3],
        beyond: false,
        disassociate: true,
        improve: algorithm == Algorithm::Best,
        remember: true,
    }
}

fn anonymize(data: &Dataset, params: &Params) -> Result<Release> {
    let (_, binding) = bind(data);
    let trees = ValueTrees::new(data, &binding, RootMode::Separate, Payload::Keep);
    run(&trees, &hierarchies(), params, None, &Quiet)
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

/// Reads the publication as a stranger would: from the records that were written.
fn check(data: &Dataset, release: &Release, p: &Params) {
    let (_, input_binding) = bind(data);
    let published = release.trees.write_back(&input_binding);
    let (_, binding) = bind(&published);
    let again = ValueTrees::new(&published, &binding, RootMode::Separate, Payload::Keep);
    assert_eq!(again.len(), release.trees.len());
    let claim = Claim::Kmn {
        k: p.k,
        m: p.m as u32,
        n: p.n as u32,
        relations: Relations::Pair,
        root: RootMode::Separate,
        guard: false,
        l: None,
    };
    let witness = verify(&published, &binding, &claim, 1 << 30, &Quiet).expect("countable");
    assert_eq!(witness, None, "{p:?}\n{release:?}");
    let comparison = Comparison {
        published: Side { data: &published, binding: &binding },
        input: Side { data, binding: &input_binding },
        hierarchies: &hierarchies(),
        recoding: Recoding::GlobalTrees { root: RootMode::Separate, payload: Payload::Keep },
        suppress: false,
        mapping: None,
    };
    assert_eq!(compare(&comparison, &Quiet).expect("comparable"), [], "{p:?}\n{release:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn publications_are_verified_and_true(records in records(), k in 2u32..5, m in 1usize..5, n in 0usize..4) {
        let data = dataset(&records);
        for algorithm in [Algorithm::Acs, Algorithm::Gcs, Algorithm::Ocs, Algorithm::Best] {
            let p = params(algorithm, k, m, n);
            if let Ok(release) = anonymize(&data, &p) {
                check(&data, &release, &p);
            }
        }
    }

    #[test]
    fn promises_beyond_the_search_are_kept(records in records(), k in 2u32..4, m in 2usize..4, guard: bool) {
        let data = dataset(&records);
        let (_, binding) = bind(&data);
        let claim = Claim::Kmn {
            k,
            m: m as u32,
            n: 2,
            relations: Relations::Embedded,
            root: RootMode::Separate,
            guard,
            l: None,
        };
        let holds = |trees: &ValueTrees| {
            let published = trees.write_back(&binding);
            let (_, binding) = bind(&published);
            verify(&published, &binding, &claim, 1 << 30, &Quiet).map(|w| w.is_none())
        };
        let p = Params { beyond: true, ..params(Algorithm::Best, k, m, 2) };
        let trees = ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Keep);
        if let Ok(release) = run(&trees, &hierarchies(), &p, Some(&holds), &Quiet) {
            prop_assert!(holds(&release.trees).expect("countable"));
            check(&data, &release, &p);
        }
    }

    #[test]
    fn without_relations_repair_changes_nothing(records in records(), k in 2u32..4, m in 1usize..4) {
        let data = dataset(&records);
        let gcs = anonymize(&data, &params(Algorithm::Gcs, k, m, 0));
        let ocs = anonymize(&data, &params(Algorithm::Ocs, k, m, 0));
        match (gcs, ocs) {
            (Ok(a), Ok(b)) => prop_assert_eq!(a.trees, b.trees),
            (a, b) => prop_assert_eq!(a.is_ok(), b.is_ok()),
        }
    }

    #[test]
    fn remembering_changes_nothing(records in records(), k in 2u32..5, m in 1usize..5, n in 0usize..4) {
        let data = dataset(&records);
        for algorithm in [Algorithm::Gcs, Algorithm::Ocs] {
            let p = params(algorithm, k, m, n);
            let plain = Params { remember: false, ..p.clone() };
            let (with, without) = (anonymize(&data, &p).ok(), anonymize(&data, &plain).ok());
            prop_assert_eq!(with.map(|r| (r.trees, r.rules)), without.map(|r| (r.trees, r.rules)));
        }
    }

    #[test]
    fn threads_change_nothing(records in records(), k in 2u32..4, m in 2usize..4, n in 0usize..3) {
        let data = dataset(&records);
        let p = params(Algorithm::Gcs, k, m, n);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| anonymize(&data, &p).map(|r| (r.trees, r.rules)).ok())
        };
        prop_assert_eq!(with(1), with(3));
    }
}
