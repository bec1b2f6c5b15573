//! Where records are, documents and linked tables alike.

use std::path::{Path, PathBuf};

use bosket_model::observe::Observer;
use bosket_model::policy::AttributePolicy;
use bosket_model::{Dataset, Diagnostic, Result};

use crate::form::{self, Written};
use crate::format::{self, Format, Layout, Loaded};
use crate::frames::{Frame, Frames};
use crate::gather;
use crate::homes::Homes;
use crate::input::{Input, document_files};
use crate::kinds::Kinds;
use crate::parts;
use crate::policy_file::PolicyFile;
use crate::tables::{self, Tables, certificate_files, is_linked};
use crate::xml::Outline;

/// How records were written down, so that a publication can be written the same way.
#[derive(Clone, Debug)]
pub enum SourceForm {
    /// One document.
    Document {
        /// Its format.
        format: &'static dyn Format,
        /// What the format leaves open.
        layout: Box<Layout>,
    },
    /// Linked tables.
    Tables(Box<tables::TablesForm>),
}

impl SourceForm {
    /// What policies call the format.
    pub fn name(&self) -> &'static str {
        match self {
            SourceForm::Document { format, .. } => format.name(),
            SourceForm::Tables(form) => form.format().name(),
        }
    }
}

/// A dataset, and how it was written down.
#[derive(Debug)]
pub struct Opened {
    /// The records.
    pub data: Dataset,
    /// How they were written down.
    pub form: SourceForm,
    /// What should be known about how they were read.
    pub warnings: Vec<Diagnostic>,
    /// The bytes they were read from, if they are a publication that was read as a whole.
    pub written: Option<Written>,
}

impl From<Loaded> for Opened {
    fn from(loaded: Loaded) -> Self {
        let form = SourceForm::Document { format: loaded.format, layout: Box::new(loaded.layout) };
        Opened { data: loaded.data, form, warnings: loaded.warnings, written: None }
    }
}

/// Whose documents are gathered, and the attributes of what comes out.
#[derive(Clone, Debug)]
pub struct Gather {
    /// Paths of what names the person.
    pub person: Vec<String>,
    /// The policy's attributes.
    pub attributes: Vec<AttributePolicy>,
}

/// Where records are.
#[derive(Debug)]
pub enum Whereabouts {
    /// In one document.
    Document {
        /// The file; `-` is standard input.
        path: PathBuf,
        /// Its format; by name and content if not given.
        format: Option<&'static str>,
        /// What the format leaves open.
        layout: Box<Layout>,
        /// Whether it is a publication, of which every byte has to be accounted for.
        published: bool,
        /// Whether, and how, documents of one person are gathered.
        gather: Option<Box<Gather>>,
        /// Kinds that are classes of their own.
        kinds: Box<Kinds>,
    },
    /// In linked tables.
    Tables(Box<Tables>),
    /// In a frame, as if it had been a document of a format.
    Frame {
        /// What holds the frame.
        frames: Frames,
        /// The format.
        format: &'static dyn Format,
        /// What the format leaves open.
        layout: Box<Layout>,
        /// Whether, and how, rows of one person are gathered.
        gather: Option<Box<Gather>>,
        /// Kinds that are classes of their own.
        kinds: Box<Kinds>,
    },
}

impl Whereabouts {
    /// The same for whoever only looks: what is in memory is there for the next reader, too.
    #[must_use]
    pub fn again(self) -> Self {
        match self {
            Whereabouts::Frame { frames, format, layout, gather, kinds } => {
                Whereabouts::Frame { frames: frames.again(), format, layout, gather, kinds }
            }
            other => other,
        }
    }

    /// The source of a policy.
    pub fn input(file: &PolicyFile) -> Result<Self> {
        let source = file.policy.need_source()?;
        if is_linked(source) {
            return Ok(Whereabouts::Tables(Box::new(Tables::input(file)?)));
        }
        let path = file.resolve(source.path.as_deref().unwrap_or("-"));
        let document = Self::document(file, path, false);
        let Some(frames) = &file.frames else { return Ok(document) };
        frames.check(source, &file.policy.name)?;
        let (frames, format) = (frames.clone(), format::by_name(source.format.name())?);
        Ok(match document {
            Whereabouts::Document { layout, gather, kinds, .. } => {
                Whereabouts::Frame { frames, format, layout, gather, kinds }
            }
            other => other,
        })
    }

