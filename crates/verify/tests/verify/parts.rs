//! Counting in parts and in parallel gives the same result as counting in one go.

use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Relations, Undeclared};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::{sets, trees};
use bosket_verify::{Claim, Km, Kmn, Witness, verify};
use proptest::prelude::*;

/// The result with any memory and any number of threads; fails where they differ.
fn check(data: &Dataset, attributes: &str, claim: &Claim) -> Option<Witness> {
    let (policy, _) = Policy::parse("p", attributes, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("declared");
    let run = |memory: usize, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| verify(data, &binding, claim, &[], memory, &Quiet).expect("countable"))
    };
    let whole = run(1 << 30, 1);
    for (memory, threads) in [(1, 1), (1 << 16, 1), (1 << 30, 2), (1, 2)] {
        assert_eq!(run(memory, threads), whole, "{memory} bytes, {threads} threads");
    }
    whole
}

/// Every transaction k times, and among them one set of `size` items whose parts are frequent, while it is not.
fn with_one_rare_set(dice: &mut Dice, size: usize) -> (Vec<Vec<String>>, Vec<String>) {
    let item = |i: usize| format!("i{i:02}");
    let mut rare: Vec<usize> = (0..12).collect();
    dice.shuffle(&mut rare);
    rare.truncate(size);
    rare.sort_unstable();
    let mut transactions = vec![rare.clone()];
    transactions.extend(rare.iter().map(|left_out| {
        let mut part = rare.clone();
        part.retain(|i| i != left_out);
        part
    }));
    while transactions.len() < 60 {
        let mut items: Vec<usize> = (0..20).collect();
        dice.shuffle(&mut items);
        items.truncate(1 + dice.below(12));
        if !rare.iter().all(|i| items.contains(i)) {
            transactions.extend([items.clone(), items]);
        }
    }
    dice.shuffle(&mut transactions);
    let named = |t: &Vec<usize>| t.iter().map(|&i| item(i)).collect();
    (transactions.iter().map(named).collect(), named(&rare))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(12)))]

    #[test]
    fn of_sets(seed: u64, size in 4..7usize, less in 0..2usize) {
        let (transactions, rare) = with_one_rare_set(&mut Dice::new(seed), size);
        let claim = Claim::Km(Km { k: 2, m: (size - less) as u32, ..Km::default() });
        let found = check(&sets::dataset(&transactions), sets::ATTRIBUTES, &claim);
        let named = found.map(|w| (w.values.into_iter().map(|v| v.value).collect::<Vec<_>>(), w.support));
        prop_assert_eq!(named, (less == 0).then_some((rare, 1)));
    }

    /// Many sets violate at once, found by whichever thread; the smallest is named.
    #[test]
    fn of_sets_with_many_violations(seed: u64, m in 3u32..6) {
        let mut dice = Dice::new(seed);
        let transactions: Vec<Vec<String>> = (0..60)
            .map(|_| {
                let mut items: Vec<String> = (0..20).map(|i| format!("i{i:02}")).collect();
                dice.shuffle(&mut items);
                items.truncate(4 + dice.below(9));
                items
            })
            .collect();
        let found = check(&sets::dataset(&transactions), sets::ATTRIBUTES, &Claim::Km(Km { k: 2, m, ..Km::default() }));
        let named = found.map(|w| (w.values.into_iter().map(|v| v.value).collect::<Vec<_>>(), w.records));
        prop_assert_eq!(named, sets::smallest_violation(&transactions, 2, m as usize));
    }

    #[test]
    fn of_trees(seed: u64, m in 3u32..5, n in 0u32..3, embedded: bool, lonely: bool) {
        let mut dice = Dice::new(seed);
        let mut records: Vec<trees::PathRecord> = Vec::new();
        while records.len() < 60 {
            let paths = (0..1 + dice.below(5)).map(|_| {
                let mut path: Vec<String> =
                    trees::LEVELS.iter().map(|level| format!("{level}{}", dice.below(4))).collect();
                path.remove(dice.below(3));
                path
            });
            let record: trees::PathRecord = paths.collect();
            records.extend([record.clone(), record]);
        }
        if lonely {
            records.pop();
        }
        let relations = if embedded { Relations::Embedded } else { Relations::Pair };
        let claim = Claim::Kmn(Kmn { relations, ..Kmn::new(2, m, n) });
        let found = check(&trees::dataset(&records), trees::ATTRIBUTES, &claim);
        prop_assert!(lonely || found.is_none());
    }
}

/// The first half of the items is slow to go through and has its rare pair at the end; the second half is fast.
#[test]
fn the_smallest_witness_is_named_even_where_another_is_found_sooner() {
    let mut dice = Dice::new(1);
    let mut transactions = vec![vec![8, 9], vec![18, 19]];
    for i in 0..20 {
        transactions.extend([vec![i], vec![i]]);
    }
    for _ in 0..20_000 {
        let items: Vec<usize> = (0..9).filter(|_| !dice.one_in(4)).collect();
        transactions.extend([items.clone(), items]);
    }
    let named = |t: &Vec<usize>| t.iter().map(|i| format!("i{i:02}")).collect();
    let transactions: Vec<Vec<String>> = transactions.iter().map(named).collect();
    let claim = Claim::Km(Km { k: 2, m: 2, ..Km::default() });
    let witness = check(&sets::dataset(&transactions), sets::ATTRIBUTES, &claim);
    let values: Vec<String> = witness.expect("two rare pairs").values.into_iter().map(|v| v.value).collect();
    assert_eq!(values, ["i08", "i09"]);
}
