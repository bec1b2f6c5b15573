//! The second count that everything that holds has to pass.
//!
//! The counts of [`knowledge`](crate::knowledge) are fast because they are clever: cells, planes of bits, keys, parts. What
//! is said here is said again without any of that, from the records to the verdict, by code that knows the definitions and
//! nothing else: every piece of knowledge of a record is written down and counted, every record is written down as a text
//! and compared. Where that would take too long, records and pieces are drawn at random, from a fixed seed, and what is
//! left out is told. If the two counts do not agree, one of them is wrong, and nobody gets a verdict.

mod absent;
mod alike;
mod close;
mod drawn;
mod groups;
mod knowledge;
mod looks;
pub mod parts;
mod person;
mod record;
mod sample;
mod secrets;

use serde_json::json;

use bosket_model::binding::Binding;
use bosket_model::dissected::Dissected;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::{Dataset, Failure, Result};

use alike::Asked;
use close::Again;

use crate::anatomized::{Anatomized, TwoSides};
use crate::claim::Claim;
use crate::dissect::Apart;

/// Elementary steps that a recount may take, about a hundredth of a microsecond each.
const STEPS: u64 = 10_000_000;

/// What a second, literal count went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recount {
    /// Pieces of knowledge, or classes or groups, that were counted again.
    pub pieces: u64,
    /// Records that they were taken from.
    pub records: u64,
    /// Whether these are all there are; else a sample.
    pub complete: bool,
    /// What of the claim was not counted again.
    pub not_covered: Vec<&'static str>,
}

impl Recount {
    /// What was gone through in two parts that have nothing in common.
    #[must_use]
    pub fn and(mut self, other: Recount) -> Self {
        self.complete &= other.complete;
        self.pieces += other.pieces;
        self.records += other.records;
        let new = other.not_covered.into_iter().filter(|what| !self.not_covered.contains(what));
        let new: Vec<_> = new.collect();
        self.not_covered.extend(new);
        self
    }

    /// What was gone through in one and the same publication for two claims.
    fn and_of_the_same(self, other: Recount) -> Recount {
        let records = self.records.max(other.records);
        Recount { records, ..self.and(other) }
    }

    /// The JSON form.
    pub fn to_json(&self) -> serde_json::Value {
        json!({
            "pieces": self.pieces,
            "records": self.records,
            "complete": self.complete,
            "not_covered": self.not_covered,
        })
    }
}

/// Counts again what was found to hold for records. Fails with a defect if it does not.
pub fn of_records(
    data: &Dataset,
    binding: &Binding,
    claim: &Claim,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Recount> {
    match claim {
        Claim::Km(claim) => knowledge::of_sets(data, binding, claim, hierarchies, observer),
        Claim::Kmn(claim) => knowledge::of_trees(data, binding, claim, hierarchies, observer),
        Claim::KAnonymity { k } => alike::of_records(data, binding, (Some(*k), Asked::Nothing), observer),
        Claim::LDiversity { k, ask } => alike::of_records(data, binding, (*k, Asked::Diverse(ask)), observer),
        Claim::Close { k, ask } => {
            let again = Again::new(ask, hierarchies).of_records(data, binding);
            alike::of_records(data, binding, (*k, Asked::Close(Box::new(again))), observer)
        }
        Claim::Apart(_) | Claim::Anatomized(_) => Ok(Recount {
            not_covered: vec!["a claim about two sides, which one record per person does not have"],
            ..Recount::default()
        }),
    }
}

/// Counts again what was found to hold for clusters with two sides. Fails with a defect if it does not.
pub fn of_anatomized(
    sides: &TwoSides<'_>,
    claim: &Anatomized,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Recount> {
    groups::of_clusters(sides, claim, hierarchies, observer)
}

/// Counts again what was found to hold for a dissected publication. Fails with a defect if it does not.
pub fn of_dissected(
    published: &Dissected,
    claim: &Apart,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Recount> {
    groups::of_dissected(published, claim, hierarchies, observer)
}

/// Two counts that do not agree.
fn disagreement(what: &str) -> Failure {
    Failure::defect(format!("the claim was found to hold, but a second count disagrees: {what}"))
}

/// Whether so many of so many are more than one in l. There is twice the room for rounding that the first count has, so
/// that rounding never makes two counts disagree.
fn is_over(count: usize, of: usize, l: f64) -> bool {
    count as f64 * l > of as f64 * (1.0 + 2e-12)
}

/// Whether the entropy of counts is below log l, with the same room.
fn is_uniform(counts: &[usize], l: f64) -> bool {
    let all = counts.iter().sum::<usize>() as f64;
    let entropy: f64 = counts.iter().map(|&n| n as f64 / all).map(|p| -p * p.ln()).sum();
    entropy < l.ln() - 2e-9
}
