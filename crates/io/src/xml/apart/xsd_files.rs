//! The files of a given XSD: one, and those that it includes or imports from the same machine.

use std::path::{Path, PathBuf};

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::xsd_read::{Part, local};
use crate::policy_file::read_text;

/// Reads a schema with all it includes and imports, as one. Says everything in it that cannot be followed.
pub(super) fn read(path: &Path) -> Result<Part> {
    let mut reading = Reading::default();
    let mut schema = reading.file(path)?;
    let mut next = 0;
    while next < reading.wanted.len() {
        let (from, to) = reading.wanted[next].clone();
        next += 1;
        // What cannot be read was named in another file, which nobody sees in the policy.
        let found = reading.file(&to).map_err(|mut failure| {
            let help = format!("`{}` needs it", from.display());
            failure
                .diagnostics
                .iter_mut()
                .filter(|d| d.help.is_none())
                .for_each(|d| d.help = Some(help.clone()));
            failure
        })?;
        schema.parts.extend(found.parts);
    }
    reading.refuse_twins(&schema);
    if reading.problems.is_empty() { Ok(schema) } else { Err(Failure::all(Fault::Policy, reading.problems)) }
}

#[derive(Default)]
struct Reading {
    /// Files by the names they really have.
    seen: Vec<PathBuf>,
    /// Files that are named, and by which.
    wanted: Vec<(PathBuf, PathBuf)>,
    namespaces: Vec<String>,
    problems: Vec<Diagnostic>,
}

impl Reading {
    fn file(&mut self, path: &Path) -> Result<Part> {
        let name = path.display().to_string();
        self.seen.push(real(path));
        let schema = parse(&name, &read_text(path)?)?;
        self.namespaces.push(schema.get("targetNamespace").unwrap_or_default().to_owned());
        for part in &schema.parts {
            self.look(path, part);
        }
        Ok(schema)
    }

    /// What a part of a schema says about other files, and what cannot be followed.
    fn look(&mut self, path: &Path, part: &Part) {
        let mut refuse = |what: String, help: &str| {
            let what = Diagnostic::error(what).at(Place::source(path.display().to_string()));
            self.problems.push(what.help(help));
        };
        match (part.name.as_str(), part.get("schemaLocation")) {
            ("include" | "import", Some(location)) if location.contains("://") => {
                let what = format!("`{location}` is not on this machine, and nothing is fetched");
                refuse(what, "keep a copy beside the schema and name that in `schemaLocation`");
            }
            ("include" | "import", Some(location)) => {
                let to = path.parent().unwrap_or(Path::new("")).join(location);
                let known = |other: &PathBuf| real(other) == real(&to);
                if !self.seen.iter().any(known) && !self.wanted.iter().any(|(_, other)| known(other)) {
                    self.wanted.push((path.to_owned(), to));
                }
            }
            ("redefine" | "override", location) => {
                let what =
                    format!("`xs:{}` of `{}` is not followed", part.name, location.unwrap_or_default());
                refuse(what, "write the changed types into a schema of their own");
            }
            ("element", _) if part.get("substitutionGroup").is_some() => {
                let (own, head) = (part.get("name").unwrap_or_default(), part.get("substitutionGroup"));
                let what = format!(
                    "`{own}` may stand for `{}`: substitution groups are not followed",
                    head.unwrap_or_default()
                );
                refuse(what, "write a choice of the elements where the group is used");
            }
            _ => {}
        }
    }

    /// Names are looked up without their namespaces, so two of the same kind could be taken for each other.
    fn refuse_twins(&mut self, schema: &Part) {
        if self.namespaces.iter().all(|n| *n == self.namespaces[0]) {
            return;
        }
        let named = schema.parts.iter().filter_map(|p| Some((p.name.as_str(), p.get("name")?)));
        let mut names: Vec<(&str, &str)> = named.collect();
        names.sort_unstable();
        let mut twins: Vec<(&str, &str)> =
            names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        twins.dedup();
        self.problems.extend(twins.into_iter().map(|(kind, name)| {
            let what =
                format!("the schema has more than one xs:{kind} `{name}`, in different namespaces or files");
            Diagnostic::error(what)
                .help("leave `source.schema` out: the schema is then found in the document")
        }));
    }
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn parse(name: &str, text: &str) -> Result<Part> {
    let wrong = |what: String| {
        let what = Diagnostic::error(what).at(Place::source(name));
        Failure::new(Fault::Policy, what.help("give an XML Schema (XSD 1.0)"))
    };
    let mut reader = Reader::from_str(text);
    let mut open = vec![Part::default()];
    let part = |tag: &BytesStart<'_>| -> Result<Part> {
        let mut part = Part { name: local(tag.name().as_ref()).to_owned(), ..Part::default() };
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|e| wrong(format!("this is not XML: {e}")))?;
            let value = attribute.value.to_string();
            part.attributes.push((attribute.key.as_ref().to_owned(), value));
        }
        Ok(part)
    };
    loop {
        match reader.read_event().map_err(|e| wrong(format!("this is not XML: {e}")))? {
            Event::Start(tag) => open.push(part(&tag)?),
            Event::Empty(tag) => {
                let part = part(&tag)?;
                open.last_mut().expect("the document is open").parts.push(part);
            }
            Event::End(_) => {
                let closed = open.pop().expect("the tokenizer checks that ends have starts");
                open.last_mut().expect("the document is open").parts.push(closed);
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let document = open.swap_remove(0);
    let schema = document.parts.into_iter().find(|p| p.name == "schema");
    schema.ok_or_else(|| wrong("the file is no XML Schema".into()))
}
