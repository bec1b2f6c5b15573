//! Publications of several files, killed before each step that changes a name.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use tempfile::TempDir;

use super::names::crash::{crash_after, without_exchange};
use super::*;

type Files = BTreeMap<String, String>;

fn files(of: &[(&str, &str)]) -> Files {
    of.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

/// All files of a folder; none if there is no folder.
fn found(folder: &Path) -> Option<Files> {
    let entries = fs::read_dir(folder).ok()?;
    let read = |path: &Path| fs::read_to_string(path).expect("a file");
    Some(
        entries
            .map(|e| e.expect("an entry").path())
            .map(|p| (p.file_name().expect("a name").to_string_lossy().into_owned(), read(&p)))
            .collect(),
    )
}

/// Publishes files in a folder, and a certificate beside it.
fn publish(dir: &Path, new: &[(&str, &str)], force: bool) -> Result<()> {
    let create = Create { force, ..Create::default() };
    let folder = dir.join("pub");
    let _staged = StagedFolder::begin(&folder, &create)?.expect("it can be exchanged");
    let mut files = Vec::new();
    for (name, text) in new {
        let mut file = AtomicFile::create(&folder.join(name), create.clone())?;
        file.write_all(text.as_bytes()).expect("room");
        files.push(file);
    }
    let mut certificate = AtomicFile::create(&dir.join("cert"), create)?;
    certificate.write_all(b"new").expect("room");
    files.push(certificate);
    commit_all(files)
}

/// Lets what this process has left look as if it was another's, who is dead.
fn bury(dir: &Path) {
    // Linux numbers no process as high. The number of one that has ended may be another's by now, and whoever starts one hands
    // it the locks of all files for a moment.
    let (own, dead) = (format!(".{}-", std::process::id()), ".2000000000-".to_owned());
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.contains(&own) {
            fs::rename(&path, dir.join(name.replace(&own, &dead))).expect("a new name");
        }
    }
}

fn hidden(dir: &Path) -> usize {
    let entries = fs::read_dir(dir).expect("a folder").map(|e| e.expect("an entry").file_name());
    entries.filter(|name| name.to_string_lossy().starts_with('.')).count()
}

const NEW: &[(&str, &str)] = &[("a.csv", "new"), ("b.csv", "new"), ("c.csv", "new")];

/// Kills a publication over an older one, or over none, before its first step, its second and so on.
fn killed_at_every_step(over: bool) {
    let mut new = files(NEW);
    let old = over.then(|| files(&[("a.csv", "old"), ("b.csv", "old"), ("notes.txt", "mine")]));
    if over {
        new.insert("notes.txt".into(), "mine".into());
    }
    for steps in 0.. {
        let dir = TempDir::new().expect("a folder");
        let (dir, folder) = (dir.path(), dir.path().join("pub"));
        if let Some(old) = &old {
            fs::create_dir(&folder).expect("a folder");
            old.iter().for_each(|(name, text)| fs::write(folder.join(name), text).expect("a file"));
            fs::write(dir.join("cert"), "old").expect("a file");
        }
        crash_after(Some(steps));
        let done = publish(dir, NEW, over);
        crash_after(None);
        bury(dir);
        if !folder.exists() && over {
            // The next run puts back what was moved away.
            drop(StagedFolder::begin(&folder, &Create::default()).expect("writable"));
        }
        let now = found(&folder);
        assert!(now == old || now.as_ref() == Some(&new), "{steps}: {now:?}");
        let certified = fs::read_to_string(dir.join("cert")).ok();
        assert!(certified.as_deref() != Some("new") || now.as_ref() == Some(&new), "{steps}: certified");
        assert!(done.is_err() || now.as_ref() == Some(&new), "{steps}: {now:?}");
        publish(dir, NEW, true).expect("writable");
        assert_eq!((found(&folder).as_ref(), hidden(dir)), (Some(&new), 0), "{steps}: the next run");
        if done.is_ok() {
            assert!(steps > 5, "there are more steps than {steps}");
            return;
        }
    }
}

