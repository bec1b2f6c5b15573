//! Children that need not be repaired, because they cost too much before.
//!
//! By RPD a cut costs more with relations taken apart than without: paths become shorter. (Not always, since a mean over
//! leaves may fall where costly ones become one; that does not matter for comparing cuts by a sample.) So the children of a
//! level are repaired from those on that would cost least, and the rest is left once as many are kept as a beam is wide.
//! Repair is what takes the time where cuts are fine.

use bosket_model::Result;
use rayon::prelude::*;

use super::gcs::LevelResult;
use crate::kmn::domain::Step;
use crate::kmn::glance::Glance;
use crate::kmn::problem::{Problem, rounded};
use crate::kmn::state::{State, Unrepaired};

/// So many are repaired at once, on however many threads: which ones are must not depend on these.
const AT_ONCE: usize = 2;

/// A child that is not repaired yet.
pub(super) struct Open {
    /// What it costs before.
    cost: f64,
    order: usize,
    parent: usize,
    step: Step,
    child: Unrepaired,
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
        let open = vec![Open { cost, order, parent, step, child }];
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
            let worst = level.kept.get(g - 1).map(|(cost, ..)| rounded(*cost));
            if worst.is_some_and(|worst| worst <= rounded(next.cost)) {
                break;
            }
            let some: Vec<Open> = open.by_ref().take(AT_ONCE).collect();
            let more = (some.into_par_iter())
                .map(|Open { order, parent, step, child, .. }| {
                    self.observer.go_on()?;
                    let child = self.repaired(&kept[parent], &self.domain.changes(step), child)?;
                    Ok(LevelResult::one(self, order, parent, step, Glance::Whole(Box::new(child))))
                })
                .try_reduce(LevelResult::default, |a, b| Ok(a.merge(b, g, self.finalists)))?;
            level = level.merge(more, g, self.finalists);
        }
        let left = open.map(|open| (open.parent, self.domain.key(open.step), open.child.into_violations()));
        level.known.extend(left);
        Ok(level)
    }
}
