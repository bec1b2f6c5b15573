//! Linked tables whose rows do not fit into memory.
//!
//! Reading takes two steps. `gather` reads every table once, parents first, and finds out to whom each row belongs: rows
//! wait in a private file ordered by the key that they name, and are joined with the keys of the table above, which wait in
//! order, too. What comes out is ordered by person, table and place in the table. `records` then goes through it once and
//! builds batches of whole records: the same records in the same order as if all rows had been there at once. What a
//! publication must fulfil beside that is checked on the way (`sealed`). In memory are the tables that are looked up, one
//! batch, and what sorting takes.
//!
//! Writing (`outflow`) is the way back: records are spelt so that their bytes sort by what is published, sorted in a private
//! file, and numbered as they come.

mod cells;
mod gather;
mod joining;
mod outflow;
mod records;
mod sealed;
mod spelt;
mod texts;

pub(super) use gather::{Gathered, gather, gather_sealed};
pub(super) use outflow::SortedRows;

use crate::batches::BatchSize;

/// Bytes that one sort may take: there are up to four at a time, and as many batches follow from the size of one.
pub(super) fn sorting(size: BatchSize) -> usize {
    if size.bytes == usize::MAX { 24 << 20 } else { (2 * size.bytes).clamp(4 << 20, 32 << 20) }
}
