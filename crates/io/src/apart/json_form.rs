//! The form of dissected JSON, to the letter: what else stands in the file would be published without being looked at.

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::input::Input;
use crate::json::document::locate;
use crate::json::error::Error;
use crate::json::parser::{Parser, Token, utf8};
use crate::json::record::Problem;

/// What stands under a key.
enum Part {
    Scalar,
    /// Records, which are looked at elsewhere.
    Records,
    Entries(&'static [(&'static str, Part)]),
}

const SIDES: [(&str, Part); 2] = [
    ("quasi", Part::Entries(&[("group", Part::Scalar), ("records", Part::Records)])),
    ("sensitive", Part::Entries(&[("group", Part::Scalar), ("path", Part::Scalar), ("value", Part::Scalar)])),
];

/// Mistakes that are shown.
const SHOWN: usize = 20;

/// A walk through a publication.
struct Walk<'a> {
    parser: Parser<'a>,
    /// Where something stands that has no place there.
    misplaced: Vec<usize>,
    /// How many elements the array had that was read last.
    elements: usize,
}

/// Checks the form of a publication and says whether its sensitive side has any value.
pub(super) fn check(input: &mut Input) -> Result<bool> {
    let bytes = input.read_all()?;
    let place = || Place::source("the publication");
    let syntax = |text: &str, error: Error| {
        let diagnostic = Problem::from(error).diagnostic(locate(place(), text, error.at));
        Failure::new(Fault::Data, diagnostic)
    };
    let text = utf8(&bytes).map_err(|e| syntax(utf8(&bytes[..e.at]).unwrap_or_default(), e))?;
    let mut walk = Walk { parser: Parser::new(text), misplaced: Vec::new(), elements: 0 };
    let sides = walk.sides().map_err(|e| syntax(text, e))?;
    walk.parser.finish().map_err(|e| syntax(text, e))?;
    let mut problems: Vec<Diagnostic> = (walk.misplaced.iter().take(SHOWN))
        .map(|&at| {
            let what = "something stands here that is no part of a publication with two sides";
            let help = "`verify` cannot judge it, so it must not be handed out; publish again";
            Diagnostic::error(what).at(locate(place(), text, at)).help(help)
        })
        .collect();
    for ((name, _), _) in SIDES.iter().zip(&sides).filter(|(_, entries)| entries.is_none()) {
        let help = "check that policy and publication belong together, and that it is complete";
        problems.push(Diagnostic::error(format!("the side `{name}` is missing")).at(place()).help(help));
    }
    if problems.is_empty() { Ok(sides[1] != Some(0)) } else { Err(Failure::all(Fault::Data, problems)) }
}

impl Walk<'_> {
    /// The entries of each side, if it is there.
    fn sides(&mut self) -> Result<[Option<usize>; 2], Error> {
        let mut found = [None; 2];
        let at = self.parser.position();
        if self.parser.value()? != Token::Object {
            self.misplaced.push(at);
            self.parser.rewind(at, 0);
            self.parser.skip()?;
            return Ok(found);
        }
        while let Some(side) = self.known(&SIDES)? {
            match side {
                Some(side) if found[side].is_none() && self.part(&SIDES[side].1)? => {
                    found[side] = Some(self.elements);
                }
                Some(side) if found[side].is_none() => {}
                _ => self.refuse()?,
            }
        }
        Ok(found)
    }

    /// Which of some keys is next, if it is one of them; none at the end of the object.
    fn known(&mut self, keys: &[(&str, Part)]) -> Result<Option<Option<usize>>, Error> {
        Ok(self.parser.key()?.map(|key| keys.iter().position(|(known, _)| *known == key)))
    }

    /// Notes a value that has no place here, and goes on behind it.
    fn refuse(&mut self) -> Result<(), Error> {
        let at = self.parser.position();
        self.misplaced.push(at);
        self.parser.skip()
    }

    /// Reads what should be this part; whether it was.
    fn part(&mut self, part: &Part) -> Result<bool, Error> {
        let (at, depth) = (self.parser.position(), self.parser.depth());
        let token = self.parser.value()?;
        match (part, token) {
            (Part::Scalar, Token::Number(_) | Token::Text(_) | Token::Bool(_) | Token::Null) => {}
            (Part::Records, Token::Array) => {
                while self.parser.element()? {
                    if self.parser.next_is("{") { self.parser.skip()? } else { self.refuse()? }
                }
            }
            (Part::Entries(keys), Token::Array) => {
                let mut elements = 0;
                while self.parser.element()? {
                    elements += 1;
                    self.entry(keys)?;
                }
                self.elements = elements;
            }
            _ => {
                self.misplaced.push(at);
                self.parser.rewind(at, depth);
                self.parser.skip()?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn entry(&mut self, keys: &[(&'static str, Part)]) -> Result<(), Error> {
        if !self.parser.next_is("{") {
            return self.refuse();
        }
        self.parser.value()?;
        let mut seen = vec![false; keys.len()];
        while let Some(key) = self.known(keys)? {
            match key {
                Some(key) if !std::mem::replace(&mut seen[key], true) => {
                    self.part(&keys[key].1)?;
                }
                _ => self.refuse()?,
            }
        }
        Ok(())
    }
}
