//! What the tasks of a cluster do where people and their sensitive values are published apart: people are dealt into parts by their
//! values, each part is grouped by itself, and groups are numbered by the order of their content.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bosket_app::parted::sides::{self, Grouped, SidesPlan};
use bosket_app::{Census, Warned, parted};
use bosket_model::Result;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::warn;
use crate::given::{PolicyGiven, handed, load};
use crate::spark::{frame, given, told};
use crate::watch::watched;

/// The plan that this process used last: a task works on many batches by one plan.
static LAST: Mutex<Option<(Vec<u8>, Arc<SidesPlan>)>> = Mutex::new(None);

fn plan_of(bytes: &[u8]) -> Result<Arc<SidesPlan>> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, plan)) = last.as_ref().filter(|(known, _)| known == bytes) {
        return Ok(Arc::clone(plan));
    }
    let plan = Arc::new(SidesPlan::from_bytes(bytes)?);
    *last = Some((bytes.to_vec(), Arc::clone(&plan)));
    Ok(plan)
}

fn lists<'py>(py: Python<'py>, texts: &[Vec<u8>]) -> Vec<Bound<'py, PyBytes>> {
    texts.iter().map(|text| PyBytes::new(py, text)).collect()
}

/// What all tasks work by, how many records there are, the fewest people of a group, and whether parts have to agree on a distance.
#[pyfunction]
pub fn sides_plan<'py>(
    py: Python<'py>,
    policy: PolicyGiven,
    survey: &[u8],
) -> PyResult<(Bound<'py, PyBytes>, u64, usize, bool)> {
    let ((plan, records, size, agree), warnings) = watched(py, None, |_| {
        let file = load(&policy)?;
        let made = SidesPlan::new(&file, given(policy)?, &Census::from_bytes(survey)?)?;
        let Warned { value: plan, warnings } = made;
        Ok(((plan.to_bytes()?, plan.records(), plan.group_size(), plan.is_to_agree()), warnings))
    })?;
    warn(py, &warnings)?;
    Ok((PyBytes::new(py, &plan), records, size, agree))
}

/// The plan with a distance that all parts reach.
#[pyfunction]
pub fn sides_agreed<'py>(py: Python<'py>, plan: &[u8], delta: u32) -> PyResult<Bound<'py, PyBytes>> {
    let plan = watched(py, None, |_| SidesPlan::from_bytes(plan)?.agreed(delta).to_bytes())?;
    Ok(PyBytes::new(py, &plan))
}

/// What people are dealt by, and the people.
type Dealt<'py> = (Vec<Bound<'py, PyBytes>>, Vec<Bound<'py, PyBytes>>);

/// The people of a batch, each with what it is dealt by.
#[pyfunction]
pub fn sides_people<'py>(
    py: Python<'py>,
    plan: &[u8],
    rows: Bound<'py, PyAny>,
    memory: usize,
) -> PyResult<Dealt<'py>> {
    let rows = handed("frame".to_owned(), &rows)?;
    let people = watched(py, None, |observer| {
        let (data, columns) = frame(rows, memory, observer)?;
        plan_of(plan)?.people(&data, &columns)
    })?;
    let (keys, people): (Vec<Vec<u8>>, Vec<Vec<u8>>) = people.into_iter().unzip();
    Ok((lists(py, &keys), lists(py, &people)))
}

/// The distance that a part can reach.
#[pyfunction]
pub fn sides_reach(py: Python<'_>, plan: &[u8], people: Vec<Vec<u8>>) -> PyResult<Option<u32>> {
    watched(py, None, |observer| plan_of(plan)?.reach(people, observer))
}

/// Groups of a part, people who are in none, and in how many groups one person has more than its share.
type Made<'py> = (Vec<Bound<'py, PyBytes>>, Vec<Bound<'py, PyBytes>>, usize);

/// Groups the people of a part; of the last one with those whom the others have left over.
#[pyfunction]
pub fn sides_make<'py>(
    py: Python<'py>,
    plan: &[u8],
    people: Vec<Vec<u8>>,
    over: Option<Vec<Vec<u8>>>,
) -> PyResult<Made<'py>> {
    let Grouped { groups, left, telling } = watched(py, None, |observer| match over {
        None => plan_of(plan)?.make(people, observer),
        Some(over) => plan_of(plan)?.make_last(people, over, observer),
    })?;
    Ok((lists(py, &groups), lists(py, &left), telling))
}

/// The folders of both sides.
#[pyfunction]
pub fn sides_folders(
    py: Python<'_>,
    plan: &[u8],
    source: Bound<'_, PyAny>,
    memory: usize,
) -> PyResult<Vec<String>> {
    let source = handed("frame".to_owned(), &source)?;
    watched(py, None, |observer| {
        let (data, columns) = frame(source, memory, observer)?;
        plan_of(plan)?.sheet((&data, &columns))?.folders()
    })
}

/// Writes a part of both sides: its number, the number of its first group, and its groups.
#[pyfunction]
pub fn sides_write(
    py: Python<'_>,
    plan: &[u8],
    source: Bound<'_, PyAny>,
    folder: PathBuf,
    at: (usize, u64),
    groups: Vec<Vec<u8>>,
    memory: usize,
) -> PyResult<()> {
    let source = handed("frame".to_owned(), &source)?;
    watched(py, None, |observer| {
        let (data, columns) = frame(source, memory, observer)?;
        plan_of(plan)?.sheet((&data, &columns))?.write(&folder, at.0, at.1, &groups)
    })
}

/// How many parts both sides have.
#[pyfunction]
pub fn sides_parts(py: Python<'_>, policy: PolicyGiven, folder: PathBuf) -> PyResult<usize> {
    watched(py, None, |_| sides::parts(&load(&policy)?, &folder))
}

/// Judges a part of both sides from its bytes.
#[pyfunction]
pub fn sides_judge<'py>(
    py: Python<'py>,
    policy: PolicyGiven,
    folder: PathBuf,
    number: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let state = watched(py, None, |observer| sides::judge(&load(&policy)?, &folder, number, observer))?;
    Ok(PyBytes::new(py, &state))
}

/// The verdict on all parts; with how many records are suppressed and what there was before, the certificate of what holds.
#[pyfunction]
pub fn sides_verdict(
    py: Python<'_>,
    policy: PolicyGiven,
    folder: PathBuf,
    states: Vec<Vec<u8>>,
    before: Option<(u64, Vec<u8>)>,
) -> PyResult<(String, Option<String>)> {
    watched(py, None, |observer| {
        let file = load(&policy)?;
        let verdict = sides::verdict(&file, &folder, &states, observer)?;
        let found = told(&verdict.verification);
        let certificate = match before.filter(|_| verdict.verification.holds()) {
            None => None,
            Some((suppressed, census)) => {
                let census = Census::from_bytes(&census)?;
                let figures = sides::figures(&file, &states, &census, suppressed)?;
                Some(parted::certify(&file, &verdict, &figures, observer)?.to_text())
            }
        };
        Ok((found.to_string(), certificate))
    })
}
