//! Multiple level mining loss: which frequent itemsets of the input the publication still has, at which level.
//!
//! FI_i(D) are the itemsets that are frequent when all values are taken at generalization level i; what is published
//! coarser than that level is not there. ML² is the share of them that the publication lacks. An itemset's
//! **dlevel** is how many levels further up it, or what its items have become there, is first frequent in the
//! publication; siblings that have become one item count once. An itemset that is frequent at no level is as far
//! away as one level above the root. What is frequent at a level is so at all above it, so the first is the nearest.
//!
//! The paper's formula of dML² takes the mean over all itemsets, its text only over those that were not detected at
//! their own level, so that 1 is the least there can be. Both are given.

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::mine::{Bounds, Frequent, frequent_itemsets};
use crate::trees::space::{Located, Space};

/// What counts as a frequent itemset.
#[derive(Clone, Debug, PartialEq)]
pub struct Mining {
    /// The least shares of the input's records that have it; each gives a loss of its own.
    pub thresholds: Vec<f64>,
    /// The most items in a set.
    pub most_items: usize,
    /// The most sets that are kept of each side, over all levels. Few long records have more than can be counted.
    pub most_sets: usize,
}

impl Default for Mining {
    fn default() -> Self {
        Mining { thresholds: vec![0.01, 0.02, 0.03], most_items: usize::MAX, most_sets: 20_000_000 }
    }
}

/// The least number of records, out of the input's, for input and publication alike: what suppressed records had is
/// lost.
fn min_support(threshold: f64, records: usize) -> usize {
    // The product of a share such as 0.07 and a count may come out just above a whole number.
    ((threshold * records as f64 - 1e-9).ceil() as usize).max(1)
}

/// Frequent itemsets at one generalization level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelLoss {
    /// The level; 0 is original values.
    pub level: u32,
    /// FI_i(D): how many the input has.
    pub input: u64,
    /// FI_i(D′): how many the publication has.
    pub published: u64,
    /// How many both have.
    pub kept: u64,
    /// Σ dlevel over those of the input.
    pub distance: u64,
}

/// The loss at one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdLoss {
    /// The share of records.
    pub threshold: f64,
    /// By level, the finest first.
    pub levels: Vec<LevelLoss>,
}

impl ThresholdLoss {
    /// ML² = 1 − Σ FI_i(D′) / Σ FI_i(D); 0 if the input has no frequent itemset.
    pub fn ml2(&self) -> f64 {
        let (input, published) = (self.sum(|l| l.input), self.sum(|l| l.published));
        share(input as f64 - published as f64, input)
    }

    /// dML² over all itemsets: Σ dlevel / Σ FI_i(D); 0 if the input has no frequent itemset.
    pub fn dml2(&self) -> f64 {
        share(self.sum(|l| l.distance) as f64, self.sum(|l| l.input))
    }

    /// dML² over the itemsets that were not detected at their own level, at least 1; none if all were.
    pub fn dml2_undetected(&self) -> Option<f64> {
        let undetected = self.undetected();
        (undetected > 0).then(|| share(self.sum(|l| l.distance) as f64, undetected))
    }

    /// How many of the input's itemsets were not detected at their own level.
    pub fn undetected(&self) -> u64 {
        self.sum(|l| l.input - l.kept)
    }

    fn sum(&self, part: impl Fn(&LevelLoss) -> u64) -> u64 {
        self.levels.iter().map(part).sum()
    }
}

fn share(part: f64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part / whole as f64 }
}

/// The loss at all thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemsetLoss {
    /// The most items in a set.
    pub most_items: usize,
    /// In the order asked for.
    pub thresholds: Vec<ThresholdLoss>,
}

