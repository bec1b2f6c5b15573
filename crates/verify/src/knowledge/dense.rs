//! Counting all knowledge of v values in one go, whatever its relations, with a cell for every combination there is.
//!
//! The last three items of the knowledge have a **group** of cells, one per set of related pairs. A record adds one to a
//! single cell of each of its triples: that of all its related pairs. What the group says of fewer relations are then
//! sums over larger sets. Cells stop counting at their largest number, which is at least k; nobody needs to know how far
//! beyond k a count goes. With three values the records are parted between threads and their cells added up; with more
//! the parts of the first items are counted one by one in the same cells, and only rows that were touched are looked at
//! and emptied.
//!
//! Cells that do not stay near the processor are slower than tables of keys: past [`MOST_BYTES`] (some 700 items, or
//! half as many with relations) the levels are counted in tables.
//!
//! Take the three records of [`knowledge`](super) with v = 3, up to two relations, and k = 2. Each record has one triple, and adds
//! one to one cell (see `cells` for their numbers):
//!
//! ```text
//! triple   cell of the relations   count   sums: none  0–1  1–2  both
//! 0 1 2    001 (record 0)          1             2     2    1    1
//!          101 (record 1)          1
//! 0 2 3    000 (record 2)          1             1     –    –    –
//! ```
//!
//! What is known of fewer relations is a sum over all sets that have them: 0–1 is known of both records, 1–2 of one. Below k
//! are {0, 2, 3} without relations, {0, 1, 2} with 1–2, and with both. [`SmallestByRelations`] keeps the smallest of
//! each number of relations, here (0 2 3, 000), (0 1 2, 100) and (0 1 2, 101); the first of them is the smallest of all. With
//! v = 4 there is a part per first item, whose cells count the triples behind it of the records that have it.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use bosket_model::Result;
use bosket_model::observe::Observer;
use rayon::prelude::*;

use super::Range;
use super::cells::Cells;
use super::kernel::{Kernel, Shape};
use super::parts::{ASKED_ONCE, Postings, Suffixes, by_next_item};
use super::records::{Records, pair_count};
use super::sets::SetCells;

/// Most bytes of the cells of one thread.
const MOST_BYTES: usize = 64 << 20;

/// Records that a thread takes at a time.
const BLOCK: usize = 512;

/// For each number of relations the smallest violation: items and relations.
pub(super) struct SmallestByRelations<'a> {
    by_relations: Vec<Option<(Vec<u32>, u64)>>,
    /// The number that the items of the records had before they were ordered by rarity.
    original: Option<&'a [u32]>,
    items: Vec<u32>,
}

impl<'a> SmallestByRelations<'a> {
    fn nothing(most: usize, original: Option<&'a [u32]>) -> Self {
        SmallestByRelations { by_relations: vec![None; most + 1], original, items: Vec::new() }
    }

    /// Takes a violation into account.
    pub(super) fn offer(&mut self, items: impl Iterator<Item = u32>, relations: u64) {
        self.items.clear();
        match self.original {
            None => self.items.extend(items),
            Some(original) => {
                self.items.extend(items.map(|item| original[item as usize]));
                self.items.sort_unstable();
            }
        }
        let place = &mut self.by_relations[relations.count_ones() as usize];
        let key = (self.items.as_slice(), relations);
        if place.as_ref().is_none_or(|(items, relations)| key < (items.as_slice(), *relations)) {
            *place = Some((self.items.clone(), relations));
        }
    }

    /// Whether no violation with larger items is smaller than what was found.
    fn is_settled(&self) -> bool {
        self.original.is_none() && self.by_relations[0].is_some()
    }

    fn join(&mut self, other: Self) {
        for (own, other) in self.by_relations.iter_mut().zip(other.by_relations) {
            if other.is_some() && (own.is_none() || other < *own) {
                *own = other;
            }
        }
    }

    /// The smallest of all, with its number of relations.
    pub(super) fn smallest(self) -> Option<(usize, Vec<u32>, u64)> {
        let found = self.by_relations.into_iter().enumerate();
        found.filter_map(|(r, found)| found.map(|(items, relations)| (r, items, relations))).next()
    }
}

