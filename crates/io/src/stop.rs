//! How reading ends soon when nobody waits for it any more.
//!
//! An [`Observer`] is borrowed and readers are not: a thread asks the observer now and then, tells how far the work is, and
//! sets a flag that the readers look at.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

use bosket_model::observe::{Limits, Observer};
use bosket_model::{Diagnostic, Failure, Fault, Result};

/// How often the observer is asked.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// However little memory is allowed, so much data is read.
const LEAST: usize = 64 << 20;

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
    let room = Room::new(observer.limits().memory);
    let full = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        let watching = std::thread::Builder::new().spawn_scoped(scope, || {
            while !done.load(Ordering::Acquire) {
                if room.is_full() {
                    full.store(true, Ordering::Relaxed);
                    stop.0.store(true, Ordering::Relaxed);
                }
                if observer.cancelled() {
                    stop.0.store(true, Ordering::Relaxed);
                }
                tick();
                std::thread::park_timeout(TICK);
            }
        });
        let watcher = watching.map_err(|error| {
            let what = format!("the system gives no thread: {error}");
            let help = "raise the limits of this process, such as `ulimit -v` and `ulimit -u`";
            Failure::new(Fault::Environment, Diagnostic::error(what).help(help))
        })?;
        let _done = Done(&done, watcher.thread().clone());
        work()
    });
    observer.go_on()?;
    if full.load(Ordering::Relaxed) {
        return Err(room.failure());
    }
    result
}

/// How much memory work may take that has begun, where the system tells how much it takes.
struct Room {
    begun: usize,
    most: Option<usize>,
}

impl Room {
    fn new(memory: Option<usize>) -> Self {
        Room { begun: resident().unwrap_or(0), most: memory.map(|memory| memory.max(LEAST)) }
    }

    fn is_full(&self) -> bool {
        let taken = || resident().unwrap_or(0).saturating_sub(self.begun);
        self.most.is_some_and(|most| taken() > most)
    }

    fn failure(&self) -> Failure {
        let most = bytes(self.most.unwrap_or(LEAST) as u64);
        let what = format!("the data takes more than {most} of memory, which is all that it may");
        let help =
            "raise --memory, or split the data; an uncompressed file of one record per line takes least";
        Failure::new(Fault::Environment, Diagnostic::error(what).help(help))
    }
}

/// Bytes of memory that this process takes.
fn resident() -> Option<usize> {
    let told = std::fs::read_to_string("/proc/self/status").ok()?;
    let taken = told.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    taken.split_whitespace().next()?.parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}

/// A number of bytes in words.
pub(crate) fn bytes(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.iter().find(|(_, shift)| bytes >= 1 << shift) {
        Some((unit, shift)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} bytes"),
    }
}

/// Does work that waits for somebody else, who is told by `interrupt` that nobody waits any more: again and again, since
/// there may be nothing to interrupt at the moment. The work asks the observer that it gets, who knows of the bounds, too.
pub(crate) fn interruptible<T>(
    observer: &dyn Observer,
    interrupt: impl Fn() + Sync,
    work: impl FnOnce(&dyn Observer) -> Result<T>,
) -> Result<T> {
    let stop = Stop::default();
    let tick = || {
        if stop.is_set() {
            interrupt();
        }
    };
    watched(observer, &stop, tick, || work(&Stopping { observer, stop: &stop }))
}

/// Tells somebody everything; nobody waits any more when they do not, or when the flag is set.
struct Stopping<'a> {
    observer: &'a dyn Observer,
    stop: &'a Stop,
}

impl Observer for Stopping<'_> {
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
        self.stop.is_set() || self.observer.cancelled()
    }
    fn out_of_time(&self) -> bool {
        self.observer.out_of_time()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::observe::Quiet;

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

    /// Somebody with little room.
    struct Small;

    impl Observer for Small {
        fn stage(&self, _: &str, _: u64) {}
        fn advance(&self, _: u64) {}
        fn limits(&self) -> Limits {
            Limits { memory: Some(1), ..Limits::default() }
        }
    }

    #[test]
    fn data_took_all_the_memory_there_is() {
        if resident().is_none() {
            eprintln!("skipped: the system does not tell how much memory a process takes");
            return;
        }
        let stop = Stop::default();
        let mut data = Vec::new();
        let failure = watched(
            &Small,
            &stop,
            || (),
            || {
                while !stop.is_set() {
                    data.extend(std::iter::repeat_n(1u8, 1 << 20));
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(())
            },
        );
        let failure = failure.expect_err("too much");
        assert_eq!(failure.fault, Fault::Environment);
        assert!(failure.to_string().contains("64 MiB"), "{failure}");
        // Other tests of this process take some of it, too.
        assert!(data.len() >= LEAST / 8);
    }

    #[test]
    fn a_panic_ends_the_watching() {
        let work = || -> Result<()> { panic!("a defect") };
        let caught = std::panic::catch_unwind(|| watched(&Quiet, &Stop::default(), || (), work));
        assert!(caught.is_err());
    }
}
