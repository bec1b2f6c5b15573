//! Dissected JSON: `{"quasi":[{"group":1,"records":[…]}],"sensitive":[{"group":1,"path":"…","value":"…"}]}`.

use std::io::Write;

use bosket_model::binding::Binding;
use bosket_model::dissected::PublishedGroups;
use bosket_model::policy::Policy;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result};

use super::draft::{Draft, Written};
use super::groups::{Groups, Numbered};
use super::json_form;
use super::scratch::Scratch;
use super::sorter::Merged;
use super::spool::{Parts, Spool};
use crate::fault;
use crate::format::{Format, Layout};
use crate::homes::Homes;
use crate::input::Input;
use crate::json::Json;
use crate::json::document::{self, Around};
use crate::json::write::push_string;
use bosket_model::sides::Fates;

/// Writes groups, ordered by what is written.
pub(super) fn publish(
    spool: &mut Spool,
    (group_of, groups): (&[u32], usize),
    fates: &Fates,
    out: &mut Draft,
) -> Result<Written> {
    let mut fragment = |at: usize, kind: Kind, text: &str, out: &mut Vec<u8>| {
        out.extend_from_slice(b"\"path\":");
        push_string(out, &fates.sensitive[at].path);
        out.extend_from_slice(b",\"value\":");
        match kind {
            Kind::Text => push_string(out, text),
            Kind::Number | Kind::Bool => out.extend_from_slice(text.as_bytes()),
        }
        out.push(b'}');
    };
    write(spool.groups(group_of, groups, &mut fragment)?, out)
}

fn write(mut merged: Merged, out: &mut Draft) -> Result<Written> {
    let mut written = Written::default();
    let mut later = Scratch::create()?;
    let mut line = Vec::new();
    out.write_all(b"{\"quasi\":[").map_err(fault::from_write)?;
    while let Some(group) = merged.next()? {
        let group = Parts::of(group);
        written.groups += 1;
        written.numbers.push(group.number);
        let id = written.groups;
        line.clear();
        line.extend_from_slice(if id == 1 { b"\n" } else { b",\n" });
        line.extend_from_slice(format!("{{\"group\":{id},\"records\":[").as_bytes());
        for (i, person) in group.people().enumerate() {
            line.extend_from_slice(if i == 0 { b"" } else { b"," });
            line.extend_from_slice(person);
            written.people += 1;
        }
        line.extend_from_slice(b"]}");
        out.write_all(&line).map_err(fault::from_write)?;
        line.clear();
        for value in group.values() {
            line.extend_from_slice(if written.values == 0 { b"\n" } else { b",\n" });
            line.extend_from_slice(format!("{{\"group\":{id},").as_bytes());
            line.extend_from_slice(value);
            written.values += 1;
        }
        later.write(&line)?;
    }
    out.write_all(b"\n],\"sensitive\":[").map_err(fault::from_write)?;
    later.copy_to(out)?;
    out.write_all(b"\n]}\n").map_err(fault::from_write)?;
    Ok(written)
}

/// The part of a publication at a path.
fn part(open: &mut dyn FnMut() -> Result<Input>, record: &str) -> Result<Dataset> {
    let layout = Layout { record: Some(record.to_owned()), ..Layout::default() };
    Ok(Json.read(&mut open()?, &layout)?.0)
}

/// The people of a publication.
pub(super) fn people(open: &mut dyn FnMut() -> Result<Input>, policy: &Policy) -> Result<(Dataset, Binding)> {
    let layout = Layout {
        record: Some("quasi[].records[]".to_owned()),
        homes: Box::new(Homes::expected(&policy.attributes)),
        ..Layout::default()
    };
    let mut input = open()?.published();
    // What is around them has been looked at when the form was.
    let (people, _) = document::read(&mut input, &layout, Around::LookedAt)?;
    input.nothing_outside()?;
    let binding = Binding::new(people.schema(), &policy.attributes, policy.undeclared, "the publication")?;
    Ok((people, binding))
}

