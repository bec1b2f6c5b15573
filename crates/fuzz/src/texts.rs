//! What people write by hand, and certificates: read or refused, and the same when written again.

use std::collections::BTreeSet;

use bosket_engine::Params;
use bosket_model::hierarchy::{Build, Clamp, Hierarchy, build, csv};
use bosket_model::policy::Policy;
use bosket_model::{Failure, Fault};
use bosket_report::certificate::Certificate;
use bosket_verify::Claim;

use crate::{Outcome, dice, refused};

/// A policy: what it says survives as JSON, and what it asks for is refused or understood by all who are asked.
pub fn policy(data: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(data) else {
        return Outcome::Refused;
    };
    let (policy, _) = match Policy::parse("p.toml", text, &[]) {
        Ok(parsed) => parsed,
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            return refused(&Failure::all(Fault::Policy, problems));
        }
    };
    let json = policy.to_json();
    let again = Policy::from_json("p.toml", &json).unwrap_or_else(|failure| panic!("{failure}\n{json}"));
    assert_eq!(again.to_json(), json, "written and read again");
    let asked = [Claim::new(&policy).map(|_| ()), Params::new(&policy).map(|_| ())];
    asked.iter().filter_map(|result| result.as_ref().err()).for_each(|failure| _ = refused(failure));
    Outcome::Held
}

/// A hierarchy as a CSV file; the first cells are values that builders make hierarchies of.
pub fn hierarchy(data: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(data) else {
        return Outcome::Refused;
    };
    builders(text);
    let parsed = match csv::parse("h.csv", text) {
        Ok(parsed) => parsed,
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            return Outcome::Refused;
        }
    };
    let written = csv::write(&parsed);
    let again = csv::parse("h.csv", &written).unwrap_or_else(|problems| panic!("{problems:?}\n{written}"));
    assert_eq!(csv::write(&again), written, "written and read again");
    let labels = |h: &Hierarchy| -> Vec<(String, Option<String>)> {
        let above = |n| h.parent(n).map(|p| h.label(p).to_owned());
        h.nodes().map(|n| (h.label(n).to_owned(), above(n))).collect()
    };
    let (mut before, mut after) = (labels(&parsed), labels(&again));
    before.sort();
    after.sort();
    assert_eq!(after, before, "the same nodes below the same nodes");
    Outcome::Held
}

/// Values come in any order, which shows in no hierarchy.
fn builders(text: &str) {
    let domain: BTreeSet<&str> = text.lines().filter_map(|line| line.split(';').next()).collect();
    let domain: Vec<&str> = domain.into_iter().collect();
    let turned: Vec<&str> = domain.iter().rev().copied().collect();
    let date = |text: &str| text.to_owned();
    let builders = [
        Build::Interval { min: 0.0, max: 90.0, widths: vec![5.0, 10.0, 30.0], clamp: Clamp::Both },
        Build::Range { min: 0.0, max: 99.0 },
        Build::Date {
            min: date("2019-01-01"),
            max: date("2029-12-31"),
            levels: Vec::new(),
            format: None,
            clamp: Clamp::Both,
        },
        Build::Prefix,
        Build::Fanout { fanout: 2 },
        Build::Icd10 { table: None },
        Build::Atc,
    ];
    // One of them, since some read a whole classification or calendar first.
    let builder = dice(text.as_bytes()).of(&builders).clone();
    let built = |values: &[&str]| build(&builder, values, None).map(|h| csv::write(&h)).ok();
    assert_eq!(built(&domain), built(&turned), "{builder:?}");
}

/// A certificate.
pub fn certificate(data: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(data) else {
        return Outcome::Refused;
    };
    let certificate = match Certificate::read(text) {
        Ok(certificate) => certificate,
        Err(failure) => return refused(&failure),
    };
    let written = certificate.to_text();
    let again = Certificate::read(&written).unwrap_or_else(|failure| panic!("{failure}\n{written}"));
    assert_eq!(again.to_json(), certificate.to_json(), "written and read again");
    assert_eq!(again.to_text(), written, "written twice");
    // Whatever the text was, what is said of it does not change by writing down what was understood.
    if certificate.damage(text).is_empty() {
        assert_eq!(again.damage(&written), Vec::<String>::new(), "whole before, damaged after");
    }
    let policies = [certificate.restored_policy("p.toml"), certificate.policy_without_lists("p.toml")];
    for policy in policies {
        match policy {
            Ok(policy) => {
                certificate.contradictions(&policy);
                _ = Claim::new(&policy).map_err(|failure| refused(&failure));
            }
            Err(failure) => _ = refused(&failure),
        }
    }
    Outcome::Held
}
