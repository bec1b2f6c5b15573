//! Absence as knowledge against the definition, on random small trees, and what is refused.

use std::collections::BTreeSet;

use bosket_model::Result;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Negative, Policy, Relations, Undeclared};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::knowledge::{Absence, Signed, smallest_signed_violation};
use bosket_testkit::{sets, trees};
use bosket_verify::{Claim, Km, Kmn, Witness, verify};
use proptest::prelude::*;

use crate::recount;

/// `A1` and `A2` lie below `A12`, `A3` beside it; likewise for the other levels.
fn hierarchies() -> Vec<Option<Hierarchy>> {
    let text = |l: &str| format!("{l}1;{l}12;*\n{l}2;{l}12;*\n{l}3;*\n");
    trees::LEVELS.iter().map(|l| Some(csv::parse(l, &text(l)).expect("a good file"))).collect()
}

fn leaves(label: &str) -> Vec<String> {
    match label.strip_suffix("12") {
        Some(level) => vec![format!("{level}1"), format!("{level}2")],
        None => vec![label.to_owned()],
    }
}

fn labels() -> impl Iterator<Item = String> {
    trees::LEVELS.iter().flat_map(|level| ["1", "12", "2", "3"].map(|n| format!("{level}{n}")))
}

/// What a list of leaves and pairs of leaves comes to for published labels.
fn absence(negative: &[Negative]) -> Absence {
    let value = |v: &str| negative.contains(&Negative::Value(v.to_owned()));
    let pair = |a: &str, b: &str| {
        negative.contains(&Negative::Pair(a.to_owned(), b.to_owned()))
            || negative.contains(&Negative::Pair(b.to_owned(), a.to_owned()))
    };
    let mut pairs = BTreeSet::new();
    for a in labels() {
        for b in labels().filter(|b| a[..1] < b[..1]) {
            if leaves(&a).iter().all(|x| leaves(&b).iter().all(|y| pair(x, y))) {
                pairs.insert((a.clone(), b));
            }
        }
    }
    Absence { labels: labels().filter(|l| leaves(l).iter().all(|x| value(x))).collect(), pairs }
}

