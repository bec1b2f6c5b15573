//! The searches over cuts, one file each.
//!
//! A search starts with nothing published. A child of a cut publishes one more attribute as its root, or replaces one
//! node by its children. A cut whose values alone are not sound is dropped with all cuts below it; otherwise its
//! relations are repaired. `acs` looks at every cut, `gcs` at the children of the g cheapest, `ocs` does the same without
//! repair, `best` tries several beams. A beam over an easy promise is spared where the finest cut will do, and
//! begins further down where most steps exclude nothing (`leap`).

mod acs;
mod best;
mod bounds;
mod first;
mod gcs;
mod leap;
mod ocs;

use super::problem::Solution;

/// The cheapest solutions that a search has found.
#[derive(Default)]
pub(crate) struct Finalists {
    /// The cheapest, ascending; at most as many as the problem asks for.
    pub(crate) best: Vec<Solution>,
    pub(crate) examined: u64,
    /// Some cut on the way needed relations to be taken apart.
    pub(crate) violated: bool,
    /// Why the search ended early, if it did.
    pub(crate) stopped: Option<Stop>,
}

/// Why a search did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It had examined as many cuts as allowed.
    Cuts,
    /// What it keeps takes more bytes than allowed.
    Memory(usize),
    /// Whoever watches has said that time is over, and there was a solution.
    Time,
    /// It has done as much as it may, and there was a solution.
    Effort,
}

impl Finalists {
    /// Takes solutions in; of equal ones the first stays ahead.
    pub(crate) fn add(&mut self, solutions: impl IntoIterator<Item = Solution>, finalists: usize) {
        self.best.extend(solutions);
        self.best.sort_by_key(Solution::rank);
        keep_cheapest(&mut self.best, finalists, |solution| solution);
    }
}

/// Keeps so many of some sorted solutions; if all of them take relations apart, also the cheapest that takes none apart. Whoever
/// may reject a solution never rejects that one: a search that goes on must not lose it to others that are rejected.
fn keep_cheapest<T>(sorted: &mut Vec<T>, finalists: usize, solution: impl Fn(&T) -> &Solution) {
    let is_plain = |of: &T| solution(of).rules.is_empty();
    let plain = sorted.iter().position(is_plain).filter(|&at| at >= finalists);
    if let Some(at) = plain {
        sorted.swap(at, finalists);
    }
    sorted.truncate(finalists.saturating_add(usize::from(plain.is_some())));
}
