//! The cheapest way to make an itemset frequent.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bosket_model::Result;
use rustc_hash::FxHashSet;

use super::cut::{Cut, Loss};
use super::search::Search;
use crate::km::counting::counted::{Counted, Verdict};
use crate::km::tree::{Node, ROOT};

/// A replacement of an itemset's nodes. The order is that of preference: least added loss, fewest generalized leaves,
/// smallest node numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Replacement {
    pub(super) added: Loss,
    pub(crate) leaves: usize,
    /// What the nodes become, ascending; equal ones are one.
    pub(crate) nodes: Vec<Node>,
}

impl Replacement {
    fn new(cut: &Cut, set: &[Node], nodes: Vec<Node>) -> Self {
        let raised = nodes.iter().filter(|n| !set.contains(n));
        Replacement {
            added: raised.clone().map(|&n| cut.price(n)).sum(),
            leaves: raised.map(|&n| cut.tree.leaves(n).len()).sum(),
            nodes,
        }
    }
}

/// The best replacement of the nodes by themselves or nodes above that is good, itself not among them. A node that takes
/// one leaf takes all below it, so others of the set that lie below go with it.
///
/// Loss only rises on the way up, so the first good one in the order of preference is the best, but for chains of nodes with
/// the same leaves: there the higher one comes later and is preferred for its number.
pub(super) fn best_replacement(
    cut: &Cut,
    set: &[Node],
    allowed: impl Fn(Node) -> bool,
    mut is_good: impl FnMut(&[Node]) -> Result<bool>,
) -> Result<Option<Replacement>> {
    let mut start = set.to_vec();
    start.sort_unstable();
    let mut seen: FxHashSet<Vec<Node>> = FxHashSet::default();
    let mut open = BinaryHeap::new();
    let push = |open: &mut BinaryHeap<_>, seen: &mut FxHashSet<Vec<Node>>, from: &[Node]| {
        for &node in from.iter().filter(|&&n| n != ROOT) {
            let above = cut.tree.parent(node);
            if !allowed(above) {
                continue;
            }
            let mut nodes: Vec<Node> = from.iter().copied().filter(|&n| !cut.tree.covers(above, n)).collect();
            nodes.insert(nodes.partition_point(|&n| n < above), above);
            if seen.insert(nodes.clone()) {
                open.push(Reverse(Replacement::new(cut, set, nodes)));
            }
        }
    };
    push(&mut open, &mut seen, &start);
    let mut best: Option<Replacement> = None;
    while let Some(Reverse(next)) = open.pop() {
        if best.as_ref().is_some_and(|b| (next.added, next.leaves) > (b.added, b.leaves)) {
            break;
        }
        push(&mut open, &mut seen, &next.nodes);
        if best.as_ref().is_none_or(|b| next < *b) && is_good(&next.nodes)? {
            best = Some(next);
        }
    }
    Ok(best)
}

impl Search<'_> {
    /// Repairs an itemset: raises or drops what costs least, if anything can be done.
    pub(crate) fn repair(&mut self, set: &[Node]) -> Result<()> {
        self.repair_by(set, None)
    }

    /// The same where all itemsets of its size have been counted at a cut below: that spares most counting.
    pub(super) fn repair_by(&mut self, set: &[Node], counted: Option<&Counted<'_>>) -> Result<()> {
        let Search { data, limits, cut, tids, observer, .. } = self;
        let region = limits.region.clone();
        let allowed = |node: Node| {
            region.as_ref().is_none_or(|r| {
                let leaves = data.tree.leaves(node);
                node != ROOT && r.start <= leaves.start && leaves.end <= r.end
            })
        };
        // What was dropped was still there when they were counted, and within a region there are nodes that stay rare, which were not.
        let counted = counted.filter(|_| !cut.has_dropped() && region.is_none());
        let good = |nodes: &[Node]| {
            observer.go_on()?;
            // Smaller sets have been made frequent before, unless that would have led out of the region.
            if nodes == [ROOT] || (nodes.len() < set.len() && region.is_none()) {
                return Ok(true);
            }
            match counted.filter(|_| nodes.len() == set.len()).map(|counted| counted.judge(nodes)) {
                Some(Verdict::Frequent) => Ok(true),
                Some(Verdict::Rare) => Ok(false),
                Some(Verdict::Open) | None => Ok(tids.support_up_to(nodes, cut, limits.k)? >= limits.k),
            }
        };
        let best = best_replacement(cut, set, allowed, good)?;
        self.apply(set, best);
        Ok(())
    }

    /// Commits a replacement, or drops an item of the set if that costs less.
    pub(super) fn apply(&mut self, set: &[Node], best: Option<Replacement>) {
        if self.limits.suppress {
            let price = |&n: &Node| (self.cut.price_of_dropping(n), self.cut.tree.leaves(n).len(), n);
            let cheapest = set.iter().map(price).min();
            if let Some((price, _, node)) = cheapest
                && best.as_ref().is_none_or(|b| price < b.added)
            {
                self.cut.drop_item(node);
                self.tids.forget_above(node);
                self.repaired += 1;
                return;
            }
        }
        let Some(best) = best else {
            return;
        };
        for node in best.nodes.into_iter().filter(|n| !set.contains(n)) {
            self.cut.raise(node);
        }
        self.repaired += 1;
    }
}
