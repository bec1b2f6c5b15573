//! A publication while it is made: begun before the work, hidden, readable again, then put in place or dropped.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use bosket_model::observe::Observer;
use bosket_model::{Dataset, Result};

use crate::atomic::Create;
use crate::fault;
use crate::fingerprint::Certify;
use crate::format::{self, Format, Layout};
use crate::input::Input;
use crate::output::{Output, finish_certified};
use crate::policy_file::PolicyFile;
use crate::source::SourceForm;
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
    output: Output,
    bytes: Vec<u8>,
    format: &'static dyn Format,
    layout: Layout,
}

/// Where a policy publishes to: a file or folder, or a database.
pub fn target(file: &PolicyFile) -> Result<PathBuf> {
    let publish = file.policy.need_publish()?;
    let place = publish.path.as_deref().map(|p| file.resolve(p));
    Ok(place.unwrap_or_else(|| PathBuf::from(publish.url.as_deref().unwrap_or_default())))
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
                return Self::document(&target, *format, layout.clone(), create);
            }
            SourceForm::Tables(form) => Kind::Tables(Box::new(Writing::begin(file, form, create)?)),
        };
        Ok(Publication { name: target.display().to_string(), kind })
    }

    /// Begins one document in a place of its own.
    pub(crate) fn document(
        target: &Path,
        format: &'static dyn Format,
        layout: Layout,
        create: Create,
    ) -> Result<Self> {
        let output = Output::create(target, create)?;
        let document = Document { output, bytes: Vec::new(), format, layout };
        Ok(Publication { name: target.display().to_string(), kind: Kind::Document(Box::new(document)) })
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes all records to where nobody looks yet. They are ordered by what is written, never by how they came.
    pub fn write(&mut self, data: &Dataset) -> Result<()> {
        match &mut self.kind {
            Kind::Document(document) => {
                document.bytes.clear();
                document.format.write(data, &document.layout, &mut document.bytes)
            }
            Kind::Tables(writing) => writing.write(data),
        }
    }

    /// Reads what has been written, as a stranger would.
    pub fn read_again(&mut self, observer: &dyn Observer) -> Result<Dataset> {
        match &mut self.kind {
            Kind::Document(document) => {
                let input = Input::new("the publication", Cursor::new(document.bytes.clone()), None)?;
                Ok(format::read(input, Some(document.format.name()), &document.layout)?.data)
            }
            Kind::Tables(writing) => writing.read_again(observer),
        }
    }

    /// Puts the publication in its place, together with other files.
    pub fn finish(self, others: Vec<Output>) -> Result<()> {
        self.finish_certified(others, None)
    }

    /// The same, together with the certificate that is made of its fingerprints.
    pub fn finish_certified(self, mut others: Vec<Output>, certify: Certify<'_>) -> Result<()> {
        match self.kind {
            Kind::Document(document) => {
                let Document { output, bytes, .. } = *document;
                let mut output = output.published_if(&certify, &name_of(Path::new(&self.name)));
                output.write_all(&bytes).map_err(fault::from_write)?;
                others.insert(0, output);
                finish_certified(others, certify)
            }
            Kind::Tables(writing) => writing.finish_certified(others, certify),
        }
    }
}
