//! What runs left behind that were killed: hidden files and folders, whose names say which process they belong to.
//!
//! They go when the same name is written again. Nothing of a living process is touched, nor anything that has another
//! form of name than ours, nor a file that is nowhere else.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{folder, names};

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// What is not complete.
pub(super) const NEW: &str = "tmp";
/// What was moved away, where names cannot change places at once.
pub(super) const OLD: &str = "old";

/// A hidden name beside a target, which no other part of this process has.
pub(super) fn hidden(target: &Path, ending: &str) -> Option<PathBuf> {
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}{}-{count}.{ending}", prefix(target.file_name()?), std::process::id());
    Some(folder(target).join(name))
}

fn prefix(name: &OsStr) -> String {
    // Room for the rest within the usual 255 bytes.
    let name: String = name.to_string_lossy().chars().take(50).collect();
    format!(".{name}.")
}

/// The process that a hidden name of this target belongs to, and its ending.
fn owner<'n>(name: &'n str, prefix: &str) -> Option<(&'n str, &'n str)> {
    let (numbers, ending) = name.strip_prefix(prefix)?.split_once('.')?;
    let (process, count) = numbers.split_once('-')?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let ours = number(process) && number(count) && (ending == NEW || ending == OLD);
    ours.then_some((process, ending))
}

/// Whether a process is gone. Where nobody can tell, it is not.
fn is_gone(process: &str) -> bool {
    Path::new("/proc/self").exists() && !Path::new("/proc").join(process).exists()
}

/// Whether nobody holds it, not even a process that cannot be seen from here.
fn is_free(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// Takes away what dead processes left of a target, and puts back what one of them had moved away.
pub(super) fn clear(target: &Path) {
    let Some(prefix) = target.file_name().map(prefix) else { return };
    let Ok(entries) = fs::read_dir(folder(target)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((process, ending)) = name.to_str().and_then(|name| owner(name, &prefix)) else { continue };
        let path = entry.path();
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if !(found.is_file() || found.is_dir()) || !is_gone(process) || !is_free(&path) {
            continue;
        }
        // What cannot be cleared stands in nobody's way.
        if found.is_file() {
            let _ = names::remove_file(&path);
        } else if ending == OLD && !target.exists() {
            let _ = names::rename(&path, target);
        } else {
            clear_folder(&path, target);
        }
    }
}

/// Removes a folder whose files are elsewhere: under the same name in the target, or under any name. While there is no
/// target, they never were published.
fn clear_folder(path: &Path, target: &Path) {
    let Ok(entries) = fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        let file = entry.path();
        let elsewhere = !target.exists() || target.join(entry.file_name()).exists() || is_linked(&file);
        if elsewhere && file.is_file() {
            let _ = names::remove_file(&file);
        }
    }
    // Fails if it is not empty, as it should.
    let _ = names::remove_dir(path);
}

#[cfg(unix)]
fn is_linked(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(file).is_ok_and(|found| found.is_file() && found.nlink() > 1)
}

#[cfg(not(unix))]
fn is_linked(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_our_form_are_ours() {
        let of = |name| owner(name, ".a.csv.").is_some();
        assert!(of(".a.csv.12-0.tmp") && of(".a.csv.12-34.old"));
        for other in [
            "a.csv.12-0.tmp",
            ".a.csv.12.tmp",
            ".a.csv.-0.tmp",
            ".a.csv.12-.tmp",
            ".a.csv.12-0.tmp.tmp",
            ".a.csv.1x-0.tmp",
            ".a.csv.12-0",
            ".b.csv.12-0.tmp",
        ] {
            assert!(!of(other), "{other}");
        }
        let own = hidden(Path::new("x/a.csv"), NEW).expect("a name");
        let name = own.file_name().and_then(OsStr::to_str).expect("text");
        assert_eq!(owner(name, ".a.csv."), Some((std::process::id().to_string().as_str(), NEW)));
        assert!(!is_gone(&std::process::id().to_string()));
    }
}
