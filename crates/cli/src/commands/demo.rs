//! `bosket demo`: everything once, on invented patients, by the commands that a user would type.

use std::path::Path;

use bosket_model::{Diagnostic, Failure, Fault};

use crate::Outcome;
use crate::args::{Cli, Command, Demo};
use crate::output::print;
use crate::talk::Talk;
use clap::Parser;

pub fn run(args: &Demo, talk: &Talk) -> Result<Outcome, Failure> {
    let folder = args.out.display().to_string();
    let force: &[&str] = if args.force { &["--force"] } else { &[] };
    let (people, seed) = (args.people.to_string(), args.seed.to_string());
    let at = |name: &str| Path::new(&folder).join(name).display().to_string();
    let (policy, data, published) = (at("policy.toml"), at("data.ndjson"), at("published.ndjson"));

    step(
        &["generate", "clinic", "--people", &people, "--seed", &seed, "--out", &folder],
        force,
        talk,
        "Invented patients with visits, diagnoses and treatments; hierarchies; a policy that names a neighbour and a colleague.",
    )?;
    let raw = step(
        &["verify", &data, "--policy", &policy],
        &[],
        talk,
        "Does the raw data keep the promise? It should not.",
    )?;
    if !matches!(raw, Outcome::Violated) {
        let what = "the raw data already keeps the promise, so there is nothing to show";
        return Err(Failure::new(
            Fault::Usage,
            Diagnostic::error(what).help("take more people or another seed"),
        ));
    }
    step(
        &["anonymize", &policy],
        force,
        talk,
        "Make a publication that does, with its certificate and report.",
    )?;
    let certificate = at("published.ndjson.certificate.json");
    let mapping = at("private/mapping.csv");
    let steps: [(&[&str], &[&str], &str); 5] = [
        (&["verify", &published, "--certificate", &certificate], &[], "What anybody who gets it can check."),
        (
            &["verify", &published, "--policy", &policy, "--against", &data, "--mapping", &mapping],
            &[],
            "What only the owner of the data can check: nothing in it is untrue.",
        ),
        (
            &["attack", &data, "--policy", &policy, "--publication", &published],
            &[],
            "What an attacker finds, before and after.",
        ),
        (&["measure", &data, &published, "--policy", &policy], &[], "What it cost."),
        (&["report", &policy, "--internal"], force, "And for your own eyes: records before and after."),
    ];
    for (command, more, why) in steps {
        if matches!(step(command, more, talk, why)?, Outcome::Violated) {
            return Ok(Outcome::Violated);
        }
    }
    print(&format!(
        "\nDone. In {folder}:\n  \
         published.ndjson                    what may be handed out\n  \
         published.ndjson.certificate.json   what it promises, with hashes, for whoever gets it\n  \
         report.html                         for whoever signs it; open it in a browser\n  \
         private/                            keep: mapping and internal report\n\n\
         Try next:\n  \
         bosket sweep {policy} --k 2,5,10,20     what it would cost if more people had to fit\n  \
         bosket inspect YOUR_DATA --draft policy.toml     begin with your own data\n  \
         bosket serve {folder}     the same in the browser\n"
    ))?;
    Ok(Outcome::Done)
}

/// Runs a command as if it had been typed, and shows it.
fn step(command: &[&str], more: &[&str], talk: &Talk, why: &str) -> Result<Outcome, Failure> {
    let words: Vec<&str> = ["bosket"].iter().chain(command).chain(more).copied().collect();
    print(&format!("\n# {why}\n$ {}\n", words.join(" ")))?;
    let parsed = Cli::try_parse_from(&words)
        .map_err(|e| Failure::new(Fault::Usage, Diagnostic::error(e.to_string())))?;
    debug_assert!(!matches!(parsed.command, Command::Demo(_)), "a demo of the demo has no end");
    crate::run(&parsed.command, talk)
}
