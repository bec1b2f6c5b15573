//! k^m-anonymity against its definition, on random transactions.

use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Undeclared};
use bosket_testkit::dice::cases;
use bosket_testkit::sets;
use bosket_verify::{Claim, verify};
use proptest::prelude::*;

fn check(transactions: &[Vec<String>], k: u32, m: u32, memory: usize) -> Option<(Vec<String>, Vec<u32>)> {
    let data = sets::dataset(transactions);
    let (policy, _) = Policy::parse("p", sets::ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("declared");
    let witness = verify(&data, &binding, &Claim::Km { k, m }, memory, &Quiet).expect("countable")?;
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
