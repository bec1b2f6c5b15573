//! The loss metrics of value trees: worked examples, laws, and the definitions by brute force.

#[path = "loss/brute.rs"]
mod brute;
#[path = "loss/records.rs"]
mod records;

use std::collections::BTreeMap;

use bosket_measure::trees::counterpart::dtree;
use bosket_measure::trees::forest::Forest;
use bosket_measure::trees::mine::{Pattern, frequent_subtrees};
use bosket_measure::trees::rpd::{self, Synopsis, path_rpd};
use bosket_measure::trees::{Mining, Space, TreeLoss};
use bosket_model::hierarchy::csv::parse;
use bosket_model::observe::Quiet;
use bosket_testkit::shared::{shared_json, shared_text};
use proptest::prelude::*;
use records::{Recoding, Record, Side, hierarchies, record, side};

fn loss(input: &[Record], published: &[Record], mining: Mining, mapping: Option<&[(u32, u32)]>) -> TreeLoss {
    let (before, after) = (side(input), side(published));
    let hierarchies = hierarchies();
    TreeLoss::new(&before.against(&after, &hierarchies, mapping), mining, &Quiet)
        .expect("all labels are in the hierarchies")
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0)
}

fn all(threshold: f64) -> Mining {
    Mining { threshold, ..Mining::default() }
}

#[test]
fn rpd_of_the_worked_examples() {
    let (Some(expected), Some(csv)) =
        (shared_json("golden/kmn/expected.json"), shared_text("golden/kmn/hierarchy.csv"))
    else {
        return;
    };
    // All values count as one class there: each attribute has the whole hierarchy.
    let whole = parse("hierarchy.csv", &csv).expect("a good file");
    let hierarchies = vec![Some(whole.clone()), Some(whole.clone()), Some(whole.clone())];
    for case in expected["rpd"].as_array().expect("a list") {
        let paths: Vec<Vec<String>> = serde_json::from_value(case["paths"].clone()).expect("paths of labels");
        let wanted = case["rpd"].as_f64().expect("a number");
        let width = |label: &str| {
            let leaf = whole.is_leaf(whole.node(label).expect("a label"));
            case["level_sizes"][if leaf { "leaf" } else { "level1" }].as_u64().expect("a size") as u32
        };
        let sum: f64 = paths.iter().map(|p| path_rpd(p.iter().map(|l| width(l)))).sum();
        assert!(near(sum / paths.len() as f64, wanted), "{case}");

        let class = |label: &str| {
            let top = whole.nodes().find(|&n| {
                whole.depth(n) == 1 && whole.is_ancestor_or_self(n, whole.node(label).expect("a label"))
            });
            match whole.label(top.expect("below a class")) {
                "Medical Center" => "a",
                "Disease" => "b",
                _ => "c",
            }
        };
        let record: Record =
            paths.iter().map(|p| p.iter().map(|l| format!("{}:{l}", class(l))).collect()).collect();
        let trees = side(&[record]);
        let space = Space::new(&hierarchies, &trees.trees);
        let located = space.published(&trees.trees, &trees.binding).expect("in the hierarchy");
        assert!(near(rpd::rpd(&space, &located, &Quiet).expect("nobody interrupts"), wanted), "{case}");
    }
}

#[test]
fn dtree_of_the_worked_examples() {
    assert!(near(dtree(&[1, 0], 1, 0), 0.25));
    assert!(near(dtree(&[1, 0], 1, 1), 0.75));
    assert!(near(dtree(&[0], 0, 0), 0.0));
    // The whole way: r → a → b, with a generalized, then disassociated. The subtrees of the input are a, b and a → b
    // at each of the three levels.
    let input = vec![record(&["a:A1 b:B1"]); 3];
    let generalized = loss(&input, &vec![record(&["a:AX b:B1"]); 3], all(1.0), None);
    assert!(near(generalized.mining.dml2(), (0.5 + 0.0 + 0.25) / 9.0));
    assert!(near(generalized.mining.ml2(), 1.0 - 7.0 / 9.0));
    let parted = loss(&input, &vec![record(&["a:AX", "b:B1"]); 3], all(1.0), None);
    assert!(near(parted.mining.dml2(), (0.5 + 0.0 + 0.75 + 2.0 * 0.5) / 9.0));
    assert!(near(parted.mining.ml2(), 1.0 - 5.0 / 9.0));
}

#[test]
fn merged_siblings_count_once() {
    let input = vec![record(&["a:A1 b:B1", "a:A1 b:B2"]); 2];
    let loss = loss(&input, &vec![record(&["a:A1 b:BX"]); 2], all(1.0), None);
    let leaves = loss.mining.levels[0];
    // A1, B1, B2, A1 → B1, A1 → B2, A1 → {B1, B2}: the last as A1 → BX.
    assert_eq!((leaves.input, leaves.published, leaves.kept), (6, 1, 1));
    assert!(near(leaves.distance, 2.0 * 0.5 + 2.0 * 0.25 + 0.25));
}

