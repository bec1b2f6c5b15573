//! What a document says about its own schema.
//!
//! One declaration per element name, so that recursion is as good as anything. Children are a sequence if they always
//! stand in one order, else a choice.

use std::collections::BTreeMap;

use bosket_model::{Failure, Place, Result};
use quick_xml::events::BytesDecl;

use crate::input::Input;
use crate::problems::Problems;
use crate::xml::doctype;
use crate::xml::mistake::{MAX_DEPTH, Mistake, What};
use crate::xml::names::{all_blank, prefix};
use crate::xml::namespaces::declares;
use crate::xml::order::{Bits, order};
use crate::xml::prolog::{self, ignored};
use crate::xml::read::{Handler, all_events};
use crate::xml::reference::{Entities, check};
use crate::xml::tag::{self, Span};
use crate::xml::unfit::Unfit;

use super::xsd::PrivateSchema;
use super::xsd_inferred::Inferred;

/// A child of an element.
#[derive(Clone, Debug, Default)]
pub(super) struct Child {
    pub(super) name: String,
    /// How many elements have it.
    pub(super) parents: u64,
    pub(super) many: bool,
    /// The children that stood before it somewhere.
    before: Bits,
}

/// All elements of one name.
#[derive(Clone, Debug, Default)]
pub(super) struct Element {
    pub(super) count: u64,
    pub(super) text: bool,
    pub(super) children: Vec<Child>,
    /// Attributes and how many elements have them.
    pub(super) attributes: BTreeMap<String, u64>,
}

impl Element {
    /// The children in the order in which they always stand, if there is one.
    pub(super) fn sequence(&self) -> Option<Vec<&Child>> {
        let names: Vec<&str> = self.children.iter().map(|c| c.name.as_str()).collect();
        let before: Vec<&Bits> = self.children.iter().map(|c| &c.before).collect();
        let found = order(&names, &before);
        let kept = found.iter().enumerate().all(|(at, &child)| {
            found[at + 1..].iter().all(|&later| !self.children[child].before.contains(later as u32))
        });
        kept.then(|| found.into_iter().map(|i| &self.children[i]).collect())
    }
}

/// Reads a document to its end, or those of a folder, and finds a schema that it is valid against.
pub fn infer(input: &mut Input) -> Result<PrivateSchema> {
    let mut problems = Problems::new(input.name());
    let mut look = Look::default();
    all_events(input, &mut look, &mut problems)?;
    if !problems.is_empty() {
        return Err(problems.failure());
    }
    let elements = look.numbers.into_iter().map(|(name, at)| (name, look.elements[at].clone())).collect();
    let namespaces = look.namespaces;
    let of = |prefix: &str| namespaces.iter().find(|(p, _)| p == prefix).map(|(_, n)| n.clone());
    let namespace = of(prefix(&look.root)).unwrap_or_default();
    let plain = !prefix(&look.root).is_empty() && of("").is_none_or(|n| n.is_empty());
    Ok(PrivateSchema::inferred(Inferred { root: look.root, elements, namespace, plain }))
}

/// An open element: which, and the children that it has already.
struct Frame {
    element: usize,
    seen: Bits,
}

#[derive(Default)]
struct Look {
    root: String,
    /// Prefixes and namespaces that the root declares.
    namespaces: Vec<(String, String)>,
    numbers: BTreeMap<String, usize>,
    elements: Vec<Element>,
    frames: Vec<Frame>,
    entities: Entities,
    unfit: Vec<Unfit>,
    spans: Vec<Span>,
    begun: bool,
    rooted: bool,
    typed: bool,
}

