//! k^m- and k^(m,n)-anonymity: every piece of knowledge in the claim's range that matches any record must match
//! at least k.
//!
//! Knowledge is a set V of 1..m items of a record and a set R of 0..n related pairs out of V. It is counted level
//! by level in the order of the witness wanted: |R|, then |V|. A level is parted by the smallest items of V: each
//! part holds all knowledge that starts with the same items, so parts are counted on their own, in parallel, and a
//! part that would not fit into memory is parted once more by its next item. Within a part the records that hold
//! its items are gone through one by one.

mod diverse;
mod guard;
mod records;
mod table;

use bosket_model::observe::Observer;
use rayon::prelude::*;

pub use diverse::{SensitiveValues, smallest_uniform};
pub use guard::Inferred;
pub use records::{Pairs, Records, pair_bit};
use table::Table;

/// The attacker's strength and the means of the verifier.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Fewest records that knowledge may match.
    pub k: u32,
    /// Most known values.
    pub m: usize,
    /// Most known relations.
    pub n: usize,
    /// Bytes that all counters together may take.
    pub memory: usize,
}

/// Knowledge that matches too few records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knowledge {
    /// Items, ascending.
    pub items: Vec<u32>,
    /// Known relations, as a mask over [`pair_bit`].
    pub relations: u64,
    /// The records it matches, from 0.
    pub records: Vec<u32>,
}

/// The most values that can be known together with relations: their pairs must fit into a mask beside one item.
pub fn largest_m(items: usize) -> usize {
    let mask_bits = 63 - item_bits(items) as usize;
    (1..).take_while(|&m| m * (m - 1) / 2 <= mask_bits).last().unwrap_or(1)
}

fn item_bits(items: usize) -> u32 {
    usize::BITS - items.saturating_sub(1).leading_zeros()
}

/// The smallest knowledge, by |R|, |V| and item order, that matches at least one but fewer than k records.
pub fn smallest_violation(records: &Records, range: Range, observer: &dyn Observer) -> Option<Knowledge> {
    let postings = Postings::new(records);
    for r in 0..=range.n {
        for v in 1..=range.m {
            if r <= v * (v - 1) / 2 && (r == 0 || v >= 2) {
                let level = Level { records, postings: &postings, range, v, r };
                observer.stage(
                    &format!("knowledge of {v} values and {r} relations"),
                    records.item_count() as u64,
                );
                if let Some((items, relations)) = level.smallest_violation(observer) {
                    let matching = matching(records, &items, relations);
                    assert!(matching.len() < range.k as usize, "a recount must agree");
                    return Some(Knowledge { items, relations, records: matching });
                }
            }
        }
    }
    None
}

/// The records that match some knowledge, found by asking each.
fn matching(records: &Records, items: &[u32], relations: u64) -> Vec<u32> {
    let mut sets = Vec::new();
    (0..records.len() as u32)
        .filter(|&record| {
            let own = records.items(record as usize);
            let positions: Option<Vec<u32>> =
                items.iter().map(|i| own.binary_search(i).ok().map(|p| p as u32)).collect();
            positions.is_some_and(|positions| {
                records.relation_sets(record as usize, &positions, &mut sets);
                sets.iter().any(|set| set & relations == relations)
            })
        })
        .collect()
}

/// Where each item occurs: pairs of record and position, item after item.
struct Postings {
    first: Vec<usize>,
    entries: Vec<u32>,
}

impl Postings {
    fn new(records: &Records) -> Self {
        let mut first = vec![0usize; records.item_count() + 1];
        for record in 0..records.len() {
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
            for (position, &item) in records.items(record).iter().enumerate() {
                let at = &mut next[item as usize];
                entries[*at] = record as u32;
                entries[*at + 1] = position as u32;
                *at += 2;
            }
        }
        Postings { first, entries }
    }

    fn of(&self, item: usize) -> &[u32] {
        &self.entries[self.first[item]..self.first[item + 1]]
    }
}

/// Knowledge of exactly v values and r relations.
struct Level<'a> {
    records: &'a Records,
    postings: &'a Postings,
    range: Range,
    v: usize,
    r: usize,
}