impl ItemsetLoss {
    /// Mines both sides once, at the lowest threshold, at every level from the leaves to the largest height of a
    /// hierarchy, where all is `*`. The error says that there are too many itemsets.
    pub fn new(
        space: &Space<'_>,
        input: &Located<'_>,
        published: &Located<'_>,
        mining: &Mining,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let records = input.trees().len();
        let supports: Vec<u32> = mining.thresholds.iter().map(|&t| min_support(t, records) as u32).collect();
        let lowest = supports.iter().copied().min().unwrap_or(u32::MAX);
        let top = space.top_level(input.nodes());
        observer.stage("mining frequent itemsets", 2 * (u64::from(top) + 1));
        let mine = |side: &Located<'_>, level: u32, most_sets: usize| {
            let labels: Vec<Option<u32>> = side.nodes().iter().map(|&n| space.at_level(n, level)).collect();
            let bounds = Bounds { min_support: lowest as usize, most_items: mining.most_items, most_sets };
            let found = frequent_itemsets(side.trees(), &labels, bounds, observer)?;
            observer.advance(1);
            found.ok_or_else(|| too_many(mining))
        };
        let mut after: Vec<Frequent> = Vec::new();
        let mut left = mining.most_sets;
        for level in 0..=top {
            let found = mine(published, level, left)?;
            left = left.saturating_sub(found.len());
            after.push(found);
        }
        let at_level: Vec<Vec<u32>> = (0..=top).map(|level| labels_at(space, level)).collect();
        let mut thresholds: Vec<ThresholdLoss> = (mining.thresholds.iter())
            .map(|&threshold| ThresholdLoss { threshold, levels: Vec::new() })
            .collect();
        let mut left = mining.most_sets;
        for level in 0..=top {
            let before = mine(input, level, left)?;
            left = left.saturating_sub(before.len());
            let losses = compare(&before, &after, &at_level, level, &supports, observer)?;
            for (threshold, loss) in thresholds.iter_mut().zip(losses) {
                threshold.levels.push(loss);
            }
        }
        Ok(ItemsetLoss { most_items: mining.most_items, thresholds })
    }

    /// The mean of ML² over the thresholds.
    pub fn ml2(&self) -> f64 {
        mean(self.thresholds.iter().map(ThresholdLoss::ml2)).unwrap_or(0.0)
    }

    /// The mean of dML² over all itemsets, over the thresholds.
    pub fn dml2(&self) -> f64 {
        mean(self.thresholds.iter().map(ThresholdLoss::dml2)).unwrap_or(0.0)
    }

    /// The mean of dML² over undetected itemsets, over the thresholds that have some.
    pub fn dml2_undetected(&self) -> Option<f64> {
        mean(self.thresholds.iter().filter_map(ThresholdLoss::dml2_undetected))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), v| (sum + v, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// What each node is at a level; itself where the level says nothing.
fn labels_at(space: &Space<'_>, level: u32) -> Vec<u32> {
    (0..space.len() as u32).map(|n| space.at_level(n, level).unwrap_or(n)).collect()
}

/// The losses at a level, one per least support.
fn compare(
    before: &Frequent,
    after: &[Frequent],
    at_level: &[Vec<u32>],
    level: u32,
    supports: &[u32],
    observer: &dyn Observer,
) -> Result<Vec<LevelLoss>> {
    let mut losses = vec![LevelLoss { level, ..LevelLoss::default() }; supports.len()];
    for (loss, &least) in losses.iter_mut().zip(supports) {
        loss.published = after[level as usize].supports().iter().filter(|&&s| s >= least).count() as u64;
    }
    let top = after.len() as u32 - 1;
    let mut raised = Vec::new();
    before.try_each(|set, support| {
        observer.go_on()?;
        // Supports in the publication at this level and those above, as far as they are asked for.
        let mut found: Vec<u32> = Vec::new();
        for (loss, _) in losses.iter_mut().zip(supports).filter(|&(_, &least)| support >= least) {
            loss.input += 1;
        }
        for at in level..=top {
            raised.clear();
            raised.extend(set.iter().map(|&n| at_level[at as usize][n as usize]));
            found.push(after[at as usize].support(&mut raised).unwrap_or(0));
            let enough = supports.iter().all(|&least| support < least || found.iter().any(|&s| s >= least));
            if enough {
                break;
            }
        }
        for (loss, &least) in losses.iter_mut().zip(supports).filter(|&(_, &least)| support >= least) {
            let nearest = found.iter().position(|&s| s >= least);
            loss.kept += u64::from(nearest == Some(0));
            loss.distance += nearest.map_or(u64::from(top + 1 - level), |d| d as u64);
        }
        Ok(())
    })?;
    Ok(losses)
}

fn too_many(mining: &Mining) -> Failure {
    let what = format!("there are more than {} frequent itemsets", mining.most_sets);
    let help = "mine with higher thresholds, or only sets of few items";
    Failure::new(Fault::Data, Diagnostic::error(what).help(help))
}
