//! k^m on sets: time, memory and loss of the searches, beside what others were measured at, and as in the figures of
//! Terrovitis, Mamoulis, Kalnis (2011).

mod figures;
mod peers;
mod search;
mod sets;

use std::path::PathBuf;

use bosket_engine::km::{self, Params};
use bosket_measure::sets::{Mining, SetLoss};
use bosket_measure::trees::Comparison;
use bosket_model::observe::Quiet;

use crate::resources::{mb, timed};
use search::{Outcome, Run};
use sets::{Sets, policy};

pub(crate) use search::here as search_here;
pub(crate) use sets::Source;

/// The searches that the paper compares on whole datasets.
const ALGORITHMS: [&str; 3] = ["aa", "lra", "vpa"];

/// What the suite is asked for.
pub(crate) struct Options {
    /// How many baskets are generated.
    pub(crate) transactions: u64,
    /// Up to how many baskets growth is looked at.
    pub(crate) grow: Option<u64>,
    /// The paper's figures give memory as nodes of its count tree, too.
    pub(crate) count_tree: bool,
    /// Where charts go.
    pub(crate) out: Option<PathBuf>,
}

impl Options {
    fn baskets(&self) -> Source<'static> {
        let (transactions, count_tree) = (self.transactions, self.count_tree);
        Source { name: sets::BASKETS, transactions, fanout: None, count_tree }
    }
}

/// A run on a whole dataset with k = 5.
struct Measured {
    dataset: &'static str,
    algorithm: &'static str,
    m: usize,
    run: Run,
}

pub(crate) fn run(options: &Options) {
    println!("km: k = 5, fan-out 5 where there is no hierarchy, {} threads", rayon::current_num_threads());
    println!(
        "  prepare: records laid over the hierarchy; search: alone, by the clock; cpu: the same, all threads; peak: of a process that does only this"
    );
    let mut measured = Vec::new();
    for name in sets::NAMES {
        let source = Source { name, ..options.baskets() };
        if let Some(data) = source.load() {
            describe(name, &data);
            let rows = whole(name, &source);
            mining(&data, &rows);
            measured.extend(rows);
        }
    }
    peers::print(&measured);
    let out = options.out.as_deref();
    figures::print(&measured, &options.baskets(), out);
    if let Some(most) = options.grow {
        figures::growth(most, &options.baskets(), out);
    }
}

fn describe(name: &str, data: &Sets) {
    println!(
        "{name}: {} transactions of {:.2} items, {} different; hierarchy of height {}",
        data.trees.len(),
        data.occurrences() as f64 / data.trees.len().max(1) as f64,
        data.trees.items().len(),
        data.hierarchy().height(),
    );
    println!(
        "  {:10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "prepare", "search", "cpu", "data", "peak", "NCP", "publish", "verify"
    );
}

/// All searches for m = 1 to 4; those whose publication is not sound are shown and left out.
fn whole(name: &'static str, source: &Source<'_>) -> Vec<Measured> {
    let mut rows = Vec::new();
    for algorithm in ALGORITHMS {
        for m in 1..=4 {
            let settings = [format!("method.algorithm={algorithm}"), format!("privacy.m={m}")];
            let Some(run) = Run::apart(source, &settings) else {
                continue;
            };
            let after = match run.outcome {
                Outcome::Sound { publish, verify, .. } => format!("{publish:>7.3} s {verify:>7.3} s"),
                Outcome::Nothing => "nothing is left to publish".to_owned(),
                Outcome::Unsound { items, support } => {
                    format!("NOT SOUND: {items} items are in {support} records")
                }
            };
            println!(
                "  {algorithm:5} m={m}  {:>7.3} s {:>7.3} s {:>7.3} s {:>6.0} MB {:>6.0} MB {:>7.2} % {after}",
                run.prepare,
                run.seconds,
                run.cpu,
                mb(run.data),
                mb(run.peak),
                run.ncp * 100.0,
            );
            if run.is_sound() {
                rows.push(Measured { dataset: name, algorithm, m, run });
            }
        }
    }
    rows
}

/// ML² and dML², the mean over the thresholds 1, 2 and 3 %, of searches that were sound.
fn mining(data: &Sets, rows: &[Measured]) {
    println!("  frequent itemsets at every level, thresholds 1, 2 and 3 % (figure 20), m = 3");
    println!(
        "  {:10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "itemsets", "NCP", "ML²", "dML²", "… of lost", "time"
    );
    for algorithm in rows.iter().filter(|r| r.m == 3).map(|r| r.algorithm) {
        let sets = [format!("method.algorithm={algorithm}")];
        let params = Params::new(&policy(&sets)).expect("possible");
        let Ok(release) = km::run(&data.trees, &data.hierarchies, &params, &Quiet) else {
            println!("  {algorithm:10} nothing is left to publish");
            continue;
        };
        let mapping: Vec<(u32, u32)> = (0..data.trees.len() as u32).map(|r| (r, r)).collect();
        let compared = Comparison {
            input: &data.trees,
            published: &release.trees,
            binding: &data.binding,
            hierarchies: &data.hierarchies,
            mapping: Some(&mapping),
        };
        let (loss, time) = timed(|| SetLoss::new(&compared, &Mining::default(), &Quiet).expect("comparable"));
        let ncp = loss.ncp().unwrap_or(f64::NAN) * 100.0;
        let Some(itemsets) = &loss.itemsets else {
            println!("  {algorithm:10} too many to mine; NCP {ncp:.2} %");
            continue;
        };
        let found: u64 = itemsets.thresholds[0].levels.iter().map(|l| l.input).sum();
        println!(
            "  {algorithm:10} {found:>9} {ncp:>7.2} % {:>7.2} % {:>9.3} {:>9.2} {:>7.2} s",
            itemsets.ml2() * 100.0,
            itemsets.dml2(),
            itemsets.dml2_undetected().unwrap_or(0.0),
            time.as_secs_f64()
        );
    }
}
