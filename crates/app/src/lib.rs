//! What a run of Bosket is, for whoever wants one: the command line, a web page, a notebook.
//!
//! Every function takes a typed request and an [`Observer`](bosket_model::observe::Observer), and gives a [`Warned`]
//! result or a [`Failure`](bosket_model::Failure). Warnings travel with the result, or in front of the errors that ended
//! the work. Nothing prints, nothing exits; a call has its own threads and its own list of files that are not complete
//! yet, so that several can run side by side.
//!
//! ```text
//! prepare ─► make ─► write ─► read again ─► verify ─► pair ─► measure ─► certify ─► publish ─► report
//! ```
//!
//! is the one pipeline of [`anonymize()`]; what differs between publications of records, of clusters with their sides
//! apart and of dissected data is one file each in its folder.

mod advice;
pub mod anonymize;
pub mod attack;
mod both;
mod celled;
pub mod certificate;
mod certified;
pub mod checks;
mod chunked;
mod classes;
pub mod convert;
mod deadline;
mod drafted;
pub mod export;
mod figures;
mod finer;
mod grounds;
pub mod guess;
mod hollow;
pub mod inspect;
pub mod joint;
mod key;
mod legend;
pub mod limits;
mod load;
mod look;
pub mod make;
pub mod measure;
mod negative;
pub mod open;
mod pairs;
pub mod parted;
pub mod partition;
mod places;
pub mod prepare;
mod private;
mod register;
pub mod report;
mod run;
mod same_attacker;
pub mod sign;
mod silent;
pub mod sweep;
pub mod trial;
pub mod verify;
mod warned;
pub mod why;

pub use anonymize::{Release, anonymize};
pub use attack::attack;
pub use certificate::certificate;
pub use certified::CertificateCheck;
pub use checks::Census;
pub use convert::convert;
pub use export::export;
pub use figures::{ClusterFigures, DissectedFigures, Figures, KmFigures, KmnFigures};
pub use inspect::inspect;
pub use load::{PolicyAt, Reading};
pub use look::{LinkedTables, Looked, Preset};
pub use measure::measure;
pub use prepare::{Prepared, prepare};
pub use report::report;
pub use run::Settings;
pub use same_attacker::SameAttacker;
pub use sweep::sweep;
pub use verify::{Unprotected, Verified, verify};
pub use warned::Warned;
pub use why::why;

/// What a failing call gives.
pub use bosket_model::Result;
