//! Resources into the dataset's columns: the second pass.
//!
//! Everything inside a resource is read as JSON is, except for what FHIR spells out at length: a CodeableConcept is its
//! code with companions, extensions go by their name, and references are not values.

use bosket_model::dataset::Refused;
use bosket_model::{Builder, ClassId, Kind};

use super::bundle::is_absent;
use super::names::{CODING, LABEL, MEDICATION, META, RENDERED, Resource, has_own_text};
use super::problem::{Fault, Problem};
use crate::homes::Homes;
use crate::json::number::canonical;
use crate::json::parser::{Key, Parser, Token};
use crate::json::record::{self, Reason};
use crate::json::shape::{Conflict, Shape};

/// What was left out and is worth a word.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// References other than to the patient, the encounter and the medication.
    pub(super) references: u64,
    /// Codings of a concept after the first, and what a coding has besides its usual parts.
    pub(super) codings: u64,
    /// Extensions after the first of their kind, and those without an address.
    pub(super) extensions: u64,
    /// Contained resources, apart from medications that something refers to.
    pub(super) contained: u64,
    /// Renderings of values that are told themselves: worth a word in a publication only.
    pub(super) renderings: u64,
}

/// What an object is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Resource(Resource),
    Extension,
    /// What stands beside a primitive value: `_birthDate`.
    Beside,
    /// What a published resource says of itself.
    Meta,
    Inner,
}

/// What a key means where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Unknown,
    Value,
    /// Structure that is written anew.
    Structure,
    Contained,
    Coding,
    Text,
    Extensions,
    Reference,
    Beside,
    Medication,
    /// What a resource says of itself, and the label in it.
    Meta,
    Label,
}

/// Reads resource after resource into one dataset.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) builder: Builder,
    pub(super) shape: Shape,
    pub(super) left: Left,
    /// Per position what its key means.
    meanings: Vec<Meaning>,
    /// Per position whether it has held a CodeableConcept, or a label.
    pub(super) concepts: Vec<bool>,
    pub(super) labelled: Vec<bool>,
    /// Whether a race or ethnicity had parts.
    pub(super) parts: bool,
    /// A value in words that the extensions just read have told.
    pub(super) rendered: Option<String>,
    /// Whether this is a publication, whose resources say that they are anonymized and nothing else of the kind.
    sealed: bool,
    number: String,
}

impl Reader {
    pub(super) fn new(sealed: bool) -> Self {
        Reader {
            sealed,
            builder: Builder::new(),
            shape: Shape::new(),
            left: Left::default(),
            meanings: Vec::new(),
            concepts: Vec::new(),
            labelled: Vec::new(),
            parts: false,
            rendered: None,
            number: String::new(),
        }
    }

    /// The class of a resource below the vertices of a position, and the position of its objects.
    pub(super) fn class(&mut self, above: u32, name: &str) -> Result<(ClassId, u32), Problem> {
        let node = self.shape.child(above, name);
        self.shape.array(node, &mut self.builder).map_err(|c| conflict(0, c))
    }

    /// Reads the values of a resource into the open vertex.
    pub(super) fn resource(
        &mut self,
        parser: &mut Parser<'_>,
        node: u32,
        resource: Resource,
    ) -> Result<(), Problem> {
        let at = parser.position();
        parser.value()?;
        self.object(parser, node, at, Within::Resource(resource))
    }

    /// Reads what a Medication is, as part of the resource at `node` that refers to it.
    pub(super) fn medication(&mut self, parser: &mut Parser<'_>, node: u32) -> Result<(), Problem> {
        let node = self.shape.child(node, MEDICATION);
        parser.value()?;
        while let Some(key) = parser.key()? {
            if key == "code" {
                self.value(parser, node)?;
            } else {
                parser.pass_over()?;
            }
        }
        Ok(())
    }

    /// A medication that is only told in words.
    pub(super) fn medication_in_words(&mut self, node: u32, words: &str, at: usize) -> Result<(), Problem> {
        let node = self.shape.child(node, MEDICATION);
        mark(&mut self.concepts, node);
        self.set(node, Kind::Text, words, at)
    }

