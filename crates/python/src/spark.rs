//! What the tasks of a cluster do: bytes and batches in, bytes out. Every function depends on its arguments alone, so that
//! a task that is tried again gives the same; merging and judging is the core's.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bosket_app::parted::cells::{self, Facts};
use bosket_app::parted::plan::{self, Found, Frequencies, Kernel, Plan};
use bosket_app::parted::shape::Shape;
use bosket_app::parted::{self, PartsState, PartsVerdict, Work, sides};
use bosket_app::{Census, Warned};
use bosket_io::parquet::Columns;
use bosket_io::parquet::parts::PartSheet;
use bosket_io::{Create, Frame, Output, PolicyFile, write_failure};
use bosket_model::observe::Observer;
use bosket_model::partition::bytes::damaged;
use bosket_model::{Dataset, Failure, Result};
use bosket_report::html::brief;
use bosket_verify::recount::parts::{Drawn, Tallied};
use bosket_verify::{Claim, Verification};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::errors::warn;
use crate::frames::{Handed, coded};
use crate::given::{PolicyGiven, handed, load};
use crate::watch::watched;

/// A policy for tasks: its path, its text, what is set; the folder, and how partitions are worked on.
type TaskPolicy = (PathBuf, String, Vec<String>, Option<PathBuf>, &'static str);

/// The policy as every task gets it: the data stands in frames, and nothing is written but the folder that is named. Also says
/// where that is, and how partitions are worked on.
#[pyfunction]
pub fn spark_policy(py: Python<'_>, policy: PolicyGiven, folder: Option<PathBuf>) -> PyResult<TaskPolicy> {
    watched(py, None, |_| {
        let file = load(&policy)?;
        let published = folder.or_else(|| bosket_io::publication::target(&file).ok());
        let (path, text, mut sets) = policy;
        let text = text.map_or_else(|| bosket_io::read_text(&path), Ok)?;
        let work = Work::of(&file.policy)?;
        sets.extend([
            "source.format=parquet".to_owned(),
            format!("source.path={}", source_name(&file, work)),
        ]);
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
        let policy = PolicyFile::parse(&path, &text, &sets)?.policy;
        parted::refuse_unfit(&policy)?;
        Ok((path, text, sets, published, work.name()))
    })
}

/// What the data is called. Where sides are published apart, the folder of the people is called so.
fn source_name(file: &PolicyFile, work: Work) -> String {
    let path = file.policy.source.as_ref().and_then(|source| source.path.as_deref());
    let name =
        path.and_then(|path| Path::new(path).file_name()).map(|name| name.to_string_lossy().into_owned());
    match (work, name.filter(|name| name.ends_with(".parquet"))) {
        (Work::Sides, Some(name)) => name,
        (Work::Sides, None) => "people.parquet".to_owned(),
        _ => "frame".to_owned(),
    }
}

/// The text of a policy that travels, and what overrides it.
pub(crate) fn given((_, text, sets): PolicyGiven) -> Result<(String, Vec<String>)> {
    let text = text.ok_or_else(|| Failure::defect("a policy that travels has no text"))?;
    Ok((text, sets))
}

pub(crate) fn frame(handed: Handed, memory: usize, observer: &dyn Observer) -> Result<(Dataset, Columns)> {
    let Frame { data, columns, .. } = coded(handed, true, memory, observer)?;
    Ok((data, columns))
}

fn bytes<'py>(py: Python<'py>, state: &[u8]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, state)
}

