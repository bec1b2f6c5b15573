//! Goes through a document, and hands out what is kept of each record when it ends.

mod events;

use std::collections::BTreeSet;

use bosket_model::policy::Undeclared;
use bosket_model::{Failure, Result};

use crate::xml::mistake::{Mistake, What};
use crate::xml::namespaces::{Namespaces, Scopes, XSI, declares};
use crate::xml::reference::Entities;
use crate::xml::tag::{self, Span};
use crate::xml::text::Text;
use crate::xml::unfit::Unfit;
use bosket_model::sides::Fate;

use super::paths::{NONE, Paths};
use super::person::{Person, stays};

/// Takes the records.
pub(super) trait Take {
    /// A record has ended; `watched` are the attributes around it that were asked for, `undeclared` the paths that the
    /// policy does not name and nobody has taken yet.
    fn person(
        &mut self,
        person: &Person,
        watched: &[String],
        undeclared: &mut BTreeSet<String>,
    ) -> Result<()>;
}

/// An attribute of an element on the way to the records, which is not part of the data: level and name.
pub(super) type Watch = (usize, &'static str);

/// An open element on the way to the records or in one, as far as the policy names it.
struct Frame {
    node: u32,
    entry: u32,
    scope: usize,
    has_elements: bool,
    nil: bool,
}

pub(super) struct Walk<'a, T> {
    paths: &'a Paths,
    record: &'a [String],
    refuse: bool,
    watch: &'a [Watch],
    watched: Vec<String>,
    pub(super) take: T,
    person: Person,
    pub(super) records: u64,
    frames: Vec<Frame>,
    /// Open elements that the policy does not name, with their names where these are told.
    skipped: usize,
    lost: Vec<String>,
    lost_text: bool,
    lost_elements: bool,
    /// Paths in records that the policy does not name.
    pub(super) undeclared: BTreeSet<String>,
    /// Elements that repeat although the policy does not say so.
    pub(super) repeated: BTreeSet<u32>,
    /// What stands beside the records.
    pub(super) outside: BTreeSet<String>,
    /// Whether text stands beside them.
    pub(super) outside_text: bool,
    /// Per node the entry that had it last, counted over all records.
    seen_in: Vec<u64>,
    entries: u64,
    text: Text,
    scopes: Scopes,
    pub(super) namespaces: Namespaces,
    entities: Entities,
    unfit: Vec<Unfit>,
    stopped: Option<Failure>,
    begun: bool,
    rooted: bool,
    typed: bool,
    spans: Vec<Span>,
    scratch: String,
}

impl<'a, T: Take> Walk<'a, T> {
    pub(super) fn new(
        paths: &'a Paths,
        record: &'a [String],
        undeclared: Undeclared,
        watch: &'a [Watch],
        take: T,
    ) -> Self {
        Walk {
            paths,
            record,
            refuse: undeclared == Undeclared::Refuse,
            watch,
            watched: vec![String::new(); watch.len()],
            take,
            person: Person::default(),
            records: 0,
            frames: Vec::new(),
            skipped: 0,
            lost: Vec::new(),
            lost_text: false,
            lost_elements: false,
            undeclared: BTreeSet::new(),
            repeated: BTreeSet::new(),
            outside: BTreeSet::new(),
            outside_text: false,
            seen_in: vec![u64::MAX; paths.nodes.len()],
            entries: 0,
            text: Text::default(),
            scopes: Scopes::default(),
            namespaces: Namespaces::default(),
            entities: Entities::default(),
            unfit: Vec::new(),
            stopped: None,
            begun: false,
            rooted: false,
            typed: false,
            spans: Vec::new(),
            scratch: String::new(),
        }
    }

    fn inside(&self) -> bool {
        self.frames.len() >= self.record.len()
    }

    /// The path of the element that is open and not named by the policy.
    fn lost_path(&self) -> String {
        let known = self.frames.last().map_or(Paths::ROOT, |f| f.node);
        let mut path = self.paths.path(known);
        for name in &self.lost {
            path = if path == "." { name.clone() } else { format!("{path}/{name}") };
        }
        path
    }

    fn skip(&mut self, name: &str, spans: &[Span], tag: &str) {
        self.skipped += 1;
        if !self.refuse || !self.inside() {
            return;
        }
        self.lost.push(name.to_owned());
        (self.lost_text, self.lost_elements) = (false, false);
        for span in spans {
            let attribute = &tag[span.name.clone()];
            if declares(attribute).is_none() {
                let path = format!("{}/@{attribute}", self.lost_path());
                self.undeclared.insert(path);
                self.lost_text = true;
            }
        }
    }

