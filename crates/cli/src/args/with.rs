//! Earlier releases about the same people.

use std::path::PathBuf;

use bosket_app::joint::Earlier;
use bosket_model::{Diagnostic, Failure, Fault, Result};
use clap::{Args, ValueHint};

/// Options of commands that look at several releases together. Those of one release stand in the order of the releases.
#[derive(Clone, Debug, Default, Args)]
pub struct With {
    /// An earlier release about the same people, to be looked at together; may be given several times
    #[arg(long = "with", value_name = "EARLIER", group = "by-mapping", value_hint = ValueHint::AnyPath)]
    pub with: Vec<PathBuf>,
    /// The private mapping of the earlier release; one per --with, in their order
    #[arg(long, value_name = "FILE", requires = "with", value_hint = ValueHint::FilePath)]
    pub with_mapping: Vec<PathBuf>,
    /// The private input of the earlier release, if it was another file: people are then linked by --link; one per --with
    #[arg(long, value_name = "INPUT", requires = "with", value_hint = ValueHint::AnyPath)]
    pub with_against: Vec<PathBuf>,
    /// The identifying attribute that both inputs have, or of linked tables a column of the people's, such as its key [default: the first one that names everybody]
    #[arg(long, value_name = "PATH", requires = "with_against")]
    pub link: Option<String>,
}

impl With {
    /// The earlier releases.
    pub fn earlier(&self) -> Result<Vec<Earlier>> {
        for (name, given) in [("--with-mapping", &self.with_mapping), ("--with-against", &self.with_against)]
        {
            if !given.is_empty() && given.len() != self.with.len() {
                let what = format!("{name} is given {} times, but --with {}", given.len(), self.with.len());
                let help = "give one for each earlier release, in the same order";
                return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
            }
        }
        let of = |(at, publication): (usize, &PathBuf)| Earlier {
            publication: publication.clone(),
            certificate: None,
            mapping: self.with_mapping.get(at).cloned(),
            input: self.with_against.get(at).cloned(),
            link: self.link.clone(),
        };
        Ok(self.with.iter().enumerate().map(of).collect())
    }
}
