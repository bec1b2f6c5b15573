//! How long work tells how far it is.

use std::num::NonZeroUsize;

use crate::{Failure, Result};

/// How much is read before it is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one record in lines of text, and of what a compressed file may hold however small it is.
    pub record: u64,
    /// Bytes of memory that data may take while it is read; as much as there is if not given.
    pub memory: Option<usize>,
    /// Most records in memory at once, where they can be read in parts; as many as fit if not given.
    pub chunk: Option<NonZeroUsize>,
}

impl Limits {
    /// Bytes of a record unless somebody says otherwise.
    pub const RECORD: u64 = 256 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Limits { record: Self::RECORD, memory: None, chunk: None }
    }
}

/// Whoever watches. All methods may be called from several threads.
pub trait Observer: Sync {
    /// A new stage begins, with so many steps in all.
    fn stage(&self, name: &str, steps: u64);
    /// So many more steps are done.
    fn advance(&self, steps: u64);
    /// A file or stream is being read, of so many bytes if that is known; [`position`](Self::position) says how far.
    fn reading(&self, name: &str, bytes: Option<u64>) {
        self.stage(&format!("reading {name}"), bytes.unwrap_or(0));
    }
    /// So many bytes of what is being read are read.
    fn position(&self, _bytes: u64) {}
    /// Something was decided that only the curious want to know.
    fn decided(&self, _what: &str) {}
    /// A part of the result is there, as JSON, before the rest.
    fn found(&self, _part: &str) {}
    /// How much may be read before it is given up.
    fn limits(&self) -> Limits {
        Limits::default()
    }
    /// Whether nobody waits for the result any more; long work then ends soon, with nothing. Asked often: it must be
    /// cheap.
    fn cancelled(&self) -> bool {
        false
    }
    /// Whether the time is over that a search was given; it then ends soon, with the best that it has found. Asked often: it
    /// must be cheap.
    fn out_of_time(&self) -> bool {
        false
    }
    /// A search begins or ends that can be asked by [`out_of_time`](Self::out_of_time) to finish with what it has.
    fn searching(&self, _now: bool) {}
    /// Whether the time of searches is limited at all, so that each should have something to show soon.
    fn hurries(&self) -> bool {
        false
    }
    /// A search is over, and what it has found is refined: time that was kept for that may be taken now.
    fn refining(&self) {}
    /// What was refined is put aside, and a search goes on.
    fn refined(&self) {}
    /// Gives up if nobody waits any more.
    fn go_on(&self) -> Result<()> {
        if self.cancelled() { Err(Failure::interrupted()) } else { Ok(()) }
    }
}

/// Tells somebody else nothing, but asks them whether to go on: for work of which many parts run at once.
#[derive(Clone, Copy)]
pub struct Silenced<'a>(pub &'a dyn Observer);

impl Observer for Silenced<'_> {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn reading(&self, _: &str, _: Option<u64>) {}
    fn limits(&self) -> Limits {
        self.0.limits()
    }
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
    fn out_of_time(&self) -> bool {
        self.0.out_of_time()
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
}
