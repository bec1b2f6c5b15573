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

/// The nodes of one attribute's hierarchy, and one more leaf for missing values.
#[derive(Debug)]
pub(super) struct Domain {
    parent: Vec<u32>,
    end: Vec<u32>,
    cost: Vec<i64>,
    /// The cost of giving the value up.
    pub(super) full: i64,
}

impl Domain {
    pub(super) fn new(
        hierarchy: &Hierarchy,
        declared: usize,
        missing: bool,
        weight: f64,
        cost: &dyn Cost,
    ) -> Self {
        let scaled = |share: f64| (share.clamp(0.0, 1.0) * weight * SCALE as f64).round() as i64;
        let nodes = || hierarchy.nodes();
        let mut domain = Domain {
            parent: nodes().map(|n| hierarchy.parent(n).map_or(0, |p| p.0)).collect(),
            end: nodes().map(|n| hierarchy.subtree(n).end).collect(),
            cost: nodes().map(|n| scaled(cost.of(declared, hierarchy, n, missing))).collect(),
            full: scaled(1.0),
        };
        domain.parent.push(0);
        domain.end.push(hierarchy.len() as u32 + 1);
        domain.cost.push(0);
        domain.end[0] = hierarchy.len() as u32 + 1;
        domain
    }

    /// The leaf of missing values.
    pub(super) fn missing(&self) -> u32 {
        self.parent.len() as u32 - 1
    }

    /// How many nodes there are, the leaf of missing values included.
    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    /// The cost of publishing a node for one value.
    #[inline]
    pub(super) fn cost(&self, node: u32) -> i64 {
        self.cost[node as usize]
    }

    /// The lowest node at or above both.
    #[inline]
    pub(super) fn lca(&self, a: u32, b: u32) -> u32 {
        let mut at = a;
        while b < at || b >= self.end[at as usize] {
            at = self.parent[at as usize];
        }
        at
    }

    /// The child of a node that is at or above another node below it; the node itself if that is the other.
    pub(super) fn child_above(&self, node: u32, below: u32) -> u32 {
        let mut at = below;
        while at != node && self.parent[at as usize] != node {
            at = self.parent[at as usize];
        }
        at
    }

    /// Per node the cost of the lowest node above it and `with`.
    pub(super) fn costs_with(&self, with: u32, costs: &mut Vec<i64>) {
        costs.clear();
        costs.resize(self.len(), 0);
        let mut inside = with..with;
        let mut at = with;
        loop {
            let cost = self.cost(at);
            let range = at..self.end[at as usize];
            costs[range.start as usize..inside.start as usize].fill(cost);
            costs[inside.end as usize..range.end as usize].fill(cost);
            if at == 0 {
                return;
            }
            inside = range;
            at = self.parent[at as usize];
        }
    }
}
