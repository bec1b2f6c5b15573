//! k^m-anonymity against its definition, on random transactions.

use bosket_model::binding::Binding;
use bosket_model::hierarchy::TreeBuilder;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Undeclared};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::sets;
use bosket_verify::{Claim, Km, Witness, verify};
use proptest::prelude::*;

use crate::recount;

fn check(transactions: &[Vec<String>], k: u32, m: u32, memory: usize) -> Option<(Vec<String>, Vec<u32>)> {
    let data = sets::dataset(transactions);
    let (policy, _) = Policy::parse("p", sets::ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("declared");
    let claim = Claim::Km(Km { k, m, ..Km::default() });
    let witness = verify(&data, &binding, &claim, &[], memory, &Quiet).expect("countable")?;
    assert!(witness.relations.is_empty() && witness.support == witness.records.len());
    assert!(witness.values.iter().all(|v| v.path == "item"));
    Some((witness.values.into_iter().map(|v| v.value).collect(), witness.records))
}

/// Transactions that may be empty, hold an item twice, and come several times.
fn transactions() -> impl Strategy<Value = Vec<Vec<String>>> {
    let transaction = prop::collection::vec((0..6u32).prop_map(|i| format!("i{i}")), 0..6);
    prop::collection::vec((transaction, 1..4usize), 0..6)
        .prop_map(|list| list.into_iter().flat_map(|(t, times)| vec![t; times]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(600)))]
    #[test]
    fn agrees_with_the_definition(transactions in transactions(), k in 1u32..5, m in 1u32..9, tight: bool) {
        let found = check(&transactions, k, m, if tight { 1 } else { 1 << 20 });
        prop_assert_eq!(found, sets::smallest_violation(&transactions, k as usize, m as usize));
    }
}

/// Every size up to m was gone through, also those that no transaction has.
#[test]
fn an_attacker_who_knows_everything_took_forever() {
    let transaction: Vec<String> = (0..12).map(|i| format!("i{i}")).collect();
    assert_eq!(check(&[transaction.clone(), transaction], 2, u32::MAX, 1 << 20), None);
}

fn found(transactions: &[Vec<String>], claim: Km, memory: usize) -> Option<Witness> {
    let data = sets::dataset(transactions);
    let (policy, _) = Policy::parse("p", sets::ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("declared");
    let claim = Claim::Km(claim);
    let found = verify(&data, &binding, &claim, &[], memory, &Quiet).expect("countable");
    recount::agrees((&data, &binding), &claim, &[], found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    /// l^m-diversity: sensitive items are outside the attacker's knowledge, and too common nowhere.
    #[test]
    fn diversity_agrees_with_the_definition(
        transactions in transactions(), k in 1u32..4, m in 1u32..4, double_l in 3u32..7, tight: bool,
    ) {
        let sensitive = vec!["i4".to_owned(), "i5".to_owned()];
        let known = |t: &Vec<String>| t.iter().filter(|i| !sensitive.contains(i)).cloned().collect();
        let quasi: Vec<Vec<String>> = transactions.iter().map(known).collect();
        let memory = if tight { 1 } else { 1 << 20 };
        let claim = Km { k, m, l: Some(f64::from(double_l) / 2.0), sensitive: sensitive.clone(), ..Km::default() };
        let witness = found(&transactions, claim, memory);
        let values = |w: &Witness| w.values.iter().map(|v| v.value.clone()).collect::<Vec<_>>();
        match sets::smallest_violation(&quasi, k as usize, m as usize) {
            Some((itemset, records)) => {
                let witness = witness.expect("too few");
                prop_assert_eq!((values(&witness), &witness.records), (itemset, &records));
                prop_assert!(witness.sensitive.is_none());
            }
            None => {
                let expected = sets::smallest_uniform(&transactions, &sensitive, m as usize, double_l as usize);
                prop_assert_eq!(witness.as_ref().map(values), expected);
                if let Some(witness) = witness {
                    let share = witness.sensitive.expect("a sensitive item").share;
                    prop_assert!(share * f64::from(double_l) / 2.0 > 1.0);
                }
            }
        }
    }

    /// In a multiset an item is a value with its count.
    #[test]
    fn multisets_agree_with_the_definition(transactions in transactions(), k in 1u32..4, m in 1u32..4) {
        let counted: Vec<Vec<String>> = (transactions.iter())
            .map(|t| {
                let times = |i: &String| t.iter().filter(|j| *j == i).count();
                t.iter().map(|i| format!("{i} {}", times(i))).collect()
            })
            .collect();
        let witness = found(&transactions, Km { k, m, multiset: true, ..Km::default() }, 1 << 20);
        let witness = witness.map(|w| {
            let item = |v: &bosket_verify::Value| format!("{} {}", v.value, v.count.expect("a count"));
            (w.values.iter().map(item).collect::<Vec<_>>(), w.records)
        });
        prop_assert_eq!(witness, sets::smallest_violation(&counted, k as usize, m as usize));
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(16)))]

    /// Counters of one byte hold up to 255.
    #[test]
    fn large_k(seed: u64, k in prop::sample::select(vec![255u32, 256, 300, 70_000]), m in 1u32..5) {
        let mut dice = Dice::new(seed);
        let mut transactions: Vec<Vec<String>> = Vec::new();
        for _ in 0..3 {
            let transaction: Vec<String> = (0..5).map(|_| format!("i{}", dice.below(6))).collect();
            let times = k as usize - usize::from(dice.one_in(4));
            transactions.extend(std::iter::repeat_n(transaction, times));
        }
        let found = check(&transactions, k, m, 1 << 26).map(|(itemset, records)| (itemset, records.len()));
        // Counted by kinds of transactions.
        let mut kinds: Vec<(Vec<String>, usize)> = Vec::new();
        for mut transaction in transactions {
            transaction.sort();
            transaction.dedup();
            match kinds.iter_mut().find(|(kind, _)| *kind == transaction) {
                Some((_, count)) => *count += 1,
                None => kinds.push((transaction, 1)),
            }
        }
        let mut expected: Vec<(usize, Vec<String>, usize)> = Vec::new();
        for (kind, _) in &kinds {
            for bits in 1u32..1 << kind.len() {
                let itemset: Vec<String> = (0..kind.len()).filter(|i| bits >> i & 1 == 1).map(|i| kind[i].clone()).collect();
                let having = kinds.iter().filter(|(kind, _)| itemset.iter().all(|i| kind.contains(i)));
                let support: usize = having.map(|(_, count)| count).sum();
                if itemset.len() <= m as usize && support < k as usize {
                    expected.push((itemset.len(), itemset, support));
                }
            }
        }
        prop_assert_eq!(found, expected.into_iter().min().map(|(_, itemset, support)| (itemset, support)));
    }
}