/// How many parts a publication has; refuses whatever else lies in its folder.
#[pyfunction]
pub fn spark_parts(py: Python<'_>, policy: PolicyGiven, folder: PathBuf) -> PyResult<usize> {
    watched(py, None, |_| Ok(parted::files_of(&load(&policy)?, &folder)?.len()))
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

pub(crate) fn told(verification: &Verification) -> Value {
    let claim = verification.claim.as_ref();
    json!({
        "found": verification.to_json(),
        "holds": verification.holds(),
        "sentence": claim.map(Claim::sentence),
        "sentences": claim.map(Claim::sentences),
        "witness": verification.witness().map(|w| w.to_json()),
        "html": brief(Some(verification), None),
        "records": verification.records,
    })
}

/// What is to be counted over all parts once more; nothing where the first count has seen all records.
#[pyfunction]
pub fn spark_drawn<'py>(py: Python<'py>, state: Vec<u8>) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let drawn = watched(py, None, |_| Ok(PartsState::from_bytes(&state)?.drawn().map(Drawn::to_bytes)))?;
    Ok(drawn.map(|drawn| bytes(py, &drawn)))
}

/// Counts drawn knowledge over a part, from its bytes.
#[pyfunction]
pub fn spark_recount_part<'py>(
    py: Python<'py>,
    policy: PolicyGiven,
    folder: PathBuf,
    number: u32,
    drawn: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let state = watched(py, None, |observer| {
        let drawn = Drawn::from_bytes(drawn)?;
        Ok(parted::recount_part(&load(&policy)?, &folder, number, &drawn, observer)?.to_bytes())
    })?;
    Ok(bytes(py, &state))
}

/// Counts drawn knowledge over rows that are to be published.
#[pyfunction]
pub fn spark_recount_rows<'py>(
    py: Python<'py>,
    policy: PolicyGiven,
    rows: Bound<'py, PyAny>,
    number: u32,
    drawn: &[u8],
    memory: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = handed("frame".to_owned(), &rows)?;
    let state = watched(py, None, |observer| {
        let (data, _) = frame(rows, memory, observer)?;
        let drawn = Drawn::from_bytes(drawn)?;
        Ok(parted::recount_rows(&load(&policy)?, &data, number, &drawn, observer)?.to_bytes())
    })?;
    Ok(bytes(py, &state))
}

