//! OnlyCutSearch: a beam over cuts that need no disassociation.

use bosket_model::Result;

use super::Finalists;
use crate::kmn::problem::Problem;

impl Problem<'_> {
    /// The beam of `gcs`, without repair.
    pub(crate) fn ocs(&mut self, g: usize) -> Result<Finalists> {
        self.repair = false;
        self.gcs(g)
    }
}
