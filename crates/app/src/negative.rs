//! Hierarchies for the verification of claims that count absent values, or list sensitive ones by their labels.
//!
//! Whoever verifies has the publication and the policy, not the data. A hierarchy that the policy gives as a file or
//! spells out is the same for both; one that is built over the values of the data is not, since the values are gone.

use bosket_io::{PolicyFile, hierarchies};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, HierarchySpec, ROOT_LABEL, TreeBuilder};
use bosket_model::policy::{AttributePolicy, Negative, Role};
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, Result};
use bosket_verify::Claim;

use crate::grounds;

/// Per declared attribute its hierarchy, as far as it can be had and a claim needs it. What is missing is refused when
/// the claim is verified.
pub(crate) fn hierarchies(
    claim: &Claim,
    file: &PolicyFile,
    published: &Dataset,
    binding: &Binding,
) -> Result<Vec<Option<Hierarchy>>> {
    if claim.close().is_some() {
        return grounds::hierarchies(claim, file);
    }
    let mut listed: Vec<&str> = Vec::new();
    for negative in claim.negative() {
        match negative {
            Negative::Value(value) => listed.push(value),
            Negative::Pair(a, b) => listed.extend([a.as_str(), b]),
        }
    }
    let sensitive = claim.sensitive();
    if listed.is_empty() && sensitive.is_empty() {
        return Ok(Vec::new());
    }
    listed.sort_unstable();
    listed.dedup();
    let said: Vec<&str> = listed.iter().copied().chain(sensitive.iter().map(String::as_str)).collect();
    let mut problems = Vec::new();
    let mut all = Vec::new();
    for (declared, attribute) in file.policy.attributes.iter().enumerate() {
        let spec = attribute.hierarchy.as_ref().filter(|_| attribute.role == Role::Quasi);
        let Some(spec) = spec else {
            all.push(None);
            continue;
        };
        let columns: Vec<AttributeId> = (published.schema().attributes())
            .filter(|(id, _)| binding.attributes[id.index()] == Some(declared))
            .map(|(id, _)| id)
            .collect();
        let labels = hierarchies::domain(published, &columns);
        let built = matches!(spec, HierarchySpec::Build(build) if build.needs_domain());
        if built && listed.is_empty() {
            // What is published as it is listed means itself; anything else may stand for values that nobody can tell.
            if sensitive.iter().any(|label| !labels.contains(&label.as_str())) {
                problems.push(unknown_leaves(attribute));
            }
            all.push(None);
            continue;
        }
        match of_attribute(spec, file, (&listed, &said), &labels) {
            Ok(Some(hierarchy)) => all.push(Some(hierarchy)),
            Ok(None) => problems.push(
                Diagnostic::error(format!(
                    "the claim counts absent values, but the hierarchy of `{}` is built over values of the data",
                    attribute.path
                ))
                .at(attribute.place.clone())
                .help("name it as a file: `bosket hierarchy build` writes one from the data; or take `negative` out"),
            ),
            Err(failure) => problems.extend(failure.diagnostics),
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(Failure::all(Fault::Policy, problems)) }
}

fn unknown_leaves(attribute: &AttributePolicy) -> Diagnostic {
    Diagnostic::error(format!(
        "`privacy.sensitive` lists what is not published, and the hierarchy of `{}` is built over values of the data: \
         whether a label means others cannot be known",
        attribute.path
    ))
    .at(attribute.place.clone())
    .help("name it as a file: `bosket hierarchy build` writes one from the data; or list values that are published")
}

/// The hierarchy of an attribute that is published with `labels`; none if it cannot be had without the data. `listed` is
/// what counts as knowledge by its absence, `said` all that the policy lists.
fn of_attribute(
    spec: &HierarchySpec,
    file: &PolicyFile,
    (listed, said): (&[&str], &[&str]),
    labels: &[&str],
) -> Result<Option<Hierarchy>> {
    let built = matches!(spec, HierarchySpec::Build(build) if build.needs_domain());
    let hierarchy = hierarchies::one(spec, &file.folder, if built { listed } else { &[] })?;
    if !built {
        // Where an inner node occurs in the data, its own leaf may be published or listed.
        let stems = labels.iter().chain(said).filter_map(|label| label.strip_suffix(" (unspecified)"));
        return Ok(Some(hierarchy.with_unspecified(stems)));
    }
    if listed.iter().any(|value| hierarchy.leaf(value).is_some()) && !labels.is_empty() {
        return Ok(None);
    }
    // None of its values can be listed, so that any hierarchy says the same: nothing.
    let mut plain = TreeBuilder::new();
    for label in labels.iter().filter(|label| **label != ROOT_LABEL) {
        plain.place(TreeBuilder::ROOT, label);
    }
    Ok(Some(plain.finish()))
}
