//! Children of a cut by what changes alone.
//!
//! Of a cut that falls into many groups a step changes a few: those that hold the node which it specialises. A beam looks at
//! all steps and takes one or two of them. So a child is judged by the parts of these groups: the relations of the new nodes are
//! theirs, and its cost differs from the parent's by the paths that go and come. All its groups are made only if it is kept, or
//! if relations have to be taken apart and it might be the cheapest all the same (`search::bounds`).

use std::collections::BTreeSet;
use std::sync::Arc;

use bosket_model::Result;

use super::cost::{Reuse, relations_lost};
use super::domain::{Node, Step};
use super::problem::{Cost, Judged, Problem, Solution};
use super::rows::{Change, Part, split_some};
use super::state::{Child, State};
use super::violations::{Knowledge, Pair};

/// What came of looking at a step.
pub(super) enum Glance {
    /// Its values are not sound, here and in all cuts below.
    Dead,
    /// It is a solution at which nothing has to be taken apart.
    Plain(Solution),
    /// It is none, since relations would have to be taken apart, which is not allowed.
    Violated(Broken),
    /// Relations have to be taken apart, which is left for later.
    Open(Broken),
    /// All of it had to be looked at.
    Whole(Box<Child>),
}

/// A child before its relations are taken apart.
pub(super) struct Broken {
    /// What it costs.
    pub(super) cost: f64,
    /// The violations that hold its new nodes.
    pub(super) violations: Vec<Knowledge>,
}

impl Problem<'_> {
    /// What a step leads to, with as little work as it takes.
    pub(super) fn glance(&self, state: &State, step: Step) -> Result<Glance> {
        let changes = self.domain.changes(step);
        if let [change] = &changes[..]
            && let Some(old) = change.old.filter(|_| self.is_plain_change(state, change))
        {
            let known = state.known.get(&self.domain.key(step)).map(Vec::as_slice);
            if self.is_dead(state, step, &changes, known.is_some())? {
                return Ok(Glance::Dead);
            }
            let is_known_rare = known.is_some_and(|violations| !violations.is_empty());
            if self.may_stay_open() || !(is_known_rare || state.is_violated()) {
                let glance = self.plain_child(state, step, (old, change))?;
                if self.may_stay_open() || !matches!(glance, Glance::Open(_)) {
                    return Ok(glance);
                }
            }
            return Ok(Glance::Whole(Box::new(self.changed(state, &changes, known)?)));
        }
        Ok(self.child(state, step)?.map_or(Glance::Dead, |child| Glance::Whole(Box::new(child))))
    }

    /// Whether children need not be repaired at once. By detail a cut never costs less with relations taken apart than without; by
    /// RPD_a hardly ever, which many rows make worth it.
    fn may_stay_open(&self) -> bool {
        // Whoever may reject a solution needs others to go on with.
        self.finalists != usize::MAX && (!self.repair || self.cost == Cost::Lm || self.has_many_rows())
    }

    /// Whether all that changes is that a node gives way to its children, where absences do not count and relations are between two
    /// values, if there are any.
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
            && !self.domain.has_absences()
    }

    /// The child by a sound change.
    fn plain_child(&self, state: &State, step: Step, (old, change): (Node, &Change)) -> Result<Glance> {
        let parts: Vec<Part> = split_some(state.groups(), state.at(old), change, self)?;
        let violations = if self.range.n > 0 { self.rare_relations(&parts)? } else { Vec::new() };
        let is_violated = !violations.is_empty() || state.violations_without(old).next().is_some();
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
        if is_violated && self.repair {
            return Ok(Glance::Open(Broken { cost, violations }));
        }
        let rules = (!is_violated).then(Arc::default);
        let costs = vec![(self.cost, false, cost)];
        self.learn(&cut, Judged { dead: false, sound: true, violated: is_violated, rules, costs });
        Ok(match is_violated {
            true => Glance::Violated(Broken { cost, violations }),
            false => Glance::Plain(Solution { cut, rules: Vec::new(), cost }),
        })
    }

    /// The relations of new nodes that are of too few records.
    fn rare_relations(&self, parts: &[Part]) -> Result<Vec<Knowledge>> {
        let groups: Vec<_> = parts.iter().map(|part| Arc::clone(&part.group)).collect();
        let related = self.records_of(&groups, related_pairs(parts))?;
        let rare = related.iter().filter(|(_, records)| records.len() < self.range.k);
        Ok(rare.map(|(&pair, _)| Knowledge::of_pair(pair)).collect())
    }
}

/// The pairs that a part relates its new node in.
fn related_pairs(parts: &[Part]) -> BTreeSet<Pair> {
    let mut pairs = BTreeSet::new();
    let (mut before, mut before_at): (&[Node], u32) = (&[], 0);
    for Part { group, from: (_, at) } in parts {
        let new = *at as usize;
        // Parts with the same beginning follow each other.
        let is_same_new = before_at == *at && before.get(new) == Some(&group.path[new]);
        for (other, &node) in group.path.iter().enumerate() {
            if other != new && !(is_same_new && before.get(other) == Some(&node)) {
                pairs.insert(if other < new { (node, group.path[new]) } else { (group.path[new], node) });
            }
        }
        (before, before_at) = (&group.path, *at);
    }
    pairs
}
