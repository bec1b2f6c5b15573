//! Records that kernels have overlooked: found by tasks, merged, and added to the next search.

use bosket_app::parted::overlooked::Overlooked;
use bosket_app::parted::plan::{Found, Kernel};
use bosket_app::parted::shape::Shape;
use bosket_model::{Failure, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::given::handed;
use crate::spark::{frame, plan_of};
use crate::watch::watched;

/// What a verifier has to keep of a batch as it would be published, and what that was made of.
#[pyfunction]
#[pyo3(signature = (plan, solution, rows, number, memory))]
pub fn spark_overlook<'py>(
    py: Python<'py>,
    plan: &[u8],
    solution: (Vec<u8>, Vec<u8>),
    rows: Bound<'py, PyAny>,
    number: u32,
    memory: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = handed("frame".to_owned(), &rows)?;
    let state = watched(py, None, |observer| {
        let (data, _) = frame(rows, memory, observer)?;
        let (found, shape) = (Found::from_bytes(&solution.0)?, Shape::from_bytes(&solution.1)?);
        let own = Overlooked::of(&*plan_of(plan)?, (number, &data), (&found, &shape), memory, observer)?;
        Ok(own.to_bytes())
    })?;
    Ok(PyBytes::new(py, &state))
}

/// What was kept of batches as one.
#[pyfunction]
pub fn spark_merge_overlooked<'py>(
    py: Python<'py>,
    plan: &[u8],
    states: Vec<Vec<u8>>,
    memory: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let state = watched(py, None, |observer| {
        let plan = plan_of(plan)?;
        let read = |state: &Vec<u8>| Overlooked::from_bytes(state);
        let mut states = states.iter().map(read);
        let first = states.next().ok_or_else(|| Failure::defect("there is nothing to merge"))??;
        let merge = |all: Overlooked, own: Result<Overlooked>| all.merge(own?, &plan, memory, observer);
        Ok(states.try_fold(first, merge)?.to_bytes())
    })?;
    Ok(PyBytes::new(py, &state))
}

/// The records that were overlooked, together with those of before, and how many there are of the former.
#[pyfunction]
pub fn spark_overlooked<'py>(
    py: Python<'py>,
    plan: &[u8],
    state: &[u8],
    before: &[u8],
    memory: usize,
) -> PyResult<(Bound<'py, PyBytes>, usize)> {
    let (state, found) = watched(py, None, |observer| {
        let own = Overlooked::from_bytes(state)?.records(&*plan_of(plan)?, memory, observer)?;
        let found = own.len();
        let all = match before {
            [] => own,
            before => Kernel::from_bytes(before)?.with(&own, observer)?,
        };
        Ok((all.to_bytes(), found))
    })?;
    Ok((PyBytes::new(py, &state), found))
}
