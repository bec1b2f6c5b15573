//! The loop over a document's events.

use bosket_model::{Dataset, Diagnostic, Failure, Place, Result};
use quick_xml::Reader;
use quick_xml::encoding::EncodingError;
use quick_xml::errors::Error;
use quick_xml::events::{BytesDecl, Event};

use super::document::Document;
use super::mistake::{Mistake, What};
use super::outside::{left_out, offer, repeated};
use super::prolog::{ignored, instruction};
use super::settle::{Settled, settle};
use super::source::{Source, not_text};
use super::unfit::Unfit;
use super::{Opaque, Outline};
use crate::input::Input;
use crate::problems::{Problems, too_large};

/// Reads the records at `path`; an empty path finds none.
pub(super) fn read(input: &mut Input, path: &[String], expected: &Outline) -> Result<(Dataset, Outline)> {
    let place = Place::source(input.name());
    let mut problems = Problems::new(input.name());
    let wrapped = is_wrapped(input, path).then(|| [&[WRAPPER.to_owned()], path].concat());
    let path = wrapped.as_deref().unwrap_or(path);
    let leave_out = expected.opaque.unless.as_deref().filter(|_| !input.is_published());
    let mut document = Document::new(path, leave_out);
    all_events(input, &mut document, &mut problems)?;
    if problems.is_empty() && document.records == 0 {
        problems.push(|place| {
            let message = match path {
                [] => "nothing says where in the document the records are".to_owned(),
                _ => format!("the document has no record at `{}`", path.join("/")),
            };
            Diagnostic::error(message).at(place).help(offer(&document.outside))
        });
    }
    if !problems.is_empty() {
        return Err(problems.failure());
    }
    if input.is_published() {
        refuse_outside(input, &document, path);
    } else if let Some(warning) = left_out(&document.outside, path, place) {
        input.warn(warning);
    }
    let Document { shape, tape, records, namespaces, .. } = document;
    let mentioned = input.is_published();
    let settled = settle(shape, tape, records, (&expected.repeating, mentioned), input.stop());
    input.stop().go_on()?;
    match settled {
        Ok(Settled { data, order, repeating, opaque: found }) => {
            if let Some(warning) = not_looked_into(&found, Place::source(input.name())) {
                input.warn(warning);
            }
            let opaque = Box::new(Opaque { found, unless: expected.opaque.unless.clone() });
            Ok((problems.check(data)?, Outline { namespaces, order, repeating, opaque }))
        }
        Err(_) => {
            problems.push(too_large);
            Err(problems.failure())
        }
    }
}

/// The paths of elements that repeat in a document, those that are rather records first; none of a document that is none.
pub(super) fn repeating(input: &mut Input) -> Result<Vec<String>> {
    let mut problems = Problems::new(input.name());
    let mut document = Document::new(&[], None);
    all_events(input, &mut document, &mut problems)?;
    input.stop().go_on()?;
    Ok(if problems.is_empty() { repeated(&document.outside) } else { Vec::new() })
}

/// The element around the records of a publication whose source has one record per document.
pub(super) const WRAPPER: &str = "publication";

/// Whether a publication has the element around its records that its source has not.
fn is_wrapped(input: &Input, path: &[String]) -> bool {
    let [root] = path else { return false };
    input.is_published() && root != WRAPPER && root_of_input(input).as_deref() == Some(WRAPPER)
}

/// What the outermost element of a document is called, as far as its first bytes tell.
pub(super) fn root_of_input(input: &Input) -> Option<String> {
    root_of(&String::from_utf8_lossy(input.head()).replace('\0', ""))
}

/// The same of a document that begins so.
pub(crate) fn root_of(text: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let tag = &rest[rest.find('<')? + 1..];
        rest = match tag {
            _ if tag.starts_with("!--") => &tag[tag.find("-->")?..],
            _ if tag.starts_with('?') => &tag[tag.find("?>")?..],
            _ if tag.starts_with('!') => &tag[tag.find('>')?..],
            _ => {
                let end = tag.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))?;
                return Some(tag[..end].to_owned());
            }
        };
    }
}

