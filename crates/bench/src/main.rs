//! Bosket's benchmarks: what is fast, by how much, on which data. A benchmark reports, it never asserts.

mod cluster;
mod dissect;
mod km;
mod kmn;
mod kmn_loss;
mod read;
mod resources;
mod suite;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use bosket_generate::baskets;
use bosket_generate::tpch::Shape;
pub(crate) use bosket_report::plot;
use clap::{Parser, Subcommand};

/// That of the command line, which is what is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Bosket's benchmarks.
#[derive(Parser)]
struct Cli {
    /// One of the older suites, which print as they go
    #[command(subcommand)]
    suite: Option<Suite>,
    /// All experiments at small sizes: under five minutes on two cores
    #[arg(long, conflicts_with_all = ["full", "tiny"])]
    quick: bool,
    /// All experiments at the papers' sizes: three quarters of an hour on two cores
    #[arg(long)]
    full: bool,
    /// Just enough to see that it works
    #[arg(long, hide = true, conflicts_with = "full")]
    tiny: bool,
    /// Only these experiments: paper-000 to paper-004, growth, peers, wide
    #[arg(long, value_name = "SUITE", value_delimiter = ',')]
    only: Vec<String>,
    /// Where `results.json`, `results.md` and plots go
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    out: PathBuf,
    /// People in the generated data of the reading suite
    #[arg(long, global = true, default_value_t = 1_000_000)]
    people: u64,
}

