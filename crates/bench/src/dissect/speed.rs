//! Figures 11 to 14: time and memory over quasi elements and group size; throughput; memory on a grown document.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

use bosket_model::policy::Model;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::degrees::save;
use super::documents::{Pubmed, QUASI, dissect, policy, unsorted};
use crate::plot::{Axis, Chart, Series};
use crate::resources::{cpu, mb, memory, timed};

/// What a run took: seconds by the clock and of the processor, and the most memory of its process.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    cpu: f64,
    peak: u64,
}

/// What dissecting a document takes; told on standard output.
pub(crate) fn here(path: &Path, model: &str, quasi: usize, group_size: Option<usize>) {
    let began = cpu();
    let (_, time) = match Model::from_name(model) {
        Some(model) => timed(|| dissect(&policy(path, model, quasi, group_size)).0.written.people),
        None => timed(|| unsorted(&policy(path, Model::None, quasi, group_size))),
    };
    println!("{} {} {}", time.as_secs_f64(), cpu() - began, memory().1);
}

/// The same in a process of its own: what others leave in memory does not count.
fn apart(path: &Path, model: &str, quasi: usize, group_size: Option<usize>) -> Option<Cost> {
    let own = std::env::current_exe().expect("this program");
    let mut command = Command::new(own);
    command.args(["dissect-one", model, "--quasi", &quasi.to_string()]).arg(path);
    if let Some(size) = group_size {
        command.args(["--group-size", &size.to_string()]);
    }
    let output = command.output().expect("this program runs");
    let told = String::from_utf8_lossy(&output.stdout);
    let mut numbers = told.split_whitespace().map(|n| n.parse::<f64>().ok());
    let mut next = || numbers.next().flatten();
    Some(Cost { seconds: next()?, cpu: next()?, peak: next()? as u64 })
}

/// Figures 11 (plain), 12 (Anatomy), 13 (both) and 14 (memory of Anatomy).
pub(crate) fn figures(pubmed: &Pubmed, out: Option<&Path>) {
    let models = ["none", "anatomy", "delta"];
    let names = ["plain", "anatomy", "delta"];
    for (name, label, points) in [
        ("a", "quasi elements", (1..=QUASI.len()).collect::<Vec<_>>()),
        ("b", "people per group", vec![10, 20, 30, 40]),
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
            for (at, model) in models.iter().enumerate() {
                let Some(found) = apart(&pubmed.path, model, quasi, Some(size)) else {
                    cells.push(format!("{:>28}", "-"));
                    continue;
                };
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
        ("plain, without sort", "unsorted", None),
        ("plain, with sort", "none", None),
        ("plain, groups of 10", "none", Some(10)),
        ("anatomy, groups of 10", "anatomy", Some(10)),
        ("delta, groups of 10", "delta", Some(10)),
    ] {
        let runs = (0..3).filter_map(|_| apart(&pubmed.path, model, 5, size));
        let Some(best) = runs.map(|c| c.seconds).reduce(f64::min) else { continue };
        if name == "plain, with sort" {
            plain = best;
        }
        let against = match model {
            "unsorted" | "none" => format!("{:.0} % of the tokenizer's", 100.0 * tokenizer / best),
            _ => format!("{:.2} times plain", best / plain),
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
        ("plain, without sort", "unsorted", None),
        ("plain", "none", None),
        ("anatomy, groups of 10", "anatomy", Some(10)),
        ("delta, groups of 10", "delta", Some(10)),
    ] {
        let Some(found) = apart(&path, model, 5, group_size) else { continue };
        println!(
            "  {name:25} {:7.1} s {:7.1} s cpu, memory {:6.1} MB, {:.0} bytes per record",
            found.seconds,
            found.cpu,
            mb(found.peak),
            found.peak as f64 / people as f64
        );
    }
}
