//! What is counted in one go: its shape, and what a counter of it has to be able to do.
//!
//! Of the knowledge of v values the first ones are those of a part, and the last up to three are counted: with v = 5 the
//! shape has two items before and three last. Over ten items that can follow a part these are 120 combinations in 45 rows;
//! with all relations between five values known, each has 2^10 cells.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::dense::SmallestByRelations;
use super::records::{Records, pair_count};

/// A number that stops at its largest value.
pub(super) trait Counter: Copy + Default + Send + Sync + PartialEq + Into<u32> {
    fn add(&mut self, more: Self);
    const ONE: Self;
}

macro_rules! counters {
    ($($number:ty),+) => {
        $(impl Counter for $number {
            #[inline]
            fn add(&mut self, more: Self) {
                *self = self.saturating_add(more);
            }
            const ONE: Self = 1;
        })+
    };
}
counters!(u8, u16, u32);

/// Counts the last items of some knowledge. Between parts all cells are empty.
pub(super) trait Kernel: Send + Sized {
    /// Room for parts over up to `items` items.
    fn new(shape: Shape, items: usize) -> Self;
    /// Starts a part whose last items are from `low` on.
    fn begin(&mut self, low: usize, items: usize);
    /// Counts a record that has the part's items at the positions of `prefix`.
    fn add(
        &mut self,
        records: &Records,
        record: usize,
        prefix: &[u32],
        observer: &dyn Observer,
    ) -> Result<()>;
    /// Adds the counts of other records of the same part.
    fn join(&mut self, other: &Self);
    /// Finds the violations of the part with the items of `prefix` and empties all cells.
    fn violations(&mut self, found: &mut SmallestByRelations<'_>, prefix: &[u32]);
}

/// What is counted.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Items of the part.
    pub(super) before: usize,
    /// Items that follow them: 2 or 3, or 1.
    pub(super) last: usize,
    /// Most relations.
    pub(super) most: usize,
    /// Bits of a set of relations.
    pub(super) bits: u32,
    /// Fewest records.
    pub(super) k: u32,
    /// Whether relations that hold one by one need not hold together.
    pub(super) embedded: bool,
}

impl Shape {
    /// Whether combinations of two or more items are counted, whatever their relations.
    pub(super) fn is_plain(&self) -> bool {
        self.bits == 0 && self.last > 1
    }

    /// How many combinations of the last items there are, if that is a number.
    pub(super) fn groups(&self, items: usize) -> Option<usize> {
        match self.last {
            0 | 1 => Some(items),
            2 => items.checked_mul(items.saturating_sub(1)).map(|n| n / 2),
            _ => {
                let pairs = items.checked_mul(items.saturating_sub(1))? / 2;
                pairs.checked_mul(items.saturating_sub(2)).map(|n| n / 3)
            }
        }
    }

    pub(super) fn rows(&self, items: usize) -> usize {
        if self.last == 3 { pair_count(items) } else { items }
    }

    /// Bytes of all cells over so many items, if that is a number.
    pub(super) fn bytes<C>(&self, items: usize) -> Option<usize> {
        let cells = self.groups(items)?.checked_mul(1usize.checked_shl(self.bits.min(40))?)?;
        let cells = cells.checked_mul(if self.embedded { 2 } else { 1 })?;
        cells.checked_mul(size_of::<C>())?.checked_add(self.rows(items))
    }
}