/// All knowledge of v values and up to r relations.
pub(super) struct Dense<'a> {
    records: &'a Records,
    original: Option<&'a [u32]>,
    range: Range,
    v: usize,
    shape: Shape,
}

impl<'a> Dense<'a> {
    /// Counting of `records`, or of the same records ordered by rarity if they are plain sets. None if the cells would
    /// take too much memory.
    pub(super) fn new(
        ordered: &'a Ordered<'a>,
        range: Range,
        (v, r): (usize, usize),
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        let records = ordered.records;
        let planes = if records.is_signed() { 2 } else { 1 };
        let shape = Shape {
            before: v.saturating_sub(3),
            last: v.min(3),
            most: r,
            bits: if r == 0 { 0 } else { (planes * pair_count(v)) as u32 },
            k: range.k,
            // One relation is the same in both readings.
            embedded: r > 1 && records.is_embedded(),
        };
        let items = records.item_count().saturating_sub(shape.before);
        let bytes = match range.k {
            _ if shape.is_plain() => SetCells::bytes(&shape, items),
            0..=0xFF => shape.bytes::<u8>(items),
            0x100..=0xFFFF => shape.bytes::<u16>(items),
            _ => shape.bytes::<u32>(items),
        };
        let share = (range.memory / rayon::current_num_threads()).min(MOST_BYTES);
        if bytes.is_none_or(|bytes| bytes > share) {
            return Ok(None);
        }
        let by_rarity = if shape.is_plain() { ordered.by_rarity(observer)? } else { None };
        let (records, original) = match by_rarity {
            Some((records, original)) => (records, Some(original)),
            None => (records, None),
        };
        Ok(Some(Dense { records, original, range, v, shape }))
    }

