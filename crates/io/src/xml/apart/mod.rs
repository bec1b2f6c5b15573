//! Dissected XML, read and written as a stream.
//!
//! A publication is one document: `Group` elements with a `Type`, `QI` or `SI`, that hold `GroupElement`s whose `Id` says
//! which groups belong together. On the quasi side each is one person, with everything that is kept of it; on the
//! sensitive side each is one value. A value stands at its path below the record. Where an element has text and
//! attributes, the text stands in a `value` of its own.

mod infer;
mod paths;
mod person;
mod publish;
mod published;
mod read;
mod walk;
mod xsd;
mod xsd_files;
mod xsd_inferred;
mod xsd_read;

pub use infer::infer;
pub(crate) use publish::{Fragments, Plain, publish};
pub(crate) use published::{read_published, read_published_in};
pub(crate) use read::read_people;
pub use xsd::{PrivateSchema, published_xsd};
