//! Loss in a person's terms: how many values were kept, generalized or left out, how many relations still stand.
//!
//! What is counted are values of records: a value that a record has twice counts once, as does a pair of values that
//! it relates twice.
//!
//! With a mapping each record is compared with the one that was made of it: a value went to the finest label of that
//! record that covers it. Without one, the labels of an attribute must be a cut, none above another; each value then
//! went to the label that covers it, and if fewer records have that label than should, the same share of the values
//! under it was lost. Of attributes where labels lie above others only the values that were kept can be told.

use std::collections::BTreeMap;

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::{FxHashMap, FxHashSet};

use super::counterpart::supports;
use super::space::{Located, Space};

/// What became of an attribute's values.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeLoss {
    /// Its path in the policy.
    pub path: String,
    /// How many values the input's records have.
    pub values: usize,
    /// The share published as they are.
    pub kept: f64,
    /// The rest, where it can be told.
    pub rest: Option<Rest>,
}

/// What became of the values that were not kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// The share published as something more general.
    pub generalized: f64,
    /// By how many levels, on average over those.
    pub mean_levels: f64,
    /// The share not published.
    pub unpublished: f64,
}

/// What became of the related pairs of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelationLoss {
    /// How many the input's records have.
    pub relations: usize,
    /// The share whose values are still related, as published.
    pub kept: f64,
    /// The share whose values are published but no longer related.
    pub broken: f64,
    /// The share of which a value is not published.
    pub unpublished: f64,
}

#[derive(Clone, Default)]
struct Tally {
    values: usize,
    kept: f64,
    generalized: f64,
    levels: f64,
}

impl Tally {
    fn add(&mut self, space: &Space<'_>, leaf: u32, label: u32, count: f64) {
        if leaf == label {
            self.kept += count;
        } else {
            self.generalized += count;
            self.levels += count * f64::from(space.depth(leaf) - space.depth(label));
        }
    }

    fn finish(self, path: &str, told: bool) -> AttributeLoss {
        let share = |part: f64| if self.values == 0 { 0.0 } else { part / self.values as f64 };
        let rest = Rest {
            generalized: share(self.generalized),
            mean_levels: if self.generalized == 0.0 { 0.0 } else { self.levels / self.generalized },
            unpublished: share((self.values as f64 - self.kept - self.generalized).max(0.0)),
        };
        AttributeLoss {
            path: path.to_owned(),
            values: self.values,
            kept: share(self.kept),
            rest: told.then_some(rest),
        }
    }
}

/// Related pairs, how many of them are kept and how many have both values published.
#[derive(Default)]
struct PairTally {
    relations: usize,
    kept: f64,
    published: f64,
}

impl PairTally {
    fn finish(self) -> RelationLoss {
        let share = |part: f64| if self.relations == 0 { 0.0 } else { part / self.relations as f64 };
        RelationLoss {
            relations: self.relations,
            kept: if self.relations == 0 { 1.0 } else { share(self.kept) },
            broken: share((self.published - self.kept).max(0.0)),
            unpublished: share(self.relations as f64 - self.published),
        }
    }
}

/// The changes of all attributes, in the order of `paths`, and of the relations. `mapping` holds pairs (input record,
/// published record); input records that are in none were not published.
pub fn changes(
    space: &Space<'_>,
    input: &Located<'_>,
    published: &Located<'_>,
    paths: &[&str],
    mapping: Option<&[(u32, u32)]>,
    observer: &dyn Observer,
) -> Result<(Vec<AttributeLoss>, Option<RelationLoss>)> {
    let (tallies, pairs, told) = match mapping {
        Some(mapping) => by_record(space, input, published, mapping, observer)?,
        None => by_totals(space, input, published, observer)?,
    };
    let attributes =
        (tallies.into_iter().zip(paths).zip(&told)).map(|((t, path), &told)| t.finish(path, told)).collect();
    Ok((attributes, pairs.map(PairTally::finish)))
}

type Counted = (Vec<Tally>, Option<PairTally>, Vec<bool>);