/// The verdict on the parts of a folder, or on rows, with what was counted again; with figures of a run that holds, the certificate, too.
#[pyfunction]
pub fn spark_verdict(
    py: Python<'_>,
    policy: PolicyGiven,
    folder: Option<PathBuf>,
    states: (Vec<u8>, Option<Vec<u8>>),
    figures: Option<String>,
    memory: usize,
) -> PyResult<(String, Option<String>)> {
    watched(py, None, |observer| {
        let (file, state) = (load(&policy)?, PartsState::from_bytes(&states.0)?);
        let again = states.1.map(|again| Tallied::from_bytes(&again)).transpose()?;
        let again = again.as_ref();
        let Some(folder) = folder else {
            let verification = state.finish_rows(&file, again, memory, observer)?;
            return Ok((told(&verification).to_string(), None));
        };
        let kept = state.kept();
        let verdict: PartsVerdict = state.finish(&file, &folder, again, memory, observer)?;
        let mut found = told(&verdict.verification);
        found["files"] = verdict.files.iter().map(|f| json!({"name": f.name, "sha256": f.sha256})).collect();
        found["kernel"] = json!(kept);
        let certificate = match figures.filter(|_| verdict.verification.holds()) {
            None => None,
            Some(figures) => {
                let figures: Value = cells::parsed(&figures)?;
                Some(parted::certify(&file, &verdict, &figures, observer)?.to_text())
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

/// The plan that this process used last: a task works on many batches by one plan.
static LAST: Mutex<Option<(Vec<u8>, Arc<Plan>)>> = Mutex::new(None);

/// A plan from its bytes.
pub(crate) fn plan_of(bytes: &[u8]) -> Result<Arc<Plan>> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, plan)) = last.as_ref().filter(|(known, _)| known == bytes) {
        debug_assert_eq!(known.len(), bytes.len());
        return Ok(Arc::clone(plan));
    }
    let plan = Arc::new(Plan::from_bytes(bytes)?);
    *last = Some((bytes.to_vec(), Arc::clone(&plan)));
    Ok(plan)
}

/// What a task does with a batch: `survey`, `values`, `facts`, `frequencies` or `shape`.
#[pyfunction]
#[pyo3(signature = (what, policy, plan, found, rows, memory))]
pub fn spark_count<'py>(
    py: Python<'py>,
    what: &str,
    policy: PolicyGiven,
    plan: &[u8],
    found: &[u8],
    rows: Bound<'py, PyAny>,
    memory: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = handed("frame".to_owned(), &rows)?;
    let state = watched(py, None, |observer| {
        let (data, columns) = frame(rows, memory, observer)?;
        Ok(match what {
            "survey" => plan::survey(&load(&policy)?, &data, observer)?.to_bytes(),
            "values" => sides::survey(&load(&policy)?, &data, observer)?.to_bytes(),
            "facts" => cells::facts(&load(&policy)?, &data, observer)?.to_json().to_string().into_bytes(),
            "frequencies" => plan_of(plan)?.frequencies(&data, observer)?.to_bytes(),
            _ => {
                let found = Found::from_bytes(found)?;
                plan_of(plan)?.shape(&data, &columns, &found, observer)?.to_bytes()
            }
        })
    })?;
    Ok(bytes(py, &state))
}

/// Merges what tasks have counted.
#[pyfunction]
pub fn spark_merge<'py>(py: Python<'py>, what: &str, states: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let state = watched(py, None, |observer| {
        observer.go_on()?;
        Ok(match what {
            "survey" | "values" => {
                let merge = |all: Census, state: &Vec<u8>| Ok(all.merge(&Census::from_bytes(state)?));
                states.iter().try_fold(Census::default(), merge)?.to_bytes()
            }
            "facts" => {
                let mut all = Facts::default();
                for state in &states {
                    let state = cells::parsed(std::str::from_utf8(state).map_err(|_| damaged())?)?;
                    all = all.merge(Facts::from_json(&state)?);
                }
                all.to_json().to_string().into_bytes()
            }
            "recount" => {
                let merge = |all: Tallied, state: &Vec<u8>| all.merge(Tallied::from_bytes(state)?);
                states.iter().try_fold(Tallied::default(), merge)?.to_bytes()
            }
            "frequencies" => {
                let merge = |all: Frequencies, state: &Vec<u8>| all.merge(&Frequencies::from_bytes(state)?);
                states.iter().try_fold(Frequencies::default(), merge)?.to_bytes()
            }
            _ => {
                let merge = |all: Shape, state: &Vec<u8>| Ok(all.merge(&Shape::from_bytes(state)?));
                states.iter().try_fold(Shape::default(), merge)?.to_bytes()
            }
        })
    })?;
    Ok(bytes(py, &state))
}

/// What all tasks work by, how many records there are, and whether the search finds what it would find in memory.
#[pyfunction]
pub fn spark_plan<'py>(
    py: Python<'py>,
    policy: PolicyGiven,
    survey: &[u8],
) -> PyResult<(Bound<'py, PyBytes>, u64, bool)> {
    let (state, records, exact, warnings) = watched(py, None, |_| {
        let file = load(&policy)?;
        let Warned { value: plan, warnings } = Plan::new(&file, given(policy)?, Census::from_bytes(survey)?)?;
        Ok((plan.to_bytes()?, plan.records(), plan.is_exact(), warnings))
    })?;
    warn(py, &warnings)?;
    Ok((bytes(py, &state), records, exact))
}

/// The records of a batch that a search has to see.
#[pyfunction]
pub fn spark_kernel<'py>(
    py: Python<'py>,
    plan: &[u8],
    cut: (Vec<u32>, usize),
    rows: Bound<'py, PyAny>,
    number: u32,
    memory: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = handed("frame".to_owned(), &rows)?;
    let state = watched(py, None, |observer| {
        let (data, _) = frame(rows, memory, observer)?;
        let plan = plan_of(plan)?;
        Ok(plan.kernel((number, &data), (&cut.0, cut.1), memory, observer)?.to_bytes())
    })?;
    Ok(bytes(py, &state))
}

