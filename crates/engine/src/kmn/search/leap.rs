//! The finest cut at once, where nothing speaks against it.
//!
//! An easy promise lets nearly every step succeed. A beam would take them one by one, and look at all others each time,
//! on cuts that fall into ever more groups: the easier the promise, the longer the search. So all steps that are sound on
//! their own are taken together, depth by depth, down to the finest cut that single values allow. No sound cut is finer in
//! any place. If it is sound as a whole, no relation at it has to be taken apart, and every depth costs less than the one
//! before, then it is the cut that a beam would end at.
//!
//! Where some pairs of values are too rare at it, most steps still stand in nobody's way: what they bring in is sound with
//! everything at the finest cut, and so with everything above. All ways down take them sooner or later, so they are taken at
//! once, and a step that is not sound beside them never will be. What is left after that are steps that exclude each other,
//! and a beam from there on decides between them. It looks at a few steps instead of all; with few rows that is not worth
//! another order of steps.
//!
//! Where a path may end above another one, or an attribute is found below different ones, more detail can cost more, since a
//! path that had been part of another one counts on its own. There, and wherever one of the tests fails, the beam decides.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::Result;

use super::Finalists;
use crate::kmn::domain::{Node, Step};
use crate::kmn::problem::{Known, Problem, Solution, rounded};
use crate::kmn::rows::{Change, STRIDE};
use crate::kmn::state::State;
use crate::kmn::structure::relate;
use crate::kmn::values::{self, Sets};
use crate::kmn::violations::{Concerned, Knowledge};

/// Where a beam has to begin.
pub(super) enum Leap {
    /// At the top.
    Nowhere,
    /// Nowhere: the finest cut is a solution, and nothing above it can be expected to be better.
    Done(Finalists),
    /// At a cut that is a solution and that all ways down come by, after so many cuts.
    To(Box<State>, u64),
}

/// Rounds in which steps are found that never will be sound; each takes about as long as a level of a beam.
const ROUNDS: usize = 16;

