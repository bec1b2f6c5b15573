//! Memory that the system gives no more of: whoever asks for it is ended without a word, and what it had begun stays behind.
//!
//! What is read, searched and counted keeps to `--memory`. The rest is small, but nobody counts it. So where a limit is set
//! (`ulimit -v`, a control group), a thread looks how near it is, and ends the run while there still is room to do that well.

use std::time::Duration;

use bosket_app::limits::{Limit, limit};
use bosket_model::Diagnostic;

use crate::signals::Stop;

/// How often it looks: a run may take some hundred megabytes between two looks at most.
const TICK: Duration = Duration::from_millis(10);

/// The exit code of what the machine has not enough of.
const EXIT: i32 = 3;

/// Watches the memory that this process takes, where there is a limit.
pub fn watch(stop: Stop) {
    let Some(limit) = limit() else { return };
    let looking = std::thread::Builder::new().stack_size(256 << 10);
    // Without a thread the system says itself what is too much.
    let _ = looking.spawn(move || {
        while !limit.is_near() {
            std::thread::sleep(TICK);
        }
        end(&stop, &limit);
    });
}

fn end(stop: &Stop, limit: &Limit) {
    let (_held, left) = stop.clear();
    let what = format!("this process may take {limit} of memory, and has nearly done so; {left}");
    let help = "give it more (`ulimit -v`, or the limit of its container), or less to do: a smaller --memory, or --chunk";
    eprintln!("\n{}", Diagnostic::error(what).help(help));
    std::process::exit(EXIT);
}
