//! The server's own folder: for nobody else to read, gone with the server. Where a server could not clean up any more, the
//! next one does; who still runs is told by a lock, which ends with its process however that ends.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

const PREFIX: &str = "bosket-serve-";
/// How often somebody who cleans up may be faster.
const TRIES: usize = 5;

/// A folder with its lock.
pub(crate) struct Private {
    folder: tempfile::TempDir,
    /// Held as long as the folder is somebody's.
    _lock: File,
}

impl Private {
    /// Takes away what dead servers have left, and makes a folder.
    pub(crate) fn new(within: &Path) -> std::io::Result<Self> {
        clean(within);
        for _ in 0..TRIES {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(within)?;
            std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700))?;
            // Somebody who cleans up may have found it before it was locked.
            if let Some(lock) = locked(folder.path()) {
                return Ok(Private { folder, _lock: lock });
            }
        }
        Err(std::io::Error::other("cannot make a private folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A folder in it, which may be there already.
    pub(crate) fn make(&self, name: &str) -> std::io::Result<PathBuf> {
        let folder = self.folder.path().join(name);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(folder)
    }
}

/// The lock of a folder; none where somebody has it, or where the folder is none any more.
fn locked(folder: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let lock = File::from(open(folder, flags, Mode::empty()).ok()?);
    flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
    let (held, there) = (lock.metadata().ok()?, std::fs::symlink_metadata(folder).ok()?);
    ((held.dev(), held.ino()) == (there.dev(), there.ino())).then_some(lock)
}

/// Takes the folders away whose servers have ended. What cannot be taken away is somebody else's.
fn clean(within: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(within).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_own = entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == own);
        if is_named
            && is_own
            && let Some(_lock) = locked(&entry.path())
        {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_server_left_is_taken_away_and_nothing_else() {
        let place = tempfile::tempdir().expect("a folder");
        let at = |name: &str| place.path().join(name);
        std::fs::create_dir_all(at("bosket-serve-dead/1")).expect("created");
        std::fs::write(at("bosket-serve-dead/1/mapping.csv"), "who is who").expect("written");
        std::fs::create_dir(at("else")).expect("created");
        std::fs::write(at("bosket-serve-file"), "").expect("written");
        std::os::unix::fs::symlink(at("else"), at("bosket-serve-link")).expect("linked");
        let first = Private::new(place.path()).expect("made");
        let second = Private::new(place.path()).expect("made");
        assert!(!at("bosket-serve-dead").exists());
        assert!(first.path().is_dir() && second.path().is_dir(), "those who run keep theirs");
        assert!(["else", "bosket-serve-file", "bosket-serve-link"].iter().all(|name| at(name).exists()));
    }
}
