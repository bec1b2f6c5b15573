//! Publications are read again as a stranger reads them: the finished bytes, and nothing known but the policy.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use bosket_io::{Create, Layout, PolicyFile, Publication, SourceForm, Whereabouts, by_name};
use bosket_model::Dataset;
use bosket_model::observe::Quiet;
use tempfile::TempDir;

use crate::tables_common::{attribute, canonical, policy};

fn records(file: &PolicyFile) -> (Dataset, SourceForm) {
    let opened = Whereabouts::input(file).and_then(|place| place.open(&Quiet)).expect("readable");
    (opened.data, opened.form)
}

fn document(dir: &Path, published: &str) -> PolicyFile {
    fs::write(dir.join("in.ndjson"), "{\"age\":20}\n{\"age\":31}\n").expect("a file");
    let source = "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n";
    let text = format!("{source}[publish]\npath = {published:?}\n{}", attribute("age", "quasi"));
    policy(dir, &text)
}

/// The hidden files of a folder, sorted.
fn hidden(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    let name = |p: &PathBuf| p.file_name().expect("a name").to_string_lossy().starts_with('.');
    let mut found: Vec<PathBuf> = entries.filter(name).collect();
    found.sort();
    found
}

fn begun(file: &PolicyFile) -> Publication {
    let (data, form) = records(file);
    let mut publication = Publication::begin(file, &form, Create::default()).expect("room");
    publication.write(&data, &Quiet).expect("writable");
    publication
}

#[test]
fn a_document_is_read_again_from_its_finished_compressed_file() {
    for (name, magic) in [("out.ndjson.gz", &[0x1F, 0x8B][..]), ("out.ndjson.zst", &[0x28, 0xB5])] {
        let dir = TempDir::new().expect("a folder");
        let file = document(dir.path(), name);
        let mut publication = begun(&file);
        let files = hidden(dir.path());
        let [finished] = files.as_slice() else { panic!("one file: {files:?}") };
        let bytes = fs::read(finished).expect("complete");
        assert!(bytes.starts_with(magic), "{name} is compressed already");
        assert_eq!(canonical(&publication.read_again(&Quiet).expect("readable")), ["{age=20}", "{age=31}"]);
        // Damage to the compressed bytes is seen, since it is these that are read.
        let mut broken = bytes.clone();
        let last = broken.len() - 1;
        broken[last] ^= 0xFF;
        fs::write(finished, broken).expect("a file");
        publication.read_again(&Quiet).expect_err("damaged");
        fs::write(finished, &bytes).expect("a file");
        publication.finish(Vec::new(), &Quiet).expect("published");
        assert_eq!(fs::read(dir.path().join(name)).expect("there"), bytes);
    }
}

#[test]
fn nothing_is_known_of_a_document_but_the_policy() {
    let dir = TempDir::new().expect("a folder");
    fs::write(dir.path().join("in.csv"), "a,b\n1,2\n").expect("a file");
    let source =
        "version = 1\n[source]\nformat = \"csv\"\npath = \"in.csv\"\n[publish]\npath = \"out.csv\"\n";
    let file = policy(dir.path(), &format!("{source}{}{}", attribute("a", "quasi"), attribute("b", "quasi")));
    let (data, _) = records(&file);
    // Somebody has found out a separator that neither the policy tells nor the file shows.
    let layout = Layout { separator: Some("|".to_owned()), ..Layout::default() };
    let form = SourceForm::Document { format: by_name("csv").expect("known"), layout: Box::new(layout) };
    let mut publication = Publication::begin(&file, &form, Create::default()).expect("room");
    publication.write(&data, &Quiet).expect("writable");
    let again = publication.read_again(&Quiet).expect("readable");
    let names: Vec<&str> = again.schema().attributes().map(|(_, a)| a.path.as_str()).collect();
    assert_eq!(names, ["a|b"]);
}

