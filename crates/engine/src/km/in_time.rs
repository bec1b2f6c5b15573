//! A search that somebody may cut short.
//!
//! Repairs go from the bottom up: until the last itemset is looked at, nothing is sound. So a search that runs out of time is
//! given up like one that nobody waits for, and the same search is done again from a cut so coarse that it takes no time.

use bosket_model::observe::{Limits, Observer};
use bosket_model::{Failure, Fault, Result};

use super::cuts::cut::Cut;
use super::transactions::Transactions;
use super::tree::{Node, ROOT};

/// Watches as somebody else does, and takes the end of time for the end of the work.
pub(super) struct InTime<'o>(pub(super) &'o dyn Observer);

impl Observer for InTime<'_> {
    fn stage(&self, name: &str, steps: u64) {
        self.0.stage(name, steps);
    }
    fn advance(&self, steps: u64) {
        self.0.advance(steps);
    }
    fn reading(&self, name: &str, bytes: Option<u64>) {
        self.0.reading(name, bytes);
    }
    fn position(&self, bytes: u64) {
        self.0.position(bytes);
    }
    fn decided(&self, what: &str) {
        self.0.decided(what);
    }
    fn limits(&self) -> Limits {
        self.0.limits()
    }
    fn cancelled(&self) -> bool {
        self.0.cancelled() || self.0.out_of_time()
    }
    fn out_of_time(&self) -> bool {
        self.0.out_of_time()
    }
}

/// What work has made in time; none if the time was over first.
pub(super) fn in_time<T>(
    observer: &dyn Observer,
    work: impl FnOnce(&InTime<'_>) -> Result<T>,
) -> Result<Option<T>> {
    match work(&InTime(observer)) {
        Ok(made) => Ok(Some(made)),
        Err(failure) if is_time_over(&failure, observer) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Whether work ended because of the time, and somebody still waits.
pub(super) fn is_time_over(failure: &Failure, observer: &dyn Observer) -> bool {
    failure.fault == Fault::Interrupted && !observer.cancelled()
}

/// Nodes of a cut from which on any search takes no time: three of them make some ten thousand sets.
const FEW_NODES: usize = 48;

/// The finest cut at one depth that has few nodes.
pub(super) fn coarse_cut(data: &Transactions) -> Cut {
    let mut level: Vec<Node> = vec![ROOT];
    loop {
        let below = level.iter().flat_map(|&node| match data.tree.is_leaf(node) {
            true => vec![node],
            false => data.tree.children(node).filter(|&child| data.support(child) > 0).collect(),
        });
        let below: Vec<Node> = below.collect();
        if below == level || below.len() > FEW_NODES {
            break;
        }
        level = below;
    }
    let mut cut = Cut::bottom(data);
    level.into_iter().filter(|&node| !data.tree.is_leaf(node)).for_each(|node| cut.raise(node));
    cut
}
