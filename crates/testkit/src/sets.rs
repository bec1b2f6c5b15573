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

/// The smallest set of up to m items that are not sensitive (by size, then order) of whose transactions more than one in
/// l have a sensitive item, in whole halves of l.
pub fn smallest_uniform(
    transactions: &[Vec<String>],
    sensitive: &[String],
    m: usize,
    double_l: usize,
) -> Option<Vec<String>> {
    let known =
        |t: &Vec<String>| t.iter().filter(|i| !sensitive.contains(i)).cloned().collect::<BTreeSet<_>>();
    let mut all = BTreeSet::from([(0, Vec::new())]);
    for items in transactions.iter().map(known) {
        let items: Vec<&String> = items.iter().collect();
        all.extend(subsets(items.len(), m).into_iter().map(|chosen| {
            let itemset: Vec<String> = chosen.iter().map(|&i| items[i].clone()).collect();
            (itemset.len(), itemset)
        }));
    }
    let too_common = |itemset: &[String]| {
        let fit: Vec<&Vec<String>> =
            transactions.iter().filter(|t| itemset.iter().all(|i| t.contains(i))).collect();
        sensitive.iter().any(|s| 2 * fit.len() < double_l * fit.iter().filter(|t| t.contains(s)).count())
    };
    all.into_iter().map(|(_, itemset)| itemset).find(|itemset| too_common(itemset))
}

/// Per transaction the highest share of a sensitive item among the transactions that have any up to m of its other items.
pub fn confidence(transactions: &[Vec<String>], sensitive: &[String], m: usize) -> Vec<f64> {
    let share = |known: &[&String]| {
        let fit: Vec<&Vec<String>> =
            transactions.iter().filter(|t| known.iter().all(|i| t.contains(i))).collect();
        let having = |s: &String| fit.iter().filter(|t| t.contains(s)).count() as f64 / fit.len() as f64;
        sensitive.iter().map(having).fold(0.0, f64::max)
    };
    (transactions.iter())
        .map(|t| {
            let known: BTreeSet<&String> = t.iter().filter(|i| !sensitive.contains(i)).collect();
            let known: Vec<&String> = known.into_iter().collect();
            let pieces = subsets(known.len(), m).into_iter().chain([Vec::new()]);
            let pieces = pieces.map(|chosen| chosen.into_iter().map(|i| known[i]).collect::<Vec<_>>());
            pieces.map(|piece| share(&piece)).fold(0.0, f64::max)
        })
        .collect()
}