#[test]
fn what_is_not_published_is_one_level_above_the_root() {
    let input = vec![record(&["a:A1 b:B1"]); 2];
    let loss = loss(&input, &vec![record(&["b:B1"]); 2], all(1.0), None);
    // Levels 0, 1, 2: a is 3, 2, 1 levels away, and its relation is gone.
    let wanted: f64 = [3.0, 2.0, 1.0].iter().map(|d| 0.5 * d + 0.5 * d / 2.0 + 0.5).sum();
    assert!(near(loss.mining.dml2(), wanted / 9.0));
    let a = &loss.attributes[0];
    assert_eq!((a.values, a.kept, a.rest.map(|r| r.unpublished)), (2, 0.0, Some(1.0)));
    let relations = loss.relations.expect("told by the cut");
    assert_eq!((relations.relations, relations.kept, relations.unpublished), (2, 0.0, 1.0));
}

#[test]
fn parting_values_may_make_new_subtrees() {
    let input = vec![record(&["a:A1 b:B1 c:C1"]); 2];
    let published = vec![record(&["a:A1 b:B1", "a:A1 c:C1"]); 2];
    let level = loss(&input, &published, all(1.0), None).mining.levels[0];
    // A1 → {B1, C1} is new; B1 → C1 and the chain of three are lost.
    assert_eq!((level.input, level.published, level.kept), (7, 6, 5));
}

#[test]
fn an_empty_record_has_the_worst_rpd_and_a_missing_one_too() {
    let input = vec![record(&["a:A1"]), record(&["a:A2"])];
    let empty = loss(&input, &[record(&["a:A1"]), record(&[])], all(1.0), None);
    let missing = loss(&input, &[record(&["a:A1"])], all(1.0), None);
    assert!(near(empty.rpd, (0.25 + 1.0) / 2.0) && near(missing.rpd, empty.rpd));
    let nothing = loss(&input, &[record(&[]), record(&[])], all(1.0), None);
    assert_eq!((nothing.rpd, nothing.rpd_a, nothing.mining.ml2()), (1.0, 2.0, 1.0));
    assert!(near(loss(&[], &[], all(1.0), None).mining.dml2(), 0.0));
}

#[test]
fn a_coarser_cut_may_lower_rpd_where_siblings_merge() {
    let mut text = "x1;X;*\nx2;X;*\nx3;X;*\n".to_owned();
    (4..=12).for_each(|n| text.push_str(&format!("x{n};*\n")));
    let mut hierarchies = hierarchies();
    hierarchies[0] = Some(parse("h.csv", &text).expect("a good file"));
    let rpd = |paths: &[&str]| {
        let one = side(&[record(paths)]);
        let space = Space::new(&hierarchies, &one.trees);
        let located = space.published(&one.trees, &one.binding).expect("in the hierarchies");
        rpd::rpd(&space, &located, &Quiet).expect("nobody interrupts")
    };
    let finer = rpd(&["a:x1", "a:x2", "a:x3", "b:B1 c:C1"]);
    let coarser = rpd(&["a:X", "b:B1 c:C1"]);
    assert!(near(finer, (3.0 / 12.0 + 1.0 / 24.0) / 4.0) && near(coarser, (1.0 / 10.0 + 1.0 / 24.0) / 2.0));
    assert!(coarser < finer);
}

