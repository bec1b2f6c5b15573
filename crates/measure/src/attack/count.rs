//! Records that have the same values, and how many of them fit what is known about relations.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::records::{Records, pair_bit};

/// One, as a fixed-point number: sums of such numbers do not depend on their order.
pub(super) const ONE: u64 = 1 << 32;

/// Records that are looked at before somebody asks whether to go on.
pub(super) const STRIDE: usize = 1 << 8;

/// What a person's knowledge of one size came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    /// The fewest records that fit any piece of it.
    pub(super) fewest: u32,
    /// How many pieces fit the person alone, in units of [`ONE`].
    pub(super) unique: u64,
    /// The sum over pieces of one by how many records fit.
    pub(super) inverse: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Tally { fewest: u32::MAX, unique: 0, inverse: 0 }
    }
}

impl Tally {
    /// One piece that fits so many records.
    pub(super) fn of(records: u32) -> Self {
        Tally {
            fewest: records,
            unique: if records == 1 { ONE } else { 0 },
            inverse: ONE / u64::from(records.max(1)),
        }
    }

    /// So many pieces that fit one record each, or none.
    pub(super) fn at_most_one(records: u32, pieces: u64) -> Self {
        let sum = pieces.saturating_mul(ONE);
        Tally {
            fewest: if pieces > 0 { records } else { u32::MAX },
            unique: if records == 1 { sum } else { 0 },
            inverse: sum,
        }
    }

    /// Takes more pieces in.
    #[inline]
    pub(super) fn add(&mut self, other: Tally) {
        self.fewest = self.fewest.min(other.fewest);
        self.unique = self.unique.saturating_add(other.unique);
        self.inverse = self.inverse.saturating_add(other.inverse);
    }
}

/// Records that have all values known so far.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    /// How many values are known.
    pub(super) size: usize,
    /// Positions per record.
    width: usize,
    /// Which records, ascending.
    pub(super) records: Vec<u32>,
    /// Per record the positions of the known values; only of the last one if relations are not known.
    pub(super) positions: Vec<u32>,
    /// Per record which pairs of known values are related.
    pub(super) masks: Vec<u64>,
}

impl List {
    /// Records that have one value.
    pub(super) fn start(&mut self, records: &Records, item: u32) {
        self.clear(1);
        for &record in records.with(item) {
            let at = position(records, record as usize, item, 0);
            self.push(record, &[], at.unwrap_or(0) as u32, 0);
        }
    }

