//! `bosket generate` as it is typed.

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueHint};

/// `bosket generate`
#[derive(Debug, Subcommand)]
pub enum Generate {
    /// A clinic group: patients, visits, diagnoses, treatments
    Clinic {
        /// How many patients
        #[arg(long, default_value_t = 2000)]
        people: u64,
        /// Another seed gives other patients
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// The folder to write into
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: PathBuf,
        /// Replace files that exist
        #[arg(long)]
        force: bool,
    },
    /// A hospital's database in OMOP's tables: people with some hundred events each, as linked CSV files and as SQLite
    Hospital {
        /// How many people
        #[arg(
            long,
            value_name = "N",
            default_value_t = 1000,
            value_parser = clap::value_parser!(u64).range(1..=10_000_000)
        )]
        people: u64,
        /// About how many events a person has; some have one, and some more than three times as many
        #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=100_000))]
        events_per_person: u64,
        /// Another seed gives other people
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// The folder to write into
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: PathBuf,
        /// Replace files that exist
        #[arg(long)]
        force: bool,
    },
    /// Customers of the TPC-H benchmark with their orders and items, as NDJSON and as linked tables
    Tpch {
        /// How many customers
        #[arg(
            long,
            value_name = "N",
            default_value_t = 250_000,
            value_parser = clap::value_parser!(u64).range(1..=bosket_generate::tpch::LARGEST_SCALE)
        )]
        customers: u64,
        /// How records are laid out
        #[arg(long, value_enum, default_value_t = TpchShape::Chain)]
        shape: TpchShape,
        /// The folder to write into
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: PathBuf,
        /// Replace files that exist
        #[arg(long)]
        force: bool,
    },
    /// Students, their courses and books, as NDJSON and as linked tables
    Students {
        /// How many students
        #[arg(
            long,
            value_name = "N",
            default_value_t = 1000,
            value_parser = clap::value_parser!(u64).range(1..=10_000_000)
        )]
        students: u64,
        /// Which students
        #[arg(long, value_enum, default_value_t = StudentKind::SyntheticS)]
        kind: StudentKind,
        /// Another seed gives other students
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// The folder to write into
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: PathBuf,
        /// Replace files that exist
        #[arg(long)]
        force: bool,
    },
    /// Shopping baskets like those of BMS-POS: 1,657 articles, 6.5 per basket on average, at most 164
    Baskets {
        /// How many baskets
        #[arg(
            long,
            value_name = "N",
            default_value_t = bosket_generate::baskets::TRANSACTIONS,
            value_parser = clap::value_parser!(u64).range(1..)
        )]
        transactions: u64,
        /// Another seed gives other baskets
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// The folder to write into
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: PathBuf,
        /// Replace files that exist
        #[arg(long)]
        force: bool,
    },
    /// People with one sensitive value each, out of a hierarchy of given shape
    SensitiveTree {
        /// Children per node of the hierarchy
        #[arg(long, default_value_t = 3, value_parser = at_least_two)]
        fanout: usize,
        /// Levels of the hierarchy, the root's included
        #[arg(long, default_value_t = 5, value_parser = at_least_two)]
        depth: usize,
        /// How many levels, from the lowest up, occur in the data
        #[arg(long, default_value_t = 2)]
        levels: usize,
        /// Fewest occurrences of a value
        #[arg(long, default_value_t = 0)]
        least: usize,
        /// Most occurrences of a value
        #[arg(long, default_value_t = 5)]
        most: usize,
        /// People per group in the policies
        #[arg(long, default_value_t = 5, value_parser = at_least_two)]
        group_size: usize,
        /// Another seed gives other people
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// The folder to write into
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: PathBuf,
        /// Replace files that exist
        #[arg(long)]
        force: bool,
    },
}

fn at_least_two(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n >= 2).ok_or_else(|| "a whole number from 2 on is needed".to_owned())
}

/// Which students are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum StudentKind {
    /// A few courses each
    School,
    /// A whole program: student, courses, books
    #[value(name = "syntheticS")]
    SyntheticS,
    /// The same, year by year: student, years, courses, books
    #[value(name = "syntheticT")]
    SyntheticT,
}

/// How customers of TPC-H are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TpchShape {
    /// Price above date above items
    Chain,
    /// Prices beside items, both below the date, in the measures of the paper on k^(m,n)-anonymity; no linked tables
    Paper,
}

impl Generate {
    /// Where it goes.
    pub fn out(&self) -> &Path {
        match self {
            Generate::Clinic { out, .. }
            | Generate::Hospital { out, .. }
            | Generate::Tpch { out, .. }
            | Generate::Students { out, .. }
            | Generate::Baskets { out, .. }
            | Generate::SensitiveTree { out, .. } => out,
        }
    }
}
