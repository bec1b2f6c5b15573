//! The same data in another format, or nothing. Nothing is anonymized.

use std::path::{Path, PathBuf};

use bosket_io::convert::{self as io, Summary, To};
use bosket_io::tables::{Catalogue, Destination, Linked, Tables, Whole, catalogue, is_linked};
use bosket_io::{Layout, Opened, PolicyFile, SourceForm, Whereabouts};
use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use serde_json::{Value, json};

use crate::load::{self, PolicyAt, Reading};
use crate::run::{Run, Settings, run};
use crate::warned::Warned;

/// What is to be converted, and into what.
#[derive(Clone, Debug, Default)]
pub struct ConvertRequest {
    /// A file, a folder, a database, or a policy (`.toml`) whose source it is.
    pub input: PathBuf,
    /// Where it goes.
    pub output: PathBuf,
    /// How to read it.
    pub reading: Reading,
    /// Foreign keys, as `TABLE.COLUMN`, by which tables hang below others.
    pub parent: Vec<String>,
    /// Format to write; by the name of the output if not given.
    pub to: Option<String>,
    /// Where the records go in a document.
    pub to_record: Option<String>,
    /// What separates cells or items in what is written.
    pub to_separator: Option<String>,
    /// The schema of a PostgreSQL database that tables go into.
    pub schema: String,
    /// Replace files and tables that exist.
    pub force: bool,
    /// What every call can be told.
    pub settings: Settings,
}

/// What was written.
#[derive(Debug)]
pub struct Converted {
    /// Where it is.
    pub output: PathBuf,
    /// How much it is.
    pub summary: Summary,
}

impl Converted {
    /// What was written, for programs.
    pub fn to_json(&self) -> Value {
        let Summary { count, tables, notes, .. } = &self.summary;
        let counted = if *tables == 0 { "records" } else { "rows" };
        json!({counted: count, "tables": tables, "out": self.output.display().to_string(), "notes": notes})
    }
}

/// What is converted, before anything of it is read.
enum From {
    /// A policy's source.
    Policy(Box<PolicyFile>),
    /// A folder or database that nobody describes.
    Found(Format, Catalogue),
    Document,
}

/// Writes the same data in another format. It is read again and compared before it gets its name.
pub fn convert(request: &ConvertRequest, observer: &dyn Observer) -> Result<Warned<Converted>> {
    run(&request.settings, observer, |run| {
        let reading = &request.reading;
        let separator = reading.separator.as_deref();
        let from = if request.input.extension().is_some_and(|e| e == "toml") {
            From::Policy(Box::new(PolicyAt::new(&request.input).load(run)?))
        } else {
            let found = catalogue(&request.input, reading.format.as_deref(), separator, run.observer)?;
            found.map_or(From::Document, |(format, catalogue)| From::Found(format, catalogue))
        };
        let linked = match &from {
            From::Policy(file) => is_linked(file.policy.need_source()?),
            From::Found(..) => true,
            From::Document => false,
        };
        let to = To::new(&request.output, request.to.as_deref(), linked)?;
        let create = run.settings.create(request.force, false);
        let summary = match (&from, &to) {
            (From::Policy(file), To::Tables { path, format }) if linked => {
                Whole::of_policy(file)?.copy(&destination(request, path, *format)?, create, run.observer)?
            }
            (From::Found(found, catalogue), To::Tables { path, format }) => {
                let whole = Whole::found(&request.input, *found, separator, catalogue)?;
                whole.copy(&destination(request, path, *format)?, create, run.observer)?
            }
            _ => {
                let (opened, inputs) = records(request, from, run)?;
                one_document(request, opened, &inputs, &to, run)?
            }
        };
        Ok(Converted { output: request.output.clone(), summary })
    })
}

