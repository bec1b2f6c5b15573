//! Parting knowledge by its smallest items.
//!
//! All knowledge that starts with the same items is one part. The records that matter to a part are its **entries**, flat:
//! record, then the positions of the part's items in it.
//!
//! For the records 0 1 2, 0 1 2 and 0 2 3 the postings are
//!
//! ```text
//! item   entries: record, position
//! 0      0 0   1 0   2 0
//! 1      0 1   1 1
//! 2      0 2   1 2   2 1
//! 3      2 2
//! ```
//!
//! one list after the other, with `first` 0, 6, 10, 16, 18. Parting the entries of item 0 by the next item gives the parts of
//! two items, entries of which are a record and two positions:
//!
//! ```text
//! 0 1    0 0 1   1 0 1
//! 0 2    0 0 2   1 0 2   2 0 1
//! 0 3    2 0 2
//! ```
//!
//! As suffixes, with at least two items to follow, only item 0 is left: its runs are 1..3, 4..6 and 7..9 of all items, which
//! is everything behind it in each record.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::records::Records;

/// Entries between two questions whether anybody still waits: asking is cheap, but so is an entry.
pub(super) const ASKED_ONCE: usize = 32;

/// Where each item occurs: the entries of the parts of one item.
pub(super) struct Postings {
    first: Vec<usize>,
    entries: Vec<u32>,
}

impl Postings {
    pub(super) fn new(records: &Records, observer: &dyn Observer) -> Result<Self> {
        let mut first = vec![0usize; records.item_count() + 1];
        for record in 0..records.len() {
            observer.go_on()?;
            for &item in records.items(record) {
                first[item as usize + 1] += 2;
            }
        }
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        let mut next = first.clone();
        let mut entries = vec![0; *first.last().unwrap_or(&0)];
        for record in 0..records.len() {
            observer.go_on()?;
            for (position, &item) in records.items(record).iter().enumerate() {
                let at = &mut next[item as usize];
                entries[*at] = record as u32;
                entries[*at + 1] = position as u32;
                *at += 2;
            }
        }
        Ok(Postings { first, entries })
    }

    pub(super) fn of(&self, item: usize) -> &[u32] {
        &self.entries[self.first[item]..self.first[item + 1]]
    }
}

/// Per item what comes after it in each record, where that is long enough to matter: the entries of plain sets, which need
/// no more than the items. They say where these lie, so that nothing has to be looked up on the way.
pub(super) struct Suffixes {
    first: Vec<usize>,
    runs: Vec<(u32, u32)>,
}

impl Suffixes {
    /// Of records without relations; those of at least `least` items.
    pub(super) fn new(records: &Records, least: usize, observer: &dyn Observer) -> Result<Self> {
        let mut first = vec![0usize; records.item_count() + 1];
        let enough = |items: &[u32]| items.len().saturating_sub(least);
        for record in 0..records.len() {
            observer.go_on()?;
            let items = records.items(record);
            items[..enough(items)].iter().for_each(|&item| first[item as usize + 1] += 1);
        }
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        let mut next = first.clone();
        let mut runs = vec![(0, 0); *first.last().unwrap_or(&0)];
        let mut end = 0;
        for record in 0..records.len() {
            observer.go_on()?;
            let items = records.items(record);
            let start = end;
            end += items.len() as u32;
            for (position, &item) in items[..enough(items)].iter().enumerate() {
                runs[next[item as usize]] = (start + position as u32 + 1, end);
                next[item as usize] += 1;
            }
        }
        Ok(Suffixes { first, runs })
    }

    pub(super) fn of(&self, item: usize) -> &[(u32, u32)] {
        &self.runs[self.first[item]..self.first[item + 1]]
    }
}

/// Parts a part by its next item, as many items at a time as fit into `bytes`, in the order of items, until `then` finds
/// something.
pub(super) fn by_next_item<T>(
    records: &Records,
    prefix: &mut Vec<u32>,
    entries: &[u32],
    (bytes, observer): (usize, &dyn Observer),
    mut then: impl FnMut(&mut Vec<u32>, &[u32]) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let stride = prefix.len() + 1;
    let after = |e: &[u32]| e[stride - 1] as usize + 1..records.items(e[0] as usize).len();
    let base = prefix[prefix.len() - 1] as usize + 1;
    let mut counts = vec![0usize; records.item_count() - base];
    for some in entries.chunks(ASKED_ONCE * stride) {
        observer.go_on()?;
        for e in some.chunks_exact(stride) {
            for &item in &records.items(e[0] as usize)[after(e)] {
                counts[item as usize - base] += 1;
            }
        }
    }
    let room = bytes / 4 / (4 * (stride + 1));
    let mut from = 0;
    while from < counts.len() {
        let mut to = from;
        let mut starts = vec![0usize];
        while to < counts.len() && (to == from || starts[to - from] + counts[to] <= room.max(1)) {
            starts.push(starts[to - from] + counts[to]);
            to += 1;
        }
        let mut next = starts.clone();
        let mut parts = vec![0u32; starts[to - from] * (stride + 1)];
        for (at, e) in entries.chunks_exact(stride).enumerate() {
            if at.is_multiple_of(ASKED_ONCE) {
                observer.go_on()?;
            }
            let items = records.items(e[0] as usize);
            for position in after(e) {
                let item = items[position] as usize - base;
                if (from..to).contains(&item) {
                    let at = next[item - from] * (stride + 1);
                    parts[at..at + stride].copy_from_slice(e);
                    parts[at + stride] = position as u32;
                    next[item - from] += 1;
                }
            }
        }
        for item in from..to {
            let own = &parts[starts[item - from] * (stride + 1)..starts[item - from + 1] * (stride + 1)];
            if own.is_empty() {
                continue;
            }
            prefix.push((base + item) as u32);
            let found = then(prefix, own);
            prefix.pop();
            if !matches!(found, Ok(None)) {
                return found;
            }
        }
        from = to;
    }
    Ok(None)
}
