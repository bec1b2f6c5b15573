//! Publications of clusters whose quasi and sensitive values are apart.

use std::path::Path;

use bosket_model::Result;
use bosket_verify::truth::{Grouped, Side, Untruth, compare_anatomized};
use bosket_verify::{JudgedClusters, Verification};

use super::mapping::{groups, read_mapping, refuse_unknown};
use super::{Check, Verified, form, judged_clusters};
use crate::grounds;

pub(super) fn verify(check: &Check<'_>) -> Result<Verified> {
    let Check { request, file, claim, run, .. } = check;
    let published = judged_clusters(file, check.publication(), run.observer)?;
    let caveats = claim.caveats(&published.binding);
    run.warn(caveats.iter().cloned());
    let hierarchies = grounds::hierarchies(claim, file)?;
    let verification = Verification::of_anatomized(
        &published.sides(),
        &published.judged,
        claim,
        &hierarchies,
        run.observer,
    )?;
    let untruths = request.against.as_deref().map(|input| against(check, &published, input)).transpose()?;
    let groups = published.groups;
    let found = Verified { untruths, groups, ..Verified::judged(verification, caveats) };
    form::of_sides(check, &found)?;
    Ok(found)
}

fn against(check: &Check<'_>, published: &JudgedClusters, input: &Path) -> Result<Vec<Untruth>> {
    let Check { request, run, .. } = check;
    let (private, hierarchies) = check.private(input)?;
    let mapping = request.mapping.as_deref().map(read_mapping).transpose()?;
    let groups = mapping.as_ref().map(groups).transpose()?;
    if let Some(mapping) = &mapping {
        refuse_unknown(mapping, private.data.len())?;
    }
    let grouped = Grouped {
        published: published.sides(),
        input: Side { data: &private.data, binding: &private.binding },
        hierarchies: &hierarchies,
        mapping: groups.as_deref(),
    };
    let left = published.judged.left.iter().map(|path| Untruth {
        message: "the policy removes this attribute, but it is published".to_owned(),
        path: Some(path.clone()),
        records: Vec::new(),
    });
    Ok(left.chain(compare_anatomized(&grouped, run.observer)?).collect())
}
