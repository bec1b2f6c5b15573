//! What the tests of this crate share.

use std::path::PathBuf;

use bosket_io::{Input, Layout, Loaded};
use bosket_model::observe::Quiet;
use bosket_model::{Failure, Result};
use serde_json::Value;

pub(crate) fn input(bytes: impl Into<Vec<u8>>) -> Result<Input> {
    Input::new("data", std::io::Cursor::new(bytes.into()), None)
}

pub(crate) fn layout(record: Option<&str>, separator: Option<&str>) -> Layout {
    Layout { record: record.map(Into::into), separator: separator.map(Into::into), ..Layout::default() }
}

pub(crate) fn read_as(format: &str, bytes: impl Into<Vec<u8>>, layout: &Layout) -> Result<Loaded> {
    bosket_io::read(input(bytes)?, Some(format), layout)
}

pub(crate) fn read(format: &str, bytes: impl Into<Vec<u8>>) -> Result<Loaded> {
    read_as(format, bytes, &Layout::default())
}

pub(crate) fn fails(format: &str, bytes: impl Into<Vec<u8>>) -> Failure {
    read(format, bytes).map(|_| ()).expect_err("must not be accepted")
}

pub(crate) fn write(loaded: &Loaded) -> Vec<u8> {
    let mut out = Vec::new();
    loaded.format.write(&loaded.data, &loaded.layout, &mut out, &Quiet).expect("writable");
    out
}

/// A file of the shared example data, unless it is not there.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there", path.display());
    None
}

/// A record as text in which order, nulls and empty brackets do not count.
pub(crate) fn canonical(value: &Value) -> String {
    member(value).unwrap_or_else(|| "{}".into())
}

fn member(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(_) | Value::String(_) => Some(value.to_string()),
        Value::Number(n) => Some(match n.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 9e15) {
            Some(whole) => format!("{}", whole as i64),
            None => n.to_string(),
        }),
        Value::Array(elements) => {
            let mut texts: Vec<String> =
                elements.iter().map(|e| member(e).unwrap_or_else(|| "null".into())).collect();
            texts.sort();
            (!texts.is_empty()).then(|| format!("[{}]", texts.join(",")))
        }
        Value::Object(fields) => {
            let mut texts: Vec<String> = fields
                .iter()
                .filter_map(|(k, v)| Some(format!("{}:{}", Value::from(k.as_str()), member(v)?)))
                .collect();
            texts.sort();
            (!texts.is_empty()).then(|| format!("{{{}}}", texts.join(",")))
        }
    }
}

/// The records of an NDJSON text as an unordered collection.
pub(crate) fn canonical_lines(text: &[u8]) -> Vec<String> {
    let lines = text.split(|&c| c == b'\n').filter(|l| !l.is_empty());
    canonical_all(lines.map(|l| serde_json::from_slice(l).expect("JSON")))
}

pub(crate) fn canonical_all(values: impl IntoIterator<Item = Value>) -> Vec<String> {
    let mut records: Vec<String> = values.into_iter().map(|v| canonical(&v)).collect();
    records.sort();
    records
}