#[test]
fn synopsis_of_the_worked_example() {
    let (Some(golden), Some(csv)) =
        (shared_json("golden/kmn/fig10.synopsis.json"), shared_text("golden/kmn/hierarchy.csv"))
    else {
        return;
    };
    let whole = parse("hierarchy.csv", &csv).expect("a good file");
    let hierarchies = vec![Some(whole.clone()), Some(whole.clone()), Some(whole.clone())];
    let records = [
        record(&[
            "a:Hospital1 b:Gastritis",
            "a:Hospital2 b:Flu c:Pain_killer",
            "a:Hospital2 b:Bronchitis c:Antibiotics",
        ]),
        record(&[
            "a:Hospital1 b:Gastritis",
            "a:Hospital1 b:Bronchitis c:Antibiotics",
            "a:Hospital2 b:Flu c:Pain_killer",
            "a:Hospital2 b:Bronchitis c:Antibiotics",
        ]),
        record(&["a:Hospital1 b:Flu c:Pain_killer", "a:Hospital2 b:Flu c:Pain_killer"]),
        record(&["a:Hospital1 b:Gastritis c:Pain_killer", "a:Hospital1 b:Bronchitis"]),
    ];
    let trees = side(&records);
    let space = Space::new(&hierarchies, &trees.trees);
    let located = space.original(&trees.trees, &trees.binding).expect("in the hierarchy");
    let synopsis = Synopsis::new(&located, &Quiet).expect("nobody interrupts");
    let mut supports: Vec<(usize, u64)> = Vec::new();
    let mut depths: Vec<usize> = Vec::new();
    for (_, parent, support) in synopsis.nodes() {
        depths.push(parent.map_or(1, |p| depths[p as usize] + 1));
        supports.push((*depths.last().expect("just pushed"), u64::from(support)));
    }
    let mut wanted: Vec<(usize, u64)> = (golden["nodes"].as_array().expect("a list").iter())
        .map(|n| {
            let ids = n["ids"].as_array().expect("ids").len() as u64;
            (n["path"].as_array().expect("a path").len(), ids)
        })
        .collect();
    supports.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(supports, wanted);
    // Its five leaves, each with the supports on its path; all twelve leaves of the hierarchy are told apart.
    let paths = [[4, 3, 1], [4, 2, 1], [4, 1, 1], [3, 3, 3], [3, 2, 2]];
    let sum: f64 = paths.iter().map(|p| f64::from(p.iter().sum::<i32>()) * path_rpd([12; 3])).sum();
    assert!(near(synopsis.rpd_a(&space), sum / 5.0 / 12.0));
}

#[test]
fn labels_in_no_hierarchy_are_refused_all_at_once() {
    let (before, after) =
        (side(&[record(&["a:A1 b:B1"])]), side(&[record(&["a:odd b:B1", "b:odd", "b:odder"])]));
    let hierarchies = hierarchies();
    let failure = TreeLoss::new(&before.against(&after, &hierarchies, None), all(1.0), &Quiet)
        .expect_err("two attributes have such labels");
    assert_eq!(failure.diagnostics.len(), 2);
    assert!(!format!("{failure:?}").contains("odd"));
}

#[test]
fn a_mapping_to_records_that_are_not_there_is_refused() {
    let one = side(&[record(&["a:A1"])]);
    let hierarchies = hierarchies();
    let compared = one.against(&one, &hierarchies, Some(&[(0, 0), (0, 1), (1, 0)]));
    let failure = TreeLoss::new(&compared, all(1.0), &Quiet).expect_err("two are outside");
    assert!(failure.diagnostics[0].message.starts_with("2 lines"));
}

#[test]
fn attributes_without_hierarchy_are_measured_too() {
    let (before, after) = (
        side(&[record(&["a:x b:B1"]), record(&["a:y b:B1"])]),
        side(&[record(&["a:x b:BX"]), record(&["b:BX"])]),
    );
    let mut hierarchies = hierarchies();
    hierarchies[0] = None;
    let loss = TreeLoss::new(&before.against(&after, &hierarchies, None), all(0.5), &Quiet)
        .expect("all labels are known");
    assert!(near(loss.rpd_input, 1.0 / (2.0 * 2.0 * 4.0)));
    assert!(near(loss.rpd, (1.0 / (2.0 * 2.0 * 2.0) + 0.5) / 2.0));
    assert_eq!(loss.attributes[0].kept, 0.5);
}

#[test]
fn local_recoding_is_told_by_a_mapping_and_partly_without() {
    let input = [record(&["a:A1 b:B1"]), record(&["a:A1 b:B2"]), record(&["a:A3"])];
    let published = [record(&["a:AX", "b:B2"]), record(&["a:A1 b:B1"])];
    let without = loss(&input, &published, all(0.3), None);
    assert!(near(without.attributes[0].kept, 1.0 / 3.0));
    assert_eq!((&without.attributes[0].rest, &without.relations), (&None, &None));
    let with = loss(&input, &published, all(0.3), Some(&[(0, 1), (1, 0)]));
    let a = &with.attributes[0];
    let rest = a.rest.expect("told");
    assert!(
        near(a.kept, 1.0 / 3.0) && near(rest.generalized, 1.0 / 3.0) && near(rest.unpublished, 1.0 / 3.0)
    );
    assert!(near(rest.mean_levels, 1.0));
    let relations = with.relations.expect("told");
    assert!(near(relations.kept, 0.5) && near(relations.broken, 0.5) && near(relations.unpublished, 0.0));
    assert!(with.to_json()["relations"]["broken"].is_f64());
    assert!(without.to_json()["relations"].is_null());
}

