//! A process that is told to stop. Alone in its binary: it stops all atomic files there are.

use std::fs;
use std::io::Write;
use std::time::Duration;

use bosket_io::atomic::{AtomicFile, Create, discard_pending};

#[test]
fn nothing_unfinished_is_left_and_nothing_appears_afterwards() {
    let folder = tempfile::tempdir().expect("a folder");
    let done = folder.path().join("done");
    AtomicFile::create(&done, Create::default()).and_then(AtomicFile::commit).expect("writable");
    let late = folder.path().join("late");
    let mut file = AtomicFile::create(&late, Create::default()).expect("writable");
    file.write_all(b"text").expect("room");
    let stopped = discard_pending();
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
