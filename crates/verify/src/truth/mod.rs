//! Truth: the publication says nothing that the private input does not.
//!
//! There must be a one-to-one assignment of published to input records under which each published record is what
//! the family's operations make of its input record. A mapping gives the pairs; without one they are looked for:
//! as equal multisets for global recoding, whose cut is recovered from the labels that were published, and by
//! matching for local recoding.

mod global;
mod local;
mod matching;
mod sets;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{Model, Payload, Policy, RootMode};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

/// Most records that are matched without a mapping when recoding is local.
pub const MOST_MATCHED: usize = 20_000;

/// One side of the comparison.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The records.
    pub data: &'a Dataset,
    /// Their place in the policy.
    pub binding: &'a Binding,
}

/// How the publication was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recoding {
    /// Value trees, one cut for all.
    GlobalTrees {
        /// Where the top object's values stand.
        root: RootMode,
        /// What happens to payloads.
        payload: Payload,
    },
    /// Sets, one cut for all.
    GlobalSets,
    /// Sets, a cut per part.
    LocalSets,
    /// Vertex trees, generalized and pruned class by class.
    LocalTrees,
}

impl Recoding {
    /// How a policy's publications are made.
    pub fn of(policy: &Policy) -> Result<Self> {
        let privacy = policy.need_privacy()?;
        let algorithm = policy.method.algorithm.as_deref();
        match privacy.model {
            Model::Kmn => Ok(Recoding::GlobalTrees { root: privacy.root, payload: privacy.payload }),
            Model::Km if matches!(algorithm, Some("lra" | "partition")) => Ok(Recoding::LocalSets),
            Model::Km => Ok(Recoding::GlobalSets),
            Model::KAnonymity | Model::LDiversity => Ok(Recoding::LocalTrees),
            model => Err(Failure::new(
                Fault::Policy,
                Diagnostic::error(format!(
                    "this version cannot compare a publication of model `{model}` with its input"
                ))
                .help("leave out --against"),
            )),
        }
    }
}

/// Everything the check needs.
pub struct Comparison<'a> {
    /// What was published.
    pub published: Side<'a>,
    /// What it was made from.
    pub input: Side<'a>,
    /// Per declared attribute its hierarchy, with a leaf for every value of the input; none means no generalization.
    pub hierarchies: &'a [Option<Hierarchy>],
    /// How it was made.
    pub recoding: Recoding,
    /// Whether values may be left out everywhere.
    pub suppress: bool,
    /// Pairs of input and published records, from 0.
    pub mapping: Option<&'a [(u32, u32)]>,
}

/// Something published that is not true, or not there although it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untruth {
    /// What is wrong, without values.
    pub message: String,
    /// Of which attribute.
    pub path: Option<String>,
    /// Of which published records, from 0.
    pub records: Vec<u32>,
}

impl Untruth {
    fn new(message: impl Into<String>) -> Self {
        Untruth { message: message.into(), path: None, records: Vec::new() }
    }
    fn path(mut self, path: &str) -> Self {
        self.path = Some(path.to_owned());
        self
    }
    fn records(mut self, records: Vec<u32>) -> Self {
        self.records = records;
        self
    }
}

/// Compares the publication with its input. No untruth means that it is true.
pub fn compare(c: &Comparison<'_>, observer: &dyn Observer) -> Result<Vec<Untruth>> {
    let mut untruths: Vec<Untruth> = (crate::left_over(c.published.data, c.published.binding).iter())
        .map(|path| Untruth::new("the policy removes this attribute, but it is published").path(path))
        .collect();
    if c.published.data.len() > c.input.data.len() {
        untruths.push(Untruth::new(format!(
            "{} records are published, but the input has only {}",
            c.published.data.len(),
            c.input.data.len()
        )));
        return Ok(untruths);
    }
    if let Some(mapping) = c.mapping {
        check_mapping(mapping, c.input.data.len(), c.published.data.len())?;
    }
    let local = matches!(c.recoding, Recoding::LocalSets | Recoding::LocalTrees);
    if local && c.mapping.is_none() && c.input.data.len() > MOST_MATCHED {
        return Err(Failure::new(
            Fault::Usage,
            Diagnostic::error(format!(
                "without a mapping, local recoding is only checked up to {MOST_MATCHED} records"
            ))
            .help("give the private mapping with --mapping, or leave out --against"),
        ));
    }
    match c.recoding {
        Recoding::GlobalTrees { root, payload } => untruths.extend(global::compare(c, Some(root), payload)),
        Recoding::GlobalSets => untruths.extend(global::compare(c, None, Payload::Drop)),
        Recoding::LocalSets => untruths.extend(sets::compare(c, observer)),
        Recoding::LocalTrees => untruths.extend(local::compare(c, observer)),
    }
    Ok(untruths)
}

/// Each published record must have one input record of its own.
fn check_mapping(mapping: &[(u32, u32)], inputs: usize, published: usize) -> Result<()> {
    let mut seen = (vec![false; inputs], vec![false; published]);
    let mut problems = Vec::new();
    for (line, &(input, out)) in mapping.iter().enumerate() {
        for (number, seen, side) in [(input, &mut seen.0, "input"), (out, &mut seen.1, "published")] {
            let what = match seen.get_mut(number as usize) {
                None => "does not exist",
                Some(true) => "is named twice",
                Some(seen) => {
                    *seen = true;
                    continue;
                }
            };
            problems.push(Diagnostic::error(format!(
                "pair {} of the mapping: {side} record {} {what}",
                line + 1,
                u64::from(number) + 1
            )));
        }
    }
    let unmapped = seen.1.iter().filter(|s| !**s).count();
    if unmapped > 0 {
        problems.push(Diagnostic::error(format!("the mapping leaves out {unmapped} published records")));
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Data, problems)) }
}

/// Finds an input record for every published one, by the mapping or by matching on `fits(published, input)`.
fn assign(
    c: &Comparison<'_>,
    observer: &dyn Observer,
    fits: impl Fn(usize, usize) -> bool + Sync,
) -> Vec<Untruth> {
    let lonely: Vec<u32> = match c.mapping {
        Some(mapping) => {
            (mapping.iter()).filter(|&&(i, p)| !fits(p as usize, i as usize)).map(|&(_, p)| p).collect()
        }
        None => {
            observer.stage("matching published with input records", c.published.data.len() as u64);
            matching::unmatched(c.published.data.len(), c.input.data.len(), fits, observer)
        }
    };
    if lonely.is_empty() {
        return Vec::new();
    }
    let what = if c.mapping.is_some() {
        "these records are not what the declared operations make of their input records"
    } else {
        "these records cannot all come from input records of their own"
    };
    vec![Untruth::new(what).records(lonely)]
}
