//! Documents: whatever is read is written and read again as the same records, also as a publication.

use std::io::Cursor;

use bosket_io::form::of_bytes;
use bosket_io::{Format, Input, Layout, Loaded, read};
use bosket_model::observe::Quiet;
use bosket_model::{Dataset, Result};
use bosket_testkit::dice::Dice;

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

/// Whatever is changed: it is no publication any more, says something else, or has another form.
fn no_other_form(format: &str, given: &Layout, first: &Loaded, written: &[u8]) {
    if written.is_empty() {
        return;
    }
    let says = |loaded: &Loaded| (canonical(&loaded.data), paths(&loaded.data));
    let (mut dice, said) = (dice(written), says(first));
    let mut others = otherwise(&mut dice, written);
    for new in [b' ', b'\n', b'\t', b'0', b'"'] {
        let at = dice.below(written.len());
        others.extend([0, 1].map(|replace| [&written[..at], &[new], &written[at + replace..]].concat()));
    }
    for changed in others {
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
    if ["ndjson", "csv", "transactions"].contains(&format) {
        doubled(format, given, first, written, &mut dice);
    }
}

/// The same text in other ways: its lines in another order, a number or a letter spelt another way.
fn otherwise(dice: &mut Dice, written: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<&[u8]> = written.split_inclusive(|&b| b == b'\n').collect();
    let mut others = Vec::new();
    let (a, b) = (dice.below(lines.len()), dice.below(lines.len()));
    lines.swap(a, b);
    others.push(lines.concat());
    lines.swap(a, b);
    lines.reverse();
    others.push(lines.concat());
    // Some run of bytes of a kind, from a place on.
    let run = |dice: &mut Dice, is: fn(&u8) -> bool| {
        let from = dice.below(written.len());
        let start = from + written[from..].iter().position(is)?;
        let length = written[start..].iter().take_while(|b| is(b)).count();
        Some((start, start + length))
    };
    if let Some((start, end)) = run(dice, u8::is_ascii_digit) {
        let digits = &written[start..end];
        for (before, after) in [("", ".0"), ("", "e0"), ("0", ""), ("", "0e-1"), ("+", "")] {
            let spelt = [before.as_bytes(), digits, after.as_bytes()].concat();
            others.push([&written[..start], &spelt, &written[end..]].concat());
        }
    }
    if let Some((start, end)) = run(dice, u8::is_ascii_alphanumeric) {
        let (letter, word) = (written[start], &written[start..end]);
        let escapes = [
            format!("\\u{letter:04x}"),
            format!("\\u{letter:04X}"),
            format!("&#{letter};"),
            format!("&#x{letter:x};"),
        ];
        others.extend(
            escapes.map(|escape| [&written[..start], escape.as_bytes(), &written[start + 1..]].concat()),
        );
        for (before, after) in [("\"", "\""), ("<![CDATA[", "]]>")] {
            let spelt = [before.as_bytes(), word, after.as_bytes()].concat();
            others.push([&written[..start], &spelt, &written[end..]].concat());
        }
    }
    others
}

/// A record that stands twice stands beside itself.
fn doubled(format: &str, given: &Layout, first: &Loaded, written: &[u8], dice: &mut Dice) {
    let lines: Vec<&[u8]> = written.split_inclusive(|&b| b == b'\n').collect();
    let header = usize::from(format == "csv");
    if lines.len() == header {
        return;
    }
    let one = header + dice.below(lines.len() - header);
    let at = header + dice.below(lines.len() + 1 - header);
    let twice = |at: usize| [&lines[..at], &[lines[one]], &lines[at..]].concat().concat();
    let changed = twice(at);
    let Ok(again) = open(format, given, &changed, true) else { return };
    let mut said = canonical(&again.data);
    let is_one_more = said.len() == first.data.len() + 1;
    said.dedup();
    let mut before = canonical(&first.data);
    before.dedup();
    if !is_one_more
        || said != before
        || again.layout != first.layout
        || paths(&again.data) != paths(&first.data)
    {
        return;
    }
    let found = form(format, &changed, (again.format, &again.layout, &again.data));
    let told = String::from_utf8_lossy(&changed);
    // A line may also stand within a quoted value, and be a record elsewhere.
    let beside = (header..lines.len()).any(|same| lines[same] == lines[one] && changed == twice(same));
    assert_eq!(found.is_none(), beside, "{format}: a record that stands twice: {told}");
}
