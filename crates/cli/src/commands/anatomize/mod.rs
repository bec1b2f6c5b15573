//! Clusters with their quasi and sensitive values apart: `publish.anatomize = true` with models `k-anonymity` and
//! `l-diversity`.

mod anonymize;
mod verify;

use std::collections::BTreeMap;

use bosket_io::PolicyFile;
use bosket_io::apart::{Dissection, Published};
use bosket_model::{Diagnostic, Failure, Fault, Place};
use bosket_verify::truth::Mapping;
use bosket_verify::{Claim, TwoSides};

use crate::commands::dissect;

pub(super) use anonymize::run;
pub(super) use verify::verify;

/// Refuses what could not be published or verified, before any work.
pub(super) fn check(file: &PolicyFile) -> Result<(), Failure> {
    Dissection::new(file)?;
    Claim::new(&file.policy).map(|_| ())
}

/// A publication as the verifier looks at it.
pub(super) fn sides(published: &Published) -> TwoSides<'_> {
    TwoSides {
        people: &published.people,
        binding: &published.binding,
        groups: &published.groups,
        names: &published.found.names,
        sensitive: &published.found.dissected.sensitive,
    }
}

/// Pairs of input and published records from a mapping that says groups: the people of a group look alike, so that it does
/// not matter who of them is whose.
pub(super) fn pairs(
    mapping: &Mapping,
    inputs: usize,
    published: &Published,
) -> Result<Vec<(u32, u32)>, Failure> {
    let group_of = dissect::groups(mapping)?;
    dissect::refuse_unknown(mapping, inputs)?;
    let mut people: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (person, &group) in published.groups.iter().enumerate().rev() {
        people.entry(&published.found.names[group as usize]).or_default().push(person as u32);
    }
    let mut pairs = Vec::new();
    for (record, group) in group_of.iter().enumerate().filter(|(_, group)| **group > 0) {
        let own = people.get_mut(group.to_string().as_str()).and_then(Vec::pop);
        pairs.push((record as u32, own.ok_or_else(|| unfit(mapping))?));
    }
    if people.values().any(|left| !left.is_empty()) { Err(unfit(mapping)) } else { Ok(pairs) }
}

fn unfit(mapping: &Mapping) -> Failure {
    let what = "the mapping does not put as many records into each group as the publication has there";
    let what = Diagnostic::error(what).at(Place::source(&mapping.name));
    Failure::new(Fault::Data, what.help("use the mapping that was written with this publication"))
}
