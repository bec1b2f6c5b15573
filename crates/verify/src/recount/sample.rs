//! Random choices from a fixed seed, and the steps that are left.

use std::collections::BTreeSet;

use super::STEPS;

/// A stream of choices: SplitMix64. The same input gives the same choices.
pub(super) struct Choices(u64);

impl Choices {
    /// The choices for so many records.
    pub(super) fn new(records: usize) -> Self {
        Choices(0x626F_736B_6574 ^ records as u64)
    }

    /// A number below `n`, which is not 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(z ^ (z >> 31)) * n as u128) >> 64) as usize
    }

    /// So many different numbers below `n`, or all of them, ascending.
    pub(super) fn some_of(&mut self, n: usize, count: usize) -> Vec<usize> {
        let count = count.min(n);
        // Drawing those that stay out is faster where these are fewer.
        let (drawn, stay_out) = if 2 * count > n { (n - count, true) } else { (count, false) };
        let mut some = BTreeSet::new();
        while some.len() < drawn {
            some.insert(self.below(n));
        }
        match stay_out {
            true => (0..n).filter(|at| !some.contains(at)).collect(),
            false => some.into_iter().collect(),
        }
    }
}

/// Steps that may still be taken.
pub(super) struct Budget {
    left: u64,
}

impl Budget {
    /// All steps of a recount.
    pub(super) fn new() -> Self {
        Budget { left: STEPS }
    }

    /// A part of them.
    pub(super) fn of(steps: u64) -> Self {
        Budget { left: steps }
    }

    /// Takes steps; false if there are not as many left, and then none is.
    #[must_use]
    pub(super) fn take(&mut self, steps: usize) -> bool {
        match self.left.checked_sub(steps as u64) {
            Some(left) => {
                self.left = left;
                true
            }
            None => {
                self.left = 0;
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_of_many_are_different() {
        let mut choices = Choices::new(7);
        for n in 0..20 {
            for count in 0..22 {
                let some = choices.some_of(n, count);
                assert_eq!(some.len(), n.min(count));
                assert!(some.is_sorted_by(|a, b| a < b) && some.iter().all(|&at| at < n));
            }
        }
    }
}