fn describe(pattern: &Pattern, side: &Side) -> String {
    fn write(pattern: &Pattern, parents: &[Option<usize>], side: &Side, node: usize) -> String {
        let mut below: Vec<String> = (0..parents.len())
            .filter(|&c| parents[c] == Some(node))
            .map(|c| write(pattern, parents, side, c))
            .collect();
        below.sort();
        let item = &side.trees.items()[pattern.code[node].1 as usize];
        format!("{}:{}({})", ["a", "b", "c"][item.declared], item.label, below.join(""))
    }
    let parents = pattern.parents();
    let mut tops: Vec<String> = (0..parents.len())
        .filter(|&n| parents[n].is_none())
        .map(|n| write(pattern, &parents, side, n))
        .collect();
    tops.sort();
    tops.join("")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_miner_finds_what_brute_force_finds(
        input in prop::collection::vec(records::any_record(), 1..6),
        min_support in 1usize..4,
        most in 1usize..6,
        rooted: bool,
    ) {
        let side = side(&input);
        let labels: Vec<Option<u32>> = (0..side.trees.items().len() as u32).map(Some).collect();
        let forest = Forest::new(&side.trees, &labels, min_support, rooted, &Quiet).expect("nobody interrupts");
        let found = frequent_subtrees(&forest, min_support, most, &Quiet).expect("nobody interrupts");
        let described: BTreeMap<String, usize> =
            found.iter().map(|p| (describe(p, &side), p.support as usize)).collect();
        prop_assert_eq!(described.len(), found.len(), "each pattern once");
        prop_assert_eq!(described, brute::frequent(&input, min_support, most, rooted));
    }

    #[test]
    fn mining_losses_are_what_brute_force_finds(
        input in prop::collection::vec(records::any_record(), 1..6),
        recoding in records::any_recoding(),
        threshold in 0.05f64..0.7,
        rooted: bool,
    ) {
        let published: Vec<Record> = input.iter().map(|r| recoding.apply(r)).collect();
        let mining = Mining { threshold, most_nodes: 4, rooted };
        let loss = loss(&input, &published, mining, None);
        let wanted = brute::levels(&input, &published, &recoding, mining);
        for (level, wanted) in loss.mining.levels.iter().zip(&wanted) {
            prop_assert_eq!((level.input, level.published, level.kept), (wanted.0, wanted.1, wanted.2));
            prop_assert!(near(level.distance, wanted.3), "level {}: {} {}", level.level, level.distance, wanted.3);
        }
    }

    #[test]
    fn publishing_all_as_it_is_loses_nothing(
        input in prop::collection::vec(records::any_record(), 1..8),
        rooted: bool,
    ) {
        let loss = loss(&input, &input, Mining { threshold: 0.3, most_nodes: 4, rooted }, None);
        prop_assert_eq!((loss.mining.ml2(), loss.mining.lost(), loss.mining.dml2()), (0.0, 0.0, 0.0));
        prop_assert_eq!(loss.rpd, loss.rpd_input);
        prop_assert!(loss.attributes.iter().all(|a| a.kept == 1.0));
        prop_assert_eq!(loss.relations.map(|r| r.kept), Some(1.0));
    }

    #[test]
    fn on_single_paths_a_coarser_cut_never_lowers_rpd(
        input in prop::collection::vec(records::any_path(), 1..6),
        finer in records::any_recoding(),
        coarser in records::any_recoding(),
    ) {
        let finer = Recoding { rules: Vec::new(), ..finer };
        let coarser = Recoding { rules: Vec::new(), ..coarser.joined(&finer) };
        let published = |r: &Recoding| -> Vec<Record> { input.iter().map(|t| r.apply(t)).collect() };
        let all_roots = Recoding::roots();
        let at = |r: &Recoding| loss(&input, &published(r), all(0.5), None).rpd;
        prop_assert!(at(&finer) <= at(&coarser));
        prop_assert!(loss(&input, &input, all(0.5), None).rpd <= at(&finer));
        if !coarser.drops_any() {
            prop_assert!(at(&coarser) <= at(&all_roots));
        }
    }

    #[test]
    fn a_cut_tells_what_a_mapping_tells(
        input in prop::collection::vec(records::any_record(), 1..6),
        recoding in records::any_recoding(),
    ) {
        let recoding = Recoding { rules: Vec::new(), ..recoding };
        let published: Vec<Record> = input.iter().map(|r| recoding.apply(r)).collect();
        let mapping: Vec<(u32, u32)> = (0..input.len() as u32).map(|r| (r, r)).collect();
        let by_cut = loss(&input, &published, all(0.5), None);
        let by_record = loss(&input, &published, all(0.5), Some(&mapping));
        prop_assert_eq!(by_cut.attributes, by_record.attributes);
        prop_assert_eq!(by_cut.relations, by_record.relations);
    }
}
