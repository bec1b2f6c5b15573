//! A folder of parts is one publication: one sorted file that was cut, or it is refused.

use std::fs;
use std::path::Path;

use bosket_io::parquet::parts::PartSheet;
use bosket_io::parts::{PartFacts, part_name, read_part, refuse_disorder};
use bosket_io::{Layout, PolicyFile, SourceForm, Whereabouts};
use bosket_model::observe::Quiet;
use bosket_model::{Dataset, Result};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::tables_common::{attribute, canonical, policy};

/// A hospital, a year and some codes; the hospital is what an input may be parted by.
type Person = (u8, Option<u16>, Vec<u8>);

fn file(dir: &Path, format: &str) -> PolicyFile {
    let source = format!("version = 1\n[source]\nformat = {format:?}\npath = \"in.{format}\"\n");
    let attributes = ["hospital", "year", "codes[]"].map(|path| attribute(path, "quasi")).concat();
    policy(dir, &format!("{source}[publish]\npath = \"out\"\n{attributes}"))
}

fn records(dir: &Path, people: &[Person]) -> (Dataset, Layout) {
    let lines = people.iter().map(|(hospital, year, codes)| {
        let year = year.map_or("null".to_owned(), |y| (1900 + y).to_string());
        let codes: Vec<String> = codes.iter().map(|c| format!("\"c{c}\"")).collect();
        format!("{{\"hospital\":\"h{hospital}\",\"year\":{year},\"codes\":[{}]}}\n", codes.join(","))
    });
    fs::write(dir.join("in.ndjson"), lines.collect::<String>()).expect("a file");
    let opened =
        Whereabouts::input(&file(dir, "ndjson")).and_then(|place| place.open(&Quiet)).expect("readable");
    let SourceForm::Document { layout, .. } = opened.form else { panic!("a document") };
    (opened.data, *layout)
}

fn sheet_and_texts(dir: &Path, people: &[Person]) -> (PartSheet, Vec<Vec<u8>>) {
    let (data, layout) = records(dir, people);
    let mut sheet = PartSheet::new(&data, &layout.columns).expect("columns");
    let mut texts = Vec::new();
    let mut take = |text: &[u8]| -> Result<()> {
        texts.push(text.to_vec());
        Ok(())
    };
    sheet.texts(&data, &mut take).expect("texts");
    // As a worker gets them, who has seen no record.
    let sheet = PartSheet::from_bytes(&sheet.to_bytes().expect("bytes")).expect("the same columns");
    (sheet, texts)
}

fn write(folder: &Path, sheet: &PartSheet, parts: &[&[Vec<u8>]]) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir(folder).expect("a folder");
    for (number, part) in parts.iter().enumerate() {
        let mut rows = sheet.begin(Vec::new()).expect("a file");
        part.iter().for_each(|text| rows.record(text).expect("room"));
        fs::write(folder.join(part_name(number, "parquet")), rows.finish().expect("a file")).expect("a file");
    }
}

fn verdict(dir: &Path) -> Result<Vec<String>> {
    let place = Whereabouts::given(&file(dir, "parquet"), &dir.join("out"), true)?;
    Ok(canonical(&place.open(&Quiet)?.data))
}

fn refused(dir: &Path, words: &str) {
    let failure = verdict(dir).expect_err("refused");
    let said = failure.to_string();
    assert!(said.contains(words), "{said}");
}

fn people() -> Vec<Person> {
    (0..60)
        .map(|i| (i % 3, (i % 7 > 0).then_some(u16::from(i % 11)), vec![i % 5; usize::from(i % 3)]))
        .collect()
}

#[test]
fn sorted_and_cut_into_equal_parts_it_is_one_publication() {
    let dir = TempDir::new().expect("a folder");
    let (sheet, mut texts) = sheet_and_texts(dir.path(), &people());
    texts.sort();
    write(&dir.path().join("out"), &sheet, &texts.chunks(25).collect::<Vec<_>>());
    let mut expected = canonical(&records(dir.path(), &people()).0);
    let mut found = verdict(dir.path()).expect("a publication");
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    // Its certificate, and a signature of it, may lie there.
    fs::write(dir.path().join("out/certificate.json"), "{}").expect("a file");
    fs::write(dir.path().join("out/certificate.json.minisig"), "x").expect("a file");
    verdict(dir.path()).expect("a publication");
}