    /// Completes the record.
    pub(super) fn end(&mut self, at: usize) -> Result<(), Problem> {
        let reason = match self.builder.end_record() {
            Ok(()) => return Ok(()),
            Err(Refused::Full) => Reason::TooLarge,
            Err(Refused::Twice) => Reason::Twice("a part of a coding, or the medication".to_owned()),
        };
        Err(record::Problem::Record { at, reason }.into())
    }

    pub(super) fn object(
        &mut self,
        parser: &mut Parser<'_>,
        node: u32,
        at: usize,
        within: Within,
    ) -> Result<(), Problem> {
        let mut cursor = self.shape.begin(node);
        let (mut coded, mut plain) = (false, false);
        let mut held = None;
        let mut told: Vec<(String, String)> = Vec::new();
        loop {
            let key = match parser.key_or(self.shape.guess(&cursor))? {
                Key::End => break,
                Key::Guessed => None,
                Key::Other(key) => Some(key),
            };
            let (child, twice) = self.shape.step(&mut cursor, key);
            if twice {
                let path = self.shape.path(child, &self.builder);
                let reason = Reason::Twice(path);
                return Err(record::Problem::Record { at: parser.position(), reason }.into());
            }
            let (here, depth) = (parser.position(), parser.depth());
            // Whether a label is data depends on what it says, so nothing is remembered of it.
            let is_label =
                within == Within::Meta && self.shape.name(child).last().is_some_and(|k| k == "security");
            let meaning = if is_label { Meaning::Label } else { self.meaning(child, node, within) };
            match meaning {
                Meaning::Structure | Meaning::Label => {
                    parser.skip()?;
                    continue;
                }
                Meaning::Meta => {
                    let found = check_label(parser);
                    parser.rewind(here, depth);
                    let labelled = match found {
                        Err(other) if self.sealed => return Err(other),
                        // What was published may be read again: the label says nothing about anybody.
                        found => self.sealed || found.unwrap_or(false),
                    };
                    if labelled {
                        parser.value()?;
                        self.object(parser, child, here, Within::Meta)?;
                        continue;
                    }
                }
                Meaning::Contained => {
                    self.contained(parser)?;
                    continue;
                }
                Meaning::Medication => {
                    let medication = self.shape.child(node, MEDICATION);
                    self.value(parser, medication)?;
                    continue;
                }
                Meaning::Beside => {
                    self.rendered = None;
                    match parser.value()? {
                        Token::Object => self.object(parser, child, here, Within::Beside)?,
                        _ => {
                            parser.rewind(here, depth);
                            self.value(parser, child)?;
                        }
                    }
                    if let Some(text) = self.rendered.take() {
                        told.push((self.shape.name(child).last().map_or("", |k| &k[1..]).to_owned(), text));
                    }
                    continue;
                }
                _ => {}
            }
            if !matches!(meaning, Meaning::Value | Meaning::Unknown) {
                match (meaning, parser.value()?) {
                    (Meaning::Coding, Token::Array) => {
                        coded = true;
                        self.codings(parser, node)?;
                        continue;
                    }
                    (Meaning::Text, Token::Text(text)) => {
                        held = Some(text.to_owned());
                        continue;
                    }
                    (Meaning::Extensions, Token::Array) => {
                        self.extensions(parser, child, within)?;
                        continue;
                    }
                    (Meaning::Reference, Token::Text(_)) => {
                        self.left.references += 1;
                        continue;
                    }
                    _ => parser.rewind(here, depth),
                }
            }
            plain = true;
            self.value(parser, child)?;
        }
        if coded || held.is_some() {
            mark(&mut self.concepts, node);
            if let Some(text) = held {
                // Without a coding, the text is all that is known of the concept.
                let place = if coded { self.shape.child(node, "text") } else { node };
                self.set(place, Kind::Text, &text, at)?;
            }
        } else if plain && !is_marked(&self.concepts, node) {
            self.shape.object(node, &self.builder).map_err(|c| conflict(at, c))?;
        }
        for (key, text) in told {
            // Beside a value that is told itself, its rendering says nothing more.
            if !self.shape.has(&cursor, &key) {
                let place = self.shape.child(node, &key);
                mark(&mut self.labelled, place);
                self.set(place, Kind::Text, &text, at)?;
            } else {
                self.left.renderings += 1;
            }
        }
        Ok(())
    }

