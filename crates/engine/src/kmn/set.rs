//! Sets of records, sparse or dense, and how many records several of them share.

use std::cell::OnceCell;

/// Records, ascending; as a list when few, else as bits.
#[derive(Clone, Debug)]
pub(super) enum Set {
    List(Vec<u32>),
    Bits { words: Vec<u64>, count: u32 },
}

impl Set {
    /// From records in any order, out of `total`.
    pub(super) fn new(mut records: Vec<u32>, total: usize) -> Self {
        if is_sparse(records.len(), total) {
            records.sort_unstable();
            records.dedup();
            return Set::List(records);
        }
        let mut words = vec![0u64; total.div_ceil(64)];
        for &r in &records {
            words[r as usize / 64] |= 1 << (r % 64);
        }
        let count = words.iter().map(|w| w.count_ones()).sum();
        Set::Bits { words, count }
    }

    /// The records of several ascending lists, out of `total`.
    pub(super) fn union<'a>(lists: impl Iterator<Item = &'a [u32]> + Clone, total: usize) -> Self {
        let most: usize = lists.clone().map(<[u32]>::len).sum();
        if most * SORTED < total / 64 {
            let mut all = Vec::with_capacity(most);
            lists.for_each(|list| all.extend_from_slice(list));
            return Set::new(all, total);
        }
        let mut words = vec![0u64; total.div_ceil(64)];
        for &r in lists.flatten() {
            words[r as usize / 64] |= 1 << (r % 64);
        }
        Set::packed(words, total)
    }

    fn packed(words: Vec<u64>, total: usize) -> Self {
        let count = words.iter().map(|w| w.count_ones()).sum::<u32>();
        if is_sparse(count as usize, total) { Set::List(list_of(&words)) } else { Set::Bits { words, count } }
    }

    /// The other records.
    pub(super) fn complement(&self, total: usize) -> Set {
        Set::new((0..total as u32).filter(|&r| !self.contains(r)).collect(), total)
    }

    pub(super) fn len(&self) -> u32 {
        match self {
            Set::List(list) => list.len() as u32,
            Set::Bits { count, .. } => *count,
        }
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Set::List(list) => list.len() * 4,
            Set::Bits { words, .. } => words.len() * 8,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn contains(&self, record: u32) -> bool {
        match self {
            Set::List(list) => list.binary_search(&record).is_ok(),
            Set::Bits { words, .. } => words[record as usize / 64] >> (record % 64) & 1 == 1,
        }
    }

    /// Every record, ascending.
    pub(super) fn each(&self, mut then: impl FnMut(u32)) {
        match self {
            Set::List(list) => list.iter().copied().for_each(then),
            Set::Bits { words, .. } => list_of(words).into_iter().for_each(&mut then),
        }
    }

    /// The records in both.
    pub(super) fn and(&self, other: &Set, total: usize) -> Set {
        match (self, other) {
            (Set::Bits { words: a, .. }, Set::Bits { words: b, .. }) => {
                Set::packed(a.iter().zip(b).map(|(a, b)| a & b).collect(), total)
            }
            (Set::List(a), Set::List(b)) => {
                let mut both = Vec::new();
                each_in_both(a, b, |r| {
                    both.push(r);
                    true
                });
                Set::List(both)
            }
            (Set::List(list), bits) | (bits, Set::List(list)) => {
                Set::List(list.iter().copied().filter(|&r| bits.contains(r)).collect())
            }
        }
    }

    /// How many records are in both, counted up to `enough` only.
    pub(super) fn shared_up_to(&self, other: &Set, enough: u32) -> u32 {
        let mut count = 0;
        match (self, other) {
            (Set::Bits { words: a, .. }, Set::Bits { words: b, .. }) => {
                let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
                for (a, b) in a.iter().zip(b) {
                    // Sets that share few records share none in most places, and counting bits costs more than seeing that.
                    let mut any = 0;
                    for i in 0..8 {
                        any |= a[i] & b[i];
                    }
                    if any == 0 {
                        continue;
                    }
                    count += (0..8).map(|i| (a[i] & b[i]).count_ones()).sum::<u32>();
                    if count >= enough {
                        return enough;
                    }
                }
                count += a_rest.iter().zip(b_rest).map(|(a, b)| (a & b).count_ones()).sum::<u32>();
                return count.min(enough);
            }
            (Set::List(a), Set::List(b)) => each_in_both(a, b, |_| {
                count += 1;
                count < enough
            }),
            (Set::List(list), bits) | (bits, Set::List(list)) => {
                for &r in list {
                    count += u32::from(bits.contains(r));
                    if count >= enough {
                        return enough;
                    }
                }
            }
        }
        count
    }
}

/// One set that many others are held against.
pub(super) struct Pivot<'a> {
    set: &'a Set,
    total: usize,
    /// The records of a list as bits, made when another list is held against it: looking a record up then takes no search,
    /// and what is not shared costs no branch.
    words: OnceCell<Vec<u64>>,
}

impl<'a> Pivot<'a> {
    /// A set out of `total` records.
    pub(super) fn new(set: &'a Set, total: usize) -> Self {
        Pivot { set, total, words: OnceCell::new() }
    }

