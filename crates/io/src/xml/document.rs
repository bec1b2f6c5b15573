//! One document from its first to its last byte.

use bosket_model::{Failure, Kind, Place};
use quick_xml::events::BytesDecl;

use super::doctype;
use super::mistake::{MAX_DEPTH, Mistake, What};
use super::names::{all_blank, prefix};
use super::namespaces::{Namespaces, Scopes, XSI, declares};
use super::prolog::{self, ignored};
use super::read::Handler;
use super::reference::{Entities, check};
use super::shape::{Cursor, Shape};
use super::tag::{self, Span};
use super::tape::{EMPTY, NOTHING, Step, Tape};
use super::text::Text;
use super::unfit::Unfit;

/// An open element.
struct Frame {
    cursor: Cursor,
    /// How many namespace declarations held before it.
    scope: usize,
    inside: bool,
    /// Whether it, or an element around it, is not looked into.
    opaque: bool,
    /// Whether it lies on the way to the records.
    around: bool,
    /// Where it starts on the tape.
    tape: usize,
    has_elements: bool,
    nil: Option<bool>,
}

/// What has been read of a document.
pub(super) struct Document<'p> {
    path: &'p [String],
    pub(super) records: u64,
    pub(super) shape: Shape,
    /// What lies outside the records; its root stands for the document.
    pub(super) outside: Shape,
    pub(super) tape: Tape,
    pub(super) namespaces: Namespaces,
    pub(super) unfit: Vec<Unfit>,
    /// What is not looked into where it does not fit; none if all has to fit.
    leave_out: Option<&'p [Vec<String>]>,
    document: Cursor,
    frames: Vec<Frame>,
    text: Text,
    scopes: Scopes,
    entities: Entities,
    begun: bool,
    rooted: bool,
    typed: bool,
    spans: Vec<Span>,
    scratch: String,
}

impl<'p> Document<'p> {
    /// Nothing read yet. With `leave_out`, elements that do not fit are not looked into, unless one of these paths lies in
    /// them.
    pub(super) fn new(path: &'p [String], leave_out: Option<&'p [Vec<String>]>) -> Self {
        let mut outside = Shape::new("");
        Document {
            path,
            records: 0,
            shape: Shape::new(path.last().map_or("", |p| p)),
            document: outside.begin(Shape::ROOT),
            outside,
            tape: Tape::default(),
            namespaces: Namespaces::default(),
            unfit: Vec::new(),
            leave_out,
            frames: Vec::new(),
            text: Text::default(),
            scopes: Scopes::default(),
            entities: Entities::default(),
            begun: false,
            rooted: false,
            typed: false,
            spans: Vec::new(),
            scratch: String::new(),
        }
    }