/// More items than fit into one, two or four words, and transactions of more than 64.
#[test]
fn many_items() {
    for items in [60usize, 64, 65, 127, 128, 129, 192, 257, 320] {
        let name = |i: usize| format!("i{i:03}");
        let all: Vec<String> = (0..items).map(name).collect();
        let mut transactions = vec![all.clone(), all.clone()];
        // Every triple but one is in three transactions.
        let rare = [items / 3, items / 2, items - 1];
        for left_out in rare {
            transactions.push(all.iter().filter(|i| **i != name(left_out)).cloned().collect());
        }
        let found = check(&transactions, 3, 3, 1 << 30);
        assert_eq!(found, Some((rare.map(name).to_vec(), vec![0, 1])), "{items} items");
        assert_eq!(check(&transactions, 3, 2, 1 << 30), None, "{items} items");
    }
}

/// `privacy.sensitive = ["Meat"]` meant every kind of meat to those who publish, and an item called Meat to the verifier.
#[test]
fn an_inner_label_that_is_listed_means_all_its_leaves() {
    let mut tree = TreeBuilder::new();
    let meat = tree.place(TreeBuilder::ROOT, "Meat");
    for label in ["beef", "ham"] {
        tree.place(meat, label);
    }
    tree.place(TreeBuilder::ROOT, "milk");
    let hierarchies = [Some(tree.finish())];
    let data = sets::dataset(&[vec!["milk".into(), "beef".into()], vec!["milk".into(), "ham".into()]]);
    let (policy, _) = Policy::parse("p", sets::ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("declared");
    for l in [1.5, 2.0, 3.0] {
        let judged = |listed: &[&str]| {
            let sensitive = listed.iter().map(|label| (*label).to_owned()).collect();
            let claim = Claim::Km(Km { k: 2, m: 1, l: Some(l), sensitive, ..Km::default() });
            let found = verify(&data, &binding, &claim, &hierarchies, 1 << 20, &Quiet).expect("countable");
            recount::agrees((&data, &binding), &claim, &hierarchies, found).map(|w| w.to_json())
        };
        assert_eq!(judged(&["Meat"]), judged(&["beef", "ham"]), "{l}");
        // Each kind of meat is in one of two records, and nobody is known by it.
        assert_eq!(judged(&["Meat"]).is_some(), l > 2.0, "{l}");
        // A leaf means itself: ham is known then, and rare.
        assert!(judged(&["beef"]).is_some());
    }
}
