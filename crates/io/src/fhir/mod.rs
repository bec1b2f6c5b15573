//! FHIR: bundles of one patient each, a bundle per line or per file, in JSON or XML; or a resource per line, in a file per
//! type.
//!
//! A bundle is a graph that is meant to be a tree: a Patient with Encounters, which have Conditions, Procedures,
//! MedicationRequests and Immunizations, each of which says by references where it belongs. It is read in two passes, the
//! first of which finds out what there is and what refers to what. Written, the resources get surrogate ids, numbered
//! in the order of what is published, and references to these.

mod bulk;
mod bundle;
mod entry;
mod extension;
mod forms;
mod names;
mod parts;
mod problem;
mod read;
mod recognise;
mod resource;
mod template;
mod write;
mod xml;

use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::{Dataset, Result};

use crate::format::{Format, Layout};
use crate::input::Input;

pub use forms::Forms;
pub use names::Version;
pub use recognise::{Exchange, recognise};

/// Bundles of an edition of FHIR.
#[derive(Debug)]
pub struct Fhir(pub Version);

impl Format for Fhir {
    fn name(&self) -> &'static str {
        match self.0 {
            Version::R4 => "fhir-r4",
            Version::Stu3 => "fhir-stu3",
        }
    }

    /// None: such files are JSON by name, and only who has them knows the edition.
    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn reads_folders(&self) -> bool {
        true
    }

    fn extensions_in_folders(&self) -> &'static [&'static str] {
        &["json", "ndjson", "jsonl", "xml"]
    }

    fn read(&self, input: &mut Input, layout: &Layout) -> Result<(Dataset, Layout)> {
        let (data, fhir) = read::read(self.0, input, &layout.homes)?;
        Ok((data, Layout { fhir: Box::new(fhir), ..layout.clone() }))
    }

    fn write(
        &self,
        data: &Dataset,
        layout: &Layout,
        out: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<()> {
        write::write(self.0, data, layout, out, observer)
    }
}
