//! Whether one value more than promised would tell much, of a publication that was just made.

use bosket_measure::attack::{Beyond, Options, attackers};
use bosket_model::Result;
use bosket_model::policy::Policy;

use crate::load::Bound;
use crate::run::Run;

/// Steps of counting: a look at many records, not a study.
const BUDGET: u64 = 5_000_000;

/// Looks at a publication; none where little more would be told.
pub(super) fn look(policy: &Policy, published: &Bound, run: &Run<'_>) -> Result<Option<Beyond>> {
    if !policy.privacy.as_ref().is_some_and(|privacy| privacy.model.counts_values()) {
        return Ok(None);
    }
    let options = Options { budget: BUDGET, ..Options::of(policy) };
    let Bound { data, binding } = published;
    let told = attackers(data, binding, policy, &options, run.observer)?;
    Ok(Beyond::of(policy, &told))
}
