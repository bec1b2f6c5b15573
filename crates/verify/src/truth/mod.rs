//! Truth: the publication says nothing that the private input does not.
//!
//! There must be a one-to-one assignment of published to input records under which each published record is what
//! the family's operations make of its input record. A mapping gives the pairs; without one they are looked for:
//! as equal multisets for global recoding, whose cut is recovered from the labels that were published, and by
//! matching for local recoding.

mod anatomized;
mod beside;
mod counts;
mod dissected;
mod global;
mod left_out;
mod local;
mod local_rows;
mod masked;
mod matching;
mod one_to_one;
mod rows;
mod sets;

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::{Missing, Payload, Policy, RootMode, Rows, Shape};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

pub use anatomized::{Grouped, compare_anatomized};
pub use dissected::compare_dissected;
pub use masked::{MaskKey, compare_masked};

use crate::guess::{Guessed, judge};

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
        /// What happens to rows that look alike.
        rows: Rows,
        /// What a missing value tells. Where it counts as `*`, a `*` says no more than an empty place does.
        missing: Missing,
    },
    /// Value trees whose rows stand for themselves, every value with a label of its own.
    LocalRows {
        /// What happens to payloads.
        payload: Payload,
        /// What a missing value tells. Where it counts as `*`, a `*` says no more than an empty place does.
        missing: Missing,
    },
    /// Sets, one cut for all.
    GlobalSets,
    /// Sets, a cut per part.
    LocalSets,
    /// Sets, every item with a label of its own.
    LocalItems,
    /// Vertex trees, generalized and pruned class by class.
    LocalTrees,
}

impl Recoding {
    /// How a policy's publications are made.
    pub fn of(policy: &Policy) -> Result<Self> {
        let privacy = policy.need_privacy()?;
        if privacy.multiset {
            let what = "this version cannot compare multisets with their input: it would not see how often a value occurs";
            return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help("leave out --against")));
        }
        let model = privacy.model;
        if !model.generalizes() {
            let what = format!("this version cannot compare a publication of model `{model}` with its input");
            return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help("leave out --against")));
        }
        Ok(match model.shape() {
            Shape::ValueTree if policy.recodes_locally() => {
                Recoding::LocalRows { payload: privacy.payload, missing: privacy.missing }
            }
            Shape::ValueTree => Recoding::GlobalTrees {
                root: privacy.root,
                payload: privacy.payload,
                rows: policy.rows(),
                missing: privacy.missing,
            },
            Shape::Set if policy.recodes_locally() => Recoding::LocalItems,
            Shape::Set if policy.algorithm()?.is_local() => Recoding::LocalSets,
            Shape::Set => Recoding::GlobalSets,
            Shape::VertexTree => Recoding::LocalTrees,
        })
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
    /// Whether values may be left out everywhere, or of some people all of them.
    pub suppress: bool,
    /// Which published record was made of which input record, if that is known.
    pub mapping: Option<&'a Mapping>,
    /// Items of sets that are sensitive: they are published as they are, whatever their neighbours became.
    pub sensitive: &'a [String],
}

impl Comparison<'_> {
    /// The leaves of values that are published as they are, with their declared attributes.
    fn kept(&self) -> FxHashSet<(usize, NodeId)> {
        let mut kept = FxHashSet::default();
        for (declared, hierarchy) in self.hierarchies.iter().enumerate() {
            let Some(hierarchy) = hierarchy else { continue };
            for label in self.sensitive {
                let node = hierarchy.leaf(label).or_else(|| hierarchy.node(label));
                let leaves = node.map_or(0..0, |node| hierarchy.leaves(node));
                kept.extend(leaves.map(|at| (declared, hierarchy.leaf_node(at))));
            }
        }
        kept
    }
}

/// A private mapping as it was read.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    /// The file's name, for messages.
    pub name: String,
    /// Its lines.
    pub pairs: Vec<Pair>,
}

/// One line of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The line it stands in, from 1.
    pub line: u64,
    /// The input record, from 0.
    pub input: u32,
    /// The published record, from 0.
    pub published: u32,
}

