//! Dissected JSON as a stranger reads it, a part at a time: neither side need fit into memory.
//!
//! The form is checked to the letter, entry by entry. What is wrong is told as if the whole document were looked at for one
//! kind of mistake after the other: what is no part of a publication, people who are no records, names that nobody knows,
//! entries that lack something.

use bosket_model::binding::Binding;
use bosket_model::dissected::PublishedGroups;
use bosket_model::observe::Observer;
use bosket_model::policy::Policy;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Kind, Place, Result, Schema};

use super::groups::{Groups, Numbered};
use super::json_form::{Side, check_entry, refuse};
use super::json_window::Window;
use crate::batches::BatchSize;
use crate::homes::Homes;
use crate::input::Input;
use crate::json::error::Error;
use crate::json::number::canonical;
use crate::json::parser::{Parser, Token};
use crate::json::record::{Problem, Records};
use crate::problems::Problems;

/// Mistakes that are shown.
const SHOWN: usize = 20;

/// Most bytes that are read at once, and fewest.
const PORTION: usize = 1 << 20;
const LEAST: usize = 16;

/// Takes a part of the people of a publication, and per person the name of its group.
pub(super) type EachPeople<'a> = dyn FnMut(&Dataset, &[String]) -> Result<()> + 'a;

/// Reads a publication as a stranger would.
pub(super) fn read(
    open: &mut dyn FnMut() -> Result<Input>,
    policy: &Policy,
    size: BatchSize,
    observer: &dyn Observer,
    each: &mut EachPeople<'_>,
) -> Result<PublishedGroups> {
    let homes = Homes::expected(&policy.attributes);
    let mut input = open()?.published();
    let mut found = Found {
        records: Records::new(&homes),
        problems: Problems::new(input.name()),
        names: Vec::new(),
        bytes: 0,
        size,
        each,
        groups: Groups::default(),
        wrong: Vec::new(),
    };
    let sides =
        Walk::new(&mut input, size, observer).document(&[Side::Quasi, Side::Sensitive], &mut found)?;
    found.people(&homes, &mut input)?;
    let schema = found.records.schema();
    let binding = Binding::new(schema, &policy.attributes, policy.undeclared, "the publication")?;
    for path in on_quasi_side(schema, &binding) {
        found.groups.on_quasi_side(&path);
    }
    if sides.first() == Some(&Side::Sensitive) {
        // Groups are numbered by the side of the people, wherever it stands.
        Walk::new(&mut open()?, size, observer).document(&[Side::Sensitive], &mut found)?;
    }
    if !found.wrong.is_empty() {
        return Err(Failure::all(Fault::Data, found.wrong));
    }
    found.groups.finish(place(), Numbered::AsTheyCome)
}

fn place() -> Place {
    Place::source("the publication")
}

/// Attributes that have a value, and classes that the policy does not name and that have no attribute by which they would be
/// seen.
fn on_quasi_side(schema: &Schema, binding: &Binding) -> Vec<String> {
    let attributes = schema.attributes().map(|(_, attribute)| attribute.path.clone());
    let unnamed = schema.classes().filter(|(id, class)| {
        binding.classes[id.index()].is_none() && class.attributes.is_empty() && class.children.is_empty()
    });
    attributes.chain(unnamed.map(|(_, class)| class.path.clone())).collect()
}

/// A walk through a publication.
struct Walk<'i, 'o> {
    window: Window<'i>,
    observer: &'o dyn Observer,
    /// What stands there and has no place.
    misplaced: Vec<Diagnostic>,
}

impl<'i, 'o> Walk<'i, 'o> {
    fn new(input: &'i mut Input, size: BatchSize, observer: &'o dyn Observer) -> Self {
        let window = Window::new(input, size.bytes.clamp(LEAST, PORTION));
        Walk { window, observer, misplaced: Vec::new() }
    }

