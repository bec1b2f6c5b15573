//! Cuts, and how they are changed until nothing is wrong with them.
//!
//! `cut` is a cut with what it loses, `search` one on its way with all that is known about it. `walk` and `triples` go
//! through the itemsets that are too rare, `repair` raises or drops what costs least for one of them. `beyond` does the
//! same for sensitive and absent items, and `improve` undoes what turned out unnecessary.

pub(super) mod beyond;
pub(super) mod cut;
pub(super) mod improve;
mod repair;
pub(super) mod search;
pub(super) mod triples;
pub(super) mod walk;