    /// Whether the element steps on towards the records, or inside one to something that the policy names.
    fn known(&mut self, name: &str) -> Option<u32> {
        let level = self.frames.len();
        if !self.inside() {
            return (self.record[level] == name).then_some(Paths::ROOT);
        }
        let frame = self.frames.last_mut()?;
        frame.has_elements = true;
        let found = self.paths.find(frame.node, name, false);
        let around = frame.node;
        if self.paths.node(around).leaf.is_some() && self.text.value().is_some() {
            let path = self.paths.path(around);
            self.unfit.push(Unfit::Mixed(path));
        }
        found
    }

    fn enter(&mut self, node: u32, scope: usize) {
        let level = self.frames.len();
        let entry = if level + 1 < self.record.len() {
            NONE
        } else if level + 1 == self.record.len() {
            self.records += 1;
            self.entries += self.person.len() as u64;
            self.person.clear();
            0
        } else {
            let parent = self.frames.last().map_or(0, |f| f.entry);
            let within = self.entries + u64::from(parent);
            let many = self.paths.node(node).many;
            if std::mem::replace(&mut self.seen_in[node as usize], within) == within && !many {
                self.repeated.insert(node);
            }
            self.person.open(parent, node)
        };
        self.text.clear();
        self.frames.push(Frame { node, entry, scope, has_elements: false, nil: false });
    }

    /// Takes a value of an element or attribute.
    fn value(&mut self, entry: u32, node: u32, attribute: bool, text: &str) {
        let Some(leaf) = self.paths.node(node).leaf else { return };
        match leaf.fate {
            Fate::Gone => {}
            Fate::Sensitive(at) => self.person.add_sensitive(at, text),
            fate => {
                debug_assert!(stays(fate));
                let entry = if attribute { self.person.open(entry, node) } else { entry };
                self.person.set(entry, text);
            }
        }
    }

    fn attributes(&mut self, tag: &str, spans: &[Span]) -> Result<(), Mistake> {
        let level = self.frames.len() - 1;
        let (node, entry) = self.frames.last().map_or((NONE, NONE), |f| (f.node, f.entry));
        let mut scratch = std::mem::take(&mut self.scratch);
        for span in spans {
            let name = &tag[span.name.clone()];
            if declares(name).is_some() {
                continue;
            }
            let namespace = match name.split_once(':') {
                Some((prefix, _)) => self.scopes.resolve(prefix).map_err(|w| w.at(span.name.start))?,
                None => "",
            };
            let nil = namespace == XSI && name.ends_with(":nil");
            let text = tag::value(tag, span, &self.entities, &mut scratch)?;
            if let Some(at) = self.watch.iter().position(|w| *w == (level, name)) {
                self.watched[at].clear();
                self.watched[at].push_str(text);
            } else if entry == NONE {
                self.outside.insert(format!("{}/@{name}", self.record[..=level].join("/")));
            } else if nil && matches!(text.trim_ascii(), "true" | "1") {
                self.frames[level].nil = true;
            } else if let Some(found) = self.paths.find(node, name, true) {
                self.value(entry, found, true, text);
            } else if self.refuse && !nil {
                let path = self.paths.path(node);
                let path = if path == "." { format!("@{name}") } else { format!("{path}/@{name}") };
                self.undeclared.insert(path);
            }
        }
        self.scratch = scratch;
        Ok(())
    }

    fn keep_namespaces(&mut self, scope: usize) -> Result<(), What> {
        let (level, record) = (self.frames.len() - 1, self.record.len() - 1);
        for (prefix, namespace) in self.scopes.since(scope).filter(|(p, _)| !p.is_empty()) {
            self.namespaces.keep(prefix, namespace)?;
        }
        self.namespaces.keep_default(level.min(record), self.scopes.resolve("")?)
    }

    /// Text, or something that counts as text; `blank` means nothing but layout.
    fn outer(&mut self, blank: bool) -> Result<(), Mistake> {
        match self.frames.last() {
            _ if blank => Ok(()),
            None => Err(What::OutsideRoot.at(0)),
            Some(frame) => {
                self.outside_text |= frame.entry == NONE;
                if frame.entry != NONE && self.refuse {
                    self.lost_text = true;
                    let path = self.lost_path();
                    self.undeclared.insert(path);
                }
                Ok(())
            }
        }
    }

    /// Whether the text of the open element is wanted.
    #[inline]
    fn wanted(&self) -> bool {
        self.skipped == 0
            && self.frames.last().is_some_and(|f| f.entry != NONE && self.paths.node(f.node).leaf.is_some())
    }
}
