//! Reading and writing of data: formats, compression, files that appear whole or not at all.
//!
//! [`Input`] opens and decompresses, [`read`] finds the [`Format`] and turns the text into a
//! [`Dataset`](bosket_model::Dataset), or says everything that is wrong with it. [`Format::write`] turns a dataset
//! into text of the same shape, ordered by its content; [`Output`] compresses it and puts it in its place.
//!
//! Parquet, PostgreSQL and SQLite are features, all on by default. A build without one recognises what it cannot read,
//! and says so.
#![cfg_attr(
    not(all(feature = "parquet", feature = "postgres", feature = "sqlite")),
    allow(dead_code, reason = "what only a format uses that is left out")
)]

pub mod apart;
pub mod atomic;
pub mod batches;
mod bottom_up;
pub mod chunks;
mod compressed;
pub mod convert;
mod fault;
pub mod fhir;
pub mod fingerprint;
mod folder;
pub mod form;
pub mod format;
pub mod frames;
pub mod gather;
mod hidden;
pub mod hierarchies;
pub mod homes;
pub mod input;
pub mod json;
pub mod kinds;
#[cfg(not(all(feature = "parquet", feature = "postgres", feature = "sqlite")))]
mod left_out;
pub mod output;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "parquet/absent.rs"]
pub mod parquet;
pub mod parts;
pub mod policy_file;
mod problems;
pub mod publication;
mod rows;
mod sorted;
pub mod source;
mod stop;
pub mod table;
pub mod tables;
pub mod transactions;
pub mod xml;

pub use atomic::{Create, Pending, Stopped};
pub use batches::BatchSize;
pub use chunks::Chunks;
pub use fault::from_write as write_failure;
pub use fingerprint::Certify;
pub use format::{
    FORMATS, Format, GuessedRecords, Layout, Loaded, by_extension, by_name, guess_records, read,
    read_observed, sniff,
};
pub use frames::{Frame, Frames};
pub use input::{Input, Progress};
pub use output::{Output, finish_all, make_folder};
pub use policy_file::{PolicyFile, read_long_text, read_text};
pub use publication::Publication;
pub use source::{Opened, SourceForm, Whereabouts};
pub use tables::certificate_files;
