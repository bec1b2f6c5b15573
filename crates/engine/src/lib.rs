//! Bosket's algorithms, one folder per family.
//!
//! An algorithm turns records into a release that keeps a guarantee. It is judged by the verifier, which shares no code
//! with it. Which algorithms there are and what is true of each stands in the table of `bosket_model::policy`.
//!
//! A run is refused in three steps, each before the next begins: [`Params::new`] knows the policy alone, [`refuse_unfit`]
//! the data too, and `run` of a family has searched.

mod asked;
pub mod cluster;
mod common;
pub mod dissect;
pub mod km;
pub mod kmn;
mod local;
mod params;
pub mod partition;

pub use cluster::cells;
pub use common::refuse_common;
pub use params::{Input, Params, check, foreseen, refuse_unfit, trees};
