//! The algorithms of the papers, one file each.
//!
//! `aa` and `da` repair itemsets until one cut keeps the promise, `oa` looks at all cuts. `lra` parts the records and `vpa`
//! the domain, and both repair their parts as `aa` does. `partition` needs no cut: it parts records from the root down.

pub(super) mod aa;
pub(super) mod da;
pub(super) mod lra;
pub(super) mod oa;
pub(super) mod partition;
pub(super) mod vpa;
