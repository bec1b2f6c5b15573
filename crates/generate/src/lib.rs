//! Example datasets from a seed. The same seed gives the same bytes on every machine.

pub mod clinic;
pub mod random;
