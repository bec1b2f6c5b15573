//! Folders whose files get their names all at once.
//!
//! The files are written into a hidden folder beside the target. What else lies in the target is linked into it, and
//! then the two folders change places: whoever looks finds all old files or all new ones. The old ones go afterwards.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bosket_model::Result;

use super::leftovers::{self, NEW, OLD};
use super::{Create, Pending, folder, names, set_mode, sync_folder};
use crate::fault;

/// A folder that is not there yet. Dropping it, after its files, leaves no trace.
#[derive(Debug)]
pub(crate) struct StagedFolder {
    /// What the caller calls the target.
    given: PathBuf,
    target: PathBuf,
    hidden: PathBuf,
    /// What a new folder usually gets.
    permissions: Permissions,
    pending: Pending,
    state: Mutex<State>,
    /// Locked as long as the process lives.
    _held: Option<File>,
}

#[derive(Debug, Default)]
struct State {
    /// The files that are written into it.
    names: Vec<OsString>,
    placed: bool,
    /// Where the old folder is, and what in it is replaced or linked.
    old: Option<(PathBuf, Vec<OsString>)>,
}

impl StagedFolder {
    /// Begins a folder; none if its files must get their names one by one: it cannot change places with another, or holds
    /// more than files.
    pub(crate) fn begin(path: &Path, create: &Create) -> Result<Option<Arc<Self>>> {
        Self::try_begin(path, create).map_err(|e| fault::writing(&path.to_string_lossy(), &e))
    }