    /// The smallest violations.
    pub(super) fn violations(&self, observer: &dyn Observer) -> Result<SmallestByRelations<'a>> {
        match self.range.k {
            _ if self.shape.is_plain() && self.shape.before == 1 => self.count_suffixes(observer),
            _ if self.shape.is_plain() => self.count::<SetCells>(observer),
            0..=0xFF => self.count::<Cells<u8>>(observer),
            0x100..=0xFFFF => self.count::<Cells<u16>>(observer),
            _ => self.count::<Cells<u32>>(observer),
        }
    }

    fn count<K: Kernel>(&self, observer: &dyn Observer) -> Result<SmallestByRelations<'a>> {
        if self.shape.before == 0 {
            self.count_records::<K>(observer)
        } else {
            self.count_parts::<K>(observer)
        }
    }

    /// Parts the records between threads.
    fn count_records<K: Kernel>(&self, observer: &dyn Observer) -> Result<SmallestByRelations<'a>> {
        let (records, next) = (self.records, AtomicUsize::new(0));
        observer.stage(&format!("knowledge of {} values", self.v), records.len() as u64);
        let threads = rayon::current_num_threads().min(records.len().div_ceil(BLOCK)).max(1);
        let counted: Vec<K> = (0..threads)
            .into_par_iter()
            .with_max_len(1)
            .map(|_| -> Result<K> {
                let mut cells = K::new(self.shape, records.item_count());
                cells.begin(0, records.item_count());
                loop {
                    let from = next.fetch_add(BLOCK, Ordering::Relaxed);
                    if from >= records.len() {
                        return Ok(cells);
                    }
                    let to = records.len().min(from + BLOCK);
                    for record in from..to {
                        observer.go_on()?;
                        cells.add(records, record, &[], observer)?;
                    }
                    observer.advance((to - from) as u64);
                }
            })
            .collect::<Result<_>>()?;
        let mut found = SmallestByRelations::nothing(self.shape.most, self.original);
        let joined = counted.into_iter().reduce(|mut all, more| {
            all.join(&more);
            all
        });
        if let Some(mut cells) = joined {
            cells.violations(&mut found, &[]);
        }
        Ok(found)
    }

    /// Parts the knowledge by its first items.
    fn count_parts<K: Kernel>(&self, observer: &dyn Observer) -> Result<SmallestByRelations<'a>> {
        let postings = Postings::new(self.records, observer)?;
        self.by_first_item(observer, |cells: &mut K, item, found| {
            self.count_part((cells, observer), &mut vec![item as u32], postings.of(item), found)
        })
    }

    /// The same for sets with one more item than the cells count.
    fn count_suffixes(&self, observer: &dyn Observer) -> Result<SmallestByRelations<'a>> {
        let suffixes = Suffixes::new(self.records, self.shape.last, observer)?;
        self.by_first_item(observer, |cells: &mut SetCells, item, found| {
            cells.begin(item + 1, self.records.item_count() - item - 1);
            for runs in suffixes.of(item).chunks(ASKED_ONCE) {
                observer.go_on()?;
                for &(from, to) in runs {
                    cells.add_items(&self.records.items[from as usize..to as usize]);
                }
            }
            cells.violations(found, &[item as u32]);
            Ok(())
        })
    }

    fn by_first_item<K: Kernel>(
        &self,
        observer: &dyn Observer,
        count: impl Fn(&mut K, usize, &mut SmallestByRelations<'a>) -> Result<()> + Sync,
    ) -> Result<SmallestByRelations<'a>> {
        let items = self.records.item_count();
        observer.stage(&format!("knowledge of {} values", self.v), items as u64);
        // Nothing smaller can come from the parts of larger items than this.
        let settled = AtomicUsize::new(usize::MAX);
        let parts: Vec<SmallestByRelations<'a>> = (0..items)
            .into_par_iter()
            .map_init(
                || K::new(self.shape, items),
                |cells, item| {
                    let mut found = SmallestByRelations::nothing(self.shape.most, self.original);
                    observer.advance(1);
                    if item < settled.load(Ordering::Relaxed) {
                        count(cells, item, &mut found)?;
                        if found.is_settled() {
                            settled.fetch_min(item, Ordering::Relaxed);
                        }
                    }
                    Ok(found)
                },
            )
            .collect::<Result<_>>()?;
        let mut all = SmallestByRelations::nothing(self.shape.most, self.original);
        parts.into_iter().for_each(|part| all.join(part));
        Ok(all)
    }

    fn count_part<K: Kernel>(
        &self,
        (cells, observer): (&mut K, &dyn Observer),
        prefix: &mut Vec<u32>,
        entries: &[u32],
        found: &mut SmallestByRelations<'a>,
    ) -> Result<()> {
        let records = self.records;
        if prefix.len() == self.shape.before {
            let low = prefix[prefix.len() - 1] as usize + 1;
            cells.begin(low, records.item_count() - low);
            for some in entries.chunks(ASKED_ONCE * (prefix.len() + 1)) {
                observer.go_on()?;
                for entry in some.chunks_exact(prefix.len() + 1) {
                    cells.add(records, entry[0] as usize, &entry[1..], observer)?;
                }
            }
            cells.violations(found, prefix);
            return Ok(());
        }
        let bytes = self.range.memory / rayon::current_num_threads();
        by_next_item(records, prefix, entries, (bytes, observer), |prefix, entries| {
            self.count_part((cells, observer), prefix, entries, found)?;
            Ok(found.is_settled().then_some(()))
        })?;
        Ok(())
    }
}

/// Records, and if they are plain sets the same with their items numbered by rarity, made when first asked for.
pub(super) struct Ordered<'a> {
    records: &'a Records,
    by_rarity: OnceCell<Option<(Records, Vec<u32>)>>,
}

impl<'a> Ordered<'a> {
    pub(super) fn new(records: &'a Records) -> Self {
        Ordered { records, by_rarity: OnceCell::new() }
    }

    /// The records with the rarest items first, and the number that each item had.
    fn by_rarity(&self, observer: &dyn Observer) -> Result<Option<(&Records, &[u32])>> {
        let made = match self.by_rarity.get() {
            Some(made) => made,
            None => {
                let made = self.records.by_rarity(observer)?;
                self.by_rarity.get_or_init(|| made)
            }
        };
        Ok(made.as_ref().map(|(records, original)| (records, original.as_slice())))
    }
}
