//! What travels between those who work on parts of the records: their exact bytes, one numbering for all parts, and what
//! values there are.
//!
//! A part is a [`Dataset`](crate::Dataset) of its own. [`Survey`]s of parts are merged into a frame, a dataset without records whose
//! classes, attributes and values are those of all parts; [`Joined`] lays parts over it, so that one number means one value
//! everywhere.

pub mod bytes;
mod codec;
mod joined;
mod survey;

pub use joined::Joined;
pub use survey::Survey;
