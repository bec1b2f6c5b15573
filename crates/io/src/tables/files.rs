//! The files of linked tables, where each table has one of its own.

use std::path::{Path, PathBuf};

use bosket_model::Result;

use crate::hidden::Hidden;
use crate::input::Input;

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

impl Files {
    /// What messages call the file that a policy has under a path.
    pub(crate) fn place(&self, path: &str) -> String {
        match self {
            Files::Paths(folder) => folder.join(path).to_string_lossy().into_owned(),
            Files::Folder(folder) => folder.join(file_name(path)).to_string_lossy().into_owned(),
            Files::Hidden(_) => file_name(path),
        }
    }

    /// Opens the file.
    pub(crate) fn open(&self, path: &str) -> Result<Input> {
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
