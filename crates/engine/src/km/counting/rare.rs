//! Itemsets that occur, but in fewer than k transactions.
//!
//! A set is counted at its most popular items: all but the two rarest make a prefix, whose transactions are gone through once;
//! the two rarest are counted in a plane. So the work grows with pairs, not with triples, and frequent
//! sets cost nothing once they are known to be frequent.
//!
//! Six transactions, itemsets of three, k = 2. All items are in four transactions, so codes go by number: a = 0, b = 1, c = 2,
//! d = 3. What has fewer than three items is left out.
//!
//! ```text
//! transactions   a b c        a b c        a b d        a c d        b d    c d
//! items          2 1 0 END    2 1 0 END    3 1 0 END    3 2 0 END            the rarest first
//! places of 0    0            4            8            12                   two rarer codes stand before it
//!
//! plane of [0]   pairs of 1, 2, 3 in these transactions, bit b of row c stands for (b, c)
//!                (1, 2) twice: closed at k, frequent
//!                (1, 3) once, (2, 3) once: rare
//!
//! rare sets      0 1 3   0 2 3    that is abd and acd
//! ```
//!
//! No set begins with 1, 2 or 3: too few of what stands before them is left. Of four items the prefix would have two codes, and
//! the places of its first would be dealt out by the second (`split`).

use std::ops::Range;
use std::sync::Mutex;

use bosket_model::Result;
use bosket_model::observe::Observer;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::coded::{Coded, END};
use super::plane::{Plane, Shape};
use super::plane_counter::PlaneCounter;
use crate::km::transactions::STRIDE;

/// Rare itemsets as codes, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    pub(crate) sets: Vec<u32>,
    /// Whether these are all.
    pub(crate) complete: bool,
}

/// What was counted for a prefix: pairs that make rare sets with it, and pairs that make frequent ones.
#[derive(Debug, Default)]
pub(crate) struct Planes {
    pub(crate) rare: Plane,
    pub(crate) frequent: Plane,
}

/// Bounds of one count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The items of a set, at least two.
    pub(crate) size: usize,
    pub(crate) k: u32,
    /// Stops when there are more sets than this.
    pub(crate) cap: usize,
    /// Bytes for the counters of one thread.
    pub(crate) memory: usize,
    /// Also find out which sets are frequent.
    pub(crate) keep: bool,
}

/// The itemsets of a size that are in some but fewer than k transactions.
pub(crate) fn rare_sets(coded: &Coded, bounds: Bounds, observer: &dyn Observer) -> Result<Rare> {
    let mut rare = Rare { complete: true, ..Rare::default() };
    let mut add = |found: PrefixCount| {
        match found {
            PrefixCount::Sets(sets) => rare.sets.extend(sets),
            PrefixCount::Planes(prefix, planes) => {
                for (a, b) in planes.rare.pairs() {
                    rare.sets.extend_from_slice(&prefix);
                    rare.sets.extend([a, b]);
                }
            }
        }
        let enough = rare.sets.len() > bounds.cap.saturating_mul(bounds.size);
        rare.complete &= !enough;
        !enough
    };
    count(coded, bounds, observer, &mut add)?;
    Ok(rare)
}

/// The planes of all prefixes, by prefix; none if they, or the counters for them, would take too much memory.
/// Equal transactions may have been grouped.
pub(crate) fn planes(
    coded: &Coded,
    bounds: Bounds,
    observer: &dyn Observer,
) -> Result<Option<FxHashMap<Vec<u32>, Planes>>> {
    if !planes_fit(coded, bounds) {
        return Ok(None);
    }
    let (mut all, mut bytes) = (FxHashMap::default(), 0);
    let mut add = |found: PrefixCount| {
        if let PrefixCount::Planes(prefix, planes) = found {
            bytes += planes.rare.bytes() + planes.frequent.bytes();
            all.insert(prefix, planes);
        }
        bytes <= 2 * bounds.memory
    };
    Ok(count(coded, bounds, observer, &mut add)?.then_some(all))
}

