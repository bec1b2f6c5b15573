//! The loss metrics of sets: the worked example, laws, and the definitions by brute force.

use std::collections::{BTreeMap, BTreeSet};

use bosket_measure::sets::mine::{Bounds, Frequent, frequent_itemsets};
use bosket_measure::sets::{Fate, ItemsetLoss, LevelLoss, Mining, SetLoss, ThresholdLoss};
use bosket_measure::trees::Comparison;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Payload, Policy, RootMode, Undeclared};
use bosket_model::value_tree::ValueTrees;
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::labels::LabelTree;
use bosket_testkit::sets;
use bosket_testkit::shared::{shared_json, shared_text};
use proptest::prelude::*;

type Set = BTreeSet<String>;

fn itemsets(trees: &ValueTrees, label: &[Option<u32>], bounds: Bounds) -> Option<Frequent> {
    frequent_itemsets(trees, label, bounds, &Quiet).expect("nobody interrupts")
}

fn trees(sets: &[Set]) -> (ValueTrees, Binding) {
    let lists: Vec<Vec<String>> = sets.iter().map(|s| s.iter().cloned().collect()).collect();
    let data = sets::dataset(&lists);
    let (policy, _) = Policy::parse("p", sets::ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("declared");
    (ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Drop), binding)
}

fn loss(
    input: &[Set],
    published: &[Set],
    hierarchy: &Hierarchy,
    mapping: Option<&[(u32, u32)]>,
    mining: &Mining,
) -> SetLoss {
    let ((before, binding), (after, _)) = (trees(input), trees(published));
    let hierarchies = [Some(hierarchy.clone())];
    let compared = Comparison {
        input: &before,
        published: &after,
        binding: &binding,
        hierarchies: &hierarchies,
        mapping,
    };
    SetLoss::new(&compared, mining, &Quiet).expect("all labels are in the hierarchy")
}

fn at(thresholds: &[f64]) -> Mining {
    Mining { thresholds: thresholds.to_vec(), ..Mining::default() }
}

fn same_order(records: usize) -> Vec<(u32, u32)> {
    (0..records as u32).map(|r| (r, r)).collect()
}

