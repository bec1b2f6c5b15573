//! A part of many records that RPD is estimated on.
//!
//! RPD is a mean over records, and the children of a cut are compared by it: a few thousand records rank them as all would, at
//! a fraction of the time. Whether a cut is sound is never asked of a sample, and solutions are judged by all records.
//!
//! Which records are in it is decided by what they hold, and of equal ones by how many: neither the order of records nor
//! threads can change it.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::rows::{Rows, STRIDE};

/// Some of the records.
pub(super) struct Sample {
    /// A bit per record.
    words: Vec<u64>,
    count: usize,
    /// A bit per row: whether it is one of theirs.
    rows: Vec<u64>,
}

impl Sample {
    /// About `most` of so many records; none if there are not even eight times as many: then all of them do as well.
    pub(super) fn new(
        rows: &Rows,
        records: usize,
        most: usize,
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        let step = (records / most.max(1)) as u64;
        if step < 8 {
            return Ok(None);
        }
        let mut sample =
            Sample { words: vec![0; records.div_ceil(64)], count: 0, rows: vec![0; rows.len().div_ceil(64)] };
        let mut alike: FxHashMap<u64, u64> = FxHashMap::default();
        for record in 0..records as u32 {
            if record.is_multiple_of(STRIDE as u32) {
                observer.go_on()?;
            }
            // The order of rows says nothing.
            let content = rows.of(record).map(|row| mixed(rows.items(row))).fold(0, u64::wrapping_add);
            let content = mixed(&content);
            let before = alike.entry(content).or_default();
            if ((content >> 16) + *before).is_multiple_of(step) {
                sample.words[record as usize / 64] |= 1 << (record % 64);
                sample.count += 1;
                rows.of(record).for_each(|row| sample.rows[row as usize / 64] |= 1 << (row % 64));
            }
            *before += 1;
        }
        Ok(Some(sample).filter(|sample| sample.count > 0))
    }

    /// How many they are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Whether a row is of one of them.
    #[inline]
    pub(super) fn has_row(&self, row: u32) -> bool {
        self.rows[row as usize / 64] >> (row % 64) & 1 == 1
    }

    /// Which of the 64 records from `64 * at` on are in it.
    pub(super) fn word(&self, at: usize) -> u64 {
        self.words[at]
    }
}

fn mixed<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
