//! Bosket's benchmarks: what is fast, by how much, on which data. A benchmark reports, it never asserts.

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

#[derive(Subcommand, Clone, Copy)]
enum Suite {
    /// Building a dataset from NDJSON against parsing it into JSON values; memory
    Read,
    /// Verification of k^(m,n)
    Verify,
}

fn main() {
    let cli = Cli::parse();
    if !matches!(cli.suite, Some(Suite::Verify)) {
        read::run(cli.people);
    }
    if !matches!(cli.suite, Some(Suite::Read)) {
        verify::run();
    }
}
