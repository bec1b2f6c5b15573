//! Bosket's benchmarks: what is fast, by how much, on which data. A benchmark reports, it never asserts.

mod kmn;
mod read;
mod resources;
mod verify;

use clap::{Parser, Subcommand};

/// Bosket's benchmarks.
#[derive(Parser)]
struct Cli {
    /// Which; all by default
    #[command(subcommand)]
    suite: Option<Suite>,
    /// People in the generated data of the reading suite
    #[arg(long, global = true, default_value_t = 1_000_000)]
    people: u64,
}

#[derive(Subcommand, Clone)]
enum Suite {
    /// Building a dataset from NDJSON against parsing it into JSON values; memory
    Read,
    /// Verification of k^(m,n)
    Verify,
    /// Searches for k^(m,n) on TPC-H records
    Kmn {
        /// How many customers
        #[arg(long, default_value_t = 100_000)]
        customers: u64,
        /// Only this algorithm
        #[arg(long)]
        algorithm: Option<String>,
    },
}

fn main() {
    let cli = Cli::parse();
    match cli.suite {
        Some(Suite::Read) => read::run(cli.people),
        Some(Suite::Verify) => verify::run(),
        Some(Suite::Kmn { customers, algorithm: Some(name) }) => {
            kmn::run(customers, &[&[format!("method.algorithm={name}").as_str()]]);
        }
        Some(Suite::Kmn { customers, algorithm: None }) => kmn::run(customers, SEARCHES),
        None => {
            read::run(cli.people);
            verify::run();
            kmn::run(100_000, SEARCHES);
        }
    }
}

const SEARCHES: &[&[&str]] =
    &[&["method.algorithm=gcs"], &["method.algorithm=ocs"], &["method.algorithm=best"]];
