//! Writes the two sides.

use std::io::Write;

use bosket_model::policy::Policy;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use bosket_model::sides::Fates;

use crate::apart::{Merged, Parts, SIDE, Scratch, Sorter, Spool, Written, join};
use crate::fault;
use crate::xml::Namespaces;
use crate::xml::names::{is_qualified, prefix};
use crate::xml::write::push_attribute;

use super::paths::{ID, Paths};
use super::person::write_fragment;

/// The element that is a person or a value.
pub(super) const ELEMENT: &str = "GroupElement";
/// The element around those of one group and side.
pub(super) const GROUP: &str = "Group";
/// What says which side a group is.
pub(super) const TYPE: &str = "Type";
pub(super) const QUASI: &str = "QI";
pub(super) const SENSITIVE: &str = "SI";

/// The root element, unless the policy names one.
const ROOT: &str = "Published";

/// The name of the root element of a policy's publication.
pub(super) fn root(policy: &Policy) -> Result<&str> {
    let root = policy.publish.as_ref().and_then(|p| p.root.as_deref()).unwrap_or(ROOT);
    if is_qualified(root) && !root.contains(':') {
        return Ok(root);
    }
    let what = Diagnostic::error(format!("`{root}` cannot be the name of an XML element"));
    let help = "correct `publish.root`: letters, digits, `-`, `_` and `.`";
    Err(Failure::new(Fault::Policy, what.at(Place::source(&policy.name)).help(help)))
}

/// Writes people and values of groups as a document, ordered by what is written.
pub(crate) fn publish(
    spool: &mut Spool,
    (group_of, groups): (&[u32], usize),
    policy: &Policy,
    fates: &Fates,
    namespaces: &Namespaces,
    out: &mut dyn Write,
) -> Result<Written> {
    let paths = Paths::new(policy, fates, false)?;
    let mut fragment = |at: usize, _, text: &str, out: &mut Vec<u8>| {
        write_fragment(&paths, fates.sensitive[at].declared, text, out);
    };
    let merged = spool.groups(group_of, groups, &mut fragment)?;
    let mut writer = Writer::begin(policy, &paths, namespaces, out)?;
    writer.groups(merged)?;
    writer.finish()
}

/// The texts of sensitive values.
pub(crate) struct Fragments<'a> {
    paths: Paths,
    fates: &'a Fates,
    text: Vec<u8>,
}

impl<'a> Fragments<'a> {
    pub(crate) fn new(policy: &Policy, fates: &'a Fates) -> Result<Self> {
        Ok(Fragments { paths: Paths::new(policy, fates, false)?, fates, text: Vec::new() })
    }

    /// The text of one value.
    pub(crate) fn of(&mut self, at: usize, value: &str) -> &[u8] {
        self.text.clear();
        write_fragment(&self.paths, self.fates.sensitive[at].declared, value, &mut self.text);
        &self.text
    }
}

/// Separates the sides of people as they come, without grouping constraint. In memory is one group at most.
pub(crate) struct Plain<'a> {
    policy: &'a Policy,
    fragments: Fragments<'a>,
    /// People per group; 0 for one group of all.
    size: usize,
    people: Vec<Vec<u8>>,
    values: Vec<Vec<u8>>,
    /// Whole groups, or the two sides of a single one.
    sorters: [Sorter; 2],
}

impl<'a> Plain<'a> {
    /// Groups of `size` people; one group of all if it is 0.
    pub(crate) fn new(policy: &'a Policy, fates: &'a Fates, size: usize) -> Result<Self> {
        let fragments = Fragments::new(policy, fates)?;
        let sorters = [Sorter::new(), Sorter::new()];
        Ok(Plain { policy, fragments, size, people: Vec::new(), values: Vec::new(), sorters })
    }

    /// Takes a person: its sensitive values, and the text of its quasi side.
    pub(crate) fn person(
        &mut self,
        values: &mut dyn Iterator<Item = (usize, &str)>,
        text: &[u8],
    ) -> Result<()> {
        // What is over joins the last group, so a group is complete only when the next has begun.
        if self.size > 0 && self.people.len() == 2 * self.size {
            self.close(self.size)?;
        }
        for (at, value) in values {
            let fragment = self.fragments.of(at, value);
            if self.size == 0 {
                self.sorters[1].push(fragment)?;
            } else {
                // Counted by person, so that a group takes its own along.
                self.values.push([&(self.people.len() as u64).to_be_bytes(), fragment].concat());
            }
        }
        if self.size == 0 {
            return self.sorters[0].push(text);
        }
        self.people.push(text.to_vec());
        Ok(())
    }

