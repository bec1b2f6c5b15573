//! Counting of plain sets, where nothing is known of relations.
//!
//! A record's items are bits, and so are the counters of all sets that differ in their last item only: the first word
//! bits of all counters, the second, and so on. One step finds out whether any of a record's sets that start alike still
//! needs to be counted, and counts all of them. A counter starts so far below its end that it overflows at k; that it did
//! is one more bit. Items come by their rarity, the rarest first: then the last item of most sets lies within the last
//! few words.
//!
//! Take the records 0 1 2, 0 1 2 and 0 2 3 with v = 2 and k = 3. Two bits tell 0 to 3 apart, and counters start at 1, so that the
//! third step overflows. The row of c = 0 counts the sets {0, 1}, {0, 2} and {0, 3}, as the bits 1, 2 and 3 of a word; each
//! record adds its items behind 0, as bits 0110, 0110 and 1100:
//!
//! ```text
//!             counter of   3    2       1     words: low   high  full
//! at first                 01   01      01           0000  0000  0000    stored is what differs from 01
//! record 0                 01   10      10           0110  0110  0000
//! record 1                 01   11      11           0000  0110  0000
//! record 2                 10   00 (4)  11           1100  1010  0100
//! ```
//!
//! At the end a set was counted, but not k times, where a stored bit is set and that of `full` is not: {0, 1} with 2 and
//! {0, 3} with 1. A record whose bits are all in `full` costs one step for the whole row.

use std::ops::Range;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::dense::SmallestByRelations;
use super::kernel::{Kernel, Shape};
use super::records::{Records, pair_count};

/// The counters of one thread. Of the last items b < c < d a **row** is all with the same b and c; rows lie by c, then by
/// b. Of two last items c < d a row is all with the same c. The words of a row start with the first that can have an item
/// after c; the bits that tell of k lie apart, since most of the time nothing else is looked at.
pub(super) struct SetCells {
    shape: Shape,
    /// Bits of a counter.
    planes: usize,
    /// The first item that can follow the part's own, and how many there are from it on.
    low: usize,
    items: usize,
    /// Per c the number of its first row, and where its words start.
    rows: Vec<usize>,
    starts: Vec<usize>,
    touched: Vec<bool>,
    full: Vec<u64>,
    /// Per row the words of the first bit of its counters, then those of the second, and so on.
    bits: Vec<u64>,
    /// The items of a record, and those after the one in hand as bits.
    own: Vec<usize>,
    later: Vec<u64>,
}

/// Bits that a counter needs to tell 0 to k apart.
fn planes(k: u32) -> usize {
    (u32::BITS - k.saturating_sub(1).leading_zeros()) as usize
}

impl SetCells {
    /// Bytes of all counters over so many items, if that is a number.
    pub(super) fn bytes(shape: &Shape, items: usize) -> Option<usize> {
        let rows = if shape.last == 3 { pair_count(items) } else { items };
        // Rows by c have on average two thirds of a word less than this for three items, half as many for two.
        rows.checked_mul(1 + 8 * items.div_ceil(64) * (1 + planes(shape.k)))
    }

    /// Rows of an item c.
    fn rows_of(&self, c: usize) -> usize {
        if self.shape.last == 3 { c } else { 1 }
    }

    /// Words of a row's bits.
    fn width(&self, c: usize) -> usize {
        self.items.div_ceil(64).saturating_sub(first_word(c))
    }

    /// What the bits of a counter are told from: all words are 0 at first, and stand for this number.
    fn zero(&self) -> u64 {
        (1u64 << self.planes) - u64::from(self.shape.k)
    }

    /// Counts all sets of a record's items that can follow the part's own.
    pub(super) fn add_items(&mut self, items: &[u32]) {
        if items.len() < self.shape.last {
            return;
        }
        self.later.clear();
        self.later.resize(self.items.div_ceil(64), 0);
        self.own.clear();
        for &item in items {
            let local = item as usize - self.low;
            self.own.push(local);
            self.later[local / 64] |= 1 << (local % 64);
        }
        // Of three items the last but one has another before it.
        let first = self.shape.last - 2;
        for at in 0..items.len() - 1 {
            let c = self.own[at];
            self.later[c / 64] &= !(1 << (c % 64));
            if at < first {
                continue;
            }
            match self.later[first_word(c)..] {
                [x] => self.count(c, at, &[x]),
                [x, y] => self.count(c, at, &[x, y]),
                [x, y, z] => self.count(c, at, &[x, y, z]),
                [x, y, z, u] => self.count(c, at, &[x, y, z, u]),
                _ => self.count_long(c, at),
            }
        }
    }

    /// Counts all sets of a record with c, before which `starts` other items stand; `later` are its items after c.
    #[inline]
    fn count<const W: usize>(&mut self, c: usize, starts: usize, later: &[u64; W]) {
        let own = if self.shape.last == 3 { &self.own[..starts] } else { &[0] };
        let (zero, stride) = (self.zero(), W * self.planes);
        let touched = &mut self.touched[self.rows[c]..];
        let (full, _) = self.full[self.starts[c]..].as_chunks_mut::<W>();
        let bits = &mut self.bits[self.starts[c] * self.planes..];
        for &b in own {
            let full = &mut full[b];
            let mut open = [0; W];
            let mut any = 0;
            for w in 0..W {
                open[w] = later[w] & !full[w];
                any |= open[w];
            }
            if any != 0 {
                touched[b] = true;
                add(full, &mut bits[b * stride..(b + 1) * stride], &open, zero);
            }
        }
    }