#[test]
fn old_and_new_tables_stood_side_by_side() {
    killed_at_every_step(true);
}

#[test]
fn some_tables_of_a_new_folder_were_missing() {
    killed_at_every_step(false);
}

#[test]
fn folders_are_whole_where_names_cannot_change_places() {
    without_exchange(true);
    killed_at_every_step(true);
    without_exchange(false);
}

#[test]
fn a_dropped_folder_leaves_no_trace() {
    let dir = TempDir::new().expect("a folder");
    let create = Create::default();
    let folder = dir.path().join("pub");
    let staged = StagedFolder::begin(&folder, &create).expect("writable").expect("it can be exchanged");
    let file = AtomicFile::create(&folder.join("a.csv"), create.clone()).expect("writable");
    assert_eq!((folder.exists(), hidden(dir.path())), (false, 1));
    drop(file);
    drop(staged);
    assert_eq!(hidden(dir.path()), 0);
    // The same for somebody who ends the process.
    let staged = StagedFolder::begin(&folder, &create).expect("writable").expect("it can be exchanged");
    let file = AtomicFile::create(&folder.join("a.csv"), create.clone()).expect("writable");
    drop(create.pending.discard());
    assert_eq!((folder.exists(), hidden(dir.path())), (false, 0));
    drop((file, staged));
}

#[test]
fn a_folder_is_never_published_in_part() {
    let dir = TempDir::new().expect("a folder");
    let create = Create::default();
    let folder = dir.path().join("pub");
    let _staged = StagedFolder::begin(&folder, &create).expect("writable").expect("it can be exchanged");
    let one = AtomicFile::create(&folder.join("a.csv"), create.clone()).expect("writable");
    let _other = AtomicFile::create(&folder.join("b.csv"), create).expect("writable");
    assert!(one.commit().is_err());
    assert!(!folder.exists());
}

#[test]
fn without_force_nothing_is_replaced() {
    let dir = TempDir::new().expect("a folder");
    let folder = dir.path().join("pub");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("b.csv"), "old").expect("a file");
    assert!(publish(dir.path(), NEW, false).is_err());
    assert_eq!((found(&folder), hidden(dir.path())), (Some(files(&[("b.csv", "old")])), 0));
}

#[test]
fn what_must_not_be_exchanged_is_not() {
    let dir = TempDir::new().expect("a folder");
    let folder = dir.path().join("pub");
    fs::create_dir_all(folder.join("inner")).expect("a folder");
    assert!(StagedFolder::begin(&folder, &Create::default()).expect("writable").is_none());
    assert!(StagedFolder::begin(Path::new("."), &Create::default()).expect("writable").is_none());
    fs::write(dir.path().join("file"), "").expect("a file");
    assert!(StagedFolder::begin(&dir.path().join("file"), &Create::default()).is_err());
}

#[test]
fn hidden_files_of_the_dead_stayed_for_ever() {
    let dir = TempDir::new().expect("a folder");
    let target = dir.path().join("a.csv");
    crash_after(Some(1));
    drop(AtomicFile::create(&target, Create::default()).expect("one step"));
    crash_after(None);
    // Living processes keep theirs.
    drop(AtomicFile::create(&target, Create::default()).expect("writable"));
    assert_eq!(hidden(dir.path()), 1);
    bury(dir.path());
    fs::write(dir.path().join(".a.csv.mine.tmp"), "").expect("a file");
    drop(AtomicFile::create(&target, Create::default()).expect("writable"));
    assert_eq!(hidden(dir.path()), 1, "only what has our form of name goes");
    assert!(dir.path().join(".a.csv.mine.tmp").exists());
}

#[test]
fn a_name_that_is_too_long_is_refused_at_once() {
    let dir = TempDir::new().expect("a folder");
    let long = dir.path().join("x".repeat(300));
    assert!(AtomicFile::create(&long, Create::default()).is_err());
    assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0);
}
