//! Signals: an interrupted run leaves nothing behind, a full disk is an error and not the end of the process.

use std::io::{Write, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bosket_io::Pending;
use bosket_model::{Diagnostic, Failure, Fault};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// Work asks at least five times in a second; what waits for something outside (a terminal, a database) may not.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long somebody has who waits for processes of their own to end.
const LONG_PATIENCE: Duration = Duration::from_secs(15);

/// The exit code of an interrupted run.
pub const INTERRUPTED: u8 = 130;

/// Whether somebody wants the work to stop, and what it would leave behind.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    /// A search is going on that could end with what it has.
    searching: Arc<AtomicBool>,
    /// Somebody does not want to wait for its end.
    hurried: Arc<AtomicBool>,
    /// There are processes that have to end first.
    has_others: Arc<AtomicBool>,
    pending: Pending,
}

impl Stop {
    /// Whether it was asked for.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Whether a search is to end with what it has.
    pub fn is_hurried(&self) -> bool {
        self.hurried.load(Ordering::Relaxed)
    }

    /// A search begins or ends that could end with what it has.
    pub fn searching(&self, now: bool) {
        self.searching.store(now, Ordering::Relaxed);
    }

    /// Asks a search to end with what it has. Whether there is one, and it was not asked before.
    fn hurry(&self) -> bool {
        self.searching.load(Ordering::Relaxed) && !self.hurried.swap(true, Ordering::Relaxed)
    }

    /// From now on there may be processes of this one that have to end before it does.
    pub fn waits_for_others(&self) {
        self.has_others.store(true, Ordering::Relaxed);
    }

    fn patience(&self) -> Duration {
        if self.has_others.load(Ordering::Relaxed) { LONG_PATIENCE } else { PATIENCE }
    }

    /// The files that are not complete yet.
    pub fn pending(&self) -> Pending {
        self.pending.clone()
    }

    /// Takes away what is not complete, and says what is left of an interrupted run.
    pub fn tell(&self) {
        let stopped = self.pending.discard();
        let left = if stopped.was_late() {
            "files that were complete by then are in their place"
        } else {
            "nothing was written"
        };
        say(&format!("\nbosket: interrupted; {left}"));
    }
}

/// Installs the handlers; a thread waits for signals from then on.
pub fn install(stop: Stop) -> Result<(), Failure> {
    let failed = |e: std::io::Error| {
        Failure::new(Fault::Environment, Diagnostic::error(format!("cannot handle signals: {e}")))
    };
    // With a handler in place, writing past a file size limit fails like writing to a full disk.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map_err(failed)?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGINT && stop.hurry() {
                say("\nbosket: finishing with the best solution so far; Ctrl-C again stops");
                continue;
            }
            stop.asked.store(true, Ordering::Relaxed);
            std::thread::sleep(stop.patience());
            stop.tell();
            std::process::exit(INTERRUPTED.into());
        }
    });
    Ok(())
}

/// A line on standard error. Whoever closed a terminal is not there to read it, which is no reason not to end.
fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// Ends this process when the one ends that started it, however that ends. The handlers must be there.
pub fn end_with(parent: Option<u32>) -> Result<(), Failure> {
    let Some(parent) = parent else { return Ok(()) };
    let failed = |what: String| Failure::new(Fault::Interrupted, Diagnostic::error(what));
    wait_for_end_of(parent)
        .map_err(|e| failed(format!("cannot follow the process that started this: {e}")))?;
    // It may have ended before anybody waited for that.
    if is_child_of(parent) { Ok(()) } else { Err(failed("whoever started this has ended".to_owned())) }
}

fn is_child_of(parent: u32) -> bool {
    let now = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
    now == i32::try_from(parent).ok()
}

/// The system tells, by the signal that asks to end.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn wait_for_end_of(_parent: u32) -> std::io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    Ok(set_parent_process_death_signal(Some(Signal::TERM))?)
}

/// Elsewhere somebody has to look.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn wait_for_end_of(parent: u32) -> std::io::Result<()> {
    use rustix::process::{Signal, getpid, kill_process};
    std::thread::Builder::new().spawn(move || {
        while is_child_of(parent) {
            std::thread::sleep(PATIENCE);
        }
        let _ = kill_process(getpid(), Signal::TERM);
    })?;
    Ok(())
}
