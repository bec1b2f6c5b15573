//! Folders that publications are put into.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosket_model::Result;

use crate::atomic::{Create, StagedFolder};
use crate::output::make_folder;

/// A folder that goes away again if it was made for files that never came.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    made: bool,
}

impl Folder {
    pub(crate) fn make(path: &Path) -> Result<Self> {
        let made = !path.as_os_str().is_empty() && !path.exists();
        if made {
            make_folder(path)?;
        }
        Ok(Folder { path: path.to_owned(), made })
    }

    /// The files are there.
    pub(crate) fn keep(mut self) {
        self.made = false;
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.made {
            // Fails if it is not empty, as it should.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

/// The folder of a publication, whose files are put in place together wherever that can be. It must outlive them.
#[derive(Debug)]
pub(crate) struct PublishedFolder {
    _staged: Option<Arc<StagedFolder>>,
    /// The folder around it or, where files get their names one by one, itself.
    made: Folder,
}

impl PublishedFolder {
    pub(crate) fn begin(path: &Path, create: &Create) -> Result<Self> {
        let around = Folder::make(path.parent().unwrap_or(Path::new("")))?;
        match StagedFolder::begin(path, create)? {
            Some(staged) => Ok(PublishedFolder { _staged: Some(staged), made: around }),
            None => {
                around.keep();
                Ok(PublishedFolder { _staged: None, made: Folder::make(path)? })
            }
        }
    }

    /// The files are there.
    pub(crate) fn keep(self) {
        self.made.keep();
    }
}
