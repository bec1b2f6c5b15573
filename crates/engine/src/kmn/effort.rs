//! How much a search for a cut may do (`method.effort`), counted instead of timed.
//!
//! What is counted is how many records a child cut makes the search look at: those that hold one of its new nodes, for each node of
//! the cut that they may be known with. That depends on the data alone, and is added up before a level is begun, never while
//! threads are at work: so the search ends at the same cut on every machine, with any number of threads.

use std::sync::atomic::{AtomicU64, Ordering};

use super::domain::Step;
use super::problem::Problem;
use super::search::Stop;

/// What a search may do, and what it has done.
#[derive(Debug)]
pub(super) struct Effort {
    most: u64,
    spent: AtomicU64,
}

impl Effort {
    pub(super) fn new(most: u64) -> Self {
        Effort { most, spent: AtomicU64::new(0) }
    }

    pub(super) fn spend(&self, work: u64) {
        // Nobody else adds to it meanwhile: a search is one thread between its levels.
        let spent = self.spent.load(Ordering::Relaxed).saturating_add(work);
        self.spent.store(spent, Ordering::Relaxed);
    }

    /// Whether all of it is spent.
    pub(super) fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Relaxed) >= self.most
    }
}

impl Problem<'_> {
    /// Counts the children of a cut of so many nodes, by these steps.
    pub(super) fn spend_on(&self, nodes: usize, steps: impl Iterator<Item = Step>) {
        let of_step = |step| {
            let new = self.domain.changes(step).into_iter().flat_map(|change| change.new);
            new.map(|node| self.domain.set(node).len() as u64).sum::<u64>()
        };
        self.effort.spend(steps.map(of_step).sum::<u64>().saturating_mul(nodes as u64 + 1));
    }

    /// Whether a search has to end with what it has: its time is over, or its effort is spent.
    pub(super) fn is_over(&self) -> bool {
        self.effort.is_spent() || self.observer.out_of_time()
    }

    /// Which of the two it is, once it is over.
    pub(super) fn why_over(&self) -> Stop {
        if self.effort.is_spent() { Stop::Effort } else { Stop::Time }
    }
}
