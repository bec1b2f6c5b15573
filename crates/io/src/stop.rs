//! How reading ends soon when nobody waits for it any more.
//!
//! An [`Observer`] is borrowed and readers are not: a thread asks the observer now and then, tells how far the work is, and
//! sets a flag that the readers look at.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

use bosket_model::observe::Observer;
use bosket_model::{Failure, Result};

/// How often the observer is asked.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// Says whether the work is to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// For readers. The kind is one that nobody tries again after.
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.is_set() { Err(io::Error::other(Failure::interrupted())) } else { Ok(()) }
    }

    pub(crate) fn go_on(&self) -> Result<()> {
        if self.is_set() { Err(Failure::interrupted()) } else { Ok(()) }
    }
}

/// Ends the watching, even if the work panics.
struct Done<'a>(&'a AtomicBool, Thread);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        self.1.unpark();
    }
}

/// Does work that looks at the flag, and calls `tick` meanwhile. Work that was told to end was interrupted, whatever it
/// says itself.
pub(crate) fn watched<T>(
    observer: &dyn Observer,
    stop: &Stop,
    tick: impl Fn() + Sync,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    observer.go_on()?;
    let done = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                if observer.cancelled() {
                    stop.0.store(true, Ordering::Relaxed);
                }
                tick();
                std::thread::park_timeout(TICK);
            }
        });
        let _done = Done(&done, watcher.thread().clone());
        work()
    });
    observer.go_on()?;
    result
}

/// Does work that waits for somebody else, who is told by `interrupt` that nobody waits any more: again and again, since
/// there may be nothing to interrupt at the moment.
pub(crate) fn interruptible<T>(
    observer: &dyn Observer,
    interrupt: impl Fn() + Sync,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let stop = Stop::default();
    let tick = || {
        if stop.is_set() {
            interrupt();
        }
    };
    watched(observer, &stop, tick, work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::observe::Quiet;
    use bosket_model::{Diagnostic, Fault};

    /// Somebody who has lost patience.
    struct Gone(AtomicBool);

    impl Observer for Gone {
        fn stage(&self, _: &str, _: u64) {}
        fn advance(&self, _: u64) {}
        fn cancelled(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn what_interrupted_work_says_itself_does_not_count() {
        let gone = Gone(AtomicBool::new(false));
        let stop = Stop::default();
        let failure = watched(
            &gone,
            &stop,
            || (),
            || -> Result<()> {
                gone.0.store(true, Ordering::Relaxed);
                while !stop.is_set() {
                    std::thread::yield_now();
                }
                Err(Failure::new(Fault::Data, Diagnostic::error("the file is cut off")))
            },
        );
        assert_eq!(failure.expect_err("interrupted").fault, Fault::Interrupted);
    }

    #[test]
    fn a_panic_ends_the_watching() {
        let work = || -> Result<()> { panic!("a defect") };
        let caught = std::panic::catch_unwind(|| watched(&Quiet, &Stop::default(), || (), work));
        assert!(caught.is_err());
    }
}
