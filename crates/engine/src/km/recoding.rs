//! What a search has found.

use super::cuts::cut::{Cut, DROPPED, Loss};
use super::localized::Own;
use super::transactions::Transactions;
use super::tree::{Node, ROOT};

/// A recoding of all records, with its loss.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recoding {
    /// Per part the nodes that stand for its items, ascending. Items below none of them are not published.
    pub(super) parts: Vec<Vec<Node>>,
    /// Per part the leaves that are dropped, ascending: they may lie below a node to which others have been raised.
    pub(super) dropped: Vec<Vec<u32>>,
    /// Per record its part; empty if there is one only.
    pub(super) part_of: Vec<u32>,
    /// Labels that occurrences have of their own.
    pub(super) own: Own,
    pub(super) loss: Loss,
    /// The loss if nothing were published.
    pub(super) most: Loss,
    /// How many itemsets were repaired.
    pub repaired: u64,
    /// How many cuts, or groups of `partition`, were looked at; 0 where the search does not count them.
    pub examined: u64,
    /// The nodes of the largest count tree, where the parameters ask for it.
    pub count_tree: Option<u64>,
    /// Time was over before the search was.
    pub cut_short: bool,
}

impl Recoding {
    /// One cut for all records.
    pub(super) fn of_cut(data: &Transactions, cut: &Cut, repaired: u64) -> Self {
        Recoding {
            parts: vec![nodes(cut)],
            dropped: vec![(0..cut.at().len() as u32).filter(|&leaf| cut.is_dropped(leaf)).collect()],
            part_of: Vec::new(),
            loss: cut.total(),
            most: most(data),
            repaired,
            ..Recoding::default()
        }
    }

    /// Normalized certainty penalty, between 0 and 1.
    pub fn ncp(&self) -> f64 {
        if self.most == 0 { 0.0 } else { self.loss as f64 / self.most as f64 }
    }

    pub(super) fn part(&self, record: usize) -> usize {
        self.part_of.get(record).map_or(0, |&p| p as usize)
    }

    /// Whether a leaf is published as the same node in all records.
    pub(super) fn is_global(&self) -> bool {
        self.parts.len() == 1 && self.own.is_empty()
    }

    /// Gives the node that stands for a leaf in a record; none if it is not published.
    pub(super) fn places<'a>(&'a self, data: &'a Transactions) -> impl Fn(usize, u32) -> Option<Node> + 'a {
        // With one cut for all records each leaf is looked up once.
        let leaves = if self.parts.len() == 1 { data.tree.leaf_count() as u32 } else { 0 };
        let common: Vec<Option<Node>> = (0..leaves).map(|leaf| self.place(data, 0, leaf)).collect();
        move |record, leaf| match (self.own.get(&(record as u32, leaf)), common.get(leaf as usize)) {
            (Some(&node), _) => Some(node),
            (None, Some(&node)) => node,
            (None, None) => self.place(data, self.part(record), leaf),
        }
    }

    fn place(&self, data: &Transactions, part: usize, leaf: u32) -> Option<Node> {
        if self.dropped.get(part).is_some_and(|dropped| dropped.binary_search(&leaf).is_ok()) {
            return None;
        }
        let nodes = &self.parts[part];
        let leaf = data.tree.leaf(leaf);
        let before = nodes.partition_point(|&n| n <= leaf);
        let node = *nodes.get(before.checked_sub(1)?)?;
        (node != ROOT && data.tree.covers(node, leaf)).then_some(node)
    }
}

/// The loss if nothing were published.
pub(super) fn most(data: &Transactions) -> Loss {
    Loss::from(data.total()) * data.tree.leaf_count() as Loss
}

/// The nodes of a cut, those that do not occur included.
fn nodes(cut: &Cut) -> Vec<Node> {
    let mut nodes: Vec<Node> = cut.at().iter().copied().filter(|&n| n != DROPPED).collect();
    nodes.dedup();
    // Between the leaves of a node one may be dropped.
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
