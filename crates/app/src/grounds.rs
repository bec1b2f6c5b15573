//! Hierarchies in which distances of sensitive values are measured (t-closeness). They do not depend on the values of the
//! data, so whoever verifies has the same.

use bosket_io::{PolicyFile, hierarchies};
use bosket_model::Result;
use bosket_model::hierarchy::Hierarchy;
use bosket_verify::Claim;

/// Per declared attribute its hierarchy, where the claim measures distances in it.
pub(crate) fn hierarchies(claim: &Claim, file: &PolicyFile) -> Result<Vec<Option<Hierarchy>>> {
    let Some(close) = claim.close() else { return Ok(Vec::new()) };
    let attributes = file.policy.attributes.iter().enumerate();
    attributes
        .map(|(declared, attribute)| {
            let spec = attribute.hierarchy.as_ref().filter(|_| close.needs_hierarchy(declared));
            spec.map(|spec| hierarchies::one(spec, &file.folder, &[])).transpose()
        })
        .collect()
}