impl Mapping {
    /// Its pairs: (published, input).
    pub fn pairs(&self) -> Vec<(u32, u32)> {
        self.pairs.iter().map(|pair| (pair.published, pair.input)).collect()
    }

    /// The published records that are not what their input record gives, by `fits(published, input)`.
    fn unfit(
        &self,
        fits: impl Fn(usize, usize) -> Result<bool>,
        observer: &dyn Observer,
    ) -> Result<Vec<u32>> {
        let mut records = Vec::new();
        for pair in &self.pairs {
            observer.go_on()?;
            if !fits(pair.published as usize, pair.input as usize)? {
                records.push(pair.published);
            }
        }
        records.sort_unstable();
        Ok(records)
    }
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

/// What came of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// What is published and not true. None means that it is true.
    pub untruths: Vec<Untruth>,
    /// What the labels tell of the values that they hide, if that was asked and could be counted.
    pub guessed: Option<Guessed>,
}

impl Compared {
    /// The same with what was found before.
    fn after(mut self, mut untruths: Vec<Untruth>) -> Self {
        untruths.append(&mut self.untruths);
        Compared { untruths, ..self }
    }
}

/// Compares the publication with its input. No untruth means that it is true.
pub fn compare(c: &Comparison<'_>, observer: &dyn Observer) -> Result<Vec<Untruth>> {
    compare_guessing(c, None, observer).map(|compared| compared.untruths)
}

/// The same, and with a share of `privacy.guess` also what the labels tell.
fn compare_guessing(c: &Comparison<'_>, guess: Option<f64>, observer: &dyn Observer) -> Result<Compared> {
    let Paired { untruths, pairs } = paired(c, observer)?;
    let guessed = match (guess, pairs) {
        (Some(guess), Some(pairs)) => judged(c, &pairs, guess, observer)?,
        // Under one cut for all, which was found in the labels, each of them hides what everybody would guess.
        (Some(guess), None) if untruths.is_empty() && !c.suppress && c.sensitive.is_empty() => {
            Some(Guessed { guess, ..Guessed::default() })
        }
        _ => None,
    };
    Ok(Compared { untruths, guessed })
}

/// What labels tell by these pairs. Where these were looked for, others may tell less or more: nobody can say without the
/// mapping, but for what every pairing tells.
fn judged(
    c: &Comparison<'_>,
    pairs: &[(u32, u32)],
    guess: f64,
    observer: &dyn Observer,
) -> Result<Option<Guessed>> {
    let mut found = judge(c, pairs, guess, observer)?;
    if c.mapping.is_some() {
        return Ok(Some(found));
    }
    found.told.retain(|told| told.certain);
    Ok((!found.holds()).then_some(found))
}

/// What is not true, and which published record comes from which one of the input, as far as that was looked for.
#[derive(Default)]
struct Paired {
    untruths: Vec<Untruth>,
    /// Pairs of records: (published, input).
    pairs: Option<Vec<(u32, u32)>>,
}

impl From<Vec<Untruth>> for Paired {
    fn from(untruths: Vec<Untruth>) -> Self {
        Paired { untruths, pairs: None }
    }
}

fn paired(c: &Comparison<'_>, observer: &dyn Observer) -> Result<Paired> {
    let mut untruths: Vec<Untruth> = (crate::left_over(c.published.data, c.published.binding).iter())
        .map(|path| Untruth::new("the policy removes this attribute, but it is published").path(path))
        .collect();
    if c.published.data.len() > c.input.data.len() {
        untruths.push(Untruth::new(format!(
            "{} records are published, but the input has only {}",
            c.published.data.len(),
            c.input.data.len()
        )));
        return Ok(untruths.into());
    }
    if let Some(mapping) = c.mapping {
        check_mapping(mapping, c.input.data.len(), c.published.data.len())?;
    }
    let local = !matches!(c.recoding, Recoding::GlobalTrees { .. } | Recoding::GlobalSets);
    if local && c.mapping.is_none() && c.input.data.len() > MOST_MATCHED {
        return Err(too_many("local recoding is"));
    }
    let found = match c.recoding {
        Recoding::GlobalTrees { root, payload, rows, missing } => {
            let trees = Some((root, rows, missing == Missing::Counted));
            Paired {
                pairs: c.mapping.map(Mapping::pairs),
                ..global::compare(c, trees, payload, observer)?.into()
            }
        }
        Recoding::LocalRows { payload, missing } => local_rows::compare(c, payload, missing, observer)?,
        Recoding::GlobalSets => {
            let pairs = c.mapping.map(Mapping::pairs);
            Paired { pairs, ..global::compare(c, None, Payload::Keep, observer)?.into() }
        }
        Recoding::LocalSets | Recoding::LocalItems => sets::compare(c, observer)?,
        Recoding::LocalTrees => local::compare(c, observer)?,
    };
    untruths.extend(found.untruths);
    Ok(Paired { untruths, ..found })
}

