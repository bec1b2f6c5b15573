//! Whatever comes out keeps the promise, is true and the same for every number of threads.

use std::time::Duration;

use bosket_engine::cluster::{Absent, Algorithm, Diverse, Matching, Params, Release, run};
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Diversity, Role, Siblings, Undeclared};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::hurried::Hurried;
use bosket_testkit::vertices::{Vertex, throw_values};
use bosket_verify::truth::{Comparison, Mapping, Pair, Recoding, Side, compare};
use bosket_verify::vertex::Diverse as Claimed;
use bosket_verify::{Claim, verify};
use proptest::prelude::*;

use super::{Case, QUASI, diverse};

pub(super) fn claim(params: &Params) -> Claim {
    match &params.diverse {
        None => Claim::KAnonymity { k: params.k },
        Some(ask) => Claim::LDiversity {
            k: Some(params.k),
            ask: Claimed {
                l: ask.l,
                diversity: ask.diversity,
                siblings: ask.siblings,
                distinct_everywhere: ask.distinct_everywhere.clone(),
                buckets: ask.buckets.clone(),
            },
        },
    }
}

pub(super) fn check(case: &Case, params: &Params, release: &Release) {
    let binding =
        Binding::new(release.data.schema(), &case.policy.attributes, Undeclared::Refuse, "published")
            .expect("all declared");
    let witness = verify(&release.data, &binding, &claim(params), &[], 1 << 24, &Quiet).expect("countable");
    assert_eq!(witness, None, "{params:?}");
    let pairs = (release.records.iter().enumerate()).map(|(published, &input)| Pair {
        line: 1,
        input,
        published: published as u32,
    });
    let mapping = Mapping { name: "mapping".into(), pairs: pairs.collect() };
    let untruths = compare(
        &Comparison {
            input: Side { data: &case.data, binding: &case.binding },
            published: Side { data: &release.data, binding: &binding },
            hierarchies: &case.hierarchies,
            recoding: Recoding::LocalTrees,
            mapping: Some(&mapping),
            sensitive: &[],
            suppress: false,
        },
        &Quiet,
    )
    .expect("comparable");
    assert_eq!(untruths, [], "{params:?}");
    let mut all: Vec<u32> = release.records.iter().chain(&release.suppressed).copied().collect();
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..case.data.len() as u32), "every record is published or suppressed");
}

pub(super) fn random_params(dice: &mut Dice) -> Params {
    let algorithm = *dice.of(&[
        Algorithm::Ctoff,
        Algorithm::Clustree,
        Algorithm::Miracle,
        Algorithm::Miraclex,
        Algorithm::Dmiracle,
        Algorithm::Bitmap,
    ]);
    let ask = (algorithm == Algorithm::Dmiracle || !dice.one_in(3)).then(|| Diverse {
        diversity: *dice.of(&[Diversity::Frequency, Diversity::Entropy]),
        siblings: *dice.of(&[Siblings::Pooled, Siblings::Each]),
        distinct_everywhere: if dice.one_in(3) { vec!["A".into()] } else { Vec::new() },
        buckets: (0..16).map(|d| (d % 4 == 3 && dice.one_in(2)).then(|| vec![2.0, 4.0])).collect(),
        ..diverse(*dice.of(&[1.5, 2.0, 2.5, 3.0]))
    });
    Params {
        weighted: !dice.one_in(3),
        climit: 1 + dice.below(6),
        th: dice.below(10) as f64 / 10.0,
        matching: *dice.of(&[Matching::Lsap, Matching::Grd, Matching::X]),
        improve: dice.one_in(2),
        // One more throw than is needed: seeds that tests name shall go on to mean what they did.
        leftovers: [!dice.one_in(4), dice.one_in(3)][0],
        suppress_violators: dice.one_in(4),
        absent: *dice.of(&[Absent::No, Absent::Unknown]),
        weights: (0..16).map(|_| *dice.of(&[1.0, 0.5, 3.0])).collect(),
        ..Params::plain(algorithm, 2 + dice.below(3) as u32, ask)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(800)))]
    #[test]
    fn every_result_keeps_its_promise(seed: u64, records in 4usize..40) {
        let mut dice = Dice::new(seed);
        let case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
        let params = random_params(&mut dice);
        if let Ok(release) = case.run(&params) {
            check(&case, &params, &release);
        }
    }

    #[test]
    fn improving_never_costs_more(seed: u64, records in 8usize..40) {
        let mut dice = Dice::new(seed);
        let case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
        let plain = Params::plain(Algorithm::Ctoff, 3, None);
        let improved = Params { improve: true, ..plain.clone() };
        let (Ok(plain), Ok(improved)) = (case.run(&plain), case.run(&improved)) else { return Ok(()) };
        prop_assert!(improved.cost <= plain.cost + 1e-9);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]
    #[test]
    fn what_is_cut_short_keeps_its_promise(seed: u64, records in 4usize..40, asks in 0usize..300) {
        let mut dice = Dice::new(seed);
        let case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
        let params = Params { time: Some(Duration::from_secs(1)), improve: true, ..random_params(&mut dice) };
        let observer = Hurried::new(asks);
        if let Ok(release) = run(&case.data, &case.binding, &case.hierarchies, &params, &observer) {
            check(&case, &params, &release);
            prop_assert_eq!(release.cut_short, observer.is_over());
        }
    }
}

