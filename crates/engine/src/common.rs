//! Sensitive values that so many people have that they can be guessed without any knowledge. No search changes that, since
//! sensitive values are published as they are.

use bosket_model::binding::Binding;
use bosket_model::policy::{Payload, Policy};
use bosket_model::words::{count, plural};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

use crate::dissect::sensitive_values;

/// Refuses a promise of trees that such a value breaks, with the `l` that could be kept.
pub fn refuse_common(policy: &Policy, data: &Dataset, binding: &Binding) -> Result<()> {
    let privacy = policy.need_privacy()?;
    let Some(l) = privacy.l.filter(|_| privacy.payload == Payload::Keep) else { return Ok(()) };
    let problems: Vec<Diagnostic> = sensitive_values(data, binding)
        .into_iter()
        .filter_map(|column| {
            let mut people = vec![0usize; column.values.len()];
            let mut seen = vec![usize::MAX; column.values.len()];
            for record in 0..data.len() {
                for &code in column.codes.of(record) {
                    if std::mem::replace(&mut seen[code as usize], record) != record {
                        people[code as usize] += 1;
                    }
                }
            }
            let most = people.into_iter().max()?;
            if most as f64 * l <= data.len() as f64 * (1.0 + 1e-12) {
                return None;
            }
            let what = format!(
                "{} of {} have one and the same value, more than 1/{l}; whoever knows nothing can infer it",
                count(most),
                plural(data.len(), "record")
            );
            // Rounded down, so that it can be kept.
            let works = (data.len() as f64 / most as f64 * 100.0).floor() / 100.0;
            let help = match works > 1.0 {
                true => format!("no l over {works} can be kept for it; ask for less"),
                false => "no l can be kept for it; give it another role".to_owned(),
            };
            Some(Diagnostic::error(what).at(Place::default().path(&column.path)).help(help))
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Unreachable, problems)) }
}
