//! Observers that do not wait for the end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bosket_model::observe::Observer;
use bosket_model::{Fault, Result};

/// Loses patience some time after a stage has begun, and counts how often it was asked.
#[derive(Debug)]
struct Impatient {
    /// The stage that it waits for.
    stage: &'static str,
    since: OnceLock<Instant>,
    patience: Duration,
    asked: AtomicU64,
}

impl Impatient {
    fn new(stage: &'static str, patience: Duration) -> Self {
        Impatient { stage, since: OnceLock::new(), patience, asked: AtomicU64::new(0) }
    }

    fn at_once(patience: Duration) -> Self {
        let observer = Impatient::new("", patience);
        observer.stage("", 0);
        observer
    }

    fn waited(&self) -> Duration {
        self.since.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    /// Checks that work has stopped because of it.
    fn has_stopped<T>(&self, what: &str, result: Result<T>) {
        let asked = self.asked.load(Ordering::Relaxed);
        match result {
            Err(failure) => assert_eq!(failure.fault, Fault::Interrupted, "{what}: {failure}"),
            Ok(_) => panic!("{what} came to its end in {:?}, having asked {asked} times", self.waited()),
        }
    }
}

impl Observer for Impatient {
    fn stage(&self, name: &str, _: u64) {
        if name.contains(self.stage) {
            self.since.get_or_init(Instant::now);
        }
    }
    fn advance(&self, _: u64) {}
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.since.get().is_some_and(|since| since.elapsed() >= self.patience)
    }
}

/// How long work is watched before it is told to stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// How soon it has to stop then: hardly optimized, and on a machine that may be busy with other things.
const SOON: Duration = Duration::from_secs(2);

/// Work that is timed does not share the machine with other such work.
static ALONE: Mutex<()> = Mutex::new(());

/// Checks that work, which takes much longer, stops soon after it was told to, and says so.
pub fn stops_when_told<T>(what: &str, work: impl FnOnce(&dyn Observer) -> Result<T>) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let observer = Impatient::at_once(PATIENCE);
    let result = work(&observer);
    let late = observer.waited().saturating_sub(PATIENCE);
    observer.has_stopped(what, result);
    assert!(late <= SOON, "{what} went on for {late:?}");
}

/// Checks that work which is over too soon to be stopped in the middle asks at all, and stops.
pub fn asks_whether_to_go_on<T>(what: &str, work: impl FnOnce(&dyn Observer) -> Result<T>) {
    let observer = Impatient::at_once(Duration::ZERO);
    let result = work(&observer);
    observer.has_stopped(what, result);
}

/// The same for a stage of the work, which is told to stop when it begins.
pub fn asks_in_stage<T>(what: &str, stage: &'static str, work: impl FnOnce(&dyn Observer) -> Result<T>) {
    let observer = Impatient::new(stage, Duration::ZERO);
    let result = work(&observer);
    observer.has_stopped(&format!("{what}, {stage}"), result);
}
