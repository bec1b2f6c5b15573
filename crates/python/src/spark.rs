//! What the tasks of a cluster do: bytes and batches in, bytes out. Every function depends on its arguments alone, so that
//! a task that is tried again gives the same; merging and judging is the core's.

use std::path::PathBuf;

use bosket_app::parted::{self, PartsState, PartsVerdict};
use bosket_io::parquet::parts::PartSheet;
use bosket_io::{Create, Frame, Output, PolicyFile, write_failure};
use bosket_model::observe::Observer;
use bosket_model::{Dataset, Result};
use bosket_report::html::brief;
use bosket_verify::{Claim, Verification};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::frames::{Handed, coded};
use crate::given::{PolicyGiven, handed, load};
use crate::watch::watched;

/// The policy as every task gets it: the data stands in frames, and nothing is written but the folder that is named.
#[pyfunction]
pub fn spark_policy(
    py: Python<'_>,
    policy: PolicyGiven,
    folder: Option<PathBuf>,
) -> PyResult<(PathBuf, String, Vec<String>, Option<PathBuf>)> {
    watched(py, None, |_| {
        let file = load(&policy)?;
        let published = folder.or_else(|| bosket_io::publication::target(&file).ok());
        let (path, text, mut sets) = policy;
        let text = text.map_or_else(|| bosket_io::read_text(&path), Ok)?;
        sets.extend(["source.format=parquet".to_owned(), "source.path=frame".to_owned()]);
        if let Some(folder) = &published {
            let name = folder.file_name().map_or_else(|| "published".into(), |name| name.to_string_lossy());
            sets.push(format!("publish.path={name}"));
        }
        let publish = file.policy.publish.as_ref();
        for (key, named) in [
            ("mapping", publish.is_some_and(|p| p.mapping.is_some())),
            ("report", publish.is_some_and(|p| p.report.is_some())),
            ("certificate", publish.is_some_and(|p| p.certificate.is_some())),
        ] {
            if named {
                sets.push(format!("publish.{key}="));
            }
        }
        parted::refuse_unfit(&PolicyFile::parse(&path, &text, &sets)?.policy)?;
        Ok((path, text, sets, published))
    })
}

fn frame(handed: Handed, memory: usize, observer: &dyn Observer) -> Result<(Dataset, bosket_io::parquet::Columns)> {
    let Frame { data, columns, .. } = coded(handed, true, memory, observer)?;
    Ok((data, columns))
}

fn bytes<'py>(py: Python<'py>, state: &[u8]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, state)
}

/// Judges a part of a publication from its bytes.
#[pyfunction]
pub fn spark_judge_part<'py>(
    py: Python<'py>,
    policy: PolicyGiven,
    folder: PathBuf,
    number: u32,
    memory: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let state = watched(py, None, |observer| {
        Ok(PartsState::of_part(&load(&policy)?, &folder, number, memory, observer)?.to_bytes())
    })?;
    Ok(bytes(py, &state))
}

/// Judges rows that are to be published.
#[pyfunction]
pub fn spark_judge_rows<'py>(
    py: Python<'py>,
    policy: PolicyGiven,
    rows: Bound<'py, PyAny>,
    number: u32,
    memory: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = handed("frame".to_owned(), &rows)?;
    let state = watched(py, None, |observer| {
        let (data, _) = frame(rows, memory, observer)?;
        Ok(PartsState::of_rows(&load(&policy)?, &data, number, memory, observer)?.to_bytes())
    })?;
    Ok(bytes(py, &state))
}

/// Merges what was found out about parts.
#[pyfunction]
pub fn spark_merge_judged<'py>(
    py: Python<'py>,
    policy: PolicyGiven,
    states: Vec<Vec<u8>>,
    memory: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let state = watched(py, None, |observer| {
        let file = load(&policy)?;
        let mut all = PartsState::default();
        for state in &states {
            all = all.merge(PartsState::from_bytes(state)?, &file, memory, observer)?;
        }
        Ok(all.to_bytes())
    })?;
    Ok(bytes(py, &state))
}

fn told(verification: &Verification) -> Value {
    let claim = verification.claim.as_ref().map(Claim::sentence);
    json!({
        "found": verification.to_json(),
        "holds": verification.holds(),
        "sentence": claim,
        "witness": verification.witness.as_ref().map(|w| w.to_json()),
        "html": brief(Some(verification), None),
        "records": verification.records,
    })
}

/// The verdict on the parts of a folder, or on rows; with figures of a run that holds, the certificate, too.
#[pyfunction]
pub fn spark_verdict(
    py: Python<'_>,
    policy: PolicyGiven,
    folder: Option<PathBuf>,
    state: Vec<u8>,
    figures: Option<String>,
    memory: usize,
) -> PyResult<(String, Option<String>)> {
    watched(py, None, |observer| {
        let (file, state) = (load(&policy)?, PartsState::from_bytes(&state)?);
        let Some(folder) = folder else {
            let verification = state.finish_rows(&file, memory, observer)?;
            return Ok((told(&verification).to_string(), None));
        };
        let kept = state.kept();
        let verdict: PartsVerdict = state.finish(&file, &folder, memory, observer)?;
        let mut found = told(&verdict.verification);
        found["files"] = verdict.files.iter().map(|f| json!({"name": f.name, "sha256": f.sha256})).collect();
        found["kernel"] = json!(kept.0);
        let certificate = match figures.filter(|_| verdict.verification.holds()) {
            None => None,
            Some(figures) => {
                let figures: Value = serde_json::from_str(&figures).unwrap_or_default();
                let said = (figures["loss"].clone(), figures["suppressed"].clone());
                Some(parted::certify(&file, &verdict, said, observer)?.to_text())
            }
        };
        Ok((found.to_string(), certificate))
    })
}

/// Writes a part of a publication: the texts of its records, in their order.
#[pyfunction]
pub fn spark_write_part(
    py: Python<'_>,
    path: PathBuf,
    sheet: Vec<u8>,
    spelled: Vec<String>,
    texts: Vec<Vec<u8>>,
) -> PyResult<()> {
    watched(py, None, |observer| {
        let mut sheet = PartSheet::from_bytes(&sheet)?;
        sheet.spell(&spelled);
        let output = Output::create(&path, Create { force: true, ..Create::default() })?;
        let mut rows = sheet.begin(output)?;
        for text in &texts {
            observer.go_on()?;
            rows.record(text)?;
        }
        let mut output = rows.finish()?;
        std::io::Write::flush(&mut output).map_err(write_failure)?;
        output.finish()
    })
}
