//! Relations that a reader may put back although they were taken apart (`guard = true`).
//!
//! Say b floats: levels of the embedding are missing between b and its present parent. For each missing level, if
//! exactly one value x of that level hangs below that parent and no published record relates x and b, then b can
//! only have come from x: the reader infers the pair. Values of different levels are no rivals (both can have been
//! above b), so levels are looked at one by one; this is at least as strict as asking for one candidate in all.
//!
//! Say hospitals are above diseases, and these above treatments:
//!
//! ```text
//! record 0    H1 ─┬─ flu          pill floats: the level of diseases is missing above it
//!                 └─ pill
//! record 1    H1 ─┬─ flu ── rest  rest hangs below flu
//!                 └─ cold
//! record 2    H2 ─┬─ flu
//!                 ├─ cold
//!                 └─ rest
//! ```
//!
//! In record 0 the only disease below H1, pill's parent, is flu, and no record shows flu above pill: the pair (flu, pill) is
//! inferred. In record 2 rest floats, and below H2 are flu and cold. Flu is above rest in record 1, so that it is no
//! candidate: had it been taken apart there, it would be so everywhere. Cold is left alone, and (cold, rest) is inferred. If
//! record 1 did not relate flu and rest, there would be two candidates and no inference.

use std::ops::Range;

use rustc_hash::FxHashSet;

use bosket_model::Result;
use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::RootMode;

use crate::trees::Trees;

/// Inferred pairs of nodes (x, b), sorted by b's record.
#[derive(Default)]
pub(super) struct Inferred {
    pairs: Vec<(usize, usize)>,
    known: FxHashSet<(usize, usize)>,
}

impl Inferred {
    /// All pairs that a reader of the forest may infer.
    pub(super) fn new(
        trees: &Trees,
        binding: &Binding,
        root: RootMode,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut related: FxHashSet<(u32, u32)> = FxHashSet::default();
        for record in 0..trees.len() {
            observer.go_on()?;
            for node in trees.nodes(record) {
                related.extend(trees.above(node).map(|above| (trees.item(above), trees.item(node))));
            }
        }
        let declared_of = |node: usize| trees.items()[trees.item(node) as usize].declared;
        // The levels above a declared attribute: attributes of the classes above, and earlier ones of its class.
        let above: Vec<Vec<usize>> = (binding.declared.iter().enumerate())
            .map(|(b, of)| {
                let is_above = |&x: &usize| {
                    let home = binding.declared[x].home;
                    let rooted = home != 0 || root == RootMode::Chain;
                    rooted && (binding.is_below(of.home, home) || (home == of.home && x < b))
                };
                (0..binding.declared.len()).filter(is_above).collect()
            })
            .collect();
        let mut inferred = Inferred::default();
        for record in 0..trees.len() {
            for b in trees.nodes(record) {
                observer.go_on()?;
                let level = declared_of(b);
                let parent = trees.parent(b);
                let below_parent = parent.map_or(trees.nodes(record), |p| p + 1..trees.end(p));
                let parent_level = parent.map(declared_of);
                for &missing in &above[level] {
                    if parent_level.is_some_and(|p| p == missing || above[p].contains(&missing)) {
                        continue;
                    }
                    let candidates: Vec<usize> = below_parent
                        .clone()
                        .filter(|&x| {
                            declared_of(x) == missing && !related.contains(&(trees.item(x), trees.item(b)))
                        })
                        .collect();
                    if let Some(&first) = candidates.first()
                        && candidates.iter().all(|&x| trees.item(x) == trees.item(first))
                    {
                        inferred.pairs.extend(candidates.iter().map(|&x| (x, b)));
                    }
                }
            }
        }
        inferred.pairs.sort_unstable_by_key(|&(x, b)| (b, x));
        inferred.known = inferred.pairs.iter().copied().collect();
        Ok(inferred)
    }

    /// The pairs of a record's nodes.
    pub(super) fn of(&self, nodes: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let from = self.pairs.partition_point(|&(_, b)| b < nodes.start);
        let to = self.pairs.partition_point(|&(_, b)| b < nodes.end);
        self.pairs[from..to].iter().copied()
    }

    /// Whether x was inferred above b.
    pub(super) fn has(&self, x: usize, b: usize) -> bool {
        self.known.contains(&(x, b))
    }
}
