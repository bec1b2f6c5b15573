//! Generalization hierarchies: which more general value may stand for which original ones.
//!
//! A [`Hierarchy`] is read from an ARX-style CSV text ([`csv`]) or made by one of the builders ([`build()`]). Both
//! plant the nodes with a [`TreeBuilder`], the only place where nodes are numbered. [`Hierarchy::bind`] then lays
//! the values of the data over the leaves.

pub mod atc;
pub mod bind;
pub mod build;
mod cells;
pub mod csv;
pub mod date;
mod date_format;
pub mod draw;
pub mod fanout;
pub mod from;
pub mod icd10;
mod icd10_table;
pub mod interval;
mod labels;
pub mod letters;
mod number;
pub mod order;
pub mod prefix;
pub mod range;
pub mod spec;
pub mod tree;
pub mod tree_builder;
mod when;

pub use build::build;
pub use date_format::DateFormat;
pub use draw::{DrawOptions, draw};
pub use range::Numbers;
pub use spec::{Build, Clamp, DateLevel, Group, HierarchySpec};
pub use tree::{Hierarchy, NodeId, ROOT_LABEL};
pub use tree_builder::{Handle, TreeBuilder};
