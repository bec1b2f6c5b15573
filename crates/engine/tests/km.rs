//! k^m: every publication is verified and true, and the searches agree with the definitions taken literally.

use std::collections::BTreeSet;

use bosket_engine::km::{Algorithm, Params, Release, run};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::fanout::fanout;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Negative, Payload, Policy, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Fault, Result};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::hurried::Hurried;
use bosket_testkit::km::{Baskets, Beyond, violation};
use bosket_testkit::sets;
use bosket_verify::{Claim, verify};
use proptest::prelude::*;

const ALL: [Algorithm; 6] =
    [Algorithm::Aa, Algorithm::Oa, Algorithm::Da, Algorithm::Lra, Algorithm::Vpa, Algorithm::Partition];

/// Balanced, uneven, with chains of single children, flat.
const SHAPES: [&str; 4] = [
    "a;A;X;*\nb;A;X;*\nc;B;X;*\nd;B;X;*\ne;C;Y;*\nf;C;Y;*\ng;D;Y;*\nh;D;Y;*\n",
    "a;A;*\nb;A;*\nc;B;Y;*\nd;C;Y;*\ne;C;Y;*\nf;*\ng;*\nh;B;Y;*\n",
    "a;A;X;*\nb;B;X;*\nc;B;X;*\nd;D;E;F;*\ne;G;*\nf;G;*\ng;H;*\nh;I;J;*\n",
    "a;*\nb;*\nc;*\nd;*\ne;*\nf;*\ng;*\nh;*\n",
];

fn hierarchy(shape: usize) -> Hierarchy {
    csv::parse("h", SHAPES[shape]).expect("a hierarchy")
}

fn bind(data: &Dataset) -> Binding {
    let (policy, _) = Policy::parse("p", sets::ATTRIBUTES, &[]).expect("a good policy");
    Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("all declared")
}

fn trees(transactions: &[Vec<String>]) -> ValueTrees {
    let data = sets::dataset(transactions);
    ValueTrees::new(&data, &bind(&data), RootMode::Separate, Payload::Keep)
}

fn anonymize(transactions: &[Vec<String>], h: &Hierarchy, params: &Params) -> Result<Release> {
    run(&trees(transactions), &[Some(h.clone())], params, &Quiet)
}

/// The published labels of each record.
fn published(release: &Release) -> Vec<BTreeSet<String>> {
    let trees = &release.trees;
    (0..trees.len())
        .map(|r| trees.nodes(r).map(|n| trees.items()[trees.item(n) as usize].label.clone()).collect())
        .collect()
}

/// Transactions that may be empty and come several times.
fn transactions() -> impl Strategy<Value = Vec<Vec<String>>> {
    let letter = (0..8u8).prop_map(|i| char::from(b'a' + i).to_string());
    let transaction =
        prop::collection::btree_set(letter, 0..6).prop_map(|s| s.into_iter().collect::<Vec<_>>());
    prop::collection::vec((transaction, 1..3usize), 1..9)
        .prop_map(|list| list.into_iter().flat_map(|(t, times)| vec![t; times]).collect())
}

/// Reads the publication as a stranger would and has it verified.
fn check_claim(release: &Release, p: &Params) {
    let labels: Vec<Vec<String>> = published(release).into_iter().map(|s| s.into_iter().collect()).collect();
    let written = sets::dataset(&labels);
    let text = format!("{}[privacy]\nmodel = \"km\"\nk = {}\nm = {}\n", sets::ATTRIBUTES, p.k, p.m);
    let (policy, _) = Policy::parse("p", &text, &[]).expect("a good policy");
    let claim = Claim::new(&policy).expect("a claim");
    let binding =
        Binding::new(written.schema(), &policy.attributes, policy.undeclared, "d").expect("declared");
    let witness = verify(&written, &binding, &claim, &[], 1 << 30, &Quiet).expect("countable");
    assert_eq!(witness, None, "{p:?}\n{release:?}");
}

