//! Every target on its corpus, then for a while on what is made of it: 2 seconds each, or as many as `BOSKET_FUZZ_SECONDS`
//! says. A failure names the seed; `fuzz --target NAME --seed SEED --instances 1` does it again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use bosket_fuzz::{Campaign, Outcome, TARGETS, files, target};

fn seconds() -> f64 {
    std::env::var("BOSKET_FUZZ_SECONDS").ok().and_then(|n| n.parse().ok()).unwrap_or(2.0)
}

fn try_all(name: &str) {
    let target = target(name).expect("a target");
    let mut held = 0;
    for (file, bytes) in files(name) {
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes)));
        held += u64::from(outcome.unwrap_or_else(|_| panic!("corpus/{name}/{file}")) == Outcome::Held);
    }
    let time = Some(Duration::from_secs_f64(seconds()));
    let campaign = Campaign { target, seed: 0, instances: u64::MAX, time, threads: 1 };
    let tally = campaign.run().unwrap_or_else(|found| {
        panic!("fuzz --target {name} --seed {} --instances 1: {}", found.seed, found.said)
    });
    // What only ever refuses, or never does, tries nothing.
    assert!(held + tally.held > 0, "{name} refused everything: {tally:?}");
    assert!(tally.held < tally.instances || tally.instances < 50, "{name} refused nothing: {tally:?}");
    println!("{name}: {tally:?}");
}

macro_rules! tests {
    ($($name:ident)+) => {
        $(#[test] fn $name() { try_all(stringify!($name)); })+

        #[test]
        fn every_target_is_tried() {
            assert_eq!(TARGETS.iter().map(|t| t.name).collect::<Vec<_>>(), [$(stringify!($name)),+]);
        }
    };
}

tests! {
    json ndjson xml csv transactions parquet fhir sqlite policy hierarchy certificate
    verify_kmn verify_left_out verify_km verify_alike verify_apart verify_delta verify_rows verify_joint verify_attackers
    anonymize_kmn anonymize_km anonymize_cluster anonymize_dissect
}

/// The same seed gives the same instances, or no failure could be repeated.
#[test]
fn campaigns_are_deterministic_whatever_threads() {
    for name in ["json", "verify_km"] {
        let run = |threads| {
            let target = target(name).expect("a target");
            let campaign = Campaign { target, seed: 7, instances: 300, time: None, threads };
            let tally =
                campaign.run().unwrap_or_else(|found| panic!("{name} {}: {}", found.seed, found.said));
            (tally.instances, tally.held)
        };
        assert_eq!(run(1), run(3), "{name}");
    }
}
