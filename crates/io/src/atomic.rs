//! Files that appear whole or not at all.
//!
//! The content goes into a hidden file in the same folder, readable by its owner only. [`AtomicFile::commit`] makes
//! it durable and gives it its name in one step; an [`AtomicFile`] that is dropped, and a run that is told to stop
//! (see [`Pending::discard`]), leave nothing behind and whatever had the name before untouched. Files of a folder that is
//! published as one are hidden beside the folder, never in it, and get their names together. A process that is killed
//! leaves hidden files behind, and the next one that writes the same name removes them.

mod folder;
mod leftovers;
mod names;
#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bosket_model::{Failure, Result};

use crate::fault;

pub(crate) use folder::StagedFolder;

/// The temporary files of one run, and whether any of its files has got its name. Clones know the same files; a
/// default one knows none yet.
#[derive(Clone, Debug, Default)]
pub struct Pending(Arc<PendingFiles>);

#[derive(Debug, Default)]
struct PendingFiles {
    /// Those that exist now. Whoever gives a file its name holds the lock meanwhile.
    temporary: Mutex<Temporary>,
    named: AtomicBool,
}

#[derive(Debug, Default)]
struct Temporary {
    files: Vec<PathBuf>,
    /// Hidden folders, for some of the files.
    folders: Vec<PathBuf>,
    staged: Vec<Weak<StagedFolder>>,
}

impl Temporary {
    /// A file has got its name, or is gone.
    fn forget(&mut self, file: &AtomicFile) {
        self.files.retain(|p| *p != file.temporary);
        if let Some(folder) = &file.folder {
            self.folders.retain(|p| p != folder.hidden());
        }
    }
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, Temporary> {
        self.0.temporary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes the temporary files of the run, for a process that is about to exit. A commit that has begun is
    /// completed first. Files of other runs are left alone.
    pub fn discard(&self) -> Stopped<'_> {
        let mut temporary = self.lock();
        for file in temporary.files.drain(..) {
            let _ = fs::remove_file(file);
        }
        for folder in temporary.folders.drain(..) {
            let _ = fs::remove_dir(folder);
        }
        Stopped { pending: self, _lock: temporary }
    }

    /// The folder that a file is published with, if there is one.
    fn folder_of(&self, file: &Path) -> Option<Arc<StagedFolder>> {
        let staged: Vec<Arc<StagedFolder>> = self.lock().staged.iter().filter_map(Weak::upgrade).collect();
        staged.into_iter().find(|folder| folder.holds(file))
    }
}

/// While this exists, the run can neither create nor commit an atomic file: whoever tries waits.
#[must_use = "hold it until the process exits"]
#[derive(Debug)]
pub struct Stopped<'p> {
    pending: &'p Pending,
    _lock: MutexGuard<'p, Temporary>,
}

impl Stopped<'_> {
    /// Whether files were in their place before.
    pub fn was_late(&self) -> bool {
        self.pending.0.named.load(Ordering::Relaxed)
    }
}

/// How a file is to be created.
#[derive(Clone, Debug, Default)]
pub struct Create {
    /// Replace a file that exists.
    pub force: bool,
    /// Nobody but the owner may read it.
    pub private: bool,
    /// The run that it belongs to.
    pub pending: Pending,
}

/// A file under construction.
#[derive(Debug)]
pub struct AtomicFile {
    file: BufWriter<File>,
    temporary: PathBuf,
    target: PathBuf,
    create: Create,
    /// The folder that it is put in place with.
    folder: Option<Arc<StagedFolder>>,
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
            // The hidden name is shorter, so that nothing else would be wrong before the end.
            Err(e) if e.kind() == ErrorKind::InvalidFilename => return Err(e),
            _ => {}
        }
        let folder = create.pending.folder_of(&target);
        if folder.is_none() {
            leftovers::clear(&target);
        }
        let (file, temporary) = {
            let mut pending = create.pending.lock();
            let created = match &folder {
                Some(folder) => folder.create(&target)?,
                None => create_beside(&target, 0o600)?,
            };
            pending.files.push(created.1.clone());
            created
        };
        // Where there are no locks, the number of the process has to do.
        let _ = file.try_lock();
        Ok(AtomicFile { file: BufWriter::with_capacity(1 << 17, file), temporary, target, create, folder })
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
        match &self.folder {
            _ if self.create.private => {}
            Some(folder) => self.file.get_ref().set_permissions(folder.permissions_of_files())?,
            None => set_public(self.file.get_ref(), &self.target)?,
        }
        self.file.get_ref().sync_all()
    }

    fn name_it(&self) -> io::Result<()> {
        self.try_name_it()?;
        self.create.pending.0.named.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn try_name_it(&self) -> io::Result<()> {
        if let Some(folder) = &self.folder {
            return folder.place(self.create.force);
        }
        if self.create.force {
            return names::rename(&self.temporary, &self.target);
        }
        // A link, unlike a renaming, fails if somebody has taken the name meanwhile.
        match names::link(&self.temporary, &self.target) {
            Ok(()) => names::remove_file(&self.temporary),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(e),
            // Some file systems have no hard links.
            Err(_) if self.target.exists() => Err(ErrorKind::AlreadyExists.into()),
            Err(_) => names::rename(&self.temporary, &self.target),
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
    for folder in files.iter().filter_map(|f| f.folder.as_ref()) {
        let own = files.iter().filter(|f| f.folder.as_ref().is_some_and(|other| Arc::ptr_eq(other, folder)));
        if own.count() != folder.len() {
            return Err(Failure::defect("a folder would be published without all of its files"));
        }
    }
    {
        let runs = runs_of(&files);
        let mut locks: Vec<MutexGuard<'_, Temporary>> = runs.iter().map(Pending::lock).collect();
        for file in &files {
            file.name_it().map_err(|e| file.failure(&e))?;
            locks.iter_mut().for_each(|pending| pending.forget(file));
        }
        files.iter().filter_map(|f| f.folder.as_ref()).for_each(|folder| folder.remove_old());
    }
    for file in &files {
        sync_folder(&file.target).map_err(|e| file.failure(&e))?;
    }
    Ok(())
}

/// The runs that files belong to, each once. Always in the same order: whoever locks several waits for nobody who waits.
fn runs_of(files: &[AtomicFile]) -> Vec<Pending> {
    let mut runs: Vec<Pending> = files.iter().map(|f| f.create.pending.clone()).collect();
    runs.sort_by_key(|run| Arc::as_ptr(&run.0));
    runs.dedup_by(|a, b| Arc::ptr_eq(&a.0, &b.0));
    runs
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
        let mut pending = self.create.pending.lock();
        if let Some(i) = pending.files.iter().position(|p| *p == self.temporary) {
            pending.files.swap_remove(i);
            let _ = names::remove_file(&self.temporary);
            if let Some(folder) = &self.folder {
                folder.forget(&self.temporary);
            }
        }
    }
}

fn folder(target: &Path) -> &Path {
    target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new hidden file in the same folder.
fn create_beside(target: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    set_mode(&mut options, mode);
    loop {
        let path = leftovers::hidden(target, leftovers::NEW).ok_or(ErrorKind::IsADirectory)?;
        match names::create(&options, &path) {
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
    names::remove_file(&path)?;
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
