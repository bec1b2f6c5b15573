//! The values of one attribute as numbers: originals, what may stand for several of them, and what that costs.
//!
//! Originals and the root are the nodes of the hierarchy; behind them comes one more leaf for missing values. Where ranges take
//! the place of nodes, a range is the lower of its ends times 2^16 plus the higher one.

use bosket_model::hierarchy::{Hierarchy, NodeId};

use super::cost::{Cost, SCALE};

/// The values of one attribute.
#[derive(Debug)]
pub(super) struct Domain {
    shape: Shape,
    /// The leaf of missing values.
    missing: u32,
    /// The cost of giving the value up.
    pub(super) full: i64,
}

#[derive(Debug)]
enum Shape {
    Tree {
        parent: Vec<u32>,
        end: Vec<u32>,
        cost: Vec<i64>,
    },
    Ranges {
        /// What the range from the lowest number to each one costs: its width, as a share of what the policy allows.
        up_to: Vec<i64>,
    },
}

/// From here on numbers are ranges.
const RANGES: u32 = 1 << 16;

impl Domain {
    pub(super) fn new(
        hierarchy: &Hierarchy,
        declared: usize,
        missing: bool,
        weight: f64,
        cost: &dyn Cost,
    ) -> Self {
        let scaled = |share: f64| (share.clamp(0.0, 1.0) * weight * SCALE as f64).round() as i64;
        let full = scaled(1.0);
        let shape = match hierarchy.numbers() {
            Some(numbers) => {
                let leaves = 0..hierarchy.leaf_count() as u32;
                Shape::Ranges { up_to: leaves.map(|p| scaled(numbers.share(0, p))).collect() }
            }
            None => {
                let nodes = || hierarchy.nodes();
                let mut parent: Vec<u32> = nodes().map(|n| hierarchy.parent(n).map_or(0, |p| p.0)).collect();
                let mut end: Vec<u32> = nodes().map(|n| hierarchy.subtree(n).end).collect();
                let mut costs: Vec<i64> =
                    nodes().map(|n| scaled(cost.of(declared, hierarchy, n, missing))).collect();
                parent.push(0);
                end.push(hierarchy.len() as u32 + 1);
                costs.push(0);
                end[NodeId::ROOT.index()] = hierarchy.len() as u32 + 1;
                Shape::Tree { parent, end, cost: costs }
            }
        };
        Domain { shape, missing: hierarchy.len() as u32, full }
    }

    /// The leaf of missing values.
    pub(super) fn missing(&self) -> u32 {
        self.missing
    }

    /// How many numbers the nodes of the hierarchy and the leaf of missing values have.
    pub(super) fn len(&self) -> usize {
        self.missing as usize + 1
    }

    /// Whether ranges take the place of nodes.
    pub(super) fn has_ranges(&self) -> bool {
        matches!(self.shape, Shape::Ranges { .. })
    }

    /// The ends of a range, an original being both of its own; none for the root.
    pub(super) fn ends(&self, value: u32) -> Option<(u32, u32)> {
        match value {
            0 => None,
            _ if value < RANGES => Some((value, value)),
            _ => Some((value / RANGES, value % RANGES)),
        }
    }

    /// The cost of publishing a node or range for one value.
    #[inline]
    pub(super) fn cost(&self, value: u32) -> i64 {
        match &self.shape {
            Shape::Tree { cost, .. } => cost[value as usize],
            Shape::Ranges { .. } if value == 0 => self.full,
            Shape::Ranges { .. } if value < RANGES => 0,
            Shape::Ranges { up_to } => {
                up_to[(value % RANGES) as usize - 1] - up_to[(value / RANGES) as usize - 1]
            }
        }
    }

    /// The lowest node or narrowest range over both.
    #[inline]
    pub(super) fn lca(&self, a: u32, b: u32) -> u32 {
        match &self.shape {
            Shape::Tree { parent, end, .. } => {
                let mut at = a;
                while b < at || b >= end[at as usize] {
                    at = parent[at as usize];
                }
                at
            }
            Shape::Ranges { .. } => {
                if a == b {
                    return a;
                }
                // A missing value has no place among numbers.
                let known = |v: u32| self.ends(v).filter(|_| v != self.missing);
                let (Some(a), Some(b)) = (known(a), known(b)) else { return 0 };
                let (low, high) = (a.0.min(b.0), a.1.max(b.1));
                if low == high { low } else { low * RANGES + high }
            }
        }
    }

    /// Per node (not per range) the cost of what stands over it and `with`.
    pub(super) fn costs_with(&self, with: u32, costs: &mut Vec<i64>) {
        costs.clear();
        costs.resize(self.len(), 0);
        let Shape::Tree { parent, end, .. } = &self.shape else {
            for (node, cost) in (0u32..).zip(costs) {
                *cost = self.cost(self.lca(node, with));
            }
            return;
        };
        let mut inside = with..with;
        let mut at = with;
        loop {
            let cost = self.cost(at);
            let range = at..end[at as usize];
            costs[range.start as usize..inside.start as usize].fill(cost);
            costs[inside.end as usize..range.end as usize].fill(cost);
            if at == 0 {
                return;
            }
            inside = range;
            at = parent[at as usize];
        }
    }
}
