//! What Python hands over: policies, data, settings.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use bosket_app::{PolicyAt, Settings};
use bosket_io::{Frames, PolicyFile};
use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use bosket_report::certificate::Form;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;

use crate::errors::raised;
use crate::frames::{Handed, coded};

/// A policy: where it lies or would, what it says if it lies nowhere, and what overrides it.
pub(crate) type PolicyGiven = (PathBuf, Option<String>, Vec<String>);

/// Data: a path, or frames by name, and whether these are linked.
pub(crate) type SourceGiven<'py> = (Option<PathBuf>, Vec<(String, Bound<'py, PyAny>)>, bool);

/// What every call can be told: threads, memory, whether values may be shown, and what shows progress.
pub(crate) type Told = (Option<usize>, Option<usize>, bool, Option<Py<PyAny>>);

pub(crate) fn settings(told: &Told) -> Settings {
    Settings {
        threads: told.0.and_then(NonZeroUsize::new),
        memory: told.1,
        show_values: told.2,
        ..Settings::default()
    }
}

/// Data that was handed over and is not read yet.
pub(crate) enum Source {
    Path(PathBuf),
    One(Handed),
    Linked(Vec<Handed>),
}

/// Takes frames from Python.
pub(crate) fn handed(name: String, frame: &Bound<'_, PyAny>) -> PyResult<Handed> {
    let unreadable = |_| {
        let what = Diagnostic::error(
            "this is no frame that can be read as Arrow, or it has a type that Arrow lacks",
        );
        let help =
            "hand over a frame of pandas, polars, pyarrow or duckdb, and convert its columns to plain types";
        raised(frame.py(), &Failure::new(Fault::Data, what.at(Place::source(&name)).help(help)))
    };
    let batches: AnyRecordBatch = frame.extract().map_err(unreadable)?;
    let reader = batches.into_reader().map_err(unreadable)?;
    Ok(Handed { name, reader })
}

impl Source {
    pub(crate) fn new((path, frames, linked): SourceGiven<'_>) -> PyResult<Self> {
        if let Some(path) = path {
            return Ok(Source::Path(path));
        }
        let frames = frames.into_iter().map(|(name, frame)| handed(name, &frame));
        let mut frames = frames.collect::<PyResult<Vec<Handed>>>()?;
        Ok(match (linked, frames.pop()) {
            (false, Some(frame)) => Source::One(frame),
            (_, last) => Source::Linked(frames.into_iter().chain(last).collect()),
        })
    }

    /// The frames, coded; none of a path.
    pub(crate) fn frames(
        self,
        typed: bool,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Option<Frames>> {
        Ok(match self {
            Source::Path(_) => None,
            Source::One(frame) => Some(Frames::one(coded(frame, typed, memory, observer)?)),
            Source::Linked(frames) => {
                let coded = frames.into_iter().map(|frame| coded(frame, typed, memory, observer));
                Some(Frames::linked(coded.collect::<Result<_>>()?))
            }
        })
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Source::Path(path) => Some(path),
            _ => None,
        }
    }
}

pub(crate) fn load((path, text, sets): &PolicyGiven) -> Result<PolicyFile> {
    match text {
        Some(text) => PolicyFile::parse(path, text, sets),
        None => PolicyFile::load(path, sets),
    }
}

/// A policy with the data that it is about to be used on. With a folder, it publishes there and nowhere else.
pub(crate) fn policy_at(
    given: &PolicyGiven,
    source: Option<Source>,
    folder: Option<&Path>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<PolicyAt> {
    let file = load(given)?;
    let (path, text, sets) = given.clone();
    let mut at = PolicyAt { path, sets, text, frames: None };
    let named = file.policy.source.as_ref();
    let mut format = named.map(|s| s.format);
    match source.as_ref().map(Source::path) {
        None => {}
        Some(Some(path)) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            if named.is_none() {
                let found = bosket_io::by_extension(&path).and_then(|f| Format::from_name(f.name()));
                format = found;
                at.sets.push(format!("source.format={}", found.map_or("", Format::name)));
            }
            at.sets.push(format!("source.path={}", path.display()));
        }
        Some(None) => {
            if named.is_none() {
                format = Some(Format::Parquet);
                at.sets.push(format!("source.format={}", Format::Parquet));
            }
            if named.is_none_or(|s| s.path.is_none() && s.tables.is_empty()) {
                at.sets.push("source.path=frame".to_owned());
            }
        }
    }
    if let Some(folder) = folder {
        let file = load(&(at.path.clone(), at.text.clone(), at.sets.clone()))?;
        let publish = file.policy.publish.as_ref();
        let own = publish.and_then(|p| p.path.as_deref()).and_then(|p| Path::new(p).file_name());
        let ending = format.map_or("parquet", Format::name);
        let usual = match Form::of(&file.policy) {
            Form::Folder => "published".to_owned(),
            _ => format!("published.{ending}"),
        };
        let name = own.map_or(usual, |own| own.to_string_lossy().into_owned());
        at.sets.push(format!("publish.path={}", folder.join(name).display()));
        let xsd = publish.and_then(|p| p.schema.as_deref()).filter(|_| format == Some(Format::Xml));
        if let Some(name) = xsd.and_then(|path| Path::new(path).file_name()) {
            at.sets.push(format!("publish.schema={}", folder.join(name).display()));
        }
        // Nothing is written that nobody asked this call for.
        for (key, named) in [
            ("mapping", publish.is_some_and(|p| p.mapping.is_some())),
            ("report", publish.is_some_and(|p| p.report.is_some())),
            ("certificate", publish.is_some_and(|p| p.certificate.is_some())),
        ] {
            if named {
                at.sets.push(format!("publish.{key}="));
            }
        }
    }
    // Tables of text have no types.
    if let Some(source) = source {
        at.frames = source.frames(format != Some(Format::Csv), settings.memory(), observer)?;
    }
    Ok(at)
}

/// A policy as it states the claim of a publication; for frames it may have been written without a source.
pub(crate) fn policy_of(given: PolicyGiven, publication: &Path) -> Result<PolicyAt> {
    let sourceless = load(&given)?.policy.source.is_none();
    let (path, text, mut sets) = given;
    if let Some(format) = bosket_io::by_extension(publication).filter(|_| sourceless) {
        sets.push(format!("source.format={}", format.name()));
        sets.push("source.path=frame".to_owned());
    }
    Ok(PolicyAt { path, sets, text, frames: None })
}