    /// Prefixes that are declared though no name has them; that of `nil` has its own meaning.
    pub(super) fn unused_prefixes(&self) -> Vec<&str> {
        let names = |shape: &'_ Shape, wanted: &str| {
            shape.nodes().any(|(_, node)| prefix(node.name.trim_start_matches('@')) == wanted)
        };
        let declared =
            self.namespaces.prefixes.iter().filter(|p| p.namespace != XSI).map(|p| p.name.as_str());
        declared.filter(|name| !names(&self.shape, name) && !names(&self.outside, name)).collect()
    }

    fn outer_text(&mut self, blank: bool) -> Result<(), Mistake> {
        match self.frames.last() {
            _ if blank => {}
            Some(frame) => self.outside.node_mut(frame.cursor.node).texty = true,
            None => return Err(What::OutsideRoot.at(0)),
        }
        Ok(())
    }

    fn open(&mut self, name: &str, scope: usize) -> Result<(), What> {
        let level = self.frames.len();
        let (mut inside, mut around) = match self.frames.last() {
            Some(parent) => (parent.inside, parent.around),
            None => (false, true),
        };
        around = around && !inside && self.path.get(level).is_some_and(|step| step == name);
        let record = around && level + 1 == self.path.len();
        let in_record = inside;
        let node = if inside {
            self.child(name)?
        } else {
            let parent = self.frames.last_mut().map_or(&mut self.document, |f| &mut f.cursor);
            self.outside.step(parent, name, false)?
        };
        inside |= record;
        let mut opaque = in_record && self.frames.last().is_some_and(|f| f.opaque);
        let prefixed = if in_record { self.shape.node(node).prefixed } else { name.contains(':') };
        if prefixed {
            self.scopes.resolve(prefix(name))?;
        }
        if around || (inside && !opaque && self.scopes.len() > scope) {
            match self.keep_namespaces(level, scope) {
                Err(_) if in_record && self.may_leave_out(node) => opaque = true,
                kept => kept?,
            }
        }
        if in_record && opaque {
            self.shape.node_mut(node).opaque |= !self.frames.last().is_some_and(|f| f.opaque);
        }
        let tape = self.tape.len();
        let cursor = if record {
            self.records += 1;
            self.outside.begin(node);
            self.text.clear();
            self.shape.begin(Shape::ROOT)
        } else if inside {
            self.shape.begin(node)
        } else {
            self.outside.begin(node)
        };
        if inside {
            self.tape.push(Step::Open(cursor.node));
        }
        self.frames.push(Frame {
            cursor,
            scope,
            inside,
            opaque,
            around: around && !record,
            tape,
            has_elements: false,
            nil: None,
        });
        Ok(())
    }

    /// Steps to an element inside a record.
    #[inline]
    fn child(&mut self, name: &str) -> Result<u32, What> {
        let parent = self.frames.last_mut().expect("inside means in an element");
        parent.has_elements = true;
        let node = self.shape.step(&mut parent.cursor, name, false)?;
        if self.text.value().is_some() {
            let around = parent.cursor.node;
            self.report(around, Unfit::Mixed);
        }
        self.text.clear();
        Ok(node)
    }

    /// Whether an element need not be looked into: nothing that is declared lies there, and it is no record.
    fn may_leave_out(&self, node: u32) -> bool {
        let Some(published) = self.leave_out else { return false };
        let names = self.shape.names(node);
        node != Shape::ROOT && !published.iter().any(|path| path.starts_with(&names))
    }

    /// Says once per record that an element does not fit, or leaves it out.
    #[cold]
    fn report(&mut self, node: u32, unfit: impl FnOnce(String) -> Unfit) {
        if self.frames.iter().any(|f| f.inside && f.opaque && f.cursor.node == node) {
            return;
        }
        if self.may_leave_out(node) {
            self.shape.node_mut(node).opaque = true;
            return;
        }
        let at = self.shape.node_mut(node);
        if std::mem::replace(&mut at.reported, self.records) != self.records {
            let path = self.shape.path(node);
            self.unfit.push(unfit(if path.is_empty() { ".".to_owned() } else { path }));
        }
    }

    fn keep_namespaces(&mut self, level: usize, scope: usize) -> Result<(), What> {
        let record = self.path.len() - 1;
        for (prefix, namespace) in self.scopes.since(scope).filter(|(p, _)| !p.is_empty()) {
            self.namespaces.keep(prefix, namespace)?;
        }
        self.namespaces.keep_default(level.min(record), self.scopes.resolve("")?)
    }

    fn attributes(&mut self, tag: &str, spans: &[Span]) -> Result<(), Mistake> {
        let frame = self.frames.last_mut().expect("the element is open");
        for (i, span) in spans.iter().enumerate() {
            let name = &tag[span.name.clone()];
            if declares(name).is_some() {
                continue;
            }
            let mut local = name;
            let mut namespace = "";
            if let Some((prefix, rest)) = name.split_once(':') {
                namespace = self.scopes.resolve(prefix).map_err(|what| what.at(span.name.start))?;
                local = rest;
                let same = |s: &Span| {
                    let other = tag[s.name.clone()].split_once(':');
                    other.is_some_and(|(p, l)| l == local && self.scopes.resolve(p) == Ok(namespace))
                };
                if spans[..i].iter().any(same) {
                    return Err(What::AttributeTwice(name.to_owned()).at(span.name.start));
                }
            }
            let value = tag::value(tag, span, &self.entities, &mut self.scratch)?;
            if frame.inside && namespace == XSI && local == "nil" {
                frame.nil = Some(match value.trim_ascii() {
                    "true" | "1" => true,
                    "false" | "0" => false,
                    _ => return Err(What::Nil.at(span.name.start)),
                });
                continue;
            }
            let shape = if frame.inside { &mut self.shape } else { &mut self.outside };
            let node = shape.step(&mut frame.cursor, name, true).map_err(|what| what.at(span.name.start))?;
            let node_at = shape.node_mut(node);
            node_at.count += 1;
            if frame.inside {
                let code = node_at.values.intern(Kind::Text, value);
                self.tape.push(Step::Leaf(node, code));
            }
        }
        Ok(())
    }

    fn close(&mut self, frame: &Frame) -> Result<(), Mistake> {
        let node = frame.cursor.node;
        let at = self.shape.node_mut(node);
        let text = self.text.value();
        if frame.nil == Some(true) && (text.is_some() || frame.has_elements) {
            return Err(What::Nil.at(0));
        }
        at.texty |= frame.nil == Some(false) && !frame.has_elements;
        let code = match text {
            _ if frame.has_elements || frame.nil == Some(true) => NOTHING,
            None => {
                at.empty = true;
                EMPTY
            }
            Some(text) => {
                at.texty = true;
                at.values.intern(Kind::Text, text)
            }
        };
        if frame.has_elements && text.is_some() && !frame.opaque {
            self.report(node, Unfit::Mixed);
        }
        // A record keeps its own start and end, whatever it holds.
        if self.tape.len() == frame.tape + 1 && node != Shape::ROOT {
            self.tape.make_leaf(code);
        } else {
            self.tape.push(Step::Close(code));
        }
        self.text.clear();
        Ok(())
    }
}

