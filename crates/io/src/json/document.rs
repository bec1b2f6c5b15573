//! `json`: all records in one document.

use std::io::Write;
use std::path::PathBuf;

use bosket_model::observe::Observer;
use bosket_model::path::AttributePath;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

use super::error::{Error, ErrorKind};
use super::offer::{arrays_of_objects, offer};
use super::parser::{Parser, Token, utf8};
use super::record::{Problem, Records, twice};
use super::whereabouts::path_of_mistake;
use super::write::{push_string, write_records};
use crate::fault;
use crate::format::{Format, GuessedRecords, Layout};
use crate::input::Input;
use crate::problems::Problems;
use crate::stop::Stop;

/// One JSON document: an array of records, or one or more arrays somewhere inside, named by [`Layout::record`].
/// What lies outside these arrays is not part of the data. Private data may also be objects one after the other, as `jq`
/// and MongoDB write them.
#[derive(Debug)]
pub struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn reads_folders(&self) -> bool {
        true
    }

    fn read(&self, input: &mut Input, layout: &Layout) -> Result<(Dataset, Layout)> {
        match input.files() {
            None => read(input, layout, Around::Nothing),
            Some(files) => read_folder(input, &files, layout),
        }
    }

    fn guess_records(&self, input: &mut Input) -> Result<Option<GuessedRecords>> {
        // An array at the top holds the records.
        if !input.head().trim_ascii_start().starts_with(b"{") {
            return Ok(None);
        }
        let bytes = input.read_all()?;
        let text = utf8(&bytes).unwrap_or_default();
        // Of several objects each is a record.
        Ok(GuessedRecords::of(arrays_of_objects(text)).filter(|_| !is_sequence(text)))
    }

    fn write(
        &self,
        data: &Dataset,
        layout: &Layout,
        out: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<()> {
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        for keys in record_path(layout)? {
            for key in keys {
                head.push(b'{');
                push_string(&mut head, &key);
                head.push(b':');
                tail.push(b'}');
            }
            head.push(b'[');
            tail.push(b']');
        }
        tail.reverse();
        let sorted = write_records(data, layout, observer)?;
        let mut write = |bytes: &[u8]| out.write_all(bytes).map_err(fault::from_write);
        write(&head)?;
        for (i, record) in sorted.iter().enumerate() {
            observer.go_on()?;
            write(if i == 0 { b"\n" } else { b",\n" })?;
            write(record)?;
        }
        write(b"\n")?;
        write(&tail)?;
        write(b"\n")
    }
}

/// What a publication may have around its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Around {
    /// Nothing but the way to them.
    Nothing,
    /// Whatever somebody else has looked at.
    LookedAt,
}

/// Reads the records of a document.
pub(crate) fn read(input: &mut Input, layout: &Layout, around: Around) -> Result<(Dataset, Layout)> {
    let mut problems = Problems::new(input.name());
    let mut records = Records::new(&layout.homes);
    read_document(input, layout, around, (&mut records, &mut problems))?;
    records.note_hollow(&layout.homes, input);
    let (data, extended) = records.finish(&layout.homes);
    Ok((problems.check(data)?, Layout { extended: Box::new(extended), ..layout.clone() }))
}

/// Reads the documents of a folder. One that is an object is a record, unless it is said where the records are.
fn read_folder(input: &mut Input, files: &[PathBuf], layout: &Layout) -> Result<(Dataset, Layout)> {
    let mut problems = Problems::new(input.name());
    let mut records = Records::new(&layout.homes);
    for file in files {
        let mut part = input.part(file)?;
        let mut own = Problems::new(part.name());
        read_document(&mut part, layout, Around::LookedAt, (&mut records, &mut own))?;
        problems.append(own);
    }
    let (data, extended) = records.finish(&layout.homes);
    Ok((problems.check(data)?, Layout { extended: Box::new(extended), ..layout.clone() }))
}

fn read_document(
    input: &mut Input,
    layout: &Layout,
    around: Around,
    (records, problems): (&mut Records, &mut Problems),
) -> Result<()> {
    let mut classes = record_path(layout)?;
    let whole = around == Around::LookedAt && layout.record.is_none();
    let bytes = input.read_all()?;
    let (text, broken) = match utf8(&bytes) {
        Ok(text) => (text, None),
        Err(e) => (utf8(&bytes[..e.at]).unwrap_or_default(), Some(e)),
    };
    if text.trim_ascii().is_empty() && broken.is_none() {
        return Ok(());
    }
    let unsaid = layout.record.is_none() && text.trim_ascii_start().starts_with('{');
    let sequence = unsaid && !input.is_published() && (whole || is_sequence(text));
    if sequence || (whole && unsaid) {
        classes.clear();
    }
    let stop = input.stop().clone();
    let before = records.record();
    let mut document = Document {
        text,
        parser: Parser::new(text),
        classes: &classes,
        records,
        begun: None,
        published: input.is_published() && around == Around::Nothing,
        beside: Vec::new(),
        problems,
        stop: &stop,
    };
    let read = match classes.is_empty() {
        true if sequence => document.sequence(),
        true => document.record(),
        false => document.arrays(0, 0),
    };
    let mut end = read.and_then(|()| document.parser.finish());
    input.stop().go_on()?;
    let (begun, record) = (document.begun, document.records.record());
    for &at in &document.beside {
        input.outside(|place| beside(locate(place, text, at)));
    }
    // A document that is not UTF-8 was read up to that place, where it ends or seems to be cut off.
    if let Some(broken) = broken
        && end.err().is_none_or(|e| e.at == text.len())
    {
        end = Err(broken);
    }
    if let Err(error) = end {
        let several = error.kind == ErrorKind::TrailingText;
        problems.push(|place| {
            let mut place = locate(place, text, error.at);
            if let Some(begun) = begun {
                place = Place { path: path_of_mistake(&text[begun..]), ..place.record(record) };
            }
            let diagnostic = Problem::from(error).diagnostic(place);
            if several {
                diagnostic.help("if the file has one object per line, its format is `ndjson`")
            } else {
                diagnostic
            }
        });
    } else if record == before && problems.is_empty() {
        problems.push(|place| no_record(place, layout, text));
    }
    Ok(())
}