impl Level<'_> {
    /// Bits of an item and of a set of relations in a key.
    fn bits(&self) -> (u32, u32) {
        let mask = if self.r == 0 { 0 } else { (self.v * (self.v - 1) / 2) as u32 };
        (item_bits(self.records.item_count()), mask)
    }

    /// Bits of the longest key: two items, or one if the prefix is all but the last.
    fn key_bits(&self) -> u32 {
        let (item, mask) = self.bits();
        mask + item * (self.v as u32 - 1).min(2)
    }

    fn smallest_violation(&self, observer: &dyn Observer) -> Option<(Vec<u32>, u64)> {
        let k = self.range.k;
        if self.v == 1 {
            let rare = |&i: &usize| (1..k as usize).contains(&(self.postings.of(i).len() / 2));
            return (0..self.records.item_count()).find(rare).map(|i| (vec![i as u32], 0));
        }
        (0..self.records.item_count())
            .into_par_iter()
            .map_init(
                || Part::new(self),
                |part, item| {
                    observer.advance(1);
                    let mut prefix = vec![item as u32];
                    part.smallest_violation(&mut prefix, self.postings.of(item))
                },
            )
            .find_map_first(|found| found)
    }
}

/// All knowledge of a level that starts with the same items: the state of one thread.
///
/// `entries` are the records that hold the prefix, flat: record, then the positions of the prefix's items.
struct Part<'a> {
    level: &'a Level<'a>,
    table: Table,
    sets: Vec<u64>,
    subsets: Vec<u64>,
    masks: Vec<u64>,
    positions: Vec<u32>,
    bytes: usize,
}

impl<'a> Part<'a> {
    fn new(level: &'a Level<'a>) -> Self {
        let bytes = level.range.memory / rayon::current_num_threads();
        Part {
            level,
            table: Table::new(level.key_bits(), bytes),
            sets: Vec::new(),
            subsets: Vec::new(),
            masks: Vec::new(),
            positions: Vec::new(),
            bytes,
        }
    }

    fn smallest_violation(&mut self, prefix: &mut Vec<u32>, entries: &[u32]) -> Option<(Vec<u32>, u64)> {
        let left = self.level.v - prefix.len();
        if left == 1 || (left == 2 && self.fits(prefix, entries)) {
            self.table.clear();
            if left == 1 {
                self.count_one(prefix.len(), entries)
            } else {
                self.count_two(prefix.len(), entries)
            }
            return self
                .table
                .smallest_below(self.level.range.k)
                .map(|(key, _)| self.unpack(prefix, left, key));
        }
        self.part_by_next_item(prefix, entries)
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
        let pairs = self.level.v * (self.level.v - 1) / 2;
        let subsets = (0..self.level.r).fold(1usize, |n, i| n.saturating_mul(pairs - i) / (i + 1));
        let stride = prefix.len() + 1;
        let occurrences: usize = (entries.chunks_exact(stride))
            .map(|e| {
                let after = self.level.records.items(e[0] as usize).len() - e[stride - 1] as usize - 1;
                after * after.saturating_sub(1) / 2
            })
            .sum();
        let later = self.level.records.item_count() - prefix[prefix.len() - 1] as usize;
        let keys = occurrences.min(later * later / 2 + 1).saturating_mul(subsets);
        Table::bytes(keys) <= self.bytes
    }

