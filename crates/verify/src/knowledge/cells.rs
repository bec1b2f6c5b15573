//! The cells of the last items of some knowledge.
//!
//! The last two or three items b < c < d are numbered from the first item that can follow the part's own. A **row** is all
//! that starts with b and c (with two items: with b), a **group** one combination, a **cell** a group with one set of
//! related pairs.
//!
//! Four items that can follow, and three of them at a time, have these rows and groups:
//!
//! ```text
//! b c      0 1   0 2   0 3   1 2   1 3   2 3         b c d    0 1 2   0 1 3   0 2 3   1 2 3
//! row      0     1     2     3     4     5           group    0       1       2       3
//! ```
//!
//! Instead of a formula there are a few numbers per item that are added up and wrap on the way:
//!
//! ```text
//! item      0    1    2    3
//! row      -1    1    2    2      row of (b, c)      = row[b] + c:                 row[1] + 3 = 4
//! first    -3   -2   -2    –
//! second   -1    1    2    2      group of (b, c, d) = first[b] + second[c] + d:   -2 + 2 + 3 = 3 for 1 2 3
//! ```
//!
//! With relations each group has eight cells, one per mask over the pairs (b, c), (b, d), (c, d), which are the bits 0, 1 and
//! 2 of `pair_bit` when nothing stands before them. A record with the items 0, 1 and 2 of which 0–1 and 1–2 are related adds
//! one to cell 101 of group 0, which is cell 5 of all, and marks row 0 as touched.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::dense::SmallestByRelations;
use super::kernel::{Counter, Kernel, Shape};
use super::records::{Pairs, Records, pair_bit, pair_count};

/// The cells of one thread.
pub(super) struct Cells<C> {
    shape: Shape,
    /// The first item that can follow the part's own, and how many there are from it on.
    low: usize,
    items: usize,
    /// The row of (b, c) is `row[b] + c`, its group with d is `first[b] + second[c] + d`; all of these wrap.
    row: Vec<usize>,
    first: Vec<usize>,
    second: Vec<usize>,
    touched: Vec<bool>,
    cells: Vec<C>,
    /// Where relations that hold one by one do not hold together: counts of exactly these, sums already.
    exact: Vec<C>,
    scratch: Scratch,
}

#[derive(Default)]
struct Scratch {
    own: Vec<usize>,
    with_first: Vec<usize>,
    positions: Vec<u32>,
    sets: Vec<u64>,
    subsets: Vec<u64>,
    sums: Vec<u32>,
}

impl<C: Counter> Kernel for Cells<C> {
    fn new(shape: Shape, items: usize) -> Self {
        let items = items.saturating_sub(shape.before);
        let cells = shape.groups(items).unwrap_or(0) << shape.bits;
        Cells {
            shape,
            low: 0,
            items: 0,
            row: Vec::new(),
            first: Vec::new(),
            second: Vec::new(),
            touched: vec![false; shape.rows(items)],
            cells: vec![C::default(); cells],
            exact: vec![C::default(); if shape.embedded { cells } else { 0 }],
            scratch: Scratch::default(),
        }
    }

    fn begin(&mut self, low: usize, items: usize) {
        (self.low, self.items) = (low, items);
        let later = |i: usize| items - 1 - i;
        self.row.clear();
        self.first.clear();
        self.second.clear();
        let (mut triples, mut pairs) = (0usize, 0usize);
        for i in 0..items {
            // Rows: pairs that start before i, less those that cannot be.
            self.row.push(pairs.wrapping_sub(i + 1));
            self.second.push(pairs.wrapping_sub(i + 1));
            self.first.push(triples.wrapping_sub(pairs + later(i)));
            triples += pair_count(later(i));
            pairs += later(i);
        }
    }

    fn add(
        &mut self,
        records: &Records,
        record: usize,
        prefix: &[u32],
        observer: &dyn Observer,
    ) -> Result<()> {
        let from = prefix.last().map_or(0, |&p| p as usize + 1);
        let items = &records.items(record)[from..];
        if items.len() < self.shape.last {
            return Ok(());
        }
        match self.shape.last {
            1 => self.add_ones(items),
            2 => self.add_pairs(records.pairs(record), items),
            _ => {
                let spread = self.shape.embedded && {
                    let mut positions = prefix.iter().map(|&p| p as usize).chain(from..from + items.len());
                    positions.any(|p| records.is_spread(record, p))
                };
                let pairs = records.pairs(record);
                match pairs.words().filter(|_| !records.is_signed()) {
                    _ if spread => self.add_spread(records, record, prefix, from, observer)?,
                    Some(words) => self.add_related(words, items, prefix, from),
                    None => self.add_signed(pairs, items, prefix, from)?,
                }
            }
        }
        Ok(())
    }

