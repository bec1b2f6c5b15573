//! Values alone: every set of up to m values at a cut must be in no record or in at least k.
//!
//! A child cut of a sound cut can only fail in sets that hold one of its new nodes. What fails there fails in every cut
//! below: one of the children of the other values keeps a support between 1 and k − 1. And a step that was sound at the
//! parent needs to be looked at again only together with the nodes that have come in since.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::domain::{Domain, Node};
use super::set::{Pivot, Set};
use super::violations::Range;

/// Which sets of nodes are to be checked: those with one of `new` and, if given, one of `fresh`.
pub(super) struct Sets<'a> {
    pub(super) new: &'a [Node],
    pub(super) fresh: Option<&'a [Node]>,
    /// The other nodes of the cut.
    pub(super) old: &'a [Node],
}

/// One of these sets of up to m nodes that is not sound: in fewer than k records, but not in none.
pub(super) fn unsound(
    domain: &Domain<'_>,
    sets: &Sets<'_>,
    range: Range,
    observer: &dyn Observer,
) -> Result<Option<Vec<Node>>> {
    let Range { k, m, .. } = range;
    let fresh = sets.fresh.unwrap_or(&[]);
    if sets.fresh.is_none()
        && let Some(&rare) = sets.new.iter().find(|&&n| (1..k).contains(&domain.set(n).len()))
    {
        return Ok(Some(vec![rare]));
    }
    // Fresh nodes come before old ones, so that a set without any is recognised early.
    let old = sets.old.iter().filter(|n| !fresh.contains(n));
    let all: Vec<Node> = sets.new.iter().chain(fresh).chain(old).copied().collect();
    let last_fresh = if sets.fresh.is_some() { sets.new.len() + fresh.len() } else { all.len() };
    let check = Check { domain, all: &all, fresh: sets.new.len()..last_fresh, range, observer };
    for i in 0..sets.new.len() {
        if let Some(rest) = check.extend(domain.set(all[i]), i + 1, m - 1, sets.fresh.is_none())? {
            return Ok(Some([vec![all[i]], rest].concat()));
        }
    }
    Ok(None)
}

struct Check<'a> {
    domain: &'a Domain<'a>,
    all: &'a [Node],
    fresh: std::ops::Range<usize>,
    range: Range,
    observer: &'a dyn Observer,
}

impl Check<'_> {
    /// Up to `left` nodes from `from` on that make the set unsound; `complete` if it needs no fresh node any more.
    fn extend(&self, so_far: &Set, from: usize, left: usize, complete: bool) -> Result<Option<Vec<Node>>> {
        if left == 0 {
            return Ok(None);
        }
        self.observer.go_on()?;
        let so_far = Pivot::new(so_far, self.domain.records);
        // Without a fresh node yet, one must still come, and it stands before the old ones.
        let to = if complete { self.all.len() } else { self.fresh.end };
        for i in from..to {
            let completes = complete || self.fresh.contains(&i);
            if !completes && left == 1 {
                continue;
            }
            let set = self.domain.set(self.all[i]);
            let shared = self.range.shared(&so_far, set);
            if completes && shared > 0 && shared < self.range.k {
                return Ok(Some(vec![self.all[i]]));
            }
            if shared == self.range.k
                && left > 1
                && let Some(rest) = self.extend(&so_far.and(set), i + 1, left - 1, completes)?
            {
                return Ok(Some([vec![self.all[i]], rest].concat()));
            }
        }
        Ok(None)
    }
}
