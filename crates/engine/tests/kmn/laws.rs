//! k^(m,n) on a hierarchy small enough for all cuts to be written down: AllCutSearch finds the best one, and asking for more
//! never costs less.

use std::collections::BTreeSet;

use bosket_engine::kmn::{Algorithm, Cost, Params, run};
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Payload, Policy, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_testkit::trees::{ATTRIBUTES, PathRecord, dataset};
use proptest::prelude::*;

use crate::{hierarchies, params};

const LEVELS: [&str; 3] = ["A", "B", "C"];

fn records() -> impl Strategy<Value = Vec<PathRecord>> {
    let path = (0..5usize, 0..5usize, 0..5usize).prop_map(|(a, b, c)| {
        let named = LEVELS.iter().zip([a, b, c]).filter(|(_, n)| *n > 0);
        named.map(|(level, n)| format!("{level}{n}")).collect::<Vec<String>>()
    });
    prop::collection::vec(prop::collection::vec(path, 1..4), 1..12)
}

/// The loss of the cheapest cut, if there is one.
fn acs(records: &[PathRecord], k: u32, m: usize) -> Option<f64> {
    let data = dataset(records);
    let (policy, _) = Policy::parse("p", ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("all declared");
    let trees = ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Keep);
    let params = Params { cost: Cost::Rpd, ..params(3, Algorithm::Acs, k, m, 0) };
    run(&trees, &hierarchies(3), &params, None, &Quiet).ok().map(|release| release.rpd)
}

/// All cuts of one attribute: what its four values become. None: it is not published.
fn cuts() -> Vec<Option<[&'static str; 4]>> {
    vec![
        None,
        Some(["*", "*", "*", "*"]),
        Some(["x", "x", "y", "y"]),
        Some(["1", "2", "y", "y"]),
        Some(["x", "x", "3", "4"]),
        Some(["1", "2", "3", "4"]),
    ]
}

/// A published value: its level and what it became.
type Value = (usize, &'static str);

/// RPD of a record's rows, by the definition; a row with nothing published counts as one value that says nothing.
fn rpd(rows: &[(usize, Vec<Value>)]) -> f64 {
    let nothing: BTreeSet<usize> = rows.iter().filter(|r| r.1.is_empty()).map(|r| r.0).collect();
    let paths: BTreeSet<&Vec<Value>> = rows.iter().map(|r| &r.1).filter(|p| !p.is_empty()).collect();
    let leaves: Vec<&&Vec<Value>> =
        paths.iter().filter(|p| !paths.iter().any(|q| q.len() > p.len() && q.starts_with(p))).collect();
    let width = |value: &str| match value {
        "*" => 1.0,
        "x" | "y" => 2.0,
        _ => 4.0,
    };
    let of_path = |path: &[Value]| -> f64 {
        path.iter().enumerate().map(|(i, (_, v))| 1.0 / ((i + 1) as f64 * width(v))).product()
    };
    let all = leaves.len() + nothing.len();
    if all == 0 {
        return 1.0;
    }
    (leaves.iter().map(|p| of_path(p)).sum::<f64>() + nothing.len() as f64) / all as f64
}

fn sound(records: &[BTreeSet<Value>], k: usize, m: usize) -> bool {
    records.iter().all(|own| {
        let mut sets: Vec<Vec<Value>> = vec![Vec::new()];
        for &value in own {
            let more: Vec<Vec<Value>> =
                sets.iter().filter(|s| s.len() < m).map(|s| [s.as_slice(), &[value]].concat()).collect();
            sets.extend(more);
        }
        sets.iter().skip(1).all(|s| records.iter().filter(|r| s.iter().all(|v| r.contains(v))).count() >= k)
    })
}

/// The least loss of all sound cuts, each written out.
fn brute(records: &[PathRecord], k: usize, m: usize) -> Option<f64> {
    let rows_of = |record: &PathRecord| -> Vec<Vec<(usize, usize)>> {
        let paths: BTreeSet<&Vec<String>> = record.iter().filter(|p| !p.is_empty()).collect();
        let longest =
            |p: &&&Vec<String>| !paths.iter().any(|q| q.len() > p.len() && q.starts_with(p.as_slice()));
        let value = |label: &String| {
            let level = LEVELS.iter().position(|l| label.starts_with(l)).expect("a level");
            (level, label[1..].parse::<usize>().expect("a number") - 1)
        };
        paths.iter().filter(longest).map(|p| p.iter().map(value).collect()).collect()
    };
    let rows: Vec<Vec<Vec<(usize, usize)>>> = records.iter().map(rows_of).collect();
    let mut best: Option<f64> = None;
    for a in cuts() {
        for b in cuts() {
            for c in cuts() {
                let cut = [a, b, c];
                let published: Vec<Vec<(usize, Vec<Value>)>> = (rows.iter())
                    .map(|rows| {
                        let row = |row: &Vec<(usize, usize)>| {
                            let values = row.iter().filter_map(|&(l, v)| Some((l, cut[l]?[v])));
                            (row[0].0, values.collect())
                        };
                        rows.iter().map(row).collect()
                    })
                    .collect();
                let values: Vec<BTreeSet<Value>> = published
                    .iter()
                    .map(|r| r.iter().flat_map(|row| row.1.iter().copied()).collect())
                    .collect();
                if values.iter().all(BTreeSet::is_empty) || !sound(&values, k, m) {
                    continue;
                }
                let loss = published.iter().map(|r| rpd(r)).sum::<f64>() / records.len() as f64;
                best = Some(best.map_or(loss, |b: f64| b.min(loss)));
            }
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn all_cut_search_finds_the_best_cut(records in records(), k in 1usize..5, m in 1usize..4) {
        match (acs(&records, k as u32, m), brute(&records, k, m)) {
            (Some(found), Some(best)) => prop_assert!((found - best).abs() < 1e-9, "{found} and {best}"),
            (found, best) => prop_assert_eq!(found, best),
        }
    }

    #[test]
    fn asking_for_more_never_costs_less(records in records(), k in 1u32..5, m in 1usize..4) {
        let loss = |k, m| acs(&records, k, m).unwrap_or(f64::INFINITY);
        let asked = loss(k, m);
        prop_assert!(loss(k + 1, m) >= asked - 1e-12);
        prop_assert!(loss(k, m + 1) >= asked - 1e-12);
    }
}
