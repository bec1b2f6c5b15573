//! Files on disk: whole or not at all, compressed by name.

use std::fs;
use std::io::Write;
use std::path::Path;

use bosket_io::atomic::AtomicFile;
use bosket_io::{Create, Input, Output, finish_all};
use bosket_model::{Fault, Result};

fn force() -> Create {
    Create { force: true, ..Create::default() }
}

fn put(path: &Path, create: Create, text: &str) -> Result<()> {
    let mut out = Output::create(path, create)?;
    out.write_all(text.as_bytes()).expect("room");
    out.finish()
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        names.map(|f| f.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.txt");
    let mut out = Output::create(&path, Create::default()).expect("writable");
    out.write_all(b"text").expect("room");
    assert!(!path.exists());
    out.finish().expect("room");
    assert_eq!(fs::read(&path).expect("there"), b"text");
    assert_eq!(names(folder.path()), ["out.txt"]);
}

#[test]
fn a_dropped_file_leaves_nothing_and_the_old_one_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.txt");
    put(&path, Create::default(), "old").expect("writable");
    let mut out = Output::create(&path, force()).expect("writable");
    out.write_all(&[b'x'; 1 << 20]).expect("room");
    drop(out);
    assert_eq!(fs::read(&path).expect("there"), b"old");
    assert_eq!(names(folder.path()), ["out.txt"]);
}

#[test]
fn an_existing_file_is_only_replaced_by_force() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.txt");
    put(&path, Create::default(), "old").expect("writable");
    let refused = put(&path, Create::default(), "new").expect_err("exists");
    assert_eq!(refused.fault, Fault::Environment);
    assert!(refused.to_string().contains("--force"), "{refused}");
    put(&path, force(), "new").expect("forced");
    assert_eq!(fs::read(&path).expect("there"), b"new");
}

#[test]
fn somebody_else_took_the_name_meanwhile() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.txt");
    let out = AtomicFile::create(&path, Create::default()).expect("writable");
    fs::write(&path, "theirs").expect("room");
    assert!(out.commit().expect_err("taken").to_string().contains("--force"));
    assert_eq!(fs::read(&path).expect("there"), b"theirs");
    assert_eq!(names(folder.path()), ["out.txt"]);
}

#[test]
fn wrong_places_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), "").expect("room");
    for (path, why) in [
        (folder.path().join("none/out.txt"), "create the folder"),
        (folder.path().join("file/out.txt"), "not a folder"),
        (folder.path().to_owned(), "it is a folder"),
    ] {
        let failure = put(&path, force(), "").expect_err("must fail");
        assert_eq!(failure.fault, Fault::Environment);
        let text = failure.to_string();
        assert!(text.contains(why) && text.contains(&*path.to_string_lossy()), "{text}");
    }
}

#[test]
fn compressed_by_name_and_always_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "a b c\n".repeat(10_000);
    for name in ["out.txt", "out.txt.gz", "out.txt.ZST"] {
        let path = folder.path().join(name);
        put(&path, Create::default(), &text).expect("writable");
        let bytes = fs::read(&path).expect("there");
        put(&path, force(), &text).expect("writable");
        assert!(bytes == fs::read(&path).expect("there"), "{name}");
        assert_eq!(bytes.len() < text.len() / 10, name != "out.txt");
        let mut input = Input::open(&path).expect("readable");
        assert_eq!(input.progress().total(), Some(bytes.len() as u64));
        assert!(input.read_all().expect("whole") == text.as_bytes());
        assert_eq!(input.progress().read(), bytes.len() as u64);
    }
}

#[test]
fn compression_is_recognised_by_content() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.gz");
    put(&path, Create::default(), "text").expect("writable");
    let plain = folder.path().join("plain.txt");
    fs::rename(&path, &plain).expect("same folder");
    assert_eq!(Input::open(&plain).and_then(|mut i| i.read_all()).expect("whole"), b"text");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    #[test]
    fn only_the_owner_reads_unfinished_and_private_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let (open, private) = (folder.path().join("open"), folder.path().join("private"));
        let out = Output::create(&open, Create::default()).expect("writable");
        let temporary = names(folder.path()).pop().expect("a temporary file");
        assert!(temporary.starts_with('.'));
        assert_eq!(mode(&folder.path().join(temporary)), 0o600);
        out.finish().expect("room");
        put(&private, Create { private: true, ..Create::default() }, "").expect("writable");
        let usual = folder.path().join("usual");
        fs::write(&usual, "").expect("room");
        assert_eq!(mode(&open), mode(&usual));
        assert_eq!(mode(&private), 0o600);
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        put(&file, Create::default(), "old").expect("writable");
        std::os::unix::fs::symlink("file", &link).expect("a link");
        put(&link, force(), "new").expect("forced");
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).expect("there"), b"new");
    }

    #[test]
    fn a_device_is_written_to_not_replaced() {
        use std::os::unix::fs::FileTypeExt;
        put(Path::new("/dev/null"), Create::default(), "text").expect("writable");
        assert!(fs::metadata("/dev/null").expect("there").file_type().is_char_device());
    }

    #[test]
    fn a_full_disk_is_named_and_none_of_several_files_appears() {
        if !Path::new("/dev/full").exists() {
            eprintln!("skipped: there is no /dev/full");
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let first = folder.path().join("first");
        let outputs = [first.as_path(), Path::new("/dev/full")].map(|path| {
            let mut out = Output::create(path, Create::default()).expect("writable");
            out.write_all(b"text").expect("buffered");
            out
        });
        let failure = finish_all(outputs.into()).expect_err("full");
        assert_eq!(failure.fault, Fault::Environment);
        let text = failure.to_string();
        assert!(text.contains("/dev/full") && text.contains("the disk is full"), "{text}");
        assert!(names(folder.path()).is_empty());
    }

    /// Runs itself again under a limit on file sizes.
    #[test]
    fn a_file_larger_than_allowed_spares_the_old_one() {
        const FOLDER: &str = "BOSKET_TEST_LIMITED_FOLDER";
        if let Some(folder) = std::env::var_os(FOLDER) {
            let path = Path::new(&folder).join("out.txt");
            let mut out = Output::create(&path, force()).expect("writable");
            let error = out.write_all(&[b'x'; 1 << 20]).expect_err("a limit");
            assert!(error.to_string().contains("larger than allowed"), "{error}");
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        put(&folder.path().join("out.txt"), Create::default(), "old").expect("writable");
        let limited = std::process::Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact \"$1\""])
            .arg(std::env::current_exe().expect("a path"))
            .arg("unix::a_file_larger_than_allowed_spares_the_old_one")
            .env(FOLDER, folder.path())
            .output()
            .expect("a shell");
        assert!(limited.status.success(), "{}", String::from_utf8_lossy(&limited.stdout));
        assert_eq!(fs::read(folder.path().join("out.txt")).expect("there"), b"old");
        assert_eq!(names(folder.path()), ["out.txt"]);
    }
}
