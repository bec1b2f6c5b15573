//! Writes data down in another format, all of it or not at all.
//!
//! A document becomes another document, linked tables become other tables or nested records, a flat document becomes a
//! table. What was written is read again and compared before it gets its name; whatever is not the same is named by its
//! path, and nothing stays.

pub(crate) mod same;

use std::path::{Path, PathBuf};

use bosket_model::diag::nearest;
use bosket_model::observe::Observer;
use bosket_model::policy::Format as Kind;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

use crate::atomic::Create;
use crate::format::{FORMATS, Format, Layout, by_extension};
use crate::publication::Publication;
use crate::tables::{self, refuse_overwriting};
use crate::xml::{Outline, Repeating};

/// How names of SQLite files end.
const DATABASES: [&str; 4] = ["db", "sqlite", "sqlite3", "db3"];

/// The elements that records become in XML if nothing else is said.
const ELEMENTS: &str = "records/record";

/// Where converted data goes.
#[derive(Debug)]
pub enum To {
    /// One document.
    Document {
        /// The file; `-` is standard output.
        path: PathBuf,
        /// Its format.
        format: &'static dyn Format,
    },
    /// Linked tables, or a single one.
    Tables {
        /// The folder, the database's file, or its address.
        path: PathBuf,
        /// What they are kept in.
        format: Kind,
    },
}

impl To {
    /// What a place on the command line means: its format by name, else by how its own name ends. Tables in files go
    /// into a folder.
    pub fn new(path: &Path, named: Option<&str>, from_tables: bool) -> Result<Self> {
        let document = |format| Ok(To::Document { path: path.to_owned(), format });
        let tables = |format| Ok(To::Tables { path: path.to_owned(), format });
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let slash = path.to_string_lossy().ends_with('/');
        let folder =
            slash || path.is_dir() || (from_tables && extension.is_empty() && path != Path::new("-"));
        let address = path.to_str().is_some_and(tables::is_address);
        match named {
            None if address => tables(Kind::Postgres),
            None if DATABASES.contains(&extension.as_str()) => tables(Kind::Sqlite),
            None if folder => Err(usage(
                "files of which format are to go into the folder?",
                "say it with --to csv or --to parquet",
            )),
            None => match by_extension(path) {
                Some(format) => document(format),
                None => Err(usage("the name does not say which format is wanted", &say())),
            },
            Some("sqlite") => tables(Kind::Sqlite),
            Some("postgres") if address => tables(Kind::Postgres),
            Some("postgres") => {
                Err(usage("this is no address of a database", "write it as postgres://user@host/database"))
            }
            Some("csv") if folder => tables(Kind::Csv),
            Some("parquet") if folder => tables(Kind::Parquet),
            Some(name) => match FORMATS.iter().find(|f| f.name() == name) {
                Some(format) => document(*format),
                None => {
                    let near = nearest(name, names());
                    let help = near.map_or_else(say, |near| format!("did you mean `{near}`?"));
                    Err(usage(&format!("there is no format `{name}`"), &help))
                }
            },
        }
    }
}

fn names() -> Vec<&'static str> {
    FORMATS.iter().map(|f| f.name()).chain(["sqlite", "postgres"]).collect()
}

fn say() -> String {
    format!("say it with --to: {}", names().join(", "))
}

fn usage(what: &str, help: &str) -> Failure {
    Failure::new(Fault::Usage, Diagnostic::error(what).help(help))
}

/// What was converted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Records, or rows of all tables.
    pub count: usize,
    /// Tables; none for a document.
    pub tables: usize,
    /// What should be known about the result.
    pub notes: Vec<String>,
}

/// Writes records as one document. `layout` is the source's, with what is asked of the target.
pub fn document(
    data: &Dataset,
    layout: Layout,
    (path, format): (&Path, &'static dyn Format),
    inputs: &[PathBuf],
    create: Create,
    observer: &dyn Observer,
) -> Result<Summary> {
    refuse_overwriting(inputs, path)?;
    let mut layout = layout;
    if format.name() == "xml" {
        layout.record.get_or_insert_with(|| ELEMENTS.to_owned());
        // Nothing in a document says that an element could repeat.
        layout.outline = Outline { repeating: repeating(data), ..layout.outline };
    }
    let mut publication = Publication::document(path, format, (layout.clone(), layout), create)?;
    publication.write(data, observer)?;
    let again = publication.read_again(observer).map_err(unreadable)?;
    let differences = same::differences(data, &again, format.has_types(), observer)?;
    if !differences.is_empty() {
        return Err(lossy(differences, format.name()));
    }
    drop(again);
    publication.finish(Vec::new(), observer)?;
    let mut notes = Vec::new();
    if !format.has_types() && has_types(data) {
        notes.push(format!("{} has no types: numbers and truth values are written as text", format.name()));
    }
    Ok(Summary { count: data.len(), tables: 0, notes })
}

/// Writes flat records as one table.
pub fn table(
    data: &Dataset,
    name: &str,
    to: &tables::Destination<'_>,
    inputs: &[PathBuf],
    create: Create,
    observer: &dyn Observer,
) -> Result<Summary> {
    let schema = data.schema();
    let lists = schema
        .classes()
        .skip(1)
        .map(|(_, c)| (&c.path, "a list needs a table of its own and keys to link them"));
    let objects =
        schema.attributes().filter(|(_, a)| a.class == bosket_model::ClassId::ROOT && a.name.len() != 1);
    let objects = objects.map(|(_, a)| (&a.path, "a row has no objects in it"));
    let problems: Vec<Diagnostic> = lists
        .chain(objects)
        .map(|(path, why)| Diagnostic::error(why).at(bosket_model::Place::default().path(path.as_str())))
        .collect();
    if !problems.is_empty() {
        return Err(lossy(problems, to.format.name()));
    }
    let rows = tables::copy_records(data, name, to, inputs, create, observer)?;
    Ok(Summary { count: rows, tables: 1, notes: Vec::new() })
}

/// The failure that tells what a format cannot hold.
pub(crate) fn lossy(mut problems: Vec<Diagnostic>, format: &str) -> Failure {
    let head = format!("{format} cannot hold this without loss; nothing was written");
    problems.insert(0, Diagnostic::error(head).help("choose another format, or change what is named below"));
    Failure::all(Fault::Data, problems)
}

/// What was written cannot even be read.
fn unreadable(mut failure: Failure) -> Failure {
    if failure.fault == Fault::Interrupted {
        return failure;
    }
    for diagnostic in &mut failure.diagnostics {
        diagnostic.message.insert_str(0, "what would be written cannot be read again: ");
    }
    failure
}

fn has_types(data: &Dataset) -> bool {
    let text = |(id, _)| data.dictionary(id).iter().all(|(kind, _)| kind == bosket_model::Kind::Text);
    !data.schema().attributes().all(text)
}

/// The paths of all classes below the record.
fn repeating(data: &Dataset) -> Repeating {
    let mut repeating = Repeating::default();
    let mut ways: Vec<Vec<String>> = Vec::new();
    for (_, class) in data.schema().classes() {
        let mut way = class.parent.map_or(Vec::new(), |p| ways[p.index()].clone());
        way.extend(class.name.iter().cloned());
        if class.parent.is_some() {
            repeating.insert(&way);
        }
        ways.push(way);
    }
    repeating
}