    /// Paths at which a publication mentions something without a value that the policy does not publish.
    pub(super) fn hollow(&self, homes: &Homes) -> Vec<String> {
        // Without a policy nobody can tell.
        if homes.is_empty() {
            return Vec::new();
        }
        let known = homes.of(self.builder.schema());
        let mut found = Vec::new();
        for node in self.shape.hollow() {
            let mut name = self.shape.name(node).to_vec();
            match self.meanings.get(node as usize) {
                Some(Meaning::Value) => {}
                // `_key` stands beside `key`.
                Some(Meaning::Beside) => {
                    if let Some(key) = name.last_mut() {
                        key.remove(0);
                    }
                }
                // The address of an extension is its name, whether or not it has a value.
                Some(Meaning::Structure) if name.len() > 1 => drop(name.pop()),
                _ => continue,
            }
            if !homes.publishes(&known[self.shape.class(node).index()], &name) {
                found.push(self.shape.path(node, &self.builder));
            }
        }
        found
    }

    #[inline]
    fn meaning(&mut self, child: u32, parent: u32, within: Within) -> Meaning {
        match self.meanings.get(child as usize) {
            Some(Meaning::Unknown) | None => self.find_meaning(child, parent, within),
            Some(known) => *known,
        }
    }

    #[cold]
    fn find_meaning(&mut self, child: u32, parent: u32, within: Within) -> Meaning {
        let key = self.shape.name(child).last().map_or("", String::as_str);
        let meaning = match (within, key) {
            (Within::Resource(_), "resourceType" | "id") | (Within::Extension, "url") => Meaning::Structure,
            (Within::Resource(r), _) if r.subject() == Some(key) => Meaning::Structure,
            // Whichever of the two is not known to the edition has been refused before.
            (Within::Resource(r), "encounter" | "context") if r > Resource::Encounter => Meaning::Structure,
            (Within::Resource(Resource::MedicationRequest), "medicationReference") => Meaning::Structure,
            (Within::Resource(Resource::MedicationRequest), "medicationCodeableConcept") => {
                Meaning::Medication
            }
            (Within::Resource(_), META) => Meaning::Meta,
            (Within::Resource(_), "contained") => Meaning::Contained,
            (_, "extension" | "modifierExtension") => Meaning::Extensions,
            (_, key) if key.len() > 1 && key.starts_with('_') => Meaning::Beside,
            (Within::Inner, "coding") => Meaning::Coding,
            (Within::Inner, "text") if !has_own_text(self.own_key(parent)) => Meaning::Text,
            (_, "reference") => Meaning::Reference,
            _ => Meaning::Value,
        };
        if self.meanings.len() <= child as usize {
            self.meanings.resize(child as usize + 1, Meaning::Unknown);
        }
        self.meanings[child as usize] = meaning;
        meaning
    }

    /// The key under which an object stands, that of its array if it is an element.
    fn own_key(&self, node: u32) -> &str {
        let name = match self.shape.name(node) {
            [] => &self.builder.schema().class(self.shape.class(node)).name,
            name => name,
        };
        name.last().map_or("", String::as_str)
    }

    pub(super) fn value(&mut self, parser: &mut Parser<'_>, node: u32) -> Result<(), Problem> {
        let at = parser.position();
        let (kind, text) = match parser.value()? {
            Token::Text(text) => (Kind::Text, text),
            Token::Number(raw) => (Kind::Number, canonical(raw, &mut self.number)),
            Token::Bool(true) => (Kind::Bool, "true"),
            Token::Bool(false) => (Kind::Bool, "false"),
            Token::Null => return Ok(()),
            Token::Object => return self.object(parser, node, at, Within::Inner),
            Token::Array => return self.array(parser, node, at),
        };
        let attribute = self.shape.scalar(node, &mut self.builder).map_err(|c| conflict(at, c))?;
        self.builder.set(attribute, kind, text);
        Ok(())
    }

