//! Which files may be touched: those below the folder that is served, wherever links lead, and those that were allowed.

use std::path::{Component, Path, PathBuf};

use axum::http::StatusCode;

use crate::error::{ApiError, Result};

/// The folder that is served.
pub(crate) struct Folder {
    root: PathBuf,
    allowed: Vec<PathBuf>,
}

impl Folder {
    /// Both by their real paths.
    pub(crate) fn new(root: &Path, allowed: &[PathBuf]) -> std::io::Result<Self> {
        let allowed = allowed.iter().map(|path| path.canonicalize()).collect::<std::io::Result<_>>()?;
        Ok(Folder { root: root.canonicalize()?, allowed })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The real path of something that is there.
    pub(crate) fn find(&self, path: &str) -> Result<PathBuf> {
        self.find_from(&self.root, path)
    }

    /// The same, as a file in some folder names it.
    pub(crate) fn find_from(&self, folder: &Path, path: &str) -> Result<PathBuf> {
        let real = folder.join(path).canonicalize();
        let real = real.map_err(|_| ApiError::missing(format!("`{path}` is not there")))?;
        self.admit(real, path)
    }

    /// The real path of something that may not be there yet; the folder it is in must be.
    pub(crate) fn place_from(&self, folder: &Path, path: &str) -> Result<PathBuf> {
        let wanted = folder.join(path);
        if let Ok(real) = wanted.canonicalize() {
            return self.admit(real, path);
        }
        let name = wanted.file_name().map(PathBuf::from);
        let mut above = wanted.parent();
        let mut rest: Vec<PathBuf> = name.into_iter().collect();
        while let Some(folder) = above {
            if let Ok(real) = folder.canonicalize() {
                return self.admit(rest.iter().rev().fold(real, |path, part| path.join(part)), path);
            }
            match folder.components().next_back() {
                Some(Component::Normal(part)) => rest.push(part.into()),
                _ => break,
            }
            above = folder.parent();
        }
        Err(ApiError::missing(format!("`{path}` has no folder")))
    }

    fn admit(&self, real: PathBuf, told: &str) -> Result<PathBuf> {
        if std::iter::once(&self.root).chain(&self.allowed).any(|allowed| real.starts_with(allowed)) {
            return Ok(real);
        }
        let what =
            format!("`{told}` is outside of the folder that is served: start with `--allow` to permit it");
        Err(ApiError::new(StatusCode::FORBIDDEN, what))
    }

    /// How pages and commands name a path: seen from the folder.
    pub(crate) fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_is_found() {
        let place = tempfile::tempdir().expect("a folder");
        let root = place.path().join("served");
        std::fs::create_dir_all(root.join("in")).expect("created");
        std::fs::write(place.path().join("secret"), "").expect("written");
        std::fs::write(root.join("in/file"), "").expect("written");
        std::os::unix::fs::symlink(place.path().join("secret"), root.join("link")).expect("linked");
        std::os::unix::fs::symlink(place.path(), root.join("out")).expect("linked");
        let folder = Folder::new(&root, &[]).expect("there");
        assert!(folder.find("in/file").is_ok());
        assert!(folder.find("in/../in/file").is_ok());
        for path in ["../secret", "link", "out/secret", "/etc/hostname", "in/../../secret"] {
            assert!(folder.find(path).is_err(), "{path}");
        }
        assert!(folder.place_from(folder.root(), "new/deeper/file").is_ok());
        for path in ["../new", "out/new", "/tmp/new", "nowhere/../../new"] {
            assert!(folder.place_from(folder.root(), path).is_err(), "{path}");
        }
        let allowing = Folder::new(&root, &[place.path().join("secret")]).expect("there");
        assert!(allowing.find("link").is_ok());
    }
}
