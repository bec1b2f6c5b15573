//! The files of linked tables, where each table has one of its own.

use std::path::{Path, PathBuf};

use bosket_model::policy::Policy;
use bosket_model::{Diagnostic, Result};

use super::backend::At;
use crate::fault;
use crate::hidden::Hidden;
use crate::input::Input;
use crate::problems::Problems;

/// Where the files are.
#[derive(Debug)]
pub(crate) enum Files {
    /// At the policy's paths, relative to its folder.
    Paths(PathBuf),
    /// All in one folder, under the last parts of the policy's paths: a publication.
    Folder(PathBuf),
    /// Hidden, by the names they are going to have.
    Hidden(Vec<(String, Hidden)>),
}

/// What a table's file is called in a publication: the last part of its path.
pub(crate) fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |n| n.to_string_lossy().into_owned())
}

/// Files that may lie with what they certify: a policy's certificate, and signatures of it.
pub fn certificate_files(policy: &Policy) -> [String; 4] {
    let certificate = policy.publish.as_ref().and_then(|p| p.certificate.as_deref());
    let certificate = certificate.map_or_else(|| "certificate.json".to_owned(), file_name);
    ["", ".asc", ".minisig", ".sig"].map(|ending| format!("{certificate}{ending}"))
}

impl Files {
    /// What messages call the file that a policy has under a path.
    pub(crate) fn place(&self, path: &str) -> String {
        match self {
            Files::Paths(folder) => folder.join(path).to_string_lossy().into_owned(),
            Files::Folder(folder) => folder.join(file_name(path)).to_string_lossy().into_owned(),
            Files::Hidden(_) => file_name(path),
        }
    }

    /// Refuses a folder in which other files lie than these.
    pub(crate) fn refuse_others(&self, tables: &[At<'_>], others: &[String]) -> Result<()> {
        let Files::Folder(folder) = self else { return Ok(()) };
        let name = folder.to_string_lossy();
        let known: Vec<String> = tables.iter().map(|t| file_name(t.path.unwrap_or(t.name))).collect();
        let mut problems = Problems::new(&name);
        let entries = std::fs::read_dir(folder).map_err(|e| fault::reading(&name, &e))?;
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| fault::reading(&name, &e))?;
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
        found.sort_unstable();
        for file in found.iter().filter(|file| !known.contains(file) && !others.contains(file)) {
            problems.push(|place| {
                let what = format!("`{file}` lies in the folder and is no part of the publication");
                Diagnostic::error(what).at(place).help("take it out: `verify` cannot judge what it says")
            });
        }
        problems.settle()
    }

    /// Opens the file, of which no row may be longer than `limit`, and as much may be packed into a small one.
    pub(crate) fn open(&self, path: &str, limit: u64) -> Result<Input> {
        let mut input = self.open_any(path)?;
        input.limit(limit);
        Ok(input)
    }

    fn open_any(&self, path: &str) -> Result<Input> {
        match self {
            Files::Paths(folder) => Input::open(&folder.join(path)),
            Files::Folder(folder) => Input::open(&folder.join(file_name(path))),
            Files::Hidden(files) => {
                let name = file_name(path);
                match files.iter().find(|(n, _)| *n == name) {
                    Some((_, hidden)) => hidden.open(&name),
                    None => Input::new(&name, std::io::empty(), None),
                }
            }
        }
    }
}
