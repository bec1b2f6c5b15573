//! Values alone: every set of up to m values at a cut must be in no record or in at least k.
//!
//! A child cut of a sound cut can only fail in sets that hold one of its new nodes. What fails there fails in every cut
//! below: one of the children of the other values keeps a support between 1 and k − 1. And a step that was sound at the
//! parent needs to be looked at again only together with the nodes that have come in since.

use super::domain::{Domain, Node};
use super::set::Set;

/// Which sets of nodes are to be checked: those with one of `new` and, if given, one of `fresh`.
pub(super) struct Sets<'a> {
    pub(super) new: &'a [Node],
    pub(super) fresh: Option<&'a [Node]>,
    /// The other nodes of the cut.
    pub(super) old: &'a [Node],
}

/// Whether all these sets of up to `m` nodes are sound.
pub(super) fn sound(domain: &Domain<'_>, sets: &Sets<'_>, k: u32, m: usize) -> bool {
    let fresh = sets.fresh.unwrap_or(&[]);
    if sets.fresh.is_none() && sets.new.iter().any(|&n| (1..k).contains(&domain.set(n).len())) {
        return false;
    }
    // Fresh nodes come before old ones, so that a set without any is recognised early.
    let old = sets.old.iter().filter(|n| !fresh.contains(n));
    let all: Vec<Node> = sets.new.iter().chain(fresh).chain(old).copied().collect();
    let last_fresh = if sets.fresh.is_some() { sets.new.len() + fresh.len() } else { all.len() };
    let check = Check { domain, all: &all, fresh: sets.new.len()..last_fresh, k };
    (0..sets.new.len()).all(|i| check.extend(domain.set(all[i]), i + 1, m - 1, sets.fresh.is_none()))
}

struct Check<'a> {
    domain: &'a Domain<'a>,
    all: &'a [Node],
    fresh: std::ops::Range<usize>,
    k: u32,
}

impl Check<'_> {
    /// Whether all sets that add up to `left` nodes from `from` on are sound; `complete` if they need no fresh node any more.
    fn extend(&self, so_far: &Set, from: usize, left: usize, complete: bool) -> bool {
        if left == 0 {
            return true;
        }
        // Without a fresh node yet, one must still come, and it stands before the old ones.
        let to = if complete { self.all.len() } else { self.fresh.end };
        for i in from..to {
            let completes = complete || self.fresh.contains(&i);
            if !completes && left == 1 {
                continue;
            }
            let set = self.domain.set(self.all[i]);
            let shared = so_far.shared_up_to(set, self.k);
            if completes && shared > 0 && shared < self.k {
                return false;
            }
            if shared == self.k
                && left > 1
                && !self.extend(&so_far.and(set, self.domain.records), i + 1, left - 1, completes)
            {
                return false;
            }
        }
        true
    }
}