    /// Completes a group of the first people that wait.
    fn close(&mut self, people: usize) -> Result<()> {
        let number = |value: &[u8]| {
            let mut number = [0; 8];
            number.copy_from_slice(&value[..8]);
            u64::from_be_bytes(number)
        };
        let count = self.values.iter().take_while(|v| number(v) < people as u64).count();
        let mut own: Vec<Vec<u8>> = self.values.drain(..count).map(|v| v[8..].to_vec()).collect();
        for value in &mut self.values {
            let left = number(value) - people as u64;
            value[..8].copy_from_slice(&left.to_be_bytes());
        }
        let mut group = Vec::new();
        join(&mut self.people[..people], &mut group);
        self.people.drain(..people);
        group.push(SIDE);
        join(&mut own, &mut group);
        group.extend_from_slice(&[0; 4]);
        self.sorters[0].push(&group)
    }

    /// Writes everything.
    pub(crate) fn finish(mut self, namespaces: &Namespaces, out: &mut dyn Write) -> Result<Written> {
        if self.size > 0 && self.people.len() >= 2 * self.size {
            self.close(self.size)?;
        }
        if !self.people.is_empty() {
            self.close(self.people.len())?;
        }
        let mut writer = Writer::begin(self.policy, &self.fragments.paths, namespaces, out)?;
        let [first, second] = self.sorters;
        if self.size > 0 {
            writer.groups(first.finish()?)?;
        } else {
            writer.side(first.finish()?, second.finish()?)?;
        }
        writer.finish()
    }
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    buffer: Vec<u8>,
    /// The sensitive side comes after all of the quasi side.
    later: Scratch,
    root: String,
    written: Written,
}

/// How much is written at once.
const BUFFER: usize = 1 << 18;

impl<'w> Writer<'w> {
    fn begin(
        policy: &Policy,
        paths: &Paths,
        namespaces: &Namespaces,
        out: &'w mut dyn Write,
    ) -> Result<Self> {
        let root = root(policy)?;
        let mut buffer = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root}").into_bytes();
        if let Some(default) = namespaces.default.last().filter(|d| !d.is_empty()) {
            push_attribute(&mut buffer, "xmlns", default);
        }
        let mut used: Vec<&str> = paths.nodes.iter().map(|n| prefix(&n.name)).collect();
        used.sort_unstable();
        used.dedup();
        for known in namespaces.prefixes.iter().filter(|p| used.contains(&p.name.as_str())) {
            push_attribute(&mut buffer, &format!("xmlns:{}", known.name), &known.namespace);
        }
        buffer.extend_from_slice(b">\n");
        Ok(Writer {
            out,
            buffer,
            later: Scratch::create()?,
            root: root.to_owned(),
            written: Written::default(),
        })
    }

    fn groups(&mut self, mut merged: Merged) -> Result<()> {
        let mut later = Vec::new();
        while let Some(group) = merged.next()? {
            self.written.groups += 1;
            let id = self.written.groups;
            let group = Parts::of(group);
            self.written.numbers.push(group.number);
            open(&mut self.buffer, QUASI);
            for person in group.people() {
                element(&mut self.buffer, id, person);
                self.written.people += 1;
            }
            close(&mut self.buffer);
            later.clear();
            open(&mut later, SENSITIVE);
            for value in group.values() {
                element(&mut later, id, value);
                self.written.values += 1;
            }
            close(&mut later);
            self.later.write(&later)?;
            self.flush(BUFFER)?;
        }
        Ok(())
    }

    /// One group of all.
    fn side(&mut self, mut people: Merged, mut values: Merged) -> Result<()> {
        self.written.groups = 1;
        open(&mut self.buffer, QUASI);
        while let Some(person) = people.next()? {
            element(&mut self.buffer, 1, person);
            self.written.people += 1;
            self.flush(BUFFER)?;
        }
        close(&mut self.buffer);
        open(&mut self.buffer, SENSITIVE);
        while let Some(value) = values.next()? {
            element(&mut self.buffer, 1, value);
            self.written.values += 1;
            self.flush(BUFFER)?;
        }
        close(&mut self.buffer);
        Ok(())
    }

    fn flush(&mut self, above: usize) -> Result<()> {
        if self.buffer.len() > above {
            self.out.write_all(&self.buffer).map_err(fault::from_write)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Written> {
        self.flush(0)?;
        self.later.copy_to(self.out)?;
        let end = format!("</{}>\n", self.root);
        self.out.write_all(end.as_bytes()).map_err(fault::from_write)?;
        Ok(self.written)
    }
}

fn open(out: &mut Vec<u8>, side: &str) {
    out.extend_from_slice(format!("<{GROUP} {TYPE}=\"{side}\">\n").as_bytes());
}

fn close(out: &mut Vec<u8>) {
    out.extend_from_slice(format!("</{GROUP}>\n").as_bytes());
}

fn element(out: &mut Vec<u8>, id: u64, rest: &[u8]) {
    out.extend_from_slice(format!("<{ELEMENT} {ID}=\"{id}\"").as_bytes());
    out.extend_from_slice(rest);
    out.push(b'\n');
}
