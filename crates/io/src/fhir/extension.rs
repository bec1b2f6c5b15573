//! Extensions by name.

use bosket_model::Kind;

use super::bundle::{absent, text, url};
use super::names::{ABSENT, Known, Resource, extension_name};
use super::problem::Problem;
use super::resource::{Reader, Within, mark};
use crate::json::parser::{Parser, Token};
use crate::json::shape::Shape;

/// What stands between the codes of somebody who has several, and between what they are called.
pub(super) const CODES: &str = " ";
pub(super) const DISPLAYS: &str = "; ";

/// The codings of one part of a race or ethnicity: code, system and display each.
#[derive(Debug, Default)]
struct Codings(Vec<[Option<String>; 3]>);

impl Reader {
    /// Reads the rest of an array of extensions, which stands at `node`.
    pub(super) fn extensions(
        &mut self,
        parser: &mut Parser<'_>,
        node: u32,
        within: Within,
    ) -> Result<(), Problem> {
        let mut cursor = self.shape.begin(node);
        let mut known_before = [false; Known::ALL.len()];
        while parser.element()? {
            let Some(url) = url(parser)? else {
                self.left.extensions += 1;
                parser.skip()?;
                continue;
            };
            if url == ABSENT {
                absent(parser)?;
                continue;
            }
            if Self::tells(&url, within) {
                self.left.renderings += u64::from(self.rendered.is_some());
                self.rendered = rendered(parser)?;
                continue;
            }
            if within == Within::Resource(Resource::Patient)
                && let Some(known) = Known::from_url(&url)
            {
                if std::mem::replace(&mut known_before[known as usize], true) {
                    self.left.extensions += 1;
                    parser.skip()?;
                } else {
                    self.known(parser, known)?;
                }
                continue;
            }
            let name = extension_name(&url, within == Within::Extension);
            let (child, twice) = self.shape.step(&mut cursor, Some(name));
            if twice {
                self.left.extensions += 1;
                parser.skip()?;
                continue;
            }
            let at = parser.position();
            parser.value()?;
            self.object(parser, child, at, Within::Extension)?;
        }
        Ok(())
    }

    /// Reads an extension that has a name of its own.
    fn known(&mut self, parser: &mut Parser<'_>, known: Known) -> Result<(), Problem> {
        let node = self.shape.child(Shape::ROOT, known.name());
        if known != Known::Birthsex {
            mark(&mut self.concepts, node);
        }
        parser.value()?;
        while let Some(key) = parser.key()? {
            match key {
                "url" => parser.skip()?,
                "valueCodeableConcept" | "valueCode" => self.value(parser, node)?,
                "extension" => self.parts(parser, node)?,
                _ => {
                    self.left.extensions += 1;
                    parser.skip()?;
                }
            }
        }
        Ok(())
    }

    /// Reads a race or ethnicity that has parts: categories, details, and a text.
    fn parts(&mut self, parser: &mut Parser<'_>, node: u32) -> Result<(), Problem> {
        let at = parser.position();
        let depth = parser.depth();
        if parser.value()? != Token::Array {
            parser.rewind(at, depth);
            return Ok(parser.pass_over()?);
        }
        self.parts = true;
        let (mut categories, mut details) = (Codings::default(), Codings::default());
        let mut words = None;
        while parser.element()? {
            match url(parser)?.as_deref() {
                Some("ombCategory") => categories.read(parser)?,
                Some("detailed") => details.read(parser)?,
                Some("text") => words = rendered(parser)?,
                _ => {
                    self.left.extensions += 1;
                    parser.skip()?;
                }
            }
        }
        if details.any() {
            let detailed = self.shape.child(node, "detailed");
            mark(&mut self.concepts, detailed);
            self.set_codings(detailed, &mut details, at)?;
        }
        self.set_codings(node, &mut categories, at)?;
        if let Some(words) = words {
            let place = if categories.any() { self.shape.child(node, "text") } else { node };
            self.set(place, Kind::Text, &words, at)?;
        }
        Ok(())
    }

    fn set_codings(&mut self, node: u32, codings: &mut Codings, at: usize) -> Result<(), Problem> {
        // Who has the same ones has the same value.
        codings.0.sort();
        for (part, (key, between)) in
            [("", CODES), ("system", CODES), ("display", DISPLAYS)].iter().enumerate()
        {
            let texts: Vec<&str> = codings.0.iter().filter_map(|c| c[part].as_deref()).collect();
            if !texts.is_empty() {
                let place = if key.is_empty() { node } else { self.shape.child(node, key) };
                self.set(place, Kind::Text, &texts.join(between), at)?;
            }
        }
        Ok(())
    }
}

impl Codings {
    fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Reads an extension whose value is a coding.
    fn read(&mut self, parser: &mut Parser<'_>) -> Result<(), Problem> {
        let mut coding = [const { None }; 3];
        parser.value()?;
        while let Some(key) = parser.key()? {
            if key != "valueCoding" {
                if key == "url" {
                    parser.skip()?
                } else {
                    parser.pass_over()?
                }
                continue;
            }
            let (at, depth) = (parser.position(), parser.depth());
            if parser.value()? != Token::Object {
                parser.rewind(at, depth);
                parser.pass_over()?;
                continue;
            }
            while let Some(key) = parser.key()? {
                match key {
                    "code" => coding[0] = text(parser)?,
                    "system" => coding[1] = text(parser)?,
                    "display" => coding[2] = text(parser)?,
                    _ => parser.pass_over()?,
                }
            }
        }
        self.0.push(coding);
        Ok(())
    }
}

/// The text of an extension whose value is one.
fn rendered(parser: &mut Parser<'_>) -> Result<Option<String>, Problem> {
    let mut found = None;
    parser.value()?;
    while let Some(key) = parser.key()? {
        match key {
            "valueString" => found = text(parser)?,
            "url" => parser.skip()?,
            _ => parser.pass_over()?,
        }
    }
    Ok(found)
}
