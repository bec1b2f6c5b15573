//! Clusters with their quasi and sensitive values apart: `publish.anatomize = true` with models `k-anonymity` and
//! `l-diversity`.

mod anonymize;
mod verify;

use std::collections::BTreeMap;
use std::path::Path;

use bosket_io::PolicyFile;
use bosket_io::apart::{Dissection, PublishedReader};
use bosket_model::sides::Fates;
use bosket_model::{Diagnostic, Failure, Fault, Place};
use bosket_verify::sides::expected;
use bosket_verify::truth::Mapping;
use bosket_verify::{Claim, JudgedClusters};

use crate::commands::dissect;
use crate::talk::Talk;

pub(super) use anonymize::run;
pub(super) use verify::verify;

/// Refuses what could not be published or verified, before any work.
pub(super) fn check(file: &PolicyFile) -> Result<(), Failure> {
    Dissection::new(file, Fates::new)?;
    Claim::new(&file.policy).map(|_| ())
}

/// A publication as the verifier looks at it, if everything stands where it belongs.
pub(super) fn judged_clusters(file: &PolicyFile, at: &Path, talk: &Talk) -> Result<JudgedClusters, Failure> {
    let read = PublishedReader::new(file, expected)?.read_clusters(at, talk)?;
    let judged = JudgedClusters::new(&file.policy, read)?;
    judged.judged.refuse_misplaced(&at.display().to_string())?;
    Ok(judged)
}

/// Pairs of input and published records from a mapping that says groups: the people of a group look alike, so that it does
/// not matter who of them is whose.
pub(super) fn pairs(
    mapping: &Mapping,
    inputs: usize,
    published: &JudgedClusters,
) -> Result<Vec<(u32, u32)>, Failure> {
    let group_of = dissect::groups(mapping)?;
    dissect::refuse_unknown(mapping, inputs)?;
    let mut people: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (person, &group) in published.groups.iter().enumerate().rev() {
        people.entry(&published.names[group as usize]).or_default().push(person as u32);
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
