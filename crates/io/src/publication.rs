//! A publication while it is made: begun before the work, hidden, readable again, then put in place or dropped.

mod columns;
mod parts;

pub(crate) use parts::ChunkWriter;

use std::path::{Path, PathBuf};

use bosket_model::observe::Observer;
use bosket_model::policy::Format as PolicyFormat;
use bosket_model::{Dataset, Diagnostic, Failure, Result};

use crate::atomic::Create;
use crate::fingerprint::Certify;
use crate::form::{self, There};
use crate::format::{self, Format, Layout};
use crate::kinds::Kinds;
use crate::output::{Output, finish_certified};
use crate::policy_file::PolicyFile;
use crate::source::{SourceForm, Whereabouts};
use crate::stop::watched;
use crate::tables::Writing;

/// A publication that is not there yet. Dropping it leaves no trace.
#[derive(Debug)]
pub struct Publication {
    name: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Document(Box<Document>),
    Tables(Box<Writing>),
}

#[derive(Debug)]
struct Document {
    /// None after a failure: whatever was written is gone.
    output: Option<Output>,
    written: bool,
    format: &'static dyn Format,
    layout: Layout,
    /// How somebody reads it who has nothing but the policy.
    known: Layout,
    /// Kinds that are put together when it is written.
    kinds: Kinds,
    /// Bytes that sorting took, if it was written from chunks.
    sorting: usize,
    /// Whether it is going to be handed out, so that nothing but its values may say anything.
    has_one_form: bool,
}

/// Where a policy publishes to: a file or folder, or a database.
pub fn target(file: &PolicyFile) -> Result<PathBuf> {
    let publish = file.policy.need_publish()?;
    let place = publish.path.as_deref().map(|p| file.resolve(p));
    Ok(place.unwrap_or_else(|| PathBuf::from(publish.url.as_deref().unwrap_or_default())))
}

/// What messages call a publication of a policy at a place: with the schema, where a server has several.
pub fn name(file: &PolicyFile, at: &Path) -> String {
    let source = file.policy.source.as_ref().filter(|s| s.format == PolicyFormat::Postgres);
    let schema = source.and(file.policy.publish.as_ref()).and_then(|p| p.schema.as_deref());
    let place = at.display();
    schema.map_or_else(|| place.to_string(), |schema| format!("{place}, schema {schema}"))
}

/// What a file is called wherever it lies.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.to_string_lossy(), |n| n.to_string_lossy()).into_owned()
}

impl Publication {
    /// Begins a publication in the place that the policy names and in the form that its input has. The place must be
    /// free unless it is to be replaced.
    pub fn begin(file: &PolicyFile, form: &SourceForm, create: Create) -> Result<Self> {
        let target = target(file)?;
        let kind = match form {
            SourceForm::Document { format, layout } => {
                let known = match Whereabouts::given(file, &target, true)? {
                    Whereabouts::Document { layout, .. } => *layout,
                    _ => Layout::default(),
                };
                let mut publication = Self::document(&target, *format, ((**layout).clone(), known), create)?;
                if let Kind::Document(document) = &mut publication.kind {
                    (document.kinds, document.has_one_form) = (Kinds::of(&file.policy), true);
                }
                return Ok(publication);
            }
            SourceForm::Tables(form) => Kind::Tables(Box::new(Writing::begin(file, form, create)?)),
        };
        Ok(Publication { name: target.display().to_string(), kind })
    }

    /// Begins one document in a place of its own, with the layout that it is written in and the one that is known to
    /// whoever reads it.
    pub(crate) fn document(
        target: &Path,
        format: &'static dyn Format,
        (layout, known): (Layout, Layout),
        create: Create,
    ) -> Result<Self> {
        let output = Some(Output::create_hidden(target, create)?);
        let kinds = Kinds::default();
        let document = Document {
            output,
            written: false,
            format,
            layout,
            known,
            kinds,
            sorting: 0,
            has_one_form: false,
        };
        Ok(Publication { name: target.display().to_string(), kind: Kind::Document(Box::new(document)) })
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes all records, once, to where nobody looks yet. They are ordered by what is written, never by how they came.
    pub fn write(&mut self, data: &Dataset, observer: &dyn Observer) -> Result<()> {
        match &mut self.kind {
            Kind::Document(document) => document.write(data, observer),
            Kind::Tables(writing) => writing.write(data, observer),
        }
    }

    /// Reads what has been written, as a stranger would: the finished bytes, and nothing known but the policy.
    pub fn read_again(&mut self, observer: &dyn Observer) -> Result<Dataset> {
        match &mut self.kind {
            Kind::Document(document) => document.read_again(observer),
            Kind::Tables(writing) => writing.read_again(observer),
        }
    }

    /// Puts the publication in its place, together with other files.
    pub fn finish(self, others: Vec<Output>, observer: &dyn Observer) -> Result<()> {
        self.finish_certified(others, None, observer)
    }

    /// The same, together with the certificate that is made of its fingerprints.
    pub fn finish_certified(
        self,
        mut others: Vec<Output>,
        certify: Certify<'_>,
        observer: &dyn Observer,
    ) -> Result<()> {
        match self.kind {
            Kind::Document(document) => {
                let output = document.output.ok_or_else(unwritten)?;
                let name = name_of(Path::new(&self.name));
                others.insert(0, output.completed()?.completed_as(&certify, &name, observer)?);
                finish_certified(others, certify)
            }
            Kind::Tables(writing) => writing.finish_certified(others, certify, observer),
        }
    }
}

impl Document {
    fn write(&mut self, data: &Dataset, observer: &dyn Observer) -> Result<()> {
        if std::mem::replace(&mut self.written, true) {
            return Err(Failure::defect("a publication was written twice"));
        }
        let mut output = self.output.take().ok_or_else(unwritten)?;
        let merged = self.kinds.merge(data)?;
        self.format.write(merged.as_ref().unwrap_or(data), &self.layout, &mut output, observer)?;
        self.output = Some(output.completed()?);
        observer.go_on()
    }

    fn read_again(&mut self, observer: &dyn Observer) -> Result<Dataset> {
        let hidden = self.output.as_mut().ok_or_else(unwritten)?.hidden()?;
        let input = hidden.open(NAME)?.published();
        let stop = input.stop().clone();
        let read = || format::read(input, Some(self.format.name()), &self.known);
        let loaded = watched(observer, &stop, || (), read)?;
        if self.has_one_form {
            let (there, form) = (There::hidden(NAME, hidden), (self.format, &loaded.layout));
            let differs = form::of_document(&there, form, &loaded.data, observer)?;
            differs.map_or(Ok(()), |differs| Err(unlike(&differs)))?;
        }
        self.kinds.split(loaded.data, NAME)
    }
}

/// What messages call a publication that has no name yet.
const NAME: &str = "the publication";

/// What was written reads as something that would be written another way.
fn unlike(differs: &Diagnostic) -> Failure {
    Failure::defect(format!("what was written is not the one form of what is read: {}", differs.message))
}

/// A publication is used after it failed.
fn unwritten() -> Failure {
    Failure::defect("a publication that could not be written was used")
}