    fn array(&mut self, parser: &mut Parser<'_>, node: u32, at: usize) -> Result<(), Problem> {
        while parser.element()? {
            let (class, element) = self.shape.array(node, &mut self.builder).map_err(|c| conflict(at, c))?;
            self.builder.open(class);
            self.value(parser, element)?;
            self.builder.close();
        }
        Ok(())
    }

    pub(super) fn set(&mut self, node: u32, kind: Kind, text: &str, at: usize) -> Result<(), Problem> {
        let attribute = self.shape.scalar(node, &mut self.builder).map_err(|c| conflict(at, c))?;
        self.builder.set(attribute, kind, text);
        Ok(())
    }

    /// Reads the rest of a concept's codings: the first is the concept, the others say the same in other systems.
    fn codings(&mut self, parser: &mut Parser<'_>, node: u32) -> Result<(), Problem> {
        let mut first = true;
        while parser.element()? {
            let at = parser.position();
            if !std::mem::replace(&mut first, false) {
                self.left.codings += 1;
                parser.skip()?;
                continue;
            }
            let depth = parser.depth();
            if parser.value()? != Token::Object {
                parser.rewind(at, depth);
                parser.pass_over()?;
                continue;
            }
            while let Some(key) = parser.key()? {
                if key == "code" {
                    self.value(parser, node)?;
                } else if CODING.contains(&key) {
                    let place = self.shape.child(node, key);
                    self.value(parser, place)?;
                } else if key == "extension" {
                    is_absent(parser)?;
                } else {
                    self.left.codings += 1;
                    parser.skip()?;
                }
            }
        }
        Ok(())
    }

    fn contained(&mut self, parser: &mut Parser<'_>) -> Result<(), Problem> {
        let (at, depth) = (parser.position(), parser.depth());
        if parser.value()? != Token::Array {
            parser.rewind(at, depth);
            return Ok(parser.pass_over()?);
        }
        while parser.element()? {
            self.left.contained += 1;
            parser.skip()?;
        }
        Ok(())
    }

    /// Whether extensions with this address tell the value that they stand beside.
    pub(super) fn tells(url: &str, within: Within) -> bool {
        within == Within::Beside && url == RENDERED
    }
}

/// Refuses what a published resource says of itself unless its only label is that it is anonymized, word for word; whether it
/// has one.
fn check_label(parser: &mut Parser<'_>) -> Result<bool, Problem> {
    let other = |at: usize| Err(Problem::bundle(at, Fault::OtherLabel));
    let at = parser.position();
    if parser.value()? != Token::Object {
        return other(at);
    }
    let (mut seen, mut labels) = (false, 0);
    while let Some(key) = parser.key()? {
        if key != "security" {
            parser.skip()?;
            continue;
        }
        seen = true;
        let at = parser.position();
        if parser.value()? != Token::Array {
            return other(at);
        }
        while parser.element()? {
            let at = parser.position();
            if parser.value()? != Token::Object {
                return other(at);
            }
            let mut told = Vec::new();
            while let Some(key) = parser.key()? {
                let part = LABEL.iter().position(|(name, _)| *name == key);
                let Some(part) = part.filter(|part| !told.contains(part)) else { return other(at) };
                match parser.value()? {
                    Token::Text(text) if text == LABEL[part].1 => told.push(part),
                    _ => return other(at),
                }
            }
            labels += 1;
            if told.len() != LABEL.len() || labels > 1 {
                return other(at);
            }
        }
    }
    if labels == 1 || !seen { Ok(seen) } else { other(at) }
}

pub(super) fn mark(marks: &mut Vec<bool>, node: u32) {
    if marks.len() <= node as usize {
        marks.resize(node as usize + 1, false);
    }
    marks[node as usize] = true;
}

pub(super) fn is_marked(marks: &[bool], node: u32) -> bool {
    marks.get(node as usize).copied().unwrap_or(false)
}

#[cold]
fn conflict(at: usize, conflict: Conflict) -> Problem {
    record::Problem::Record { at, reason: Reason::Conflict(conflict) }.into()
}