    /// The records in both.
    pub(super) fn and(&self, other: &Set) -> Set {
        self.set.and(other, self.total)
    }

    /// How many records are in another set too, counted up to `enough` only.
    pub(super) fn shared_up_to(&self, other: &Set, enough: u32) -> u32 {
        let (Set::List(own), Set::List(list)) = (self.set, other) else {
            return self.set.shared_up_to(other, enough);
        };
        let is_short = own.len() * SORTED < self.total / 64;
        if is_short || list.len() / MUCH_LONGER > own.len() || own.len() / MUCH_LONGER > list.len() {
            return self.set.shared_up_to(other, enough);
        }
        let words = self.words.get_or_init(|| {
            let mut words = vec![0u64; self.total.div_ceil(64)];
            own.iter().for_each(|&r| words[r as usize / 64] |= 1 << (r % 64));
            words
        });
        let mut count = 0;
        for some in list.chunks(16) {
            count += some.iter().map(|&r| (words[r as usize / 64] >> (r % 64)) as u32 & 1).sum::<u32>();
            if count >= enough {
                return enough;
            }
        }
        count
    }
}

/// Sorting an entry costs about as much as going through so many words.
const SORTED: usize = 32;

/// A list so many times as long as another is searched, not gone through.
const MUCH_LONGER: usize = 16;

/// Hands out what two ascending lists share, in their order, as long as more is wanted.
fn each_in_both(a: &[u32], b: &[u32], mut wants_more: impl FnMut(u32) -> bool) {
    let (short, mut long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let search = long.len() / MUCH_LONGER > short.len();
    for &r in short {
        let before = if search {
            long.partition_point(|&other| other < r)
        } else {
            long.iter().take_while(|&&other| other < r).count()
        };
        long = &long[before..];
        match long.first() {
            None => return,
            Some(&other) if other == r && !wants_more(r) => return,
            _ => {}
        }
    }
}

/// Counts how many different records there are in several lists.
pub(super) struct Distinct {
    seen: Vec<u64>,
}

impl Distinct {
    pub(super) fn new(total: usize) -> Self {
        Distinct { seen: vec![0; total.div_ceil(64)] }
    }

    pub(super) fn count<'a>(&mut self, lists: impl Iterator<Item = &'a [u32]> + Clone) -> u32 {
        let mut count = 0;
        let mut entries = 0;
        for list in lists.clone() {
            entries += list.len();
            for &r in list {
                let word = &mut self.seen[r as usize / 64];
                count += (!*word >> (r % 64) & 1) as u32;
                *word |= 1 << (r % 64);
            }
        }
        if entries > self.seen.len() {
            self.seen.fill(0);
        } else {
            lists.flatten().for_each(|&r| self.seen[r as usize / 64] = 0);
        }
        count
    }
}

/// Going through a list costs some two nanoseconds an entry, through bits about one a word: below this density the list is
/// the faster of the two.
fn is_sparse(count: usize, total: usize) -> bool {
    count * 128 < total
}

fn list_of(words: &[u64]) -> Vec<u32> {
    let mut list = Vec::new();
    for (i, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            list.push(i as u32 * 64 + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(set: &Set) -> Vec<u32> {
        match set {
            Set::List(list) => list.clone(),
            Set::Bits { words, .. } => list_of(words),
        }
    }

    proptest! {
        #[test]
        fn sparse_and_dense_agree(
            a in prop::collection::btree_set(0u32..200, 0..40),
            b in prop::collection::btree_set(0u32..200, 0..120),
            enough in 1u32..30,
            // Among many records the same ones are lists.
            total in prop::sample::select(vec![200usize, 8_000, 30_000]),
        ) {
            let (left, right) = (Set::new(a.iter().copied().collect(), total), Set::new(b.iter().copied().collect(), total));
            let both: Vec<u32> = a.intersection(&b).copied().collect();
            prop_assert_eq!(plain(&left.and(&right, total)), both.clone());
            prop_assert_eq!(left.and(&right, total).len() as usize, both.len());
            let up_to = left.shared_up_to(&right, enough);
            prop_assert_eq!(up_to, (both.len() as u32).min(enough));
            let pivot = Pivot::new(&left, total);
            for _ in 0..2 {
                prop_assert_eq!(pivot.shared_up_to(&right, enough), up_to);
            }
            let lists: Vec<Vec<u32>> = vec![a.iter().copied().collect(), b.iter().copied().collect()];
            let either: Vec<u32> = a.union(&b).copied().collect();
            prop_assert_eq!(plain(&Set::union(lists.iter().map(Vec::as_slice), total)), either.clone());
            let mut distinct = Distinct::new(total);
            for _ in 0..2 {
                prop_assert_eq!(distinct.count(lists.iter().map(Vec::as_slice)) as usize, either.len());
            }
            let others: Vec<u32> = (0..total as u32).filter(|r| !a.contains(r)).collect();
            prop_assert_eq!(plain(&left.complement(total)), others);
        }
    }
}
