//! Giving up in hot code.

use bosket_model::Failure;
use bosket_model::observe::Observer;

/// Nobody waits any more. Trees are joined millions of times: this fits into a register together with a cost, a [`Failure`]
/// does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// What hot code gives back.
pub(super) type Hot<T> = Result<T, Interrupted>;

impl Interrupted {
    /// What everybody else says.
    pub(super) fn failure(self) -> Failure {
        Failure::interrupted()
    }
}

/// Gives up if nobody waits any more.
pub(super) fn go_on(observer: &dyn Observer) -> Hot<()> {
    if observer.cancelled() { Err(Interrupted) } else { Ok(()) }
}
