//! Random bytes against everything that reads, random publications against the verifier, random data through whole runs.
//!
//! A target is a function of bytes that must not panic and asserts what must be true of them, so that any fuzzer can drive
//! it. [`Campaign`] does without a special compiler: instance `i` of seed `s` is made from `s + i` alone, by changing a
//! file of `corpus/` (`mutate`) or, for families, by throwing dice. Whatever fails is repeated by its seed.
//!
//! | targets | what must be true |
//! | --- | --- |
//! | readers ([`documents`], [`tables`]) | read or refused, never broken; written and read again it is the same |
//! | texts ([`texts`]) | the same of policies, hierarchies and certificates |
//! | `verify_…` ([`verify`]) | the verifier says what the literal definition says |
//! | `anonymize_…` ([`anonymize`]) | a refusal, or a publication that holds and is true to its input |

pub mod anonymize;
mod campaign;
mod corpus;
pub mod documents;
mod mutate;
mod records;
pub mod tables;
pub mod texts;
pub mod verify;

pub use campaign::{Campaign, Disagreement, Tally};
pub use corpus::{files, seeds};

use bosket_model::{Failure, Fault};
use bosket_testkit::dice::Dice;

/// What became of an instance. A campaign in which one of them is missing tries less than it seems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Read, published, or found to hold.
    Held,
    /// Refused with a reason, or found not to hold.
    Refused,
}

/// A function that bytes are thrown at.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// What command lines and the corpus call it.
    pub name: &'static str,
    /// Panics if something is not as it must be.
    pub run: fn(&[u8]) -> Outcome,
    /// Whether the bytes are a seed of dice, and not a text to be changed.
    pub dice: bool,
}

macro_rules! targets {
    ($($module:ident: $($name:ident)+, $dice:literal;)+) => {
        /// All targets.
        pub static TARGETS: &[Target] = &[
            $($(Target { name: stringify!($name), run: $module::$name, dice: $dice }),+),+
        ];
    };
}

targets! {
    documents: json ndjson xml csv transactions parquet fhir, false;
    tables: sqlite, false;
    texts: policy hierarchy certificate, false;
    verify: verify_kmn verify_left_out verify_km verify_alike verify_apart verify_delta verify_rows verify_joint verify_attackers,
        true;
    anonymize: anonymize_kmn anonymize_km anonymize_cluster anonymize_dissect, true;
}

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|t| t.name == name)
}

/// Dice from bytes: eight of them are the seed itself, others are mixed into one.
fn dice(data: &[u8]) -> Dice {
    let seed = match <[u8; 8]>::try_from(data) {
        Ok(seed) => u64::from_le_bytes(seed),
        // FNV-1a.
        Err(_) => data
            .iter()
            .fold(0xCBF2_9CE4_8422_2325, |hash, &b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3)),
    };
    Dice::new(seed)
}

/// A refusal is always allowed; an error of ours never is.
#[track_caller]
fn refused(failure: &Failure) -> Outcome {
    assert!(failure.fault != Fault::Defect, "an error of ours: {failure}");
    Outcome::Refused
}
