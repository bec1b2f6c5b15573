//! The time that a policy gives a search.
//!
//! The engine has no clock: it asks whoever watches. Without `method.time` time is never over, so that results do not depend
//! on the machine.

use std::time::{Duration, Instant};

use bosket_model::observe::{Limits, Observer};

/// Watches as somebody else does, and knows when the time is over.
pub(crate) struct Deadline<'o> {
    observer: &'o dyn Observer,
    until: Option<Instant>,
}

impl<'o> Deadline<'o> {
    /// Time begins now; without a limit it never ends.
    pub(crate) fn new(observer: &'o dyn Observer, time: Option<Duration>) -> Self {
        Deadline { observer, until: time.and_then(|time| Instant::now().checked_add(time)) }
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
        self.observer.out_of_time() || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;

    use super::*;

    #[test]
    fn time_is_over_only_where_there_is_a_limit() {
        assert!(!Deadline::new(&Quiet, None).out_of_time());
        assert!(!Deadline::new(&Quiet, Some(Duration::from_secs(3600))).out_of_time());
        assert!(!Deadline::new(&Quiet, Some(Duration::MAX)).out_of_time());
        assert!(Deadline::new(&Quiet, Some(Duration::ZERO)).out_of_time());
    }
}
