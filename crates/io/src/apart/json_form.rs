//! The form of the entries of dissected JSON, to the letter: what else stands in them would be published without being looked at.

use crate::json::error::Error;
use crate::json::parser::{Parser, Token};

/// What stands under a key.
#[derive(Clone, Copy, Debug)]
enum Part {
    Scalar,
    /// Records, which are looked at elsewhere.
    Records,
}

/// A side of a publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Quasi,
    Sensitive,
}

impl Side {
    /// The side that is called so.
    pub(super) fn of(key: &str) -> Option<Self> {
        [Side::Quasi, Side::Sensitive].into_iter().find(|side| side.name() == key)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Side::Quasi => "quasi",
            Side::Sensitive => "sensitive",
        }
    }

    fn keys(self) -> &'static [(&'static str, Part)] {
        match self {
            Side::Quasi => &[("group", Part::Scalar), ("records", Part::Records)],
            Side::Sensitive => &[("group", Part::Scalar), ("path", Part::Scalar), ("value", Part::Scalar)],
        }
    }
}

/// Goes over the next entry of a side; where something stands that has no place there.
pub(super) fn check_entry(parser: &mut Parser<'_>, side: Side) -> Result<Vec<usize>, Error> {
    let mut misplaced = Vec::new();
    if !parser.next_is("{") {
        refuse(parser, &mut misplaced)?;
        return Ok(misplaced);
    }
    parser.value()?;
    let keys = side.keys();
    let mut seen = vec![false; keys.len()];
    while let Some(key) = parser.key()?.map(|key| keys.iter().position(|(known, _)| *known == key)) {
        match key {
            Some(key) if !std::mem::replace(&mut seen[key], true) => {
                check_part(parser, keys[key].1, &mut misplaced)?;
            }
            _ => refuse(parser, &mut misplaced)?,
        }
    }
    Ok(misplaced)
}

/// Notes a value that has no place here, and goes on behind it.
pub(super) fn refuse(parser: &mut Parser<'_>, misplaced: &mut Vec<usize>) -> Result<(), Error> {
    misplaced.push(parser.position());
    parser.skip()
}

fn check_part(parser: &mut Parser<'_>, part: Part, misplaced: &mut Vec<usize>) -> Result<(), Error> {
    let (at, depth) = (parser.position(), parser.depth());
    match (part, parser.value()?) {
        (Part::Scalar, Token::Number(_) | Token::Text(_) | Token::Bool(_) | Token::Null) => Ok(()),
        (Part::Records, Token::Array) => {
            while parser.element()? {
                if parser.next_is("{") { parser.skip()? } else { refuse(parser, misplaced)? }
            }
            Ok(())
        }
        _ => {
            parser.rewind(at, depth);
            refuse(parser, misplaced)
        }
    }
}