fn lines(text: &str) -> Vec<Set> {
    text.lines().map(|l| l.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn the_worked_example() {
    let (Some(expected), Some(input), Some(hierarchy)) = (
        shared_json("golden/km/expected.json"),
        shared_text("golden/km/fig2.dat"),
        shared_text("golden/km/hierarchy.csv"),
    ) else {
        return;
    };
    let input = lines(&input);
    let published: Vec<Set> = (expected["published"].as_array().expect("a list").iter())
        .flat_map(|l| lines(l.as_str().expect("text")))
        .collect();
    let hierarchy = csv::parse("hierarchy.csv", &hierarchy).expect("a good file");
    let pairs = same_order(input.len());
    for mapping in [None, Some(&pairs[..])] {
        let found = loss(&input, &published, &hierarchy, mapping, &at(&[0.5]));
        // Parsing the file's number may miss the last bit.
        assert_eq!(found.ncp(), Some(2.5 / 11.0));
        assert!((2.5 / 11.0 - expected["ncp"].as_f64().expect("a number")).abs() < 1e-15);
        let [attribute] = &found.attributes[..] else { panic!("{found:?}") };
        assert_eq!((attribute.occurrences, attribute.leaves), (11, 4));
        assert_eq!(attribute.fate, Some(Fate { kept: 6, generalized: 5, suppressed: 0, lost: 10 }));
        // Level 0: a1, a2, b1, b2, {a1,b2}, {a2,b1}, {a2,b2}, {b1,b2} in two of four; left are b1, b2, {b1,b2}.
        // The others are found again at level 1, where A, B and {A,B} are as before.
        let level = |level, input, published, distance| LevelLoss {
            level,
            input,
            published,
            kept: published,
            distance,
        };
        let expected = ThresholdLoss {
            threshold: 0.5,
            levels: vec![level(0, 8, 3, 5), level(1, 3, 3, 0), level(2, 1, 1, 0)],
        };
        let itemsets = found.itemsets.expect("few itemsets");
        assert_eq!(itemsets.thresholds, [expected]);
        assert_eq!((itemsets.ml2(), itemsets.dml2()), (5.0 / 12.0, 5.0 / 12.0));
        assert_eq!(itemsets.dml2_undetected(), Some(1.0));
    }
}

#[test]
fn supports_of_the_worked_example() {
    let (Some(expected), Some(input), Some(hierarchy)) = (
        shared_json("golden/km/expected.json"),
        shared_text("golden/km/fig2.dat"),
        shared_text("golden/km/hierarchy.csv"),
    ) else {
        return;
    };
    let hierarchy = csv::parse("hierarchy.csv", &hierarchy).expect("a good file");
    let (trees, _) = trees(&lines(&input));
    let everything = Bounds { min_support: 1, most_items: usize::MAX, most_sets: usize::MAX };
    for (labels, support) in expected["supports"].as_object().expect("a table") {
        let labels: Vec<&str> = labels.split(' ').collect();
        // Each named node takes the items below it; the others are themselves.
        let node = |leaf: &str| {
            let leaf = hierarchy.leaf(leaf).expect("a leaf");
            let named = labels.iter().filter_map(|l| hierarchy.node(l));
            named.into_iter().find(|&n| hierarchy.is_ancestor_or_self(n, leaf)).unwrap_or(leaf).0
        };
        let label: Vec<Option<u32>> = trees.items().iter().map(|i| Some(node(&i.label))).collect();
        let found = itemsets(&trees, &label, everything).expect("few");
        let mut set: Vec<u32> = labels.iter().map(|l| hierarchy.node(l).expect("a node").0).collect();
        assert_eq!(found.support(&mut set).map(u64::from), support.as_u64(), "{labels:?}");
    }
}

/// Frequent itemsets by counting every choice of every record.
fn choices(sets: &[Set], least: usize, most: usize) -> BTreeMap<Vec<String>, u32> {
    let mut counts: BTreeMap<Vec<String>, u32> = BTreeMap::new();
    for set in sets {
        let items: Vec<&String> = set.iter().collect();
        for bits in 1u32..1 << items.len() {
            if bits.count_ones() as usize <= most {
                let chosen = (0..items.len()).filter(|i| bits >> i & 1 == 1).map(|i| items[i].clone());
                *counts.entry(chosen.collect()).or_default() += 1;
            }
        }
    }
    counts.retain(|_, support| *support as usize >= least);
    counts
}

fn random_sets(dice: &mut Dice, values: &[String], records: usize) -> Vec<Set> {
    (0..records).map(|_| values.iter().filter(|_| !dice.one_in(3)).cloned().collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn mining_finds_what_counting_finds(
        seed: u64, values in 1usize..8, records in 0usize..300, least in 1usize..60, most in 0usize..9,
    ) {
        let mut dice = Dice::new(seed);
        let names: Vec<String> = (0..values).map(|v| format!("v{v}")).collect();
        // Rare ones make bitmaps shrink.
        let sets: Vec<Set> = (0..records)
            .map(|_| (0..values).filter(|&v| dice.one_in(1 + v)).map(|v| names[v].clone()).collect())
            .collect();
        let (trees, _) = trees(&sets);
        let label: Vec<Option<u32>> =
            trees.items().iter().map(|i| Some(i.label[1..].parse().expect("a number"))).collect();
        let bounds = Bounds { min_support: least, most_items: most, most_sets: usize::MAX };
        let found = itemsets(&trees, &label, bounds).expect("few");
        let expected = choices(&sets, least, most);
        let mut all = BTreeMap::new();
        found.each(|set, support| {
            let mut names: Vec<String> = set.iter().map(|&v| names[v as usize].clone()).collect();
            names.sort();
            assert!(all.insert(names, support).is_none(), "each set once");
        });
        prop_assert_eq!(&all, &expected);
        prop_assert_eq!(found.len(), expected.len());
        for bits in 1u32..1 << values {
            let chosen: Vec<u32> = (0..values as u32).filter(|v| bits >> v & 1 == 1).collect();
            let key: Vec<String> = chosen.iter().map(|&v| names[v as usize].clone()).collect();
            let mut asked: Vec<u32> = chosen.iter().chain(&chosen).rev().copied().collect();
            prop_assert_eq!(found.support(&mut asked), expected.get(&key).copied());
        }
        let tight = Bounds { most_sets: expected.len().saturating_sub(1), ..bounds };
        prop_assert_eq!(itemsets(&trees, &label, tight).is_none(), !expected.is_empty());
        let exact = Bounds { most_sets: expected.len(), ..bounds };
        prop_assert!(itemsets(&trees, &label, exact).is_some());
    }
}

/// A label at a level by the hierarchy's own numbers: the ancestor at depth height − level, a leaf above it itself,
/// nothing for what is coarser.
fn at_level(hierarchy: &Hierarchy, label: &str, level: u32) -> Option<String> {
    let mut node = hierarchy.node(label).expect("a node");
    let depth = hierarchy.height() - level;
    if hierarchy.depth(node) < depth {
        return hierarchy.is_leaf(node).then(|| label.to_owned());
    }
    while hierarchy.depth(node) > depth {
        node = hierarchy.parent(node).expect("below the root");
    }
    Some(hierarchy.label(node).to_owned())
}

fn at_levels(hierarchy: &Hierarchy, sets: &[Set], level: u32) -> Vec<Set> {
    sets.iter().map(|s| s.iter().filter_map(|l| at_level(hierarchy, l, level)).collect()).collect()
}

/// ML² and dML² by the definitions.
fn brute(input: &[Set], published: &[Set], hierarchy: &Hierarchy, threshold: f64) -> ThresholdLoss {
    let least = ((threshold * input.len() as f64 - 1e-9).ceil() as usize).max(1);
    let leaf = |v: &String| hierarchy.label(hierarchy.leaf(v).expect("a leaf")).to_owned();
    let input: Vec<Set> = input.iter().map(|set| set.iter().map(leaf).collect()).collect();
    let top = if input.iter().all(Set::is_empty) { 0 } else { hierarchy.height() };
    let mined = |sets: &[Set], level| choices(&at_levels(hierarchy, sets, level), least, usize::MAX);
    let after: Vec<_> = (0..=top).map(|level| mined(published, level)).collect();
    let levels = (0..=top)
        .map(|level| {
            let before = mined(&input, level);
            let distance = |set: &Vec<String>| {
                let first = (level..=top).find(|&up| {
                    let raised: Set = set.iter().filter_map(|l| at_level(hierarchy, l, up)).collect();
                    after[up as usize].contains_key(&raised.into_iter().collect::<Vec<_>>())
                });
                u64::from(first.unwrap_or(top + 1) - level)
            };
            LevelLoss {
                level,
                input: before.len() as u64,
                published: after[level as usize].len() as u64,
                kept: before.keys().filter(|set| after[level as usize].contains_key(*set)).count() as u64,
                distance: before.keys().map(distance).sum(),
            }
        })
        .collect();
    ThresholdLoss { threshold, levels }
}

/// One recoding per part: records, and what each value of theirs becomes.
struct Case {
    hierarchy: Hierarchy,
    input: Vec<Set>,
    published: Vec<Set>,
    /// Per record its values' nodes; none for those left out.
    became: Vec<BTreeMap<String, Option<String>>>,
}

fn case(seed: u64, parts: usize, partial: bool, records: usize) -> Case {
    let mut dice = Dice::new(seed);
    let tree = LabelTree::random(&mut dice, "v");
    let hierarchy = tree.hierarchy();
    let cuts = tree.cuts(partial);
    let cuts: Vec<&Set> = (0..parts).map(|_| dice.of(&cuts)).collect();
    let input = random_sets(&mut dice, &tree.values(), records);
    let became: Vec<BTreeMap<String, Option<String>>> = (input.iter())
        .map(|set| {
            let cut = *dice.of(&cuts);
            // The root stands for what is left out.
            set.iter().map(|v| (v.clone(), tree.recode(v, cut).filter(|l| l != "*"))).collect()
        })
        .collect();
    let published = became.iter().map(|r| r.values().flatten().cloned().collect()).collect();
    Case { hierarchy, input, published, became }
}

impl Case {
    /// Σ over occurrences by the definition, as a fraction of whole numbers.
    fn penalty(&self) -> (u64, u64) {
        let all = self.hierarchy.leaf_count() as u64;
        let cost = |label: &Option<String>| match label {
            None => all,
            Some(label) => {
                let leaves = self.hierarchy.leaves(self.hierarchy.node(label).expect("a node")).len() as u64;
                if leaves == 1 { 0 } else { leaves }
            }
        };
        let labels = || self.became.iter().flat_map(BTreeMap::values);
        (labels().map(cost).sum(), all * labels().count() as u64)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn itemset_loss_is_as_defined(seed: u64, parts in 1usize..4, partial: bool, records in 0usize..40) {
        let case = case(seed, parts, partial, records);
        let thresholds = [0.3, 0.05, 0.6];
        let found = loss(&case.input, &case.published, &case.hierarchy, None, &at(&thresholds));
        let itemsets = found.itemsets.expect("few");
        for (found, &threshold) in itemsets.thresholds.iter().zip(&thresholds) {
            let expected = brute(&case.input, &case.published, &case.hierarchy, threshold);
            prop_assert_eq!(found, &expected);
            prop_assert!((0.0..=1.0).contains(&found.ml2()));
            prop_assert!(found.levels.iter().all(|l| l.published == l.kept), "nothing new is frequent");
            if let Some(distance) = found.dml2_undetected() {
                prop_assert!(distance >= 1.0 && found.undetected() > 0);
                prop_assert!(found.dml2() <= distance && found.dml2() >= found.ml2());
            } else {
                prop_assert_eq!((found.ml2(), found.dml2()), (0.0, 0.0));
            }
        }
        let mean = |of: fn(&ThresholdLoss) -> f64| itemsets.thresholds.iter().map(of).sum::<f64>() / 3.0;
        prop_assert_eq!(itemsets.ml2(), mean(ThresholdLoss::ml2));
        prop_assert_eq!(itemsets.dml2(), mean(ThresholdLoss::dml2));
    }

    #[test]
    fn penalties_are_as_defined(seed: u64, parts in 1usize..4, partial: bool, records in 1usize..30) {
        let case = case(seed, parts, partial, records);
        let pairs = same_order(records);
        let found = loss(&case.input, &case.published, &case.hierarchy, Some(&pairs), &at(&[]));
        let (lost, whole) = case.penalty();
        if whole == 0 {
            prop_assert_eq!(found.attributes.len(), 0);
            return Ok(());
        }
        prop_assert_eq!(found.ncp(), Some(lost as f64 / whole as f64));
        let fate = found.attributes[0].fate.expect("with a mapping");
        let labels = || case.became.iter().flatten();
        prop_assert_eq!(fate.suppressed, labels().filter(|(_, l)| l.is_none()).count() as u64);
        prop_assert_eq!(fate.kept + fate.generalized + fate.suppressed, labels().count() as u64);
        prop_assert_eq!(fate.lost, lost);
        let unmapped = loss(&case.input, &case.published, &case.hierarchy, None, &at(&[]));
        if parts == 1 {
            prop_assert_eq!(&unmapped.attributes, &found.attributes, "one cut needs no mapping");
        } else if let Some(fate) = unmapped.attributes[0].fate {
            prop_assert_eq!(Some(fate), found.attributes[0].fate, "what is told is true");
        }
    }

    #[test]
    fn nothing_changed_is_nothing_lost(seed: u64, records in 0usize..30) {
        let case = case(seed, 1, false, records);
        let leaves = |set: &Set| -> Set {
            set.iter().map(|v| case.hierarchy.label(case.hierarchy.leaf(v).expect("a leaf")).to_owned()).collect()
        };
        let same: Vec<Set> = case.input.iter().map(leaves).collect();
        let found = loss(&case.input, &same, &case.hierarchy, None, &at(&[0.1, 0.5]));
        prop_assert_eq!(found.ncp(), Some(0.0));
        let itemsets = found.itemsets.expect("few");
        prop_assert_eq!((itemsets.ml2(), itemsets.dml2(), itemsets.dml2_undetected()), (0.0, 0.0, None));
    }
}

const FRUIT: &str = "apple;pome;fruit;*\npear;pome;fruit;*\nplum;fruit;*\nkale;*\n";

fn fruit() -> Hierarchy {
    csv::parse("fruit.csv", FRUIT).expect("a good file")
}

#[test]
fn everything_left_out_costs_everything() {
    let input = lines("apple plum\npear\napple kale\n");
    let published = vec![Set::new(); 3];
    let found = loss(&input, &published, &fruit(), None, &at(&[0.5]));
    assert_eq!(found.ncp(), Some(1.0));
    let itemsets = found.itemsets.expect("few");
    assert_eq!(itemsets.ml2(), 1.0);
    // apple is three levels below the root and so four away from nothing; pome three, fruit two, * one.
    let distances: Vec<u64> = itemsets.thresholds[0].levels.iter().map(|l| l.distance).collect();
    assert_eq!(distances, [4, 3, 2, 1]);
}

#[test]
fn a_local_recoding_without_mapping_cannot_be_told() {
    let input = lines("apple plum\npear\napple kale\n");
    let published = lines("apple plum\npome\nfruit kale\n");
    let told = loss(&input, &published, &fruit(), Some(&same_order(3)), &at(&[]));
    // pear became pome, 2 of 4 leaves; the last apple fruit, 3 of 4.
    assert_eq!(told.ncp(), Some((2.0 + 3.0) / (4.0 * 5.0)));
    assert_eq!(loss(&input, &published, &fruit(), None, &at(&[])).ncp(), None);
    // A cut's label that is missing in some records is no global recoding either.
    let fewer = lines("apple plum\npear\nkale\n");
    assert_eq!(loss(&input, &fewer, &fruit(), None, &at(&[])).ncp(), None);
    assert_eq!(loss(&input, &fewer, &fruit(), Some(&same_order(3)), &at(&[])).ncp(), Some(4.0 / 20.0));
}

#[test]
fn records_that_were_not_published_are_lost() {
    let input = lines("apple\napple\nplum\nplum\n");
    let found = loss(&input, &lines("apple\napple\n"), &fruit(), Some(&[(0, 0), (1, 1)]), &at(&[0.5]));
    assert_eq!(found.ncp(), Some(0.5));
    assert_eq!((found.records, found.published_records), (4, 2));
    // Half of the input's records is two; plum and what it becomes is not there.
    let levels = &found.itemsets.as_ref().expect("few").thresholds[0].levels;
    assert_eq!((levels[0].input, levels[0].kept), (2, 1));
}

#[test]
fn bad_mappings_and_labels_are_refused() {
    let input = lines("apple\nplum\n");
    let ((before, binding), hierarchies) = (trees(&input), [Some(fruit())]);
    let check = |published: &str, mapping: Option<&[(u32, u32)]>| {
        let (after, _) = trees(&lines(published));
        let compared = Comparison {
            input: &before,
            published: &after,
            binding: &binding,
            hierarchies: &hierarchies,
            mapping,
        };
        SetLoss::new(&compared, &Mining::default(), &Quiet).map(|_| ()).expect_err("refused").to_string()
    };
    assert!(check("apple\nplum\n", Some(&[(0, 2)])).contains("records that are not there"));
    let found = check("apple\nquince\n", None);
    assert!(found.contains("in no hierarchy") && !found.contains("quince"), "{found}");
}

#[test]
fn few_long_records_had_more_itemsets_than_memory() {
    let names: Vec<String> = (0..60).map(|i| format!("v{i}")).collect();
    let hierarchy: String = names.iter().map(|n| format!("{n};*\n")).collect();
    let hierarchy = csv::parse("h.csv", &hierarchy).expect("a good file");
    let input: Vec<Set> = vec![names.into_iter().collect(); 3];
    let mining = Mining { most_sets: 100_000, ..Mining::default() };
    let found = loss(&input, &input, &hierarchy, None, &mining);
    assert_eq!((found.ncp(), found.itemsets.clone()), (Some(0.0), None));
    assert!(found.to_json()["ml2"].is_null());
    let pairs = Mining { most_items: 2, ..mining };
    let itemsets: ItemsetLoss = loss(&input, &input, &hierarchy, None, &pairs).itemsets.expect("few pairs");
    assert_eq!(itemsets.thresholds[0].levels[0].input, 60 + 60 * 59 / 2);
}

#[test]
fn all_of_it_as_json() {
    let input = lines("apple plum\npear\napple kale\n");
    let published = lines("fruit\nfruit\nfruit kale\n");
    let found = loss(&input, &published, &fruit(), None, &at(&[0.6])).to_json();
    assert_eq!(found["ncp"], 12.0 / 20.0);
    assert_eq!(found["attributes"][0]["generalized"], 4);
    assert_eq!(found["mining"][0]["levels"].as_array().expect("a list").len(), 4);
    assert!(!found.to_string().contains("apple") && !found.to_string().contains("kale"));
}