/// The arrays on the way to the records.
fn record_path(layout: &Layout) -> Result<Vec<Vec<String>>> {
    let Some(text) = &layout.record else {
        return Ok(vec![Vec::new()]);
    };
    let wrong = match AttributePath::parse(text) {
        Ok(path) if path.name.is_empty() => return Ok(path.classes),
        Ok(_) => "it must end in `[]`, the array whose elements are the records".to_owned(),
        Err(wrong) => wrong,
    };
    let what = Diagnostic::error(format!("`{text}` is no path of records: {wrong}"));
    Err(Failure::new(Fault::Policy, what.help("write it like `entry[]` or `group.members[]`")))
}

struct Document<'a, 'p> {
    text: &'a str,
    parser: Parser<'a>,
    classes: &'p [Vec<String>],
    records: &'p mut Records,
    /// Where the record starts that is being read.
    begun: Option<usize>,
    /// Whether what stands beside the way to the records is asked for, and where it does.
    published: bool,
    beside: Vec<usize>,
    problems: &'p mut Problems,
    stop: &'p Stop,
}

impl Document<'_, '_> {
    /// Reads a value from which the keys of `classes[class]` from `key` on lead to an array.
    fn arrays(&mut self, class: usize, key: usize) -> Result<(), Error> {
        let (at, depth) = (self.parser.position(), self.parser.depth());
        let token = self.parser.value()?;
        match self.classes[class].get(key) {
            _ if token == Token::Null => {}
            Some(wanted) if token == Token::Object => {
                let mut found = false;
                while let Some(here) = self.parser.key()? {
                    if here != wanted {
                        let at = self.parser.position();
                        if self.published {
                            self.beside.push(at);
                        }
                        self.parser.skip()?;
                    } else if std::mem::replace(&mut found, true) {
                        let at = self.parser.position();
                        self.problems.push(|place| twice(locate(place, self.text, at), wanted));
                        self.parser.skip()?;
                    } else {
                        self.arrays(class, key + 1)?;
                    }
                }
            }
            None if token == Token::Array => {
                // Whoever says stop asks for nothing that was read.
                while !self.stop.is_set() && self.parser.element()? {
                    if class + 1 == self.classes.len() {
                        self.record()?;
                    } else {
                        self.arrays(class + 1, 0)?;
                    }
                }
            }
            wanted => {
                let wanted = if wanted.is_some() { "an object" } else { "an array" };
                self.problems.push(|place| misplaced(place, self.text, at, wanted));
                self.parser.rewind(at, depth);
                self.parser.skip()?;
            }
        }
        Ok(())
    }

    /// Reads records that stand one after the other.
    fn sequence(&mut self) -> Result<(), Error> {
        while !self.stop.is_set() && self.parser.position() < self.text.len() {
            self.record()?;
        }
        Ok(())
    }

    fn record(&mut self) -> Result<(), Error> {
        let (at, depth) = (self.parser.position(), self.parser.depth());
        self.begun = Some(at);
        let read = self.records.read(&mut self.parser);
        match read.and_then(|()| self.records.end(at)) {
            Ok(()) => {
                self.begun = None;
                Ok(())
            }
            Err(Problem::Syntax(error)) => Err(error),
            Err(problem) => {
                let number = self.records.record();
                self.problems.push_like(problem.group(), |place| {
                    problem.diagnostic(locate(place, self.text, problem.at()).record(number))
                });
                self.parser.rewind(at, depth);
                self.parser.skip()?;
                self.begun = None;
                Ok(())
            }
        }
    }
}

/// Whether bytes are one document of JSON.
pub(crate) fn is_document(bytes: &[u8]) -> bool {
    utf8(bytes).is_ok_and(|text| {
        let mut parser = Parser::new(text);
        parser.skip().is_ok() && parser.finish().is_ok()
    })
}

/// Whether a text has an object after its first.
fn is_sequence(text: &str) -> bool {
    let mut parser = Parser::new(text);
    parser.skip().is_ok() && parser.next_is("{")
}

pub(crate) fn locate(place: Place, text: &str, at: usize) -> Place {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() as u64 + 1;
    place.line(line).column(before[start..].chars().count() as u64 + 1)
}

/// Something that a publication has beside its records.
fn beside(place: Place) -> Diagnostic {
    Diagnostic::error("something stands here beside the records, which the claim says nothing about")
        .at(place)
        .help("`verify` cannot judge it, so it must not be handed out; publish the records alone")
}

fn misplaced(place: Place, text: &str, at: usize, wanted: &str) -> Diagnostic {
    let message = format!("{wanted} should stand here, on the way to the records");
    Diagnostic::error(message).at(locate(place, text, at)).help(offer(text))
}

fn no_record(place: Place, layout: &Layout, text: &str) -> Diagnostic {
    let message = match &layout.record {
        Some(path) => format!("the document has no record at `{path}`"),
        None => "the document is an array without records".to_owned(),
    };
    Diagnostic::error(message).at(place).help(offer(text))
}
