//! Which itemsets are in too few records: everything here counts, nothing decides.
//!
//! `coded` lays the transactions out at a cut, as codes by falling support. Pairs are counted in a matrix (`pairs`), larger
//! sets in planes of pairs per prefix (`rare`, over `plane` and `plane_counter`); counters stop at k (`count`). `counted`
//! says what a count of the cut tells about sets above it, `tids` which records have some nodes. `count_tree` sizes the tree
//! of the paper, which nothing else needs.

pub(super) mod coded;
mod count;
pub(super) mod count_tree;
pub(super) mod counted;
pub(super) mod pairs;
mod plane;
mod plane_counter;
pub(super) mod rare;
pub(super) mod tids;