    /// Goes through a document and hands out the entries of the wanted sides, but none of the sensitive side before that of
    /// the people where both are. The sides in their order.
    fn document(&mut self, wanted: &[Side], found: &mut Found<'_>) -> Result<Vec<Side>> {
        let mut sides = Vec::new();
        if self.window.peek()? == Some(b'{') {
            self.token(|parser| parser.value().map(|_| ()))?;
            while let Some(key) = self.token(|parser| Ok(parser.key()?.map(Side::of)))? {
                match key.filter(|side| !sides.contains(side)) {
                    Some(side) if self.window.peek()? == Some(b'[') => {
                        sides.push(side);
                        let now = side == Side::Quasi || wanted == [side] || sides.contains(&Side::Quasi);
                        self.side(side, found, now && wanted.contains(&side))?;
                    }
                    _ => self.refuse()?,
                }
            }
        } else {
            self.refuse()?;
        }
        let end = self.window.finish()?;
        end.map_err(|error| self.syntax(error))?;
        let help = "check that policy and publication belong together, and that it is complete";
        for side in [Side::Quasi, Side::Sensitive].into_iter().filter(|side| !sides.contains(side)) {
            let what = format!("the side `{}` is missing", side.name());
            self.misplaced.push(Diagnostic::error(what).at(place()).help(help));
        }
        match std::mem::take(&mut self.misplaced) {
            misplaced if misplaced.is_empty() => Ok(sides),
            misplaced => Err(Failure::all(Fault::Data, misplaced)),
        }
    }

    /// Goes through the entries of a side.
    fn side(&mut self, side: Side, found: &mut Found<'_>, wanted: bool) -> Result<()> {
        self.token(|parser| parser.value().map(|_| ()))?;
        for number in 1.. {
            if number % 1024 == 0 {
                self.observer.go_on()?;
            }
            self.window.whole()?;
            let mut parser = self.window.parser();
            if !parser.element().map_err(|error| self.syntax(error))? {
                let (at, state) = (parser.position(), parser.state());
                self.window.take(at, state);
                break;
            }
            let (at, state) = (parser.position(), parser.state());
            let misplaced = check_entry(&mut parser, side).map_err(|error| self.syntax(error))?;
            let (end, after) = (parser.position(), parser.state());
            let places = misplaced.into_iter().map(|at| no_part(self.window.locate(place(), at)));
            let room = SHOWN.saturating_sub(self.misplaced.len());
            self.misplaced.extend(places.take(room));
            if wanted && self.misplaced.is_empty() {
                let mut parser = Parser::resumed(&self.window.rest()[at..], state);
                let locate = |place: Place, from: usize| self.window.locate(place, at + from);
                let taken = match side {
                    Side::Quasi => found.quasi_entry(number, &mut parser, &locate),
                    Side::Sensitive => found.sensitive_entry(number, &mut parser),
                };
                taken.map_err(|error| self.syntax(Error { at: at + error.at, ..error }))?;
                found.hand_out(end)?;
            }
            self.window.take(end, after);
        }
        Ok(())
    }

    fn token<T>(&mut self, read: impl Fn(&mut Parser<'_>) -> Result<T, Error>) -> Result<T> {
        let found = self.window.token(read)?;
        found.map_err(|error| self.syntax(error))
    }

    /// Notes a value that has no place here, and goes on behind it.
    fn refuse(&mut self) -> Result<()> {
        self.window.whole()?;
        let (mut parser, mut misplaced) = (self.window.parser(), Vec::new());
        refuse(&mut parser, &mut misplaced).map_err(|error| self.syntax(error))?;
        let (end, state) = (parser.position(), parser.state());
        if self.misplaced.len() < SHOWN {
            let places = misplaced.into_iter().map(|at| no_part(self.window.locate(place(), at)));
            self.misplaced.extend(places);
        }
        self.window.take(end, state);
        Ok(())
    }

    fn syntax(&self, error: Error) -> Failure {
        let error = self.window.meant(error);
        let place = self.window.locate(place(), error.at);
        Failure::new(Fault::Data, Problem::from(error).diagnostic(place))
    }
}

fn no_part(place: Place) -> Diagnostic {
    Diagnostic::error("something stands here that is no part of a publication with two sides")
        .at(place)
        .help("`verify` cannot judge it, so it must not be handed out; publish again")
}

/// What was found so far.
struct Found<'e> {
    records: Records,
    problems: Problems,
    /// The group of each person that has not been handed out yet.
    names: Vec<String>,
    /// The bytes of their entries.
    bytes: usize,
    size: BatchSize,
    each: &'e mut EachPeople<'e>,
    groups: Groups,
    /// Entries that lack something.
    wrong: Vec<Diagnostic>,
}