impl Handler for Document<'_> {
    fn begin_file(&mut self) {
        self.document = self.outside.begin(Shape::ROOT);
        self.frames.clear();
        self.text.clear();
        self.scopes = Scopes::default();
        self.entities = Entities::default();
        (self.begun, self.rooted, self.typed) = (false, false, false);
    }

    fn locate(&self, place: Place) -> Place {
        match self.frames.last() {
            Some(frame) if frame.inside => {
                let path = self.shape.path(frame.cursor.node);
                let place = place.record(self.records);
                if path.is_empty() { place } else { place.path(path) }
            }
            _ => place,
        }
    }

    #[inline]
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

    #[inline]
    fn text(&mut self, text: &str) -> Result<(), Mistake> {
        let plain = check(text, true).map_err(|(what, at)| what.at(at))?;
        match self.frames.last() {
            Some(frame) if frame.inside => self.text.push(text, plain),
            _ => self.outer_text(all_blank(text))?,
        }
        Ok(())
    }

    fn section(&mut self, text: &str) -> Result<(), Mistake> {
        ignored(text, "<![CDATA[".len())?;
        match self.frames.last() {
            Some(frame) if frame.inside => self.text.push_section(text),
            Some(_) => self.outer_text(all_blank(text))?,
            None => return Err(What::OutsideRoot.at(0)),
        }
        Ok(())
    }

    fn reference(&mut self, name: &str) -> Result<(), Mistake> {
        let resolved = self.entities.resolve(name);
        if let (Err(what @ (What::Undeclared { .. } | What::EntityUsed)), Some(frame)) =
            (&resolved, self.frames.last().filter(|f| f.inside))
        {
            let (what, node) = (what.clone(), frame.cursor.node);
            self.report(node, |path| Unfit::Reference(what, path));
            return Ok(());
        }
        let c = resolved.map_err(|what| what.at(0))?;
        match self.frames.last() {
            Some(frame) if frame.inside => self.text.push_char(c),
            Some(_) => self.outer_text(false)?,
            None => return Err(What::OutsideRoot.at(0)),
        }
        Ok(())
    }

    fn start(&mut self, tag: &str, name: usize) -> Result<(), Mistake> {
        if self.frames.len() == MAX_DEPTH {
            return Err(What::TooDeep.at(0));
        }
        if self.frames.is_empty() && std::mem::replace(&mut self.rooted, true) {
            return Err(What::SecondRoot.at(0));
        }
        if name == 0 {
            return Err(What::BadName("an element").at(0));
        }
        let mut spans = std::mem::take(&mut self.spans);
        spans.clear();
        if tag.len() > name {
            tag::attributes(tag, name, &mut spans)?;
            tag::check_names(tag, &spans)?;
        }
        let scope = self.scopes.len();
        for span in &spans {
            if let Some(prefix) = declares(&tag[span.name.clone()]) {
                let namespace = tag::value(tag, span, &self.entities, &mut self.scratch)?;
                self.scopes.declare(prefix, namespace).map_err(|what| what.at(span.name.start))?;
            }
        }
        self.open(&tag[..name], scope).map_err(|what| what.at(0))?;
        if !spans.is_empty() {
            self.attributes(tag, &spans)?;
        }
        self.spans = spans;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Mistake> {
        let Some(frame) = self.frames.pop() else {
            return Err(What::NothingOpen.at(0));
        };
        self.scopes.leave(frame.scope);
        if frame.inside {
            self.close(&frame)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Mistake> {
        match self.frames.last() {
            Some(frame) => {
                let shape = if frame.inside { &self.shape } else { &self.outside };
                Err(What::StillOpen(shape.node(frame.cursor.node).name.to_string()).at(0))
            }
            None if !self.rooted => Err(What::NoRoot.at(0)),
            None => Ok(()),
        }
    }

    fn records(&self) -> u64 {
        self.records
    }

    fn unfit(&mut self) -> &mut Vec<Unfit> {
        &mut self.unfit
    }

    fn stopped(&mut self) -> Option<Failure> {
        None
    }
}
