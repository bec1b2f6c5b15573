//! What the tasks of a cluster do to make clusters: records are put into cells of like ones, each of which is clustered by itself.

use std::sync::{Arc, Mutex, PoisonError};

use bosket_app::parted::cells::{CellPlan, Clustered, Facts, Splitter, Tally, parsed, together};
use bosket_app::parted::shape::Shape;
use bosket_model::partition::Survey;
use bosket_model::{Dataset, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::given::{PolicyGiven, handed, load};
use crate::spark::frame;
use crate::watch::watched;

/// The plan that this process used last: a task works on many batches by one plan.
static LAST: Mutex<Option<(Vec<u8>, Arc<CellPlan>)>> = Mutex::new(None);

fn plan_of(bytes: &[u8]) -> Result<Arc<CellPlan>> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, plan)) = last.as_ref().filter(|(known, _)| known == bytes) {
        return Ok(Arc::clone(plan));
    }
    let plan = Arc::new(CellPlan::from_bytes(bytes)?);
    *last = Some((bytes.to_vec(), Arc::clone(&plan)));
    Ok(plan)
}

fn datasets(states: &[Vec<u8>]) -> Result<Vec<Dataset>> {
    states.iter().map(|state| Dataset::from_bytes(state)).collect()
}

/// What all tasks work by, and how many records there are.
#[pyfunction]
pub fn cells_plan<'py>(
    py: Python<'py>,
    policy: PolicyGiven,
    survey: &[u8],
    facts: &str,
) -> PyResult<(Bound<'py, PyBytes>, u64)> {
    let (plan, records) = watched(py, None, |_| {
        let file = load(&policy)?;
        let (_, text, sets) = policy;
        let (survey, facts) = (Survey::from_bytes(survey)?, Facts::from_json(&parsed(facts)?)?);
        let plan = CellPlan::new(&file, (text.unwrap_or_default(), sets), &survey, facts)?;
        Ok((plan.to_bytes()?, plan.records()))
    })?;
    Ok((PyBytes::new(py, &plan), records))
}

/// The records of a batch by which cells are chosen.
#[pyfunction]
pub fn cells_sample<'py>(
    py: Python<'py>,
    plan: &[u8],
    rows: Bound<'py, PyAny>,
    memory: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = handed("frame".to_owned(), &rows)?;
    let sample = watched(py, None, |observer| {
        let (data, _) = frame(rows, memory, observer)?;
        Ok(plan_of(plan)?.sample(&data, observer)?.to_bytes())
    })?;
    Ok(PyBytes::new(py, &sample))
}

/// Records of several batches as one.
#[pyfunction]
pub fn cells_together<'py>(py: Python<'py>, states: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let all = watched(py, None, |observer| Ok(together(&datasets(&states)?, observer)?.to_bytes()))?;
    Ok(PyBytes::new(py, &all))
}

/// How records are parted, by a sample, and into how many cells.
#[pyfunction]
pub fn cells_split(py: Python<'_>, plan: &[u8], sample: &[u8]) -> PyResult<(String, usize)> {
    watched(py, None, |observer| {
        let splitter = plan_of(plan)?.split(&Dataset::from_bytes(sample)?, observer)?;
        Ok((splitter.to_json().to_string(), splitter.cells()))
    })
}

/// The same without cells that have too few of all records.
#[pyfunction]
pub fn cells_joined(
    py: Python<'_>,
    plan: &[u8],
    splitter: &str,
    counts: Vec<u64>,
) -> PyResult<(String, usize)> {
    watched(py, None, |_| {
        let splitter = plan_of(plan)?.joined(&Splitter::from_json(&parsed(splitter)?)?, &counts);
        Ok((splitter.to_json().to_string(), splitter.cells()))
    })
}

/// The cell of each record of a batch.
#[pyfunction]
pub fn cells_assign(
    py: Python<'_>,
    plan: &[u8],
    splitter: &str,
    rows: Bound<'_, PyAny>,
    memory: usize,
) -> PyResult<Vec<u32>> {
    let rows = handed("frame".to_owned(), &rows)?;
    watched(py, None, |observer| {
        let (data, _) = frame(rows, memory, observer)?;
        plan_of(plan)?.assign(&Splitter::from_json(&parsed(splitter)?)?, &data, observer)
    })
}

