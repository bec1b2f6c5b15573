//! The files of linked tables, where each table has one of its own.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosket_model::Result;

use crate::input::Input;

/// Where the files are.
#[derive(Debug)]
pub(crate) enum Files {
    /// At the policy's paths, relative to its folder.
    Paths(PathBuf),
    /// All in one folder, under the last parts of the policy's paths: a publication.
    Folder(PathBuf),
    /// In memory, by the names they are going to have.
    Memory(Vec<(String, Shared)>),
}

/// Bytes that are read while they are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(pub(crate) Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
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
            Files::Memory(_) => file_name(path),
        }
    }

    /// Opens the file.
    pub(crate) fn open(&self, path: &str) -> Result<Input> {
        match self {
            Files::Paths(folder) => Input::open(&folder.join(path)),
            Files::Folder(folder) => Input::open(&folder.join(file_name(path))),
            Files::Memory(files) => {
                let name = file_name(path);
                let bytes = files.iter().find(|(n, _)| *n == name).map(|(_, b)| b.clone());
                Input::new(&name, Cursor::new(bytes.unwrap_or_default()), None)
            }
        }
    }
}
