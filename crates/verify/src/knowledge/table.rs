//! A counter of 64-bit keys that is emptied and reused part after part.
//!
//! Of keys with up to 19 bits each has a place of its own. Adding 3, 3 and 5 leaves 2 at place 3 and 1 at place 5, and the
//! smallest key that was seen fewer than two times is 5. Longer keys lie in slots: with 1024 of them a key starts to look
//! for its slot at the highest ten bits of its product with a constant, and goes on to the next one until it finds itself
//! or an empty slot:
//!
//! ```text
//! slot    …  17          18          19       …
//!         …  (key A, 2)  (key B, 1)  (EMPTY, 0)  …     B belongs to 17 as well, and moved on
//! ```
//!
//! A third key that belongs to 17 would be put at 19. When more than half of all slots are taken there are made twice as
//! many, and all keys find their slots anew.

const EMPTY: u64 = u64::MAX;
const SMALLEST: usize = 1 << 10;

/// Keys of so few bits are counted in an array with a place for each.
const DENSE_BITS: u32 = 19;

/// Open addressing, at most half full. Key and count lie side by side: one cache line per step. Where the keys are
/// narrow enough, a plain array.
pub(super) struct Table {
    slots: Vec<(u64, u32)>,
    used: usize,
    dense: Vec<u32>,
}

impl Table {
    /// A counter of keys below `2^bits` that may take so many bytes.
    pub(super) fn new(bits: u32, bytes: usize) -> Self {
        let fits = bits <= DENSE_BITS && (size_of::<u32>() << bits) <= bytes;
        let dense = if fits { vec![0; 1 << bits] } else { Vec::new() };
        Table { slots: vec![(EMPTY, 0); SMALLEST], used: 0, dense }
    }

    /// Bytes that a table of so many keys may take, counting the moment when it grows.
    pub(super) fn bytes(keys: usize) -> usize {
        (keys * 2).next_power_of_two().max(SMALLEST) * size_of::<(u64, u32)>() * 3 / 2
    }

    pub(super) fn clear(&mut self) {
        self.dense.fill(0);
        // A table that a large part left behind would make every small part pay for its size.
        if self.slots.len() > SMALLEST && self.used * 16 < self.slots.len() {
            self.slots.truncate(self.slots.len() / 2);
        }
        self.slots.fill((EMPTY, 0));
        self.used = 0;
    }

    #[inline]
    fn slot(key: u64, len: usize) -> usize {
        // Fibonacci hashing: the high bits of the product are the well mixed ones.
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - len.trailing_zeros())) as usize
    }

    #[inline]
    pub(super) fn add(&mut self, key: u64) {
        debug_assert_ne!(key, EMPTY);
        if let Some(count) = self.dense.get_mut(key as usize) {
            *count += 1;
            return;
        }
        let mask = self.slots.len() - 1;
        let mut at = Self::slot(key, self.slots.len());
        loop {
            let slot = &mut self.slots[at];
            if slot.0 == key {
                slot.1 += 1;
                return;
            }
            if slot.0 == EMPTY {
                *slot = (key, 1);
                self.used += 1;
                if self.used * 2 > self.slots.len() {
                    self.grow();
                }
                return;
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let len = self.slots.len() * 2;
        let old = std::mem::replace(&mut self.slots, vec![(EMPTY, 0); len]);
        for (key, count) in old.into_iter().filter(|s| s.0 != EMPTY) {
            let mut at = Self::slot(key, len);
            while self.slots[at].0 != EMPTY {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = (key, count);
        }
    }

    /// The smallest key that was seen fewer than `k` times.
    pub(super) fn smallest_below(&self, k: u32) -> Option<(u64, u32)> {
        if !self.dense.is_empty() {
            let rare = self.dense.iter().position(|&count| count > 0 && count < k);
            return rare.map(|key| (key as u64, self.dense[key]));
        }
        self.slots.iter().filter(|s| s.0 != EMPTY && s.1 < k).min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_growth_and_clearing() {
        for (bits, shift) in [(40, 20), (13, 0)] {
            let mut table = Table::new(bits, 1 << 20);
            for round in 0..3 {
                table.clear();
                assert_eq!(table.smallest_below(9), None);
                for key in 0..5000u64 {
                    for _ in 0..=(key % 3) {
                        table.add(key << shift);
                    }
                }
                assert_eq!(table.smallest_below(2), Some((0, 1)), "round {round}");
                assert_eq!(table.smallest_below(1), None);
            }
        }
    }
}
