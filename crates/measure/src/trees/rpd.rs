//! Reverse path diversity: how few paths a published path could be told from.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::space::{Located, Space};

/// RPD of a path: 1 / ∏ (depth · C), from the C of its nodes, the one below the root first.
///
/// The empty path has RPD 1, the worst there is: every factor is at least 1.
pub fn path_rpd(widths: impl IntoIterator<Item = u32>) -> f64 {
    1.0 / weight(widths)
}

fn weight(widths: impl IntoIterator<Item = u32>) -> f64 {
    (1u32..).zip(widths).map(|(depth, width)| f64::from(depth) * f64::from(width)).product()
}

/// RPD of a record: the mean over its leaves' paths. A record that publishes nothing is one empty path.
pub fn record_rpd(space: &Space<'_>, located: &Located<'_>, record: usize) -> f64 {
    let trees = located.trees();
    let nodes = trees.nodes(record);
    if nodes.is_empty() {
        return path_rpd([]);
    }
    let first = nodes.start;
    let mut weights: Vec<(u32, f64)> = Vec::with_capacity(nodes.len());
    let (mut sum, mut leaves) = (0.0, 0usize);
    for node in nodes {
        let (above, weight) = trees.parent(node).map_or((0, 1.0), |p| weights[p - first]);
        let depth = above + 1;
        let weight = weight * f64::from(depth) * f64::from(space.width(located.at(node)));
        weights.push((depth, weight));
        if trees.end(node) == node + 1 {
            sum += 1.0 / weight;
            leaves += 1;
        }
    }
    sum / leaves as f64
}

/// RPD of a dataset: the mean over its records. Lower is better.
///
/// A coarser cut raises the RPD of every path. It may lower that of a record all the same: where siblings merge,
/// fewer paths share in the mean.
pub fn rpd(space: &Space<'_>, located: &Located<'_>, observer: &dyn Observer) -> Result<f64> {
    let records = located.trees().len();
    if records == 0 {
        return Ok(path_rpd([]));
    }
    let mut sum = 0.0;
    for record in 0..records {
        observer.go_on()?;
        sum += record_rpd(space, located, record);
    }
    Ok(sum / records as f64)
}

/// All records laid over each other: a trie of paths with the number of records that have each.
///
/// The root is no node of it.
pub struct Synopsis {
    records: usize,
    label: Vec<u32>,
    parent: Vec<Option<u32>>,
    support: Vec<u32>,
    inner: Vec<bool>,
}

impl Synopsis {
    /// The synopsis of trees.
    pub fn new(located: &Located<'_>, observer: &dyn Observer) -> Result<Self> {
        let trees = located.trees();
        let mut synopsis = Synopsis {
            records: trees.len(),
            label: Vec::new(),
            parent: Vec::new(),
            support: Vec::new(),
            inner: Vec::new(),
        };
        let mut known: FxHashMap<(Option<u32>, u32), u32> = FxHashMap::default();
        let mut last_record: Vec<usize> = Vec::new();
        let mut place: Vec<u32> = Vec::new();
        for record in 0..trees.len() {
            observer.go_on()?;
            let nodes = trees.nodes(record);
            let first = nodes.start;
            place.clear();
            for node in nodes {
                let parent = trees.parent(node).map(|p| place[p - first]);
                let label = located.at(node);
                let at = *known.entry((parent, label)).or_insert_with(|| {
                    synopsis.label.push(label);
                    synopsis.parent.push(parent);
                    synopsis.support.push(0);
                    synopsis.inner.push(false);
                    last_record.push(usize::MAX);
                    if let Some(parent) = parent {
                        synopsis.inner[parent as usize] = true;
                    }
                    synopsis.label.len() as u32 - 1
                });
                if last_record[at as usize] != record {
                    last_record[at as usize] = record;
                    synopsis.support[at as usize] += 1;
                }
                place.push(at);
            }
        }
        Ok(synopsis)
    }

    /// How many nodes there are, the root not counted.
    pub fn len(&self) -> usize {
        self.label.len()
    }

    /// Whether nothing is published.
    pub fn is_empty(&self) -> bool {
        self.label.is_empty()
    }

    /// The nodes, parents before children: hierarchy node, parent, number of records.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (u32, Option<u32>, u32)> + '_ {
        (0..self.len()).map(|n| (self.label[n], self.parent[n], self.support[n]))
    }

    /// RPD_a: Σ sup(u) / ∏ (depth(u) · C(u)) of each path from the root to a leaf; the mean over leaves, divided by
    /// the number of nodes.
    ///
    /// If nothing is published it is the number of records, what a single `*` in every record would cost.
    pub fn rpd_a(&self, space: &Space<'_>) -> f64 {
        if self.is_empty() {
            return self.records as f64;
        }
        let mut paths: Vec<(u32, f64, f64)> = Vec::with_capacity(self.len());
        let (mut sum, mut leaves) = (0.0, 0usize);
        for n in 0..self.len() {
            let (above, support, weight) = self.parent[n].map_or((0, 0.0, 1.0), |p| paths[p as usize]);
            let depth = above + 1;
            let support = support + f64::from(self.support[n]);
            let weight = weight * f64::from(depth) * f64::from(space.width(self.label[n]));
            paths.push((depth, support, weight));
            if !self.inner[n] {
                sum += support / weight;
                leaves += 1;
            }
        }
        sum / leaves as f64 / self.len() as f64
    }
}
