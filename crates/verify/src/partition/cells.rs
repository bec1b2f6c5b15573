//! A counter for every piece of knowledge, up to k, with a key of its own: no two pieces ever share one.
//!
//! Where there is room, a set of items a < b < c … has the number C(a,1) + C(b,2) + C(c,3) + …, which no other set of that size
//! has, and a place per set of relations behind it. Else pieces are kept as they are.

use rustc_hash::FxHashMap;

use bosket_model::{Diagnostic, Failure, Fault, Result};

use crate::knowledge::pair_count;

/// Counters up to k.
#[derive(Debug)]
pub(super) struct Cells {
    k: u32,
    /// C(item, size) by size, from 0.
    choose: Vec<Vec<u64>>,
    /// Where the counters of each size begin; there is none of size 0.
    first: Vec<u64>,
    /// How many bits of a place say which pairs are related, by size.
    bits: Vec<u32>,
    counts: Counts,
}

#[derive(Debug)]
enum Counts {
    /// Two counters a byte.
    Halves(Vec<u8>),
    Bytes(Vec<u8>),
    /// Relations, then items.
    Pieces(FxHashMap<Box<[u32]>, u32>, usize),
}

/// About what a piece takes besides its items.
const ENTRY: usize = 48;

impl Cells {
    /// For sets of up to `m` of so many items, with or without relations, in so many bytes.
    pub(super) fn new(k: u32, m: usize, items: usize, related: bool, memory: usize) -> Self {
        let bits: Vec<u32> = (0..=m).map(|v| if related { pair_count(v) as u32 } else { 0 }).collect();
        // Many known values have more relations than any table has places.
        let fits = bits.iter().all(|&bits| bits < 24);
        let size = |v: usize| choose(items as u64, v as u64)?.checked_mul(1 << bits[v]);
        let sizes: Option<Vec<u64>> = if fits { (0..=m).map(size).collect() } else { None };
        let all = sizes
            .as_ref()
            .and_then(|sizes| sizes.iter().skip(1).try_fold(0u64, |sum, &size| sum.checked_add(size)));
        let (room, halves) = (memory as u64, k <= 15);
        let bytes = all.filter(|_| k <= 255).map(|all| if halves { all.div_ceil(2) } else { all });
        let Some(bytes) = bytes.filter(|&bytes| bytes <= room) else {
            let counts = Counts::Pieces(FxHashMap::default(), memory);
            return Cells { k, choose: Vec::new(), first: Vec::new(), bits, counts };
        };
        let mut first = vec![0, 0];
        for size in sizes.iter().flatten().skip(1) {
            first.push(first.last().copied().unwrap_or(0) + size);
        }
        let table = |v: usize| (0..items as u64).map(|item| choose(item, v as u64).unwrap_or(0)).collect();
        let cells = vec![0; bytes as usize];
        let counts = if halves { Counts::Halves(cells) } else { Counts::Bytes(cells) };
        Cells { k, choose: (0..=m).map(table).collect(), first, bits, counts }
    }

    /// For sets of up to `m` of items of which nobody knows how many there will be.
    pub(super) fn of_pieces(k: u32, m: usize, memory: usize) -> Self {
        let counts = Counts::Pieces(FxHashMap::default(), memory);
        Cells { k, choose: Vec::new(), first: Vec::new(), bits: vec![0; m + 2], counts }
    }

    fn place(&self, items: &[u32], relations: u64) -> u64 {
        let rank: u64 = items.iter().enumerate().map(|(i, &item)| self.choose[i + 1][item as usize]).sum();
        self.first[items.len()] + (rank << self.bits[items.len()]) + relations
    }

    /// Whether fewer than k records with the piece have been kept.
    #[inline]
    pub(super) fn is_open(&self, items: &[u32], relations: u64) -> bool {
        let count = match &self.counts {
            Counts::Halves(cells) => {
                let at = self.place(items, relations);
                u32::from(cells[(at / 2) as usize] >> (at % 2 * 4) & 15)
            }
            Counts::Bytes(cells) => u32::from(cells[self.place(items, relations) as usize]),
            Counts::Pieces(known, _) => known.get(key(items, relations).as_slice()).copied().unwrap_or(0),
        };
        count < self.k
    }