/// Per person of a publication the name of its group.
pub(super) fn groups(open: &mut dyn FnMut() -> Result<Input>) -> Result<Vec<String>> {
    let quasi = part(open, "quasi[]")?;
    let class = quasi.schema().classes().find(|(_, c)| c.path == "records[]").map(|(id, _)| id);
    let mut groups = Vec::new();
    for record in 0..quasi.len() {
        let name =
            text(&quasi, quasi.vertices(record).start, "group").map_or(String::new(), |(_, name)| name);
        let people = quasi.vertices(record).filter(|&v| Some(quasi.class(v)) == class).count();
        groups.extend(std::iter::repeat_n(name, people));
    }
    Ok(groups)
}

fn text(data: &Dataset, vertex: usize, path: &str) -> Option<(Kind, String)> {
    let id = data.schema().find(path)?;
    let code = data.value(vertex, id);
    (code != MISSING).then(|| (data.dictionary(id).kind(code), data.dictionary(id).text(code).to_owned()))
}

/// Classes that the policy does not name and that have no attribute by which they would be seen.
fn unnamed_classes(people: &Dataset, binding: &Binding) -> Vec<String> {
    let unnamed = people.schema().classes().filter(|(id, class)| {
        binding.classes[id.index()].is_none() && class.attributes.is_empty() && class.children.is_empty()
    });
    unnamed.map(|(_, class)| class.path.clone()).collect()
}

/// Reads a publication as a stranger would.
pub(super) fn read(open: &mut dyn FnMut() -> Result<Input>, policy: &Policy) -> Result<PublishedGroups> {
    let any_value = json_form::check(&mut open()?)?;
    let place = Place::source("the publication");
    let mut groups = Groups::default();
    let mut problems = Vec::new();
    let mut wrong = |what: String| {
        let help = "check that policy and publication belong together, and that it is complete";
        problems.push(Diagnostic::error(what).at(place.clone()).help(help));
    };
    // One after the other, so that no two of them are in memory.
    let (people, binding) = people(open, policy)?;
    for (_, attribute) in people.schema().attributes().filter(|(id, _)| !people.dictionary(*id).is_empty()) {
        groups.on_quasi_side(&attribute.path);
    }
    for path in unnamed_classes(&people, &binding) {
        groups.on_quasi_side(&path);
    }
    drop((people, binding));
    let quasi = part(open, "quasi[]")?;
    for record in 0..quasi.len() {
        let root = quasi.vertices(record).start;
        let Some((_, name)) = text(&quasi, root, "group") else {
            wrong(format!("entry {} of the quasi side has no group", record + 1));
            continue;
        };
        let group = groups.number(&name);
        let class = quasi.schema().classes().find(|(_, c)| c.path == "records[]").map(|(id, _)| id);
        let own = quasi.vertices(record).filter(|&v| Some(quasi.class(v)) == class);
        own.for_each(|_| groups.person(group));
    }
    drop(quasi);
    let sensitive = any_value.then(|| part(open, "sensitive[]")).transpose()?;
    for (data, record) in sensitive.iter().flat_map(|d| (0..d.len()).map(move |r| (d, r))) {
        let root = data.vertices(record).start;
        let found = (text(data, root, "group"), text(data, root, "path"), text(data, root, "value"));
        let (Some((_, name)), Some((_, path)), Some((kind, value))) = found else {
            wrong(format!("entry {} of the sensitive side lacks group, path or value", record + 1));
            continue;
        };
        let column = groups.on_sensitive_side(&path);
        let group = groups.number(&name);
        groups.value(group, column, kind, &value);
    }
    if !problems.is_empty() {
        problems.truncate(20);
        return Err(Failure::all(Fault::Data, problems));
    }
    groups.finish(place, Numbered::AsTheyCome)
}
