//! Which files may be touched: those below the folder that is served, wherever links lead, and those that were allowed.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use axum::http::StatusCode;
use bosket_model::Failure;

use crate::error::{ApiError, Result};
use crate::policy::is_policy_name;

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

    /// The real path of a policy: only what is called so is read and replaced as text.
    pub(crate) fn find_policy(&self, path: &str) -> Result<PathBuf> {
        let real = self.find(path)?;
        match real.is_file() && is_policy_name(&real) {
            true => Ok(real),
            false => {
                Err(ApiError::bad(format!("`{path}` is no policy: the name of a policy ends in `.toml`")))
            }
        }
    }

    /// The text of a file. Messages about it name it as pages do.
    pub(crate) fn read_text(&self, real: &Path) -> Result<String> {
        bosket_io::read_text(real).map_err(|failure| self.told(failure))
    }

    /// The same of a long one: a hierarchy.
    pub(crate) fn read_long_text(&self, real: &Path) -> Result<String> {
        bosket_io::read_long_text(real).map_err(|failure| self.told(failure))
    }

    /// A failure as pages may read it: no path of this machine stands in it.
    pub(crate) fn told(&self, failure: Failure) -> ApiError {
        ApiError::from(failure).without(&format!("{}/", self.root.display()))
    }

    /// The real path of something that may not be there yet; the folder it is in must be.
    pub(crate) fn place_from(&self, folder: &Path, path: &str) -> Result<PathBuf> {
        let wanted = folder.join(path);
        if path.is_empty() || path.contains('\0') {
            return Err(ApiError::bad("a file needs a name"));
        }
        if let Ok(real) = wanted.canonicalize() {
            return self.admit(real, path);
        }
        let name = wanted.file_name().map(PathBuf::from);
        let mut above = wanted.parent();
        let mut rest: Vec<PathBuf> = name.into_iter().collect();
        // Whoever writes to a link that leads nowhere yet writes where it leads.
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        if is_link(&wanted) {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                format!("`{path}` is a link that leads nowhere"),
            ));
        }
        while let Some(folder) = above {
            if is_link(folder) && folder.canonicalize().is_err() {
                return Err(ApiError::new(
                    StatusCode::FORBIDDEN,
                    format!("`{path}` is behind a link that leads nowhere"),
                ));
            }
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

    /// Refuses a folder with a link in it, however deep, that leads outside. Files are not looked at.
    pub(crate) fn admit_inside(&self, real: &Path) -> Result<()> {
        let mut open = vec![real.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(folder) = open.pop().filter(|folder| folder.is_dir()) {
            if !seen.insert(folder.clone()) {
                continue;
            }
            for entry in std::fs::read_dir(&folder)?.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_symlink() {
                    let Ok(led) = entry.path().canonicalize() else { continue };
                    open.push(self.admit(led, &self.name(&entry.path()))?);
                } else if kind.is_dir() {
                    open.push(entry.path());
                }
            }
            open.retain(|path| path.is_dir());
        }
        Ok(())
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
        // A link that leads nowhere yet would lead whoever writes.
        std::os::unix::fs::symlink(place.path().join("later"), root.join("dangling")).expect("linked");
        std::os::unix::fs::symlink(place.path().join("nowhere"), root.join("deep")).expect("linked");
        for path in ["dangling", "deep/new", "", "a\0b"] {
            assert!(folder.place_from(folder.root(), path).is_err(), "{path}");
        }
        // Links in a folder that is read as a whole.
        std::fs::create_dir_all(root.join("documents/deeper")).expect("created");
        std::os::unix::fs::symlink(root.join("in/file"), root.join("documents/inside")).expect("linked");
        assert!(folder.admit_inside(&root.join("documents")).is_ok());
        std::os::unix::fs::symlink(place.path().join("secret"), root.join("documents/deeper/x"))
            .expect("linked");
        assert!(folder.admit_inside(&root.join("documents")).is_err());
        let allowing = Folder::new(&root, &[place.path().join("secret")]).expect("there");
        assert!(allowing.find("link").is_ok());
    }
}
