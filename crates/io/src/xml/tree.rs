//! A whole document as a tree of its elements and attributes: for small ones that say something else in XML.

use bosket_model::{Failure, Place, Result};
use quick_xml::events::BytesDecl;

use super::doctype;
use super::mistake::{MAX_DEPTH, Mistake, What};
use super::names::all_blank;
use super::namespaces::declares;
use super::prolog::{self, ignored};
use super::read::{Handler, events};
use super::reference::{Entities, check};
use super::tag::{self, Span};
use super::unfit::Unfit;
use crate::input::Input;
use crate::problems::Problems;

/// An element. Names are without prefix, text is left out.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// Reads a document to its end.
pub(crate) fn tree(input: &mut Input) -> Result<Element> {
    let mut problems = Problems::new(input.name());
    let mut growing = Growing::default();
    events(input, &mut growing, &mut problems)?;
    if !problems.is_empty() {
        return Err(problems.failure());
    }
    growing.root.ok_or_else(|| Failure::defect("a document without a root was read"))
}

#[derive(Default)]
struct Growing {
    root: Option<Element>,
    open: Vec<Element>,
    entities: Entities,
    unfit: Vec<Unfit>,
    spans: Vec<Span>,
    scratch: String,
    begun: bool,
    typed: bool,
}

impl Growing {
    fn inside(&self, blank: bool) -> Result<(), Mistake> {
        if blank || !self.open.is_empty() { Ok(()) } else { Err(What::OutsideRoot.at(0)) }
    }
}

fn local(name: &str) -> String {
    name.rsplit_once(':').map_or(name, |(_, local)| local).to_owned()
}

impl Handler for Growing {
    // A template is one document.
    fn begin_file(&mut self) {}

    fn begin(&mut self) -> bool {
        std::mem::replace(&mut self.begun, true)
    }

    fn declaration(&mut self, event: &BytesDecl<'_>) -> Result<(), Mistake> {
        prolog::declaration(event, &mut self.spans)
    }

    fn doctype(&mut self, text: &str) -> Result<(), Mistake> {
        let late = self.root.is_some() || !self.open.is_empty();
        if late || std::mem::replace(&mut self.typed, true) {
            return Err(What::DoctypeLate.at(0));
        }
        ignored(text, 0)?;
        self.entities = doctype::read(text)?;
        Ok(())
    }

    fn start(&mut self, tag: &str, name: usize) -> Result<(), Mistake> {
        if self.open.len() == MAX_DEPTH {
            return Err(What::TooDeep.at(0));
        }
        if self.root.is_some() {
            return Err(What::SecondRoot.at(0));
        }
        let mut spans = std::mem::take(&mut self.spans);
        spans.clear();
        if tag.len() > name {
            tag::attributes(tag, name, &mut spans)?;
            tag::check_names(tag, &spans)?;
        }
        let mut element = Element { name: local(&tag[..name]), ..Element::default() };
        for span in spans.iter().filter(|span| declares(&tag[span.name.clone()]).is_none()) {
            let value = tag::value(tag, span, &self.entities, &mut self.scratch)?.to_owned();
            element.attributes.push((local(&tag[span.name.clone()]), value));
        }
        self.spans = spans;
        self.open.push(element);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Mistake> {
        let done = self.open.pop().ok_or(What::NothingOpen.at(0))?;
        match self.open.last_mut() {
            Some(above) => above.children.push(done),
            None => self.root = Some(done),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Mistake> {
        check(text, true).map_err(|(what, at)| what.at(at))?;
        self.inside(all_blank(text))
    }

    fn section(&mut self, text: &str) -> Result<(), Mistake> {
        ignored(text, "<![CDATA[".len())?;
        self.inside(text.is_empty())
    }

    fn reference(&mut self, name: &str) -> Result<(), Mistake> {
        match self.entities.resolve(name) {
            Err(what @ (What::Ampersand | What::CharacterReference)) => Err(what.at(0)),
            _ => self.inside(false),
        }
    }

    fn finish(&mut self) -> Result<(), Mistake> {
        match self.open.last() {
            None if self.root.is_none() => Err(What::NoRoot.at(0)),
            None => Ok(()),
            Some(open) => Err(What::StillOpen(open.name.clone()).at(0)),
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
