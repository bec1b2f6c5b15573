//! Two releases laid over each other, by the definition: rows are paths of labels, and every place carries the more specific
//! of its two labels. Nobody is told which row is which: rows may be the same wherever their labels allow it.

use std::collections::BTreeSet;

use crate::trees::PathRecord;

/// The more specific of two labels of the little hierarchies here; none if they have nothing in common. Below `*` stand
/// labels of a letter and a digit (`A1`), below these the same with a second digit (`A12`).
pub fn meet(a: &str, b: &str) -> Option<String> {
    let covers = |above: &str, below: &str| above == "*" || below.starts_with(above);
    match (covers(a, b), covers(b, a)) {
        (true, _) => Some(b.to_owned()),
        (_, true) => Some(a.to_owned()),
        _ => None,
    }
}

/// The label of a leaf at a height above it: 0 is the leaf itself, 2 is `*`.
pub fn raised(leaf: &str, height: usize) -> String {
    match height {
        0 => leaf.to_owned(),
        1 => leaf[..2].to_owned(),
        _ => "*".to_owned(),
    }
}

/// The hierarchy of a level as a CSV file: `A11;A1;*`.
pub fn hierarchy(level: &str) -> String {
    let leaf = |i: usize| format!("{level}{}{};{level}{};*\n", i / 2 + 1, i % 2 + 1, i / 2 + 1);
    (0..4).map(leaf).collect()
}

/// The paths of a record that are no beginnings of others.
fn whole(record: &PathRecord) -> BTreeSet<Vec<String>> {
    let begins =
        |path: &Vec<String>| record.iter().any(|other| other.len() > path.len() && other.starts_with(path));
    record.iter().filter(|path| !begins(path)).cloned().collect()
}

/// Two records of one person as one, put together in every way that the labels allow. A row is laid over those of the other
/// release that say all that it says; what these say beyond is not its own, unless its release shows nothing so deep. `depths`
/// are the longest paths of the releases. The same place of two paths has the same level.
pub fn joined_paths(a: &PathRecord, b: &PathRecord, depths: (usize, usize)) -> PathRecord {
    let (a, b) = (whole(a), whole(b));
    let common = |x: &[String], y: &[String]| -> Vec<String> {
        x.iter().zip(y).map_while(|(x, y)| meet(x, y)).collect()
    };
    let mut all: BTreeSet<Vec<String>> = BTreeSet::new();
    for (from, to, own, other) in [(&a, &b, depths.0, depths.1), (&b, &a, depths.1, depths.0)] {
        for x in from {
            let says = |y: &&Vec<String>| common(x, y).len() == x.len().min(other);
            let said: Vec<&Vec<String>> = to.iter().filter(says).collect();
            for y in &said {
                let both = common(x, y);
                let beyond = if x.len() == own { y.get(own..).unwrap_or(&[]) } else { &[] };
                all.insert([&both[..], &x[both.len()..], beyond].concat());
            }
            if !said.is_empty() {
                continue;
            }
            let partly: Vec<&Vec<String>> = to.iter().filter(|y| !common(x, y).is_empty()).collect();
            for y in &partly {
                let both = common(x, y);
                for rest in [&x[both.len()..], &y[both.len()..]] {
                    all.insert([&both[..], rest].concat());
                }
            }
            if partly.is_empty() {
                all.insert(x.clone());
            }
        }
    }
    all.into_iter().collect()
}

/// Two sets of one person as one.
pub fn joined_sets(a: &[String], b: &[String]) -> Vec<String> {
    let mut all: BTreeSet<String> = BTreeSet::new();
    for (from, to) in [(a, b), (b, a)] {
        for x in from {
            let met: Vec<String> = to.iter().filter_map(|y| meet(x, y)).collect();
            all.extend(if met.is_empty() { vec![x.clone()] } else { met });
        }
    }
    all.into_iter().collect()
}