/// A warning that names elements which are not looked into.
fn not_looked_into(opaque: &[Vec<String>], place: Place) -> Option<Diagnostic> {
    if opaque.is_empty() {
        return None;
    }
    let mut paths: Vec<String> = opaque.iter().map(|path| format!("`{}`", path.join("/"))).collect();
    let more = paths.len().saturating_sub(SHOWN);
    paths.truncate(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = format!(
        "not looked into, since text and elements are mixed there, or names are of another namespace: {}{more}",
        paths.join(", ")
    );
    let help = "each counts as one attribute that can only be `identifying` or left out";
    Some(Diagnostic::warning(what).at(place).help(help))
}

/// How many elements are named.
const SHOWN: usize = 8;

/// Notes what a publication has besides its records.
fn refuse_outside(input: &mut Input, document: &Document<'_>, path: &[String]) {
    let help = "`verify` cannot judge it, so it must not be handed out; publish the records alone";
    if let Some(what) = left_out(&document.outside, path, Place::default()) {
        let what = what.message.replace("left out, since it lies", "something lies");
        input.outside(|place| Diagnostic::error(what).at(place).help(help));
    }
    for name in document.unused_prefixes() {
        let what = format!("the prefix `{name}` is declared, but no name has it");
        input.outside(|place| Diagnostic::error(what).at(place).help(help));
    }
}

/// What is made of a document's events. Places of mistakes count from the start of what is handed over.
pub(super) trait Handler {
    /// Makes ready for another file, which goes on where the one before ended.
    fn begin_file(&mut self);
    /// Notes that something was read; says whether anything was before.
    fn begin(&mut self) -> bool;
    /// The XML declaration.
    fn declaration(&mut self, event: &BytesDecl<'_>) -> Result<(), Mistake>;
    /// The DOCTYPE.
    fn doctype(&mut self, text: &str) -> Result<(), Mistake>;
    /// A start tag: what stands between its brackets, and how long its name is.
    fn start(&mut self, tag: &str, name: usize) -> Result<(), Mistake>;
    /// The end of the innermost open element.
    fn end(&mut self) -> Result<(), Mistake>;
    /// Literal text.
    fn text(&mut self, text: &str) -> Result<(), Mistake>;
    /// A CDATA section.
    fn section(&mut self, text: &str) -> Result<(), Mistake>;
    /// A reference to a character or an entity.
    fn reference(&mut self, name: &str) -> Result<(), Mistake>;
    /// The end of the document.
    fn finish(&mut self) -> Result<(), Mistake>;
    /// The same place, with the record and the element that are open.
    fn locate(&self, place: Place) -> Place;
    /// How many records have begun.
    fn records(&self) -> u64;
    /// What was found unfit since it was last asked for.
    fn unfit(&mut self) -> &mut Vec<Unfit>;
    /// Why reading is to stop, if it is.
    fn stopped(&mut self) -> Option<Failure>;
}

/// Reads a document, or the documents of a folder one after the other.
pub(super) fn all_events(
    input: &mut Input,
    document: &mut impl Handler,
    problems: &mut Problems,
) -> Result<()> {
    let Some(files) = input.files() else { return events(input, document, problems) };
    for file in files {
        document.begin_file();
        let mut part = input.part(&file)?;
        let mut own = Problems::new(part.name());
        events(&mut part, document, &mut own)?;
        problems.append(own);
    }
    Ok(())
}

/// Reads to the end, or to the first place that is not XML.
pub(super) fn events(input: &mut Input, document: &mut impl Handler, problems: &mut Problems) -> Result<()> {
    let (name, published) = (input.name().to_owned(), input.is_published());
    let mut reader = Reader::from_reader(Source::new(input)?);
    reader.config_mut().check_comments = true;
    let mut raw = Vec::new();
    loop {
        raw.clear();
        reader.get_mut().mark();
        let (goes_on, result) = match reader.read_event_into(&mut raw) {
            Ok(Event::Eof) => (false, document.finish()),
            Ok(event @ Event::DocType(_)) => {
                if published {
                    let place = reader.get_ref().marked();
                    problems.push(|p| outside_of_claim("a document type", place.in_place(p)));
                }
                let result = take(document, event);
                // The tokenizer is more lenient.
                let named = raw.starts_with(b"<!DOCTYPE");
                (true, if named { result } else { Err(What::Doctype.at(0)) })
            }
            Ok(event) => {
                if let Some(what) = unread(&event).filter(|_| published) {
                    let place = reader.get_ref().marked();
                    problems.push_like(Some(what.to_owned()), |p| {
                        outside_of_claim(what, document.locate(place.in_place(p)))
                    });
                }
                (true, take(document, event))
            }
            Err(Error::Encoding(EncodingError::Utf8(error))) => {
                let place = reader.get_ref().marked().after(&raw[..error.valid_up_to()]);
                problems.push(|p| not_text(document.locate(place.in_place(p)), "UTF-8"));
                return Ok(());
            }
            Err(error) => match What::of(error) {
                Some(what) => (false, Err(what.at(0))),
                None => return Err(reader.get_mut().failure(document.locate(Place::source(name.as_str())))),
            },
        };
        let record = document.records();
        for unfit in document.unfit().drain(..) {
            let place = reader.get_ref().marked();
            problems.push_like(Some(unfit.group()), |p| unfit.diagnostic(place.in_place(p).record(record)));
        }
        if let Err(Mistake { what, at }) = result {
            let place = reader.get_ref().marked().after(&raw[..at.min(raw.len())]);
            problems.push(|p| {
                let place = document.locate(place.in_place(p));
                Diagnostic::error(what.to_string()).at(place).help(what.help())
            });
            return Ok(());
        }
        if !goes_on {
            return document.stopped().map_or(Ok(()), Err);
        }
        if let Some(failure) = document.stopped() {
            return Err(failure);
        }
    }
}

/// What an event is that no record is made of, though it says something.
fn unread(event: &Event<'_>) -> Option<&'static str> {
    match event {
        Event::Comment(_) => Some("a comment"),
        Event::PI(_) => Some("a processing instruction"),
        _ => None,
    }
}

/// Something in a publication that the claim says nothing about.
fn outside_of_claim(what: &str, place: Place) -> Diagnostic {
    Diagnostic::error(format!("{what} stands in the publication, which the claim says nothing about"))
        .at(place)
        .help("`verify` cannot judge it, so it must not be handed out; take it out")
}

/// Takes an event. Places of mistakes count from the first byte of its markup.
fn take(document: &mut impl Handler, event: Event<'_>) -> Result<(), Mistake> {
    let begun = document.begin();
    // Where nothing else is known, it is the markup itself that is wrong.
    let inside = |mistake: Mistake, markup: &str| match mistake {
        Mistake { at: 0, .. } => mistake,
        Mistake { what, at } => what.at(at + markup.len()),
    };
    match event {
        Event::Start(tag) => document.start(&tag, tag.name().as_ref().len()).map_err(|m| inside(m, "<")),
        Event::Empty(tag) => {
            let opened = document.start(&tag, tag.name().as_ref().len());
            opened.and_then(|()| document.end()).map_err(|m| inside(m, "<"))
        }
        Event::End(_) => document.end(),
        Event::Text(text) => document.text(&text),
        Event::CData(text) => document.section(&text),
        Event::GeneralRef(name) => document.reference(&name),
        Event::Comment(text) => ignored(&text, "<!--".len()),
        Event::PI(event) => instruction(&event),
        Event::Decl(_) if begun => Err(What::DeclarationLate.at(0)),
        Event::Decl(declaration) => document.declaration(&declaration).map_err(|m| inside(m, "<?")),
        Event::DocType(text) => document.doctype(&text).map_err(|m| inside(m, "<!DOCTYPE ")),
        Event::Eof => Ok(()),
    }
}
