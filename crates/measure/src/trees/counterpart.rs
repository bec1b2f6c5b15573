//! What has become of a frequent subtree: how far its values were generalized and which of its relations broke.
//!
//! The paper takes a subtree's published version to be the subtree with its values generalized by the cut, and a
//! relation to be broken if it was disassociated. Here both are read off the publication, from what a miner finds
//! in it, so that local recoding is measured the same way:
//!
//! - The **counterpart** of a value is the nearest node at or above it that is frequent in the publication, counting
//!   every record with a label at or below that node. Under a cut this is the value's cut node if that is above the
//!   value, and the value itself otherwise. If there is none, the value is not published, which is one level above
//!   its root.
//! - A relation is **broken** if its two values' counterparts are not frequently related in the publication. A rule
//!   leaves none of a disassociated pair's occurrences; a coarser pair survives as long as enough of the finer pairs
//!   below it do.
//!
//! Siblings of a subtree that are generalized to the same counterpart are one node afterwards and count once, as
//! node and in relations; the level difference is then the larger one.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::{FxHashMap, FxHashSet};

use super::mine::Pattern;
use super::space::{Located, Space};

/// dtree = ½ · (Σ level differences) / nodes + ½ · (broken relations) / relations, where 0/0 is 0.
///
/// The record's root is neither a node nor in a relation.
pub fn dtree(levels: &[u32], relations: usize, broken: usize) -> f64 {
    let share = |part: f64, whole: usize| if whole == 0 { 0.0 } else { part / whole as f64 };
    let moved: u32 = levels.iter().sum();
    0.5 * share(f64::from(moved), levels.len()) + 0.5 * share(broken as f64, relations)
}

/// Where values and relations of the input are found again.
pub struct Counterparts<'a> {
    space: &'a Space<'a>,
    of: Vec<Option<u32>>,
    /// The pairs (above, below) of counterparts that are frequently related.
    related: FxHashSet<(u32, u32)>,
}

impl<'a> Counterparts<'a> {
    /// Looks for the values, and for the relations among `pairs` of values (above, below).
    pub fn new(
        space: &'a Space<'a>,
        published: &Located<'_>,
        pairs: &[(u32, u32)],
        min_support: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let support = supports(space, published, observer)?;
        let of: Vec<Option<u32>> = (0..space.len() as u32)
            .map(|v| space.upwards(v).find(|&u| support[u as usize] >= min_support))
            .collect();
        let mut asked: Vec<(u32, u32)> =
            (pairs.iter()).filter_map(|&(a, b)| Some((of[a as usize]?, of[b as usize]?))).collect();
        asked.sort_unstable();
        asked.dedup();
        let counts = related_records(space, published, &asked, observer)?;
        let related = (asked.into_iter().zip(counts))
            .filter(|&(_, count)| count >= min_support)
            .map(|(pair, _)| pair)
            .collect();
        Ok(Counterparts { space, of, related })
    }

    /// The counterpart of a value.
    pub fn of(&self, value: u32) -> Option<u32> {
        self.of[value as usize]
    }

    /// How many levels lie between a value and its counterpart.
    pub fn levels(&self, value: u32) -> u32 {
        let depth = self.space.depth(value);
        self.of(value).map_or(depth + 1, |u| depth - self.space.depth(u))
    }

    /// The distance between a frequent subtree of the input and what has become of it.
    pub fn distance(&self, pattern: &Pattern) -> f64 {
        let parents = pattern.parents();
        let mut merged: Vec<usize> = Vec::with_capacity(parents.len());
        let mut levels: Vec<u32> = Vec::with_capacity(parents.len());
        for (n, &(_, value)) in pattern.code.iter().enumerate() {
            let above = parents[n].map(|p| merged[p]);
            let own = self.levels(value);
            let twin = (0..n).find(|&m| {
                let other = pattern.code[m].1;
                merged[m] == m
                    && parents[m].map(|p| merged[p]) == above
                    && own > 0
                    && self.levels(other) > 0
                    && self.of(other) == self.of(value)
                    && self.space.attribute(other) == self.space.attribute(value)
            });
            merged.push(twin.unwrap_or(n));
            levels.push(own);
            if let Some(twin) = twin {
                levels[twin] = levels[twin].max(own);
            }
        }
        let (mut relations, mut broken) = (0, 0);
        let nodes: Vec<usize> = (0..merged.len()).filter(|&n| merged[n] == n).collect();
        for &n in &nodes {
            let mut above = parents[n].map(|p| merged[p]);
            while let Some(a) = above {
                relations += 1;
                broken += usize::from(!self.is_related(pattern.code[a].1, pattern.code[n].1));
                above = parents[a].map(|p| merged[p]);
            }
        }
        let levels: Vec<u32> = nodes.iter().map(|&n| levels[n]).collect();
        dtree(&levels, relations, broken)
    }

    fn is_related(&self, above: u32, below: u32) -> bool {
        match (self.of(above), self.of(below)) {
            (Some(a), Some(b)) => self.related.contains(&(a, b)),
            _ => false,
        }
    }
}

/// For each hierarchy node how many records have a label at or below it.
pub(crate) fn supports(
    space: &Space<'_>,
    located: &Located<'_>,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    let trees = located.trees();
    let (mut support, mut last) = (vec![0usize; space.len()], vec![usize::MAX; space.len()]);
    for record in 0..trees.len() {
        observer.go_on()?;
        for node in trees.nodes(record) {
            for u in space.upwards(located.at(node)) {
                if last[u as usize] == record {
                    break;
                }
                last[u as usize] = record;
                support[u as usize] += 1;
            }
        }
    }
    Ok(support)
}

/// For each pair (a, b), sorted, how many records have a label at or below a above one at or below b.
fn related_records(
    space: &Space<'_>,
    located: &Located<'_>,
    pairs: &[(u32, u32)],
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    let trees = located.trees();
    let (mut count, mut last) = (vec![0usize; pairs.len()], vec![usize::MAX; pairs.len()]);
    let (mut is_above, mut is_below) = (vec![false; space.len()], vec![false; space.len()]);
    for &(a, b) in pairs {
        is_above[a as usize] = true;
        is_below[b as usize] = true;
    }
    let asked = |x: u32, y: u32| -> Vec<u32> {
        let aboves = space.upwards(x).filter(|&a| is_above[a as usize]);
        aboves
            .flat_map(|a| space.upwards(y).filter(|&b| is_below[b as usize]).map(move |b| (a, b)))
            .filter_map(|pair| pairs.binary_search(&pair).ok().map(|at| at as u32))
            .collect()
    };
    // Few different pairs of labels occur in many records: each is compared with the asked pairs once.
    let mut known: FxHashMap<(u32, u32), Vec<u32>> = FxHashMap::default();
    for record in 0..trees.len() {
        observer.go_on()?;
        for node in trees.nodes(record) {
            let y = located.at(node);
            let mut above = trees.parent(node);
            while let Some(a) = above {
                let x = located.at(a);
                for &pair in known.entry((x, y)).or_insert_with(|| asked(x, y)).iter() {
                    if last[pair as usize] != record {
                        last[pair as usize] = record;
                        count[pair as usize] += 1;
                    }
                }
                above = trees.parent(a);
            }
        }
    }
    Ok(count)
}
