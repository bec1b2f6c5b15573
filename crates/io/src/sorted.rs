//! Texts of records, ordered by their bytes.

use std::cmp::Ordering;

use bosket_model::Result;
use bosket_model::observe::Observer;

/// All texts in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    buffer: Vec<u8>,
    spans: Vec<(usize, usize)>,
}

impl Sorted {
    /// Adds the text that `write` appends.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.buffer.len();
        write(&mut self.buffer);
        self.spans.push((start, self.buffer.len()));
    }

    pub(crate) fn sort(&mut self, observer: &dyn Observer) -> Result<()> {
        let buffer = &self.buffer;
        sort_by(&mut self.spans, observer, |a, b| buffer[a.0..a.1].cmp(&buffer[b.0..b.1]))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|&(start, end)| &self.buffer[start..end])
    }
}

/// How many items are sorted or merged at once; a few milliseconds.
const RUN: usize = 1 << 14;

/// Sorts like `sort_unstable_by`, and gives up soon if nobody waits any more. Runs are sorted first, then merged by
/// pairs.
pub(crate) fn sort_by<T: Copy>(
    items: &mut Vec<T>,
    observer: &dyn Observer,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Result<()> {
    for run in items.chunks_mut(RUN) {
        observer.go_on()?;
        run.sort_unstable_by(&compare);
    }
    let mut width = RUN;
    let mut merged = Vec::new();
    while width < items.len() {
        merged.reserve_exact(items.len());
        for pair in items.chunks(2 * width) {
            merge(pair.split_at(width.min(pair.len())), &mut merged, observer, &compare)?;
        }
        std::mem::swap(items, &mut merged);
        merged.clear();
        width *= 2;
    }
    Ok(())
}

fn merge<T: Copy>(
    (mut left, mut right): (&[T], &[T]),
    into: &mut Vec<T>,
    observer: &dyn Observer,
    compare: &impl Fn(&T, &T) -> Ordering,
) -> Result<()> {
    while let (Some(first), Some(second)) = (left.first(), right.first()) {
        if into.len().is_multiple_of(RUN) {
            observer.go_on()?;
        }
        if compare(second, first).is_lt() {
            into.push(*second);
            right = &right[1..];
        } else {
            into.push(*first);
            left = &left[1..];
        }
    }
    into.extend_from_slice(left);
    into.extend_from_slice(right);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::Fault;
    use bosket_model::observe::Quiet;
    use proptest::prelude::*;

    struct Cancelled;

    impl Observer for Cancelled {
        fn stage(&self, _: &str, _: u64) {}
        fn advance(&self, _: u64) {}
        fn cancelled(&self) -> bool {
            true
        }
    }

    #[test]
    fn nothing_is_sorted_for_nobody() {
        let failure = sort_by(&mut vec![2, 1], &Cancelled, Ord::cmp).expect_err("nobody waits");
        assert_eq!(failure.fault, Fault::Interrupted);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn merged_runs_are_in_the_order_of_a_plain_sort(
            length in prop_oneof![0..100usize, RUN - 1..5 * RUN + 2],
            factor in 1u64..1 << 40,
            modulus in 1u64..1 << 20,
        ) {
            let mut items: Vec<u64> = (0..length as u64).map(|i| i.wrapping_mul(factor) % modulus).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            sort_by(&mut items, &Quiet, Ord::cmp).expect("somebody waits");
            prop_assert_eq!(items, expected);
        }
    }
}
