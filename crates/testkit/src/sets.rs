//! k^m-anonymity by its definition: every subset of every transaction, counted over all of them.

use std::collections::BTreeSet;

use bosket_model::{Builder, ClassId, Dataset, Kind};

use crate::knowledge::subsets;

/// The policy's attribute for transactions, as TOML.
pub const ATTRIBUTES: &str = "version = 1\n[[attribute]]\npath = \"item\"\nrole = \"quasi\"\n";

/// Transactions as they are read from a file.
pub fn dataset(transactions: &[Vec<String>]) -> Dataset {
    let mut builder = Builder::new();
    let class = builder.class(ClassId::ROOT, &["item".to_owned()]);
    let item = builder.attribute(class, &[]);
    builder.rename(item, "item");
    for transaction in transactions {
        builder.begin_record();
        for text in transaction {
            builder.open(class);
            builder.set(item, Kind::Text, text);
            builder.close();
        }
        builder.end_record().expect("one value per vertex");
    }
    builder.finish()
}

/// The smallest itemset (by size, then order) that is in some but fewer than k transactions, with these.
pub fn smallest_violation(
    transactions: &[Vec<String>],
    k: usize,
    m: usize,
) -> Option<(Vec<String>, Vec<u32>)> {
    let sets: Vec<BTreeSet<&String>> = transactions.iter().map(|t| t.iter().collect()).collect();
    let mut all = BTreeSet::new();
    for set in &sets {
        let items: Vec<&&String> = set.iter().collect();
        all.extend(subsets(items.len(), m).into_iter().map(|chosen| {
            let itemset: Vec<String> = chosen.iter().map(|&i| (*items[i]).clone()).collect();
            (itemset.len(), itemset)
        }));
    }
    all.into_iter().find_map(|(_, itemset)| {
        let having = |set: &BTreeSet<&String>| itemset.iter().all(|i| set.contains(i));
        let matching: Vec<u32> = (0..sets.len() as u32).filter(|&t| having(&sets[t as usize])).collect();
        (matching.len() < k).then_some((itemset, matching))
    })
}