    /// Data of the shape that a policy describes, at a place of its own: private like its source, or a publication.
    pub fn given(file: &PolicyFile, at: &Path, publication: bool) -> Result<Self> {
        match &file.policy.source {
            Some(source) if is_linked(source) => {
                Ok(Whereabouts::Tables(Box::new(Tables::given(file, at, publication)?)))
            }
            _ => Ok(Self::document(file, at.to_owned(), publication)),
        }
    }

    fn document(file: &PolicyFile, path: PathBuf, published: bool) -> Self {
        let source = file.policy.source.as_ref();
        let person = source.filter(|_| !published).map_or(Vec::new(), |s| s.person.clone());
        let kinds = Kinds::of(&file.policy);
        let plain = kinds.plain(&file.policy.attributes);
        let gathered = plain.as_slice();
        let single = if person.is_empty() { Vec::new() } else { gather::in_document(gathered) };
        let attributes = if person.is_empty() { gathered } else { &single };
        let layout = Layout {
            record: source.and_then(|s| s.record.clone()),
            separator: source.and_then(|s| s.separator.clone()),
            outline: Outline::expected(attributes),
            homes: Box::new(Homes::expected(attributes)),
            beside: if published { certificate_files(&file.policy).to_vec() } else { Vec::new() },
            ..Layout::default()
        };
        let format = source.map(|s| s.format.name());
        let gather = Gather { person, attributes: gathered.to_vec() };
        let gather = (!gather.person.is_empty()).then(|| Box::new(gather));
        let (layout, kinds) = (Box::new(layout), Box::new(kinds));
        Whereabouts::Document { path, format, layout, published, gather, kinds }
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        match self {
            Whereabouts::Document { path, .. } => path.display().to_string(),
            Whereabouts::Tables(tables) => tables.name(),
            Whereabouts::Frame { frames, .. } => frames.names().pop().unwrap_or_default(),
        }
    }

    /// The files that hold it.
    pub fn paths(&self) -> Vec<PathBuf> {
        match self {
            Whereabouts::Document { path, .. } => {
                let mut paths = document_files(path).unwrap_or_default();
                paths.insert(0, path.clone());
                paths
            }
            Whereabouts::Tables(tables) => tables.paths(),
            Whereabouts::Frame { .. } => Vec::new(),
        }
    }

    /// Reads all records, or says everything that is wrong with them.
    pub fn open(self, observer: &dyn Observer) -> Result<Opened> {
        match self {
            Whereabouts::Tables(tables) => {
                let (data, form) = tables.read(observer)?;
                let warnings = form.warnings.clone();
                let form = SourceForm::Tables(Box::new(form));
                Ok(Opened { data, form, warnings, written: Some(Written::Tables) })
            }
            Whereabouts::Document { path, format, layout, published: true, kinds, .. } if path.is_dir() => {
                let loaded = parts::open(&path, format, &layout, observer)?;
                let written = form::parts_in(&path, loaded.format.name(), &layout.beside)?;
                let opened = arranged(loaded, None, &kinds, &path.display().to_string(), observer)?;
                Ok(Opened { written: Some(Written::Parts(written)), ..opened })
            }
            Whereabouts::Document { path, format, layout, published: true, gather, kinds } => {
                let (input, there) = form::kept(&path)?;
                let loaded = format::read_observed(input.published(), format, &layout, observer)?;
                let opened = arranged(loaded, gather, &kinds, &path.display().to_string(), observer)?;
                Ok(Opened { written: Some(Written::Document(Box::new((there, *kinds)))), ..opened })
            }
            Whereabouts::Document { path, format, layout, gather, kinds, .. } => {
                let input = Input::open_records(&path)?;
                let loaded = format::read_observed(input, format, &layout, observer)?;
                arranged(loaded, gather, &kinds, &path.display().to_string(), observer)
            }
            Whereabouts::Frame { frames, format, layout, gather, kinds } => {
                let Frame { name, data, columns, .. } = frames.take()?;
                let layout = Layout { columns: Box::new(columns), ..*layout };
                let loaded = Loaded { data, format, layout, warnings: Vec::new() };
                arranged(loaded, gather, &kinds, &name, observer)
            }
        }
    }
}

/// What was read, with the documents of one person gathered and kinds told apart.
fn arranged(
    mut loaded: Loaded,
    gather: Option<Box<Gather>>,
    kinds: &Kinds,
    name: &str,
    observer: &dyn Observer,
) -> Result<Opened> {
    if let Some(Gather { person, attributes }) = gather.map(|g| *g) {
        loaded.data = gather::gather(&loaded.data, &person, name, observer)?;
        loaded.layout = gather::layout(loaded.layout, &attributes);
    }
    loaded.data = kinds.split(loaded.data, name)?;
    Ok(loaded.into())
}
