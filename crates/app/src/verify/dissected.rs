//! Dissected publications.

use std::path::Path;

use bosket_io::apart::{Dissection, Found};
use bosket_io::{PolicyFile, hierarchies};
use bosket_model::Result;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_verify::sides::JudgedSides;
use bosket_verify::truth::{Untruth, compare_dissected};
use bosket_verify::{Claim, Verification};

use super::mapping::{groups, read_mapping, refuse_unknown};
use super::{Check, Verified, declared};

pub(super) fn verify(check: &Check<'_>) -> Result<Verified> {
    let Check { request, file, claim, run } = check;
    let name = check.publication().display().to_string();
    let dissection = Dissection::new(file)?;
    let found = dissection.read_published(check.publication(), run.observer)?;
    let caveats = claim.caveats(&declared(file)?);
    run.warn(caveats.iter().cloned());
    let sensitive = &found.dissected.sensitive;
    let hierarchies = hierarchies::of_sensitive(file, sensitive, &name, run.settings.show_values)?;
    let verification = judge(file, &found, Some(claim), &hierarchies, run.observer)?;
    let untruths = request.against.as_deref().map(|input| against(check, &dissection, input)).transpose()?;
    Ok(Verified { verification: Some(verification), caveats, untruths, ..Verified::default() })
}

/// What the verifier says about both sides.
pub(crate) fn judge(
    file: &PolicyFile,
    found: &Found,
    claim: Option<&Claim>,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Verification> {
    let left = found.gone.iter().zip(&file.policy.attributes).filter(|(gone, _)| **gone);
    let judged = JudgedSides {
        dissected: found.dissected.clone(),
        left: left.map(|(_, attribute)| attribute.path.clone()).collect(),
        misplaced: Vec::new(),
    };
    Verification::of_dissected(&judged, claim, hierarchies, observer)
}

/// What the publication says and the input does not. Everything published must be there, as often; what is not published
/// was suppressed. With a mapping, each group must have the people and values that it says, no more and no fewer.
fn against(check: &Check<'_>, dissection: &Dissection<'_>, input: &Path) -> Result<Vec<Untruth>> {
    let Check { request, run, .. } = check;
    let mapping = request.mapping.as_deref().map(read_mapping).transpose()?;
    let groups = mapping.as_ref().map(groups).transpose()?;
    let published = dissection.published_sides(check.publication(), mapping.is_some(), run.observer)?;
    let private = dissection.private_sides(check.private(input)?, groups.as_deref(), run.observer)?;
    if let Some(mapping) = &mapping {
        refuse_unknown(mapping, private.records)?;
    }
    let paths: Vec<String> = dissection.fates().sensitive.iter().map(|s| s.path.clone()).collect();
    compare_dissected(&published, &private, &paths, mapping.is_some(), run.observer)
}
