//! Dissected publications.

use std::path::Path;

use bosket_io::apart::PublishedReader;
use bosket_io::{Whereabouts, hierarchies};
use bosket_model::Result;
use bosket_verify::Verification;
use bosket_verify::sides::expected;
use bosket_verify::truth::{Untruth, compare_dissected};

use super::mapping::{groups, read_mapping, refuse_unknown};
use super::{Check, Verified, declared, form, judged_sides};

pub(super) fn verify(check: &Check<'_>) -> Result<Verified> {
    let Check { request, file, claim, run, .. } = check;
    let name = check.publication().display().to_string();
    let found = judged_sides(file, check.publication(), run.observer)?;
    let caveats = claim.caveats(&declared(file)?);
    run.warn(caveats.iter().cloned());
    let sensitive = &found.dissected.sensitive;
    let (hierarchies, _) = hierarchies::of_sensitive(file, sensitive, &name, run.settings.show_values)?;
    let verification = Verification::of_dissected(&found, Some(claim), &hierarchies, run.observer)?;
    let untruths = request.against.as_deref().map(|input| against(check, input)).transpose()?;
    let found = Verified { untruths, ..Verified::judged(verification, caveats) };
    form::of_sides(check, &found)?;
    Ok(found)
}

/// What the publication says and the input does not. Everything published must be there, as often; what is not published
/// was suppressed. With a mapping, each group must have the people and values that it says, no more and no fewer.
fn against(check: &Check<'_>, input: &Path) -> Result<Vec<Untruth>> {
    let Check { request, file, run, .. } = check;
    let reader = PublishedReader::new(file, expected)?;
    let mapping = request.mapping.as_deref().map(read_mapping).transpose()?;
    let groups = mapping.as_ref().map(groups).transpose()?;
    let published = reader.published_sides(check.publication(), mapping.is_some(), run.observer)?;
    let private =
        reader.private_sides(Whereabouts::given(file, input, false)?, groups.as_deref(), run.observer)?;
    if let Some(mapping) = &mapping {
        refuse_unknown(mapping, private.records)?;
    }
    let paths: Vec<String> = reader.expected().sensitive.iter().map(|s| s.path.clone()).collect();
    compare_dissected(&published, &private, &paths, mapping.is_some(), run.observer)
}
