//! Counting one level, knowledge of exactly v values and r relations, in tables of keys: for any number of items and
//! within any memory. A part that would not fit is parted once more by its next item, down to the last one.
//!
//! Take the three records of [`knowledge`](super) with v = 2, r = 1 and k = 2. An item needs two bits, the one pair another: a key
//! is `item · 2 + relation` for the last item, behind a prefix of one.
//!
//! ```text
//! prefix   entries (record, position)   keys that are added             counts
//! 0        0 0   1 0   2 0              item 1, related: 3, 3           3 → 2
//! 1        0 1   1 1                    item 2, related: 5 (record 1)   5 → 1, too few
//! 2        0 2   1 2   2 1              –
//! ```
//!
//! Record 0 adds nothing to prefix 1, since 1 and 2 are not related there. Key 5 stands for ({1, 2}, {1–2}). The smallest
//! prefix that has a violation wins, whichever thread was first. With v = 3 a part of one item is counted with two more at
//! once if its keys, `(b · 4 + c) · 8 + relations` here, have room; else it is parted into those of two items.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rayon::prelude::*;

use super::parts::{ASKED_ONCE, Postings, by_next_item};
use super::records::{Pairs, Records, pair_bit, pair_count};
use super::table::Table;
use super::{Range, item_bits, push_subsets};

/// Knowledge of exactly v values and r relations.
pub(super) struct Level<'a> {
    pub(super) records: &'a Records,
    pub(super) postings: &'a Postings,
    pub(super) range: Range,
    pub(super) v: usize,
    pub(super) r: usize,
}

impl Level<'_> {
    /// Bits of an item and of a set of relations in a key.
    fn bits(&self) -> (u32, u32) {
        let planes = if self.records.is_signed() { 2 } else { 1 };
        let mask = if self.r == 0 { 0 } else { planes * pair_count(self.v) as u32 };
        (item_bits(self.records.item_count()), mask)
    }

    /// Bits of the longest key: two items, or one if the prefix is all but the last.
    fn key_bits(&self) -> u32 {
        let (item, mask) = self.bits();
        mask + item * (self.v as u32 - 1).min(2)
    }

    /// The smallest knowledge of the level that too few records match: items and relations.
    pub(super) fn smallest_violation(&self, observer: &dyn Observer) -> Result<Option<(Vec<u32>, u64)>> {
        let k = self.range.k;
        if self.v == 1 {
            let rare = |&i: &usize| (1..k as usize).contains(&(self.postings.of(i).len() / 2));
            return Ok((0..self.records.item_count()).find(rare).map(|i| (vec![i as u32], 0)));
        }
        (0..self.records.item_count())
            .into_par_iter()
            .map_init(
                || Part::new(self, observer),
                |part, item| {
                    observer.advance(1);
                    let mut prefix = vec![item as u32];
                    part.smallest_violation(&mut prefix, self.postings.of(item))
                },
            )
            // What was not counted to its end is no answer: the first part that gave up comes before all later ones.
            .find_map_first(Result::transpose)
            .transpose()
    }
}

/// All knowledge of a level that starts with the same items: the state of one thread.
struct Part<'a> {
    level: &'a Level<'a>,
    table: Table,
    sets: Vec<u64>,
    subsets: Vec<u64>,
    masks: Vec<u64>,
    positions: Vec<u32>,
    bytes: usize,
    observer: &'a dyn Observer,
}

impl<'a> Part<'a> {
    fn new(level: &'a Level<'a>, observer: &'a dyn Observer) -> Self {
        let bytes = level.range.memory / rayon::current_num_threads();
        Part {
            level,
            table: Table::new(level.key_bits(), bytes),
            sets: Vec::new(),
            subsets: Vec::new(),
            masks: Vec::new(),
            positions: Vec::new(),
            bytes,
            observer,
        }
    }

    fn smallest_violation(
        &mut self,
        prefix: &mut Vec<u32>,
        entries: &[u32],
    ) -> Result<Option<(Vec<u32>, u64)>> {
        let left = self.level.v - prefix.len();
        if left == 1 || (left == 2 && self.fits(prefix, entries)) {
            self.table.clear();
            if left == 1 {
                self.count_one(prefix.len(), entries)?;
            } else {
                self.count_two(prefix.len(), entries)?;
            }
            let rare = self.table.smallest_below(self.level.range.k);
            return Ok(rare.map(|(key, _)| self.unpack(prefix, left, key)));
        }
        let means = (self.bytes, self.observer);
        by_next_item(self.level.records, prefix, entries, means, |prefix, entries| {
            self.smallest_violation(prefix, entries)
        })
    }

    fn bits(&self) -> (u32, u32) {
        self.level.bits()
    }

    /// Whether all knowledge that completes the prefix by two items can be counted in one go.
    fn fits(&self, prefix: &[u32], entries: &[u32]) -> bool {
        let (item_bits, mask_bits) = self.bits();
        if 2 * item_bits + mask_bits > 63 {
            return false;
        }
        let pairs = pair_count(self.level.v);
        let subsets = (0..self.level.r).fold(1usize, |n, i| n.saturating_mul(pairs - i) / (i + 1));
        let stride = prefix.len() + 1;
        let occurrences: usize = (entries.chunks_exact(stride))
            .map(|e| {
                let after = self.level.records.items(e[0] as usize).len() - e[stride - 1] as usize - 1;
                pair_count(after)
            })
            .sum();
        let later = self.level.records.item_count() - prefix[prefix.len() - 1] as usize;
        // A pair that can be known to be related or not makes two keys out of one.
        let signs = if self.level.records.is_signed() { 1 << self.level.r.min(16) } else { 1 };
        let keys = occurrences.min((later * later / 2 + 1).saturating_mul(signs)).saturating_mul(subsets);
        Table::bytes(keys) <= self.bytes
    }