/// More records than a search looks at when the time is over.
#[test]
fn a_search_without_any_time_still_fills_its_clusters() {
    let case = rows(&mut Dice::new(6), 2000);
    for algorithm in [Algorithm::Ctoff, Algorithm::Clustree] {
        for ask in [None, Some(diverse(3.0))] {
            let params = Params { time: Some(Duration::from_millis(1)), ..Params::plain(algorithm, 4, ask) };
            let whole = case.run(&params).expect("reachable");
            assert!(!whole.cut_short, "nobody says that the time is over");
            let observer = Hurried::new(0);
            let release = run(&case.data, &case.binding, &case.hierarchies, &params, &observer);
            let release = release.expect("reachable");
            check(&case, &params, &release);
            assert!(release.cut_short);
            assert!(release.suppressed.len() < 20, "{} are given up", release.suppressed.len());
        }
    }
}

/// Rows of one table.
fn rows(dice: &mut Dice, number: usize) -> Case {
    let mut roles = [[Role::Insensitive; 4]; 4];
    roles[0] = [Role::Quasi, Role::Quasi, Role::Sensitive, Role::Insensitive];
    let mut row = || {
        let mut row = Vertex { class: 0, values: Default::default(), children: Vec::new() };
        throw_values(dice, &mut row, 0, &QUASI);
        throw_values(dice, &mut row, 1, &QUASI);
        throw_values(dice, &mut row, 2, &["A", "B", "C", "D", "E"]);
        row
    };
    let rows: Vec<Vertex> = (0..number).map(|_| row()).collect();
    Case::of(&rows, roles)
}

