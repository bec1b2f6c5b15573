//! Publications as frames, and frames as publications.

use std::path::{Path, PathBuf};

use bosket_app::convert::ConvertRequest;
use bosket_io::parquet::Parquet;
use bosket_io::{
    Create, Format, Frame, Input, Layout, Opened, Output, SourceForm, Whereabouts, by_extension, by_name,
};
use bosket_model::observe::{Observer, Quiet};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::arrays::batch;
use crate::calls::{PolicyGiven, handed, load, settings};
use crate::frames::{Handed, coded};
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
        SourceForm::Document { layout, .. } => Ok((data, layout)),
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

/// Writes published frames to where they can be verified: one to a file, several to the files of a folder, in the policy's
/// format.
#[pyfunction]
pub fn write(
    py: Python<'_>,
    policy: Option<PolicyGiven>,
    frames: Vec<(String, Bound<'_, PyAny>)>,
    path: PathBuf,
) -> PyResult<PathBuf> {
    let frames = frames.into_iter().map(|(name, frame)| handed(name, &frame));
    let frames = frames.collect::<PyResult<Vec<Handed>>>()?;
    watched(py, None, |observer| {
        let file = policy.as_ref().map(load).transpose()?;
        let source = file.as_ref().and_then(|f| f.policy.source.as_ref());
        let format = match source {
            Some(source) => by_name(source.format.name())?,
            None => &Parquet,
        };
        if !matches!(format.name(), "parquet" | "csv" | "json" | "ndjson") {
            let what = format!("a frame cannot stand for a publication in the format \"{}\"", format.name());
            let help = "verify the file that was written";
            return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)));
        }
        let file_of = |name: &str| {
            let table = source.and_then(|s| s.tables.iter().find(|t| t.name == name));
            let path = table.and_then(|t| t.path.as_deref()).and_then(|p| Path::new(p).file_name());
            path.map_or_else(|| format!("{name}.{}", format.name()), |p| p.to_string_lossy().into_owned())
        };
        let [one] = frames.as_slice() else {
            bosket_io::make_folder(&path)?;
            for frame in frames {
                let to = path.join(file_of(&frame.name));
                write_one(frame, format, &Layout::default(), &to, observer)?;
            }
            return Ok(path);
        };
        let linked = !one.name.is_empty();
        let layout = match file.as_ref().filter(|_| !linked).map(|f| Whereabouts::given(f, &path, true)) {
            Some(Ok(Whereabouts::Document { layout, .. })) => *layout,
            _ => Layout::default(),
        };
        let to = path.with_extension(format.name());
        for frame in frames {
            write_one(frame, format, &layout, &to, observer)?;
        }
        Ok(to)
    })
}

fn write_one(
    handed: Handed,
    format: &'static dyn Format,
    layout: &Layout,
    to: &Path,
    observer: &dyn Observer,
) -> Result<()> {
    let Frame { data, columns, .. } = coded(handed, format.has_types(), observer)?;
    let layout = Layout { columns: Box::new(columns), ..layout.clone() };
    let mut output = Output::create(to, Create::default())?;
    format.write(&data, &layout, &mut output, &Quiet)?;
    output.finish()
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
