//! What the walk through a document does when something begins or ends.

use bosket_model::{Failure, Place, Result};
use quick_xml::events::BytesDecl;

use crate::xml::apart::paths::{NONE, Paths};
use crate::xml::doctype;
use crate::xml::mistake::{MAX_DEPTH, Mistake, What};
use crate::xml::names::{all_blank, prefix};
use crate::xml::namespaces::{Scopes, declares};
use crate::xml::prolog::{self, ignored};
use crate::xml::read::Handler;
use crate::xml::reference::{Entities, check};
use crate::xml::tag;
use crate::xml::unfit::Unfit;

use super::{Take, Walk};

impl<T: Take> Handler for Walk<'_, T> {
    fn begin_file(&mut self) {
        self.frames.clear();
        self.text.clear();
        (self.scopes, self.entities) = (Scopes::default(), Entities::default());
        (self.begun, self.rooted, self.typed) = (false, false, false);
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

    fn start(&mut self, tag: &str, name: usize) -> Result<(), Mistake> {
        if self.frames.len() + self.skipped == MAX_DEPTH {
            return Err(What::TooDeep.at(0));
        }
        if self.frames.is_empty() && self.skipped == 0 && std::mem::replace(&mut self.rooted, true) {
            return Err(What::SecondRoot.at(0));
        }
        if name == 0 {
            return Err(What::BadName("an element").at(0));
        }
        if self.skipped > 0 && !self.refuse && tag.len() == name {
            self.skipped += 1;
            return Ok(());
        }
        let mut spans = std::mem::take(&mut self.spans);
        spans.clear();
        if tag.len() > name {
            tag::attributes(tag, name, &mut spans)?;
            tag::check_names(tag, &spans)?;
        }
        let called = &tag[..name];
        let node = if self.skipped > 0 { None } else { self.known(called) };
        let Some(node) = node else {
            if self.skipped == 0 && !self.inside() {
                self.outside.insert(format!("{}/{called}", self.record[..self.frames.len()].join("/")));
            }
            self.lost_elements = true;
            self.skip(called, &spans, tag);
            self.spans = spans;
            return Ok(());
        };
        let scope = self.scopes.len();
        for span in &spans {
            if let Some(prefix) = declares(&tag[span.name.clone()]) {
                let namespace = tag::value(tag, span, &self.entities, &mut self.scratch)?;
                self.scopes.declare(prefix, namespace).map_err(|what| what.at(span.name.start))?;
            }
        }
        self.enter(node, scope);
        let around = self.frames.len() <= self.record.len();
        if around || self.scopes.len() > scope {
            self.keep_namespaces(scope).map_err(|what| what.at(0))?;
        }
        if called.contains(':') {
            self.scopes.resolve(prefix(called)).map_err(|what| what.at(0))?;
        }
        if !spans.is_empty() {
            self.attributes(tag, &spans)?;
        }
        self.spans = spans;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Mistake> {
        if self.skipped > 0 {
            self.skipped -= 1;
            if !self.lost.is_empty() {
                // An element without anything in it is an empty text.
                if !self.lost_text && !self.lost_elements {
                    let path = self.lost_path();
                    self.undeclared.insert(path);
                }
                self.lost.pop();
                (self.lost_text, self.lost_elements) = (false, true);
            }
            return Ok(());
        }
        let Some(frame) = self.frames.pop() else {
            return Err(What::NothingOpen.at(0));
        };
        self.scopes.leave(frame.scope);
        if frame.entry == NONE {
            return Ok(());
        }
        if self.paths.node(frame.node).leaf.is_some() {
            let text = std::mem::take(&mut self.text);
            match text.value() {
                Some(_) if frame.nil => return Err(What::Nil.at(0)),
                Some(_) if frame.has_elements => {
                    let path = self.paths.path(frame.node);
                    self.unfit.push(Unfit::Mixed(path));
                }
                Some(text) => self.value(frame.entry, frame.node, false, text),
                // The text of an element that holds others, or of the record itself, is not there if it is empty.
                None if frame.nil || frame.has_elements || frame.node == Paths::ROOT => {}
                None => self.value(frame.entry, frame.node, false, ""),
            }
            self.text = text;
        }
        self.text.clear();
        if frame.node == Paths::ROOT
            && let Err(failure) = self.take.person(&self.person, &self.watched, &mut self.undeclared)
        {
            self.stopped = Some(failure);
        }
        Ok(())
    }

    #[inline]
    fn text(&mut self, text: &str) -> Result<(), Mistake> {
        let plain = check(text, true).map_err(|(what, at)| what.at(at))?;
        if self.wanted() {
            self.text.push(text, plain);
            return Ok(());
        }
        self.outer((!self.refuse && !self.frames.is_empty()) || all_blank(text))
    }

    fn section(&mut self, text: &str) -> Result<(), Mistake> {
        ignored(text, "<![CDATA[".len())?;
        if self.wanted() {
            self.text.push_section(text);
            return Ok(());
        }
        self.outer(self.frames.last().is_some() && all_blank(text))
    }

    fn reference(&mut self, name: &str) -> Result<(), Mistake> {
        if !self.wanted() {
            return match self.entities.resolve(name) {
                Err(what @ (What::Ampersand | What::CharacterReference)) => Err(what.at(0)),
                _ => self.outer(false),
            };
        }
        match self.entities.resolve(name) {
            Ok(c) => self.text.push_char(c),
            Err(what @ (What::Undeclared { .. } | What::EntityUsed)) => {
                let node = self.frames.last().map_or(Paths::ROOT, |f| f.node);
                let path = self.paths.path(node);
                self.unfit.push(Unfit::Reference(what, path));
            }
            Err(what) => return Err(what.at(0)),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Mistake> {
        match self.frames.len() + self.skipped {
            0 if !self.rooted => Err(What::NoRoot.at(0)),
            0 => Ok(()),
            open => {
                let name = self.record.get(open - 1).cloned().unwrap_or_else(|| self.lost_path());
                Err(What::StillOpen(name).at(0))
            }
        }
    }

    fn locate(&self, place: Place) -> Place {
        match self.frames.last() {
            Some(frame) if frame.entry != NONE => {
                let place = place.record(self.records);
                if frame.node == Paths::ROOT { place } else { place.path(self.paths.path(frame.node)) }
            }
            _ => place,
        }
    }

    fn records(&self) -> u64 {
        self.records
    }

    fn unfit(&mut self) -> &mut Vec<Unfit> {
        &mut self.unfit
    }

    fn stopped(&mut self) -> Option<Failure> {
        self.stopped.take()
    }
}
