//! What a generalized value costs.
//!
//! Costs are whole numbers, so that sums do not depend on their order and ties are ties on every machine.

use bosket_model::hierarchy::{Hierarchy, NodeId};

/// The cost of giving up one value of weight 1.
pub const SCALE: i64 = 1 << 20;

/// How much detail a node of a hierarchy has lost.
pub trait Cost: Sync {
    /// From 0 for an original value to 1 for the root; never less than for a node below. `missing` says that missing
    /// values are one more leaf below the root.
    fn of(&self, declared: usize, hierarchy: &Hierarchy, node: NodeId, missing: bool) -> f64;
}

/// LM: the share of the other leaves that the node could also stand for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lm;

impl Cost for Lm {
    fn of(&self, _: usize, hierarchy: &Hierarchy, node: NodeId, missing: bool) -> f64 {
        let all = hierarchy.leaf_count() + usize::from(missing);
        let own = if node == NodeId::ROOT { all } else { hierarchy.leaves(node).len() };
        if all > 1 { (own - 1) as f64 / (all - 1) as f64 } else { 0.0 }
    }
}

/// The levels climbed, as a share of the hierarchy's height.
#[derive(Clone, Copy, Debug, Default)]
pub struct Height;

impl Cost for Height {
    fn of(&self, _: usize, hierarchy: &Hierarchy, node: NodeId, missing: bool) -> f64 {
        if hierarchy.is_leaf(node) && !(missing && node == NodeId::ROOT) {
            return 0.0;
        }
        f64::from(hierarchy.height() - hierarchy.depth(node)) / f64::from(hierarchy.height().max(1))
    }
}
