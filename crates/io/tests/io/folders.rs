//! Folders of documents, one person each.

use bosket_io::{Input, Layout, Loaded};
use bosket_model::Result;
use tempfile::TempDir;

use crate::common::write;
use crate::xml_common::values;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn read(folder: &TempDir, format: Option<&str>) -> Result<Loaded> {
    bosket_io::read(Input::open_records(folder.path())?, format, &Layout::default())
}

#[test]
fn every_xml_document_is_a_record() {
    let files = [
        ("b.xml", "<?xml version='1.0'?><!-- <x> --><doc xmlns='urn:d'><name>B</name><v>2</v><v>3</v></doc>"),
        ("a.xml", "<?xml version='1.0'?><!DOCTYPE doc><doc xmlns='urn:d'><name>A</name><v>1</v></doc>"),
        ("readme.txt", "no document"),
    ];
    let loaded = read(&folder(&files), None).expect("readable");
    assert_eq!(loaded.layout.record.as_deref(), Some("doc"));
    assert_eq!(
        values(&loaded.data),
        ["{name=\"A\" v[]{v[]=\"1\"}}", "{name=\"B\" v[]{v[]=\"2\"} v[]{v[]=\"3\"}}"]
    );
    // Published they are one document, with an element around all.
    let text = write(&loaded);
    let published = Input::new("data", std::io::Cursor::new(text.clone()), None).expect("bytes").published();
    let again = bosket_io::read(published, Some("xml"), &loaded.layout).expect("readable");
    assert_eq!(values(&again.data), values(&loaded.data));
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(text.contains("<publication xmlns=\"urn:d\">\n<doc>"), "{text}");
}

#[test]
fn every_json_document_is_a_record_or_has_some() {
    let files = [
        ("a.json", "{\n \"n\": 1\n}\n"),
        ("b.json", "[{\"n\": 2}, {\"n\": 3}]"),
        ("c.ndjson", "{\"n\": 4}\n"),
    ];
    let loaded = read(&folder(&files), None).expect("readable");
    assert_eq!((loaded.format.name(), loaded.data.len()), ("json", 3));
    assert!(loaded.warnings[0].to_string().contains("1 document of the folder left aside"));
    let lines = [("a.ndjson", "{\"n\": 4}\n{\"n\": 5}\n"), ("b.jsonl", "{\"n\": 6}\n")];
    assert_eq!(read(&folder(&lines), Some("ndjson")).expect("readable").data.len(), 3);
}

#[test]
fn mistakes_name_their_file() {
    let files = [("a.xml", "<doc><a>1</a></doc>"), ("b.xml", "<doc><a>1</doc>"), ("c.xml", "<doc")];
    let failure = read(&folder(&files), None).map(|_| ()).expect_err("broken").to_string();
    assert!(failure.contains("b.xml:1:") && failure.contains("c.xml:1:"), "{failure}");
    let files = [("a.json", "{\"a\": 1}"), ("b.json", "{\"a\": "), ("c.json", "{\"a\": {\"b\": 1}}")];
    let failure = read(&folder(&files), None).map(|_| ()).expect_err("broken").to_string();
    assert!(failure.contains("b.json:1:") && failure.contains("c.json:1:"), "{failure}");
    assert!(read(&folder(&[("readme.txt", "no document")]), None).is_err());
}
