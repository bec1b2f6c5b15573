//! Publications as frames, and frames as publications.

use std::path::{Path, PathBuf};

use bosket_app::convert::ConvertRequest;
use bosket_io::parquet::Parquet;
use bosket_io::{
    Create, Frame, Input, Layout, Opened, Output, SourceForm, Whereabouts, by_extension, by_name,
};
use bosket_model::observe::Observer;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};
use bosket_report::certificate::Form;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::arrays::batch;
use crate::frames::coded;
use crate::given::{PolicyGiven, handed, load, settings};
use crate::watch::watched;

/// The tables of a publication by name: the files of a folder, or one without a name.
#[pyfunction]
pub fn tables(py: Python<'_>, policy: PolicyGiven, path: PathBuf) -> PyResult<Vec<(String, PyTable)>> {
    let batches = watched(py, None, |observer| {
        if !path.is_dir() {
            let (data, layout) = document(&policy, &path, observer)?;
            return Ok(vec![(String::new(), batch(&data, &layout.columns)?)]);
        }
        let mut found = Vec::new();
        for file in files(&path)? {
            let read = bosket_io::read_observed(
                Input::open(&file)?.published(),
                None,
                &Layout::default(),
                observer,
            )?;
            let name = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            found.push((name, batch(&read.data, &read.layout.columns)?));
        }
        Ok(found)
    })?;
    let table = |(name, batch): (String, arrow_array::RecordBatch)| {
        let schema = batch.schema();
        Ok((name, PyTable::try_new(vec![batch], schema)?))
    };
    batches.into_iter().map(table).collect()
}

/// The records of one file.
fn document(policy: &PolicyGiven, path: &Path, observer: &dyn Observer) -> Result<(Dataset, Layout)> {
    let file = load(policy)?;
    if file.policy.has_two_sides() {
        // Both sides are one document, and groups its records.
        let read =
            bosket_io::read_observed(Input::open(path)?.published(), None, &Layout::default(), observer)?;
        return Ok((read.data, read.layout));
    }
    let Opened { data, form, .. } = Whereabouts::given(&file, path, true)?.open(observer)?;
    match form {
        SourceForm::Document { layout, .. } => Ok((data, *layout)),
        SourceForm::Tables(_) => {
            let what = Diagnostic::error("tables in a database cannot be shown as frames");
            let what = what.at(Place::source(path.display().to_string()));
            Err(Failure::new(Fault::Usage, what.help("write the database and read it with its own tools")))
        }
    }
}

/// The files of a folder that are data, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let name = folder.display().to_string();
    let entries = std::fs::read_dir(folder).map_err(|_| {
        let what = Diagnostic::error("the folder cannot be read").at(Place::source(name));
        Failure::new(Fault::Environment, what)
    })?;
    let is_data = |path: &PathBuf| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        by_extension(path).is_some() && !name.ends_with("certificate.json")
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(is_data).collect();
    found.sort();
    Ok(found)
}

/// Writes a published frame to where it can be verified, in the policy's format; gives the file.
#[pyfunction]
pub fn write(
    py: Python<'_>,
    policy: Option<PolicyGiven>,
    frame: Bound<'_, PyAny>,
    folder: PathBuf,
) -> PyResult<PathBuf> {
    let frame = handed("frame".to_owned(), &frame)?;
    let settings = settings(&(None, None, false, None));
    watched(py, None, |observer| {
        let file = policy.as_ref().map(load).transpose()?;
        let source = file.as_ref().and_then(|f| f.policy.source.as_ref());
        let format = match source {
            Some(source) => by_name(source.format.name())?,
            None => &Parquet,
        };
        let several = file.as_ref().is_some_and(|f| Form::of(&f.policy) != Form::Document);
        if several || !matches!(format.name(), "parquet" | "csv" | "json" | "ndjson") {
            let what = "one frame cannot stand for such a publication";
            let help = "verify the files that were written, by their path";
            return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)));
        }
        let path = folder.join(format!("published.{}", format.name()));
        let layout = match file.as_ref().map(|f| Whereabouts::given(f, &path, true)) {
            Some(Ok(Whereabouts::Document { layout, .. })) => *layout,
            _ => Layout::default(),
        };
        let Frame { data, columns, .. } = coded(frame, format.has_types(), settings.memory(), observer)?;
        let layout = Layout { columns: Box::new(columns), ..layout };
        let mut output = Output::create(&path, Create::default())?;
        format.write(&data, &layout, &mut output, observer)?;
        output.finish()?;
        Ok(path)
    })
}

/// Writes a publication in another format.
#[pyfunction]
pub fn convert(py: Python<'_>, input: PathBuf, output: PathBuf, force: bool) -> PyResult<()> {
    watched(py, None, |observer| {
        let settings = settings(&(None, None, false, None));
        let request = ConvertRequest { input, output, force, settings, ..ConvertRequest::default() };
        bosket_app::convert(&request, observer).map(|_| ())
    })
}