    fn join(&mut self, other: &Self) {
        let add = |own: &mut Vec<C>, other: &[C]| own.iter_mut().zip(other).for_each(|(a, b)| a.add(*b));
        add(&mut self.cells, &other.cells);
        add(&mut self.exact, &other.exact);
        self.touched.iter_mut().zip(&other.touched).for_each(|(a, b)| *a |= b);
    }

    fn violations(&mut self, found: &mut SmallestByRelations<'_>, prefix: &[u32]) {
        let n = self.items;
        match self.shape.last {
            1 => self.row_violations(0, 0..n, prefix, &[], found),
            2 => {
                for b in 0..n {
                    if self.touched[b] {
                        let start = self.row[b].wrapping_add(b + 1);
                        self.row_violations(start, b + 1..n, prefix, &[b], found);
                    }
                }
            }
            _ => {
                for b in 0..n {
                    for c in b + 1..n {
                        let row = self.row[b].wrapping_add(c);
                        if self.touched[row] {
                            let start = self.first[b].wrapping_add(self.second[c]).wrapping_add(c + 1);
                            self.row_violations(start, c + 1..n, prefix, &[b, c], found);
                        }
                    }
                }
            }
        }
        self.touched.fill(false);
    }
}

impl<C: Counter> Cells<C> {
    fn add_ones(&mut self, items: &[u32]) {
        for &item in items {
            self.touched[item as usize] = true;
            self.cells[item as usize].add(C::ONE);
        }
    }

    fn add_pairs(&mut self, pairs: Pairs<'_>, items: &[u32]) {
        for b in 0..items.len() - 1 {
            self.touched[items[b] as usize] = true;
            let base = self.row[items[b] as usize];
            for c in b + 1..items.len() {
                let group = base.wrapping_add(items[c] as usize);
                let mask = if self.shape.bits == 0 { 0 } else { signed(pairs, b, c, 1) as usize };
                self.cells[(group << self.shape.bits) + mask].add(C::ONE);
            }
        }
    }

    /// Related triples of a record of up to 64 items, where relations that hold one by one hold together.
    fn add_related(&mut self, words: &[u64], items: &[u32], prefix: &[u32], from: usize) {
        let Cells { low, row, first, second, touched, cells, scratch, shape, .. } = self;
        let (bits, p) = (shape.bits, shape.before);
        let related = |a: usize, b: usize| (words[a] >> b & 1) as usize;
        let with_prefix = |x: usize| -> usize {
            prefix.iter().enumerate().map(|(i, &a)| related(a as usize, x) << i).sum()
        };
        let known: usize = (1..p)
            .map(|j| {
                let earlier = prefix[..j].iter().enumerate();
                let own: usize = earlier.map(|(i, &a)| related(a as usize, prefix[j] as usize) << i).sum();
                own << pair_bit(0, j)
            })
            .sum();
        let (b_bit, c_bit, d_bit) = (pair_bit(0, p), pair_bit(0, p + 1), pair_bit(0, p + 2));
        let (bc_bit, bd_bit, cd_bit) = (pair_bit(p, p + 1), pair_bit(p, p + 2), pair_bit(p + 1, p + 2));
        scratch.own.clear();
        scratch.own.extend(items.iter().enumerate().map(|(at, &item)| {
            let with = if p == 0 { 0 } else { with_prefix(from + at) };
            ((item as usize - *low) << bits) + (with << d_bit)
        }));
        let own = &scratch.own;
        let with_first = &mut scratch.with_first;
        for b in 0..items.len() - 2 {
            let b_item = items[b] as usize - *low;
            let of_b = words[from + b] >> from;
            let with_b = known + if p == 0 { 0 } else { with_prefix(from + b) << b_bit };
            with_first.clear();
            with_first.extend(
                own.iter().enumerate().map(|(d, cell)| cell + ((of_b >> d & 1) as usize) * (1 << bd_bit)),
            );
            for c in b + 1..items.len() - 1 {
                let c_item = items[c] as usize - *low;
                touched[row[b_item].wrapping_add(c_item)] = true;
                let with_c = if p == 0 { 0 } else { with_prefix(from + c) << c_bit };
                let group = first[b_item].wrapping_add(second[c_item]);
                let base =
                    (group << bits).wrapping_add(with_b + with_c + (((of_b >> c & 1) as usize) << bc_bit));
                let mut of_c = words[from + c] >> (from + c);
                for cell in &with_first[c + 1..] {
                    of_c >>= 1;
                    let at = base.wrapping_add(cell + (((of_c & 1) as usize) << cd_bit));
                    cells[at].add(C::ONE);
                }
            }
        }
    }

