//! Time and memory of this process.

use std::time::{Duration, Instant};

/// Runs something and takes the time.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let result = work();
    (result, begun.elapsed())
}

/// Memory in use now and at most so far, in bytes. Zero where the system does not say.
pub(crate) fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|l| l.starts_with(name));
        line.and_then(|l| l.split_whitespace().nth(1)).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// Lets the most memory in use begin anew, where the system can do that.
pub(crate) fn reset_peak() {
    // Elsewhere the peak stays that of the whole process.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Seconds that all threads of this process have run so far: unlike the clock, this does not count waiting for a
/// machine that others use. Zero where the system does not say.
pub(crate) fn cpu() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    nanoseconds.sum::<u64>() as f64 / 1e9
}

/// Megabytes, for people.
pub(crate) fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
