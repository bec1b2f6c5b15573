//! Small random publications: the verifier and its second count against the definitions taken literally.

mod alike;
pub(crate) mod apart;
mod attackers;
mod delta;
mod joint;
mod km;
mod kmn;
mod left_out;
mod people;
mod rows;

pub use alike::verify_alike;
pub use apart::verify_apart;
pub use attackers::verify_attackers;
pub use delta::verify_delta;
pub use joint::verify_joint;
pub use km::verify_km;
pub use kmn::verify_kmn;
pub use left_out::verify_left_out;
pub use rows::verify_rows;

use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Quiet;
use bosket_model::{Dataset, Fault, Result};
use bosket_testkit::dice::Dice;
use bosket_testkit::fixtures;
use bosket_verify::recount::{self, Recount};
use bosket_verify::{Claim, Verification, Witness};

use crate::Outcome;

/// What is verified: records, the attributes of their policy, and hierarchies for those who count absent values.
struct Published<'a> {
    data: &'a Dataset,
    attributes: &'a str,
    hierarchies: &'a [Option<Hierarchy>],
}

impl Published<'_> {
    /// What the verifier finds, with so much memory; its second count must find the same.
    fn witness(&self, claim: &Claim, memory: usize) -> Option<Witness> {
        let (_, binding) = fixtures::bound(self.data, self.attributes);
        let found = bosket_verify::verify(self.data, &binding, claim, self.hierarchies, memory, &Quiet);
        let found = found.unwrap_or_else(|failure| panic!("not counted: {failure}"));
        let again = recount::of_records(self.data, &binding, claim, self.hierarchies, &Quiet);
        match &found {
            // Only relations that are known to be absent are not counted again, and then it says so.
            Some(witness) if !witness.unrelated.is_empty() && again.is_ok() => {
                assert!(again.is_ok_and(|recount| !recount.not_covered.is_empty()));
            }
            found => same_verdict(again, found.is_none(), &format!("{claim:?} {found:?}")),
        }
        let whole = Verification::of_records(self.data, &binding, claim, self.hierarchies, memory, &Quiet);
        let whole = whole.unwrap_or_else(|failure| panic!("counted twice: {failure}"));
        assert_eq!(whole.witness(), found.as_ref(), "the same question was answered twice");
        found
    }
}

/// The second count sees everything of a few records: it passes what holds and nothing else.
fn same_verdict(again: Result<Recount>, holds: bool, published: &str) {
    match again {
        Ok(recount) => {
            assert!(holds, "the second count passed what does not hold: {published}");
            assert!(recount.complete, "{recount:?} {published}");
        }
        Err(failure) => {
            assert_eq!(failure.fault, Fault::Defect, "{failure}");
            assert!(!holds, "the second count broke what holds: {failure} {published}");
        }
    }
}

/// A bound of memory: plenty, or so little that everything is counted in parts.
fn memory(dice: &mut Dice) -> usize {
    if dice.one_in(2) { 1 } else { 1 << 26 }
}

/// Mostly small, now and then more than there are records.
fn few(dice: &mut Dice) -> u32 {
    if dice.one_in(12) { 50 } else { 2 + dice.below(2) as u32 }
}

fn outcome(witness: &Option<Witness>) -> Outcome {
    if witness.is_none() { Outcome::Held } else { Outcome::Refused }
}
