//! Example datasets. The same seed and size give the same bytes on every machine.

pub mod baskets;
pub mod clinic;
pub mod hospital;
pub mod sensitive_tree;
pub mod students;
pub mod tpch;
