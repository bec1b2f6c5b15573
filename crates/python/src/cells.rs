//! What the tasks of a cluster do to make clusters: records are put into cells of like ones, each of which is clustered by itself.

use std::sync::{Arc, Mutex, PoisonError};

use bosket_app::parted::cells::{CellPlan, CellTold, Clustered, Facts, Round, Splitter, parsed, together};
use bosket_app::parted::shape::Shape;
use bosket_app::{Census, Warned};
use bosket_model::{Dataset, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::warn;
use crate::given::{PolicyGiven, handed, load};
use crate::spark::{frame, given};
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
    let (plan, records, warnings) = watched(py, None, |_| {
        let file = load(&policy)?;
        let (census, facts) = (Census::from_bytes(survey)?, Facts::from_json(&parsed(facts)?)?);
        let Warned { value: plan, warnings } = CellPlan::new(&file, given(policy)?, &census, facts)?;
        Ok((plan.to_bytes()?, plan.records(), warnings))
    })?;
    warn(py, &warnings)?;
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
        let plan = plan_of(plan)?;
        Ok(plan.sample(&data, plan.records(), observer)?.to_bytes())
    })?;
    Ok(PyBytes::new(py, &sample))
}

/// The same of records that were left over, of so many in all.
#[pyfunction]
pub fn cells_sample_left<'py>(
    py: Python<'py>,
    plan: &[u8],
    left: &[u8],
    records: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let sample = watched(py, None, |observer| {
        Ok(plan_of(plan)?.sample(&Dataset::from_bytes(left)?, records, observer)?.to_bytes())
    })?;
    Ok(PyBytes::new(py, &sample))
}

/// How many records there are in a state.
#[pyfunction]
pub fn cells_records(py: Python<'_>, state: &[u8]) -> PyResult<usize> {
    watched(py, None, |_| Ok(Dataset::from_bytes(state)?.len()))
}

/// In how many cells those are put who were left over in so many.
#[pyfunction]
pub fn cells_again(py: Python<'_>, plan: &[u8], left: u64, cells: usize) -> PyResult<usize> {
    watched(py, None, |_| Ok(plan_of(plan)?.again(left, cells)))
}

/// Records of several batches as one.
#[pyfunction]
pub fn cells_together<'py>(py: Python<'py>, states: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let all = watched(py, None, |observer| Ok(together(&datasets(&states)?, observer)?.to_bytes()))?;
    Ok(PyBytes::new(py, &all))
}

/// How records are parted, by a sample, and into how many cells.
#[pyfunction]
pub fn cells_split(
    py: Python<'_>,
    plan: &[u8],
    sample: &[u8],
    wanted: Option<usize>,
) -> PyResult<(String, usize)> {
    watched(py, None, |observer| {
        let plan = plan_of(plan)?;
        let wanted = wanted.unwrap_or_else(|| plan.cells());
        let splitter = plan.split(&Dataset::from_bytes(sample)?, wanted, observer)?;
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

/// Records that were left over, by the cells that they are put into, and how many.
type Parted<'py> = Vec<(u32, usize, Bound<'py, PyBytes>)>;

/// Parts records that were left over.
#[pyfunction]
pub fn cells_parted<'py>(py: Python<'py>, plan: &[u8], splitter: &str, left: &[u8]) -> PyResult<Parted<'py>> {
    let parted = watched(py, None, |observer| {
        let data = Dataset::from_bytes(left)?;
        let splitter = Splitter::from_json(&parsed(splitter)?)?;
        let cells = plan_of(plan)?.assign(&splitter, &data, observer)?;
        let mut parted = Vec::new();
        for cell in 0..splitter.cells() as u32 {
            let own: Vec<bool> = cells.iter().map(|&of| of == cell).collect();
            if own.contains(&true) {
                let own = data.subset(&own);
                parted.push((cell, own.len(), own.to_bytes()));
            }
        }
        Ok(parted)
    })?;
    Ok(parted.into_iter().map(|(cell, records, state)| (cell, records, PyBytes::new(py, &state))).collect())
}

/// Published records, those that are left over, and figures.
type Made<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, String);

fn made<'py>(py: Python<'py>, done: &Clustered) -> Made<'py> {
    let Clustered { published, left, told } = done;
    let state = |data: &Dataset| PyBytes::new(py, &data.to_bytes());
    (state(published), state(left), told.to_text())
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
        plan_of(plan)?.make(&data, (Round::First, false), memory, observer)
    })?;
    Ok(made(py, &done))
}

/// Clusters whoever was left over in any cell; who is left over by the last is suppressed.
#[pyfunction]
pub fn cells_make_left<'py>(
    py: Python<'py>,
    plan: &[u8],
    left: Vec<Vec<u8>>,
    last: bool,
    memory: usize,
) -> PyResult<Made<'py>> {
    let done = watched(py, None, |observer| {
        plan_of(plan)?.make(&together(&datasets(&left)?, observer)?, (Round::Last, last), memory, observer)
    })?;
    Ok(made(py, &done))
}

/// The figures of all cells, and how many records are suppressed.
#[pyfunction]
pub fn cells_tally(py: Python<'_>, told: Vec<String>) -> PyResult<(String, u64)> {
    watched(py, None, |_| {
        let mut all = CellTold::default();
        for own in &told {
            all = all.merge(CellTold::from_text(own)?)?;
        }
        Ok((all.to_text(), all.tally.suppressed))
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
        let (all, plan) = (CellTold::from_text(tally)?, plan_of(plan)?);
        let published = plan.spelled(&Dataset::from_bytes(published)?, &all.tally)?;
        Ok(plan.shape(&published, &columns, observer)?.to_bytes())
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
        let all = CellTold::from_text(tally)?;
        let published = plan_of(plan)?.spelled(&Dataset::from_bytes(published)?, &all.tally)?;
        Shape::from_bytes(shape)?.texts(&published, &columns, observer)
    })?;
    Ok(texts.iter().map(|text| PyBytes::new(py, text)).collect())
}

/// The columns of all parts, as somebody needs them who writes one, how many records there are, and what the run tells about itself.
#[pyfunction]
pub fn cells_sheet<'py>(
    py: Python<'py>,
    plan: &[u8],
    found: (Vec<u8>, String),
    shape: &[u8],
    source: Bound<'py, PyAny>,
    memory: usize,
) -> PyResult<(Bound<'py, PyBytes>, u64, String)> {
    let source = handed("frame".to_owned(), &source)?;
    let (sheet, records, figures) = watched(py, None, |observer| {
        let (_, columns) = frame(source, memory, observer)?;
        let shape = Shape::from_bytes(shape)?;
        let (census, told) = (Census::from_bytes(&found.0)?, CellTold::from_text(&found.1)?);
        let figures = plan_of(plan)?.figures(&told, &census, &shape)?.to_string();
        Ok((shape.sheet(&columns)?.to_bytes()?, shape.records, figures))
    })?;
    Ok((PyBytes::new(py, &sheet), records, figures))
}
