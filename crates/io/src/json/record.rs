//! JSON objects straight into the dataset's columns.

use std::collections::BTreeSet;

use bosket_model::dataset::Refused;
use bosket_model::path::{ENTRY_KEY, ENTRY_VALUE};
use bosket_model::{AttributeId, Builder, Dataset, Diagnostic, Kind, Place, Schema};

use super::error::Error;
use super::extended::{Extended, Types};
use super::number::canonical;
use super::parser::{Key, Parser, Token};
use super::shape::{Conflict, Cursor, Shape};
use crate::homes::{Homes, path};
use crate::input::Input;
use crate::problems::too_large;

/// Why a record could not be taken, and at which byte.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The text is not JSON; where the record ends is unknown.
    Syntax(Error),
    /// The text is JSON, but no record of this dataset.
    Record { at: usize, reason: Reason },
}

#[derive(Debug)]
pub(crate) enum Reason {
    NotAnObject,
    Twice(String),
    Conflict(Conflict),
    /// An object at this path says a type of MongoDB that its value does not have.
    Malformed(String, Extended),
    TooLarge,
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Problem::Syntax(error)
    }
}

impl Problem {
    pub(crate) fn at(&self) -> usize {
        match self {
            Problem::Syntax(error) => error.at,
            Problem::Record { at, .. } => *at,
        }
    }

    /// What the problem has in common with others that need not be shown again.
    pub(crate) fn group(&self) -> Option<String> {
        match self {
            Problem::Record { reason: Reason::Conflict(c), .. } => Some(format!("{} {}", c.now, c.path)),
            Problem::Record { reason: Reason::Twice(path), .. } => Some(format!("twice {path}")),
            Problem::Record { reason: Reason::Malformed(path, _), .. } => Some(format!("malformed {path}")),
            _ => None,
        }
    }

    pub(crate) fn diagnostic(&self, place: Place) -> Diagnostic {
        let reason = match self {
            Problem::Syntax(error) => {
                return Diagnostic::error(error.kind.to_string()).at(place).help(error.kind.help());
            }
            Problem::Record { reason, .. } => reason,
        };
        match reason {
            Reason::NotAnObject => Diagnostic::error("the record is not a JSON object")
                .at(place)
                .help("write every record as an object: {\"key\": value}"),
            Reason::Twice(path) => twice(place, path),
            Reason::Conflict(c) => {
                let since = match place.record {
                    Some(record) if record == c.since => "before in the same record".to_owned(),
                    _ => format!("in record {}", c.since),
                };
                Diagnostic::error(format!("{} here, but {} {since}", c.now, c.before))
                    .at(place.path(c.path.as_str()))
                    .help("write the same kind of value in every record, or use another key for one of them")
            }
            Reason::Malformed(path, extended) => {
                let what = format!("this is no value of the type that it says: {extended:?} of MongoDB");
                Diagnostic::error(what)
                    .at(place.path(path.as_str()))
                    .help(format!("write {}, and no other key beside it", extended.expected()))
            }
            Reason::TooLarge => too_large(place),
        }
    }
}

/// A key without a value that the policy does not publish.
fn unpublished(place: Place) -> Diagnostic {
    Diagnostic::error("a key stands here that the policy does not publish, though without a value")
        .at(place)
        .help("`verify` cannot judge what it says, so it must not be handed out; leave the key out")
}

pub(super) fn twice(place: Place, path: &str) -> Diagnostic {
    Diagnostic::error("an object has this key twice").at(place.path(path)).help("keep one of them")
}

/// Reads record after record into one dataset.
#[derive(Debug)]
pub(crate) struct Records {
    builder: Builder,
    shape: Shape,
    number: String,
    types: BTreeSet<(AttributeId, Extended)>,
}

impl Records {
    /// Nothing read yet, and which objects are maps.
    pub(crate) fn new(homes: &Homes) -> Self {
        Records {
            builder: Builder::new(),
            shape: Shape::with_maps(homes.maps().clone()),
            number: String::new(),
            types: BTreeSet::new(),
        }
    }

    /// The number of the record read last, from 1.
    pub(crate) fn record(&self) -> u64 {
        self.shape.record
    }

    /// Reads a line that holds one record; whatever is wrong, nothing of it stays.
    pub(super) fn read_line(&mut self, text: &str) -> Result<(), Problem> {
        let mut parser = Parser::new(text);
        self.read(&mut parser)?;
        parser.finish()?;
        self.end(0)
    }

    /// Counts a record that is not even text.
    pub(super) fn skip(&mut self) {
        self.shape.record += 1;
    }

    /// Reads a record, but does not complete it yet.
    pub(crate) fn read(&mut self, parser: &mut Parser<'_>) -> Result<(), Problem> {
        self.shape.record += 1;
        self.builder.begin_record();
        let at = parser.position();
        match parser.value()? {
            Token::Object => self.object(parser, Shape::ROOT, at),
            _ => Err(Problem::Record { at, reason: Reason::NotAnObject }),
        }
    }

    /// Completes the record.
    pub(crate) fn end(&mut self, at: usize) -> Result<(), Problem> {
        match self.builder.end_record() {
            Ok(()) => Ok(()),
            Err(Refused::Full) => Err(Problem::Record { at, reason: Reason::TooLarge }),
            Err(Refused::Twice) => unreachable!("keys are checked when they are read"),
        }
    }

