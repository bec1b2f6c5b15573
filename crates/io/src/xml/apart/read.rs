//! The people of a private document, or of several.

use std::collections::BTreeSet;

use bosket_model::policy::{Policy, Undeclared};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::format::Layout;
use crate::input::Input;
use crate::problems::Problems;
use crate::xml::read::all_events;
use crate::xml::{Namespaces, record_of, record_path};
use bosket_model::sides::Fates;

use super::paths::Paths;
use super::person::Person;
use super::walk::{Take, Walk, Watch};

/// What a document was found to be besides its people.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Which namespaces its names are in.
    pub namespaces: Namespaces,
    /// Whether anything stands beside its records.
    pub beside: bool,
    /// What should be known about how it was read.
    pub warnings: Vec<Diagnostic>,
}

pub(super) struct With<F>(pub(super) F);

impl<F: FnMut(&Person, &[String], &mut BTreeSet<String>) -> Result<()>> Take for With<F> {
    fn person(
        &mut self,
        person: &Person,
        watched: &[String],
        undeclared: &mut BTreeSet<String>,
    ) -> Result<()> {
        self.0(person, watched, undeclared)
    }
}

/// Reads a document from its start to its end and hands out its people.
pub(crate) fn each_person(
    input: &mut Input,
    paths: &Paths,
    record: &[String],
    undeclared: Undeclared,
    watch: &[Watch],
    take: impl FnMut(&Person, &[String], &mut BTreeSet<String>) -> Result<()>,
) -> Result<Reading> {
    let place = Place::source(input.name());
    let mut problems = Problems::new(input.name());
    if record.is_empty() {
        let what = Diagnostic::error("nothing says where in the document the records are").at(place);
        let help =
            "set `source.record`: the path of one person's element from the root, such as `db/patient`";
        return Err(Failure::new(Fault::Policy, what.help(help)));
    }
    let mut walk = Walk::new(paths, record, undeclared, watch, With(take));
    all_events(input, &mut walk, &mut problems)?;
    if problems.is_empty() && walk.records == 0 {
        problems.push(|place| {
            let what = format!("the document has no record at `{}`", record.join("/"));
            let help = "name the element that holds one person's data by its path from the root: db/patient";
            Diagnostic::error(what).at(place).help(help)
        });
    }
    if !problems.is_empty() {
        return Err(problems.failure());
    }
    let mut unnamed: Vec<Diagnostic> = (walk.undeclared.iter())
        .map(|path| {
            Diagnostic::error("the policy does not say what this attribute is")
                .at(place.clone().path(path.as_str()))
                .help("add an [[attribute]] with this path and a role, or set `undeclared = \"drop\"`")
        })
        .collect();
    unnamed.extend(walk.repeated.iter().map(|&node| {
        let path = paths.path(node);
        Diagnostic::error("this element repeats, which the policy does not say")
            .help(format!("write `{path}[]` in the paths that go through it"))
            .at(place.clone().path(path))
    }));
    if !unnamed.is_empty() {
        return Err(Failure::all(Fault::Policy, unnamed));
    }
    let outside: Vec<String> = walk.outside.iter().take(8).map(|p| format!("`{p}`")).collect();
    let mut warnings = Vec::new();
    if !outside.is_empty() {
        let what = format!(
            "left out, since it lies outside the records `{}`: {}",
            record.join("/"),
            outside.join(", ")
        );
        let help = "nothing of it is published; if it says something about people, choose other records";
        warnings.push(Diagnostic::warning(what).at(place).help(help));
    }
    let beside = !walk.outside.is_empty() || walk.outside_text;
    Ok(Reading { namespaces: walk.namespaces, beside, warnings })
}

/// Reads the people of a private document: for each its sensitive values (attribute and text), then the text of its
/// quasi side.
pub(crate) fn read_people(
    input: &mut Input,
    policy: &Policy,
    fates: &Fates,
    layout: &Layout,
    mut take: impl FnMut(&mut dyn Iterator<Item = (usize, &str)>, &[u8]) -> Result<()>,
) -> Result<Reading> {
    let paths = Paths::new(policy, fates, false)?;
    let layout = Layout { record: record_of(input, layout)?, ..Layout::default() };
    let record = record_path(&layout)?.unwrap_or_default();
    let mut text = Vec::new();
    each_person(input, &paths, &record, policy.undeclared, &[], |person, _, _| {
        text.clear();
        person.write(&paths, &mut text);
        take(&mut person.sensitive(), &text)
    })
}
