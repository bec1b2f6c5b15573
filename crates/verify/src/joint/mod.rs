//! Several releases about the same people, looked at together.
//!
//! Each may keep its promise, and both together break it: one shows the year of birth and hides the town, the other the
//! reverse. The safe reading is the worst case: whoever holds them can tell which records belong to one person. Then they
//! are one publication in which every place carries the more specific of its labels (the meet in the hierarchy), with the
//! relations that any of them shows. This module builds those records by itself, from the releases alone, and the claim is
//! checked on them as on any publication; `combine` says what a place is where people have several rows.

mod combine;
mod labels;
mod tree;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{AttributePolicy, Role, Rows as PublishedRows, Undeclared};
use bosket_model::words::{count, plural};
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result};

use crate::claim::Claim;
use crate::names;
use crate::verification::Verification;
use crate::witness::Witness;
use combine::{Clash, Joiner, Rows};
use tree::{Common, Node};

/// One of the releases.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// Its records.
    pub data: &'a Dataset,
    /// Their place in the policy.
    pub binding: &'a Binding,
    /// Per record whose it is; the same number in another release is the same person.
    pub people: &'a [u32],
    /// Per vertex the one of the private input that it stems from, where that is known. The same number in another release is
    /// the same place.
    pub origins: Option<&'a [Option<usize>]>,
}

/// What releases are looked at by.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The policy's attributes.
    pub attributes: &'a [AttributePolicy],
    /// What happens to attributes that it does not name.
    pub undeclared: Undeclared,
    /// What is promised.
    pub claim: &'a Claim,
    /// Per declared attribute, with a node for every label. Without one, labels are compared by their texts, and different
    /// ones are refused.
    pub hierarchies: &'a [Option<Hierarchy>],
}

/// The joined records.
#[derive(Debug)]
pub struct Joined {
    /// One record per person who is in any release.
    pub data: Dataset,
    /// Their place in the policy.
    pub binding: Binding,
    /// Per record the number of the person.
    pub people: Vec<u32>,
    /// Per record and release the record there, from 0; none where the release does not have the person.
    pub records: Vec<Vec<Option<u32>>>,
    /// People whose rows could be put together in ways that look different.
    pub unclear: usize,
}

/// What was found out about several releases together.
#[derive(Debug)]
pub struct Joint {
    /// What messages call the releases.
    pub releases: Vec<String>,
    /// Whether the joined records keep the claim.
    pub verification: Verification,
    /// Per value of the witness the releases that show it.
    pub sources: Vec<Vec<usize>>,
    /// Per record of the witness and release its number there, from 0.
    pub records: Vec<Vec<Option<u32>>>,
    /// People who are in more than one release.
    pub linked: usize,
    /// People whose rows could be put together in ways that look different: they only look like those of whom all releases
    /// show the same.
    pub unclear: usize,
}

impl Joint {
    /// Whether the promise is kept by all of them together.
    pub fn holds(&self) -> bool {
        self.verification.holds()
    }

    /// The JSON form. Holds no value but those of the witness, which are published.
    pub fn to_json(&self) -> Json {
        let mut found = self.verification.to_json();
        found["releases"] = json!(self.releases);
        found["linked"] = json!(self.linked);
        found["unclear"] = json!(self.unclear);
        let name = |&at: &usize| self.releases[at].as_str();
        if let Some(values) = found["witness"]["values"].as_array_mut() {
            for (value, from) in values.iter_mut().zip(&self.sources) {
                value["from"] = from.iter().map(name).collect();
            }
        }
        if found["witness"].is_object() {
            let numbers = |of: &Vec<Option<u32>>| -> Vec<Option<u32>> {
                of.iter().map(|record| record.map(|record| record + 1)).collect()
            };
            found["witness"]["records"] = self.records.iter().map(numbers).collect::<Vec<_>>().into();
        }
        found
    }
}

/// Refuses claims of which nobody could say what they mean for several releases.
pub fn refuse_unfit(claim: &Claim) -> Result<()> {
    let what = match claim {
        Claim::Apart(_) | Claim::Anatomized(_) => {
            "a publication with two sides: what of a person stands on the other side is hidden by groups, and two releases \
             with different groups tell more than both sides of one"
        }
        Claim::Close { .. } => {
            "t-closeness and β-likeness: each release is measured against its own records, and two of them have no common whole"
        }
        Claim::Km(claim) if claim.multiset => {
            "multisets: rows of two releases that look alike are counted as one"
        }
        Claim::Kmn(claim) if claim.guard => {
            "`guard`: relations that can be put together again across releases"
        }
        _ if !claim.negative().is_empty() => "`negative`: what a person does not have, by two sets of labels",
        Claim::Km(_) | Claim::Kmn(_) | Claim::KAnonymity { .. } | Claim::LDiversity { .. } => return Ok(()),
    };
    Err(refuse(format!("several releases cannot be checked together for {what}"), NOT_JOINT))
}

const NOT_JOINT: &str = "nothing was found out: treat the releases as if they broke the promise together";

