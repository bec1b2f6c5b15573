//! How much memory this process may take, where somebody has set a limit.

use std::fmt;
use std::path::Path;

/// A limit, and what counts against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    bytes: usize,
    /// Addresses count, whether there is memory behind them or not.
    of_addresses: bool,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB", self.bytes >> 20)
    }
}

/// The lowest limit of this process: of its addresses (`ulimit -v`), or of the control group that it is in.
pub fn limit() -> Option<Limit> {
    let addresses =
        number("/proc/self/limits", "Max address space").map(|bytes| Limit { bytes, of_addresses: true });
    let group = group().map(|bytes| Limit { bytes, of_addresses: false });
    addresses.into_iter().chain(group).min_by_key(|limit| limit.bytes)
}

impl Limit {
    /// In bytes.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Whether nearly all of it is taken. Of addresses allocators take more than they need, and come to terms with less:
    /// only both together are near the end.
    pub fn is_near(self) -> bool {
        let taken = |name: &str| number("/proc/self/status", name).map_or(0, |kilobytes| kilobytes << 10);
        let resident = taken("VmRSS:");
        let without = |part: usize| self.bytes - self.bytes / part;
        match self.of_addresses {
            true => resident > without(2) && taken("VmSize:") > without(8),
            false => resident > without(16),
        }
    }
}

/// Where each version of control groups is mounted, what it calls its own line, and the file with the limit.
const GROUPS: [(&str, &str, &str); 2] =
    [("::", "/sys/fs/cgroup", "memory.max"), (":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes")];
/// More than any machine has stands for no limit.
const UNLIMITED: usize = 1 << 50;

/// What the control groups around this process allow; none where they allow everything.
fn group() -> Option<usize> {
    let told = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let allowed = GROUPS.iter().filter_map(|(line, mount, file)| {
        let own = told.lines().find_map(|told| Some(told.split_once(line)?.1))?;
        let own = Path::new(mount).join(own.trim_start_matches('/'));
        let most =
            |folder: &Path| std::fs::read_to_string(folder.join(file)).ok()?.trim().parse::<usize>().ok();
        own.ancestors().take_while(|folder| folder.starts_with(mount)).filter_map(most).min()
    });
    allowed.filter(|bytes| *bytes < UNLIMITED).min()
}

/// The first number behind a name that a line of a file of the system begins with.
pub(crate) fn number(file: &str, name: &str) -> Option<usize> {
    let told = std::fs::read_to_string(file).ok()?;
    let rest = told.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_near_its_limit_only_when_memory_is_taken() {
        if number("/proc/self/status", "VmRSS:").is_none() {
            eprintln!("skipped: the system does not tell how much memory a process takes");
            return;
        }
        for of_addresses in [true, false] {
            assert!(Limit { bytes: 1 << 20, of_addresses }.is_near());
            assert!(!Limit { bytes: 1 << 44, of_addresses }.is_near());
        }
    }
}