/// All records, and the files they are in.
fn records(request: &ConvertRequest, from: From, run: &Run<'_>) -> Result<(Opened, Vec<PathBuf>)> {
    let reading = &request.reading;
    let place = match from {
        From::Policy(file) => match Whereabouts::input(&file)? {
            Whereabouts::Tables(tables) => Whereabouts::Tables(Box::new(tables.whole())),
            // A kind of a class stays where it is.
            Whereabouts::Document { path, format, layout, published, gather, .. } => {
                Whereabouts::Document { path, format, layout, published, gather, kinds: Box::default() }
            }
            frame @ Whereabouts::Frame { .. } => frame,
        },
        From::Found(format, catalogue) => {
            let mut linked = catalogue.link(reading.record.as_deref(), &request.parent)?;
            // Nothing takes the place of anything.
            linked.lookups.clear();
            refuse_leaving_out(&catalogue, &linked)?;
            let tables = Tables::look(&request.input, format, reading.separator.as_deref(), &linked)?;
            Whereabouts::Tables(Box::new(tables.whole()))
        }
        From::Document => {
            let opened = load::document(&request.input, reading.format.as_deref(), reading.layout(), run)?;
            return Ok((opened, vec![request.input.clone()]));
        }
    };
    let inputs = place.paths();
    let opened = load::records(place, run)?;
    if let SourceForm::Document { layout, .. } = &opened.form
        && let Some(path) = layout.outline.opaque.found.first()
    {
        let what = Diagnostic::error("an element mixes text and elements, or has names of another namespace");
        let what = what.at(Place::default().path(path.join("/")));
        return Err(Failure::new(Fault::Data, what.help("what is converted must be converted as a whole")));
    }
    Ok((opened, inputs))
}

/// Records have no place for tables that do not hang below the person table.
fn refuse_leaving_out(catalogue: &Catalogue, linked: &Linked) -> Result<()> {
    let person = linked.tables.first().map_or("", |t| t.name.as_str());
    let left = catalogue.tables.iter().filter(|t| linked.tables.iter().all(|l| l.name != t.name));
    let problems: Vec<Diagnostic> = left
        .map(|t| {
            let what = format!("table `{}` does not hang below `{person}` and would be left out", t.name);
            let help =
                "choose the person table with --record, or name the tables that are wanted in a policy";
            Diagnostic::error(what).help(help)
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Data, problems)) }
}

fn one_document(
    request: &ConvertRequest,
    opened: Opened,
    inputs: &[PathBuf],
    to: &To,
    run: &Run<'_>,
) -> Result<Summary> {
    let create = run.settings.create(request.force, false);
    match to {
        To::Document { path, format } => {
            let (same, known) = match opened.form {
                SourceForm::Document { format: own, layout } => (own.name() == format.name(), *layout),
                SourceForm::Tables(_) => (false, Layout::default()),
            };
            // Within a format, records stay where they are unless another place is asked for.
            let stays = |given: &Option<String>, known: &Option<String>| {
                given.clone().or_else(|| known.clone().filter(|_| same))
            };
            let layout = Layout {
                record: stays(&request.to_record, &known.record),
                separator: stays(&request.to_separator, &known.separator),
                ..known
            };
            io::document(&opened.data, layout, (path, *format), inputs, create, run.observer)
        }
        To::Tables { path, format } => {
            let name = request.input.file_stem().map_or("data".into(), |s| s.to_string_lossy());
            let name = name.split('.').next().unwrap_or(&name);
            let destination = destination(request, path, *format)?;
            io::table(&opened.data, name, &destination, inputs, create, run.observer)
        }
    }
}

fn destination<'a>(request: &'a ConvertRequest, path: &'a Path, format: Format) -> Result<Destination<'a>> {
    let separator = match request.to_separator.as_deref().unwrap_or(",").as_bytes() {
        &[c] if c.is_ascii() && !matches!(c, b'"' | b'\n' | b'\r' | 0) => c,
        _ => {
            let what = Diagnostic::error("the separator of a table must be one character");
            return Err(Failure::new(Fault::Usage, what.help("the usual ones are `,`, `;` and tab")));
        }
    };
    Ok(Destination { format, path, schema: &request.schema, separator })
}
