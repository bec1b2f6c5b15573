//! Whether a draft is a policy that runs. `inspect` hands none out that it has not checked: whoever begins with it cannot
//! tell an error of theirs from one of the draft.

use std::path::Path;

use bosket_io::hierarchies::HierarchyNeeds;
use bosket_io::tables::is_address;
use bosket_io::{Frames, PolicyFile, Whereabouts};
use bosket_model::binding::Binding;
use bosket_model::policy::Undeclared;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::look::Looked;
use crate::prepare::check_policy;
use crate::run::Run;

/// Refuses a draft, to be written to `file`, that could not be read as a policy, finds no source, or does not fit the data
/// that it was made of.
pub(crate) fn check(
    file: &Path,
    text: &str,
    looked: &Looked,
    frames: Option<&Frames>,
    run: &Run<'_>,
) -> Result<()> {
    let mut drafted = PolicyFile::parse(file, text, &[]).map_err(of_ours)?;
    drafted.frames = frames.cloned();
    // A draft in which something is left to decide says so, and is complete otherwise.
    if drafted.policy.undecided().next().is_none() {
        check_policy(&drafted).map_err(of_ours)?;
    }
    find_source(&drafted)?;
    let (data, attributes) = (&looked.data, &drafted.policy.attributes);
    let binding = Binding::of_input(data.schema(), attributes, Undeclared::Drop, &drafted.policy.name)
        .map_err(of_ours)?;
    let needs = HierarchyNeeds { required: true, show_values: run.settings.show_values };
    bosket_io::hierarchies::load(&drafted, data, &binding, &drafted.policy.name, needs).map_err(of_ours)?;
    Ok(())
}

/// Refuses a draft whose source lies elsewhere than it says.
fn find_source(drafted: &PolicyFile) -> Result<()> {
    let place = Whereabouts::input(drafted).map_err(of_ours)?;
    if drafted.frames.is_some() {
        return Ok(());
    }
    let is_there =
        |path: &Path| path == Path::new("-") || path.to_str().is_some_and(is_address) || path.exists();
    match place.paths().into_iter().find(|path| !is_there(path)) {
        Some(missing) => {
            let what = Diagnostic::error("the source that the draft names is not there");
            Err(of_ours(Failure::new(Fault::Defect, what.at(Place::source(missing.to_string_lossy())))))
        }
        None => Ok(()),
    }
}

/// What is wrong with a draft is an error of whoever wrote it.
fn of_ours(failure: Failure) -> Failure {
    if failure.fault == Fault::Interrupted {
        return failure;
    }
    let mut all = Failure::defect("the draft that was made for these data is no policy that runs");
    all.diagnostics.extend(failure.diagnostics);
    all
}
