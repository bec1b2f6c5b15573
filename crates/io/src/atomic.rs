//! Files that appear whole or not at all.
//!
//! The content goes into a hidden file in the same folder, readable by its owner only. [`AtomicFile::commit`] makes
//! it durable and gives it its name in one step; an [`AtomicFile`] that is dropped, and a process that is told
//! to stop (see [`discard_pending`]), leave nothing behind and whatever had the name before untouched.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bosket_model::{Failure, Result};

use crate::fault;

/// The temporary files that exist now. Whoever gives a file its name holds the lock meanwhile.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether any file has been given its name.
static NAMED: AtomicBool = AtomicBool::new(false);

static COUNTER: AtomicU64 = AtomicU64::new(0);

fn pending() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While this exists, no atomic file can be created or committed: whoever tries waits.
#[must_use = "hold it until the process exits"]
#[derive(Debug)]
pub struct Stopped {
    _lock: MutexGuard<'static, Vec<PathBuf>>,
}

impl Stopped {
    /// Whether files were in their place before.
    pub fn was_late(&self) -> bool {
        NAMED.load(Ordering::Relaxed)
    }
}

/// Deletes all temporary files, for a process that is about to exit. A commit that has begun is completed first.
pub fn discard_pending() -> Stopped {
    let mut files = pending();
    for file in files.drain(..) {
        let _ = fs::remove_file(file);
    }
    Stopped { _lock: files }
}

/// How a file is to be created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Create {
    /// Replace a file that exists.
    pub force: bool,
    /// Nobody but the owner may read it.
    pub private: bool,
}

/// A file under construction.
#[derive(Debug)]
pub struct AtomicFile {
    file: BufWriter<File>,
    temporary: PathBuf,
    target: PathBuf,
    create: Create,
}

impl AtomicFile {
    /// Starts a file. Fails if it exists already and is not to be replaced.
    pub fn create(path: &Path, create: Create) -> Result<Self> {
        Self::try_create(path, create).map_err(|e| fault::writing(&path.to_string_lossy(), &e))
    }

    fn try_create(path: &Path, create: Create) -> io::Result<Self> {
        // A link stays a link: the file it leads to is replaced.
        let target = if path.is_symlink() { fs::canonicalize(path)? } else { path.to_owned() };
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(_) if !create.force => return Err(ErrorKind::AlreadyExists.into()),
            _ => {}
        }
        let mut files = pending();
        let (file, temporary) = create_beside(&target, 0o600)?;
        files.push(temporary.clone());
        Ok(AtomicFile { file: BufWriter::with_capacity(1 << 17, file), temporary, target, create })
    }

    /// Where the content is until then, for whoever has to write it by name.
    pub(crate) fn hidden(&self) -> &Path {
        &self.temporary
    }

    /// Completes the file and gives it its name.
    pub fn commit(self) -> Result<()> {
        commit_all(vec![self])
    }

    fn failure(&self, error: &io::Error) -> Failure {
        fault::writing(&self.target.to_string_lossy(), error)
    }

    /// Everything that can fail for want of space happens here, before any file gets its name.
    fn complete(&mut self) -> io::Result<()> {
        self.file.flush()?;
        if !self.create.private {
            set_public(self.file.get_ref(), &self.target)?;
        }
        self.file.get_ref().sync_all()
    }

    fn name_it(&self) -> io::Result<()> {
        self.try_name_it()?;
        NAMED.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn try_name_it(&self) -> io::Result<()> {
        if self.create.force {
            return fs::rename(&self.temporary, &self.target);
        }
        // A link, unlike a renaming, fails if somebody has taken the name meanwhile.
        match fs::hard_link(&self.temporary, &self.target) {
            Ok(()) => fs::remove_file(&self.temporary),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(e),
            // Some file systems have no hard links.
            Err(_) if self.target.exists() => Err(ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(&self.temporary, &self.target),
        }
    }
}

/// Makes all files durable; what is left to do is to give them their names.
pub(crate) fn complete_all(files: &mut [AtomicFile]) -> Result<()> {
    for file in files {
        file.complete().map_err(|e| file.failure(&e))?;
    }
    Ok(())
}

/// Completes all files, then gives them their names, so that a full disk leaves none of them behind.
pub fn commit_all(mut files: Vec<AtomicFile>) -> Result<()> {
    complete_all(&mut files)?;
    {
        let mut pending = pending();
        for file in &files {
            file.name_it().map_err(|e| file.failure(&e))?;
            pending.retain(|p| *p != file.temporary);
        }
    }
    for file in &files {
        sync_folder(&file.target).map_err(|e| file.failure(&e))?;
    }
    Ok(())
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|e| io::Error::new(e.kind(), self.failure(&e)))
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|e| io::Error::new(e.kind(), self.failure(&e)))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        let mut pending = pending();
        if let Some(i) = pending.iter().position(|p| *p == self.temporary) {
            pending.swap_remove(i);
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn folder(target: &Path) -> &Path {
    target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new hidden file in the same folder.
fn create_beside(target: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    let name = target.file_name().ok_or(ErrorKind::IsADirectory)?.to_string_lossy();
    // Room for the rest within the usual 255 bytes.
    let name: String = name.chars().take(50).collect();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    set_mode(&mut options, mode);
    loop {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = folder(target).join(format!(".{name}.{}-{count}.tmp", std::process::id()));
        match options.open(&path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (file, path)),
        }
    }
}

#[cfg(unix)]
fn set_mode(options: &mut OpenOptions, mode: u32) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(mode);
}

#[cfg(not(unix))]
fn set_mode(_: &mut OpenOptions, _: u32) {}

/// Gives a file the permissions a new file usually gets. What the umask allows is seen on an empty file, since
/// it cannot be asked for without setting it.
#[cfg(unix)]
fn set_public(file: &File, target: &Path) -> io::Result<()> {
    let (probe, path) = create_beside(target, 0o666)?;
    let permissions = probe.metadata().map(|m| m.permissions());
    fs::remove_file(path)?;
    file.set_permissions(permissions?)
}

#[cfg(not(unix))]
fn set_public(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes the new name durable, where folders can be opened and synchronized.
fn sync_folder(target: &Path) -> io::Result<()> {
    let Ok(folder) = File::open(folder(target)) else {
        return Ok(());
    };
    match folder.sync_all() {
        Err(e) if !matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Err(e),
        _ => Ok(()),
    }
}
