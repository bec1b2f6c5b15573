//! One call: its threads, who watches it, and the warnings that it collects.

use std::any::Any;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bosket_io::{Create, Pending};
use bosket_model::observe::{Limits, Observer};
use bosket_model::{Diagnostic, Failure, Fault, Result};

use crate::limits::{limit, number};
use crate::warned::Warned;

/// What every call can be told. The default is right for most.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Threads to use; as many as there are processors if not given. Results never depend on it.
    pub threads: Option<NonZeroUsize>,
    /// Bytes for data while it is read, for searching and counting; half of the machine's memory if not given.
    pub memory: Option<usize>,
    /// Bytes of a record, and of what a compressed file may hold however small it is; 256 MiB if not given.
    pub record: Option<u64>,
    /// Most records that are in memory at once, where records can be worked on in parts; where they fit, all if not given.
    pub chunk: Option<NonZeroUsize>,
    /// Messages may name values of the private data.
    pub show_values: bool,
    /// The files that the call has begun, for whoever has to end it before it ends itself.
    pub pending: Pending,
}

impl Settings {
    /// Bytes for searching and counting.
    pub fn memory(&self) -> usize {
        self.memory.unwrap_or_else(half_of_memory)
    }

    /// How files are created.
    pub(crate) fn create(&self, force: bool, private: bool) -> Create {
        Create { force, private, pending: self.pending.clone() }
    }
}

/// Half of the machine's memory, or of what this process may take of it; two gigabytes where the system does not say how
/// much there is.
fn half_of_memory() -> usize {
    let machine = number("/proc/meminfo", "MemTotal:").map_or(4 << 30, |kilobytes| kilobytes * 1024);
    // Whoever gets no more memory from the system is ended, without a word of ours.
    limit().map_or(machine, |limit| machine.min(limit.bytes())) / 2
}

/// A call under way.
pub(crate) struct Run<'o> {
    pub(crate) settings: &'o Settings,
    pub(crate) observer: &'o dyn Observer,
    warnings: RefCell<Vec<Diagnostic>>,
}

impl Run<'_> {
    /// Keeps warnings for whoever gets the result, each once: what is read again is warned of again.
    pub(crate) fn warn(&self, warnings: impl IntoIterator<Item = Diagnostic>) {
        let mut known = self.warnings.borrow_mut();
        for warning in warnings {
            if !known.contains(&warning) {
                known.push(warning);
            }
        }
    }
}

/// Somebody who watches, and how much may be read meanwhile.
struct Limited<'o> {
    inner: &'o dyn Observer,
    limits: Limits,
}

impl Observer for Limited<'_> {
    fn stage(&self, name: &str, steps: u64) {
        self.inner.stage(name, steps);
    }
    fn advance(&self, steps: u64) {
        self.inner.advance(steps);
    }
    fn reading(&self, name: &str, bytes: Option<u64>) {
        self.inner.reading(name, bytes);
    }
    fn position(&self, bytes: u64) {
        self.inner.position(bytes);
    }
    fn decided(&self, what: &str) {
        self.inner.decided(what);
    }
    fn found(&self, part: &str) {
        self.inner.found(part);
    }
    fn limits(&self) -> Limits {
        self.limits
    }
    fn cancelled(&self) -> bool {
        self.inner.cancelled()
    }
    fn out_of_time(&self) -> bool {
        self.inner.out_of_time()
    }
    fn searching(&self, now: bool) {
        self.inner.searching(now);
    }
    fn go_on(&self) -> Result<()> {
        self.inner.go_on()
    }
}

/// Does a call's work on threads of its own. What panics is an error of ours, caught here.
pub(crate) fn run<T: Send>(
    settings: &Settings,
    observer: &dyn Observer,
    work: impl FnOnce(&Run<'_>) -> Result<T> + Send,
) -> Result<Warned<T>> {
    let threads = settings.threads.map_or(0, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| {
        let what = format!("cannot start {threads} threads: {e}");
        Failure::new(Fault::Environment, Diagnostic::error(what))
    })?;
    let limited = Limited {
        inner: observer,
        limits: Limits {
            record: settings.record.unwrap_or(Limits::RECORD),
            memory: Some(settings.memory()),
            chunk: settings.chunk,
        },
    };
    pool.install(|| {
        let run = Run { settings, observer: &limited, warnings: RefCell::default() };
        let result = catch_unwind(AssertUnwindSafe(|| work(&run)))
            .unwrap_or_else(|panic| Err(Failure::defect(said(panic.as_ref()))));
        let warnings = run.warnings.into_inner();
        match result {
            Ok(value) => Ok(Warned { value, warnings }),
            Err(mut failure) => {
                failure.diagnostics.splice(0..0, warnings);
                Err(failure)
            }
        }
    })
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the work broke off: {}", text.unwrap_or("no reason was given"))
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;

    use super::*;

    fn told() -> Diagnostic {
        Diagnostic::warning("look here")
    }

    #[test]
    fn warnings_come_with_results_and_before_errors() {
        let done = run(&Settings::default(), &Quiet, |run| {
            run.warn([told()]);
            Ok(7)
        });
        let done = done.expect("done");
        assert_eq!((done.value, &done.warnings[..]), (7, &[told()][..]));
        let failed = run(&Settings::default(), &Quiet, |run| -> Result<()> {
            run.warn([told()]);
            Err(Failure::interrupted())
        });
        let failed = failed.expect_err("failed");
        assert_eq!(failed.diagnostics[0], told());
        assert_eq!((failed.fault, failed.diagnostics.len()), (Fault::Interrupted, 2));
    }

    #[test]
    fn the_same_warning_comes_once() {
        let done = run(&Settings::default(), &Quiet, |run| {
            run.warn([told(), Diagnostic::warning("and there"), told()]);
            run.warn([told()]);
            Ok(())
        });
        assert_eq!(done.expect("done").warnings, [told(), Diagnostic::warning("and there")]);
    }

    #[test]
    fn a_panic_is_an_error_of_ours() {
        let broken = run(&Settings::default(), &Quiet, |_| -> Result<()> { panic!("index out of bounds") });
        let broken = broken.expect_err("broken");
        assert_eq!(broken.fault, Fault::Defect);
        assert!(broken.diagnostics[0].message.contains("index out of bounds"));
    }

    #[test]
    fn a_call_has_its_own_threads() {
        for n in [1, 2, 5] {
            let settings = Settings { threads: NonZeroUsize::new(n), ..Settings::default() };
            let found = run(&settings, &Quiet, |_| Ok(rayon::current_num_threads()));
            assert_eq!(found.expect("done").value, n);
        }
    }
}
