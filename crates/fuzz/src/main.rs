//! Runs campaigns: `fuzz --target verify_kmn --instances 1000000 --seed 1 --threads 2`.
//!
//! Prints a row of a table per target: instances, how many of them held, seconds, disagreements. Stops at the first
//! disagreement with its seed; `--keep FILE` keeps the bytes.

use std::process::ExitCode;
use std::time::Duration;

use bosket_fuzz::{Campaign, TARGETS, Target, target};

const USAGE: &str = "usage: fuzz --target NAME|all|verify|anonymize|readers [--instances N] [--seconds N] [--seed N] \
                     [--threads N] [--keep FILE]";

struct Asked {
    targets: Vec<&'static Target>,
    instances: u64,
    seconds: Option<u64>,
    seed: u64,
    threads: usize,
    keep: Option<String>,
}

fn asked() -> Result<Asked, String> {
    let mut asked =
        Asked { targets: Vec::new(), instances: 1000, seconds: None, seed: 0, threads: 1, keep: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value\n{USAGE}"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} needs a number\n{USAGE}"));
        match name.as_str() {
            "--target" => asked.targets = chosen(&value)?,
            "--instances" => asked.instances = number()?,
            "--seconds" => asked.seconds = Some(number()?),
            "--seed" => asked.seed = number()?,
            "--threads" => asked.threads = number()?.max(1) as usize,
            "--keep" => asked.keep = Some(value),
            _ => return Err(format!("there is no option {name}\n{USAGE}")),
        }
    }
    if asked.targets.is_empty() { Err(USAGE.to_owned()) } else { Ok(asked) }
}

fn chosen(name: &str) -> Result<Vec<&'static Target>, String> {
    let all = || TARGETS.iter();
    match name {
        "all" => Ok(all().collect()),
        "readers" => Ok(all().filter(|t| !t.dice).collect()),
        "verify" | "anonymize" => Ok(all().filter(|t| t.name.starts_with(name)).collect()),
        _ => {
            let names: Vec<&str> = all().map(|t| t.name).collect();
            let unknown = || format!("there is no target {name}; there are {}", names.join(", "));
            target(name).map(|t| vec![t]).ok_or_else(unknown)
        }
    }
}

fn main() -> ExitCode {
    let asked = match asked() {
        Ok(asked) => asked,
        Err(usage) => {
            eprintln!("{usage}");
            return ExitCode::from(2);
        }
    };
    println!("| target | instances | held | seconds | disagreements |\n| --- | ---: | ---: | ---: | ---: |");
    for target in asked.targets {
        let campaign = Campaign {
            target,
            seed: asked.seed,
            instances: asked.instances,
            time: asked.seconds.map(Duration::from_secs),
            threads: asked.threads,
        };
        match campaign.run() {
            Ok(tally) => {
                let (instances, held, seconds) = (tally.instances, tally.held, tally.time.as_secs_f64());
                println!("| `{}` | {instances} | {held} | {seconds:.1} | 0 |", target.name);
            }
            Err(found) => {
                println!("| `{}` | {} | | | 1 |", target.name, found.seed.wrapping_sub(asked.seed) + 1);
                eprintln!("{}: seed {}: {}", target.name, found.seed, found.said);
                eprintln!("again: fuzz --target {} --seed {} --instances 1", target.name, found.seed);
                if let Some(path) = &asked.keep
                    && let Err(e) = std::fs::write(path, &found.data)
                {
                    eprintln!("{path}: {e}");
                }
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