/// Every published label stands for an item of its record, and every item for at most one label.
fn check_truth(transactions: &[Vec<String>], h: &Hierarchy, release: &Release) {
    let published = published(release);
    assert_eq!(published.len(), transactions.len());
    for (items, labels) in transactions.iter().zip(&published) {
        let covers = |label: &str, item: &str| {
            let node = h.leaf(label).or_else(|| h.node(label)).expect("a label");
            h.is_ancestor_or_self(node, h.leaf(item).expect("an item"))
        };
        assert!(labels.iter().all(|l| items.iter().any(|i| covers(l, i))), "{items:?} {labels:?}");
        assert!(items.iter().all(|i| labels.iter().filter(|l| covers(l, i)).count() <= 1));
        assert!(!labels.contains("*"));
    }
}

/// What a global recoding publishes is what its cut makes of the items that are not suppressed.
fn check_cut(transactions: &[Vec<String>], h: &Hierarchy, release: &Release) {
    let node = |label: &String| h.leaf(label).or_else(|| h.node(label)).expect("a label");
    let cut: Vec<_> = release.parts[0].cut.iter().map(|label| (label, node(label))).collect();
    for (items, labels) in transactions.iter().zip(published(release)) {
        let kept = items.iter().filter(|item| !release.suppressed.contains(*item));
        let expected: BTreeSet<String> = kept
            .flat_map(|item| cut.iter().filter(|(_, n)| h.is_ancestor_or_self(*n, node(item))))
            .map(|(label, _)| (*label).clone())
            .collect();
        assert_eq!(labels, expected, "{items:?} {:?}", release.suppressed);
    }
}

