//! `bosket hierarchy` as it is typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::{Reading, Sets};

/// `bosket hierarchy`
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one per process")]
pub enum Hierarchy {
    /// Build a hierarchy and write it as CSV
    Build(HierarchyBuild),
    /// Draw a hierarchy as a tree, with counts when data is given
    Show(HierarchyShow),
    /// Check a hierarchy, and that it covers all values when data is given
    Check(HierarchyCheck),
}

/// An attribute of a dataset.
#[derive(Clone, Debug, Args)]
pub struct DataColumn {
    /// A dataset whose values are to be covered and counted
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "path")]
    pub data: Option<PathBuf>,
    /// The attribute, such as `visits[].hospital`
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// How to read the dataset
    #[command(flatten)]
    pub reading: Reading,
}

/// Which hierarchy: a file, or an attribute's in a policy.
#[derive(Clone, Debug, Args)]
pub struct WhichHierarchy {
    /// A hierarchy in CSV: `leaf;parent;…;*`, one leaf per line
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "policy")]
    pub file: Option<PathBuf>,
    /// Take the hierarchy of the attribute `--path` from this policy, and its data too unless `--data` is given
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "path", conflicts_with = "file")]
    pub policy: Option<PathBuf>,
    /// Overrides
    #[command(flatten)]
    pub sets: Sets,
    /// The data
    #[command(flatten)]
    pub column: DataColumn,
    /// Name the values that are not covered
    #[arg(long)]
    pub show_values: bool,
}

/// A builder by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Builder {
    /// Numbers in nested intervals: --min, --max, --widths, --clamp
    Interval,
    /// Day, month, quarter, year, decade: --min, --max, --levels, --date-format, --clamp
    Date,
    /// Text masked from the right; over --values or --data
    Prefix,
    /// Names by their first letters; over --values or --data
    Letters,
    /// Balanced tree over the sorted values; --fanout; over --values or --data
    Fanout,
    /// ICD-10 chapters, blocks, categories; --table; over --values or --data
    Icd10,
    /// ATC codes of medicines: five levels of groups; over --values or --data
    Atc,
    /// Groups given as JSON: --groups '[["a","b"],{"label":"C","values":["c"]}]'
    Order,
}

/// `bosket hierarchy build`
#[derive(Debug, Args)]
pub struct HierarchyBuild {
    /// The builder
    #[arg(value_enum)]
    pub builder: Builder,
    /// Lowest value, or first day
    #[arg(long, allow_hyphen_values = true)]
    pub min: Option<String>,
    /// Highest value, or last day
    #[arg(long, allow_hyphen_values = true)]
    pub max: Option<String>,
    /// Interval widths, finest first, such as 5,10,50
    #[arg(long, value_delimiter = ',')]
    pub widths: Vec<f64>,
    /// Give values outside a leaf of their own: none, top, bottom, both
    #[arg(long)]
    pub clamp: Option<String>,
    /// Date levels to keep: month,quarter,year,decade
    #[arg(long, value_delimiter = ',')]
    pub levels: Vec<String>,
    /// How the values write days, such as %y%m%d or %d.%m.%Y
    #[arg(long, value_name = "FORMAT")]
    pub date_format: Option<String>,
    /// Children per node
    #[arg(long)]
    pub fanout: Option<usize>,
    /// Another edition of ICD-10: CSV with columns code and parent
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub table: Option<PathBuf>,
    /// Groups as JSON
    #[arg(long)]
    pub groups: Option<String>,
    /// A file with one value per line; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "data")]
    pub values: Option<PathBuf>,
    /// The data
    #[command(flatten)]
    pub column: DataColumn,
    /// Where to write; standard output by default
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
    /// Name the values that the builder cannot place
    #[arg(long)]
    pub show_values: bool,
}

/// `bosket hierarchy show`
#[derive(Debug, Args)]
pub struct HierarchyShow {
    /// Which
    #[command(flatten)]
    pub which: WhichHierarchy,
    /// Most children drawn per node
    #[arg(long, default_value_t = 12)]
    pub children: usize,
    /// Deepest level drawn
    #[arg(long)]
    pub depth: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bosket hierarchy check`
#[derive(Debug, Args)]
pub struct HierarchyCheck {
    /// Which
    #[command(flatten)]
    pub which: WhichHierarchy,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