    /// Parts by the next item, as many items at a time as fit into memory.
    fn part_by_next_item(&mut self, prefix: &mut Vec<u32>, entries: &[u32]) -> Option<(Vec<u32>, u64)> {
        let stride = prefix.len() + 1;
        let records = self.level.records;
        let after = |e: &[u32]| e[stride - 1] as usize + 1..records.items(e[0] as usize).len();
        let base = prefix[prefix.len() - 1] as usize + 1;
        let mut counts = vec![0usize; records.item_count() - base];
        for e in entries.chunks_exact(stride) {
            for &item in &records.items(e[0] as usize)[after(e)] {
                counts[item as usize - base] += 1;
            }
        }
        let room = self.bytes / 4 / (4 * (stride + 1));
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
            for e in entries.chunks_exact(stride) {
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
                let found = self.smallest_violation(prefix, own);
                prefix.pop();
                if found.is_some() {
                    return found;
                }
            }
            from = to;
        }
        None
    }

    /// Counts the knowledge that completes the prefix by one item.
    fn count_one(&mut self, p: usize, entries: &[u32]) {
        let (_, mask_bits) = self.bits();
        let records = self.level.records;
        for e in entries.chunks_exact(p + 1) {
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
                let mask = prefix_mask | with_prefix(pairs, &e[1..], c) << pair_bit(0, p);
                self.add_related(record, &e[1..], &[c as u32], key, mask);
            }
        }
    }

    /// Counts the knowledge that completes the prefix by two items.
    fn count_two(&mut self, p: usize, entries: &[u32]) {
        let (item_bits, mask_bits) = self.bits();
        let records = self.level.records;
        for e in entries.chunks_exact(p + 1) {
            let record = e[0] as usize;
            let items = records.items(record);
            let from = e[p] as usize + 1;
            if self.level.r == 0 {
                for b in from..items.len() {
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
            self.masks.clear();
            self.masks.extend((from..items.len()).map(|c| with_prefix(pairs, &e[1..], c)));
            let (b_bit, c_bit, last_bit) = (pair_bit(0, p), pair_bit(0, p + 1), pair_bit(p, p + 1));
            for b in from..items.len() {
                let with_b = prefix_mask | self.masks[b - from] << b_bit;
                let high = u64::from(items[b]) << item_bits;
                for c in b + 1..items.len() {
                    let mask =
                        with_b | self.masks[c - from] << c_bit | u64::from(pairs.related(b, c)) << last_bit;
                    if mask.count_ones() as usize >= self.level.r {
                        let key = (high | u64::from(items[c])) << mask_bits;
                        self.add_related(record, &e[1..], &[b as u32, c as u32], key, mask);
                    }
                }
            }
        }
    }

    fn prefix_mask(&self, pairs: Pairs<'_>, prefix: &[u32]) -> u64 {
        if self.level.r == 0 {
            return 0;
        }
        (1..prefix.len())
            .map(|j| with_prefix(pairs, &prefix[..j], prefix[j] as usize) << pair_bit(0, j))
            .sum()
    }

    /// Counts `key` with each set of r relations out of `mask` that can be known together.
    fn add_related(&mut self, record: usize, prefix: &[u32], rest: &[u32], key: u64, mask: u64) {
        if (mask.count_ones() as usize) < self.level.r {
            return;
        }
        self.sets.clear();
        if self.level.records.is_embedded() && self.level.r > 1 {
            self.positions.clear();
            self.positions.extend_from_slice(prefix);
            self.positions.extend_from_slice(rest);
            self.level.records.relation_sets(record, &self.positions, &mut self.sets);
        } else {
            self.sets.push(mask);
        }
        self.add_subsets(key);
    }

    /// Counts `key` once with each set of r relations that lies in one of `sets`.
    fn add_subsets(&mut self, key: u64) {
        let r = self.level.r;
        if let (&[set], 1 | 2) = (self.sets.as_slice(), r) {
            let mut rest = set;
            while rest != 0 {
                let first = rest & rest.wrapping_neg();
                rest ^= first;
                let mut others = if r == 2 { rest } else { 0 };
                if r == 1 {
                    self.table.add(key | first);
                }
                while others != 0 {
                    let second = others & others.wrapping_neg();
                    others ^= second;
                    self.table.add(key | first | second);
                }
            }
            return;
        }
        self.subsets.clear();
        for &set in &self.sets {
            push_subsets(set, r, 0, &mut self.subsets);
        }
        self.subsets.sort_unstable();
        self.subsets.dedup();
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

/// Which items of a prefix the item at position `c` is related to, a bit each.
#[inline]
fn with_prefix(pairs: Pairs<'_>, prefix: &[u32], c: usize) -> u64 {
    prefix.iter().enumerate().map(|(i, &a)| u64::from(pairs.related(a as usize, c)) << i).sum()
}

/// All subsets of `set` with `r` elements, each joined with `taken`.
fn push_subsets(set: u64, r: usize, taken: u64, out: &mut Vec<u64>) {
    if r == 0 {
        out.push(taken);
        return;
    }
    let mut rest = set;
    while rest.count_ones() as usize >= r {
        let lowest = rest & rest.wrapping_neg();
        rest ^= lowest;
        push_subsets(rest, r - 1, taken | lowest, out);
    }
}