    /// The same for rows of any length.
    fn count_long(&mut self, c: usize, starts: usize) {
        let own = if self.shape.last == 3 { &self.own[..starts] } else { &[0] };
        let zero = self.zero();
        let later = &self.later[first_word(c)..];
        let mut open = vec![0; later.len()];
        for &b in own {
            let start = self.starts[c] + b * later.len();
            let full = &mut self.full[start..start + later.len()];
            open.iter_mut()
                .zip(later)
                .zip(full.iter())
                .for_each(|((open, later), full)| *open = later & !full);
            if open.iter().any(|&word| word != 0) {
                self.touched[self.rows[c] + b] = true;
                let bits = start * self.planes..(start + later.len()) * self.planes;
                add(full, &mut self.bits[bits], &open, zero);
            }
        }
    }

    /// The words of a row that tell of k, and those of its counters.
    fn row(&self, c: usize, b: usize) -> (Range<usize>, Range<usize>) {
        let width = self.width(c);
        let start = self.starts[c] + b * width;
        (start..start + width, start * self.planes..(start + width) * self.planes)
    }
}

/// The first word in which an item after c can be.
fn first_word(c: usize) -> usize {
    (c + 1) / 64
}

/// Adds one to each counter of `open`.
#[inline]
fn add(full: &mut [u64], bits: &mut [u64], open: &[u64], zero: u64) {
    let width = full.len();
    for w in 0..width {
        let mut carry = open[w];
        for (j, bit) in bits[w..].iter_mut().step_by(width).enumerate() {
            let told = if zero >> j & 1 == 1 { !*bit } else { *bit };
            *bit ^= carry;
            carry &= told;
        }
        full[w] |= carry;
    }
}

/// The counter at a bit of a word, which has not reached k.
fn counter(bits: &[u64], width: usize, w: usize, bit: u32, zero: u64) -> u64 {
    let stored: u64 =
        bits[w..].iter().step_by(width).enumerate().map(|(j, word)| (word >> bit & 1) << j).sum();
    (stored ^ zero) - zero
}

impl Kernel for SetCells {
    fn new(shape: Shape, items: usize) -> Self {
        let items = items.saturating_sub(shape.before);
        let mut cells = SetCells {
            shape,
            planes: planes(shape.k),
            low: 0,
            items: 0,
            rows: Vec::new(),
            starts: Vec::new(),
            touched: Vec::new(),
            full: Vec::new(),
            bits: Vec::new(),
            own: Vec::new(),
            later: Vec::new(),
        };
        cells.begin(0, items);
        let rows = (0..items).map(|c| cells.rows_of(c)).sum();
        let words: usize = (0..items).map(|c| cells.rows_of(c) * cells.width(c)).sum();
        cells.touched = vec![false; rows];
        cells.full = vec![0; words];
        cells.bits = vec![0; words * cells.planes];
        cells
    }

    fn begin(&mut self, low: usize, items: usize) {
        (self.low, self.items) = (low, items);
        self.rows.clear();
        self.starts.clear();
        let (mut rows, mut words) = (0, 0);
        for c in 0..items {
            self.rows.push(rows);
            self.starts.push(words);
            rows += self.rows_of(c);
            words += self.rows_of(c) * self.width(c);
        }
    }

    fn add(&mut self, records: &Records, record: usize, prefix: &[u32], _: &dyn Observer) -> Result<()> {
        let from = prefix.last().map_or(0, |&p| p as usize + 1);
        self.add_items(&records.items(record)[from..]);
        Ok(())
    }

    fn join(&mut self, other: &Self) {
        let (k, zero) = (u64::from(self.shape.k), self.zero());
        for c in 0..self.items {
            let width = self.width(c);
            for b in (0..self.rows_of(c)).filter(|&b| other.touched[self.rows[c] + b]) {
                let (at, counters) = self.row(c, b);
                let (full, bits) = (&mut self.full[at.clone()], &mut self.bits[counters.clone()]);
                let (other_full, other_bits) = (&other.full[at], &other.bits[counters]);
                for w in 0..width {
                    full[w] |= other_full[w];
                    let counted = other_bits[w..].iter().step_by(width).fold(0, |any, word| any | word);
                    let mut open = counted & !full[w];
                    while open != 0 {
                        let bit = open.trailing_zeros();
                        open &= open - 1;
                        let more = counter(other_bits, width, w, bit, zero);
                        let sum = counter(bits, width, w, bit, zero) + more;
                        if sum >= k {
                            full[w] |= 1 << bit;
                            continue;
                        }
                        for (j, word) in bits[w..].iter_mut().step_by(width).enumerate() {
                            let stored = ((sum + zero) ^ zero) >> j & 1;
                            *word = *word & !(1 << bit) | stored << bit;
                        }
                    }
                }
                self.touched[self.rows[c] + b] = true;
            }
        }
    }

    fn violations(&mut self, found: &mut SmallestByRelations<'_>, prefix: &[u32]) {
        for c in 0..self.items {
            let width = self.width(c);
            for b in 0..self.rows_of(c) {
                if !std::mem::take(&mut self.touched[self.rows[c] + b]) {
                    continue;
                }
                let (at, counters) = self.row(c, b);
                let (full, bits) = (&mut self.full[at], &mut self.bits[counters]);
                for w in 0..width {
                    let counted = bits[w..].iter().step_by(width).fold(0, |any, word| any | word);
                    let mut open = counted & !full[w];
                    while open != 0 {
                        let d = (first_word(c) + w) * 64 + open.trailing_zeros() as usize;
                        open &= open - 1;
                        let last = if self.shape.last == 3 { &[b, c, d][..] } else { &[c, d] };
                        let local = last.iter().map(|&i| (self.low + i) as u32);
                        found.offer(prefix.iter().copied().chain(local), 0);
                    }
                }
                full.fill(0);
                bits.fill(0);
            }
        }
    }
}
