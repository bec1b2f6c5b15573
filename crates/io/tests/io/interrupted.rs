//! A run that is told to stop.

use std::fs;
use std::io::Write;
use std::time::Duration;

use bosket_io::atomic::{AtomicFile, Create, Pending};

#[test]
fn nothing_unfinished_is_left_and_nothing_appears_afterwards() {
    let folder = tempfile::tempdir().expect("a folder");
    let done = folder.path().join("done");
    let create = Create::default();
    AtomicFile::create(&done, create.clone()).and_then(AtomicFile::commit).expect("writable");
    let late = folder.path().join("late");
    let mut file = AtomicFile::create(&late, create.clone()).expect("writable");
    file.write_all(b"text").expect("room");
    let stopped = create.pending.discard();
    assert!(stopped.was_late(), "one file has its name");
    let committer = std::thread::spawn(move || file.commit());
    std::thread::sleep(Duration::from_millis(50));
    assert!(!committer.is_finished(), "a commit must wait for the process to end");
    let names: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").map(|f| f.expect("an entry").path()).collect();
    assert_eq!(names, [done]);
    // Were the process to live on, the file would still not appear.
    drop(stopped);
    assert!(committer.join().expect("no panic").is_err());
    assert!(!late.exists());
}

#[test]
fn discarding_one_callers_pending_files_leaves_anothers_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (Pending::default(), Pending::default());
    let begin = |name: &str, pending: &Pending| {
        let create = Create { pending: pending.clone(), ..Create::default() };
        let mut file = AtomicFile::create(&folder.path().join(name), create).expect("writable");
        file.write_all(name.as_bytes()).expect("room");
        file
    };
    let (given_up, kept) = (begin("given-up", &one), begin("kept", &other));
    let stopped = one.discard();
    // The other caller neither waits nor loses anything.
    kept.commit().expect("the other caller goes on");
    begin("later", &other).commit().expect("the other caller goes on");
    assert!(!stopped.was_late(), "a name that another caller's file got is not this one's");
    drop(stopped);
    assert!(given_up.commit().is_err());
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").map(|f| f.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["kept", "later"]);
    assert!(other.discard().was_late());
}

#[test]
fn files_of_several_runs_get_their_names_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let file =
        |name: &str| AtomicFile::create(&folder.path().join(name), Create::default()).expect("writable");
    bosket_io::atomic::commit_all(vec![file("a"), file("b"), file("c")]).expect("writable");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 3);
}
