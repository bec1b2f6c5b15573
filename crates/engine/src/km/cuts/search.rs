//! What the searches share: the cut so far, the records of nodes, the order of the count tree.

use std::ops::Range;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::cut::Cut;
use crate::km::counting::tids::Tids;
use crate::km::transactions::Transactions;
use crate::km::tree::{Node, ROOT};

/// Bounds of a search.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) k: u32,
    pub(crate) m: usize,
    /// An item may be dropped everywhere.
    pub(crate) suppress: bool,
    /// Bytes for counters and record sets.
    pub(crate) memory: usize,
    /// Only nodes within these leaves are looked at.
    pub(crate) region: Option<Range<u32>>,
}

/// A search for a cut.
pub(crate) struct Search<'a> {
    pub(crate) data: &'a Transactions,
    pub(crate) limits: Limits,
    pub(crate) cut: Cut,
    pub(crate) tids: Tids<'a>,
    pub(crate) order: Order,
    /// How many itemsets were repaired.
    pub(crate) repaired: u64,
    /// The nodes of the largest count tree so far, if that is asked for.
    pub(crate) count_tree: Option<u64>,
    pub(crate) observer: &'a dyn Observer,
}

impl<'a> Search<'a> {
    /// Starts from a cut.
    pub(crate) fn new(data: &'a Transactions, cut: Cut, limits: Limits, observer: &'a dyn Observer) -> Self {
        Search {
            data,
            tids: Tids::new(data, limits.memory / 2, observer),
            order: Order::new(data, limits.region.as_ref()),
            limits,
            cut,
            repaired: 0,
            count_tree: None,
            observer,
        }
    }

    /// Gives up if nobody waits any more.
    pub(crate) fn go_on(&self) -> Result<()> {
        self.observer.go_on()
    }

    /// How many records have all these nodes, counted up to k.
    pub(crate) fn support(&mut self, nodes: &[Node]) -> Result<u32> {
        match nodes {
            [node] if !self.cut.has_dropped() => Ok(self.data.support(*node).min(self.limits.k)),
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
pub(crate) struct Order {
    /// The nodes that occur, but for the root.
    pub(crate) nodes: Vec<Node>,
    /// Per node its place; `u32::MAX` for nodes that are not looked at.
    pub(crate) rank: Vec<u32>,
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
