//! `miraclex`: `miracle` with vertices matched by their own values alone. The matching is a parameter of joining, so the
//! stream is the same.

pub(crate) use super::miracle::miracle as miraclex;
