//! An observer whose time is over soon.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use bosket_model::observe::Observer;

/// Has time for so many questions.
#[derive(Debug)]
pub struct Hurried {
    left: AtomicUsize,
    over: AtomicBool,
}

impl Hurried {
    /// Whoever asks more often than this hears that the time is over.
    pub fn new(asks: usize) -> Self {
        Hurried { left: AtomicUsize::new(asks), over: AtomicBool::new(false) }
    }

    /// Whether somebody has heard so.
    pub fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }
}

impl Observer for Hurried {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn hurries(&self) -> bool {
        true
    }
    fn out_of_time(&self) -> bool {
        let over = self.left.try_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err();
        self.over.fetch_or(over, Relaxed);
        over
    }
}
