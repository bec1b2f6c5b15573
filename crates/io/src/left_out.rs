//! Formats that a build was made without: refused, and never taken for something else.

use bosket_model::{Diagnostic, Failure, Fault};

/// Says how to get a build with a format.
pub(crate) fn left_out(format: &str, feature: &str) -> Failure {
    let what = Diagnostic::error(format!("this build of bosket reads no {format}"));
    Failure::new(Fault::Environment, what.help(format!("build it with --features {feature}")))
}
