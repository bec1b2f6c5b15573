//! The time that a policy gives a search.
//!
//! The engine has no clock: it asks whoever watches. Without `method.time` time is never over, so that results do not depend
//! on the machine. Where labels are lowered one by one after the search, half of the time is kept for that: it often brings more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bosket_model::observe::{Limits, Observer};

/// Watches as somebody else does, and knows when the time is over.
pub(crate) struct Deadline<'o> {
    observer: &'o dyn Observer,
    /// When the search has to end.
    search: Option<Instant>,
    /// When all has to.
    all: Option<Instant>,
    /// The search is over.
    refining: AtomicBool,
}

impl<'o> Deadline<'o> {
    /// Time begins now; without a limit it never ends. Half of it is kept for what comes after the search, if that `refines`.
    pub(crate) fn new(observer: &'o dyn Observer, time: Option<Duration>, refines: bool) -> Self {
        let now = Instant::now();
        let until = |time: Duration| now.checked_add(time);
        Deadline {
            observer,
            search: time.and_then(|time| until(if refines { time / 2 } else { time })),
            all: time.and_then(until),
            refining: AtomicBool::new(false),
        }
    }
}

impl Observer for Deadline<'_> {
    fn stage(&self, name: &str, steps: u64) {
        self.observer.stage(name, steps);
    }
    fn advance(&self, steps: u64) {
        self.observer.advance(steps);
    }
    fn reading(&self, name: &str, bytes: Option<u64>) {
        self.observer.reading(name, bytes);
    }
    fn position(&self, bytes: u64) {
        self.observer.position(bytes);
    }
    fn decided(&self, what: &str) {
        self.observer.decided(what);
    }
    fn limits(&self) -> Limits {
        self.observer.limits()
    }
    fn cancelled(&self) -> bool {
        self.observer.cancelled()
    }
    fn out_of_time(&self) -> bool {
        let until = if self.refining.load(Ordering::Relaxed) { self.all } else { self.search };
        self.observer.out_of_time() || until.is_some_and(|until| Instant::now() >= until)
    }
    fn hurries(&self) -> bool {
        self.all.is_some() || self.observer.hurries()
    }
    fn refining(&self) {
        self.refining.store(true, Ordering::Relaxed);
    }
    fn refined(&self) {
        self.refining.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;

    use super::*;

    #[test]
    fn time_is_over_only_where_there_is_a_limit() {
        assert!(!Deadline::new(&Quiet, None, false).out_of_time());
        assert!(!Deadline::new(&Quiet, Some(Duration::from_secs(3600)), false).out_of_time());
        assert!(!Deadline::new(&Quiet, Some(Duration::MAX), false).out_of_time());
        assert!(Deadline::new(&Quiet, Some(Duration::ZERO), false).out_of_time());
    }

    #[test]
    fn a_search_leaves_time_for_what_comes_after_it() {
        let whole = Duration::from_secs(7200);
        let now = Instant::now();
        let mut watch = Deadline::new(&Quiet, Some(whole), true);
        let half = watch.search.expect("a limit").duration_since(now);
        assert!(half < whole && half * 2 >= whole, "{half:?}");
        // The time of the search is over.
        watch.search = Some(now);
        assert!(watch.out_of_time());
        watch.refining();
        assert!(!watch.out_of_time());
        // A first solution was refined; the search has no more time than before.
        watch.refined();
        assert!(watch.out_of_time());
    }
}