fn leaf_loss(h: &Hierarchy, transactions: &[Vec<String>], release: &Release) -> f64 {
    // From the publication alone: an item that is not there has lost everything.
    let (mut lost, mut all) = (0usize, 0usize);
    for (items, labels) in transactions.iter().zip(published(release)) {
        for item in items {
            all += h.leaf_count();
            let leaf = h.leaf(item).expect("an item");
            let node = labels.iter().map(|l| h.leaf(l).or_else(|| h.node(l)).expect("a label"));
            lost += match node.filter(|&n| h.is_ancestor_or_self(n, leaf)).map(|n| h.leaves(n).len()).next() {
                None => h.leaf_count(),
                Some(1) => 0,
                Some(leaves) => leaves,
            };
        }
    }
    lost as f64 / all as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn what_is_cut_short_keeps_its_promise(
        t in transactions(), shape in 0..4usize, k in 2u32..4, m in 1usize..4, asks in 0usize..120, l: bool, suppress: bool,
    ) {
        let h = hierarchy(shape);
        let sensitive: BTreeSet<String> = if l { ["h".to_owned()].into() } else { BTreeSet::new() };
        for algorithm in ALL {
            let p = Params {
                l: l.then_some(2.0),
                sensitive: sensitive.iter().cloned().collect(),
                suppress,
                ..Params::plain(algorithm, k, m)
            };
            let observer = Hurried::new(asks);
            match run(&trees(&t), &[Some(h.clone())], &p, &observer) {
                Ok(release) => {
                    let beyond = Beyond { l: p.l, sensitive: sensitive.clone(), negative: BTreeSet::new() };
                    prop_assert_eq!(violation(&published(&release), &h, k as usize, m, &beyond), None, "{:?}", p);
                    // A sensitive item stands beside what its own node is published for.
                    if !l {
                        check_truth(&t, &h, &release);
                    }
                    prop_assert!(!release.cut_short || observer.is_over());
                }
                Err(failure) => prop_assert_eq!(failure.fault, Fault::Unreachable, "{}", failure),
            }
        }
    }

    #[test]
    fn publications_are_verified_and_true(
        t in transactions(), shape in 0..4usize, k in 2u32..5, m in 1usize..5, parts in 1usize..4, improve: bool,
        suppress: bool, memory in prop::sample::select(vec![1usize, 1 << 12, 1 << 30]),
    ) {
        let h = hierarchy(shape);
        let baskets = Baskets::new(&h, &t);
        let anonymous = |sets: &[BTreeSet<_>]| {
            let labels: Vec<Vec<String>> =
                sets.iter().map(|s| s.iter().map(|&n| h.label(n).to_owned()).collect()).collect();
            sets::smallest_violation(&labels, k as usize, m).is_none()
        };
        let least = baskets.least_loss(anonymous);
        for algorithm in ALL {
            let suppress = suppress && !matches!(algorithm, Algorithm::Oa | Algorithm::Partition);
            let p = Params { parts, improve, suppress, memory, ..Params::plain(algorithm, k, m) };
            let Ok(release) = anonymize(&t, &h, &p) else { continue };
            check_claim(&release, &p);
            check_truth(&t, &h, &release);
            if release.parts.len() == 1 && algorithm != Algorithm::Partition {
                check_cut(&t, &h, &release);
            }
            // A dropped item may seem to be published where another one has been generalized to a node above both.
            let loss = leaf_loss(&h, &t, &release);
            prop_assert!((release.ncp - loss).abs() < 1e-12 || (suppress && release.ncp > loss), "{:?}", p);
            let least = least.expect("the root is anonymous") as f64
                / (t.iter().map(Vec::len).sum::<usize>() * h.leaf_count()) as f64;
            match algorithm {
                Algorithm::Oa => prop_assert!((release.ncp - least).abs() < 1e-12),
                Algorithm::Aa | Algorithm::Da | Algorithm::Vpa if !suppress => {
                    prop_assert!(release.ncp >= least - 1e-12);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn aa_and_da_repair_as_the_paper_prints_it(
        t in transactions(), shape in 0..4usize, k in 2u32..5, m in 1usize..4,
        memory in prop::sample::select(vec![1usize, 1 << 30]),
    ) {
        let h = hierarchy(shape);
        let baskets = Baskets::new(&h, &t);
        for (algorithm, cut) in [
            (Algorithm::Aa, baskets.aa(k as usize, m)),
            (Algorithm::Da, baskets.da(k as usize, m)),
        ] {
            let p = Params { improve: false, memory, ..Params::plain(algorithm, k, m) };
            let expected: Vec<BTreeSet<String>> = (baskets.publish(&cut).iter())
                .map(|set| set.iter().map(|&n| h.label(n).to_owned()).collect())
                .collect();
            match anonymize(&t, &h, &p) {
                Ok(release) => {
                    prop_assert_eq!(published(&release), expected);
                    prop_assert!((release.ncp - baskets.ncp(&cut)).abs() < 1e-12);
                }
                Err(_) => prop_assert!(t.len() < k as usize || expected.iter().all(BTreeSet::is_empty)),
            }
        }
    }

    /// b had been raised to B, and the pairs below it were no longer looked at: a triple with B was missed where the walk
    /// came to its first node later.
    #[test]
    fn a_triple_above_a_node_that_was_raised_meanwhile_was_missed(seed: u64, k in 3u32..6, size in 3usize..9) {
        let items: Vec<String> = (0..60).map(|i| i.to_string()).collect();
        let h = fanout(3, &items.iter().map(String::as_str).collect::<Vec<_>>()).expect("a hierarchy");
        let mut dice = Dice::new(seed);
        let t: Vec<Vec<String>> = (0..250)
            .map(|_| {
                let popular = |dice: &mut Dice| dice.below(60).min(dice.below(60)).min(dice.below(60));
                let set: BTreeSet<usize> = (0..dice.below(size) + 2).map(|_| popular(&mut dice)).collect();
                set.iter().map(|i| items[i * 7 % 60].clone()).collect()
            })
            .collect();
        let with = |memory| {
            let p = Params { improve: false, memory, ..Params::plain(Algorithm::Aa, k, 3) };
            anonymize(&t, &h, &p).map(|r| r.parts).expect("possible")
        };
        prop_assert_eq!(with(1 << 30), with(1));
    }

    #[test]
    fn improving_and_suppressing_never_lose_more(
        t in transactions(), shape in 0..4usize, k in 2u32..5, m in 1usize..4,
    ) {
        let h = hierarchy(shape);
        for algorithm in [Algorithm::Aa, Algorithm::Da, Algorithm::Lra, Algorithm::Vpa] {
            let plain = Params { improve: false, ..Params::plain(algorithm, k, m) };
            let ncp = |p: &Params| anonymize(&t, &h, p).map_or(1.0, |r| r.ncp);
            let before = ncp(&plain);
            let improved = ncp(&Params { improve: true, ..plain.clone() });
            let suppressed = ncp(&Params { suppress: true, ..plain.clone() });
            prop_assert!(improved <= before && suppressed <= before);
        }
    }

    #[test]
    fn sensitive_and_absent_items_are_kept(
        t in transactions(), shape in 0..4usize, k in 2u32..4, m in 1usize..4, l in prop::sample::select(vec![1.5, 2.0, 3.0]),
        sensitive in prop::collection::btree_set(prop::sample::select(vec!["a", "d", "h"]), 0..3),
        negative in prop::collection::btree_set(prop::sample::select(vec!["a", "b", "c", "e", "f", "g"]), 0..6),
        improve: bool, suppress: bool,
    ) {
        let h = hierarchy(shape);
        let beyond = Beyond {
            l: (!sensitive.is_empty()).then_some(l),
            sensitive: sensitive.iter().map(|s| (*s).to_owned()).collect(),
            negative: negative.iter().map(|s| (*s).to_owned()).collect(),
        };
        for algorithm in ALL {
            if algorithm == Algorithm::Lra && !negative.is_empty() {
                continue;
            }
            let p = Params {
                l: beyond.l,
                sensitive: beyond.sensitive.iter().cloned().collect(),
                negative: beyond.negative.iter().cloned().map(Negative::Value).collect(),
                improve,
                suppress: suppress && !matches!(algorithm, Algorithm::Oa | Algorithm::Partition),
                ..Params::plain(algorithm, k, m)
            };
            let Ok(release) = anonymize(&t, &h, &p) else { continue };
            let sets = published(&release);
            if algorithm == Algorithm::Oa {
                let least = least_loss(&h, &t, &beyond.sensitive, |sets| {
                    violation(sets, &h, k as usize, m, &beyond).is_none()
                });
                let least = least.expect("the root is anonymous");
                let all = t.iter().map(Vec::len).sum::<usize>() * h.leaf_count();
                prop_assert!((release.ncp - least as f64 / all as f64).abs() < 1e-12, "{:?}\n{:?}", p, sets);
            }
            prop_assert_eq!(violation(&sets, &h, k as usize, m, &beyond), None, "{:?}\n{:?}", p, sets);
            for (items, labels) in t.iter().zip(&sets) {
                for item in items.iter().filter(|i| beyond.sensitive.contains(*i)) {
                    prop_assert!(labels.contains(item), "sensitive items stay");
                }
            }
        }
    }

    #[test]
    fn threads_change_nothing(t in transactions(), shape in 0..4usize, k in 2u32..4, m in 1usize..4) {
        let h = hierarchy(shape);
        for algorithm in ALL {
            let p = Params::plain(algorithm, k, m);
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                pool.install(|| anonymize(&t, &h, &p).map(|r| (r.trees, r.parts)).ok())
            };
            prop_assert_eq!(with(1), with(3));
        }
    }
}

/// The least loss of all cuts with a property. Sensitive items stay as they are.
fn least_loss(
    h: &Hierarchy,
    t: &[Vec<String>],
    sensitive: &BTreeSet<String>,
    holds: impl Fn(&[BTreeSet<String>]) -> bool,
) -> Option<u128> {
    let (secrets, others): (Vec<Vec<String>>, Vec<Vec<String>>) =
        t.iter().map(|t| t.iter().cloned().partition(|item| sensitive.contains(item))).unzip();
    let baskets = Baskets::new(h, &others);
    let publish = |cut| -> Vec<BTreeSet<String>> {
        let labels = |set: BTreeSet<_>| set.into_iter().map(|n| h.label(n).to_owned()).collect();
        let sets = baskets.publish(cut).into_iter().map(labels);
        sets.zip(&secrets)
            .map(|(set, own): (BTreeSet<String>, _)| &set | &own.iter().cloned().collect())
            .collect()
    };
    baskets.cuts().iter().filter(|cut| holds(&publish(cut))).map(|cut| baskets.loss(cut)).min()
}

fn baskets(texts: &[&str]) -> Vec<Vec<String>> {
    texts.iter().map(|t| t.split_whitespace().map(str::to_owned).collect()).collect()
}

/// Twelve items of which every pair is rare, below two nodes that all records have.
#[test]
fn a_search_without_any_time_ends_with_a_coarse_cut() {
    let text: String = (0..12).map(|i| format!("i{i};{};*\n", if i < 6 { "low" } else { "high" })).collect();
    let h = csv::parse("h", &text).expect("good");
    let t: Vec<Vec<String>> =
        (0..36).map(|i| vec![format!("i{}", i % 6), format!("i{}", 6 + i / 6)]).collect();
    for algorithm in ALL {
        let p = Params::plain(algorithm, 3, 2);
        let whole = anonymize(&t, &h, &p).expect("reachable");
        assert!(!whole.cut_short);
        match run(&trees(&t), &[Some(h.clone())], &p, &Hurried::new(0)) {
            Ok(release) => {
                assert!(release.cut_short, "{algorithm:?}");
                check_claim(&release, &p);
            }
            // Groups begin with nothing published.
            Err(failure) => {
                assert_eq!(algorithm, Algorithm::Partition);
                assert!(failure.to_string().contains("the time was over"), "{failure}");
            }
        }
    }
}

/// Below the root there is nothing to raise a rare pair to, but half of the records are equal.
#[test]
fn where_one_cut_cannot_do_the_message_says_that_groups_would() {
    let h = csv::parse("h", "a;*\nb;*\nc;*\n").expect("good");
    let t = baskets(&["a b", "a b", "a b", "a c", "b c", "c"]);
    let failure = anonymize(&t, &h, &Params::plain(Algorithm::Aa, 3, 2)).expect_err("all is raised");
    let said = format!("{failure:?}");
    assert!(said.contains("nothing would be published"), "{said}");
    assert!(said.contains("partition") && said.contains("publishes something"), "{said}");
    anonymize(&t, &h, &Params::plain(Algorithm::Partition, 3, 2)).expect("it does");
}

/// {a1,s}, {a1,a2}, {a2,s}: each of a1 and a2 says s with one half, what they share says it with two thirds.
#[test]
fn generalizing_can_raise_a_share() {
    let h = csv::parse("h", "a1;A;*\na2;A;*\nb;*\ns;*\n").expect("good");
    let t = baskets(&["a1 s", "a1 a2", "a2 s", "b", "b", "b"]);
    for algorithm in [Algorithm::Aa, Algorithm::Da, Algorithm::Vpa, Algorithm::Oa, Algorithm::Partition] {
        let p = Params { l: Some(2.0), sensitive: vec!["s".into()], ..Params::plain(algorithm, 2, 2) };
        let beyond = Beyond { l: p.l, sensitive: ["s".to_owned()].into(), negative: BTreeSet::new() };
        // {a1,a2} is rare, so A is tried, which says too much.
        match anonymize(&t, &h, &p) {
            Ok(release) => assert_eq!(violation(&published(&release), &h, 2, 2, &beyond), None),
            Err(failure) => assert!(failure.to_string().contains("nothing would be published"), "{failure}"),
        }
    }
}

/// c was dropped, then a raised to X, and c was published as X as well, with d.
#[test]
fn a_dropped_item_came_back_with_the_node_above_it() {
    let t = baskets(&["", "", "", "a", "c d", "c d", "a", "a"]);
    let p = Params {
        l: Some(3.0),
        sensitive: vec!["d".into()],
        negative: vec![Negative::Value("a".into()), Negative::Value("b".into())],
        suppress: true,
        improve: false,
        ..Params::plain(Algorithm::Aa, 3, 1)
    };
    let release = anonymize(&t, &hierarchy(0), &p).expect("possible");
    assert_eq!(release.suppressed, ["c"]);
    assert!(published(&release).iter().all(|set| !(set.contains("X") && set.contains("d"))));
}

#[test]
fn a_sensitive_item_that_most_have_is_named() {
    let h = csv::parse("h", "a;*\ns;*\n").expect("good");
    let t = baskets(&["a s", "a s", "a"]);
    let p = Params { l: Some(2.0), sensitive: vec!["s".into()], ..Params::plain(Algorithm::Aa, 2, 1) };
    let failure = anonymize(&t, &h, &p).expect_err("s is in two thirds");
    assert!(failure.to_string().contains("`s`"), "{failure}");
}

#[test]
fn labels_that_the_hierarchy_does_not_have_are_all_listed() {
    let h = csv::parse("h", "a;*\ns;*\n").expect("good");
    let p = Params {
        l: Some(2.0),
        sensitive: vec!["x".into()],
        negative: vec![Negative::Value("y".into())],
        ..Params::plain(Algorithm::Aa, 2, 1)
    };
    let failure = anonymize(&baskets(&["a", "a"]), &h, &p).expect_err("x and y");
    assert!(failure.to_string().contains("`x`") && failure.to_string().contains("`y`"), "{failure}");
}

#[test]
fn what_cannot_be_done_is_refused_with_the_whole_list() {
    let refused = |text: &str| {
        let text = format!("version = 1\n{text}");
        let (policy, _) = Policy::parse("p", &text, &[]).expect("a good policy");
        Params::new(&policy).expect_err("refused").diagnostics.len()
    };
    let item = "[[attribute]]\npath = \"item\"\nrole = \"quasi\"\n[privacy]\nmodel = \"km\"\nk = 2\nm = 2\n";
    let lra = "multiset = true\nnegative = [\"a\"]\n[method]\nalgorithm = \"lra\"\n";
    assert_eq!(refused(&format!("{item}{lra}")), 2);
    assert_eq!(refused(&format!("{item}[method]\nalgorithm = \"oa\"\nsuppress = true\n")), 1);
    let source = "[source]\nformat = \"ndjson\"\npath = \"x\"\n";
    assert_eq!(refused(&format!("{source}{item}")), 1, "one value per record");
}

#[test]
fn odd_inputs() {
    let h = hierarchy(0);
    for algorithm in ALL {
        let p = Params::plain(algorithm, 3, 3);
        let failure = |t: &[&str]| anonymize(&baskets(t), &h, &p).expect_err("impossible").to_string();
        assert!(failure(&["a b", "a b"]).contains("k = 3 exceeds"));
        assert!(failure(&[]).contains("no item"));
        assert!(failure(&["", "", ""]).contains("no item"));
        // One transaction has an item: only nothing is the same for all.
        assert!(failure(&["a", "", ""]).contains("nothing would be published"));
        // An empty transaction is none that an attacker could know an item of, but it looks like no other.
        match anonymize(&baskets(&["a", "a", "a", ""]), &h, &p) {
            Ok(release) => assert_eq!(published(&release).iter().filter(|s| s.contains("a")).count(), 3),
            Err(_) => assert_eq!(algorithm, Algorithm::Partition),
        }
        let release =
            anonymize(&baskets(&["a", "b", "c"]), &h, &Params { m: 1000, ..p.clone() }).expect("possible");
        assert_eq!(published(&release), vec![BTreeSet::from(["X".to_owned()]); 3]);
        assert_eq!(release.ncp, 0.5);
    }
}
