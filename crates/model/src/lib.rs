//! Bosket's model: what the data is, what the policy says, and how problems are reported.
//!
//! Everything here is a function of its arguments: no files, no clock, no threads.

pub mod binding;
pub mod calendar;
pub mod dataset;
pub mod diag;
pub mod dictionary;
pub mod dissected;
mod fingerprint;
pub mod hierarchy;
mod hmac;
pub mod kind;
pub mod masks;
pub mod observe;
pub mod partition;
pub mod path;
pub mod policy;
pub mod random;
pub mod schema;
pub mod selection;
pub mod sides;
pub mod value_tree;
pub mod words;

pub use dataset::{Builder, Dataset, Sets};
pub use diag::{Diagnostic, Failure, Fault, Place, Result, Severity};
pub use dictionary::{Dictionary, Kind, MISSING};
pub use fingerprint::Fingerprint;
pub use schema::{AttributeId, ClassId, Schema};
