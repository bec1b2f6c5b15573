//! A policy on disk.

use std::path::{Path, PathBuf};

use bosket_model::policy::Policy;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use crate::frames::Frames;
use crate::input::Input;

/// A policy with the folder that its paths are relative to.
#[derive(Debug)]
pub struct PolicyFile {
    /// What it says.
    pub policy: Policy,
    /// Where it lies.
    pub folder: PathBuf,
    /// What it says that it may not mean.
    pub warnings: Vec<Diagnostic>,
    /// What stands in memory where the policy names its source.
    pub frames: Option<Frames>,
}

impl PolicyFile {
    /// Reads a policy; `sets` are `key=value` arguments that override it.
    pub fn load(path: &Path, sets: &[String]) -> Result<Self> {
        Self::parse(path, &read_text(path)?, sets)
    }

    /// The same of a text that lies at a path, or would.
    pub fn parse(path: &Path, text: &str, sets: &[String]) -> Result<Self> {
        let name = path.to_string_lossy();
        let (policy, warnings) =
            Policy::parse(&name, text, sets).map_err(|all| Failure::all(Fault::Policy, all))?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(PolicyFile { policy, folder, warnings, frames: None })
    }

    /// A path of the policy, seen from here.
    pub fn resolve(&self, path: &str) -> PathBuf {
        if path == "-" { PathBuf::from(path) } else { self.folder.join(path) }
    }
}

/// What people write by hand, and certificates.
const SHORT: u64 = 64 << 20;
/// What has a line per value or record.
const LONG: u64 = 1 << 30;

/// A whole text file of up to 64 MiB; compressed ones too.
pub fn read_text(path: &Path) -> Result<String> {
    text_of(path, SHORT)
}

/// The same of up to 1 GiB: hierarchies and mappings.
pub fn read_long_text(path: &Path) -> Result<String> {
    text_of(path, LONG)
}

fn text_of(path: &Path, most: u64) -> Result<String> {
    let mut input = Input::open(path)?;
    let bytes = input.read_at_most(most)?;
    String::from_utf8(bytes).map_err(|e| {
        let line =
            e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count() as u64 + 1;
        let place = bosket_model::Place::source(path.to_string_lossy()).line(line);
        let what = Diagnostic::error("the text is not UTF-8").at(place).help("convert the file to UTF-8");
        Failure::new(Fault::Data, what)
    })
}