impl Look {
    fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.elements.push(Element::default());
        self.numbers.insert(name.to_owned(), self.elements.len() - 1);
        self.elements.len() - 1
    }

    /// Notes a child of the open element.
    fn child(&mut self, name: &str) {
        let Some(frame) = self.frames.last_mut() else { return };
        let children = &mut self.elements[frame.element].children;
        let at = children.iter().position(|c| c.name == name).unwrap_or_else(|| {
            children.push(Child { name: name.to_owned(), ..Child::default() });
            children.len() - 1
        });
        let child = &mut children[at];
        child.before.unite(&frame.seen);
        if frame.seen.contains(at as u32) {
            child.many = true;
        } else {
            child.parents += 1;
            frame.seen.insert(at as u32);
        }
    }

    fn has_text(&mut self, blank: bool) -> Result<(), Mistake> {
        match self.frames.last() {
            _ if blank => {}
            Some(frame) => self.elements[frame.element].text = true,
            None => return Err(What::OutsideRoot.at(0)),
        }
        Ok(())
    }
}

impl Handler for Look {
    fn begin_file(&mut self) {
        self.frames.clear();
        self.entities = Entities::default();
        (self.begun, self.rooted, self.typed) = (false, false, false);
    }

    fn begin(&mut self) -> bool {
        std::mem::replace(&mut self.begun, true)
    }

    fn declaration(&mut self, event: &BytesDecl<'_>) -> Result<(), Mistake> {
        prolog::declaration(event, &mut self.spans)
    }

    fn doctype(&mut self, text: &str) -> Result<(), Mistake> {
        if self.rooted || std::mem::replace(&mut self.typed, true) {
            return Err(What::DoctypeLate.at(0));
        }
        ignored(text, 0)?;
        self.entities = doctype::read(text)?;
        Ok(())
    }

    fn start(&mut self, tag: &str, name: usize) -> Result<(), Mistake> {
        if self.frames.len() == MAX_DEPTH {
            return Err(What::TooDeep.at(0));
        }
        let called = &tag[..name];
        if self.frames.is_empty() && std::mem::replace(&mut self.rooted, true) {
            return Err(What::SecondRoot.at(0));
        }
        self.child(called);
        let element = self.number(called);
        self.elements[element].count += 1;
        let mut spans = std::mem::take(&mut self.spans);
        spans.clear();
        if tag.len() > name {
            tag::attributes(tag, name, &mut spans)?;
            tag::check_names(tag, &spans)?;
        }
        for span in &spans {
            let attribute = &tag[span.name.clone()];
            match declares(attribute) {
                None => {
                    let attributes = &mut self.elements[element].attributes;
                    match attributes.get_mut(attribute) {
                        Some(count) => *count += 1,
                        None => _ = attributes.insert(attribute.to_owned(), 1),
                    }
                }
                Some(prefix) if self.root.is_empty() => {
                    self.namespaces.push((prefix.to_owned(), tag[span.value.clone()].to_owned()));
                }
                Some(_) => {}
            }
        }
        self.spans = spans;
        if self.root.is_empty() {
            self.root = called.to_owned();
        }
        self.frames.push(Frame { element, seen: Bits::default() });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Mistake> {
        self.frames.pop().map(|_| ()).ok_or(What::NothingOpen.at(0))
    }

    fn text(&mut self, text: &str) -> Result<(), Mistake> {
        check(text, true).map_err(|(what, at)| what.at(at))?;
        self.has_text(all_blank(text))
    }

    fn section(&mut self, text: &str) -> Result<(), Mistake> {
        ignored(text, "<![CDATA[".len())?;
        self.has_text(text.is_empty())
    }

    fn reference(&mut self, name: &str) -> Result<(), Mistake> {
        match self.entities.resolve(name) {
            Err(what @ (What::Ampersand | What::CharacterReference)) => Err(what.at(0)),
            _ => self.has_text(false),
        }
    }

    fn finish(&mut self) -> Result<(), Mistake> {
        match self.frames.last() {
            None if !self.rooted => Err(What::NoRoot.at(0)),
            None => Ok(()),
            Some(_) => Err(What::StillOpen(self.root.clone()).at(0)),
        }
    }

    fn locate(&self, place: Place) -> Place {
        place
    }

    fn records(&self) -> u64 {
        0
    }

    fn unfit(&mut self) -> &mut Vec<Unfit> {
        &mut self.unfit
    }

    fn stopped(&mut self) -> Option<Failure> {
        None
    }
}
