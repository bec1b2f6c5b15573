//! Dissected JSON: `{"quasi":[{"group":1,"records":[…]}],"sensitive":[{"group":1,"path":"…","value":"…"}]}`.

use std::io::Write;

use bosket_model::binding::Binding;
use bosket_model::policy::Policy;
use bosket_model::{Dataset, Kind, MISSING, Result};

use super::draft::{Draft, Written};
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
