//! The private mapping: which input record went to which published record or group.

use std::collections::BTreeMap;
use std::path::Path;

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::JudgedClusters;
use bosket_verify::truth::{Mapping, Pair};

use bosket_model::words::plural;

/// Reads `input_record,published_record`, numbered from 1.
pub(crate) fn read_mapping(path: &Path) -> Result<Mapping> {
    let text = bosket_io::read_long_text(path)?;
    let name = path.display().to_string();
    let mut pairs = Vec::new();
    let mut problems = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() || (i == 0 && line.trim() == "input_record,published_record") {
            continue;
        }
        let at = i as u64 + 1;
        let number = |text: &str| text.trim().parse::<u32>().ok().and_then(|n| n.checked_sub(1));
        let pair = line.split_once(',').and_then(|(a, b)| Some((number(a)?, number(b)?)));
        match pair {
            Some((input, published)) => pairs.push(Pair { line: at, input, published }),
            None => problems.push(
                Diagnostic::error("not a pair of record numbers")
                    .at(Place::source(&name).line(at))
                    .help("each line is `input_record,published_record`, numbered from 1"),
            ),
        }
    }
    if problems.is_empty() { Ok(Mapping { name, pairs }) } else { Err(Failure::all(Fault::Data, problems)) }
}

/// Per input record its group, from 1; 0 for none.
pub(super) fn groups(mapping: &Mapping) -> Result<Vec<u32>> {
    let records = mapping.pairs.iter().map(|p| p.input as usize + 1).max().unwrap_or(0);
    let mut groups = vec![0; records];
    let mut problems = Vec::new();
    for pair in &mapping.pairs {
        if std::mem::replace(&mut groups[pair.input as usize], pair.published + 1) != 0 {
            let what = format!("record {} is mapped a second time", pair.input + 1);
            problems.push(Diagnostic::error(what).at(Place::source(&mapping.name).line(pair.line)));
        }
    }
    if problems.is_empty() { Ok(groups) } else { Err(Failure::all(Fault::Data, problems)) }
}

/// Refuses a mapping of records that the input does not have.
pub(super) fn refuse_unknown(mapping: &Mapping, records: usize) -> Result<()> {
    let unknown = mapping.pairs.iter().filter(|p| p.input as usize >= records);
    let problems: Vec<Diagnostic> = unknown
        .map(|pair| {
            let what = format!(
                "record {} is mapped, but the input has {}",
                pair.input + 1,
                plural(records, "record")
            );
            let what = Diagnostic::error(what).at(Place::source(&mapping.name).line(pair.line));
            what.help("check that mapping and input belong together")
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Data, problems)) }
}

/// Pairs of input and published records from a mapping that says groups: the people of a group look alike, so that it does
/// not matter who of them is whose.
pub(crate) fn pairs_of_groups(
    mapping: &Mapping,
    inputs: usize,
    published: &JudgedClusters,
) -> Result<Vec<(u32, u32)>> {
    let group_of = groups(mapping)?;
    refuse_unknown(mapping, inputs)?;
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
