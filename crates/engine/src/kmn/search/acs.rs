//! AllCutSearch: every cut. For small hierarchies.

use bosket_model::Result;

use super::{Finalists, Stop};
use crate::kmn::problem::Problem;
use crate::kmn::state::{Child, State};

impl Problem<'_> {
    /// Every cut exactly once: expansions in the order of nodes, so that each set of expansions comes about in one way.
    pub(crate) fn acs(&self) -> Result<Finalists> {
        let mut found = Finalists::default();
        self.observer.stage("all cuts", self.max_cuts);
        self.below(&self.start(), 0, &mut found)?;
        Ok(found)
    }

    fn below(&self, state: &State, from: u64, found: &mut Finalists) -> Result<()> {
        for step in self.steps(state) {
            let key = self.domain.key(step);
            if key < from {
                continue;
            }
            if found.examined == self.max_cuts {
                found.stopped = Some(Stop::Cuts);
            }
            if (self.has_first || !found.best.is_empty()) && self.is_over() {
                found.stopped = Some(self.why_over());
            }
            if found.stopped.is_some() {
                break;
            }
            self.observer.go_on()?;
            found.examined += 1;
            self.spend_on(state.cut.len(), std::iter::once(step));
            self.observer.advance(1);
            let Some(Child { state: child, .. }) = self.child(state, step)? else {
                continue;
            };
            found.add(child.accepted(self).then(|| child.solution()), self.finalists);
            self.below(&child, key + 1, found)?;
        }
        Ok(())
    }
}
