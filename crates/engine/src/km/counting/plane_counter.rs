//! Pairs of codes counted in bits.
//!
//! The counters of 64 pairs lie in a few words, one per binary digit, so that one addition counts up to 64 pairs; they start
//! such that the k-th addition carries out of the last digit. A pair that has got there is closed and costs nothing more,
//! and a code all of whose pairs are closed is passed over: in the long run only rare codes are looked at.

use super::coded::END;
use super::plane::{Plane, Shape};

/// Counts pairs up to k. `D` digits hold k.
#[derive(Debug)]
pub(super) struct PlaneCounter<const D: usize> {
    shape: Shape,
    /// Per digit, what all counters start with.
    start: [u64; D],
    /// Per word of the rows the pairs that are not closed.
    open: Vec<u64>,
    digits: Vec<[u64; D]>,
    /// Per code how many pairs of its row are not closed.
    left: Vec<u32>,
    /// The most popular code with a pair that is not closed.
    lowest: u32,
    /// Per code where its row begins.
    rows: Vec<u32>,
    /// The codes of the transaction so far, where they are many.
    seen: Vec<u64>,
}

/// Up to so many items of a transaction are looked up one by one.
const FEW: usize = 6;

impl<const D: usize> PlaneCounter<D> {
    pub(super) fn new(k: u32) -> Self {
        let bias = (1u64 << D) - u64::from(k);
        let mut start = [0; D];
        for (digit, word) in start.iter_mut().enumerate() {
            *word = if bias >> digit & 1 == 1 { u64::MAX } else { 0 };
        }
        PlaneCounter {
            shape: Shape::default(),
            start,
            open: Vec::new(),
            digits: Vec::new(),
            left: Vec::new(),
            lowest: 0,
            rows: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Starts anew.
    pub(super) fn reset(&mut self, shape: Shape) {
        self.shape = shape;
        self.digits.clear();
        self.digits.resize(shape.words(), self.start);
        self.open.clear();
        self.rows.clear();
        for code in shape.first..shape.codes {
            self.rows.push(self.open.len() as u32);
            self.open.extend((0..=shape.word(code)).map(|word| shape.mask(code, word)));
        }
        self.left.clear();
        self.left.extend(0..shape.codes - shape.first);
        self.lowest = shape.first;
        self.raise_lowest();
        self.seen.clear();
        self.seen.resize(shape.codes as usize / 64 + 1 - shape.origin(), 0);
    }

    /// Whether no pair is left to be counted.
    pub(super) fn is_done(&self) -> bool {
        self.lowest == self.shape.codes
    }

    /// Counts the pairs of a transaction: descending codes up to [`END`], or to one before the plane's. A heavy one stands
    /// for at least k.
    pub(super) fn count(&mut self, items: &[u32], heavy: bool) {
        let first = self.shape.first;
        let mut known = 0;
        for (i, &code) in items.iter().enumerate() {
            // What comes now is more popular than all that is open.
            if code == END || code < self.lowest {
                break;
            }
            let own = (code - first) as usize;
            if self.left[own] == 0 {
                continue;
            }
            if known == 0 {
                known = items.iter().take_while(|&&c| c != END && c >= first).count();
                if known > FEW {
                    items[..known].iter().for_each(|&c| self.seen[self.shape.word(c)] |= 1 << (c % 64));
                }
            }
            let row = self.rows[own] as usize;
            if known <= FEW || known - i <= self.shape.word(code) {
                for &partner in &items[i + 1..known] {
                    self.add(own, row + self.shape.word(partner), 1 << (partner % 64), heavy);
                }
            } else {
                // The row's open bits are those of codes before it.
                for word in 0..=self.shape.word(code) {
                    let bits = self.seen[word];
                    if bits & self.open[row + word] != 0 {
                        self.add(own, row + word, bits, heavy);
                    }
                }
            }
            if self.left[own] == 0 && code == self.lowest {
                self.raise_lowest();
            }
        }
        if known > FEW {
            items[..known].iter().for_each(|&code| self.seen[self.shape.word(code)] = 0);
        }
    }

    fn raise_lowest(&mut self) {
        while self.lowest < self.shape.codes && self.left[(self.lowest - self.shape.first) as usize] == 0 {
            self.lowest += 1;
        }
    }

    #[inline]
    fn add(&mut self, own: usize, at: usize, bits: u64, heavy: bool) {
        let mut carry = bits & self.open[at];
        if carry == 0 {
            return;
        }
        if !heavy {
            for digit in &mut self.digits[at] {
                let both = *digit & carry;
                *digit ^= carry;
                carry = both;
            }
        }
        if carry != 0 {
            self.open[at] &= !carry;
            self.left[own] -= carry.count_ones();
        }
    }

    /// The pairs that were counted, but fewer than k times.
    pub(super) fn rare(&self) -> Plane {
        let mut bits = Vec::with_capacity(self.open.len());
        for (open, digits) in self.open.iter().zip(&self.digits) {
            let mut counted = 0;
            for digit in 0..D {
                counted |= digits[digit] ^ self.start[digit];
            }
            bits.push(open & counted);
        }
        Plane { shape: self.shape, bits }
    }

    /// The pairs that were counted k times, if all were to be counted.
    pub(super) fn frequent(&self) -> Plane {
        let mut bits = Vec::with_capacity(self.open.len());
        for code in self.shape.first..self.shape.codes {
            for word in 0..=self.shape.word(code) {
                bits.push(self.shape.mask(code, word) & !self.open[bits.len()]);
            }
        }
        Plane { shape: self.shape, bits }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_as_a_table_does(
            rows in prop::collection::vec(prop::collection::btree_set(0u32..150, 0..30), 0..40),
            k in 2u32..9, first in 0u32..140,
        ) {
            let shape = Shape::new(first, 150);
            let mut counter = PlaneCounter::<3>::new(k.min(8));
            // What was counted before is forgotten.
            counter.reset(Shape::new(0, 150));
            counter.count(&[3, 2, 1, END], false);
            counter.reset(shape);
            let mut table = vec![0u32; 150 * 150];
            for row in &rows {
                let items: Vec<u32> = row.iter().copied().filter(|&c| c >= first).collect();
                let all: Vec<u32> = row.iter().rev().copied().chain([END]).collect();
                counter.count(&all, false);
                for (i, &a) in items.iter().enumerate() {
                    items[i + 1..].iter().for_each(|&b| table[(a * 150 + b) as usize] += 1);
                }
            }
            let (rare, frequent) = (counter.rare(), counter.frequent());
            for b in first..150 {
                for a in first..b {
                    let count = table[(a * 150 + b) as usize];
                    prop_assert_eq!(rare.has(a, b), count > 0 && count < k.min(8), "{} {}", a, b);
                    prop_assert_eq!(frequent.has(a, b), count >= k.min(8));
                }
            }
            let listed: Vec<(u32, u32)> = rare.pairs().collect();
            let expected: Vec<(u32, u32)> = (first..150)
                .flat_map(|b| (first..b).map(move |a| (a, b)))
                .filter(|&(a, b)| rare.has(a, b))
                .collect();
            prop_assert_eq!(listed, expected);
        }
    }
}