    /// The same for longer records, and where being unrelated is knowledge too.
    fn add_signed(&mut self, pairs: Pairs<'_>, items: &[u32], prefix: &[u32], from: usize) -> Result<()> {
        self.each_triple(items.len(), |cells, b, c, d| {
            let mut positions = std::mem::take(&mut cells.scratch.positions);
            positions.clear();
            positions.extend_from_slice(prefix);
            positions.extend([b, c, d].map(|at| (from + at) as u32));
            let v = positions.len();
            let mut mask = 0;
            for j in 1..v {
                for i in 0..j {
                    let (a, b) = (positions[i] as usize, positions[j] as usize);
                    mask |= signed(pairs, a, b, pair_count(v)) << pair_bit(i, j);
                }
            }
            cells.scratch.positions = positions;
            let group = cells.group(items, b, c, d);
            cells.cells[(group << cells.shape.bits) + mask as usize].add(C::ONE);
            Ok(())
        })
    }

    /// The same where relations that hold one by one need not hold together.
    fn add_spread(
        &mut self,
        records: &Records,
        record: usize,
        prefix: &[u32],
        from: usize,
        observer: &dyn Observer,
    ) -> Result<()> {
        let items = &records.items(record)[from..];
        self.each_triple(items.len(), |cells, b, c, d| {
            let group = cells.group(items, b, c, d) << cells.shape.bits;
            let Cells { scratch: Scratch { positions, sets, subsets, .. }, shape, .. } = cells;
            positions.clear();
            positions.extend_from_slice(prefix);
            positions.extend([b, c, d].map(|at| (from + at) as u32));
            records.relation_sets(record, positions, sets, observer)?;
            if let &[set] = sets.as_slice() {
                cells.cells[group + set as usize].add(C::ONE);
                return Ok(());
            }
            subsets.clear();
            for &set in sets.iter() {
                (0..=shape.most).for_each(|r| super::push_subsets(set, r, 0, subsets));
            }
            subsets.sort_unstable();
            subsets.dedup();
            subsets.iter().for_each(|&subset| cells.exact[group + subset as usize].add(C::ONE));
            Ok(())
        })
    }

    fn each_triple(
        &mut self,
        items: usize,
        mut then: impl FnMut(&mut Self, usize, usize, usize) -> Result<()>,
    ) -> Result<()> {
        for b in 0..items {
            for c in b + 1..items {
                for d in c + 1..items {
                    then(self, b, c, d)?;
                }
            }
        }
        Ok(())
    }

    fn group(&mut self, items: &[u32], b: usize, c: usize, d: usize) -> usize {
        let [b, c, d] = [b, c, d].map(|at| items[at] as usize - self.low);
        self.touched[self.row[b].wrapping_add(c)] = true;
        self.first[b].wrapping_add(self.second[c]).wrapping_add(d)
    }

    /// Looks at the groups of a row from `start` on, whose last items are `last`, and empties them.
    fn row_violations(
        &mut self,
        start: usize,
        last: std::ops::Range<usize>,
        prefix: &[u32],
        row: &[usize],
        found: &mut SmallestByRelations<'_>,
    ) {
        let Cells { cells, exact, shape, low, scratch, .. } = self;
        let range = start << shape.bits..(start + last.len()) << shape.bits;
        let cells = &mut cells[range.clone()];
        let items = |d: usize| {
            let local = row.iter().copied().chain([d]).map(|i| (*low + i) as u32);
            prefix.iter().copied().chain(local)
        };
        let few = |count: u32| count > 0 && count < shape.k;
        if shape.bits == 0 {
            for at in (0..cells.len()).filter(|&at| few(cells[at].into())) {
                found.offer(items(last.start + at), 0);
            }
        } else {
            let size = 1usize << shape.bits;
            let mut none: [C; 0] = [];
            let exact = if shape.embedded { &mut exact[range] } else { &mut none[..] };
            for (at, group) in cells.chunks_exact(size).enumerate() {
                let exact = exact.get(at * size..(at + 1) * size);
                let is_empty = |cells: &[C]| cells.iter().all(|c| *c == C::default());
                if is_empty(group) && exact.is_none_or(is_empty) {
                    continue;
                }
                let sums = &mut scratch.sums;
                sums.clear();
                sums.extend(group.iter().map(|&c| -> u32 { c.into() }));
                for bit in 0..shape.bits {
                    for mask in (0..size).filter(|mask| mask >> bit & 1 == 0) {
                        sums[mask] = sums[mask].saturating_add(sums[mask | 1 << bit]);
                    }
                }
                for (mask, sum) in sums.iter().enumerate() {
                    let more: u32 = exact.map_or(0, |e| e[mask].into());
                    if mask.count_ones() as usize <= shape.most && few(sum.saturating_add(more)) {
                        found.offer(items(last.start + at), mask as u64);
                    }
                }
            }
            exact.fill(C::default());
        }
        cells.fill(C::default());
    }
}

/// What is known of a pair: a bit for being related, and one `pairs` bits further for being unrelated.
#[inline]
fn signed(pairs: Pairs<'_>, a: usize, b: usize, of: usize) -> u64 {
    let unrelated = u64::from(pairs.unrelated(a, b));
    u64::from(pairs.related(a, b)) | if unrelated == 0 { 0 } else { unrelated << of }
}
