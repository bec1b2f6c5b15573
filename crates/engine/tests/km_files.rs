//! k^m on the worked example and on the transactions that lie beside the repository.

use std::collections::BTreeSet;

use bosket_engine::km::{Algorithm, Params, Release, Transactions, run, search};
use bosket_io::{Input, Layout};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId, csv, fanout::fanout};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Payload, Policy, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Kind};
use bosket_testkit::dice::Dice;
use bosket_testkit::km::Baskets;
use bosket_testkit::sets;
use bosket_testkit::shared::{shared, shared_json, shared_text};

fn trees(data: &Dataset) -> ValueTrees {
    let (policy, _) = Policy::parse("p", sets::ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("all declared");
    ValueTrees::new(data, &binding, RootMode::Separate, Payload::Keep)
}

fn labels(release: &Release, record: usize) -> Vec<&str> {
    let trees = &release.trees;
    trees.nodes(record).map(|n| trees.items()[trees.item(n) as usize].label.as_str()).collect()
}

#[test]
fn worked_example() {
    let (Some(text), Some(hierarchy), Some(expected)) = (
        shared_text("golden/km/fig2.dat"),
        shared_text("golden/km/hierarchy.csv"),
        shared_json("golden/km/expected.json"),
    ) else {
        return;
    };
    let h = csv::parse("h", &hierarchy).expect("a hierarchy");
    let transactions: Vec<Vec<String>> =
        text.lines().map(|l| l.split_whitespace().map(str::to_owned).collect()).collect();
    let texts = |value: &serde_json::Value| -> Vec<String> {
        value.as_array().expect("a list").iter().map(|t| t.as_str().expect("text").to_owned()).collect()
    };
    let number = |key: &str| expected[key].as_u64().expect("a number");
    let trees = trees(&sets::dataset(&transactions));
    for algorithm in [Algorithm::Aa, Algorithm::Da, Algorithm::Oa] {
        let params = Params::plain(algorithm, number("k") as u32, number("m") as usize);
        let release = run(&trees, &[Some(h.clone())], &params, &Quiet).expect("possible");
        assert_eq!(release.parts.len(), 1);
        assert_eq!(release.parts[0].cut, texts(&expected["cut"]));
        // The last bit of a number read from JSON depends on the reader.
        assert!((release.ncp - expected["ncp"].as_f64().expect("a number")).abs() < 1e-12);
        let published: Vec<String> = (0..trees.len()).map(|r| labels(&release, r).join(" ")).collect();
        assert_eq!(published, texts(&expected["published"]));
        assert_eq!((release.suppressed, release.suppressed_occurrences), (Vec::new(), 0));
    }
    // The oracle, since the other tests lean on it.
    let baskets = Baskets::new(&h, &transactions);
    let node = |label: &str| h.node(label).expect("a node");
    for (set, support) in expected["supports"].as_object().expect("supports") {
        let nodes: Vec<NodeId> = set.split(' ').map(node).collect();
        assert_eq!(baskets.support(&nodes) as u64, support.as_u64().expect("a number"), "{set}");
    }
    assert_eq!(baskets.cuts().len() as u64, number("cuts_total"));
    let second = Baskets::new(&h, &transactions[1..2]);
    let leaves: Vec<NodeId> = (0..4).map(|p| h.leaf_node(p)).collect();
    let tree = second.count_tree(&leaves, 1..=2);
    let listed: Vec<BTreeSet<String>> = expected["expanded_t2"]
        .as_array()
        .expect("sets")
        .iter()
        .map(|s| texts(s).into_iter().collect())
        .collect();
    assert_eq!(tree.nodes(), listed.len());
    for set in listed {
        let nodes: Vec<NodeId> = set.iter().map(|l| node(l)).collect();
        let ways = [nodes.clone(), nodes.iter().rev().copied().collect()];
        assert!(ways.iter().any(|way| tree.support(way) == 1), "{set:?}");
    }
    let counted = Params { count_tree: true, improve: false, ..Params::plain(Algorithm::Aa, 2, 2) };
    let release = run(&trees, &[Some(h.clone())], &counted, &Quiet).expect("possible");
    let largest = [1, 2].map(|size| baskets.count_tree(&leaves, size..=size).nodes()).into_iter().max();
    assert_eq!(release.count_tree, largest.map(|n| n as u64));
}

fn webview(number: u32) -> Option<(ValueTrees, Hierarchy)> {
    let path = shared(&format!("data/bms/bms-webview-{number}.txt.gz"))?;
    let input = Input::open(&path).expect("readable");
    let data = bosket_io::read(input, Some("transactions"), &Layout::default()).expect("valid").data;
    let trees = trees(&data);
    let domain: Vec<&str> = trees.items().iter().map(|i| i.label.as_str()).collect();
    let hierarchy = fanout(5, &domain).expect("a hierarchy");
    Some((trees, hierarchy))
}

/// NCP in hundredths of a percent that must not be exceeded, with k = 5.
#[test]
fn loss_on_webview() {
    for (number, bounds) in [(1, [(2, 400), (3, 1082)]), (2, [(2, 203), (3, 373)])] {
        let Some((trees, hierarchy)) = webview(number) else { return };
        let hierarchies = [Some(hierarchy)];
        for (m, bound) in bounds {
            let params = Params::plain(Algorithm::Aa, 5, m);
            let data = Transactions::new(&trees, &hierarchies, &params, &Quiet).expect("one attribute");
            let found = search(&data, &params, &Quiet).expect("possible");
            assert!(found.ncp() * 10_000.0 <= f64::from(bound), "WebView-{number}, m = {m}: {}", found.ncp());
            // Less memory parts the count and changes nothing else.
            let tight = Params { memory: 1 << 16, ..params };
            let again = search(&data, &tight, &Quiet).expect("possible");
            assert_eq!(again, found, "WebView-{number}, m = {m}");
        }
    }
}

fn thrown(dice: &mut Dice, items: usize, transactions: usize, longest: usize) -> Vec<Vec<String>> {
    let item = |dice: &mut Dice| dice.below(items).min(dice.below(items));
    (0..transactions)
        .map(|_| {
            let length = 1 + dice.below(longest);
            let set: BTreeSet<usize> = (0..length).map(|_| item(dice)).collect();
            set.into_iter().map(|i| format!("i{i:02}")).collect()
        })
        .collect()
}

fn balanced(items: usize, fan: usize) -> Hierarchy {
    let domain: Vec<String> = (0..items).map(|i| format!("i{i:02}")).collect();
    let domain: Vec<&str> = domain.iter().map(String::as_str).collect();
    fanout(fan, &domain).expect("a hierarchy")
}

/// Larger than the other tests', so that planes of several words, nodes above the cut and lists as well as bits take part.
#[test]
fn fast_and_literal_agree_on_more_data() {
    let h = balanced(72, 3);
    for seed in 0..3 {
        let mut dice = Dice::new(seed);
        let transactions = thrown(&mut dice, 72, 250, 8);
        let baskets = Baskets::new(&h, &transactions);
        let trees = trees(&sets::dataset(&transactions));
        let k = 2 + seed as u32;
        let cut = baskets.aa(k as usize, 3);
        for memory in [1 << 30, 1 << 14, 1] {
            let params = Params { improve: false, memory, ..Params::plain(Algorithm::Aa, k, 3) };
            let release = run(&trees, &[Some(h.clone())], &params, &Quiet).expect("possible");
            assert_eq!(release.ncp, baskets.ncp(&cut), "seed {seed}, memory {memory}");
        }
    }
}

/// Transactions that k records share are counted once, which must not show.
#[test]
fn repeated_transactions_are_counted_as_often_as_they_occur() {
    let h = balanced(60, 4);
    let mut dice = Dice::new(11);
    let mut transactions = Vec::new();
    for transaction in thrown(&mut dice, 60, 120, 10) {
        let times = if dice.one_in(3) { 1 + dice.below(3) } else { 6 };
        transactions.extend(vec![transaction; times]);
    }
    dice.shuffle(&mut transactions);
    let baskets = Baskets::new(&h, &transactions);
    let trees = trees(&sets::dataset(&transactions));
    for k in [3, 5] {
        let cut = baskets.aa(k as usize, 3);
        let params = Params { improve: false, ..Params::plain(Algorithm::Aa, k, 3) };
        let release = run(&trees, &[Some(h.clone())], &params, &Quiet).expect("possible");
        assert_eq!(release.ncp, baskets.ncp(&cut));
    }
}

#[test]
fn one_long_transaction_does_not_blow_up() {
    let mut dice = Dice::new(3);
    let label = |i: usize| format!("i{i:04}");
    let mut transactions: Vec<Vec<String>> = vec![(0..1000).map(label).collect()];
    for _ in 0..4000 {
        let items: BTreeSet<usize> = (0..8).map(|_| dice.below(1000).min(dice.below(1000))).collect();
        transactions.push(items.into_iter().map(label).collect());
    }
    let data = sets::dataset(&transactions);
    let trees = trees(&data);
    let domain: Vec<String> = (0..1000).map(label).collect();
    let domain: Vec<&str> = domain.iter().map(String::as_str).collect();
    let hierarchy = fanout(5, &domain).expect("a hierarchy");
    let params = Params::plain(Algorithm::Aa, 5, 3);
    let release = run(&trees, &[Some(hierarchy)], &params, &Quiet).expect("possible");
    assert!(release.ncp < 1.0);
    assert!(release.trees.items().iter().all(|i| i.kind == Kind::Text));
}
