//! A build without TPC-H.

use std::path::Path;

use bosket_io::Create;
use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::{Shape, Summary};

/// Refuses to make the files.
pub fn write(_: &Path, _: Shape, _: u64, _: Create, _: &dyn Observer) -> Result<Summary> {
    let what = Diagnostic::error("this build of bosket makes no data of TPC-H");
    Err(Failure::new(Fault::Environment, what.help("build it with --features tpch")))
}
