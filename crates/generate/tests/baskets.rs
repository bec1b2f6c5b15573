//! The baskets: the measures of BMS-POS, the same bytes everywhere, a policy and a hierarchy that fit.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use bosket_generate::baskets::{self, FANOUT, ITEMS, LONGEST, Summary, TRANSACTIONS};
use bosket_io::hierarchies::{self, HierarchyNeeds};
use bosket_io::{Create, Input, Layout, PolicyFile};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId, csv, fanout::fanout};
use bosket_model::observe::Quiet;

fn records(transactions: u64, seed: u64) -> (String, Summary) {
    let mut out = Vec::new();
    let summary = baskets::write_records(&mut out, transactions, seed, &Quiet).unwrap();
    (String::from_utf8(out).unwrap(), summary)
}

#[test]
fn measures_are_those_of_bms_pos() {
    let (text, summary) = records(TRANSACTIONS, 0);
    let mut supports: BTreeMap<usize, u64> = BTreeMap::new();
    let mut counted = Summary::default();
    for line in text.lines() {
        let items: Vec<usize> = line.split(' ').map(|item| item.parse().unwrap()).collect();
        assert!(items.is_sorted_by(|a, b| a < b), "ascending, each once");
        counted.transactions += 1;
        counted.occurrences += items.len() as u64;
        counted.longest = counted.longest.max(items.len());
        items.iter().for_each(|&item| *supports.entry(item).or_default() += 1);
    }
    counted.items = supports.len();
    assert_eq!(summary, counted);
    assert_eq!((counted.transactions, counted.items, counted.longest), (TRANSACTIONS, ITEMS, LONGEST));
    assert!((6.45..6.55).contains(&summary.average()), "{}", summary.average());
    assert_eq!((*supports.keys().next().unwrap(), *supports.keys().last().unwrap()), (1, ITEMS));
    // An article is in a basket once, which flattens the head of the law; further down supports halve with the rank.
    let mut ranked: Vec<u64> = supports.values().copied().collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    let of = |ranks: std::ops::Range<usize>| ranks.map(|r| ranked[r - 1]).sum::<u64>() as f64;
    for rank in [50, 100, 200, 400, 800] {
        let ratio = of(rank..rank + 20) / of(2 * rank..2 * rank + 20);
        assert!((1.6..2.2).contains(&ratio), "rank {rank}: {ratio}");
    }
    // Popular articles are spread over all numbers.
    let popular = supports.iter().filter(|(_, s)| **s >= ranked[99]).map(|(item, _)| *item);
    let low = popular.filter(|&item| item <= ITEMS / 2).count();
    assert!((30..=70).contains(&low), "{low} of 100");
}

#[test]
fn the_bytes_of_a_seed_never_change() {
    let (text, summary) = records(4, 0);
    assert_eq!(text, FIRST_FOUR);
    assert_eq!(summary.transactions, 4);
    assert_ne!(records(4, 1).0, text);
}

const FIRST_FOUR: &str =
    "72 230 240 363 509 520 585 667 793\n281 792\n295 308 430 485 645 667 863 1210 1418 1543 1600\n1406\n";

#[test]
fn few_baskets_are_the_first_of_more() {
    let (all, _) = records(1_000, 7);
    for transactions in [1, 2, 30] {
        let (few, summary) = records(transactions, 7);
        assert_eq!(summary.transactions, transactions);
        assert_eq!(few.lines().count(), transactions as usize);
        assert!(all.starts_with(&few));
    }
    assert_eq!(records(0, 7), (String::new(), Summary::default()));
}

#[test]
fn the_hierarchy_is_the_balanced_one_over_all_articles() {
    let found = csv::parse("item.csv", &baskets::hierarchy()).unwrap();
    let domain: Vec<String> = (1..=ITEMS).map(|item| item.to_string()).collect();
    let balanced = fanout(FANOUT, &domain.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    let shape = |h: &Hierarchy| -> Vec<_> { h.nodes().map(|n| (h.parent(n), h.leaves(n))).collect() };
    assert_eq!(shape(&found), shape(&balanced));
    for node in found.nodes().skip(1) {
        let leaves = found.leaves(node);
        let (from, to) = (leaves.start + 1, leaves.end);
        let label = if from == to { from.to_string() } else { format!("{from}-{to}") };
        assert_eq!(found.label(node), label);
    }
    assert_eq!((found.height(), found.children(NodeId::ROOT).count()), (5, 3));
}

#[test]
fn policy_hierarchy_and_data_fit_together() {
    let folder = tempfile::tempdir().unwrap();
    let summary = baskets::write(folder.path(), 3_000, 0, Create::default(), &Quiet).unwrap();
    let file = PolicyFile::load(&folder.path().join("policy.toml"), &[]).unwrap();
    assert_eq!(file.warnings, []);
    let input = Input::open(&folder.path().join("data.txt")).unwrap();
    let data = bosket_io::read(input, Some("transactions"), &Layout::default()).unwrap().data;
    assert_eq!(data.len() as u64, summary.transactions);
    let binding =
        Binding::new(data.schema(), &file.policy.attributes, file.policy.undeclared, "data").unwrap();
    let ask = HierarchyNeeds { required: true, show_values: true };
    let (found, warnings) = hierarchies::load(&file, &data, &binding, "data", ask).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(found[0].as_ref().map(Hierarchy::leaf_count), Some(ITEMS));
    let items: BTreeSet<&str> =
        hierarchies::domain(&data, &[data.schema().attributes().next().unwrap().0]).into_iter().collect();
    assert_eq!(items.len(), summary.items);
}

/// Takes a number of bytes, then fails.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_disk_that_fills_ends_the_writing() {
    let error = baskets::write_records(&mut Full(10_000), 1_000_000, 0, &Quiet).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn nothing_is_written_beside_a_file_that_exists() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), "old").unwrap();
    assert!(baskets::write(folder.path(), 10, 0, Create::default(), &Quiet).is_err());
    assert!(!folder.path().join("data.txt").exists());
    assert_eq!(std::fs::read_to_string(folder.path().join("policy.toml")).unwrap(), "old");
}
