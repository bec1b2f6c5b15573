//! Two releases laid over each other, by the definition: rows are paths of labels, and every place carries the more specific
//! of its two labels. Nobody is told which row is which: rows may be the same wherever their labels allow it.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::{Builder, ClassId, Dataset, Kind};

use crate::dice::Dice;
use crate::trees::{LEVELS, PathRecord};

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

/// One person's paths, without gaps between levels.
pub fn random_paths(dice: &mut Dice, most: usize) -> PathRecord {
    let leaf = |dice: &mut Dice, level: &str| format!("{level}{}{}", 1 + dice.below(2), 1 + dice.below(2));
    (0..1 + dice.below(most))
        .map(|_| LEVELS[..1 + dice.below(3)].iter().map(|level| leaf(dice, level)).collect())
        .collect()
}

/// What a release shows of a person: every value at a height of its own, or each leaf at one height everywhere.
pub fn generalized(
    dice: &mut Dice,
    record: &PathRecord,
    cut: Option<&BTreeMap<String, usize>>,
) -> PathRecord {
    let mut label = |leaf: &String| match cut {
        Some(cut) => raised(leaf, cut.get(leaf).copied().unwrap_or(2)),
        None => raised(leaf, dice.below(3)),
    };
    record.iter().map(|path| path.iter().map(&mut label).collect()).collect()
}

/// A cut: per group of leaves a height, `*` for a whole level or none of it.
pub fn random_cut(dice: &mut Dice) -> BTreeMap<String, usize> {
    let mut cut = BTreeMap::new();
    for level in LEVELS {
        let all = dice.one_in(3);
        for group in 1..3 {
            let height = if all { 2 } else { dice.below(2) };
            for leaf in 1..3 {
                cut.insert(format!("{level}{group}{leaf}"), height);
            }
        }
    }
    cut
}

/// `*` alone does not say which level it is of: labels of paths that are told apart by them do.
pub fn told_apart(record: &PathRecord) -> PathRecord {
    let star = |(at, label): (usize, &String)| match label.as_str() {
        "*" => format!("{}*", LEVELS[at]),
        _ => label.clone(),
    };
    record.iter().map(|path| path.iter().enumerate().map(star).collect()).collect()
}

/// The records as they are published, a vertex per node of each path.
pub fn published(records: &[PathRecord]) -> Dataset {
    let mut builder = Builder::new();
    for record in records {
        builder.begin_record();
        for path in record {
            let mut class = ClassId::ROOT;
            for (level, label) in path.iter().enumerate() {
                class = builder.class(class, &[LEVELS[level].to_lowercase()]);
                let value = builder.attribute(class, &["v".to_owned()]);
                builder.open(class);
                builder.set(value, Kind::Text, label);
            }
            path.iter().for_each(|_| builder.close());
        }
        builder.end_record().expect("one value per vertex");
    }
    builder.finish()
}