impl Problem<'_> {
    /// How far down nothing has to be decided.
    pub(super) fn leap(&self) -> Result<Leap> {
        // Whoever may reject a solution needs others to go on with.
        if !self.shortcuts.leap || self.finalists == usize::MAX {
            return Ok(Leap::Nowhere);
        }
        let enough = |&node: &Node| self.domain.set(node).len() >= self.range.k;
        let is_alone = |step: Step| self.domain.changes(step).iter().all(|c| c.new.iter().all(enough));
        let mut never: BTreeSet<u64> = BTreeSet::new();
        for round in 0..ROUNDS {
            let depths = self.depths(|step| Ok(is_alone(step) && !never.contains(&self.domain.key(step))))?;
            let Some(finest) = depths.last() else {
                return Ok(Leap::Nowhere);
            };
            if self.are_values_sound(finest)? {
                let cost = if self.is_plain(finest)? { self.falling_cost(&depths)? } else { None };
                let Some(cost) = cost else { return Ok(Leap::Nowhere) };
                let best = vec![Solution { cut: finest.clone(), rules: Vec::new(), cost }];
                return Ok(Leap::Done(Finalists {
                    best,
                    examined: depths.len() as u64,
                    ..Finalists::default()
                }));
            }
            // More values at once would take longer to look at than the beam does. Absences are not monotone.
            let is_pairs = self.range.m == 2 && self.domain.with_absences(finest).len() == finest.len();
            if !is_pairs || (round == 0 && !self.is_plain(finest)?) {
                return Ok(Leap::Nowhere);
            }
            let agreed = self.depths(|step| {
                Ok(is_alone(step)
                    && !never.contains(&self.domain.key(step))
                    && self.excludes_nothing(step, finest)?)
            })?;
            let cut = agreed.last().cloned().unwrap_or_default();
            let before = never.len();
            for step in self.domain.steps(&cut).into_iter().filter(|&step| is_alone(step)) {
                if !self.is_sound_beside(step, &cut)? {
                    never.insert(self.domain.key(step));
                }
            }
            if never.len() == before {
                return self.leap_to(&agreed);
            }
        }
        Ok(Leap::Nowhere)
    }

    /// The last of some cuts as the beginning of a beam.
    fn leap_to(&self, depths: &[Vec<Node>]) -> Result<Leap> {
        let Some(cut) = depths.last().filter(|_| self.has_many_rows()) else {
            return Ok(Leap::Nowhere);
        };
        let Some(cost) = self.falling_cost(depths)? else {
            return Ok(Leap::Nowhere);
        };
        Ok(Leap::To(Box::new(self.unrepaired_state(cut, cost)?), depths.len() as u64))
    }

    /// The cost of the last of some cuts, if each costs less than the one before.
    fn falling_cost(&self, depths: &[Vec<Node>]) -> Result<Option<f64>> {
        if depths.len() as u64 > self.max_cuts {
            return Ok(None);
        }
        let mut before = f64::INFINITY;
        for cut in depths {
            self.observer.go_on()?;
            let (cost, _) = self.cost(cut, &self.relations(cut)?.groups, None, Known::NOTHING)?;
            if rounded(cost) >= rounded(before) {
                return Ok(None);
            }
            before = cost;
        }
        Ok(Some(before))
    }

    /// The cuts from the roots down, each with all steps taken that somebody accepts.
    fn depths(&self, accepts: impl Fn(Step) -> Result<bool>) -> Result<Vec<Vec<Node>>> {
        let mut depths: Vec<Vec<Node>> = Vec::new();
        let mut cut: Vec<Node> = Vec::new();
        loop {
            self.observer.go_on()?;
            let mut next: BTreeSet<Node> = cut.iter().copied().collect();
            let mut any = false;
            for step in self.domain.steps(&cut) {
                if !accepts(step)? {
                    continue;
                }
                any = true;
                for change in self.domain.changes(step) {
                    change.old.iter().for_each(|old| {
                        next.remove(old);
                    });
                    next.extend(change.new);
                }
            }
            if !any {
                return Ok(depths);
            }
            cut = next.into_iter().collect();
            depths.push(cut.clone());
        }
    }

    /// Whether what a step brings in is sound with all of a cut that lies elsewhere.
    fn excludes_nothing(&self, step: Step, finest: &[Node]) -> Result<bool> {
        let changes = self.domain.changes(step);
        let replaced = |change: &Change| {
            let top = change.old.unwrap_or(self.domain.levels[change.level].root);
            self.domain.subtree(top)
        };
        let own: Vec<std::ops::Range<Node>> = changes.iter().map(replaced).collect();
        let elsewhere = finest.iter().copied().filter(|node| !own.iter().any(|range| range.contains(node)));
        self.is_sound_with(&changes, &elsewhere.collect::<Vec<Node>>())
    }

    /// Whether a step is sound at a cut.
    fn is_sound_beside(&self, step: Step, cut: &[Node]) -> Result<bool> {
        let changes = self.domain.changes(step);
        let stays = |node: &Node| !changes.iter().any(|change| change.old == Some(*node));
        self.is_sound_with(&changes, &cut.iter().copied().filter(stays).collect::<Vec<Node>>())
    }

    fn is_sound_with(&self, changes: &[Change], old: &[Node]) -> Result<bool> {
        let new: Vec<Node> = changes.iter().flat_map(|change| change.new.iter().copied()).collect();
        let sets = Sets { new: &new, fresh: None, old };
        Ok(values::unsound(&self.domain, &sets, self.range, self.observer)?.is_none())
    }

    /// Whether more detail cannot cost more, and no relation has to be taken apart at a cut.
    fn is_plain(&self, cut: &[Node]) -> Result<bool> {
        Ok(!self.paths_differ()? && !self.needs_repair(cut)?)
    }

    pub(super) fn are_values_sound(&self, cut: &[Node]) -> Result<bool> {
        Ok(self.unsound_values(cut)?.is_none())
    }

    fn unsound_values(&self, cut: &[Node]) -> Result<Option<Vec<Node>>> {
        let values = self.domain.with_absences(cut);
        let sets = Sets { new: &values, fresh: None, old: &[] };
        values::unsound(&self.domain, &sets, self.range, self.observer)
    }

    /// The values of some knowledge that is too rare at a cut, with relations or without; none if the cut is sound as it is.
    pub(super) fn rare_set(&self, cut: &[Node]) -> Result<Option<Vec<Node>>> {
        match self.unsound_values(cut)? {
            Some(values) => Ok(Some(values)),
            None => Ok(self.too_rare_relations(cut)?.first().map(|known| known.nodes().to_vec())),
        }
    }

    /// Whether relations have to be taken apart at a cut.
    pub(super) fn needs_repair(&self, cut: &[Node]) -> Result<bool> {
        Ok(!self.too_rare_relations(cut)?.is_empty())
    }

    /// Knowledge with relations that is too rare at a cut.
    fn too_rare_relations(&self, cut: &[Node]) -> Result<Vec<Knowledge>> {
        if self.range.n == 0 || self.range.m < 2 {
            return Ok(Vec::new());
        }
        let values = self.domain.with_absences(cut);
        let groups = self.relations(cut)?.groups;
        let related = relate(&groups, None, self.domain.records, |_| true, self.observer)?;
        self.violations(&values, &related, &Concerned::Nodes(&values, None))
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
