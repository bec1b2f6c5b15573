//! Multi level mining loss: which frequent subtrees of the input the publication still has.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::counterpart::Counterparts;
use super::forest::Forest;
use super::mine::{Pattern, frequent_subtrees};
use super::space::{Located, Space};

/// What counts as a frequent subtree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mining {
    /// The least share of the input's records that have it.
    pub threshold: f64,
    /// The most nodes it has, the record's root not counted.
    pub most_nodes: usize,
    /// Whether each subtree starts at the record's root, so that values of different branches make one too. On
    /// transactions these are the frequent itemsets. Otherwise one value is above all others.
    pub rooted: bool,
}

impl Default for Mining {
    fn default() -> Self {
        Mining { threshold: 0.01, most_nodes: 4, rooted: false }
    }
}

impl Mining {
    /// The least number of records, out of the input's, for input and publication alike: what suppressed records had
    /// is lost.
    pub fn min_support(&self, records: usize) -> usize {
        // The product of a share such as 0.07 and a count may come out just above a whole number.
        ((self.threshold * records as f64 - 1e-9).ceil() as usize).max(1)
    }
}

/// Frequent subtrees at one generalization level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelLoss {
    /// The level; 0 is original values.
    pub level: u32,
    /// FT_i(D): how many the input has.
    pub input: usize,
    /// FT_i(D′): how many the publication has. Parting values can make a subtree frequent that was not.
    pub published: usize,
    /// How many both have.
    pub kept: usize,
    /// Σ dtree over those of the input.
    pub distance: f64,
}

/// The loss at all levels.
#[derive(Clone, Debug, PartialEq)]
pub struct MiningLoss {
    /// What was mined.
    pub mining: Mining,
    /// By level, the finest first.
    pub levels: Vec<LevelLoss>,
}

impl MiningLoss {
    /// Mines both sides at every level from the leaves to the largest height of a hierarchy, where all is `*`.
    pub fn new(
        space: &Space<'_>,
        input: &Located<'_>,
        published: &Located<'_>,
        mining: Mining,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let min_support = mining.min_support(input.trees().len());
        let top = space.top_level(input.nodes());
        observer.stage("mining frequent subtrees", 2 * (u64::from(top) + 1));
        let mine = |side: &Located<'_>, level: u32| {
            let labels: Vec<Option<u32>> = side.nodes().iter().map(|&n| space.at_level(n, level)).collect();
            let forest = Forest::new(side.trees(), &labels, min_support, mining.rooted, observer)?;
            let found = frequent_subtrees(&forest, min_support, mining.most_nodes, observer)?;
            observer.advance(1);
            Ok(found)
        };
        let before = (0..=top).map(|level| mine(input, level)).collect::<Result<Vec<Vec<Pattern>>>>()?;
        let pairs: Vec<(u32, u32)> = (before.iter().flatten())
            .filter(|p| p.code.len() == 2 && p.code[1].0 == 1)
            .map(|p| (p.code[0].1, p.code[1].1))
            .collect();
        let counterparts = Counterparts::new(space, published, &pairs, min_support, observer)?;
        let mut levels = Vec::new();
        for (level, before) in (0u32..).zip(&before) {
            let after = mine(published, level)?;
            let kept = before.iter().filter(|pattern| has(&after, pattern)).count();
            let distance = before.iter().map(|pattern| {
                observer.go_on()?;
                Ok(counterparts.distance(pattern))
            });
            let distance = distance.sum::<Result<f64>>()?;
            levels.push(LevelLoss { level, input: before.len(), published: after.len(), kept, distance });
        }
        Ok(MiningLoss { mining, levels })
    }

    /// ML² = 1 − Σ FT_i(D′) / Σ FT_i(D); 0 if the input has no frequent subtree.
    pub fn ml2(&self) -> f64 {
        self.per_input(|l| l.input as f64 - l.published as f64)
    }

    /// The share of the input's frequent subtrees that the publication does not have: ML² without what is frequent
    /// only in the publication.
    pub fn lost(&self) -> f64 {
        self.per_input(|l| (l.input - l.kept) as f64)
    }

    /// dML² = Σ dtree / Σ FT_i(D); 0 if the input has no frequent subtree.
    pub fn dml2(&self) -> f64 {
        self.per_input(|l| l.distance)
    }

    fn per_input(&self, part: impl Fn(&LevelLoss) -> f64) -> f64 {
        let whole: usize = self.levels.iter().map(|l| l.input).sum();
        if whole == 0 { 0.0 } else { self.levels.iter().map(part).sum::<f64>() / whole as f64 }
    }
}

/// Whether a pattern is in a sorted list, whatever its support.
fn has(patterns: &[Pattern], wanted: &Pattern) -> bool {
    patterns.binary_search_by(|p| p.code.cmp(&wanted.code)).is_ok()
}
