//! What Python asks for, as requests to `bosket-app`, and what comes back: texts of JSON, which Python takes apart.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::attack::AttackRequest;
use bosket_app::inspect::InspectRequest;
use bosket_app::measure::MeasureRequest;
use bosket_app::report::ReportRequest;
use bosket_app::sweep::{SweepRequest, SweepRow};
use bosket_app::verify::VerifyRequest;
use bosket_app::{PolicyAt, Reading, Settings, Warned};
use bosket_io::{Frames, PolicyFile};
use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use bosket_report::certificate::Form;
use bosket_report::html::brief;
use bosket_verify::Claim;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;
use serde_json::{Value, json};

use crate::errors::{raised, warn};
use crate::frames::{Handed, coded};
use crate::watch::watched;

/// A policy: where it lies or would, what it says if it lies nowhere, and what overrides it.
pub(crate) type PolicyGiven = (PathBuf, Option<String>, Vec<String>);

/// Data: a path, or frames by name, and whether these are linked.
type SourceGiven<'py> = (Option<PathBuf>, Vec<(String, Bound<'py, PyAny>)>, bool);

/// What every call can be told: threads, memory, whether values may be shown, and what shows progress.
type Told = (Option<usize>, Option<usize>, bool, Option<Py<PyAny>>);

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
    fn new((path, frames, linked): SourceGiven<'_>) -> PyResult<Self> {
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
    fn frames(self, typed: bool, memory: usize, observer: &dyn Observer) -> Result<Option<Frames>> {
        Ok(match self {
            Source::Path(_) => None,
            Source::One(frame) => Some(Frames::one(coded(frame, typed, memory, observer)?)),
            Source::Linked(frames) => {
                let coded = frames.into_iter().map(|frame| coded(frame, typed, memory, observer));
                Some(Frames::linked(coded.collect::<Result<_>>()?))
            }
        })
    }

    fn path(&self) -> Option<&Path> {
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
fn policy_of(given: PolicyGiven, publication: &Path) -> Result<PolicyAt> {
    let sourceless = load(&given)?.policy.source.is_none();
    let (path, text, mut sets) = given;
    if let Some(format) = bosket_io::by_extension(publication).filter(|_| sourceless) {
        sets.push(format!("source.format={}", format.name()));
        sets.push("source.path=frame".to_owned());
    }
    Ok(PolicyAt { path, sets, text, frames: None })
}

/// Hands a result over, and its warnings to Python.
fn given(py: Python<'_>, result: Warned<Value>) -> PyResult<String> {
    warn(py, &result.warnings)?;
    Ok(result.value.to_string())
}

fn with<T>(result: Warned<T>, value: impl FnOnce(T) -> Value) -> Warned<Value> {
    Warned { value: value(result.value), warnings: result.warnings }
}

/// Looks at data that no policy describes; the draft of a policy goes into a folder.
#[pyfunction]
pub fn inspect(
    py: Python<'_>,
    source: SourceGiven<'_>,
    folder: PathBuf,
    reading: (Option<String>, Option<String>, Option<String>, Vec<String>, Option<String>),
    told: Told,
) -> PyResult<String> {
    let source = Source::new(source)?;
    let (format, record, separator, parent, preset) = reading;
    let draft = folder.join("policy.toml");
    let done = watched(py, told.3.as_ref(), |observer| {
        let data = source.path().map_or_else(|| PathBuf::from("frame.parquet"), Path::to_owned);
        let request = InspectRequest {
            data,
            frames: source.frames(true, settings(&told).memory(), observer)?,
            reading: Reading { format, record, separator },
            parent,
            preset,
            draft: Some(draft.clone()),
            force: true,
            settings: settings(&told),
        };
        let found = bosket_app::inspect(&request, observer)?;
        let policy = bosket_io::read_text(&draft)?;
        Ok(with(found, |found| json!({"found": found.to_json(), "policy": policy})))
    })?;
    given(py, done)
}

/// Checks a policy, and the data with it if there is some, as a run would.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    policy: PolicyGiven,
    source: Option<SourceGiven<'_>>,
    folder: PathBuf,
    key: Option<PathBuf>,
    told: Told,
) -> PyResult<String> {
    let source = source.map(Source::new).transpose()?;
    let done = watched(py, told.3.as_ref(), |observer| {
        if source.is_none() {
            let file = load(&policy)?;
            bosket_app::prepare::check_policy(&file)?;
            return Ok(Warned { value: json!({}), warnings: file.warnings });
        }
        let policy = policy_at(&policy, source, Some(&folder), &settings(&told), observer)?;
        let request =
            AnonymizeRequest { policy, key, settings: settings(&told), ..AnonymizeRequest::default() };
        Ok(with(bosket_app::prepare(&request, observer)?, |prepared| prepared.to_json()))
    })?;
    given(py, done)
}

/// Makes a publication in a folder.
#[pyfunction]
pub fn anonymize(
    py: Python<'_>,
    policy: PolicyGiven,
    source: SourceGiven<'_>,
    folder: PathBuf,
    key: Option<PathBuf>,
    measure: bool,
    told: Told,
) -> PyResult<String> {
    let source = Source::new(source)?;
    let done = watched(py, told.3.as_ref(), |observer| {
        let policy = policy_at(&policy, Some(source), Some(&folder), &settings(&told), observer)?;
        let request = AnonymizeRequest {
            policy,
            key,
            measure,
            settings: settings(&told),
            ..AnonymizeRequest::default()
        };
        let done = bosket_app::anonymize(&request, observer)?;
        Ok(with(done, |release| {
            let sentence = release.claim().map(Claim::sentence);
            json!({
                "release": release.to_json(),
                "path": release.target,
                "certificate": release.certificate,
                "sentence": sentence,
                "html": brief(release.verification.as_ref(), Some(&release.kept)),
            })
        }))
    })?;
    given(py, done)
}

/// Checks a publication.
#[pyfunction]
pub fn verify(
    py: Python<'_>,
    publication: PathBuf,
    policy: Option<PolicyGiven>,
    certificate: Option<PathBuf>,
    told: Told,
) -> PyResult<String> {
    let done = watched(py, told.3.as_ref(), |observer| {
        let policy = policy.map(|policy| policy_of(policy, &publication)).transpose()?;
        let request = VerifyRequest {
            publication,
            policy,
            certificate,
            settings: settings(&told),
            ..VerifyRequest::default()
        };
        let found = bosket_app::verify(&request, observer)?;
        Ok(with(found, |found| {
            let verification = found.verification.as_ref();
            let claim = verification.and_then(|v| v.claim.as_ref()).map(Claim::sentence);
            let witness = verification.and_then(|v| v.witness.as_ref());
            json!({
                "found": found.to_json(),
                "holds": found.holds(),
                "sentence": claim,
                "witness": witness.map(|w| w.to_json()),
                "html": brief(verification, None),
            })
        }))
    })?;
    given(py, done)
}

/// Says whom somebody finds who knows a few values.
#[pyfunction]
pub fn attack(
    py: Python<'_>,
    policy: PolicyGiven,
    source: SourceGiven<'_>,
    publication: Option<PathBuf>,
    strengths: (Option<Vec<u32>>, Option<Vec<u32>>, Option<u64>, Option<usize>),
    told: Told,
) -> PyResult<String> {
    let source = Source::new(source)?;
    let (m, n, budget, sample) = strengths;
    let done = watched(py, told.3.as_ref(), |observer| {
        let mut policy = policy_at(&policy, Some(source), None, &settings(&told), observer)?;
        if publication.is_none() {
            // What the policy published earlier is not what was asked for.
            policy.sets.push("publish.path=".to_owned());
        }
        let request = AttackRequest {
            policy,
            publication,
            m,
            n,
            budget,
            sample,
            settings: settings(&told),
            ..AttackRequest::default()
        };
        let show = request.settings.show_values;
        Ok(with(bosket_app::attack(&request, observer)?, |found| found.to_json(show)))
    })?;
    given(py, done)
}

/// Says what a publication lost.
#[pyfunction]
pub fn measure(
    py: Python<'_>,
    policy: PolicyGiven,
    source: SourceGiven<'_>,
    publication: PathBuf,
    told: Told,
) -> PyResult<String> {
    let source = Source::new(source)?;
    let done = watched(py, told.3.as_ref(), |observer| {
        let input = source.path().map(Path::to_owned).unwrap_or_default();
        let policy = policy_at(&policy, Some(source), None, &settings(&told), observer)?;
        let request = MeasureRequest {
            input,
            publication,
            policy,
            settings: settings(&told),
            ..MeasureRequest::default()
        };
        Ok(with(bosket_app::measure(&request, observer)?, |loss| loss.to_json()))
    })?;
    given(py, done)
}

/// Tries several guarantees.
#[pyfunction]
pub fn sweep(
    py: Python<'_>,
    policy: PolicyGiven,
    source: SourceGiven<'_>,
    lists: Vec<(String, Vec<String>)>,
    mining: bool,
    told: Told,
) -> PyResult<String> {
    let source = Source::new(source)?;
    let done = watched(py, told.3.as_ref(), |observer| {
        let policy = policy_at(&policy, Some(source), None, &settings(&told), observer)?;
        let request =
            SweepRequest { policy, lists, mining, settings: settings(&told), ..SweepRequest::default() };
        let done = bosket_app::sweep(&request, observer)?;
        Ok(with(done, |rows| rows.iter().map(SweepRow::to_json).collect()))
    })?;
    given(py, done)
}

/// Writes the report on a publication.
#[pyfunction]
pub fn report(
    py: Python<'_>,
    policy: PolicyGiven,
    source: SourceGiven<'_>,
    publication: PathBuf,
    certificate: Option<PathBuf>,
    out: (PathBuf, bool, bool),
    told: Told,
) -> PyResult<String> {
    let source = Source::new(source)?;
    let (out, internal, force) = out;
    let done = watched(py, told.3.as_ref(), |observer| {
        let policy = policy_at(&policy, Some(source), publication.parent(), &settings(&told), observer)?;
        let request = ReportRequest {
            policy,
            publication: Some(publication),
            certificate,
            out: Some(out),
            internal,
            force,
            settings: settings(&told),
            ..ReportRequest::default()
        };
        Ok(with(bosket_app::report(&request, observer)?, |done| json!({"holds": done.holds()})))
    })?;
    given(py, done)
}
