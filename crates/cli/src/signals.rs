//! Signals: an interrupted run leaves nothing behind, a full disk is an error and not the end of the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bosket_io::{Pending, Stopped};
use bosket_model::{Diagnostic, Failure, Fault};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// Work asks at least five times in a second; what waits for something outside (a terminal, a database) may not.
const PATIENCE: Duration = Duration::from_secs(1);

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

    /// The files that are not complete yet.
    pub fn pending(&self) -> Pending {
        self.pending.clone()
    }

    /// Takes away what is not complete, and says what is left. Nothing is completed while the first of both is held.
    pub fn clear(&self) -> (Stopped<'_>, &'static str) {
        let stopped = self.pending.discard();
        let left = if stopped.was_late() {
            "files that were complete by then are in their place"
        } else {
            "nothing was written"
        };
        (stopped, left)
    }

    /// Takes away what is not complete, and says what is left of an interrupted run.
    pub fn tell(&self) {
        let (_held, left) = self.clear();
        eprintln!("\nbosket: interrupted; {left}");
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
                eprintln!("\nbosket: finishing with the best solution so far; Ctrl-C again stops");
                continue;
            }
            stop.asked.store(true, Ordering::Relaxed);
            std::thread::sleep(PATIENCE);
            stop.tell();
            std::process::exit(INTERRUPTED.into());
        }
    });
    Ok(())
}