fn check(
    records: &[trees::PathRecord],
    claim: Kmn,
    hierarchies: &[Option<Hierarchy>],
    memory: usize,
) -> Result<Option<Witness>> {
    let data = trees::dataset(records);
    let (policy, _) = Policy::parse("p", trees::ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared");
    let claim = Claim::Kmn(claim);
    let found = verify(&data, &binding, &claim, hierarchies, memory, &Quiet)?;
    Ok(recount::agrees((&data, &binding), &claim, hierarchies, found))
}

fn signed(witness: &Witness) -> Signed {
    let mark = |absent: bool| if absent { "~" } else { "" };
    Signed {
        values: witness.values.iter().map(|v| format!("{}{}", mark(v.absent), v.value)).collect(),
        relations: witness.relations.clone(),
        unrelated: witness.unrelated.clone(),
    }
}

fn random_records(dice: &mut Dice, count: usize) -> Vec<trees::PathRecord> {
    let mut records: Vec<trees::PathRecord> = Vec::new();
    while records.len() < count {
        if !records.is_empty() && !dice.one_in(3) {
            let mut copy = dice.of(&records).clone();
            if dice.one_in(3) {
                copy.pop();
            }
            records.push(copy);
            continue;
        }
        let path = |dice: &mut Dice| {
            let mut path: Vec<String> = trees::LEVELS
                .iter()
                .map(|level| format!("{level}{}", dice.of(&["1", "2", "12", "3"])))
                .collect();
            if dice.one_in(2) {
                path.remove(dice.below(3));
            }
            path
        };
        records.push((0..dice.below(3)).map(|_| path(dice)).collect());
    }
    records
}

fn random_list(dice: &mut Dice) -> Vec<Negative> {
    let leaf = |dice: &mut Dice, level: &str| format!("{level}{}", 1 + dice.below(3));
    let mut list = Vec::new();
    for _ in 0..dice.below(5) {
        let level = *dice.of(&trees::LEVELS);
        list.push(Negative::Value(leaf(dice, level)));
    }
    for _ in 0..dice.below(7) {
        let mut levels = trees::LEVELS.to_vec();
        dice.shuffle(&mut levels);
        list.push(Negative::Pair(leaf(dice, levels[0]), leaf(dice, levels[1])));
    }
    list
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(500)))]

    #[test]
    fn agrees_with_the_definition(
        seed: u64, count in 1..7usize, k in 2u32..4, m in 1u32..4, n in 0u32..3, embedded: bool, tight: bool,
    ) {
        let mut dice = Dice::new(seed);
        let records = random_records(&mut dice, count);
        let negative = random_list(&mut dice);
        let relations = if embedded { Relations::Embedded } else { Relations::Pair };
        let claim = Kmn { relations, negative: negative.clone(), ..Kmn::new(k, m, n) };
        let found = check(&records, claim, &hierarchies(), if tight { 1 } else { 1 << 30 }).expect("countable");
        let expected = smallest_signed_violation(
            &records, &absence(&negative), k as usize, m as usize, n as usize, embedded,
        );
        prop_assert_eq!(found.map(|w| (signed(&w), w.support)), expected, "{:?} {:?}", records, negative);
    }

    /// Four values at once are counted by the part of their first.
    #[test]
    fn agrees_for_many_values(seed: u64, k in 2u32..4, m in 4u32..6, pairs: bool) {
        let mut dice = Dice::new(seed);
        let mut records = random_records(&mut dice, 3);
        records.extend(records.clone());
        records.pop();
        let mut negative = random_list(&mut dice);
        negative.retain(|n| pairs || matches!(n, Negative::Value(_)));
        let claim = Kmn { negative: negative.clone(), ..Kmn::new(k, m, 1) };
        let found = check(&records, claim, &hierarchies(), 1 << 30).expect("countable");
        let expected = smallest_signed_violation(&records, &absence(&negative), k as usize, m as usize, 1, false);
        prop_assert_eq!(found.map(|w| (signed(&w), w.support)), expected, "{:?} {:?}", records, negative);
    }

    /// Sets with absent items are sets of signed items.
    #[test]
    fn of_sets(seed: u64, count in 1..8usize, k in 1u32..4, m in 1u32..4) {
        let mut dice = Dice::new(seed);
        let items = ["A1", "A2", "A12", "A3"];
        let transactions: Vec<Vec<String>> = (0..count)
            .map(|_| (0..dice.below(4)).map(|_| (*dice.of(&items)).to_owned()).collect())
            .collect();
        let listed: Vec<String> = ["A1", "A2", "A3"].iter().filter(|_| dice.one_in(2)).map(|i| (*i).to_owned()).collect();
        let absent: Vec<&str> = (items.iter().copied())
            .filter(|i| leaves(i).iter().all(|leaf| listed.contains(leaf)))
            .filter(|i| transactions.iter().flatten().any(|item| item == i))
            .collect();
        let signed: Vec<Vec<String>> = (transactions.iter())
            .map(|t| {
                let missing = absent.iter().filter(|a| !t.iter().any(|item| item == *a));
                t.iter().cloned().chain(missing.map(|a| format!("~{a}"))).collect()
            })
            .collect();
        let data = sets::dataset(&transactions);
        let (policy, _) = Policy::parse("p", sets::ATTRIBUTES, &[]).expect("a good policy");
        let binding = Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("declared");
        let negative = listed.iter().cloned().map(Negative::Value).collect();
        let claim = Claim::Km(Km { k, m, negative, ..Km::default() });
        let found = verify(&data, &binding, &claim, &hierarchies()[..1], 1 << 20, &Quiet).expect("countable");
        let found = found.map(|w| {
            let mark = |absent: bool| if absent { "~" } else { "" };
            let values = w.values.iter().map(|v| format!("{}{}", mark(v.absent), v.value)).collect::<Vec<_>>();
            (values, w.records)
        });
        prop_assert_eq!(found, sets::smallest_violation(&signed, k as usize, m as usize));
    }
}

fn one_record(path: &[&str]) -> trees::PathRecord {
    vec![path.iter().map(|l| (*l).to_owned()).collect()]
}

fn refused(records: &[trees::PathRecord], negative: Negative, hierarchies: &[Option<Hierarchy>]) -> String {
    let claim = Kmn { negative: vec![negative], ..Kmn::new(2, 2, 1) };
    let failure = check(records, claim, hierarchies, 1 << 20).expect_err("refused");
    failure.diagnostics.iter().map(ToString::to_string).collect()
}