fn by_record(
    space: &Space<'_>,
    input: &Located<'_>,
    published: &Located<'_>,
    mapping: &[(u32, u32)],
    observer: &dyn Observer,
) -> Result<Counted> {
    let mut made: Vec<Option<u32>> = vec![None; input.trees().len()];
    for &(from, to) in mapping {
        made[from as usize] = Some(to);
    }
    let mut tallies = vec![Tally::default(); space.attributes()];
    let mut pairs = PairTally::default();
    for record in 0..input.trees().len() {
        observer.go_on()?;
        let (labels, related) = made[record]
            .map(|p| (values(published, p as usize), relations(published, p as usize)))
            .unwrap_or_default();
        let find = |leaf: u32| space.upwards(leaf).find(|u| labels.binary_search(u).is_ok());
        for leaf in values(input, record) {
            let tally = &mut tallies[space.attribute(leaf)];
            tally.values += 1;
            if let Some(label) = find(leaf) {
                tally.add(space, leaf, label, 1.0);
            }
        }
        for (a, b) in relations(input, record) {
            pairs.relations += 1;
            if let (Some(a), Some(b)) = (find(a), find(b)) {
                pairs.published += 1.0;
                pairs.kept += f64::from(u8::from(related.binary_search(&(a, b)).is_ok()));
            }
        }
    }
    let told = vec![true; tallies.len()];
    Ok((tallies, Some(pairs), told))
}

fn by_totals(
    space: &Space<'_>,
    input: &Located<'_>,
    published: &Located<'_>,
    observer: &dyn Observer,
) -> Result<Counted> {
    let mut is_label = vec![false; space.len()];
    for record in 0..published.trees().len() {
        observer.go_on()?;
        for node in published.trees().nodes(record) {
            is_label[published.at(node) as usize] = true;
        }
    }
    let mut told = vec![true; space.attributes()];
    for label in (0..space.len() as u32).filter(|&l| is_label[l as usize]) {
        if space.upwards(label).skip(1).any(|u| is_label[u as usize]) {
            told[space.attribute(label)] = false;
        }
    }
    let (before, after) = (supports(space, input, observer)?, supports(space, published, observer)?);
    let mut tallies = vec![Tally::default(); space.attributes()];
    let find = |leaf: u32| space.upwards(leaf).find(|&u| is_label[u as usize]);
    let share = |label: u32| (after[label as usize] as f64 / before[label as usize] as f64).min(1.0);
    for leaf in (0..space.len() as u32).filter(|&l| space.is_leaf(l) && before[l as usize] > 0) {
        let tally = &mut tallies[space.attribute(leaf)];
        tally.values += before[leaf as usize];
        if let Some(label) = find(leaf)
            && (told[space.attribute(leaf)] || label == leaf)
        {
            tally.add(space, leaf, label, before[leaf as usize] as f64 * share(label));
        }
    }
    let all_told = told.iter().all(|&t| t);
    let pairs = all_told.then(|| pairs_by_totals(input, published, find, share, observer)).transpose()?;
    Ok((tallies, pairs, told))
}

/// Of each pair of labels as many relations of the input are kept as records have it, compared with those that should.
fn pairs_by_totals(
    input: &Located<'_>,
    published: &Located<'_>,
    find: impl Fn(u32) -> Option<u32>,
    share: impl Fn(u32) -> f64,
    observer: &dyn Observer,
) -> Result<PairTally> {
    #[derive(Default)]
    struct Pair {
        relations: usize,
        should: usize,
        have: usize,
    }
    let mut by_labels: FxHashMap<(u32, u32), Pair> = FxHashMap::default();
    let mut tally = PairTally::default();
    for record in 0..input.trees().len() {
        observer.go_on()?;
        let mut met: FxHashSet<(u32, u32)> = FxHashSet::default();
        for (a, b) in relations(input, record) {
            tally.relations += 1;
            if let (Some(a), Some(b)) = (find(a), find(b)) {
                let pair = by_labels.entry((a, b)).or_default();
                pair.relations += 1;
                pair.should += usize::from(met.insert((a, b)));
            }
        }
    }
    for record in 0..published.trees().len() {
        observer.go_on()?;
        for pair in relations(published, record) {
            if let Some(pair) = by_labels.get_mut(&pair) {
                pair.have += 1;
            }
        }
    }
    // Sums of shares depend on their order in the last digit.
    let in_order: BTreeMap<_, _> = by_labels.into_iter().collect();
    for ((a, b), pair) in in_order {
        let relations = pair.relations as f64;
        let kept = (pair.have as f64 / pair.should as f64).min(1.0);
        tally.kept += relations * kept;
        tally.published += relations * share(a).min(share(b)).max(kept);
    }
    Ok(tally)
}

/// The distinct values of a record, sorted.
fn values(located: &Located<'_>, record: usize) -> Vec<u32> {
    let mut found: Vec<u32> = located.trees().nodes(record).map(|n| located.at(n)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The distinct related pairs (above, below) of a record, sorted.
fn relations(located: &Located<'_>, record: usize) -> Vec<(u32, u32)> {
    let trees = located.trees();
    let mut found = Vec::new();
    for node in trees.nodes(record) {
        let mut above = trees.parent(node);
        while let Some(a) = above {
            found.push((located.at(a), located.at(node)));
            above = trees.parent(a);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
