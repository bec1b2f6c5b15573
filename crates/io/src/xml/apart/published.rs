//! Reads a publication as a stranger would.

use bosket_model::dissected::PublishedGroups;
use bosket_model::path::AttributePath;
use bosket_model::policy::{Policy, Undeclared};
use bosket_model::{Diagnostic, Failure, Fault, Kind, Place, Result};

use crate::apart::{Groups, Numbered};
use crate::input::Input;
use crate::xml::Namespaces;
use crate::xml::names::prefix;
use crate::xml::namespaces::XSI;

use super::paths::{ID, Paths};
use super::publish::{ELEMENT, GROUP, QUASI, SENSITIVE, TYPE, root};
use super::read::each_person;
use super::walk::Watch;

/// Takes the name of a group and the text of one of its people, or a value of it by the attribute of the policy.
pub(crate) type Each<'a> = dyn FnMut(&str, &mut dyn Iterator<Item = (usize, &str)>, Option<&[u8]>) + 'a;

/// Reads a published document; `all` are the paths of the policy's attributes. With `each`, the texts of its people and of
/// its values are handed out, as `read_people` writes those of private ones.
pub(crate) fn read_published(
    input: &mut Input,
    policy: &Policy,
    all: &[AttributePath],
    each: Option<&mut Each<'_>>,
) -> Result<PublishedGroups> {
    read_published_in(input, policy, all, each, &mut Namespaces::default())
}

/// The same, and which namespaces its names are in.
pub(crate) fn read_published_in(
    input: &mut Input,
    policy: &Policy,
    all: &[AttributePath],
    mut each: Option<&mut Each<'_>>,
    namespaces: &mut Namespaces,
) -> Result<PublishedGroups> {
    let paths = Paths::of_publication(all);
    let place = Place::source(input.name());
    let record = [root(policy)?, GROUP, ELEMENT].map(str::to_owned);
    let watch: [Watch; 2] = [(1, TYPE), (2, ID)];
    let path = |declared: usize| policy.attributes[declared].path.as_str();
    let mut groups = Groups::default();
    let (mut astray, mut nameless) = (0, 0);
    let mut text = Vec::new();
    // What the policy does not name is refused after the last record, or told like everything else.
    let refuse = policy.undeclared == Undeclared::Refuse;
    let reading =
        each_person(input, &paths, &record, Undeclared::Refuse, &watch, |person, watched, undeclared| {
            let [side, id] = watched else { return Ok(()) };
            nameless += usize::from(id.is_empty());
            let group = groups.number(id);
            let others = if refuse { Default::default() } else { std::mem::take(undeclared) };
            match side.as_str() {
                QUASI => {
                    person.values(&paths).for_each(|(declared, _)| groups.on_quasi_side(path(declared)));
                    others.iter().for_each(|other| groups.on_quasi_side(other));
                    groups.person(group);
                    if let Some(each) = &mut each {
                        text.clear();
                        person.write(&paths, &mut text);
                        each(id, &mut std::iter::empty(), Some(&text));
                    }
                }
                SENSITIVE => {
                    astray += usize::from(person.values(&paths).count() + others.len() != 1);
                    for (declared, value) in person.values(&paths) {
                        let column = groups.on_sensitive_side(path(declared));
                        groups.value(group, column, Kind::Text, value);
                    }
                    for other in &others {
                        groups.on_sensitive_side(other);
                    }
                    if let Some(each) = &mut each {
                        each(id, &mut person.values(&paths), None);
                    }
                }
                _ => nameless += 1,
            }
            Ok(())
        })?;
    let problems: Vec<Diagnostic> = [
        (astray, "elements of the sensitive side do not hold exactly one value"),
        (nameless, "elements belong to no group or to no side"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| {
        Diagnostic::error(format!("{count} {what}"))
            .at(place.clone())
            .help("check that policy and publication belong together, and that it is complete")
    })
    .collect();
    if !problems.is_empty() {
        return Err(Failure::all(Fault::Data, problems));
    }
    input.nothing_outside()?;
    let used = |name: &str| paths.nodes.iter().any(|node| prefix(&node.name) == name);
    let idle = reading.namespaces.prefixes.iter().any(|p| p.namespace != XSI && !used(&p.name));
    if reading.beside || idle {
        let what = "something stands beside the groups that is no part of a publication with two sides";
        let help = "`verify` cannot judge it, so it must not be handed out; publish again";
        return Err(Failure::new(Fault::Data, Diagnostic::error(what).at(place).help(help)));
    }
    *namespaces = reading.namespaces;
    groups.finish(place, Numbered::AsTheyCome)
}
