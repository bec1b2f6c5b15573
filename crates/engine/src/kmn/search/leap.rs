//! The finest cut at once, where nothing speaks against it.
//!
//! An easy promise lets nearly every step succeed. A beam would take them one by one, and look at all others each time,
//! on cuts that fall into ever more groups: the easier the promise, the longer the search. So all steps that are sound on
//! their own are taken together, depth by depth, down to the finest cut that single values allow. No sound cut is finer in
//! any place. If it is sound as a whole, no relation at it has to be taken apart, and every depth costs less than the one
//! before, then it is the cut that a beam would end at.
//!
//! Where a path may end above another one, or an attribute is found below different ones, more detail can cost more, since a
//! path that had been part of another one counts on its own. There, and wherever one of the tests fails, the beam decides.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::Result;

use super::Finalists;
use crate::kmn::cost::Reuse;
use crate::kmn::domain::{Node, Step};
use crate::kmn::problem::{Problem, Solution, rounded};
use crate::kmn::rows::STRIDE;
use crate::kmn::structure::relate;
use crate::kmn::values::{self, Sets};
use crate::kmn::violations::Concerned;

impl Problem<'_> {
    /// The finest cut, if it is a solution and nothing above it can be expected to be better.
    pub(super) fn leap(&self) -> Result<Option<Finalists>> {
        // Whoever may reject a solution needs others to go on with.
        if !self.shortcuts.leap || self.finalists == usize::MAX {
            return Ok(None);
        }
        let depths = self.depths()?;
        let Some(finest) = depths.last() else {
            return Ok(None);
        };
        // Nearly every promise that is not easy ends here, at a few sets of records.
        let possible = depths.len() as u64 <= self.max_cuts && self.are_values_sound(finest)?;
        if !possible || self.paths_differ()? || self.needs_repair(finest)? {
            return Ok(None);
        }
        let mut before = f64::INFINITY;
        for cut in &depths {
            self.observer.go_on()?;
            let (cost, _) = self.cost(cut, &self.relations(cut)?.groups, None, Reuse::Nothing)?;
            if rounded(cost) >= rounded(before) {
                return Ok(None);
            }
            before = cost;
        }
        let best = vec![Solution { cut: finest.clone(), rules: Vec::new(), cost: before }];
        Ok(Some(Finalists { best, examined: depths.len() as u64, stopped: None }))
    }

    /// The cuts from the roots down, each with all steps taken that are sound on their own.
    fn depths(&self) -> Result<Vec<Vec<Node>>> {
        let mut depths: Vec<Vec<Node>> = Vec::new();
        let mut cut: Vec<Node> = Vec::new();
        loop {
            self.observer.go_on()?;
            let enough = |&node: &Node| self.domain.set(node).len() >= self.range.k;
            let is_sound = |&step: &Step| self.domain.changes(step).iter().all(|c| c.new.iter().all(enough));
            let steps: Vec<Step> = self.domain.steps(&cut).into_iter().filter(is_sound).collect();
            if steps.is_empty() {
                return Ok(depths);
            }
            let mut next: BTreeSet<Node> = cut.iter().copied().collect();
            for change in steps.into_iter().flat_map(|step| self.domain.changes(step)) {
                change.old.iter().for_each(|old| {
                    next.remove(old);
                });
                next.extend(change.new);
            }
            cut = next.into_iter().collect();
            depths.push(cut.clone());
        }
    }

    fn are_values_sound(&self, cut: &[Node]) -> Result<bool> {
        let values = self.domain.with_absences(cut);
        let sets = Sets { new: &values, fresh: None, old: &[] };
        Ok(values::unsound(&self.domain, &sets, self.range, self.observer)?.is_none())
    }

    /// Whether relations have to be taken apart at a cut.
    fn needs_repair(&self, cut: &[Node]) -> Result<bool> {
        if self.range.n == 0 || self.range.m < 2 {
            return Ok(false);
        }
        let values = self.domain.with_absences(cut);
        let groups = self.relations(cut)?.groups;
        let related = relate(&groups, None, self.domain.records, |_| true, self.observer)?;
        Ok(!self.violations(&values, &related, &Concerned::Nodes(&values, None))?.is_empty())
    }

    /// Whether rows end above others, or have an attribute below different ones.
    fn paths_differ(&self) -> Result<bool> {
        let mut attributes: BTreeSet<Vec<usize>> = BTreeSet::new();
        let mut before: Vec<usize> = Vec::new();
        for row in 0..self.rows.len() as u32 {
            if row.is_multiple_of(STRIDE as u32) {
                self.observer.go_on()?;
            }
            let own = self.rows.items(row).iter().map(|&item| self.domain.level_of_item(item));
            // Most rows have the attributes of the one before.
            if !own.clone().eq(before.iter().copied()) {
                before = own.collect();
                attributes.insert(before.clone());
            }
        }
        let mut above: BTreeMap<usize, &[usize]> = BTreeMap::new();
        for row in &attributes {
            for (at, &level) in row.iter().enumerate() {
                if *above.entry(level).or_insert(&row[..at]) != &row[..at] {
                    return Ok(true);
                }
            }
        }
        let inner: BTreeSet<usize> = above.values().flat_map(|above| above.iter().copied()).collect();
        Ok(attributes.iter().filter_map(|row| row.last()).any(|last| inner.contains(last)))
    }
}
