//! JSON: one record per line, or one document with all of them.
//!
//! A nested single object is part of its parent's vertex; an array is a class of its own, with a vertex per element.
//! Null and an absent key are the same; empty arrays and objects leave no trace, except as elements of an array,
//! where they count as an element without value. Values of MongoDB's types are plain values that remember their type.

pub(crate) mod document;
pub mod error;
mod extended;
mod lines;
pub mod number;
mod offer;
pub mod parser;
pub(crate) mod record;
pub(crate) mod scan;
pub(crate) mod shape;
mod template;
pub(crate) mod whereabouts;
pub(crate) mod write;

pub use document::Json;
pub(crate) use document::is_document;
pub use extended::{Extended, Types};
pub use lines::Ndjson;
pub(crate) use template::always_present;
pub(crate) use write::record_texts_as;
