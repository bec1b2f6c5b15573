//! Signals: an interrupted run leaves nothing behind, a full disk is an error and not the end of the process.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use bosket_io::Pending;
use bosket_model::{Diagnostic, Failure, Fault};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// The files that this process has begun.
pub fn pending() -> Pending {
    static PENDING: OnceLock<Pending> = OnceLock::new();
    PENDING.get_or_init(Pending::default).clone()
}

/// Installs the handlers; a thread waits for signals from then on.
pub fn install() -> Result<(), Failure> {
    let failed = |e: std::io::Error| {
        Failure::new(Fault::Environment, Diagnostic::error(format!("cannot handle signals: {e}")))
    };
    // With a handler in place, writing past a file size limit fails like writing to a full disk.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map_err(failed)?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let pending = pending();
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            // Nothing can be put in place between this and the exit.
            let stopped = pending.discard();
            let left = if stopped.was_late() {
                "files that were complete by then are in their place"
            } else {
                "nothing was written"
            };
            eprintln!("\nbosket: interrupted; {left}");
            std::process::exit(130);
        }
    });
    Ok(())
}