    /// Whether fewer than k records with some set of up to m ascending items, none of them related, have been kept.
    pub(super) fn has_open(&self, items: &[u32], m: usize) -> Option<bool> {
        match &self.counts {
            Counts::Halves(cells) => {
                let open = |at: u64| u32::from(cells[(at / 2) as usize] >> (at % 2 * 4) & 15) < self.k;
                Some((1..=m).any(|size| self.any_below(items, size, self.first[size], &open)))
            }
            Counts::Bytes(cells) => {
                let open = |at: u64| u32::from(cells[at as usize]) < self.k;
                Some((1..=m).any(|size| self.any_below(items, size, self.first[size], &open)))
            }
            Counts::Pieces(..) => None,
        }
    }

    /// The highest item first: the places of the others then lie side by side.
    fn any_below(&self, items: &[u32], size: usize, base: u64, open: &impl Fn(u64) -> bool) -> bool {
        if size == 1 {
            return items.iter().any(|&item| open(base + u64::from(item)));
        }
        let rank = &self.choose[size];
        let highest = items.iter().enumerate().skip(size - 1);
        highest
            .into_iter()
            .any(|(at, &item)| self.any_below(&items[..at], size - 1, base + rank[item as usize], open))
    }

    /// Counts a piece of a record that is kept.
    #[inline]
    pub(super) fn count(&mut self, items: &[u32], relations: u64) -> Result<()> {
        if !self.is_open(items, relations) {
            return Ok(());
        }
        let at = match &self.counts {
            Counts::Pieces(..) => 0,
            _ => self.place(items, relations),
        };
        match &mut self.counts {
            Counts::Halves(cells) => cells[(at / 2) as usize] += 1 << (at % 2 * 4),
            Counts::Bytes(cells) => cells[at as usize] += 1,
            Counts::Pieces(known, memory) => {
                *known.entry(key(items, relations).into_boxed_slice()).or_insert(0) += 1;
                if known.len() * (ENTRY + 4 * (self.bits.len() + 1)) > *memory {
                    return Err(too_many(*memory));
                }
            }
        }
        Ok(())
    }
}

fn key(items: &[u32], relations: u64) -> Vec<u32> {
    let mut key = vec![relations as u32, (relations >> 32) as u32];
    key.extend_from_slice(items);
    key
}

fn too_many(memory: usize) -> Failure {
    let what =
        format!("the pieces of knowledge that are counted in parts take more than {} MB", memory >> 20);
    let help = "allow more memory, or check the records as a whole";
    Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help))
}

/// How many sets of `v` out of `n` there are, if 64 bits can say it.
fn choose(n: u64, v: u64) -> Option<u64> {
    let mut all = 1u128;
    for i in 0..v {
        all = all * u128::from(n.saturating_sub(i)) / u128::from(i + 1);
        if all > u128::from(u64::MAX) {
            return None;
        }
    }
    Some(all as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_a_counter_of_its_own() {
        for (k, memory) in [(2, 1 << 20), (20, 1 << 20), (2, 0)] {
            let mut cells = Cells::new(k, 3, 7, true, if memory == 0 { 4096 * 8 } else { memory });
            if memory == 0 {
                cells.counts = Counts::Pieces(FxHashMap::default(), usize::MAX);
            }
            let mut pieces: Vec<(Vec<u32>, u64)> = Vec::new();
            for set in 1u32..1 << 7 {
                let items: Vec<u32> = (0..7).filter(|i| set >> i & 1 == 1).collect();
                if items.len() <= 3 {
                    pieces.extend((0..1u64 << pair_count(items.len())).map(|r| (items.clone(), r)));
                }
            }
            for (i, (items, relations)) in pieces.iter().enumerate() {
                for _ in 0..k {
                    assert!(cells.is_open(items, *relations), "{items:?} {relations} counted by another");
                    cells.count(items, *relations).expect("room");
                }
                assert!(!cells.is_open(items, *relations));
                if let Some((next, r)) = pieces.get(i + 1) {
                    assert!(cells.is_open(next, *r));
                }
            }
        }
    }
}