#[test]
fn parts_that_follow_the_input_are_refused() {
    let dir = TempDir::new().expect("a folder");
    let people = people();
    let (sheet, texts) = sheet_and_texts(dir.path(), &people);
    let of = |hospital: u8| {
        let own = people.iter().zip(&texts).filter(move |(person, _)| person.0 == hospital);
        let mut own: Vec<Vec<u8>> = own.map(|(_, text)| text.clone()).collect();
        own.sort();
        own
    };
    // Each part sorted, all of the same size, in an order that no content gives.
    let parts = [of(2), of(0), of(1)];
    write(&dir.path().join("out"), &sheet, &parts.each_ref().map(Vec::as_slice));
    refused(dir.path(), "not in the order of the published content, across all parts");
    // In order, but cut where one wanted to cut.
    let mut sorted = texts.clone();
    sorted.sort();
    write(&dir.path().join("out"), &sheet, &[&sorted[..17], &sorted[17..]]);
    refused(dir.path(), "another number of records");
}

#[test]
fn what_is_missing_added_swapped_or_empty_is_refused() {
    let dir = TempDir::new().expect("a folder");
    let (sheet, mut texts) = sheet_and_texts(dir.path(), &people());
    texts.sort();
    let out = dir.path().join("out");
    let parts: Vec<&[Vec<u8>]> = texts.chunks(20).collect();
    let fresh = || write(&out, &sheet, &parts);
    fresh();
    fs::remove_file(out.join(part_name(1, "parquet"))).expect("a file");
    refused(dir.path(), "part-00002.parquet");
    fresh();
    fs::write(out.join(".hidden"), "x").expect("a file");
    refused(dir.path(), ".hidden");
    fresh();
    fs::create_dir(out.join("part-00003.parquet")).expect("a folder");
    refused(dir.path(), "part-00003.parquet");
    fresh();
    fs::rename(out.join(part_name(0, "parquet")), out.join("x")).expect("renamed");
    fs::rename(out.join(part_name(2, "parquet")), out.join(part_name(0, "parquet"))).expect("renamed");
    fs::rename(out.join("x"), out.join(part_name(2, "parquet"))).expect("renamed");
    refused(dir.path(), "not in the order");
    write(&out, &sheet, &[parts[0], &[]]);
    refused(dir.path(), "holds no record");
    fs::remove_dir_all(&out).expect("a folder");
    fs::create_dir(&out).expect("a folder");
    refused(dir.path(), "no part of a publication");
}

#[test]
fn lines_in_parts_are_checked_alike() {
    let dir = TempDir::new().expect("a folder");
    let out = dir.path().join("out");
    fs::create_dir(&out).expect("a folder");
    let verdict =
        || Whereabouts::given(&file(dir.path(), "ndjson"), &out, true)?.open(&Quiet).map(|o| o.data.len());
    let lines = ["{\"year\":1}\n", "{\"year\":2}\n", "{\"year\":2}\n", "{\"year\":3}\n"];
    let put = |number, text: String| fs::write(out.join(part_name(number, "ndjson")), text).expect("a file");
    put(0, lines[..2].concat());
    put(1, lines[2..].concat());
    assert_eq!(verdict().expect("a publication"), 4);
    put(1, lines[1..].concat());
    verdict().expect_err("more records than the first part");
    put(1, [lines[3], lines[2]].concat());
    verdict().expect_err("not sorted");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn texts_sort_as_one_file_is_sorted(
        people in prop::collection::vec((0u8..3, prop::option::of(0u16..20), prop::collection::vec(0u8..4, 0..3)), 1..40),
        size in 1usize..12,
    ) {
        let dir = TempDir::new().expect("a folder");
        let (sheet, mut texts) = sheet_and_texts(dir.path(), &people);
        texts.sort();
        let out = dir.path().join("out");
        write(&out, &sheet, &texts.chunks(size).collect::<Vec<_>>());
        let parts = verdict(dir.path()).expect("a publication");
        // One file, as it is written when all records are in memory.
        let (data, layout) = records(dir.path(), &people);
        let mut whole = Vec::new();
        bosket_io::by_name("parquet").expect("a format").write(&data, &layout, &mut whole, &Quiet).expect("written");
        fs::write(dir.path().join("whole.parquet"), whole).expect("a file");
        let place = Whereabouts::given(&file(dir.path(), "parquet"), &dir.path().join("whole.parquet"), true);
        prop_assert_eq!(&parts, &canonical(&place.expect("a place").open(&Quiet).expect("readable").data));
        // Each alone, and put together, they are judged the same.
        let facts: Vec<PartFacts> = (0..texts.chunks(size).len())
            .map(|at| read_part(&out.join(part_name(at, "parquet")), &Layout::default()).expect("a part").facts)
            .collect();
        prop_assert_eq!(facts.iter().map(|f| f.records).sum::<u64>(), people.len() as u64);
        refuse_disorder(&out, "parquet", &facts).expect("in order");
    }
}