/// Published records, those that are left over, and figures.
type Made<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, String);

fn made<'py>(py: Python<'py>, done: &Clustered) -> Made<'py> {
    let Clustered { published, left, tally } = done;
    let state = |data: &Dataset| PyBytes::new(py, &data.to_bytes());
    (state(published), state(left), tally.to_json().to_string())
}

/// Clusters the records of a cell.
#[pyfunction]
pub fn cells_make<'py>(
    py: Python<'py>,
    plan: &[u8],
    rows: Bound<'py, PyAny>,
    memory: usize,
) -> PyResult<Made<'py>> {
    let rows = handed("frame".to_owned(), &rows)?;
    let done = watched(py, None, |observer| {
        let (data, _) = frame(rows, memory, observer)?;
        plan_of(plan)?.make(&data, false, memory, observer)
    })?;
    Ok(made(py, &done))
}

/// Clusters whoever was left over in any cell; who is left over again is suppressed.
#[pyfunction]
pub fn cells_make_left<'py>(
    py: Python<'py>,
    plan: &[u8],
    left: Vec<Vec<u8>>,
    memory: usize,
) -> PyResult<Made<'py>> {
    let done = watched(py, None, |observer| {
        plan_of(plan)?.make(&together(&datasets(&left)?, observer)?, true, memory, observer)
    })?;
    Ok(made(py, &done))
}

/// The figures of all cells, and what a run tells about itself by them.
#[pyfunction]
pub fn cells_tally(py: Python<'_>, plan: &[u8], tallies: Vec<String>) -> PyResult<(String, u64, String)> {
    watched(py, None, |_| {
        let mut all = Tally::default();
        for tally in &tallies {
            all = all.merge(Tally::from_json(&parsed(tally)?)?);
        }
        let figures = plan_of(plan)?.figures(&all).to_string();
        Ok((all.to_json().to_string(), all.suppressed, figures))
    })
}

/// What published records look like; of the source a batch without rows is enough.
#[pyfunction]
pub fn cells_shape<'py>(
    py: Python<'py>,
    plan: &[u8],
    tally: &str,
    published: &[u8],
    source: Bound<'py, PyAny>,
    memory: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let source = handed("frame".to_owned(), &source)?;
    let shape = watched(py, None, |observer| {
        let (_, columns) = frame(source, memory, observer)?;
        let all = Tally::from_json(&parsed(tally)?)?;
        let published = plan_of(plan)?.spelled(&Dataset::from_bytes(published)?, &all)?;
        Ok(Shape::of(&published, &columns, 0.0)?.to_bytes())
    })?;
    Ok(PyBytes::new(py, &shape))
}

/// The texts of published records.
#[pyfunction]
pub fn cells_texts<'py>(
    py: Python<'py>,
    plan: &[u8],
    tally: &str,
    shape: &[u8],
    published: &[u8],
    source: Bound<'py, PyAny>,
    memory: usize,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let source = handed("frame".to_owned(), &source)?;
    let texts = watched(py, None, |observer| {
        let (_, columns) = frame(source, memory, observer)?;
        let all = Tally::from_json(&parsed(tally)?)?;
        let published = plan_of(plan)?.spelled(&Dataset::from_bytes(published)?, &all)?;
        Shape::from_bytes(shape)?.texts(&published, &columns, observer)
    })?;
    Ok(texts.iter().map(|text| PyBytes::new(py, text)).collect())
}

/// The columns of all parts, as somebody needs them who writes one, and how many records there are.
#[pyfunction]
pub fn cells_sheet<'py>(
    py: Python<'py>,
    shape: &[u8],
    source: Bound<'py, PyAny>,
    memory: usize,
) -> PyResult<(Bound<'py, PyBytes>, u64)> {
    let source = handed("frame".to_owned(), &source)?;
    let (sheet, records) = watched(py, None, |observer| {
        let (_, columns) = frame(source, memory, observer)?;
        let shape = Shape::from_bytes(shape)?;
        Ok((shape.sheet(&columns)?.to_bytes()?, shape.records))
    })?;
    Ok((PyBytes::new(py, &sheet), records))
}