#[test]
fn what_cannot_be_told_is_refused() {
    let records = [one_record(&["A1", "B2"])];
    let listed = || Negative::Value("A1".to_owned());
    let text = refused(&records, listed(), &[]);
    assert!(
        text.contains("needs the hierarchy") && text.contains("a[].v") && text.contains("a[].b[].v"),
        "{text}"
    );
    let mut some = hierarchies();
    some[1] = None;
    let text = refused(&records, listed(), &some);
    assert!(text.contains("a[].b[].v") && !text.contains("path a[].v"), "{text}");
    // An attribute that is not published at all tells nothing.
    let mut some = hierarchies();
    some[2] = None;
    let claim = Kmn { negative: vec![listed()], ..Kmn::new(1, 2, 1) };
    assert_eq!(check(&records, claim, &some, 1 << 20).expect("countable"), None);
}

#[test]
fn a_value_that_nobody_can_have_is_refused() {
    let records = [one_record(&["A1"])];
    for negative in [Negative::Value("A4".to_owned()), Negative::Pair("A1".to_owned(), "A4".to_owned())] {
        let text = refused(&records, negative, &hierarchies());
        assert!(text.contains("lists `A4`, which is in no hierarchy"), "{text}");
    }
    let text = refused(&[one_record(&["A9"])], Negative::Value("A1".to_owned()), &hierarchies());
    assert!(text.contains("a published value is not in the hierarchy"), "{text}");
}

/// Empty records match no knowledge of what is published; the absence of something unpublished told them apart.
#[test]
fn what_no_record_has_excludes_nobody() {
    let negative = vec![Negative::Value("A1".to_owned())];
    let records = vec![Vec::new(), Vec::new()];
    let claim = Kmn { negative, ..Kmn::new(5, 2, 1) };
    assert_eq!(check(&records, claim, &hierarchies(), 1 << 20).expect("countable"), None);
}

#[test]
fn a_witness_says_not() {
    let records = [one_record(&["A1"]), one_record(&["A1"]), one_record(&["A1"]), one_record(&["A2"])];
    let mut records = records.to_vec();
    records.push(one_record(&["A2"]));
    records[2].push(vec!["A2".to_owned()]);
    // A1: 0, 1, 2. A2: 2, 3, 4. Together: 2 only. Not A2 tells nothing more than A1.
    let claim = Kmn { negative: vec![Negative::Value("A2".to_owned())], ..Kmn::new(3, 1, 0) };
    let witness = check(&records, claim, &hierarchies(), 1 << 20).expect("countable").expect("two lack A2");
    assert_eq!(witness.values[0].text(), "not A2");
    assert_eq!((witness.support, &witness.records), (2, &vec![0, 1]));
    assert_eq!(
        witness.to_json()["values"],
        serde_json::json!([{"path": "a[].v", "value": "A2", "absent": true}])
    );
}

/// A published label stands for its leaves that are not sensitive: these are published as they are. So its absence is known where
/// all of these are listed, though a sibling of theirs is not.
#[test]
fn the_sibling_of_a_listed_leaf_is_sensitive() {
    let meat =
        csv::parse("h.csv", "pork;meat;*\nbeef;meat;*\nveal;veal and lamb;*\nlamb;veal and lamb;*\nmilk;*\n");
    let hierarchies = [Some(meat.expect("a good file"))];
    let baskets = [&["meat", "milk"][..], &["meat", "milk", "beef"], &["milk"]];
    let baskets = baskets.map(|items| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>());
    let data = sets::dataset(&baskets);
    let (policy, _) = Policy::parse("p", sets::ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("declared");
    let found = |sensitive: &[&str], listed: &[&str]| {
        let negative = listed.iter().map(|item| Negative::Value((*item).to_owned())).collect();
        let sensitive: Vec<String> = sensitive.iter().map(|item| (*item).to_owned()).collect();
        let claim = Km { k: 2, m: 1, l: Some(1.0), sensitive, negative, ..Km::default() };
        let claim = Claim::Km(claim);
        let found = verify(&data, &binding, &claim, &hierarchies, 1 << 20, &Quiet).expect("countable");
        let found = recount::agrees((&data, &binding), &claim, &hierarchies, found);
        found.map(|witness| (witness.values[0].text(), witness.records))
    };
    // One basket lacks `meat`, which stands for pork alone.
    assert_eq!(found(&["beef"], &["pork"]), Some(("not meat".to_owned(), vec![2])));
    // Veal is listed, and stands below no published label.
    assert_eq!(found(&["beef"], &["veal"]), None);
    // Where everything below it is sensitive, it stands for nothing that is listed.
    assert_eq!(found(&["beef", "pork"], &["veal"]), None);
    assert_eq!(found(&["beef", "pork"], &["veal", "lamb", "milk"]), None);
}