    pub(super) fn clear(&mut self, size: usize) {
        self.size = size;
        self.records.clear();
        self.positions.clear();
        self.masks.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, record: u32, before: &[u32], position: u32, mask: u64) {
        self.width = before.len() + 1;
        self.records.push(record);
        self.positions.extend_from_slice(before);
        self.positions.push(position);
        self.masks.push(mask);
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// The positions of an entry.
    #[inline]
    pub(super) fn at(&self, entry: usize) -> &[u32] {
        &self.positions[entry * self.width..(entry + 1) * self.width]
    }

    /// The position of an entry's last value.
    #[inline]
    pub(super) fn last(&self, entry: usize) -> usize {
        self.positions[(entry + 1) * self.width - 1] as usize
    }

    /// The relations of an entry and one more of its record's values.
    #[inline]
    pub(super) fn mask_with(&self, records: &Records, entry: usize, position: usize) -> u64 {
        let related = records.related(self.records[entry] as usize, position);
        let mut mask = self.masks[entry];
        for (i, &p) in self.at(entry).iter().enumerate() {
            mask |= (related[p as usize / 64] >> (p % 64) & 1) << pair_bit(i, self.size);
        }
        mask
    }

    /// The entries that have one more value.
    pub(super) fn with(&self, records: &Records, item: u32, related: bool, out: &mut List) {
        out.clear(self.size + 1);
        for entry in 0..self.len() {
            let record = self.records[entry];
            if let Some(at) = position(records, record as usize, item, self.last(entry)) {
                if related {
                    out.push(record, self.at(entry), at as u32, self.mask_with(records, entry, at));
                } else {
                    out.push(record, &[], at as u32, 0);
                }
            }
        }
    }
}

/// Where a record has a value, looked for from a position on.
#[inline]
fn position(records: &Records, record: usize, item: u32, from: usize) -> Option<usize> {
    let own = &records.items(record)[from..];
    // Most records are short: going through them beats halving.
    if own.len() <= 16 {
        own.iter().position(|&i| i == item).map(|at| at + from)
    } else {
        own.binary_search(&item).ok().map(|at| at + from)
    }
}

/// Records that have the same values, told apart by what can be known of their relations.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    sets: Vec<u64>,
    kinds: Vec<Kind>,
    known: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Kind {
    start: usize,
    end: usize,
    records: u32,
}

impl Kinds {
    pub(super) fn clear(&mut self) {
        self.sets.clear();
        self.kinds.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Adds a record and gives the number of its kind.
    #[inline]
    pub(super) fn add(&mut self, records: &Records, record: usize, positions: &[u32], mask: u64) -> usize {
        let start = self.sets.len();
        records.together(record, positions, mask, &mut self.sets);
        let own = &self.sets[start..];
        let same = self.kinds.iter().position(|k| {
            // Nearly all kinds have one set.
            k.end - k.start == own.len()
                && self.sets[k.start] == own[0]
                && (own.len() == 1 || self.sets[k.start..k.end] == *own)
        });
        if let Some(kind) = same {
            self.sets.truncate(start);
            self.kinds[kind].records += records.counts(record);
            return kind;
        }
        self.kinds.push(Kind { start, end: self.sets.len(), records: records.counts(record) });
        self.kinds.len() - 1
    }

    /// The sets of relations that hold together in records of a kind.
    pub(super) fn sets_of(&self, kind: usize) -> &[u64] {
        let Kind { start, end, .. } = self.kinds[kind];
        &self.sets[start..end]
    }

    /// All kinds of a list, and that of one of its entries.
    pub(super) fn of(
        &mut self,
        records: &Records,
        list: &List,
        own: usize,
        observer: &dyn Observer,
    ) -> Result<usize> {
        self.clear();
        let mut kind = 0;
        for entry in 0..list.len() {
            if entry.is_multiple_of(STRIDE) {
                observer.go_on()?;
            }
            let found = self.add(records, list.records[entry] as usize, list.at(entry), list.masks[entry]);
            if entry == own {
                kind = found;
            }
        }
        Ok(kind)
    }

    /// How many records fit relations.
    pub(super) fn support(&self, relations: u64) -> u32 {
        let fits = |kind: &usize| self.sets_of(*kind).iter().any(|s| s & relations == relations);
        (0..self.kinds.len()).filter(fits).map(|kind| self.kinds[kind].records).sum()
    }

    /// The sets of as many relations as can be known of a kind, at most `n`.
    pub(super) fn knowable(&self, kind: usize, n: usize, out: &mut Vec<u64>) {
        out.clear();
        let sets = self.sets_of(kind);
        for &set in sets {
            subsets(set, n.min(set.count_ones() as usize), 0, out);
        }
        if sets.len() > 1 {
            out.sort_unstable();
            out.dedup();
        }
    }

    /// What a record of a kind is in for if up to `n` relations are known. All pieces together count as one.
    pub(super) fn tally(&mut self, kind: usize, n: usize, observer: &dyn Observer) -> Result<Tally> {
        let mut known = std::mem::take(&mut self.known);
        self.knowable(kind, n, &mut known);
        let mut tally = Tally::default();
        for &relations in &known {
            observer.go_on()?;
            tally.add(Tally::of(self.support(relations)));
        }
        let pieces = known.len().max(1) as u64;
        tally.unique /= pieces;
        tally.inverse /= pieces;
        self.known = known;
        Ok(tally)
    }
}

/// All subsets of `set` with `r` elements, each joined with `taken`.
pub(super) fn subsets(set: u64, r: usize, taken: u64, out: &mut Vec<u64>) {
    if r == 0 {
        out.push(taken);
        return;
    }
    let mut rest = set;
    while rest.count_ones() as usize >= r {
        let lowest = rest & rest.wrapping_neg();
        rest ^= lowest;
        subsets(rest, r - 1, taken | lowest, out);
    }
}

/// How many ways there are to choose; as many as a number holds at most.
pub(super) fn choose(of: usize, take: usize) -> u64 {
    if take > of {
        return 0;
    }
    let mut ways = 1u128;
    for i in 0..take.min(of - take) {
        ways = ways * (of - i) as u128 / (i + 1) as u128;
        if ways > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    ways as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_choose() {
        assert_eq!([choose(5, 0), choose(5, 2), choose(5, 5), choose(2, 3)], [1, 10, 1, 0]);
        assert_eq!(choose(20, 10), 184_756);
        assert_eq!(choose(10_000, 5_000), u64::MAX);
    }

    #[test]
    fn subsets_of_a_size() {
        let mut found = Vec::new();
        subsets(0b1011, 2, 0, &mut found);
        assert_eq!(found, [0b0011, 0b1001, 0b1010]);
    }
}