    fn try_begin(path: &Path, create: &Create) -> io::Result<Option<Arc<Self>>> {
        let Some(target) = real(path)? else { return Ok(None) };
        leftovers::clear(&target);
        let found = match fs::metadata(&target) {
            Ok(found) if !found.is_dir() => return Err(ErrorKind::NotADirectory.into()),
            Ok(found) => Some(found),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        if let Some(found) = &found
            && !can_be_exchanged(&target, found)?
        {
            return Ok(None);
        }
        let mut pending = create.pending.lock();
        let (hidden, permissions) = match create_hidden(&target) {
            Ok(created) => created,
            // Somebody may write into the folder and not beside it.
            Err(e) if found.is_some() && is_forbidden(&e) => return Ok(None),
            Err(e) => return Err(e),
        };
        pending.folders.push(hidden.clone());
        let held = File::open(&hidden).ok();
        // Where there are no locks, the number of the process has to do.
        let _ = held.as_ref().map(File::try_lock);
        let staged = Arc::new(StagedFolder {
            given: path.to_owned(),
            target,
            hidden,
            permissions,
            pending: create.pending.clone(),
            state: Mutex::default(),
            _held: held,
        });
        pending.staged.push(Arc::downgrade(&staged));
        Ok(Some(staged))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn hidden(&self) -> &Path {
        &self.hidden
    }

    /// Whether a file is going to lie in it.
    pub(super) fn holds(&self, file: &Path) -> bool {
        let around = folder(file);
        around == self.given || fs::canonicalize(around).is_ok_and(|real| real == self.target)
    }

    /// What a new file usually gets.
    pub(super) fn permissions_of_files(&self) -> Permissions {
        without_execution(&self.permissions)
    }

    /// How many files are written into it.
    pub(super) fn len(&self) -> usize {
        self.state().names.len()
    }

    /// Begins one of its files, readable by its owner only.
    pub(super) fn create(&self, file: &Path) -> io::Result<(File, PathBuf)> {
        let name = file.file_name().ok_or(ErrorKind::IsADirectory)?;
        let path = self.hidden.join(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        set_mode(&mut options, 0o600);
        let created = names::create(&options, &path)?;
        self.state().names.push(name.to_owned());
        Ok((created, path))
    }

    /// One of its files is gone again.
    pub(super) fn forget(&self, file: &Path) {
        self.state().names.retain(|name| Some(name.as_os_str()) != file.file_name());
    }

    /// Puts the folder in its place, once, with all its files.
    pub(super) fn place(&self, force: bool) -> io::Result<()> {
        let mut state = self.state();
        if state.placed {
            return Ok(());
        }
        if !self.target.exists() {
            fs::set_permissions(&self.hidden, self.permissions.clone())?;
            sync_folder(&self.hidden.join("any"))?;
            // No folder but an empty one is ever replaced by a renaming.
            names::rename(&self.hidden, &self.target)?;
            state.placed = true;
            return sync_folder(&self.target);
        }
        let others = self.others(&state.names, force)?;
        if self.link(&others).is_err() {
            return self.place_one_by_one(&mut state);
        }
        fs::set_permissions(&self.hidden, fs::metadata(&self.target)?.permissions())?;
        sync_folder(&self.hidden.join("any"))?;
        let old = match names::exchange(&self.hidden, &self.target) {
            Ok(()) => self.hidden.clone(),
            Err(e) if is_unsupported(&e) => self.move_away()?,
            Err(e) => return Err(e),
        };
        state.placed = true;
        state.old = Some((old, [&state.names[..], &others].concat()));
        sync_folder(&self.target)
    }

    /// Removes the old folder, when everything that belongs to the new one has its name.
    pub(super) fn remove_old(&self) {
        let old = self.state().old.take();
        if let Some((old, known)) = old {
            self.remove(&old, &known);
            leftovers::clear(&self.target);
        }
    }

    /// What lies in the target that is not replaced.
    fn others(&self, own: &[OsString], force: bool) -> io::Result<Vec<OsString>> {
        let mut others = Vec::new();
        for entry in fs::read_dir(&self.target)? {
            let name = entry?.file_name();
            match own.contains(&name) {
                true if !force => return Err(ErrorKind::AlreadyExists.into()),
                true => {}
                false => others.push(name),
            }
        }
        Ok(others)
    }

    /// Lets the new folder hold what else is in the old one; all of it or nothing.
    fn link(&self, others: &[OsString]) -> io::Result<()> {
        for (at, name) in others.iter().enumerate() {
            let from = self.target.join(name);
            let linked = match fs::symlink_metadata(&from)?.is_file() {
                true => names::link(&from, &self.hidden.join(name)),
                false => Err(ErrorKind::Unsupported.into()),
            };
            if let Err(e) = linked {
                for name in &others[..at] {
                    names::remove_file(&self.hidden.join(name))?;
                }
                return Err(e);
            }
        }
        Ok(())
    }

    /// Where folders cannot change places: the old one goes away first. The next run puts it back if this one is killed in
    /// between.
    fn move_away(&self) -> io::Result<PathBuf> {
        let away = leftovers::hidden(&self.target, OLD).ok_or(ErrorKind::IsADirectory)?;
        names::rename(&self.target, &away)?;
        if let Err(e) = names::rename(&self.hidden, &self.target) {
            names::rename(&away, &self.target)?;
            return Err(e);
        }
        Ok(away)
    }

    /// Where something in the target can neither be linked nor be left behind.
    fn place_one_by_one(&self, state: &mut State) -> io::Result<()> {
        for name in &state.names {
            names::rename(&self.hidden.join(name), &self.target.join(name))?;
        }
        state.placed = true;
        sync_folder(&self.target.join("any"))?;
        names::remove_dir(&self.hidden)
    }

    /// Removes the old folder with the files that are replaced, or linked elsewhere. What came too late to be linked moves.
    fn remove(&self, old: &Path, known: &[OsString]) {
        let Ok(entries) = fs::read_dir(old) else { return };
        for entry in entries.flatten() {
            let to = self.target.join(entry.file_name());
            // What stays is cleared by a later run, if it can be.
            let _ = match known.contains(&entry.file_name()) {
                true => names::remove_file(&entry.path()),
                false if to.exists() => Ok(()),
                false => names::rename(&entry.path(), &to),
            };
        }
        let _ = names::remove_dir(old);
    }
}

impl Drop for StagedFolder {
    fn drop(&mut self) {
        self.remove_old();
        let mut pending = self.pending.lock();
        if let Some(i) = pending.folders.iter().position(|p| *p == self.hidden) {
            pending.folders.swap_remove(i);
            let _ = names::remove_dir(&self.hidden);
        }
    }
}

/// Where a folder is, or is going to be; none if it has no name of its own.
fn real(path: &Path) -> io::Result<Option<PathBuf>> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(real.file_name().is_some().then_some(real)),
        // A link to nowhere is not replaced.
        Err(e) if e.kind() != ErrorKind::NotFound || path.is_symlink() => Err(e),
        Err(_) => match path.file_name() {
            Some(name) => Ok(Some(fs::canonicalize(folder(path))?.join(name))),
            None => Ok(None),
        },
    }
}

/// A new folder beside the target that nobody else can look into, and the permissions it would have had.
fn create_hidden(target: &Path) -> io::Result<(PathBuf, Permissions)> {
    loop {
        let path = leftovers::hidden(target, NEW).ok_or(ErrorKind::IsADirectory)?;
        match names::create_dir(&path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
            created => created?,
        }
        let permissions = fs::metadata(&path)?.permissions();
        close(&path)?;
        return Ok((path, permissions));
    }
}

#[cfg(unix)]
fn close(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

#[cfg(unix)]
fn without_execution(folder: &Permissions) -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    Permissions::from_mode(folder.mode() & 0o666)
}

#[cfg(not(unix))]
fn without_execution(folder: &Permissions) -> Permissions {
    folder.clone()
}

#[cfg(not(unix))]
fn close(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether another folder can take the place of this one: it is no other file system's root, nobody in this process stands
/// in it, and it holds nothing but files.
fn can_be_exchanged(target: &Path, found: &Metadata) -> io::Result<bool> {
    let here = std::env::current_dir().and_then(fs::canonicalize);
    if here.is_ok_and(|here| here.starts_with(target)) || !is_beside(found, folder(target))? {
        return Ok(false);
    }
    for entry in fs::read_dir(target)? {
        if !entry?.file_type()?.is_file() {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(unix)]
fn is_beside(found: &Metadata, around: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(fs::metadata(around)?.dev() == found.dev())
}

#[cfg(not(unix))]
fn is_beside(_: &Metadata, _: &Path) -> io::Result<bool> {
    Ok(true)
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Whether a system or file system has no such thing as an exchange.
fn is_unsupported(error: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, InvalidInput, ResourceBusy, Unsupported};
    matches!(error.kind(), Unsupported | InvalidInput | CrossesDevices | ResourceBusy)
}