impl Found<'_> {
    fn lacks(&mut self, what: String) {
        if self.wrong.len() < SHOWN {
            let help = "check that policy and publication belong together, and that it is complete";
            self.wrong.push(Diagnostic::error(what).at(place()).help(help));
        }
    }

    /// The people of a group.
    fn quasi_entry(
        &mut self,
        number: usize,
        parser: &mut Parser<'_>,
        locate: &dyn Fn(Place, usize) -> Place,
    ) -> Result<(), Error> {
        let (mut name, mut people) = (None, 0);
        parser.value()?;
        while let Some(is_group) = parser.key()?.map(|key| key == "group") {
            if is_group {
                name = scalar(parser)?.map(|(_, name)| name);
                continue;
            }
            parser.value()?;
            while parser.element()? {
                self.person(parser, locate)?;
                people += 1;
            }
        }
        let Some(name) = name else {
            self.lacks(format!("entry {number} of the quasi side has no group"));
            return Ok(());
        };
        let group = self.groups.number(&name);
        for _ in 0..people {
            self.groups.person(group);
            self.names.push(name.clone());
        }
        Ok(())
    }

    fn person(
        &mut self,
        parser: &mut Parser<'_>,
        locate: &dyn Fn(Place, usize) -> Place,
    ) -> Result<(), Error> {
        let (at, depth) = (parser.position(), parser.depth());
        let read = self.records.read(parser);
        match read.and_then(|()| self.records.end(at)) {
            Ok(()) => Ok(()),
            Err(Problem::Syntax(error)) => Err(error),
            Err(problem) => {
                let record = self.records.record();
                self.problems.push_like(problem.group(), |place| {
                    problem.diagnostic(locate(place, problem.at()).record(record))
                });
                parser.rewind(at, depth);
                parser.skip()
            }
        }
    }

    /// A value of a group.
    fn sensitive_entry(&mut self, number: usize, parser: &mut Parser<'_>) -> Result<(), Error> {
        let mut cells: [Option<(Kind, String)>; 3] = [const { None }; 3];
        parser.value()?;
        while let Some(cell) = parser.key()?.map(|key| match key {
            "group" => 0,
            "path" => 1,
            _ => 2,
        }) {
            cells[cell] = scalar(parser)?;
        }
        let [Some((_, name)), Some((_, path)), Some((kind, value))] = cells else {
            self.lacks(format!("entry {number} of the sensitive side lacks group, path or value"));
            return Ok(());
        };
        let column = self.groups.on_sensitive_side(&path);
        let group = self.groups.number(&name);
        self.groups.value(group, column, kind, &value);
        Ok(())
    }

    /// Forgets people who are enough to be handed out.
    fn hand_out(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        if self.names.len() < self.size.records && self.bytes < self.size.bytes {
            return Ok(());
        }
        self.bytes = 0;
        let (people, names) = (self.records.take(), std::mem::take(&mut self.names));
        // Where an entry lacks something nobody knows whose group is whose, and nothing comes of it.
        if names.len() == people.len() && !people.is_empty() { (self.each)(&people, &names) } else { Ok(()) }
    }

    /// All people have been read: refuses those who are no records, and what the policy does not publish.
    fn people(&mut self, homes: &Homes, input: &mut Input) -> Result<()> {
        if self.records.record() == 0 {
            let help = "check that policy and publication belong together, and that it is complete";
            self.problems.push(|place| {
                Diagnostic::error("the document has no record at `quasi[].records[]`").at(place).help(help)
            });
        }
        std::mem::replace(&mut self.problems, Problems::new(input.name())).settle()?;
        self.records.note_hollow(homes, input);
        input.nothing_outside()?;
        self.bytes = usize::MAX;
        self.hand_out(0)
    }
}

/// A single value; none where there is `null`.
fn scalar(parser: &mut Parser<'_>) -> Result<Option<(Kind, String)>, Error> {
    let mut number = String::new();
    Ok(match parser.value()? {
        Token::Text(text) => Some((Kind::Text, text.to_owned())),
        Token::Number(raw) => Some((Kind::Number, canonical(raw, &mut number).to_owned())),
        Token::Bool(told) => Some((Kind::Bool, told.to_string())),
        Token::Null | Token::Object | Token::Array => None,
    })
}

#[cfg(test)]
mod tests;