fn too_many(what: &str) -> Failure {
    let what = format!("without a mapping, {what} only checked up to {MOST_MATCHED} records");
    let help = "give the private mapping with --mapping, or leave out --against";
    Failure::new(Fault::Usage, Diagnostic::error(what).help(help))
}

/// Each published record must have one input record of its own.
fn check_mapping(mapping: &Mapping, inputs: usize, published: usize) -> Result<()> {
    let mut seen = (vec![false; inputs], vec![false; published]);
    let mut problems = Vec::new();
    for pair in &mapping.pairs {
        for (number, seen, side) in
            [(pair.input, &mut seen.0, "input"), (pair.published, &mut seen.1, "published")]
        {
            let number = number as usize;
            let (what, help) = match seen.get_mut(number) {
                None => ("does not exist", "give the mapping that was written with this publication"),
                Some(true) => ("is named twice", "keep one of the two lines"),
                Some(seen) => {
                    *seen = true;
                    continue;
                }
            };
            problems.push(
                Diagnostic::error(format!("{side} record {} {what}", number + 1))
                    .at(Place::source(&mapping.name).line(pair.line))
                    .help(help),
            );
        }
    }
    let unmapped: Vec<usize> = (0..published).filter(|&p| !seen.1[p]).collect();
    if let Some(first) = unmapped.first() {
        let what = match unmapped.len() {
            1 => "a published record is not in the mapping".to_owned(),
            n => format!("{n} published records are not in the mapping"),
        };
        problems.push(
            Diagnostic::error(what).at(Place::source(&mapping.name).record(*first as u64 + 1)).help(
                "give the mapping that was written with this publication, with a line for every record",
            ),
        );
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Data, problems)) }
}

/// Finds an input record for every published one, by the mapping or by matching on `fits(published, input)`.
fn assign(
    c: &Comparison<'_>,
    observer: &dyn Observer,
    fits: impl Fn(usize, usize) -> Result<bool> + Sync,
) -> Result<Paired> {
    let (lonely, pairs) = match c.mapping {
        Some(mapping) => (mapping.unfit(fits, observer)?, mapping.pairs()),
        None => {
            observer.stage("matching published with input records", c.published.data.len() as u64);
            matching::paired(c.published.data.len(), c.input.data.len(), fits, observer)?
        }
    };
    Ok(Paired { untruths: astray(c, lonely), pairs: Some(pairs) })
}

/// What is to be said about published records that have no input record.
fn astray(c: &Comparison<'_>, records: Vec<u32>) -> Vec<Untruth> {
    let what = match c.mapping {
        _ if records.is_empty() => return Vec::new(),
        Some(_) => "these records are not what the declared operations make of their input records",
        None => "these records cannot all come from input records of their own",
    };
    vec![Untruth::new(what).records(records)]
}

/// What is to be said about published values that no hierarchy has, given by their declared attributes.
fn unknown_values(c: &Comparison<'_>, declared: impl IntoIterator<Item = usize>) -> Vec<Untruth> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    declared.into_iter().for_each(|d| *counts.entry(d).or_default() += 1);
    (counts.into_iter())
        .map(|(declared, count)| {
            let what = counted(count, "published value is", "published values are");
            Untruth::new(format!("{what} in no hierarchy")).path(&c.input.binding.declared[declared].path)
        })
        .collect()
}

/// `1 value is`, `2 values are`.
fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
