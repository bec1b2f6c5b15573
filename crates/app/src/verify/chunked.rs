//! Publications of records that do not fit into memory.

use bosket_io::{BatchSize, Whereabouts};
use bosket_model::policy::Role;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::{Claim, names};

use super::{Check, Verified, form};
use crate::anonymize::verified;
use crate::chunked;
use crate::classes::is_by_class;

/// How the publication is to be read in batches; none if it is read as a whole.
pub(super) fn wanted(check: &Check<'_>) -> Result<Option<BatchSize>> {
    let place = Whereabouts::given(check.file, check.publication(), true)?;
    let refused = || {
        refuse_unmergeable(check.claim).is_err()
            || check.request.against.is_some()
            || !check.request.with.is_empty()
    };
    if check.run.settings.chunk.is_none() && refused() {
        return Ok(None);
    }
    chunked::wanted_to_verify(check.file, &place, check.run)
}

pub(super) fn verify(check: &Check<'_>, size: BatchSize) -> Result<Verified> {
    let Check { request, file, claim, run, .. } = check;
    let refuse = |what: &str, help: &str| Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
    if request.against.is_some() {
        let what = "a publication cannot be compared with its input in chunks";
        return refuse(what, "leave --against out, or allow more memory, so that all records fit");
    }
    if !request.with.is_empty() {
        return Err(chunked::refuse_joint());
    }
    refuse_unmergeable(claim)?;
    let policy = &file.policy;
    let name = check.publication().display().to_string();
    let mut said = form::Said::default();
    let mut read = |take: &mut dyn FnMut(Dataset) -> Result<()>| {
        let place = Whereabouts::given(file, check.publication(), true)?;
        let form = place.batches(size, run.observer, &mut |opened| {
            run.warn(opened.warnings);
            said.batch(check, &opened.data)?;
            take(opened.data)
        });
        form.map(|_| ())
    };
    let memory = run.settings.memory();
    let (verification, survey) = verified(policy, claim, &name, &mut read, memory, run)?;
    let binding = names::bound(survey.frame.schema(), &policy.attributes, policy.undeclared, &name)?;
    if !binding.attributes.iter().flatten().any(|&d| binding.declared[d].role == Role::Quasi) {
        let what = "none of the policy's quasi attributes is in the file: there is nothing to verify";
        let what = Diagnostic::error(what).at(Place::source(name));
        let help = "check that policy and file belong together, and the paths";
        return Err(Failure::new(Fault::Policy, what.help(help)));
    }
    let caveats = claim.caveats(&binding);
    run.warn(caveats.iter().cloned());
    let found = Verified::judged(verification, caveats);
    form::of_batches(check, &found, size, said)?;
    Ok(found)
}

/// Refuses a claim that is not counted batch by batch.
fn refuse_unmergeable(claim: &Claim) -> Result<()> {
    if is_by_class(claim) { Ok(()) } else { bosket_verify::partition::refuse_unmergeable(claim) }
}