/// The policy's attributes as whoever holds all releases sees them: what it drops and another release shows is known like a quasi
/// value, whatever it was there. What it calls identifying, or a key, is not.
pub fn as_shown<'d>(
    attributes: &[AttributePolicy],
    undeclared: Undeclared,
    releases: impl Iterator<Item = (&'d Dataset, &'d Binding)>,
) -> Vec<AttributePolicy> {
    let mut all = attributes.to_vec();
    for (data, binding) in releases {
        let shown = data.schema().attributes().filter(|(id, _)| !data.dictionary(*id).is_empty());
        for (id, attribute) in shown {
            match binding.attributes[id.index()] {
                Some(declared) if attributes.get(declared).is_some_and(|a| a.role == Role::Drop) => {
                    all[declared].role = Role::Quasi;
                }
                None if undeclared == Undeclared::Drop && all.iter().all(|a| a.path != attribute.path) => {
                    all.extend(attributes.first().map(|like| AttributePolicy {
                        path: attribute.path.clone(),
                        role: Role::Quasi,
                        why: None,
                        hierarchy: None,
                        follows: None,
                        shared: false,
                        acknowledge: false,
                        buckets: None,
                        shift: None,
                        weight: None,
                        structure: None,
                        ..like.clone()
                    }));
                }
                _ => {}
            }
        }
    }
    all
}

