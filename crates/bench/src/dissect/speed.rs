//! Figures 11 to 14: time and memory over quasi elements and group size; throughput; memory on a grown document.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use bosket_io::PolicyFile;
use bosket_model::policy::Model;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::degrees::save;
use super::documents::{Pubmed, QUASI, dissect};
use crate::plot::{Axis, Chart, Series};
use crate::resources::{cpu, mb, memory, reset_peak, timed};

/// What a run took: seconds by the clock and of the processor, and bytes beyond what was there before.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    cpu: f64,
    peak: u64,
}

fn cost(file: &PolicyFile) -> Cost {
    reset_peak();
    let (before, began) = (memory().0, cpu());
    let (_, time) = timed(|| dissect(file));
    Cost { seconds: time.as_secs_f64(), cpu: cpu() - began, peak: memory().1.saturating_sub(before) }
}

/// Figures 11 (plain), 12 (Anatomy), 13 (both) and 14 (memory of Anatomy).
pub(crate) fn figures(pubmed: &Pubmed, out: Option<&Path>) {
    let models = [Model::None, Model::Anatomy, Model::Delta];
    let names = ["plain", "anatomy", "delta"];
    for (name, label, points) in [
        ("a", "quasi elements", (1..=QUASI.len()).collect::<Vec<_>>()),
        ("b", "people per group", vec![10, 20, 30, 40, 50]),
    ] {
        println!("dissect, figures 11{name} to 14{name}: over {label}, PubMed");
        println!(
            "  {label:>18} {}",
            names.map(|n| format!("{n:>10} {:>9} {:>9}", "cpu", "memory")).join("  ")
        );
        let line = |n: &str| Series { name: n.to_owned(), points: Vec::new() };
        let (mut times, mut memories) = (names.map(line), names.map(line));
        for &x in &points {
            let (quasi, size) = if name == "a" { (x, 10) } else { (QUASI.len(), x) };
            let mut cells = Vec::new();
            for (at, &model) in models.iter().enumerate() {
                let found = cost(&pubmed.policy(&pubmed.path, model, quasi, Some(size)));
                times[at].points.push((x as f64, found.cpu));
                memories[at].points.push((x as f64, mb(found.peak)));
                cells.push(format!(
                    "{:>8.2} s {:>7.2} s {:>6.1} MB",
                    found.seconds,
                    found.cpu,
                    mb(found.peak)
                ));
            }
            println!("  {x:>18} {}", cells.join("  "));
        }
        for (kind, y, series) in
            [("time", "seconds of the processor", times), ("memory", "megabytes", memories)]
        {
            let chart = Chart {
                title: format!("Dissection of PubMed: {kind}"),
                x: Axis::linear(label),
                y: Axis::linear(y),
                series: series.into(),
            };
            save(out, &format!("dissect-11-14{name}-{kind}"), &chart);
        }
    }
}

/// How long the tokenizer takes for a document whose events nobody looks at.
fn bare(path: &Path) -> f64 {
    let file = File::open(path).expect("readable");
    let mut reader = Reader::from_reader(BufReader::with_capacity(1 << 16, file));
    let mut buffer = Vec::new();
    let (events, time) = timed(|| {
        let mut events = 0u64;
        loop {
            buffer.clear();
            match reader.read_event_into(&mut buffer).expect("XML") {
                Event::Eof => return events,
                _ => events += 1,
            }
        }
    });
    assert!(events > 0);
    time.as_secs_f64()
}

/// Plain dissection against the bare tokenizer, the others against plain.
pub(crate) fn throughput(pubmed: &Pubmed) {
    let tokenizer = (0..3).map(|_| bare(&pubmed.path)).fold(f64::MAX, f64::min);
    let rate = |seconds: f64| pubmed.bytes as f64 / seconds / 1e6;
    println!("dissect: throughput on PubMed, {:.0} MB, 5 quasi elements; best of three", mb(pubmed.bytes));
    println!("  quick-xml, events dropped {tokenizer:7.2} s  {:6.0} MB/s", rate(tokenizer));
    let mut plain = f64::MAX;
    for (name, model, size) in [
        ("plain, without sort", None, None),
        ("plain, with sort", Some(Model::None), None),
        ("plain, groups of 10", Some(Model::None), Some(10)),
        ("anatomy, groups of 10", Some(Model::Anatomy), Some(10)),
        ("delta, groups of 10", Some(Model::Delta), Some(10)),
    ] {
        let file = pubmed.policy(&pubmed.path, model.unwrap_or(Model::None), 5, size);
        let run = || match model {
            None => timed(|| super::documents::unsorted(&file)).1.as_secs_f64(),
            Some(_) => cost(&file).seconds,
        };
        let best = (0..3).map(|_| run()).fold(f64::MAX, f64::min);
        if name == "plain, with sort" {
            plain = best;
        }
        let against = if model.is_none() || model == Some(Model::None) {
            format!("{:.0} % of the tokenizer's", 100.0 * tokenizer / best)
        } else {
            format!("{:.2} times plain", best / plain)
        };
        println!("  {name:25} {best:7.2} s  {:6.0} MB/s, {against}", rate(best));
    }
}

/// Memory on a document that is many times as long.
pub(crate) fn grown(pubmed: &Pubmed, bytes: u64) {
    let path = pubmed.grown(bytes);
    let size = std::fs::metadata(&path).expect("there").len();
    println!("dissect: a document grown to {:.0} MB", mb(size));
    let people = size / (pubmed.bytes / 30_000);
    for (name, model, group_size) in [
        ("plain", Model::None, None),
        ("anatomy, groups of 10", Model::Anatomy, Some(10)),
        ("delta, groups of 10", Model::Delta, Some(10)),
    ] {
        let found = cost(&pubmed.policy(&path, model, 5, group_size));
        println!(
            "  {name:25} {:7.1} s {:7.1} s cpu, memory {:6.1} MB, {:.0} bytes per record",
            found.seconds,
            found.cpu,
            mb(found.peak),
            found.peak as f64 / people as f64
        );
    }
}
