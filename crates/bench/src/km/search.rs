//! One search in a process of its own, so that the most memory it takes is its own too, and what it made of the records,
//! verified: a figure of a publication that is not sound would be worth nothing.

use std::process::Command;

use bosket_engine::km::{self, Params, Transactions};
use bosket_model::Fault;
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_verify::{Claim, verify};
use serde_json::{Value, json};

use super::sets::{Source, policy};
use crate::resources::{cpu, memory, reset_peak, timed};

/// A search that takes longer than this is not repeated, in seconds.
const LONG: f64 = 2.0;

/// Bytes for counting during verification.
const MEMORY: usize = 2 << 30;

/// How a search went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Seconds for laying the records over the hierarchy.
    pub(super) prepare: f64,
    /// Seconds for the search alone, the best of three if it is short.
    pub(super) seconds: f64,
    /// Seconds of computing for the search alone, over all threads, the least of the same runs.
    pub(super) cpu: f64,
    /// Memory in use before, in bytes: the data.
    pub(super) data: u64,
    /// The most memory in use meanwhile, the data included, in bytes.
    pub(super) peak: u64,
    pub(super) ncp: f64,
    /// The height of the hierarchy.
    pub(super) height: u32,
    /// Nodes of the paper's count tree, if they were asked for.
    pub(super) nodes: Option<u64>,
    pub(super) outcome: Outcome,
}

/// What became of the records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    /// Published from the trees, and verified, in so many seconds each; and seconds of computing for all of it, from reading
    /// the file to verifying what was written.
    Sound { publish: f64, verify: f64, whole: f64 },
    /// Every item would be suppressed.
    Nothing,
    /// So many known items are in so many records only.
    Unsound { items: u64, support: u64 },
}

impl Run {
    /// Searches in another process. None, with a word why, if that fails.
    pub(super) fn apart(source: &Source<'_>, settings: &[String]) -> Option<Run> {
        let mut command = Command::new(std::env::current_exe().ok()?);
        command.arg("km-search").args(source.arguments()).args(settings);
        let output = command.output().ok()?;
        let found: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        let run = found.as_ref().and_then(Run::from_json);
        if run.is_none() {
            let said = String::from_utf8_lossy(&output.stderr);
            eprintln!("{} {}: {}", source.name, settings.join(" "), said.lines().nth(1).unwrap_or("failed"));
        }
        run
    }

    fn from_json(value: &Value) -> Option<Run> {
        let unsound = &value["unsound"];
        let seconds = |key: &str| value[key].as_f64();
        let outcome = match (seconds("publish"), seconds("verify"), seconds("whole")) {
            _ if !unsound.is_null() => {
                Outcome::Unsound { items: unsound["items"].as_u64()?, support: unsound["support"].as_u64()? }
            }
            (Some(publish), Some(verify), Some(whole)) => Outcome::Sound { publish, verify, whole },
            _ => Outcome::Nothing,
        };
        Some(Run {
            prepare: value["prepare"].as_f64()?,
            seconds: value["seconds"].as_f64()?,
            cpu: value["cpu"].as_f64()?,
            data: value["data"].as_u64()?,
            peak: value["peak"].as_u64()?,
            ncp: value["ncp"].as_f64()?,
            height: value["height"].as_u64()? as u32,
            nodes: value["nodes"].as_u64(),
            outcome,
        })
    }

    /// Whether its figures say anything.
    pub(super) fn is_sound(&self) -> bool {
        !matches!(self.outcome, Outcome::Unsound { .. })
    }
}

/// What the other process does: searches here and prints how it went.
pub(crate) fn here(source: &Source<'_>, settings: &[String]) {
    let Some(sets) = source.load() else {
        return;
    };
    let params = Params::new(&policy(settings)).expect("possible");
    let (data, prepare) =
        timed(|| Transactions::new(&sets.trees, &sets.hierarchies, &params, &Quiet).expect("sets"));
    let height = sets.hierarchy().height();
    drop(sets);
    reset_peak();
    let before = memory().0;
    let (mut seconds, mut computed, mut ncp) = (f64::MAX, f64::MAX, 0.0);
    for _ in 0..3 {
        let begun = cpu();
        let (found, time) = timed(|| km::search(&data, &params, &Quiet).expect("reachable"));
        seconds = time.as_secs_f64().min(seconds);
        computed = (cpu() - begun).min(computed);
        ncp = found.ncp();
        if seconds > LONG {
            break;
        }
    }
    let peak = memory().1;
    // Counting the nodes of a tree that the search does without takes far longer than the search.
    let nodes = source.count_tree.then(|| {
        let asking = Params { count_tree: true, ..params.clone() };
        km::search(&data, &asking, &Quiet).expect("reachable as before").count_tree
    });
    drop(data);
    let mut run = json!({
        "prepare": prepare.as_secs_f64(),
        "seconds": seconds,
        "cpu": computed,
        "data": before,
        "peak": peak,
        "ncp": ncp,
        "height": height,
        "nodes": nodes.flatten(),
    });
    match outcome(source, settings) {
        Outcome::Sound { publish, verify, whole } => {
            run["publish"] = json!(publish);
            run["verify"] = json!(verify);
            run["whole"] = json!(whole);
        }
        Outcome::Nothing => {}
        Outcome::Unsound { items, support } => run["unsound"] = json!({"items": items, "support": support}),
    }
    println!("{run}");
}

/// The same from the records to a publication, read again and verified.
fn outcome(source: &Source<'_>, settings: &[String]) -> Outcome {
    let begun = cpu();
    let sets = source.load().expect("there as before");
    let policy = policy(settings);
    let params = Params::new(&policy).expect("possible");
    let (release, publish) = timed(|| km::run(&sets.trees, &sets.hierarchies, &params, &Quiet));
    let release = match release {
        Ok(release) => release,
        Err(failure) if failure.fault == Fault::Unreachable => return Outcome::Nothing,
        Err(failure) => panic!("{failure}"),
    };
    let published = sets.published(&release.trees);
    let binding = Binding::new(published.schema(), &policy.attributes, policy.undeclared, "published")
        .expect("all declared");
    let claim = Claim::new(&policy).expect("a claim");
    let (witness, check) =
        timed(|| verify(&published, &binding, &claim, &[], MEMORY, &Quiet).expect("countable"));
    match witness {
        None => Outcome::Sound {
            publish: publish.as_secs_f64(),
            verify: check.as_secs_f64(),
            whole: cpu() - begun,
        },
        Some(witness) => {
            Outcome::Unsound { items: witness.values.len() as u64, support: witness.support as u64 }
        }
    }
}