#[test]
fn tables_are_read_again_from_their_finished_files() {
    for (format, name) in [("csv", "people.csv.gz"), ("csv", "people.csv"), ("parquet", "people.parquet")] {
        let dir = TempDir::new().expect("a folder");
        let plain = dir.path().join("in.ndjson");
        fs::write(&plain, "{\"id\":1,\"age\":20}\n{\"id\":2,\"age\":31}\n").expect("a file");
        let input = bosket_io::Input::open(&plain).and_then(|i| bosket_io::read(i, None, &Layout::default()));
        let mut out = bosket_io::Output::create(&dir.path().join(name), Create::default()).expect("writable");
        let own = by_name(format).expect("known");
        own.write(&input.expect("readable").data, &Layout::default(), &mut out, &Quiet).expect("writable");
        out.finish().expect("writable");
        let table = format!("[[source.table]]\nname = \"people\"\npath = {name:?}\nkey = \"id\"\n");
        let text = format!("version = 1\n[source]\nformat = {format:?}\n{table}[publish]\npath = \"out\"\n");
        let file = policy(dir.path(), &format!("{text}{}", attribute("people.age", "quasi")));
        let mut publication = begun(&file);
        // They lie in a hidden folder beside the one that they are going to be in.
        let folders = hidden(dir.path());
        let [folder] = folders.as_slice() else { panic!("one folder: {folders:?}") };
        let finished = &folder.join(name);
        let bytes = fs::read(finished).expect("complete");
        assert_eq!(bytes.starts_with(&[0x1F, 0x8B]), name.ends_with(".gz"));
        assert_eq!(canonical(&publication.read_again(&Quiet).expect("readable")), ["{age=20}", "{age=31}"]);
        fs::write(finished, &bytes[..bytes.len() / 2]).expect("a file");
        match publication.read_again(&Quiet) {
            Ok(again) => assert_ne!(canonical(&again), ["{age=20}", "{age=31}"], "{name}"),
            Err(failure) => assert_eq!(failure.fault, bosket_model::Fault::Data, "{name}"),
        }
        fs::write(finished, &bytes).expect("a file");
        publication.finish(Vec::new(), &Quiet).expect("published");
        assert_eq!(fs::read(dir.path().join("out").join(name)).expect("there"), bytes);
    }
}

#[test]
fn a_stream_gets_the_bytes_that_were_read_again_and_none_before() {
    let dir = TempDir::new().expect("a folder");
    let pipe = dir.path().join("out.ndjson.gz");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let (told, received) = std::sync::mpsc::channel();
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || {
            let mut file = fs::File::open(pipe).expect("a pipe");
            let mut first = [0; 1];
            file.read_exact(&mut first).expect("something");
            told.send(()).expect("the test waits");
            let mut bytes = first.to_vec();
            file.read_to_end(&mut bytes).expect("readable");
            bytes
        })
    };
    let file = document(dir.path(), "out.ndjson.gz");
    let mut publication = begun(&file);
    assert_eq!(canonical(&publication.read_again(&Quiet).expect("readable")), ["{age=20}", "{age=31}"]);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(received.try_recv().is_err(), "nothing is sent before it is verified");
    publication.finish(Vec::new(), &Quiet).expect("sent");
    let bytes = reader.join().expect("no panic");
    assert!(bytes.starts_with(&[0x1F, 0x8B]), "compressed as its name says");
    let mut sent = bosket_io::Input::new("sent", std::io::Cursor::new(bytes), None).expect("gzip");
    assert_eq!(sent.read_all().expect("readable"), b"{\"age\":20}\n{\"age\":31}\n");
    assert_eq!(hidden(dir.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_publication_is_written_once() {
    let dir = TempDir::new().expect("a folder");
    let file = document(dir.path(), "out.ndjson");
    let (data, _) = records(&file);
    let mut publication = begun(&file);
    let failure = publication.write(&data, &Quiet).expect_err("written already");
    assert_eq!(failure.fault, bosket_model::Fault::Defect);
    drop(publication);
    assert_eq!(hidden(dir.path()), Vec::<PathBuf>::new());
}
