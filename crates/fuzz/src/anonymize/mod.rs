//! Whole runs on small random data: `anonymize`, then `verify`, then `--against` the input.
//!
//! Most instances stay in memory, where a run takes a fraction of a millisecond; a share of them goes through files as a
//! command line would. A refusal is fine; what is published must hold and be true.

mod dissect;
mod files;
mod memory;
mod policies;
mod values;

pub use dissect::anonymize_dissect;

use bosket_testkit::dice::Dice;

use crate::{Outcome, dice};

/// Data and what is to be made of it.
struct Case {
    /// The policy, whose paths are beside it.
    policy: String,
    /// The source's file name.
    name: &'static str,
    /// What is in it.
    records: String,
}

/// One in so many instances goes through files.
const ON_DISK: usize = 64;

/// k^(m,n)-anonymity of trees.
pub fn anonymize_kmn(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let case = policies::kmn(&mut dice);
    run(&mut dice, &case)
}

/// k^m-anonymity of sets.
pub fn anonymize_km(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let case = policies::km(&mut dice);
    run(&mut dice, &case)
}

/// k-anonymity and l-diversity of vertex trees.
pub fn anonymize_cluster(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let case = policies::cluster(&mut dice);
    run(&mut dice, &case)
}

fn run(dice: &mut Dice, case: &Case) -> Outcome {
    // Only a run on files takes sides apart.
    if case.policy.contains("anatomize = true") || dice.one_in(ON_DISK) {
        files::run(case)
    } else {
        memory::run(case)
    }
}
