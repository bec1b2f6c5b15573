//! Work on a thread of its own, while Python's own thread waits without holding the interpreter: it looks for signals ten
//! times a second and hands progress on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bosket_model::observe::Observer;
use bosket_model::{Failure, Fault, Result};
use pyo3::prelude::*;

use crate::errors::raised;

/// How long Python waits between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Where the last panic of this module was; hooks are the module's own, not the interpreter's.
static PLACE: Mutex<Option<String>> = Mutex::new(None);

/// Keeps where a panic is for whoever catches it, rather than printing it.
pub(crate) fn keep_places_of_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
}

/// A stage of the work: its name, how many steps it has and how many are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stage {
    name: String,
    steps: u64,
    done: u64,
}

/// Whoever watches on behalf of Python.
#[derive(Debug, Default)]
struct Watcher {
    cancelled: AtomicBool,
    stage: Mutex<Stage>,
}

impl Watcher {
    fn with<T>(&self, run: impl FnOnce(&mut Stage) -> T) -> T {
        run(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for Watcher {
    fn stage(&self, name: &str, steps: u64) {
        self.with(|stage| *stage = Stage { name: name.to_owned(), steps, done: 0 });
    }
    fn advance(&self, steps: u64) {
        self.with(|stage| stage.done += steps);
    }
    fn position(&self, bytes: u64) {
        self.with(|stage| stage.done = bytes);
    }
    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// Does work; `progress` is called with the name of a stage, its steps and how many of them are done.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&dyn Observer) -> Result<T> + Send,
) -> PyResult<T> {
    let watcher = Watcher::default();
    let (tell, told) = channel();
    let told = Mutex::new(told);
    let done = std::thread::scope(|scope| {
        let watcher = &watcher;
        scope.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(watcher)));
            let result = result.unwrap_or_else(|_| Err(Failure::defect("the work broke off")));
            // Whoever waited is still there: the scope ends after this.
            let _ = tell.send(result);
        });
        let (mut shown, mut stopped) = (Stage::default(), None);
        loop {
            // The interpreter is free for others meanwhile.
            let look = || told.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK);
            let received = py.detach(look);
            match received {
                Ok(result) => return stopped.map_or(Ok(result), Err),
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Err(Failure::defect("the work broke off")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if stopped.is_some() {
                continue;
            }
            let now = watcher.with(|stage| stage.clone());
            let seen = py.check_signals().and_then(|()| match progress {
                Some(progress) if now != shown => {
                    progress.call1(py, (now.name.as_str(), now.steps, now.done)).map(|_| ())
                }
                _ => Ok(()),
            });
            shown = now;
            if let Err(error) = seen {
                watcher.cancelled.store(true, Ordering::Relaxed);
                stopped = Some(error);
            }
        }
    })?;
    done.map_err(|failure| raised(py, &placed(failure)))
}

/// An error of ours with the place where it broke off.
fn placed(mut failure: Failure) -> Failure {
    let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (Fault::Defect, Some(place)) = (failure.fault, place) {
        for diagnostic in &mut failure.diagnostics {
            diagnostic.message.push_str(&format!(", at {place}"));
        }
    }
    failure
}

/// Breaks down, for the test that says what becomes of it.
#[pyfunction]
pub fn break_down(py: Python<'_>) -> PyResult<()> {
    watched(py, None, |_| -> Result<()> { panic!("asked to break down") })
}