    /// Notes the keys of a publication under which nothing stands and that the policy does not publish: the records do not
    /// have them, but whoever reads the file does.
    pub(crate) fn note_hollow(&self, homes: &Homes, input: &mut Input) {
        if !input.is_published() || homes.is_empty() {
            return;
        }
        let known = homes.of(self.builder.schema());
        for node in self.shape.hollow() {
            let (class, name) = (self.shape.class(node), self.shape.name(node));
            if !homes.publishes(&known[class.index()], name) {
                let path = self.shape.path(node, &self.builder);
                input.outside(|place| unpublished(place.path(path)));
            }
        }
    }

    /// Hands out the records read so far; what is known about their keys stays.
    pub(crate) fn take(&mut self) -> Dataset {
        let data = std::mem::take(&mut self.builder).finish();
        self.builder = Builder::like(&data);
        data
    }

    /// Classes and attributes of all records so far.
    pub(crate) fn schema(&self) -> &Schema {
        self.builder.schema()
    }

    /// The dataset, and which types of MongoDB its attributes have had, by their paths at home.
    pub(super) fn finish(self, homes: &Homes) -> (Dataset, Types) {
        let data = self.builder.finish();
        let schema = data.schema();
        let homes = if self.types.is_empty() { Vec::new() } else { homes.of(schema) };
        let mut types = Types::new();
        for (id, extended) in self.types {
            let attribute = schema.attribute(id);
            types.entry(path(&homes[attribute.class.index()], &attribute.name)).or_default().insert(extended);
        }
        (data, types)
    }

    fn object(&mut self, parser: &mut Parser<'_>, node: u32, at: usize) -> Result<(), Problem> {
        let cursor = self.shape.begin(node);
        self.keys(parser, node, at, cursor)
    }

    fn keys(
        &mut self,
        parser: &mut Parser<'_>,
        node: u32,
        at: usize,
        mut cursor: Cursor,
    ) -> Result<(), Problem> {
        loop {
            let key = match parser.key_or(self.shape.guess(&cursor))? {
                Key::End => return Ok(()),
                Key::Guessed => None,
                Key::Other(key) => Some(key),
            };
            if cursor.is_new() {
                self.shape.object(node, &self.builder).map_err(|c| conflict(at, c))?;
            }
            let (child, twice) = self.shape.step(&mut cursor, key);
            if twice {
                let path = self.shape.path(child, &self.builder);
                return Err(Problem::Record { at: parser.position(), reason: Reason::Twice(path) });
            }
            self.value(parser, child)?;
        }
    }

    #[inline]
    fn value(&mut self, parser: &mut Parser<'_>, node: u32) -> Result<(), Problem> {
        let at = parser.position();
        let depth = parser.depth();
        let (kind, text) = match parser.value()? {
            Token::Text(text) => (Kind::Text, text),
            Token::Number(raw) => (Kind::Number, canonical(raw, &mut self.number)),
            Token::Bool(true) => (Kind::Bool, "true"),
            Token::Bool(false) => (Kind::Bool, "false"),
            Token::Null => return Ok(()),
            Token::Object => {
                let dollar = parser.next_is("\"$");
                return if self.shape.is_map(node) {
                    self.map(parser, node, at)
                } else if dollar {
                    self.extended(parser, node, at, depth)
                } else {
                    self.object(parser, node, at)
                };
            }
            Token::Array => return self.array(parser, node, at),
        };
        let attribute = self.shape.scalar(node, &mut self.builder).map_err(|c| conflict(at, c))?;
        self.builder.set(attribute, kind, text);
        Ok(())
    }

    /// Reads an object that may be a value of one of MongoDB's types; `at` and `depth` are those of its bracket.
    fn extended(&mut self, parser: &mut Parser<'_>, node: u32, at: usize, depth: u32) -> Result<(), Problem> {
        let Some(extended) = parser.key()?.and_then(Extended::from_key) else {
            parser.rewind(at, depth);
            parser.value()?;
            return self.object(parser, node, at);
        };
        let Some((kind, text)) = extended.read(parser)? else {
            let path = self.shape.path(node, &self.builder);
            return Err(Problem::Record { at, reason: Reason::Malformed(path, extended) });
        };
        let attribute = self.shape.scalar(node, &mut self.builder).map_err(|c| conflict(at, c))?;
        self.types.insert((attribute, extended));
        self.builder.set(attribute, kind, &text);
        Ok(())
    }

    /// Reads an object whose keys are data. What is no object is its entry's `value`.
    fn map(&mut self, parser: &mut Parser<'_>, node: u32, at: usize) -> Result<(), Problem> {
        let mut known = BTreeSet::new();
        while let Some(key) = parser.key()? {
            let name = key.to_owned();
            let (class, element, attribute) =
                self.shape.map(node, &mut self.builder).map_err(|c| conflict(at, c))?;
            self.builder.open(class);
            self.builder.set(attribute, Kind::Text, &name);
            let (at, depth) = (parser.position(), parser.depth());
            if parser.next_is("{") && !self.shape.is_map_of_maps(element) {
                parser.value()?;
                if parser.next_is("\"$") {
                    let value = self.shape.child(element, ENTRY_VALUE);
                    self.extended(parser, value, at, depth)?;
                } else {
                    // The entry's own key is there already: an object that has one too has it twice.
                    let cursor = self.shape.begin_with(element, ENTRY_KEY);
                    self.keys(parser, element, at, cursor)?;
                }
            } else {
                let value = self.shape.child(element, ENTRY_VALUE);
                self.value(parser, value)?;
            }
            self.builder.close();
            if !known.insert(name) {
                let path = self.shape.path(node, &self.builder);
                return Err(Problem::Record { at, reason: Reason::Twice(path) });
            }
        }
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
}

#[cold]
fn conflict(at: usize, conflict: Conflict) -> Problem {
    Problem::Record { at, reason: Reason::Conflict(conflict) }
}
