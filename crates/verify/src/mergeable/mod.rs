//! Counts that add up: publications that are checked part by part, in any order, by any number of machines.
//!
//! A part is counted ([`ClassState::count`]), states are merged, and who has merged all of them gives the verdict (`finish`). Nothing is lost on the way: a class is told by the whole published tree, not by a hash of it, and what is counted of it are whole numbers,
//! so verdict and size of the witness do not depend on how the records were parted. What classes say of sensitive values is counted a second time
//! over all parts ([`recount::parts`](crate::recount::parts)), and only then the verdict is one ([`FirstVerdict::confirmed`]). A part must be counted once: whoever may have counted one
//! twice keeps states by part.

mod classes;
mod forms;
mod judge;

pub use classes::{ClassState, FirstVerdict, is_counted_again, united};