#[derive(Subcommand, Clone)]
enum Suite {
    /// Our own against other people's tools on UCI Adult, in a virtual environment made for it
    Peers {
        /// Where the environment and results go
        #[arg(long, value_name = "DIR", default_value = "target/bench")]
        out: PathBuf,
    },
    /// How a run compares with an older one; what is more than 10 % slower or larger is marked
    Compare {
        /// The older `results.json`
        old: PathBuf,
        /// The newer one
        new: PathBuf,
    },
    /// Writes the chapter about benchmarks, and its plots in `pictures/` beside it, from a run
    Docs {
        /// A `results.json`
        results: PathBuf,
        /// An older one, to tell what has changed since
        #[arg(long, value_name = "OLD")]
        since: Option<PathBuf>,
        /// The chapter
        #[arg(long, value_name = "FILE", default_value = "docs/benchmarks.md")]
        out: PathBuf,
    },
    /// One measured point: a job as JSON on standard input, what came of it on standard output
    #[command(hide = true)]
    Point,
    /// Building a dataset from NDJSON against parsing it into JSON values; memory
    Read,
    /// Verification of k^(m,n)
    Verify,
    /// Dissection: distances reached, time and memory, on generated trees and on PubMed
    Dissect {
        /// Memory on a document grown to so many bytes
        #[arg(long, value_name = "BYTES", num_args = 0..=1, default_missing_value = "2000000000")]
        grow: Option<u64>,
        /// Also draw the figures, as SVG files in this folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// One dissection, for its own sake
    #[command(hide = true)]
    DissectOne {
        /// none, anatomy, delta, or unsorted
        model: String,
        /// The document
        path: PathBuf,
        /// How many quasi elements
        #[arg(long, default_value_t = 5)]
        quasi: usize,
        /// People per group
        #[arg(long)]
        group_size: Option<usize>,
    },
    /// Searches for k^m on sets: real ones beside the repository, and generated baskets
    Km {
        /// How many baskets
        #[arg(long, default_value_t = baskets::TRANSACTIONS)]
        transactions: u64,
        /// Growth, up to this many baskets
        #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "5000000")]
        grow: Option<u64>,
        /// Count the nodes of the paper's count tree for its figures, which takes long
        #[arg(long)]
        count_tree: bool,
        /// Also draw the figures, as SVG files in this folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// One of those searches, for its own sake
    #[command(hide = true)]
    KmSearch {
        /// Which sets
        source: String,
        /// How many baskets
        #[arg(long, default_value_t = baskets::TRANSACTIONS)]
        transactions: u64,
        /// A balanced hierarchy in place of the usual one
        #[arg(long)]
        fanout: Option<usize>,
        /// Count the nodes of the paper's count tree
        #[arg(long)]
        count_tree: bool,
        /// Values of the policy, such as `privacy.k=20`
        settings: Vec<String>,
    },
    /// Clusters of students: times, the literal algorithm, the figures of both papers
    Cluster {
        /// How many students
        #[arg(long, default_value_t = 1000)]
        students: u64,
        /// Also 5,000 and 20,000 students
        #[arg(long)]
        large: bool,
        /// How many students for the literal algorithm, which takes long
        #[arg(long, default_value_t = 250)]
        literal: u64,
        /// Also draw the figures, as SVG files in this folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// The folder of UCI Adult, if it is not beside the repository
        #[arg(long, value_name = "DIR")]
        adult: Option<PathBuf>,
    },
    /// Rows of UCI Adult alone
    #[command(hide = true)]
    ClusterAdult {
        /// The folder, if it is not beside the repository
        folder: Option<PathBuf>,
    },
    /// One run of a clustering algorithm on students
    #[command(hide = true)]
    ClusterSearch {
        /// school, syntheticS or syntheticT
        kind: String,
        /// How many students
        #[arg(long, default_value_t = 1000)]
        students: u64,
        /// Values of the policy, such as `privacy.l=5`
        settings: Vec<String>,
    },
    /// Searches for k^(m,n) on TPC-H records
    Kmn {
        /// How many customers
        #[arg(long, default_value_t = 100_000)]
        customers: u64,
        /// Only customers laid out like this: chain or paper
        #[arg(long)]
        shape: Option<String>,
        /// Only this algorithm
        #[arg(long)]
        algorithm: Option<String>,
        /// Values of the policy, such as `privacy.k=2`
        settings: Vec<String>,
    },
    /// Loss of k^(m,n): tables over k, m and g, the beam against all cuts, whether disassociation pays
    KmnLoss {
        /// How many customers for the tables over k, m and g
        #[arg(long, default_value_t = 10_000)]
        customers: u64,
        /// How many customers for the question whether disassociation pays
        #[arg(long, default_value_t = 100_000)]
        more: u64,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let extent = match (cli.quick, cli.full, cli.tiny) {
        (true, ..) => Some(suite::Extent::Quick),
        (_, true, _) => Some(suite::Extent::Full),
        (_, _, true) => Some(suite::Extent::Tiny),
        _ => (!cli.only.is_empty()).then_some(suite::Extent::Quick),
    };
    let experiments = |extent, only, out| suite::run(suite::Options { extent, only, out });
    let done = match (extent, cli.suite) {
        (Some(extent), None) => experiments(extent, cli.only, cli.out),
        (_, Some(Suite::Peers { out })) => {
            experiments(extent.unwrap_or(suite::Extent::Quick), vec!["peers".to_owned()], out)
        }
        (_, Some(Suite::Compare { old, new })) => suite::compare(&old, &new),
        (_, Some(Suite::Docs { results, since, out })) => suite::docs(&results, since.as_deref(), &out),
        (_, other) => {
            older(other, cli.people);
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bench: {why}");
            ExitCode::from(2)
        }
    }
}

/// The suites that print as they go.
fn older(suite: Option<Suite>, people: u64) {
    match suite {
        Some(Suite::Point) => suite::point(),
        Some(Suite::Read) => read::run(people),
        Some(Suite::Verify) => verify::run(),
        Some(Suite::Dissect { grow, out }) => dissect::run(&dissect::Options { grow, out }),
        Some(Suite::DissectOne { model, path, quasi, group_size }) => {
            dissect::here(&path, &model, quasi, group_size);
        }
        Some(Suite::Km { transactions, grow, count_tree, out }) => {
            km::run(&km::Options { transactions, grow, count_tree, out });
        }
        Some(Suite::KmSearch { source, transactions, fanout, count_tree, settings }) => {
            km::search_here(&km::Source { name: &source, transactions, fanout, count_tree }, &settings);
        }
        Some(Suite::Cluster { students, large, literal, out, adult }) => {
            cluster::run(&cluster::Options { students, large, literal, out, adult });
        }
        Some(Suite::ClusterAdult { folder }) => cluster::adult(folder.as_deref()),
        Some(Suite::ClusterSearch { kind, students, settings }) => {
            cluster::search_here(&kind, students, &settings);
        }
        Some(Suite::Kmn { customers, shape, algorithm, settings }) => {
            let algorithms = algorithm.map_or(SEARCHES.map(str::to_owned).to_vec(), |name| vec![name]);
            searches(customers, shape.as_deref(), &algorithms, &settings);
        }
        Some(Suite::KmnLoss { customers, more }) => kmn_loss::run(customers, more),
        // Peers, comparisons and documents are handled before.
        Some(Suite::Peers { .. } | Suite::Compare { .. } | Suite::Docs { .. }) => {}
        None => {
            read::run(people);
            verify::run();
            dissect::run(&dissect::Options { grow: None, out: None });
            searches(100_000, None, &SEARCHES.map(str::to_owned), &[]);
            cluster::run(&cluster::Options {
                students: 1000,
                large: true,
                literal: 250,
                out: None,
                adult: None,
            });
            let transactions = baskets::TRANSACTIONS;
            km::run(&km::Options { transactions, grow: None, count_tree: false, out: None });
        }
    }
}

const SEARCHES: [&str; 3] = ["gcs", "ocs", "best"];

/// Searches for k^(m,n), on both shapes unless one is asked for.
fn searches(customers: u64, shape: Option<&str>, algorithms: &[String], settings: &[String]) {
    let with = |name: &String| [vec![format!("method.algorithm={name}")], settings.to_vec()].concat();
    let all: Vec<Vec<String>> = algorithms.iter().map(with).collect();
    for (name, own) in [("chain", Shape::Chain), ("paper", Shape::Paper)] {
        if shape.is_none_or(|asked| asked == name) {
            kmn::run(own, customers, &all);
        }
    }
}
