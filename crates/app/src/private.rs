//! What a run writes for nobody but its owner: the mapping, and beside it how records were recoded and from what.

use std::io::Write;
use std::path::PathBuf;

use bosket_io::{Create, Output, PolicyFile, fingerprint, write_failure};
use bosket_model::Result;
use bosket_model::observe::Observer;
use serde_json::{Value, json};

use crate::joint::link::selection;

/// The mapping, and the file beside it.
pub(crate) struct Private {
    mapping: Output,
    beside: Output,
    inputs: Vec<PathBuf>,
    selection: Value,
}

impl Private {
    /// Takes the places of the files, if the policy asks for them; `inputs` is what the run reads.
    pub(crate) fn create(file: &PolicyFile, create: Create, inputs: Vec<PathBuf>) -> Result<Option<Self>> {
        let path = file.policy.publish.as_ref().and_then(|p| p.mapping.as_deref());
        let Some(path) = path.map(|p| file.resolve(p)) else {
            return Ok(None);
        };
        if let Some(folder) = path.parent() {
            bosket_io::make_folder(folder)?;
        }
        let mapping = Output::create(&path, create.clone())?;
        let beside = Output::create(&path.with_extension("json"), create)?;
        Ok(Some(Private { mapping, beside, inputs, selection: selection(&file.policy) }))
    }

    /// Writes both. The hash of the input is told here and nowhere else: a public one would confirm guesses.
    pub(crate) fn write(
        mut self,
        mapping: &str,
        mut beside: Value,
        observer: &dyn Observer,
    ) -> Result<[Output; 2]> {
        let mut inputs = Vec::new();
        for path in self.inputs.iter().filter(|path| path.is_file()) {
            inputs.push(
                json!({"path": path.display().to_string(), "sha256": fingerprint::of_file(path, observer)?}),
            );
        }
        beside["input"] = Value::Array(inputs);
        if !self.selection.is_null() {
            // Records are numbered among those who were selected.
            beside["selection"] = self.selection;
        }
        self.mapping.write_all(mapping.as_bytes()).map_err(write_failure)?;
        self.beside.write_all(format!("{beside:#}\n").as_bytes()).map_err(write_failure)?;
        Ok([self.mapping, self.beside])
    }
}
