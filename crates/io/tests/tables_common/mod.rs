//! What the tests of linked tables share.
#![allow(dead_code)] // each test binary uses its own part

use std::path::Path;

use bosket_io::tables::{Tables, TablesForm, Writing};
use bosket_io::{Create, PolicyFile};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_model::{Dataset, MISSING, Result};

/// A policy whose paths start in a folder.
pub(crate) fn policy(folder: &Path, text: &str) -> PolicyFile {
    let (policy, warnings) = Policy::parse("policy.toml", text, &[]).unwrap_or_else(|e| panic!("{e:?}"));
    PolicyFile { policy, folder: folder.to_owned(), warnings, frames: None }
}

/// An attribute of a policy.
pub(crate) fn attribute(path: &str, role: &str) -> String {
    format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n")
}

pub(crate) fn read_input(file: &PolicyFile) -> Result<(Dataset, TablesForm)> {
    Tables::input(file)?.read(&Quiet)
}

pub(crate) fn read_published(file: &PolicyFile, at: &Path) -> Result<(Dataset, TablesForm)> {
    Tables::given(file, at, true)?.read(&Quiet)
}

/// What reading the input says is wrong.
#[track_caller]
pub(crate) fn refused(file: &PolicyFile) -> String {
    read_input(file).map(|_| ()).expect_err("must not be accepted").to_string()
}

/// Publishes a dataset and gives what reading it again gave before it was in place.
pub(crate) fn publish(file: &PolicyFile, form: &TablesForm, data: &Dataset) -> Result<Dataset> {
    let mut writing = Writing::begin(file, form, Create::default())?;
    writing.write(data, &Quiet)?;
    let again = writing.read_again(&Quiet)?;
    writing.finish(Vec::new(), &Quiet)?;
    Ok(again)
}

/// All records as texts in which order does not count: `table{column=value child{…}}`. The table of a class is the last
/// part of its key. Values of removed columns do not show.
pub(crate) fn canonical(data: &Dataset) -> Vec<String> {
    let mut records: Vec<String> = (0..data.len()).map(|r| vertex(data, data.vertices(r).start)).collect();
    records.sort();
    records
}

fn vertex(data: &Dataset, v: usize) -> String {
    let schema = data.schema();
    let class = schema.class(data.class(v));
    let name = class.name.join(".");
    let mut parts: Vec<String> = class
        .attributes
        .iter()
        .filter(|&&a| data.value(v, a) != MISSING)
        .map(|&a| {
            format!("{}={}", schema.attribute(a).name.join("."), data.dictionary(a).text(data.value(v, a)))
        })
        .collect();
    parts.sort();
    let end = (v + 1..data.vertex_count()).find(|&u| data.parent(u).is_none_or(|p| p < v));
    let children = v + 1..end.unwrap_or(data.vertex_count());
    let mut below: Vec<String> =
        children.filter(|&u| data.parent(u) == Some(v)).map(|u| vertex(data, u)).collect();
    below.sort();
    parts.append(&mut below);
    format!("{}{{{}}}", name.rsplit('.').next().unwrap_or_default(), parts.join(" "))
}
