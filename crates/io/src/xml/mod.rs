//! XML: one document, whose records are the elements at one path.
//!
//! An element that repeats anywhere under its parent is a class; any other element is part of the vertex it lies in.
//! Attributes are values (`a/@rate`), and so is the text of elements that have text or never anything else (`a`); empty
//! text is `""`. The document is read as a stream onto a tape of what it holds; which elements repeat is known when it
//! has ended, and only then is the dataset made.
//!
//! Nothing outside the document is ever fetched, and no declared entity is expanded.

pub mod apart;
mod doctype;
mod document;
mod encoding;
mod expect;
mod mistake;
mod names;
mod namespaces;
mod order;
mod outside;
mod prolog;
mod read;
mod reference;
mod settle;
mod shape;
mod source;
mod tag;
mod tape;
mod template;
mod text;
pub(crate) mod tree;
mod unfit;
mod write;

use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::path::{AttributePath, Notation};
use bosket_model::policy::{AttributePolicy, Role};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

use crate::format::{Format, GuessedRecords, Layout};
use crate::input::Input;

pub use expect::Repeating;
pub use namespaces::{Namespaces, Prefix};
pub(crate) use read::root_of;

/// What is known about a document besides its records, so that a publication can look the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Which namespaces its names are in.
    pub namespaces: Namespaces,
    /// Paths of elements below the record, in the order in which they stand.
    pub order: Vec<Vec<String>>,
    /// Paths of elements below the record that repeat, or would if there were more of them.
    pub repeating: Repeating,
    /// Which elements are not looked into.
    pub opaque: Box<Opaque>,
}

/// Elements that are not looked into, because they cannot be told in values: each counts as one attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opaque {
    /// Their paths.
    pub found: Vec<Vec<String>>,
    /// Paths of elements of which a policy publishes something: these have to be looked into. If none are given, all have to be.
    pub unless: Option<Vec<Vec<String>>>,
}

impl Outline {
    /// What a policy says about documents: which elements repeat, even if a document has none of them twice.
    pub fn expected(attributes: &[AttributePolicy]) -> Self {
        let published = attributes.iter().filter(|a| !matches!(a.role, Role::Identifying | Role::Key));
        let published = published.filter_map(|a| AttributePath::parse_in(Notation::Slashes, &a.path).ok());
        let elements = |path: AttributePath| {
            let names = path.classes.into_iter().flatten().chain(path.name);
            names.filter(|name| !name.starts_with('@')).collect()
        };
        Outline {
            repeating: Repeating::expected(attributes),
            opaque: Opaque::unless(published.map(elements).collect()),
            ..Outline::default()
        }
    }

    /// Nothing is known, and elements that cannot be told in values are not looked into.
    pub fn unknown() -> Self {
        Outline { opaque: Opaque::unless(Vec::new()), ..Outline::default() }
    }
}

impl Opaque {
    fn unless(published: Vec<Vec<String>>) -> Box<Self> {
        Box::new(Opaque { found: Vec::new(), unless: Some(published) })
    }
}

/// One XML document. [`Layout::record`] is the path of the records from the root element: `db/patient`. What lies
/// outside them is not part of the data; a warning names it.
#[derive(Debug)]
pub struct Xml;

impl Format for Xml {
    fn name(&self) -> &'static str {
        "xml"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["xml"]
    }

    fn has_types(&self) -> bool {
        false
    }

    fn reads_folders(&self) -> bool {
        true
    }

    fn read(&self, input: &mut Input, layout: &Layout) -> Result<(Dataset, Layout)> {
        let layout = Layout { record: record_of(input, layout)?, ..layout.clone() };
        let path = record_path(&layout)?.unwrap_or_default();
        let (data, outline) = read::read(input, &path, &layout.outline)?;
        Ok((data, Layout { outline, ..layout }))
    }

    fn guess_records(&self, input: &mut Input) -> Result<Option<GuessedRecords>> {
        Ok(GuessedRecords::of(read::repeating(input)?))
    }

    fn write(
        &self,
        data: &Dataset,
        layout: &Layout,
        out: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<()> {
        let Some(path) = record_path(layout)? else {
            let what = Diagnostic::error("nothing says where in an XML document the records are");
            return Err(Failure::new(Fault::Policy, what.help("set `source.record`, such as `db/patient`")));
        };
        write::write(data, &path, &layout.outline, out, observer)
    }
}

/// Where the records are. Where every file of a folder is a document of its own, each is a record unless something else is
/// said.
fn record_of(input: &Input, layout: &Layout) -> Result<Option<String>> {
    match (&layout.record, input.files().unwrap_or_default().first()) {
        (None, Some(first)) => Ok(read::root_of_input(&input.part(first)?)),
        (record, _) => Ok(record.clone()),
    }
}

/// The names of the elements from the root to the records.
fn record_path(layout: &Layout) -> Result<Option<Vec<String>>> {
    let Some(text) = &layout.record else {
        return Ok(None);
    };
    let path: Vec<String> = text.split('/').map(str::to_owned).collect();
    if path.iter().all(|name| names::is_qualified(name)) {
        return Ok(Some(path));
    }
    let what = Diagnostic::error(format!("`{text}` is no path of records"));
    let help = "write the names of the elements from the root to the records: `db/patient`";
    Err(Failure::new(Fault::Policy, what.help(help)))
}