    /// Counts the knowledge that completes the prefix by one item.
    fn count_one(&mut self, p: usize, entries: &[u32]) -> Result<()> {
        let (_, mask_bits) = self.bits();
        let records = self.level.records;
        for (at, e) in entries.chunks_exact(p + 1).enumerate() {
            if at.is_multiple_of(ASKED_ONCE) {
                self.observer.go_on()?;
            }
            let record = e[0] as usize;
            let items = records.items(record);
            let pairs = records.pairs(record);
            let prefix_mask = self.prefix_mask(pairs, &e[1..]);
            for c in e[p] as usize + 1..items.len() {
                let key = u64::from(items[c]) << mask_bits;
                if self.level.r == 0 {
                    self.table.add(key);
                    continue;
                }
                let mask = prefix_mask | self.with_prefix(pairs, &e[1..], c) << pair_bit(0, p);
                self.add_related(record, &e[1..], &[c as u32], key, mask)?;
            }
        }
        Ok(())
    }

    /// Counts the knowledge that completes the prefix by two items.
    fn count_two(&mut self, p: usize, entries: &[u32]) -> Result<()> {
        let (item_bits, mask_bits) = self.bits();
        let records = self.level.records;
        for e in entries.chunks_exact(p + 1) {
            let record = e[0] as usize;
            let items = records.items(record);
            let from = e[p] as usize + 1;
            if self.level.r == 0 {
                for b in from..items.len() {
                    if (b - from).is_multiple_of(ASKED_ONCE) {
                        self.observer.go_on()?;
                    }
                    let high = u64::from(items[b]) << item_bits;
                    for &c in &items[b + 1..] {
                        self.table.add(high | u64::from(c));
                    }
                }
                continue;
            }
            // Masks are put together from three parts: pairs inside the prefix, of the prefix with one more item,
            // and of the two further items.
            let pairs = records.pairs(record);
            let prefix_mask = self.prefix_mask(pairs, &e[1..]);
            let mut masks = std::mem::take(&mut self.masks);
            masks.clear();
            masks.extend((from..items.len()).map(|c| self.with_prefix(pairs, &e[1..], c)));
            let (b_bit, c_bit, last_bit) = (pair_bit(0, p), pair_bit(0, p + 1), pair_bit(p, p + 1));
            for b in from..items.len() {
                self.observer.go_on()?;
                let with_b = prefix_mask | masks[b - from] << b_bit;
                let high = u64::from(items[b]) << item_bits;
                for c in b + 1..items.len() {
                    let mask = with_b | masks[c - from] << c_bit | self.pair(pairs, b, c) << last_bit;
                    if mask.count_ones() as usize >= self.level.r {
                        let key = (high | u64::from(items[c])) << mask_bits;
                        self.add_related(record, &e[1..], &[b as u32, c as u32], key, mask)?;
                    }
                }
            }
            self.masks = masks;
        }
        Ok(())
    }

    /// What is known of a pair: a bit for being related, and one past all of these for being unrelated.
    #[inline]
    fn pair(&self, pairs: Pairs<'_>, a: usize, b: usize) -> u64 {
        let unrelated = u64::from(pairs.unrelated(a, b));
        u64::from(pairs.related(a, b))
            | unrelated << if unrelated == 0 { 0 } else { pair_count(self.level.v) }
    }

    /// What is known of the pairs of the item at position `c` with the items of a prefix.
    #[inline]
    fn with_prefix(&self, pairs: Pairs<'_>, prefix: &[u32], c: usize) -> u64 {
        prefix.iter().enumerate().map(|(i, &a)| self.pair(pairs, a as usize, c) << i).sum()
    }

    fn prefix_mask(&self, pairs: Pairs<'_>, prefix: &[u32]) -> u64 {
        if self.level.r == 0 {
            return 0;
        }
        (1..prefix.len())
            .map(|j| self.with_prefix(pairs, &prefix[..j], prefix[j] as usize) << pair_bit(0, j))
            .sum()
    }

    /// Counts `key` with each set of r relations out of `mask` that can be known together.
    fn add_related(
        &mut self,
        record: usize,
        prefix: &[u32],
        rest: &[u32],
        key: u64,
        mask: u64,
    ) -> Result<()> {
        if (mask.count_ones() as usize) < self.level.r {
            return Ok(());
        }
        self.sets.clear();
        if self.level.records.is_embedded() && self.level.r > 1 {
            self.positions.clear();
            self.positions.extend_from_slice(prefix);
            self.positions.extend_from_slice(rest);
            self.level.records.relation_sets(record, &self.positions, &mut self.sets, self.observer)?;
        } else {
            self.sets.push(mask);
        }
        self.add_subsets(key);
        Ok(())
    }

    /// Counts `key` once with each set of r relations that lies in one of `sets`.
    fn add_subsets(&mut self, key: u64) {
        let r = self.level.r;
        self.subsets.clear();
        for &set in &self.sets {
            push_subsets(set, r, 0, &mut self.subsets);
        }
        if self.sets.len() > 1 {
            self.subsets.sort_unstable();
            self.subsets.dedup();
        }
        for &subset in &self.subsets {
            self.table.add(key | subset);
        }
    }

    fn unpack(&self, prefix: &[u32], left: usize, key: u64) -> (Vec<u32>, u64) {
        let (item_bits, mask_bits) = self.bits();
        let mut items = prefix.to_vec();
        let packed = key >> mask_bits;
        if left == 2 {
            items.push((packed >> item_bits) as u32);
        }
        items.push((packed & ((1 << item_bits) - 1)) as u32);
        (items, key & ((1 << mask_bits) - 1))
    }
}
