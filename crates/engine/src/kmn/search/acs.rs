//! AllCutSearch: every cut. For small hierarchies.

use bosket_model::observe::Observer;

use super::{Finalists, Stop};
use crate::kmn::problem::Problem;
use crate::kmn::state::{Child, State};

impl Problem<'_> {
    /// Every cut exactly once: expansions in the order of nodes, so that each set of expansions comes about in one way.
    pub(crate) fn acs(&self, observer: &dyn Observer) -> Finalists {
        let mut found = Finalists::default();
        observer.stage("all cuts", self.max_cuts);
        self.below(&self.start(), 0, &mut found, observer);
        found
    }

    fn below(&self, state: &State, from: u64, found: &mut Finalists, observer: &dyn Observer) {
        for step in self.steps(state) {
            let key = self.domain.key(step);
            if key < from {
                continue;
            }
            if found.examined == self.max_cuts {
                found.stopped = Some(Stop::Cuts);
            } else if observer.cancelled() {
                found.stopped = Some(Stop::Cancelled);
            }
            if found.stopped.is_some() {
                return;
            }
            found.examined += 1;
            observer.advance(1);
            let Some(Child { state: child, .. }) = self.child(state, step) else {
                continue;
            };
            found.add(child.accepted(self).then(|| child.solution()), self.finalists);
            self.below(&child, key + 1, found, observer);
        }
    }
}