/// Whether there is memory for the planes of all prefixes.
pub(crate) fn planes_fit(coded: &Coded, bounds: Bounds) -> bool {
    let codes = coded.nodes.len();
    let sets = (0..bounds.size).fold(1f64, |sets, i| sets * codes.saturating_sub(i) as f64 / (i + 1) as f64);
    // Two bits per set.
    codes <= DENSE && sets / 4.0 <= 2.0 * bounds.memory as f64
}

/// What is found for one prefix.
enum PrefixCount {
    Sets(Vec<u32>),
    Planes(Vec<u32>, Planes),
}

/// Up to so many codes planes are laid over all of them; beyond, pairs are counted in a table.
const DENSE: usize = 2048;

/// First items that are counted before somebody looks whether it is enough.
const BLOCK: usize = 16;

/// Counts everything, handing it over in order, until `add` has enough. Whether it never had.
fn count(
    coded: &Coded,
    bounds: Bounds,
    observer: &dyn Observer,
    add: &mut dyn FnMut(PrefixCount) -> bool,
) -> Result<bool> {
    match bounds.k {
        0..=2 => count_with::<1>(coded, bounds, observer, add),
        3..=4 => count_with::<2>(coded, bounds, observer, add),
        5..=8 => count_with::<3>(coded, bounds, observer, add),
        9..=16 => count_with::<4>(coded, bounds, observer, add),
        17..=128 => count_with::<7>(coded, bounds, observer, add),
        129..=65_536 => count_with::<16>(coded, bounds, observer, add),
        _ => count_with::<32>(coded, bounds, observer, add),
    }
}

