//! Dissection from the command line: `bosket anonymize` and `bosket verify` with models `anatomy`, `delta` and `none`.

mod anonymize;
mod verify;

use bosket_io::PolicyFile;
use bosket_model::Failure;
use bosket_model::policy::Model;
use bosket_verify::dissect::Distances;
use serde_json::{Value, json};

pub use anonymize::run;
pub use verify::verify;

/// Whether a policy asks for dissection.
pub fn is_asked(file: &PolicyFile) -> Result<bool, Failure> {
    Ok(matches!(file.policy.need_privacy()?.model, Model::Anatomy | Model::Delta | Model::None))
}

fn degrees_json(path: &str, found: Distances) -> Value {
    json!({"path": path, "set_wise": found.set_wise, "pairwise": found.pairwise})
}

/// Degrees in words; nothing where there is nothing to compare.
fn degrees_told(path: &str, found: Distances) -> Option<String> {
    let (set_wise, pairwise) = (found.set_wise?, found.pairwise?);
    Some(format!(
        "{path}: values of a group are {set_wise} edges apart from what all have in common, pairwise {pairwise}"
    ))
}