/// Kernels of batches as one.
#[pyfunction]
pub fn spark_merge_kernels<'py>(
    py: Python<'py>,
    plan: &[u8],
    cut: (Vec<u32>, usize),
    states: Vec<Vec<u8>>,
    memory: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let state = watched(py, None, |observer| {
        let kernels = states.iter().map(|state| Kernel::from_bytes(state)).collect::<Result<Vec<_>>>()?;
        let merged = plan_of(plan)?.merged(kernels, (&cut.0, cut.1), memory, observer)?;
        Ok(merged.to_bytes())
    })?;
    Ok(bytes(py, &state))
}

/// Searches a solution on the driver, and says whether it takes relations apart. `asked` is whether it may, and records that kernels
/// have overlooked, if any; `kernels` runs a job for a label of each item and the most labels of a set.
#[pyfunction]
pub fn spark_search<'py>(
    py: Python<'py>,
    plan: &[u8],
    frequencies: &[u8],
    asked: (bool, Vec<u8>),
    kernels: Py<PyAny>,
    memory: usize,
) -> PyResult<(Bound<'py, PyBytes>, bool)> {
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let done = watched(py, None, |observer| {
        let mut ask = |labels: &[u32], size: usize| -> Result<Kernel> {
            let asked =
                Python::attach(|py| kernels.call1(py, (labels.to_vec(), size))?.extract::<Vec<u8>>(py));
            match asked {
                Ok(state) => Kernel::from_bytes(&state),
                Err(error) => {
                    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    Err(Failure::interrupted())
                }
            }
        };
        let all = Frequencies::from_bytes(frequencies)?;
        let (may_part, more) = &asked;
        let more = (!more.is_empty()).then(|| Kernel::from_bytes(more)).transpose()?;
        let found = plan_of(plan)?.search(all, (*may_part, more.as_ref()), &mut ask, memory, observer)?;
        Ok((found.to_bytes(), found.takes_apart()))
    });
    // What a job says about itself is worth more than that the search was interrupted.
    if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let (found, takes_apart) = done?;
    Ok((bytes(py, &found), takes_apart))
}

/// The texts of a batch's published records.
#[pyfunction]
pub fn spark_recode<'py>(
    py: Python<'py>,
    plan: &[u8],
    found: &[u8],
    shape: &[u8],
    rows: Bound<'py, PyAny>,
    memory: usize,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let rows = handed("frame".to_owned(), &rows)?;
    let texts = watched(py, None, |observer| {
        let (data, columns) = frame(rows, memory, observer)?;
        let (published, _) = plan_of(plan)?.recode(&data, &Found::from_bytes(found)?, observer)?;
        Shape::from_bytes(shape)?.texts(&published, &columns, observer)
    })?;
    Ok(texts.iter().map(|text| bytes(py, text)).collect())
}

/// The columns of all parts, as somebody needs them who writes one, and what the run tells about itself. Of the source a batch without
/// rows is enough.
#[pyfunction]
pub fn spark_sheet<'py>(
    py: Python<'py>,
    plan: &[u8],
    found: &[u8],
    shape: &[u8],
    source: Bound<'py, PyAny>,
    memory: usize,
) -> PyResult<(Bound<'py, PyBytes>, u64, String)> {
    let source = handed("frame".to_owned(), &source)?;
    let (sheet, records, figures) = watched(py, None, |observer| {
        let (_, columns) = frame(source, memory, observer)?;
        let shape = Shape::from_bytes(shape)?;
        let figures = plan_of(plan)?.figures(&Found::from_bytes(found)?, &shape)?;
        Ok((shape.sheet(&columns)?.to_bytes()?, shape.records, figures.to_string()))
    })?;
    Ok((bytes(py, &sheet), records, figures))
}
