//! Children that need not be repaired, because they cost too much before.
//!
//! By RPD a cut costs more with relations taken apart than without: paths become shorter. (Not always, since a mean over
//! leaves may fall where costly ones become one; that does not matter for comparing cuts by a sample, or of many rows.) So the
//! children of a level are repaired from those on that would cost least, and the rest is left once as many are kept as a beam is
//! wide. Repair is what takes the time where cuts are fine.

use bosket_model::Result;
use rayon::prelude::*;

use super::gcs::LevelResult;
use crate::kmn::domain::Step;
use crate::kmn::glance::{Broken, Glance};
use crate::kmn::problem::{Problem, rounded};
use crate::kmn::state::{State, Unrepaired};
use crate::kmn::violations::Knowledge;

/// So many are repaired at once, on however many threads: which ones are must not depend on these.
const AT_ONCE: usize = 2;

/// A child that is not repaired yet.
pub(super) struct Open {
    /// What it costs before.
    cost: f64,
    order: usize,
    parent: usize,
    step: Step,
    child: Left,
}

/// What is left to do.
enum Left {
    /// To repair it.
    Repair(Unrepaired),
    /// To make it at all; the violations that hold its new nodes are known.
    Make(Vec<Knowledge>),
}

impl LevelResult {
    /// A child that was only glanced at.
    pub(super) fn open(order: usize, parent: usize, step: Step, broken: Broken) -> Self {
        let Broken { cost, violations } = broken;
        let open = vec![Open { cost, order, parent, step, child: Left::Make(violations) }];
        LevelResult { open, violated: true, ..LevelResult::default() }
    }
}

impl Problem<'_> {
    /// A child, which is left open where it has to be repaired.
    pub(super) fn bounded(
        &self,
        order: usize,
        parent: usize,
        step: Step,
        state: &State,
    ) -> Result<LevelResult> {
        let changes = self.domain.changes(step);
        let known = state.known.get(&self.domain.key(step)).filter(|_| self.shortcuts.incremental);
        if self.is_dead(state, step, &changes, known.is_some())? {
            return Ok(LevelResult::one(self, order, parent, step, Glance::Dead));
        }
        let child = self.unrepaired_child(state, &changes, known.map(Vec::as_slice))?;
        if !child.is_violated() {
            let whole = Glance::Whole(Box::new(self.repaired(state, &changes, child)?));
            return Ok(LevelResult::one(self, order, parent, step, whole));
        }
        let cost = self.unrepaired_cost(state, &child)?;
        let open = vec![Open { cost, order, parent, step, child: Left::Repair(child) }];
        Ok(LevelResult { open, violated: true, ..LevelResult::default() })
    }

    /// Repairs open children as long as one of them may be kept.
    pub(super) fn within_bounds(
        &self,
        mut level: LevelResult,
        g: usize,
        kept: &[State],
    ) -> Result<LevelResult> {
        let mut open = std::mem::take(&mut level.open);
        open.sort_by_key(|open| (rounded(open.cost), open.order));
        let mut open = open.into_iter().peekable();
        while let Some(next) = open.peek() {
            let worst = level.kept.get(g - 1).map(|(cost, order, ..)| (rounded(*cost), *order));
            if worst.is_some_and(|worst| worst < (rounded(next.cost), next.order)) {
                break;
            }
            let some: Vec<Open> = open.by_ref().take(AT_ONCE).collect();
            let more = (some.into_par_iter())
                .map(|Open { order, parent, step, child, .. }| {
                    self.observer.go_on()?;
                    let (state, changes) = (&kept[parent], self.domain.changes(step));
                    let child = match child {
                        Left::Repair(child) => self.repaired(state, &changes, child)?,
                        Left::Make(_) => {
                            let known = state.known.get(&self.domain.key(step)).map(Vec::as_slice);
                            self.changed(state, &changes, known)?
                        }
                    };
                    Ok(LevelResult::one(self, order, parent, step, Glance::Whole(Box::new(child))))
                })
                .try_reduce(LevelResult::default, |a, b| Ok(a.merge(b, g, self.finalists)))?;
            level = level.merge(more, g, self.finalists);
        }
        let left = open.map(|open| {
            let violations = match open.child {
                Left::Repair(child) => child.into_violations(),
                Left::Make(violations) => violations,
            };
            (open.parent, self.domain.key(open.step), violations)
        });
        level.known.extend(left);
        Ok(level)
    }
}