fn count_with<const D: usize>(
    coded: &Coded,
    bounds: Bounds,
    observer: &dyn Observer,
    add: &mut dyn FnMut(PrefixCount) -> bool,
) -> Result<bool> {
    if coded.longest < bounds.size {
        return Ok(true);
    }
    if bounds.size == 2 {
        let starts: Vec<u32> =
            (0..coded.items.len() as u32).filter(|&i| i == 0 || coded.items[i as usize - 1] == END).collect();
        let mut found = Vec::new();
        Counter::<D>::new(coded, bounds, observer).count(&mut Vec::new(), &starts, &mut found)?;
        return Ok(found.into_iter().all(add));
    }
    let idle: Mutex<Vec<Counter<'_, D>>> = Mutex::new(Vec::new());
    let mut all = Beginnings::new(coded, bounds, observer)?;
    while let Some(places) = all.next(coded, observer)? {
        let firsts: Vec<u32> = places.codes.clone().filter(|&x| !places.of(x).is_empty()).collect();
        for block in firsts.chunks(BLOCK) {
            let found: Result<Vec<Vec<PrefixCount>>> = block
                .par_iter()
                .map(|&x| {
                    let free = idle.lock().ok().and_then(|mut idle| idle.pop());
                    let mut counter = free.unwrap_or_else(|| Counter::new(coded, bounds, observer));
                    let mut found = Vec::new();
                    counter.count(&mut vec![x], places.of(x), &mut found)?;
                    if let Ok(mut idle) = idle.lock() {
                        idle.push(counter);
                    }
                    Ok(found)
                })
                .collect();
            if !found?.into_iter().flatten().all(&mut *add) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Finds where the transactions of codes begin, for as many codes at once as memory allows.
struct Beginnings {
    size: usize,
    /// Most places at once.
    most: usize,
    /// Per code how many transactions it is looked for in.
    counts: Vec<u32>,
    /// The first code whose turn has not come.
    next: u32,
}

impl Beginnings {
    fn new(coded: &Coded, bounds: Bounds, observer: &dyn Observer) -> Result<Self> {
        let size = bounds.size;
        let mut counts = vec![0; coded.nodes.len()];
        for (number, row) in coded.rows().enumerate() {
            if number.is_multiple_of(STRIDE) {
                observer.go_on()?;
            }
            // Others have too few items that are rarer.
            row.iter().skip(size - 1).for_each(|&c| counts[c as usize] += 1);
        }
        Ok(Beginnings { size, most: bounds.memory / size_of::<u32>(), counts, next: 0 })
    }

    /// The next codes, at least one; none after the last.
    fn next(&mut self, coded: &Coded, observer: &dyn Observer) -> Result<Option<Places>> {
        let first = self.next;
        let mut start = vec![0];
        for &count in &self.counts[first as usize..] {
            let end = start[start.len() - 1] + count;
            if start.len() > 1 && end as usize > self.most {
                break;
            }
            start.push(end);
        }
        let codes = first..first + start.len() as u32 - 1;
        if codes.is_empty() {
            return Ok(None);
        }
        self.next = codes.end;
        let mut next = start.clone();
        let mut places = vec![0; start[start.len() - 1] as usize];
        let mut at = 0;
        for (number, row) in coded.rows().enumerate() {
            if number.is_multiple_of(STRIDE) {
                observer.go_on()?;
            }
            for &c in row.iter().skip(self.size - 1).filter(|c| codes.contains(c)) {
                let own = &mut next[(c - first) as usize];
                places[*own as usize] = at;
                *own += 1;
            }
            at += row.len() as u32 + 1;
        }
        Ok(Some(Places { codes, start, places }))
    }
}

/// Where the transactions of some codes begin.
struct Places {
    codes: Range<u32>,
    start: Vec<u32>,
    places: Vec<u32>,
}

impl Places {
    fn of(&self, code: u32) -> &[u32] {
        let at = (code - self.codes.start) as usize;
        &self.places[self.start[at] as usize..self.start[at + 1] as usize]
    }
}

/// Counters of one thread.
struct Counter<'a, const D: usize> {
    coded: &'a Coded,
    bounds: Bounds,
    observer: &'a dyn Observer,
    plane: PlaneCounter<D>,
}

impl<'a, const D: usize> Counter<'a, D> {
    fn new(coded: &'a Coded, bounds: Bounds, observer: &'a dyn Observer) -> Self {
        Counter { coded, bounds, observer, plane: PlaneCounter::new(bounds.k) }
    }

    /// The items of a transaction that are rarer than all of a prefix.
    fn rarer(&self, place: u32, prefix: &[u32]) -> &'a [u32] {
        let row = &self.coded.items[place as usize..];
        let first = first_after(prefix);
        let length = row.iter().position(|&c| c == END || c < first).unwrap_or(0);
        &row[..length]
    }

    /// Counts the sets that begin with `prefix`, in the transactions that have it.
    fn count(&mut self, prefix: &mut Vec<u32>, places: &[u32], found: &mut Vec<PrefixCount>) -> Result<()> {
        match self.bounds.size - prefix.len() {
            2 if self.coded.nodes.len() <= DENSE => self.by_plane(prefix, places, found),
            2 => self.by_table(prefix, places, found),
            left => {
                for (code, places) in self.split(prefix, places, left)? {
                    prefix.push(code);
                    self.count(prefix, &places, found)?;
                    prefix.pop();
                }
                Ok(())
            }
        }
    }

    /// The places by the next item of the set, of which `left` are to come.
    fn split(&self, prefix: &[u32], places: &[u32], left: usize) -> Result<Vec<(u32, Vec<u32>)>> {
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); self.coded.nodes.len()];
        for &place in places {
            self.observer.go_on()?;
            for &code in self.rarer(place, prefix).iter().skip(left - 1) {
                next[code as usize].push(place);
            }
        }
        let split = next.into_iter().enumerate().filter(|(_, places)| !places.is_empty());
        Ok(split.map(|(code, places)| (code as u32, places)).collect())
    }

    fn by_plane(&mut self, prefix: &[u32], places: &[u32], found: &mut Vec<PrefixCount>) -> Result<()> {
        self.plane.reset(Shape::new(first_after(prefix), self.coded.nodes.len() as u32));
        self.coded.for_each(places.iter().copied(), self.observer, |row, heavy| {
            self.plane.count(row, heavy);
            !self.plane.is_done()
        })?;
        let frequent = if self.bounds.keep { self.plane.frequent() } else { Plane::default() };
        let planes = Planes { rare: self.plane.rare(), frequent };
        found.push(PrefixCount::Planes(prefix.to_vec(), planes));
        Ok(())
    }

    /// For many codes, of which few occur together. The table is parted by the first item of the pairs where it would
    /// take too much memory.
    fn by_table(&mut self, prefix: &[u32], places: &[u32], found: &mut Vec<PrefixCount>) -> Result<()> {
        let pairs: usize = places.iter().map(|&p| self.rarer(p, prefix).len().pow(2) / 2).sum();
        let entry = 24;
        let mut sets = Vec::new();
        if pairs.saturating_mul(entry) <= self.bounds.memory {
            let mut table: FxHashMap<(u32, u32), u32> = FxHashMap::default();
            for &place in places {
                self.observer.go_on()?;
                let items = self.rarer(place, prefix);
                for (i, &a) in items.iter().enumerate() {
                    items[i + 1..].iter().for_each(|&b| *table.entry((a, b)).or_default() += 1);
                }
            }
            let mut rare: Vec<(u32, u32)> =
                table.into_iter().filter(|&(_, count)| count < self.bounds.k).map(|(pair, _)| pair).collect();
            rare.sort_unstable();
            for (a, b) in rare {
                sets.extend_from_slice(prefix);
                sets.extend([a, b]);
            }
        } else {
            let mut count = vec![0u32; self.coded.nodes.len()];
            for (a, places) in self.split(prefix, places, 2)? {
                self.observer.go_on()?;
                let rarer = || places.iter().flat_map(|&p| self.rarer(p, &[a]));
                rarer().for_each(|&b| count[b as usize] += 1);
                let mut rare: Vec<u32> =
                    rarer().copied().filter(|&b| count[b as usize] < self.bounds.k).collect();
                rare.sort_unstable();
                rare.dedup();
                for b in rare {
                    sets.extend_from_slice(prefix);
                    sets.extend([a, b]);
                }
                rarer().for_each(|&b| count[b as usize] = 0);
            }
        }
        found.push(PrefixCount::Sets(sets));
        Ok(())
    }
}

