//! Dissection from the command line: `bosket anonymize` and `bosket verify` with models `anatomy`, `delta` and `none`.

mod anonymize;
mod verify;

use bosket_io::PolicyFile;
use bosket_model::binding::Binding;
use bosket_model::path::Notation;
use bosket_model::policy::{Format, Undeclared};
use bosket_model::{Builder, Failure};
use bosket_verify::dissect::Distances;
use serde_json::{Value, json};

pub(super) use anonymize::refuse_taken;
pub use anonymize::run;
pub use verify::verify;
pub(super) use verify::{groups, refuse_unknown};

/// Whether a policy asks for dissection.
pub fn is_asked(file: &PolicyFile) -> Result<bool, Failure> {
    Ok(file.policy.need_privacy()?.model.is_apart())
}

/// What the policy declares, without any data.
fn declared(file: &PolicyFile) -> Result<Binding, Failure> {
    let xml = file.policy.source.as_ref().is_some_and(|s| s.format == Format::Xml);
    let notation = if xml { Notation::Slashes } else { Notation::Dots };
    let nothing = Builder::in_notation(notation).finish();
    Binding::new(nothing.schema(), &file.policy.attributes, Undeclared::Drop, "the policy")
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
