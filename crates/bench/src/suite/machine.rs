//! Where and what is run.

use std::path::Path;
use std::process::Command;

use super::result::{Machine, Versions};

impl Machine {
    /// This one; empty where the system does not say.
    pub(super) fn here() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let after_colon = |text: &str, key: &str| {
            let line = text.lines().find(|l| l.starts_with(key))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let memory = after_colon(&read("/proc/meminfo"), "MemTotal").unwrap_or_default();
        let kilobytes: u64 = memory.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        Machine {
            cpu: after_colon(&read("/proc/cpuinfo"), "model name").unwrap_or_default(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mb: kilobytes / 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }
}

impl Versions {
    /// Of this program.
    pub(super) fn here() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let commit = told(Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).current_dir(folder));
        let changed = told(Command::new("git").args(["status", "--porcelain", "-uno"]).current_dir(folder));
        let mark = if changed.is_some_and(|files| !files.is_empty()) { "+" } else { "" };
        Versions {
            bosket: env!("CARGO_PKG_VERSION").to_owned(),
            rustc: told(Command::new("rustc").arg("--version")),
            commit: commit.map(|commit| commit + mark),
        }
    }
}

/// What a command prints; none if it is not there or fails.
fn told(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|o| o.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
