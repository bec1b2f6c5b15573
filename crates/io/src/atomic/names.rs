//! The steps that change what names lead to. There are no others: tests stop before each of them, as a killed process does.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file that must be new.
pub(super) fn create(options: &OpenOptions, path: &Path) -> io::Result<File> {
    step().and_then(|()| options.open(path))
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    step().and_then(|()| fs::rename(from, to))
}

pub(super) fn link(from: &Path, to: &Path) -> io::Result<()> {
    step().and_then(|()| fs::hard_link(from, to))
}

pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    step().and_then(|()| fs::remove_file(path))
}

pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    step().and_then(|()| fs::create_dir(path))
}

pub(super) fn remove_dir(path: &Path) -> io::Result<()> {
    step().and_then(|()| fs::remove_dir(path))
}

/// Lets two names change places at once; not all systems and file systems can.
pub(super) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    step()?;
    #[cfg(test)]
    if crash::has_no_exchange() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    try_exchange(one, other)
}

#[cfg(target_os = "linux")]
fn try_exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn try_exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(test))]
#[allow(clippy::unnecessary_wraps, reason = "tests have it fail")]
fn step() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
use crash::step;

#[cfg(test)]
pub(super) mod crash {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
        static NO_EXCHANGE: Cell<bool> = const { Cell::new(false) };
    }

    /// Lets this thread take so many more steps and then none, not even to clean up.
    pub(crate) fn crash_after(steps: Option<usize>) {
        LEFT.set(steps);
    }

    /// Lets this thread meet a system where names cannot change places.
    pub(crate) fn without_exchange(without: bool) {
        NO_EXCHANGE.set(without);
    }

    pub(super) fn has_no_exchange() -> bool {
        NO_EXCHANGE.get()
    }

    pub(super) fn step() -> io::Result<()> {
        match LEFT.get() {
            Some(0) => return Err(io::Error::other("killed")),
            Some(left) => LEFT.set(Some(left - 1)),
            None => {}
        }
        Ok(())
    }
}
