//! `bosket verify` of a dissected publication.

use std::path::Path;

use bosket_io::apart::PublishedReader;
use bosket_io::{PolicyFile, Whereabouts, hierarchies};
use bosket_model::{Diagnostic, Failure, Fault, Place};
use bosket_verify::sides::expected;
use bosket_verify::truth::{Mapping, Untruth, compare_dissected};
use bosket_verify::{Apart, Claim, JudgedSides, Witness, verify_apart};
use serde_json::json;

use super::{declared, degrees_json, degrees_told};
use crate::Outcome;
use crate::args::Verify;
use crate::commands::certified::Checked;
use crate::commands::verify::read_mapping;
use crate::output::{plural, print, print_json};
use crate::talk::Talk;

/// Values shown at most.
const SHOWN: usize = 20;

pub fn verify(
    args: &Verify,
    file: &PolicyFile,
    claim: &Claim,
    apart: &Apart,
    mut certified: Option<&mut Checked>,
    talk: &Talk,
) -> Result<Outcome, Failure> {
    let policy = &file.policy;
    let name = args.publication.display().to_string();
    let reader = PublishedReader::new(file, expected)?;
    let found = JudgedSides::new(policy, &reader.read_published(&args.publication, talk)?)?;
    found.refuse_misplaced(&name)?;
    let mut warnings = claim.caveats(&declared(file)?);
    if let Some(certified) = &mut certified {
        certified.limits(policy, claim, &warnings);
    }
    let left = &found.left;
    if !left.is_empty() {
        let what = format!("the policy removes {}, but the file still has it", left.join(", "));
        let warning = Diagnostic::warning(what).at(Place::source(&name));
        warnings.push(warning.help("the claim says nothing about such attributes; do not publish this file"));
    }
    talk.diagnostics(&warnings);
    let hierarchies = hierarchies::of_sensitive(file, &found.dissected.sensitive, &name, args.show_values)?;
    let verdict = verify_apart(&found.dissected, apart, &hierarchies, talk)?;
    let people: u64 = found.dissected.people.iter().map(|&p| u64::from(p)).sum();
    let groups = found.dissected.people.len();
    let untruths = match &args.against {
        Some(input) => Some(against(args, file, &reader, input, talk)?),
        None => None,
    };
    if let Some(certified) = &mut certified {
        certified.records(people);
    }
    let as_certified = certified.as_ref().is_none_or(|c| c.holds());
    let holds = verdict.witness.is_none() && untruths.as_ref().is_none_or(Vec::is_empty) && as_certified;
    let degrees = || reader.expected().sensitive.iter().zip(verdict.distances.iter().copied());
    if args.json {
        let mut result = json!({
            "holds": holds,
            "claim": claim.to_json(),
            "witness": verdict.witness.as_ref().map(Witness::to_json),
            "records": people,
            "groups": groups,
            "degrees": degrees().map(|(s, d)| degrees_json(&s.path, d)).collect::<Vec<_>>(),
            "warnings": warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        if let Some(untruths) = &untruths {
            let problem = |u: &Untruth| json!({"message": u.message, "path": u.path, "records": []});
            result["truth"] = json!({
                "holds": untruths.is_empty(),
                "problems": untruths.iter().map(problem).collect::<Vec<_>>(),
            });
        }
        if let Some(certified) = &certified {
            result["certificate"] = certified.to_json();
        }
        print_json(&result)?;
    } else {
        let mut out = match &verdict.witness {
            None => format!(
                "HOLDS: {}.\n       Checked for all of {} with {}.\n",
                claim.sentence(),
                plural(groups, "group"),
                plural(people as usize, "record")
            ),
            Some(witness) => format!("VIOLATED: {}.\n\n{}", claim.sentence(), told(witness)),
        };
        for told in degrees().filter_map(|(s, d)| degrees_told(&s.path, d)) {
            out.push_str(&format!("{told}\n"));
        }
        match untruths.as_deref() {
            None => {}
            Some([]) => out.push_str("TRUE: the publication says nothing that the input does not.\n"),
            Some(untruths) => {
                out.push_str("NOT TRUE to the input:\n");
                for untruth in untruths {
                    let path = untruth.path.as_ref().map_or(String::new(), |p| format!("{p}: "));
                    out.push_str(&format!("  {path}{}\n", untruth.message));
                }
            }
        }
        out.push_str(&certified.map_or(String::new(), |c| c.told()));
        print(&out)?;
    }
    Ok(if holds { Outcome::Done } else { Outcome::Violated })
}

/// What the publication says and the input does not. Everything published must be there, as often; what is not published
/// was suppressed. With a mapping, each group must have the people and values that it says, no more and no fewer.
fn against(
    args: &Verify,
    file: &PolicyFile,
    reader: &PublishedReader<'_>,
    input: &Path,
    talk: &Talk,
) -> Result<Vec<Untruth>, Failure> {
    let mapping = args.mapping.as_deref().map(read_mapping).transpose()?;
    let groups = mapping.as_ref().map(groups).transpose()?;
    let published = reader.published_sides(&args.publication, mapping.is_some(), talk)?;
    let place = Whereabouts::given(file, input, false)?;
    let private = reader.private_sides(place, groups.as_deref(), talk)?;
    talk.quiet();
    if let Some(mapping) = &mapping {
        refuse_unknown(mapping, private.records)?;
    }
    let paths: Vec<String> = reader.expected().sensitive.iter().map(|s| s.path.clone()).collect();
    compare_dissected(&published, &private, &paths, mapping.is_some(), talk)
}

/// Per input record its group, from 1; 0 for none.
pub fn groups(mapping: &Mapping) -> Result<Vec<u32>, Failure> {
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
pub fn refuse_unknown(mapping: &Mapping, records: usize) -> Result<(), Failure> {
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

fn told(witness: &Witness) -> String {
    let group = witness.group.map_or(0, |g| g + 1);
    let people = plural(witness.support, "person").replace("persons", "people");
    let mut out = match (&witness.sensitive, witness.distance) {
        (Some(s), _) => format!(
            "Witness: {} = {} has a share of {:.1} % in group {group} of {people}.\n",
            s.path,
            s.value,
            s.share * 100.0
        ),
        (None, Some(distance)) => format!(
            "Witness: in group {group} of {people} a value is only {distance} edges from what these have in common:\n"
        ),
        (None, None) => format!("Witness: group {group} has only {people}.\n"),
    };
    for value in witness.values.iter().take(SHOWN) {
        out.push_str(&format!("  {}  {}\n", value.path, value.value));
    }
    if witness.values.len() > SHOWN {
        out.push_str(&format!("  and {} more\n", witness.values.len() - SHOWN));
    }
    out
}
