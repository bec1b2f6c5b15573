//! `bosket export`

use std::path::PathBuf;

use bosket_app::export::About;
use clap::{Args, Subcommand, ValueHint};

/// `bosket export`
#[derive(Debug, Subcommand)]
pub enum Export {
    /// Croissant 1.1, which tools for machine learning read
    Croissant(ExportArgs),
    /// DCAT-AP 3, which catalogues of open data read
    Dcat(ExportArgs),
}

/// What metadata is made of.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Files are compared with the certificate first. The metadata holds their names, sizes and checksums, the \
paths of attributes, the guarantee, and what is said here; no value of the data."
)]
pub struct ExportArgs {
    /// The publication
    #[arg(value_hint = ValueHint::AnyPath)]
    pub publication: PathBuf,
    /// Its certificate
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub certificate: PathBuf,
    /// What it is called [default: the name of its first file]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// What is in it; the guarantee is added
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// The address of its licence
    #[arg(long, value_name = "URL")]
    pub license: Option<String>,
    /// Where it can be had; the files lie below
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Who publishes it
    #[arg(long, value_name = "NAME")]
    pub creator: Option<String>,
    /// When it is published, as YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
    /// Where to write [default: standard output]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

impl ExportArgs {
    /// What only the publisher knows.
    pub fn about(&self) -> About {
        let ExportArgs { name, description, license, url, creator, date, .. } = self.clone();
        About { name, description, license, url, creator, date }
    }
}
