//! One search in a process of its own, so that the most memory it takes is its own too.

use std::process::Command;

use bosket_engine::km::{self, Params, Transactions};
use bosket_model::observe::Quiet;
use serde_json::{Value, json};

use super::sets::{Source, policy};
use crate::resources::{cpu, memory, reset_peak, timed};

/// A search that takes longer than this is not repeated, in seconds.
const LONG: f64 = 2.0;

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
        Some(Run {
            prepare: value["prepare"].as_f64()?,
            seconds: value["seconds"].as_f64()?,
            cpu: value["cpu"].as_f64()?,
            data: value["data"].as_u64()?,
            peak: value["peak"].as_u64()?,
            ncp: value["ncp"].as_f64()?,
            height: value["height"].as_u64()? as u32,
            nodes: value["nodes"].as_u64(),
        })
    }
}

/// What the other process does: searches here and prints how it went.
pub(crate) fn here(source: &Source<'_>, settings: &[String]) {
    let Some(sets) = source.load() else {
        return;
    };
    let params = Params::new(&policy(settings)).expect("possible");
    let (data, prepare) = timed(|| Transactions::new(&sets.trees, &sets.hierarchies, &params).expect("sets"));
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
    let run = json!({
        "prepare": prepare.as_secs_f64(),
        "seconds": seconds,
        "cpu": computed,
        "data": before,
        "peak": peak,
        "ncp": ncp,
        "height": height,
        "nodes": nodes.flatten(),
    });
    println!("{run}");
}
