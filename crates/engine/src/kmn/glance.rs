//! Children of a cut by what changes alone.
//!
//! Of a cut that falls into many groups a step changes a few: those that hold the node which it specialises. A beam looks at
//! all steps and takes one or two of them. So where nothing has to be taken apart, a child is judged by the parts of these
//! groups: the relations of the new nodes are theirs, and its cost differs from the parent's by the paths that go and come.
//! All its groups are made only if it is kept.

use bosket_model::Result;

use super::cost::{Reuse, relations_lost};
use super::domain::{Node, Step};
use super::problem::{Cost, Judged, Problem, Solution};
use super::rows::{Change, Part, split_some};
use super::state::{Child, State};

/// What came of looking at a step.
pub(super) enum Glance {
    /// Its values are not sound, here and in all cuts below.
    Dead,
    /// It is a solution at which nothing has to be taken apart.
    Plain(Solution),
    /// All of it had to be looked at.
    Whole(Box<Child>),
}

impl Problem<'_> {
    /// What a step leads to, with as little work as it takes.
    pub(super) fn glance(&self, state: &State, step: Step) -> Result<Glance> {
        let changes = self.domain.changes(step);
        if let [change] = &changes[..]
            && self.is_plain_change(state, change)
        {
            let known = state.known.get(&self.domain.key(step)).map(Vec::as_slice);
            if self.is_dead(state, step, &changes, known.is_some())? {
                return Ok(Glance::Dead);
            }
            let is_known_rare = known.is_some_and(|violations| !violations.is_empty());
            let plain = if is_known_rare { None } else { self.plain_child(state, step, change)? };
            return match plain {
                Some(solution) => Ok(Glance::Plain(solution)),
                None => Ok(Glance::Whole(Box::new(self.changed(state, &changes, known)?))),
            };
        }
        Ok(self.child(state, step)?.map_or(Glance::Dead, |child| Glance::Whole(Box::new(child))))
    }

    /// Whether all that changes is that a node gives way to its children, where nothing is taken apart yet, absences do not count and
    /// relations are between two values, if there are any.
    fn is_plain_change(&self, state: &State, change: &Change) -> bool {
        let is_cheap = match self.cost {
            Cost::RpdA => matches!(self.reuse(state, std::slice::from_ref(change)), Reuse::Above(_)),
            Cost::Lm => change.old.is_some(),
            Cost::Rpd | Cost::Sampled => false,
        };
        is_cheap
            && self.shortcuts.incremental
            && self.shortcuts.memo
            && (self.range.n == 0 || self.range.m == 2)
            && !state.is_violated()
            && !self.domain.has_absences()
    }

    /// The child by a sound change, unless relations have to be taken apart there.
    fn plain_child(&self, state: &State, step: Step, change: &Change) -> Result<Option<Solution>> {
        let Some(old) = change.old else { return Ok(None) };
        let parts: Vec<Part> = split_some(state.groups(), state.at(old), change, self)?;
        if self.range.n > 0 && self.has_rare_relation(&parts, &change.new)? {
            return Ok(None);
        }
        let cut = self.child_cut(state, step);
        let cost = match (self.cost, state.counted()) {
            (Cost::RpdA, Some(counted)) => counted.rpd_a_with(&parts, &self.domain, self.observer)?,
            _ => {
                // Paths stay as long as they are.
                let of_all = || relations_lost(state.groups(), None, self.input_pairs);
                let relations = self.domain.relations_lost(&cut).unwrap_or_else(of_all);
                0.5 * self.domain.detail_lost(&cut) + 0.5 * relations
            }
        };
        let rules = Some(std::sync::Arc::default());
        let costs = vec![(self.cost, false, cost)];
        self.learn(&cut, Judged { dead: false, sound: true, violated: false, rules, costs });
        Ok(Some(Solution { cut, rules: Vec::new(), cost }))
    }

    /// Whether one of the relations of new nodes is of too few records.
    fn has_rare_relation(&self, parts: &[Part], new: &[Node]) -> Result<bool> {
        let groups: Vec<_> = parts.iter().map(|part| std::sync::Arc::clone(&part.group)).collect();
        let related = self.relations_of(&groups, new)?;
        Ok(related.values().any(|records| records.len() < self.range.k))
    }
}
