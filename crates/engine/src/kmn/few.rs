//! Short lists of numbers that need no room of their own.
//!
//! A fine cut has nearly as many groups as there are rows: a path of some nodes, a row or two. Each of them in a place of its own
//! would take most of the time to get, to give back and to look up.

use std::cmp::Ordering;
use std::ops::Deref;

/// Numbers: up to `N` of them in place, more elsewhere.
#[derive(Clone, Debug)]
pub(super) enum Few<const N: usize> {
    Here(u8, [u32; N]),
    There(Box<[u32]>),
}

impl<const N: usize> Few<N> {
    /// Those that come, of which there are `N` at most.
    pub(super) fn here(numbers: impl Iterator<Item = u32>) -> Self {
        let (mut length, mut here) = (0, [0; N]);
        for (place, number) in here.iter_mut().zip(numbers) {
            *place = number;
            length += 1;
        }
        Few::Here(length, here)
    }
}

impl<const N: usize> From<Vec<u32>> for Few<N> {
    fn from(numbers: Vec<u32>) -> Self {
        if numbers.len() <= N { Few::here(numbers.into_iter()) } else { Few::There(numbers.into()) }
    }
}

impl<const N: usize> Deref for Few<N> {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Few::Here(length, numbers) => &numbers[..usize::from(*length)],
            Few::There(numbers) => numbers,
        }
    }
}

impl<const N: usize> PartialEq for Few<N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<const N: usize> Eq for Few<N> {}

impl<const N: usize> PartialOrd for Few<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Ord for Few<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_the_same_wherever_they_are() {
        for length in 0..6 {
            let numbers: Vec<u32> = (7..7 + length).collect();
            let few = Few::<3>::from(numbers.clone());
            assert_eq!(matches!(few, Few::There(_)), length > 3);
            assert_eq!(*few, *numbers);
            assert!(few < Few::from(vec![8]) && few <= few.clone());
        }
    }
}
