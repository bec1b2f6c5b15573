//! How long work tells how far it is.

/// Whoever watches. All methods may be called from several threads.
pub trait Observer: Sync {
    /// A new stage begins, with so many steps in all.
    fn stage(&self, name: &str, steps: u64);
    /// So many more steps are done.
    fn advance(&self, steps: u64);
    /// Whether nobody waits for the result any more; long work then ends soon, with nothing.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
}
