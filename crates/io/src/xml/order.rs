//! In which order an element's children stand.
//!
//! Schemas of XML mostly prescribe an order, so a publication should keep it. It must not show how the records came,
//! though: two children are ordered only if one comes first wherever both occur. What that leaves open is ordered by
//! name, and everything is if it contradicts itself. Reading a document that was written in such an order finds the
//! same order again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A set of small numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    low: u64,
    high: Vec<u64>,
}

impl Bits {
    #[inline]
    pub(super) fn insert(&mut self, i: u32) {
        if i < 64 {
            self.low |= 1 << i;
            return;
        }
        let word = (i / 64 - 1) as usize;
        if self.high.len() <= word {
            self.high.resize(word + 1, 0);
        }
        self.high[word] |= 1 << (i % 64);
    }

    #[inline]
    pub(super) fn unite(&mut self, other: &Bits) {
        self.low |= other.low;
        if other.high.is_empty() {
            return;
        }
        if self.high.len() < other.high.len() {
            self.high.resize(other.high.len(), 0);
        }
        self.high.iter_mut().zip(&other.high).for_each(|(a, b)| *a |= b);
    }

    pub(super) fn contains(&self, i: u32) -> bool {
        let word = if i < 64 { Some(&self.low) } else { self.high.get((i / 64 - 1) as usize) };
        word.is_some_and(|w| w >> (i % 64) & 1 == 1)
    }
}

/// The order of children, given their names and for each those that came before it somewhere.
pub(super) fn order(names: &[&str], before: &[&Bits]) -> Vec<usize> {
    let first = |a: usize, b: usize| before[b].contains(a as u32) && !before[a].contains(b as u32);
    let all = 0..names.len();
    let mut waiting: Vec<usize> = all.clone().map(|b| all.clone().filter(|&a| first(a, b)).count()).collect();
    let mut free: BinaryHeap<_> =
        all.clone().filter(|&i| waiting[i] == 0).map(|i| Reverse((names[i], i))).collect();
    let mut sorted = Vec::new();
    while let Some(Reverse((_, a))) = free.pop() {
        sorted.push(a);
        for b in all.clone().filter(|&b| first(a, b)) {
            waiting[b] -= 1;
            if waiting[b] == 0 {
                free.push(Reverse((names[b], b)));
            }
        }
    }
    if sorted.len() < names.len() {
        sorted = all.collect();
        sorted.sort_by_key(|&i| names[i]);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The order that these sequences of letters show.
    fn found(sequences: &[Vec<u8>]) -> String {
        let mut letters: Vec<u8> = sequences.concat();
        letters.sort_unstable();
        letters.dedup();
        let names: Vec<String> = letters.iter().map(|&l| char::from(l).to_string()).collect();
        let mut before = vec![Bits::default(); letters.len()];
        for sequence in sequences {
            let mut seen = Bits::default();
            for letter in sequence {
                let i = letters.binary_search(letter).expect("collected");
                if !seen.contains(i as u32) {
                    before[i].unite(&seen);
                    seen.insert(i as u32);
                }
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        order(&names, &before.iter().collect::<Vec<_>>()).iter().map(|&i| names[i]).collect()
    }

    #[test]
    fn orders() {
        let found = |text: &str| found(&text.split(' ').map(|s| s.into()).collect::<Vec<_>>());
        assert_eq!(found("cab"), "cab");
        assert_eq!(found("ca cb"), "cab");
        assert_eq!(found("dc ba"), "badc");
        assert_eq!(found("zab zba"), "zab");
        assert_eq!(found("cbb bc"), "bc");
        assert_eq!(found("ba cb ac zy"), "abcyz");
    }

    #[test]
    fn sets_of_many() {
        let mut bits = Bits::default();
        let mut all = Bits::default();
        [3, 63, 64, 200].iter().for_each(|&i| bits.insert(i));
        all.insert(64);
        all.unite(&bits);
        let inside: Vec<u32> = (0..300).filter(|&i| all.contains(i)).collect();
        assert_eq!(inside, [3, 63, 64, 200]);
    }

    proptest! {
        #[test]
        fn an_order_is_found_again(sequences in prop::collection::vec("[a-f]{1,5}", 1..6)) {
            let sequences: Vec<Vec<u8>> = sequences.into_iter().map(String::into_bytes).collect();
            let first = found(&sequences);
            let place = |letter: &u8| first.bytes().position(|b| b == *letter);
            let written: Vec<Vec<u8>> = sequences
                .iter()
                .map(|s| { let mut s = s.clone(); s.sort_by_key(place); s })
                .collect();
            prop_assert_eq!(&found(&written), &first);
            let mut turned = sequences.clone();
            turned.reverse();
            prop_assert_eq!(&found(&turned), &first);
        }
    }
}
