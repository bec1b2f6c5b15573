//! Publications of clusters whose quasi and sensitive values are apart.

use std::path::Path;

use bosket_io::apart::{Dissection, Published};
use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_verify::sides::JudgedSides;
use bosket_verify::truth::{Grouped, Side, Untruth, compare_anatomized};
use bosket_verify::{Claim, Verification};

use super::mapping::{groups, read_mapping, refuse_unknown};
use super::{Check, Verified, sides};
use crate::load;

pub(super) fn verify(check: &Check<'_>) -> Result<Verified> {
    let Check { request, file, claim, run } = check;
    let published = Dissection::new(file)?.read_clusters(check.publication(), run.observer)?;
    let caveats = claim.caveats(&published.binding);
    run.warn(caveats.iter().cloned());
    let verification = judge(&published, claim, run.observer)?;
    let untruths = request.against.as_deref().map(|input| against(check, &published, input)).transpose()?;
    let groups = published.groups;
    Ok(Verified { verification: Some(verification), caveats, untruths, groups, ..Verified::default() })
}

/// What the verifier says about both sides.
pub(crate) fn judge(published: &Published, claim: &Claim, observer: &dyn Observer) -> Result<Verification> {
    let judged = JudgedSides {
        dissected: published.found.dissected.clone(),
        left: published.left.clone(),
        misplaced: Vec::new(),
    };
    Verification::of_anatomized(&sides(published), &judged, claim, observer)
}

fn against(check: &Check<'_>, published: &Published, input: &Path) -> Result<Vec<Untruth>> {
    let Check { request, file, run, .. } = check;
    let place = check.private(input)?;
    let name = place.name();
    let private = load::input(place, &file.policy, run)?;
    let hierarchies = load::hierarchies(file, &private, &name, false, run)?;
    let mapping = request.mapping.as_deref().map(read_mapping).transpose()?;
    let groups = mapping.as_ref().map(groups).transpose()?;
    if let Some(mapping) = &mapping {
        refuse_unknown(mapping, private.data.len())?;
    }
    let grouped = Grouped {
        published: sides(published),
        input: Side { data: &private.data, binding: &private.binding },
        hierarchies: &hierarchies,
        mapping: groups.as_deref(),
    };
    let left = published.left.iter().map(|path| Untruth {
        message: "the policy removes this attribute, but it is published".to_owned(),
        path: Some(path.clone()),
        records: Vec::new(),
    });
    Ok(left.chain(compare_anatomized(&grouped, run.observer)?).collect())
}