#[test]
fn one_flat_table_is_a_single_vertex() {
    let case = rows(&mut Dice::new(5), 60);
    for algorithm in
        [Algorithm::Ctoff, Algorithm::Clustree, Algorithm::Miracle, Algorithm::Miraclex, Algorithm::Bitmap]
    {
        for ask in [None, Some(diverse(3.0))] {
            let params = Params::plain(algorithm, 4, ask);
            let release = case.run(&params).expect("reachable");
            check(&case, &params, &release);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]
    #[test]
    fn blocks_of_flat_tables_keep_their_promise(seed: u64, number in 5usize..200, k in 2u32..6) {
        let case = rows(&mut Dice::new(seed), number);
        let params = Params::plain(Algorithm::Blocks, k, None);
        let release = case.run(&params).expect("as many rows as needed");
        check(&case, &params, &release);
        prop_assert!(release.suppressed.is_empty());
    }

    #[test]
    fn blocks_of_flat_tables_are_diverse(seed: u64, number in 8usize..200, k in 1u32..6) {
        let mut dice = Dice::new(seed);
        let case = rows(&mut dice, number);
        let ask = Diverse {
            diversity: *dice.of(&[Diversity::Frequency, Diversity::Entropy]),
            siblings: *dice.of(&[Siblings::Pooled, Siblings::Each]),
            distinct_everywhere: if dice.one_in(4) { vec!["A".into()] } else { Vec::new() },
            ..diverse(*dice.of(&[1.5, 2.0, 2.5, 3.0, 4.0]))
        };
        let params = Params {
            suppress_violators: dice.one_in(4),
            improve: dice.one_in(2),
            ..Params::plain(Algorithm::Blocks, k, Some(ask))
        };
        if let Ok(release) = case.run(&params) {
            check(&case, &params, &release);
        }
    }

    /// Where no value is too frequent for everybody, nobody needs to be given up.
    #[test]
    fn blocks_give_up_few_where_values_are_even(seed: u64, number in 40usize..200) {
        let case = rows(&mut Dice::new(seed), number);
        let params = Params::plain(Algorithm::Blocks, 3, Some(diverse(2.0)));
        let release = case.run(&params).expect("reachable");
        check(&case, &params, &release);
        prop_assert!(10 * release.suppressed.len() <= number, "{} of {number}", release.suppressed.len());
    }

    /// `clustree` had lost more than `ctoff`, with more people suppressed.
    #[test]
    fn clustree_is_never_worse_than_ctoff(seed: u64, records in 8usize..40) {
        let mut dice = Dice::new(seed);
        let case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
        let clustree = Params { algorithm: Algorithm::Clustree, leftovers: true, ..random_params(&mut dice) };
        let ctoff = Params { algorithm: Algorithm::Ctoff, ..clustree.clone() };
        let (Ok(clustree), Ok(ctoff)) = (case.run(&clustree), case.run(&ctoff)) else { return Ok(()) };
        prop_assert!(clustree.lm <= ctoff.lm + 1e-12, "{} against {}", clustree.lm, ctoff.lm);
    }

    /// Clusters are opened for those who are left over only where that costs less.
    #[test]
    fn placing_leftovers_never_costs_more(seed: u64, records in 8usize..40, l: bool) {
        let mut dice = Dice::new(seed);
        let case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
        let ask = l.then(|| diverse(2.0));
        let placed = Params::plain(Algorithm::Ctoff, 3, ask);
        let given_up = Params { leftovers: false, ..placed.clone() };
        let (Ok(placed), Ok(given_up)) = (case.run(&placed), case.run(&given_up)) else { return Ok(()) };
        // With diversity more may have to be pruned afterwards, where vertices come to look alike.
        prop_assert!(l || placed.cost <= given_up.cost + 1e-9, "{} against {}", placed.cost, given_up.cost);
    }
}

/// A table that is larger than a block, in which many rows are alike.
#[test]
fn several_blocks_of_rows() {
    let case = rows(&mut Dice::new(9), 9000);
    let params = Params::plain(Algorithm::Blocks, 300, None);
    let release = case.run(&params).expect("as many rows as needed");
    check(&case, &params, &release);
    assert!(release.lm < 1.0);
}

#[test]
fn blocks_are_for_flat_tables() {
    let case = Case::random(&mut Dice::new(4), 30, &["A", "B"]);
    let failure = case.run(&Params::plain(Algorithm::Blocks, 2, None)).expect_err("records have children");
    assert_eq!(failure.fault, bosket_model::Fault::Policy);
}

/// Taking away a listed value made siblings look different that had only been diverse together.
#[test]
fn siblings_that_were_diverse_only_together_are_judged_again() {
    let mut dice = Dice::new(12619187788912207844);
    let case = Case::random(&mut dice, 21, &["A", "B", "C", "D", "E", "F"]);
    let params = random_params(&mut dice);
    let release = case.run(&params).expect("reachable");
    check(&case, &params, &release);
}
