//! JSON: one record per line, or one document with all of them.
//!
//! A nested single object is part of its parent's vertex; an array is a class of its own, with a vertex per element.
//! Null and an absent key are the same; empty arrays and objects leave no trace, except as elements of an array,
//! where they count as an element without value.

mod document;
pub mod error;
mod lines;
pub mod number;
pub mod parser;
mod record;
mod scan;
mod shape;
mod template;
mod whereabouts;
pub(crate) mod write;

pub use document::Json;
pub use lines::Ndjson;
