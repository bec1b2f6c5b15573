//! What Python asks for, as requests to `bosket-app`, and what comes back: texts of JSON, which Python takes apart.

use std::path::{Path, PathBuf};

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::attack::AttackRequest;
use bosket_app::export::{About, ExportRequest, Form};
use bosket_app::inspect::InspectRequest;
use bosket_app::measure::MeasureRequest;
use bosket_app::report::ReportRequest;
use bosket_app::sweep::{SweepRequest, SweepRow};
use bosket_app::verify::VerifyRequest;
use bosket_app::{Reading, Warned};
use bosket_report::html::brief;
use bosket_verify::Claim;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::warn;
use crate::given::{PolicyGiven, Source, SourceGiven, Told, load, policy_at, policy_of, settings};
use crate::watch::watched;

/// How to read data that no policy describes: format, record, separator, foreign keys, a standard.
type ReadingGiven = (Option<String>, Option<String>, Option<String>, Vec<String>, Option<String>);

/// Who attacks: numbers of values and of relations, most steps, how many people.
type Strengths = (Option<Vec<u32>>, Option<Vec<u32>>, Option<u64>, Option<usize>);

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
    reading: ReadingGiven,
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
            risk: false,
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
            let claim = release.claim();
            json!({
                "release": release.to_json(),
                "path": release.target,
                "certificate": release.certificate,
                "sentence": claim.map(Claim::sentence),
                "sentences": claim.map(Claim::sentences),
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
    key: Option<String>,
    foreign: bool,
    told: Told,
) -> PyResult<String> {
    let done = watched(py, told.3.as_ref(), |observer| {
        let policy = policy.map(|policy| policy_of(policy, &publication)).transpose()?;
        let request = VerifyRequest {
            publication,
            policy,
            certificate,
            key,
            foreign,
            settings: settings(&told),
            ..VerifyRequest::default()
        };
        let found = bosket_app::verify(&request, observer)?;
        Ok(with(found, |found| {
            let verification = found.verification.as_ref();
            let claim = verification.and_then(|v| v.claim.as_ref());
            let witness = verification.and_then(|v| v.witness());
            json!({
                "found": found.to_json(),
                "holds": found.holds(),
                "sentence": claim.map(Claim::sentence),
                "sentences": claim.map(Claim::sentences),
                "witness": witness.map(|w| w.to_json()),
                "html": brief(verification, None),
            })
        }))
    })?;
    given(py, done)
}

/// Makes metadata for catalogues. What only the publisher knows comes as pairs of a key and a text.
#[pyfunction]
pub fn export(
    py: Python<'_>,
    publication: PathBuf,
    certificate: PathBuf,
    form: String,
    about: Vec<(String, String)>,
    told: Told,
) -> PyResult<String> {
    let done = watched(py, told.3.as_ref(), |observer| {
        let said = |key: &str| about.iter().find(|(name, _)| name == key).map(|(_, text)| text.clone());
        let request = ExportRequest {
            publication,
            certificate,
            form: if form == "dcat" { Form::Dcat } else { Form::Croissant },
            about: About {
                name: said("name"),
                description: said("description"),
                license: said("license"),
                url: said("url"),
                creator: said("creator"),
                date: said("date"),
            },
            settings: settings(&told),
            ..ExportRequest::default()
        };
        Ok(with(bosket_app::export(&request, observer)?, |made| made))
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
    strengths: Strengths,
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
