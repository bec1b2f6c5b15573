//! The same for one Parquet file of nested records.
#![cfg(target_os = "linux")]

mod sales;

use std::path::Path;
use std::process::Command;

use bosket_io::apart::Dissection;
use bosket_io::apart::PublishedReader;
use bosket_io::{Create, Input, Layout, PolicyFile, Whereabouts};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_model::sides::Fates;
use sales::columns::{Column, GROUP, group, writer};

fn reader(file: &PolicyFile) -> PublishedReader<'_> {
    PublishedReader::new(file, Fates::new).expect("a good policy")
}

#[test]
fn nested_records() {
    let Some(dir) = sales::apart("nested_records", make) else { return };
    let path = dir.path().join("nested.parquet");
    sales::at_most_twice("nested Parquet", || {
        Ok(bosket_io::read(Input::open(&path)?, None, &Layout::default())?.data)
    });
}

fn make(dir: &Path) {
    // Ten vertices per record: a customer and its orders.
    let schema = "message m { required binary town (STRING); optional group orders (LIST) { repeated group list { \
                  optional group element { optional binary day (STRING); optional binary total (STRING); } } } }";
    let path = dir.join("nested.parquet");
    let mut out = writer(&path, schema);
    let mut buffers: Vec<Column> = vec![Default::default(); 3];
    let records = sales::rows() / 10;
    for i in 0..records {
        buffers[0].0.push(format!("town {}", i % 500).as_str().into());
        for j in 0..9u64 {
            let cells = [((i + j) % 365).to_string(), ((i * 7 + j) % 9973).to_string()];
            for (cell, (values, definition, repetition)) in cells.iter().zip(&mut buffers[1..]) {
                values.push(cell.as_str().into());
                definition.push(4);
                repetition.push(i16::from(j > 0));
            }
        }
        if buffers[0].0.len() == GROUP || i + 1 == records {
            group(&mut out, &mut buffers);
        }
    }
    out.close().expect("complete");
}

/// People with texts of a kilobyte each, far more than the memory that dissection may take.
const PEOPLE: usize = 200_000;
const MOST: u64 = 100 << 20;

/// Dissection keeps codes and places per record, never all texts. It runs in a process of its own, so that its memory is not
/// that of other tests.
#[test]
fn dissected_records() {
    if let Ok(folder) = std::env::var("DISSECTED_FOLDER") {
        dissect(Path::new(&folder));
        println!("peak {}.", sales::memory("VmHWM"));
        return;
    }
    let Some(dir) = sales::apart("dissected_records", make_long) else { return };
    let this = std::env::current_exe().expect("a program");
    let mut run = Command::new(this);
    run.args(["dissected_records", "--exact", "--nocapture"]).env("DISSECTED_FOLDER", dir.path());
    let told = String::from_utf8(run.output().expect("it runs").stdout).expect("UTF-8");
    let peak = told.split_once("peak ").and_then(|(_, rest)| rest.split_once('.'));
    let peak: u64 = peak.and_then(|(peak, _)| peak.parse().ok()).unwrap_or_else(|| panic!("{told}"));
    eprintln!("{PEOPLE} people with {} MB of text: at most {} MB were used", PEOPLE >> 10, peak >> 20);
    assert!(peak <= MOST, "{} MB", peak >> 20);
}

fn dissect(folder: &Path) {
    let attribute = |path: &str, role: &str| format!("[[attribute]]\npath = '{path}'\nrole = '{role}'\n");
    let text = format!(
        "version = 1\n[source]\nformat = 'parquet'\npath = 'long.parquet'\n{}{}[privacy]\nmodel = 'none'\n\
         [publish]\npath = 'out'\n",
        attribute("about", "quasi"),
        attribute("code", "sensitive")
    );
    let (policy, _) = Policy::parse("policy.toml", &text, &[]).unwrap_or_else(|d| panic!("{d:?}"));
    let file = PolicyFile { policy, folder: folder.to_owned(), warnings: Vec::new(), frames: None };
    let dissection = Dissection::new(&file, Fates::new).expect("a good policy");
    let place = Whereabouts::input(&file).expect("a source");
    let mut people = dissection.read(place, &Quiet).unwrap_or_else(|e| panic!("{e}"));
    let group_of: Vec<u32> = (0..PEOPLE as u32).map(|r| r / 5).collect();
    let create = Create::default();
    let mut drafts =
        dissection.write(&mut people, (&group_of, PEOPLE / 5), create.clone()).expect("writable");
    let found = reader(&file).read_drafts(&mut drafts, &Quiet).expect("readable");
    assert_eq!(found.people.len(), PEOPLE / 5);
    drafts.finish(create, Vec::new()).expect("writable");
}

fn make_long(dir: &Path) {
    let schema = "message m { required binary about (STRING); required binary code (STRING); }";
    let mut out = writer(&dir.join("long.parquet"), schema);
    let mut buffers: Vec<Column> = vec![Default::default(); 2];
    for i in 0..PEOPLE {
        let about = format!("{} ", i * 7919 % PEOPLE).repeat(1024 / 7);
        buffers[0].0.push(about.as_str().into());
        buffers[1].0.push(format!("c{}", i % 500).as_str().into());
        if buffers[0].0.len() == GROUP / 10 {
            group(&mut out, &mut buffers);
        }
    }
    out.close().expect("complete");
}