/// Lays the releases over each other, person by person, and checks the claim on what comes out.
pub fn verify_jointly(
    parts: &[Part<'_>],
    reading: &Reading<'_>,
    memory: usize,
    observer: &dyn Observer,
) -> Result<Joint> {
    let joined = join(parts, reading, observer)?;
    let Reading { claim, hierarchies, .. } = *reading;
    let Joined { data, binding, .. } = &joined;
    let verification = Verification::of_records(data, binding, claim, hierarchies, memory, observer)?;
    let witness = verification.witness();
    let records: Vec<Vec<Option<u32>>> = witness.map_or_else(Vec::new, |witness| {
        witness.records.iter().map(|&record| joined.records[record as usize].clone()).collect()
    });
    let linked = joined.records.iter().filter(|of| of.iter().flatten().count() > 1).count();
    Ok(Joint {
        releases: parts.iter().map(|part| part.name.to_owned()).collect(),
        sources: witness.map_or_else(Vec::new, |witness| sources(parts, witness, &records)),
        records,
        linked,
        unclear: joined.unclear,
        verification,
    })
}

/// Lays the releases over each other, person by person.
pub fn join(parts: &[Part<'_>], reading: &Reading<'_>, observer: &dyn Observer) -> Result<Joined> {
    refuse_unfit(reading.claim)?;
    let Some(first) = parts.first() else {
        return Err(Failure::defect("there is no release to look at"));
    };
    parts.iter().try_for_each(refuse_moved)?;
    let mut common = Common::new(first.data, first.binding, reading.hierarchies);
    let united = matches!(reading.claim, Claim::Kmn(claim) if claim.rows == PublishedRows::United);
    let mut all: Vec<Vec<Node>> = Vec::new();
    for part in parts {
        let nodes = common.read(part, observer)?;
        all.push(if united { nodes.into_iter().map(Node::parted).collect() } else { nodes });
    }
    let mut people: BTreeMap<u32, Vec<Option<u32>>> = BTreeMap::new();
    for (at, part) in parts.iter().enumerate() {
        for (record, &person) in part.people.iter().enumerate() {
            people.entry(person).or_insert_with(|| vec![None; parts.len()])[at] = Some(record as u32);
        }
    }
    let rows = match reading.claim {
        Claim::KAnonymity { .. } | Claim::LDiversity { .. } => Rows::Matched,
        _ => Rows::Possible,
    };
    let classes = common.builder.schema().classes().len();
    let shows = |nodes: &[Node]| {
        let mut shown = vec![false; classes];
        nodes.iter().for_each(|node| node.mark(&mut shown));
        shown
    };
    let (mut unclear, mut clashes) = (0, (0, 0));
    let mut whole: Vec<Option<Node>> = vec![None; people.len()];
    let mut before = vec![false; classes];
    for (at, nodes) in all.iter().enumerate() {
        let shown = shows(nodes);
        let both: Vec<(bool, bool)> = before.iter().copied().zip(shown.iter().copied()).collect();
        let joiner = Joiner::new(&common, rows, both);
        for (whole, records) in whole.iter_mut().zip(people.values()) {
            observer.go_on()?;
            let Some(node) = records[at].map(|record| &nodes[record as usize]) else { continue };
            let Some(so_far) = whole else {
                *whole = Some(node.clone());
                continue;
            };
            match joiner.records(so_far, node) {
                Ok((joined, side_by_side)) => {
                    unclear += usize::from(side_by_side);
                    *whole = Some(joined);
                }
                Err(Clash::Contradiction) => clashes.0 += 1,
                Err(Clash::TooMany) => clashes.1 += 1,
            }
        }
        before.iter_mut().zip(shown).for_each(|(before, shown)| *before |= shown);
    }
    let joined: Vec<Node> = whole.into_iter().flatten().collect();
    refuse_unknown(&common, reading)?;
    refuse_clashes(clashes, parts)?;
    for record in &joined {
        observer.go_on()?;
        common
            .write(record)
            .map_err(|_| refuse("the joined records are too many to be numbered", NOT_JOINT))?;
    }
    let data = common.finish();
    let binding = names::bound(data.schema(), reading.attributes, reading.undeclared, "the joined records")?;
    let (people, records) = people.into_iter().unzip();
    Ok(Joined { data, binding, people, records, unclear })
}

/// Per value of a witness the releases that show it of the people who fit; if none shows it of all, those that do of any.
fn sources(parts: &[Part<'_>], witness: &Witness, records: &[Vec<Option<u32>>]) -> Vec<Vec<usize>> {
    let shows = |part: &Part<'_>, record: u32, path: &str, value: &str| {
        let Part { data, binding, .. } = *part;
        let is_path = |id: AttributeId| {
            let declared = binding.attributes[id.index()].map(|d| binding.declared[d].path.as_str());
            declared == Some(path) || data.schema().attribute(id).path == path
        };
        data.vertices(record as usize).any(|vertex| {
            let own = data.schema().class(data.class(vertex)).attributes.iter().filter(|&&id| is_path(id));
            own.copied().any(|id| {
                let code = data.value(vertex, id);
                let text = if code == MISSING { "*" } else { data.dictionary(id).text(code) };
                text == value
            })
        })
    };
    let of_value = |path: &str, value: &str| -> Vec<usize> {
        let by = |all: bool| -> Vec<usize> {
            let mut own = 0..parts.len();
            let fits = |at: usize| {
                let mut there =
                    records.iter().filter_map(|of| of[at]).map(|r| shows(&parts[at], r, path, value));
                if all {
                    records.iter().any(|of| of[at].is_some()) && there.all(|shown| shown)
                } else {
                    there.any(|shown| shown)
                }
            };
            own.by_ref().filter(|&at| fits(at)).collect()
        };
        let all = by(true);
        if all.is_empty() { by(false) } else { all }
    };
    witness.values.iter().map(|value| of_value(&value.path, &value.value)).collect()
}

/// Refuses a release whose rows do not stand where the policy has them: what was taken apart in one may be shown by the
/// other, of a row that nobody can tell.
fn refuse_moved(part: &Part<'_>) -> Result<()> {
    let (schema, binding) = (part.data.schema(), part.binding);
    let moved = |class: ClassId| {
        let own = binding.classes[class.index()].map(|home| binding.homes[home].parent);
        let above = schema.class(class).parent.map(|above| binding.classes[above.index()]);
        matches!((own, above), (Some(home), Some(above)) if home != above)
    };
    let moved: Vec<ClassId> = schema.classes().map(|(id, _)| id).filter(|&id| moved(id)).collect();
    let vertices = (0..part.data.vertex_count()).filter(|&v| moved.contains(&part.data.class(v))).count();
    if vertices == 0 {
        return Ok(());
    }
    let what = format!(
        "{} of {} stand apart from what they belonged to: releases of which one has taken relations apart cannot be checked \
         together",
        plural(vertices, "row"),
        part.name
    );
    Err(refuse(what, "publish with algorithm `ocs`, which takes no relation apart"))
}

/// Refuses labels that nobody can compare.
fn refuse_unknown(common: &Common<'_>, reading: &Reading<'_>) -> Result<()> {
    let paths = common.columns.iter().zip(&common.labels).filter(|(_, labels)| labels.unknown() > 0);
    let paths: Vec<&str> = paths
        .filter_map(|(column, _)| column.declared)
        .map(|declared| reading.attributes[declared].path.as_str())
        .collect();
    if paths.is_empty() {
        return Ok(());
    }
    let what = format!(
        "which of two labels of {} says more cannot be known: they are ranges, or their hierarchy is built over the data or \
         does not have them",
        paths.join(", ")
    );
    Err(refuse(what, "give the private input with --against, or name the hierarchy as a file"))
}

fn refuse_clashes((contradictions, too_many): (usize, usize), parts: &[Part<'_>]) -> Result<()> {
    let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
    let names = names.join(" and ");
    let (what, help) = match (contradictions, too_many) {
        (0, 0) => return Ok(()),
        (0, n) => (
            format!("the rows of {} can be put together in too many ways: {names}", people(n)),
            "check with the private input, given with --against",
        ),
        (n, _) => (
            format!("{names} say different things about {}", people(n)),
            "check that the mappings belong to the releases; releases of data that has changed cannot be checked together",
        ),
    };
    let what = Diagnostic::error(what).at(Place::source(parts[0].name));
    Err(Failure::new(Fault::Data, what.help(help)))
}

fn people(n: usize) -> String {
    if n == 1 { "one person".to_owned() } else { format!("{} people", count(n)) }
}

fn refuse(what: impl Into<String>, help: &str) -> Failure {
    Failure::new(Fault::Policy, Diagnostic::error(what.into()).help(help))
}