/// The first code that is rarer than all of a prefix.
fn first_after(prefix: &[u32]) -> u32 {
    prefix.last().map_or(0, |&last| last + 1)
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;

    use super::*;

    #[test]
    fn the_example_of_the_head() {
        let mut coded = Coded::empty(vec![1, 2, 3, 4]);
        coded.items = vec![2, 1, 0, END, 2, 1, 0, END, 3, 1, 0, END, 3, 2, 0, END];
        coded.longest = 3;
        let bounds = Bounds { size: 3, k: 2, cap: usize::MAX, memory: 1 << 20, keep: true };
        let mut all = Beginnings::new(&coded, bounds, &Quiet).expect("nobody interrupts");
        let places = all.next(&coded, &Quiet).expect("nobody interrupts").expect("four codes");
        assert_eq!(places.of(0), [0, 4, 8, 12]);
        assert!((1..4).all(|code| places.of(code).is_empty()));
        assert!(all.next(&coded, &Quiet).expect("nobody interrupts").is_none());
        let rare = rare_sets(&coded, bounds, &Quiet).expect("nobody interrupts");
        assert_eq!((rare.sets, rare.complete), (vec![0, 1, 3, 0, 2, 3], true));
        let planes = planes(&coded, bounds, &Quiet).expect("nobody interrupts").expect("they fit");
        assert_eq!(planes[&vec![0]].frequent.pairs().collect::<Vec<_>>(), [(1, 2)]);
    }

    #[test]
    fn with_little_memory_the_same_sets_are_rare() {
        let mut coded = Coded::empty((1..=12).collect());
        for record in 0..60u32 {
            let mut row: Vec<u32> = (0..12).filter(|code| (record * 7 + code * code * 5) % 4 < 2).collect();
            row.reverse();
            coded.longest = coded.longest.max(row.len());
            coded.items.extend(row);
            coded.items.push(END);
        }
        for size in [3, 4] {
            let found = |memory| {
                let bounds = Bounds { size, k: 20, cap: usize::MAX, memory, keep: false };
                rare_sets(&coded, bounds, &Quiet).expect("nobody interrupts").sets
            };
            let all = found(1 << 20);
            assert!(!all.is_empty());
            // Places of a code or two at once, or of one.
            assert!([0, 256].into_iter().all(|memory| found(memory) == all));
        }
    }
}
