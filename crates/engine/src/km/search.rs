//! What the searches share: the cut so far, the records of nodes, the order of the count tree.

use std::ops::Range;

use super::cut::Cut;
use super::tids::Tids;
use super::transactions::Transactions;
use super::tree::{Node, ROOT};

/// Bounds of a search.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) k: u32,
    pub(super) m: usize,
    /// An item may be dropped everywhere.
    pub(super) suppress: bool,
    /// Bytes for counters and record sets.
    pub(super) memory: usize,
    /// Only nodes within these leaves are looked at.
    pub(super) region: Option<Range<u32>>,
}

/// A search for a cut.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) data: &'a Transactions,
    pub(super) limits: Limits,
    pub(super) cut: Cut,
    pub(super) tids: Tids<'a>,
    pub(super) order: Order,
    /// How many itemsets were repaired.
    pub(super) repaired: u64,
    /// The nodes of the largest count tree so far, if that is asked for.
    pub(super) count_tree: Option<u64>,
}

impl<'a> Search<'a> {
    /// Starts from a cut.
    pub(super) fn new(data: &'a Transactions, cut: Cut, limits: Limits) -> Self {
        Search {
            data,
            tids: Tids::new(data, limits.memory / 2),
            order: Order::new(data, limits.region.as_ref()),
            limits,
            cut,
            repaired: 0,
            count_tree: None,
        }
    }

    /// How many records have all these nodes, counted up to k.
    pub(super) fn support(&mut self, nodes: &[Node]) -> u32 {
        match nodes {
            [node] if !self.cut.has_dropped() => self.data.support(*node).min(self.limits.k),
            _ => self.tids.support_up_to(nodes, &self.cut, self.limits.k),
        }
    }
}

fn inside(data: &Transactions, region: Option<&Range<u32>>, node: Node) -> bool {
    region.is_none_or(|region| {
        let leaves = data.tree.leaves(node);
        region.start <= leaves.start && leaves.end <= region.end
    })
}

/// The order of the count tree: nodes by falling support, those above before those below. Itemsets are gone through in the
/// order of a walk over that tree, so that a generalization of an itemset always comes before the itemset.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The nodes that occur, but for the root.
    pub(super) nodes: Vec<Node>,
    /// Per node its place; `u32::MAX` for nodes that are not looked at.
    pub(super) rank: Vec<u32>,
}

impl Order {
    fn new(data: &Transactions, region: Option<&Range<u32>>) -> Self {
        let mut nodes: Vec<Node> = (ROOT + 1..data.tree.len() as Node)
            .filter(|&n| data.support(n) > 0 && inside(data, region, n))
            .collect();
        nodes.sort_by_key(|&n| (std::cmp::Reverse(data.support(n)), n));
        let mut rank = vec![u32::MAX; data.tree.len()];
        nodes.iter().enumerate().for_each(|(i, &n)| rank[n as usize] = i as u32);
        Order { nodes, rank }
    }
}
