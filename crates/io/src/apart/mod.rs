//! Dissected publications: quasi and sensitive values on two sides that only groups join.
//!
//! A **source** hands out people one after the other, each with the text of its quasi side and its sensitive values. The
//! texts are kept in a private file, the values as codes; once groups are found, each group's people and values are
//! brought together, ordered by their texts, and the groups by theirs. Sorting spills to private files as well, so that
//! memory does not depend on how long the texts are.

mod against;
mod batched;
mod clusters;
mod columns;
mod dissection;
mod draft;
mod form;
mod groups;
mod json;
mod json_form;
mod json_read;
mod json_window;
mod order;
mod parted;
mod published;
mod records;
mod scratch;
mod sorter;
mod spool;
mod tables;
mod tables_read;
mod truth;

pub use clusters::{Clustered, Records};
use dissection::KeptRecords;
pub use dissection::{Dissection, People};
pub use draft::{Drafts, Written};
pub(crate) use groups::{Groups, Numbered};
pub use parted::{PartOfSides, SidesInParts, group_texts, spooled};
pub use published::PublishedReader;
pub(crate) use published::tables_in;
pub(crate) use scratch::Scratch;
pub(crate) use sorter::{Merged, Sorter};
pub use spool::Spool;
pub(crate) use spool::{Parts, SIDE, join};
pub(crate) use tables::SENSITIVE;
