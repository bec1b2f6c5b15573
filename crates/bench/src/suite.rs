//! All experiments in one command: the papers' suites, growth and peers, written down as JSON, Markdown and plots.

mod anonymize;
mod compare;
mod data;
mod dissect;
mod docs;
mod draw;
mod fit;
mod growth;
mod job;
mod machine;
mod markdown;
mod paper000;
mod paper001;
mod paper002;
mod paper003;
mod paper004;
mod peers;
mod result;
mod rules;
#[cfg(test)]
mod samples;
mod sweep;
mod wide;

use std::path::PathBuf;

pub(crate) use compare::compare;
pub(crate) use docs::write as docs;
pub(crate) use job::here as point;
pub(crate) use sweep::Extent;

use data::{Datasets, SEED};
use result::{FORM, Machine, Results, Suite, Versions};
use sweep::Bench;

/// A suite and its name.
type Named = (&'static str, fn(&Bench) -> Result<Suite, String>);

/// All suites, in the order in which they run.
const SUITES: [Named; 8] = [
    (paper000::NAME, paper000::run),
    (paper001::NAME, paper001::run),
    (paper002::NAME, paper002::run),
    (paper003::NAME, paper003::run),
    (paper004::NAME, paper004::run),
    (growth::NAME, growth::run),
    (peers::NAME, peers::run),
    (wide::NAME, wide::run),
];

/// What is asked for.
pub(crate) struct Options {
    /// How much.
    pub(crate) extent: Extent,
    /// Only these suites; all if there are none.
    pub(crate) only: Vec<String>,
    /// Where results go.
    pub(crate) out: PathBuf,
}

/// Runs suites and writes `results.json`, `results.md` and `plots/`. The error says what is wrong with what was asked for, or with
/// the folder.
pub(crate) fn run(options: Options) -> Result<(), String> {
    let unknown: Vec<&str> = (options.only.iter().map(String::as_str))
        .filter(|name| !SUITES.iter().any(|suite| suite.0 == *name))
        .collect();
    if !unknown.is_empty() {
        let names = SUITES.map(|suite| suite.0).join(", ");
        return Err(format!("there is no suite {}; there are {names}", unknown.join(", ")));
    }
    let failed = |path: &PathBuf, e: std::io::Error| format!("{}: {e}", path.display());
    std::fs::create_dir_all(&options.out).map_err(|e| failed(&options.out, e))?;
    let out = std::fs::canonicalize(&options.out).map_err(|e| failed(&options.out, e))?;
    let bench = Bench::new(options.extent, out.clone(), Datasets::new(out.join("data")));
    let mut suites = Vec::new();
    for (name, suite) in
        SUITES.iter().filter(|s| options.only.is_empty() || options.only.iter().any(|o| o == s.0))
    {
        bench.tell(name);
        let begun = bench.elapsed();
        // One suite's trouble is not that of the others.
        let mut found = suite(&bench).unwrap_or_else(|why| Suite {
            name: (*name).to_owned(),
            title: (*name).to_owned(),
            seconds: 0.0,
            tables: Vec::new(),
            notes: vec![format!("not run: {why}")],
            claims: Vec::new(),
        });
        found.seconds = bench.elapsed() - begun;
        suites.push(found);
    }
    let results = Results {
        form: FORM,
        extent: options.extent.name().to_owned(),
        machine: Machine::here(),
        versions: Versions::here(),
        seed: SEED,
        seconds: bench.elapsed(),
        datasets: bench.data.found(),
        suites,
    };
    let path = out.join("results.json");
    std::fs::write(&path, results.text()).map_err(|e| failed(&path, e))?;
    let path = out.join("results.md");
    let text = markdown::report(&results, "plots", &|_, _, _| true);
    std::fs::write(&path, text).map_err(|e| failed(&path, e))?;
    let plots = out.join("plots");
    draw::all(&results, &plots).map_err(|e| failed(&plots, e))?;
    bench.tell(&format!("written to {}: results.json, results.md, plots/", options.out.display()));
    Ok(())
}
