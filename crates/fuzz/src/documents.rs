//! Documents: whatever is read is written and read again as the same records, also as a publication.

use std::io::Cursor;

use bosket_io::form::of_bytes;
use bosket_io::{Format, Input, Layout, Loaded, read};
use bosket_model::observe::Quiet;
use bosket_model::{Dataset, Result};

use crate::records::canonical;
use crate::{Outcome, dice, refused};

/// One JSON document: an array of records, or records below a path.
pub fn json(data: &[u8]) -> Outcome {
    any(["", "a[]", "x.y[].z[]"].map(|record| document("json", &layout(record, ""), data)))
}

/// One JSON object per line.
pub fn ndjson(data: &[u8]) -> Outcome {
    document("ndjson", &Layout::default(), data)
}

/// One XML document.
pub fn xml(data: &[u8]) -> Outcome {
    any(["db/p", "p"].map(|record| document("xml", &layout(record, ""), data)))
}

/// One flat table.
pub fn csv(data: &[u8]) -> Outcome {
    any(["", ";"].map(|separator| document("csv", &layout("", separator), data)))
}

/// One set of items per line.
pub fn transactions(data: &[u8]) -> Outcome {
    any(["", ",", "; "].map(|separator| document("transactions", &layout("", separator), data)))
}

/// One Parquet file of nested records.
pub fn parquet(data: &[u8]) -> Outcome {
    document("parquet", &Layout::default(), data)
}

/// FHIR bundles, of both versions.
pub fn fhir(data: &[u8]) -> Outcome {
    any(["fhir-r4", "fhir-stu3"].map(|version| document(version, &Layout::default(), data)))
}

fn layout(record: &str, separator: &str) -> Layout {
    let given = |text: &str| Some(text.to_owned()).filter(|t| !t.is_empty());
    Layout { record: given(record), separator: given(separator), ..Layout::default() }
}

fn any<const N: usize>(outcomes: [Outcome; N]) -> Outcome {
    if outcomes.contains(&Outcome::Held) { Outcome::Held } else { Outcome::Refused }
}

fn open(format: &str, layout: &Layout, data: &[u8], published: bool) -> Result<Loaded> {
    let input = Input::new("data", Cursor::new(data.to_vec()), Some(data.len() as u64))?;
    read(if published { input.published() } else { input }, Some(format), layout)
}

fn document(format: &str, layout: &Layout, data: &[u8]) -> Outcome {
    let published = open(format, layout, data, true);
    let loaded = match open(format, layout, data, false) {
        Ok(loaded) => loaded,
        Err(failure) => {
            assert!(published.is_err(), "{format}: a publication may have less in it than private data");
            return refused(&failure);
        }
    };
    let records = canonical(&loaded.data);
    match &published {
        Ok(published) => assert_eq!(canonical(&published.data), records, "{format}: read as a publication"),
        Err(failure) => _ = refused(failure),
    }
    let mut written = Vec::new();
    if let Err(failure) = loaded.format.write(&loaded.data, &loaded.layout, &mut written, &Quiet) {
        return refused(&failure);
    }
    let mut first = None;
    for published in [false, true] {
        let again = open(format, &loaded.layout, &written, published)
            .unwrap_or_else(|failure| panic!("{format}: what was written is refused: {failure}"));
        assert_eq!(canonical(&again.data), records, "{format}: written and read again");
        let mut twice = Vec::new();
        let result = again.format.write(&again.data, &loaded.layout, &mut twice, &Quiet);
        result.unwrap_or_else(|failure| panic!("{format}: written once only: {failure}"));
        assert!(twice == written, "{format}: written twice, and not the same");
        let found = (again.format, &again.layout, &again.data);
        assert_eq!(form(format, &written, found), None, "{format}: what was written has another form");
        first = Some(again);
    }
    if let Some(first) = first {
        no_other_form(format, &loaded.layout, &first, &written);
    }
    Outcome::Held
}

/// Where these bytes leave the one form of what was read of them.
fn form(
    name: &str,
    bytes: &[u8],
    (format, layout, data): (&'static dyn Format, &Layout, &Dataset),
) -> Option<String> {
    let found = of_bytes(bytes, (format, layout), data, &Quiet);
    let found = found.unwrap_or_else(|failure| panic!("{name}: cannot be written again: {failure}"));
    found.map(|differs| differs.to_string())
}

/// Paths of attributes: a column may have no value in any record.
fn paths(data: &Dataset) -> Vec<String> {
    data.schema().attributes().map(|(_, attribute)| attribute.path.clone()).collect()
}

/// Whatever byte is changed: it is no publication any more, says something else, or has another form.
fn no_other_form(format: &str, given: &Layout, first: &Loaded, written: &[u8]) {
    if written.is_empty() {
        return;
    }
    let says = |loaded: &Loaded| (canonical(&loaded.data), paths(&loaded.data));
    let (mut dice, said) = (dice(written), says(first));
    for new in [b' ', b'\n', b'\t', b'0', b'"'] {
        let at = dice.below(written.len());
        for replace in [0, 1] {
            let changed = [&written[..at], &[new], &written[at + replace..]].concat();
            let Ok(again) = open(format, given, &changed, true) else { continue };
            // Names of columns and namespaces stand once for all records.
            if changed == written || again.layout != first.layout || says(&again) != said {
                continue;
            }
            let found = form(format, &changed, (again.format, &again.layout, &again.data));
            assert!(
                found.is_some(),
                "{format}: the same records in another form: {} for {}",
                String::from_utf8_lossy(&changed),
                String::from_utf8_lossy(written)
            );
        }
    }
}
