//! Real files, read and written again: nothing that the model holds is lost.

use std::collections::BTreeMap;

use crate::common::*;
use bosket_io::{Input, Layout, Loaded};
use serde_json::Value;

/// The text of a file, the dataset, and its text as written; writing it once more must change nothing.
fn again(path: &str, format: &str, layout: &Layout) -> Option<(Vec<u8>, Loaded, Vec<u8>)> {
    let path = shared(path)?;
    let text = Input::open(&path).and_then(|mut i| i.read_all()).expect("readable");
    let loaded = bosket_io::read(Input::open(&path).expect("readable"), None, layout).expect("records");
    assert_eq!(loaded.format.name(), format);
    let written = write(&loaded);
    let second = read_as(format, written.clone(), &loaded.layout).expect("what was written");
    assert_eq!(second.data.len(), loaded.data.len());
    assert!(write(&second) == written, "{}: written differently the second time", path.display());
    Some((text, loaded, written))
}

fn records(document: &[u8], key: Option<&str>) -> Vec<String> {
    let document: Value = serde_json::from_slice(document).expect("JSON");
    let records = key.map_or(&document, |k| &document[k]);
    canonical_all(records.as_array().expect("an array").clone())
}

#[test]
fn documents() {
    let folder = "json-congress-legislators";
    for file in ["legislators-current.json.gz", "legislators-district-offices.json.gz"] {
        let Some((text, _, written)) = again(&format!("{folder}/{file}"), "json", &Layout::default()) else {
            continue;
        };
        assert!(records(&text, None) == records(&written, None), "{file}");
    }
    let layout = layout(Some("laureates[]"), None);
    if let Some((text, loaded, written)) = again("json-nobel/laureate.json.gz", "json", &layout) {
        assert_eq!(loaded.data.len(), 992);
        assert!(records(&text, Some("laureates")) == records(&written, Some("laureates")));
    }
}

#[test]
fn lines() {
    let path = "health-synthea-fhir-stu3/patients-nested.ndjson.gz";
    if let Some((text, loaded, written)) = again(path, "ndjson", &Layout::default()) {
        assert_eq!(loaded.data.len(), 1461);
        assert!(loaded.data.schema().find("encounters[].conditions[].code.display").is_some());
        assert!(canonical_lines(&text) == canonical_lines(&written));
    }
}

#[test]
fn tables() {
    for (path, separator, rows) in [
        ("flat-adult-arx/adult.csv.gz", ";", 30_162),
        ("flat-adult-arx/adult-uci-full.csv.gz", ",", 48_842),
        ("set-arules/IncomeESL.csv.gz", ",", 8_993),
        ("json-congress-legislators/legislators-historical.csv.gz", ",", 12_230),
    ] {
        let Some((text, loaded, written)) = again(path, "csv", &Layout::default()) else {
            continue;
        };
        assert_eq!(loaded.layout.separator.as_deref(), Some(separator));
        assert_eq!(loaded.data.len(), rows);
        let rows = |text: &[u8]| {
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .delimiter(separator.as_bytes()[0])
                .from_reader(text);
            let mut rows: Vec<Vec<String>> =
                reader.records().map(|r| r.expect("a row").iter().map(Into::into).collect()).collect();
            rows[1..].sort();
            rows
        };
        assert!(rows(&text) == rows(&written), "{path}");
    }
}

#[test]
fn baskets() {
    for (path, separator, count) in [
        ("set-arules/groceries-baskets.txt.gz", Some(";"), 9_835),
        ("set-arules/epub-baskets.txt.gz", Some(";"), 15_729),
        ("bms/bms-webview-1.txt.gz", None, 59_601),
        ("bms/bms-webview-2.txt.gz", None, 77_512),
    ] {
        let Some((text, loaded, written)) = again(path, "transactions", &layout(None, separator)) else {
            continue;
        };
        assert_eq!(loaded.data.len(), count, "{path}");
        let mut baskets = BTreeMap::new();
        for (text, weight) in [(&text, 1), (&written, -1)] {
            for line in std::str::from_utf8(text).expect("UTF-8").lines() {
                let mut items: Vec<&str> = line.split(separator.unwrap_or(" ")).collect();
                items.sort_unstable();
                *baskets.entry(items).or_insert(0) += weight;
            }
        }
        assert!(baskets.values().all(|&n| n == 0), "{path}");
    }
}
