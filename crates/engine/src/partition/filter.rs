//! Which records of a part belong to its kernel.
//!
//! A record is taken if one of its sets of labels, with the relations between them that can be known, has been taken fewer
//! than k times. What is counted is taken records only, so a set that is rare in all records is taken with every one of them.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use bosket_model::observe::Observer;
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::sets::Sets;

/// The label of an item that is not published.
pub const NO_LABEL: u32 = u32::MAX;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// How often each set is needed.
    pub k: u32,
    /// Most labels of a set.
    pub m: usize,
    /// Most relations between them.
    pub n: usize,
    /// Several relations of a label count only where they are at one place.
    pub embedded: bool,
}

/// Takes records, one after the other.
#[derive(Debug)]
pub struct Filter {
    range: Range,
    /// Per item its label, numbered from 0 by those that occur; [`NO_LABEL`] if it has none.
    label_of: Vec<u32>,
    /// Per label the first item that has it.
    item_of: Vec<u32>,
    table: Table,
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Scratch {
    labels: Vec<u32>,
    /// Label and node of each labelled node, by label.
    nodes: Vec<(u32, u32)>,
    /// Per label of the record where its nodes begin.
    first: Vec<u32>,
    masks: Vec<u32>,
}

/// How often each set was taken, up to k.
#[derive(Debug)]
enum Table {
    /// A place for every set that there can be: those of one label, of two, of three. A set of two has a second place for
    /// being related.
    Dense { cells: Vec<u8>, narrow: bool, pairs: u64, triples: u64 },
    /// The sets that there are, with their relations behind them.
    Sparse { known: FxHashMap<Vec<u32>, u32>, memory: usize },
}

/// Bytes of a set that there is, besides its labels.
const ENTRY: usize = 56;

impl Filter {
    /// Nothing is taken yet. `labels` says for each item at which label it is counted.
    pub fn new(range: Range, labels: &[u32], memory: usize) -> Self {
        let mut numbers: Vec<u32> = labels.iter().copied().filter(|&l| l != NO_LABEL).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let number = |label: u32| numbers.binary_search(&label).map_or(NO_LABEL, |at| at as u32);
        let label_of: Vec<u32> = labels.iter().map(|&l| if l == NO_LABEL { l } else { number(l) }).collect();
        let mut item_of = vec![0; numbers.len()];
        for (item, &label) in label_of.iter().enumerate().rev().filter(|(_, label)| **label != NO_LABEL) {
            item_of[label as usize] = item as u32;
        }
        let table = Table::new(range, numbers.len(), memory);
        Filter { range, label_of, item_of, table, scratch: Scratch::default() }
    }

    /// How many labels there are.
    pub fn labels(&self) -> usize {
        self.item_of.len()
    }

    /// What is left of a set where items of one label are one: for each label the first item that has it.
    pub(super) fn by_label(&self, set: &[u32], items: &mut Vec<u32>) {
        self.labels_of_set(set, items);
        items.iter_mut().for_each(|label| *label = self.item_of[*label as usize]);
    }

    /// Which of some records are taken.
    pub fn take(&mut self, trees: &ValueTrees, observer: &dyn Observer) -> Result<Vec<bool>> {
        // Counts only grow: whoever has no open set now has none when its turn comes.
        let closed: Vec<bool> = match (&self.table, self.range.n) {
            (Table::Dense { .. }, 0) => (0..trees.len())
                .into_par_iter()
                .map_init(Vec::new, |labels, record| {
                    observer.go_on()?;
                    self.labels_of(trees, record, labels);
                    Ok(!self.table.has_open(labels, self.range.k, self.range.m))
                })
                .collect::<Result<_>>()?,
            _ => vec![false; trees.len()],
        };
        let mut taken = Vec::with_capacity(trees.len());
        for (record, closed) in closed.into_iter().enumerate() {
            observer.go_on()?;
            taken.push(!closed && self.take_one(trees, record)?);
        }
        Ok(taken)
    }

    /// The same for sets of items.
    pub fn take_sets(&mut self, sets: &Sets, observer: &dyn Observer) -> Result<Vec<bool>> {
        let dense = matches!(self.table, Table::Dense { .. }) && self.range.n == 0;
        let closed: Vec<bool> = match dense {
            true => (0..sets.len())
                .into_par_iter()
                .map_init(Vec::new, |labels, record| {
                    observer.go_on()?;
                    self.labels_of_set(sets.of(record), labels);
                    Ok(!self.table.has_open(labels, self.range.k, self.range.m))
                })
                .collect::<Result<_>>()?,
            false => vec![false; sets.len()],
        };
        let mut labels = Vec::new();
        let mut taken = Vec::with_capacity(sets.len());
        for (record, closed) in closed.into_iter().enumerate() {
            observer.go_on()?;
            if closed {
                taken.push(false);
                continue;
            }
            self.labels_of_set(sets.of(record), &mut labels);
            taken.push(self.take_labels(&labels)?);
        }
        Ok(taken)
    }

    fn labels_of_set(&self, set: &[u32], labels: &mut Vec<u32>) {
        labels.clear();
        let own = set.iter().map(|&item| self.label_of[item as usize]);
        labels.extend(own.filter(|&label| label != NO_LABEL));
        labels.sort_unstable();
        labels.dedup();
    }

    /// Takes a record of ascending labels without relations.
    fn take_labels(&mut self, labels: &[u32]) -> Result<bool> {
        let Filter { range, table, scratch, .. } = self;
        if let Table::Dense { .. } = table {
            let open = table.has_open(labels, range.k, range.m);
            if open {
                table.count_all(labels, range.k, range.m);
            }
            return Ok(open);
        }
        let own = Own { trees: None, labels, nodes: &[], first: &[], range: Range { n: 0, ..*range } };
        let mut open = false;
        own.pieces(&mut scratch.masks, &mut |set, relations| {
            open = table.is_open(set, relations, range.k);
            Ok(!open)
        })?;
        if open {
            own.pieces(&mut scratch.masks, &mut |set, relations| {
                table.count(set, relations, range.k)?;
                Ok(true)
            })?;
        }
        Ok(open)
    }

    fn labels_of(&self, trees: &ValueTrees, record: usize, labels: &mut Vec<u32>) {
        labels.clear();
        let own = trees.nodes(record).map(|node| self.label_of[trees.item(node) as usize]);
        labels.extend(own.filter(|&label| label != NO_LABEL));
        labels.sort_unstable();
        labels.dedup();
    }

    fn take_one(&mut self, trees: &ValueTrees, record: usize) -> Result<bool> {
        let Filter { range, label_of, table, scratch, .. } = self;
        let Scratch { labels, nodes, first, masks } = scratch;
        nodes.clear();
        for node in trees.nodes(record) {
            let label = label_of[trees.item(node) as usize];
            if label != NO_LABEL {
                nodes.push((label, node as u32));
            }
        }
        nodes.sort_unstable();
        labels.clear();
        first.clear();
        for (at, &(label, _)) in nodes.iter().enumerate() {
            if labels.last() != Some(&label) {
                labels.push(label);
                first.push(at as u32);
            }
        }
        first.push(nodes.len() as u32);
        let own = Own { trees: Some(trees), labels, nodes, first, range: *range };
        if let (Table::Dense { .. }, 0) = (&*table, range.n) {
            if table.has_open(labels, range.k, range.m) {
                table.count_all(labels, range.k, range.m);
                return Ok(true);
            }
            return Ok(false);
        }
        let mut open = false;
        own.pieces(masks, &mut |set, relations| {
            open = table.is_open(set, relations, range.k);
            Ok(!open)
        })?;
        if open {
            own.pieces(masks, &mut |set, relations| {
                table.count(set, relations, range.k)?;
                Ok(true)
            })?;
        }
        Ok(open)
    }
}

/// The labels of a record, and where they stand.
struct Own<'a> {
    trees: Option<&'a ValueTrees>,
    labels: &'a [u32],
    nodes: &'a [(u32, u32)],
    first: &'a [u32],
    range: Range,
}

impl Own<'_> {
    fn at(&self, position: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let own = self.first[position] as usize..self.first[position + 1] as usize;
        self.nodes[own].iter().map(|&(_, node)| node as usize)
    }

    fn is_above(&self, a: usize, b: usize) -> bool {
        let below = |a: usize, b: usize| a < b && self.trees.is_some_and(|trees| b < trees.end(a));
        below(a, b) || below(b, a)
    }

    /// Hands out every set with every choice of its relations, until told to stop.
    fn pieces(&self, masks: &mut Vec<u32>, then: &mut dyn FnMut(&[u32], u32) -> Result<bool>) -> Result<()> {
        let mut chosen: Vec<usize> = Vec::new();
        self.extend(&mut chosen, &mut Vec::new(), masks, then).map(|_| ())
    }

    fn extend(
        &self,
        chosen: &mut Vec<usize>,
        set: &mut Vec<u32>,
        masks: &mut Vec<u32>,
        then: &mut dyn FnMut(&[u32], u32) -> Result<bool>,
    ) -> Result<bool> {
        let from = chosen.last().map_or(0, |&last| last + 1);
        for position in from..self.labels.len() {
            chosen.push(position);
            set.push(self.labels[position]);
            let mut goes_on = then(set, 0)?;
            if goes_on && self.range.n > 0 && set.len() > 1 {
                self.related(chosen, masks);
                'masks: for &mask in masks.iter() {
                    let mut part = mask;
                    while part != 0 {
                        if (part & !EMBEDDED).count_ones() as usize <= self.range.n && !then(set, part)? {
                            goes_on = false;
                            break 'masks;
                        }
                        part = (part - 1) & mask;
                    }
                }
            }
            if goes_on && set.len() < self.range.m {
                goes_on = self.extend(chosen, set, masks, then)?;
            }
            chosen.pop();
            set.pop();
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The relations that can be known together between some labels: pair (i, j), i < j, is bit j(j-1)/2 + i.
    fn related(&self, chosen: &[usize], masks: &mut Vec<u32>) {
        masks.clear();
        let bit = |i: usize, j: usize| 1u32 << (j * (j - 1) / 2 + i);
        let mut all = 0;
        for j in 1..chosen.len() {
            for i in 0..j {
                let related = self.at(chosen[i]).any(|a| self.at(chosen[j]).any(|b| self.is_above(a, b)));
                all |= if related { bit(i, j) } else { 0 };
            }
        }
        masks.push(all);
        if !self.range.embedded || all.count_ones() < 2 {
            return;
        }
        // At one place each: every choice of nodes. What is known of relations one by one is counted as well.
        let sizes: Vec<usize> = chosen.iter().map(|&c| self.at(c).count()).collect();
        let mut choice = vec![0usize; chosen.len()];
        loop {
            let node = |i: usize| self.at(chosen[i]).nth(choice[i]).unwrap_or(usize::MAX);
            let mut mask = 0;
            for j in 1..chosen.len() {
                for i in 0..j {
                    mask |= if self.is_above(node(i), node(j)) { bit(i, j) } else { 0 };
                }
            }
            // Told from the same relations at any places by the highest bit.
            let mask = mask | EMBEDDED;
            if mask != EMBEDDED && !masks.contains(&mask) {
                masks.push(mask);
            }
            let Some(next) = (0..choice.len()).find(|&i| choice[i] + 1 < sizes[i]) else { return };
            choice[next] += 1;
            choice[..next].fill(0);
        }
    }
}

/// Relations that are known to be at one place.
const EMBEDDED: u32 = 1 << 31;

fn pairs_of(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

fn triples_of(n: u64) -> u64 {
    (u128::from(n) * u128::from(n.saturating_sub(1)) * u128::from(n.saturating_sub(2)) / 6) as u64
}

impl Table {
    fn new(range: Range, labels: usize, memory: usize) -> Self {
        let n = labels as u64;
        let pairs = n;
        let per_pair = if range.n > 0 { 2 } else { 1 };
        let triples = pairs + if range.m > 1 { per_pair * pairs_of(n) } else { 0 };
        let all = triples.saturating_add(if range.m > 2 { triples_of(n) } else { 0 });
        let narrow = range.k <= 15;
        let bytes = if narrow { all.div_ceil(2) } else { all };
        // Related sets of three have too many forms for a place each.
        let fits = range.m <= if range.n > 0 { 2 } else { 3 } && range.k <= 255 && n < 1 << 21;
        if fits && bytes <= memory as u64 {
            return Table::Dense { cells: vec![0; bytes as usize], narrow, pairs, triples };
        }
        Table::Sparse { known: FxHashMap::default(), memory }
    }

    #[inline]
    fn read(cells: &[u8], narrow: bool, at: u64) -> u8 {
        if narrow { cells[(at / 2) as usize] >> (at % 2 * 4) & 15 } else { cells[at as usize] }
    }

    #[inline]
    fn add(cells: &mut [u8], narrow: bool, at: u64, k: u32) {
        if u32::from(Self::read(cells, narrow, at)) < k {
            if narrow {
                cells[(at / 2) as usize] += 1 << (at % 2 * 4);
            } else {
                cells[at as usize] += 1;
            }
        }
    }

    /// Whether a set of ascending labels, none of them related, was taken fewer than k times.
    fn has_open(&self, labels: &[u32], k: u32, m: usize) -> bool {
        let Table::Dense { cells, narrow, pairs, triples } = self else { return true };
        let open = |at: u64| u32::from(Self::read(cells, *narrow, at)) < k;
        for (c, &high) in labels.iter().enumerate() {
            let high = u64::from(high);
            if open(high) {
                return true;
            }
            if m < 2 {
                continue;
            }
            let (pair_base, triple_base) = (pairs + pairs_of(high), triples + triples_of(high));
            for (b, &middle) in labels[..c].iter().enumerate() {
                let middle = u64::from(middle);
                if open(pair_base + middle) {
                    return true;
                }
                if m < 3 {
                    continue;
                }
                let base = triple_base + pairs_of(middle);
                if labels[..b].iter().any(|&low| open(base + u64::from(low))) {
                    return true;
                }
            }
        }
        false
    }

    fn count_all(&mut self, labels: &[u32], k: u32, m: usize) {
        let Table::Dense { cells, narrow, pairs, triples } = self else { return };
        for (c, &high) in labels.iter().enumerate() {
            let high = u64::from(high);
            Self::add(cells, *narrow, high, k);
            if m < 2 {
                continue;
            }
            for (b, &middle) in labels[..c].iter().enumerate() {
                let middle = u64::from(middle);
                Self::add(cells, *narrow, *pairs + pairs_of(high) + middle, k);
                if m < 3 {
                    continue;
                }
                let base = *triples + triples_of(high) + pairs_of(middle);
                labels[..b].iter().for_each(|&low| Self::add(cells, *narrow, base + u64::from(low), k));
            }
        }
    }

    fn place(pairs: u64, set: &[u32], relations: u32) -> u64 {
        match set {
            [one] => u64::from(*one),
            [low, high, ..] => {
                pairs + 2 * (pairs_of(u64::from(*high)) + u64::from(*low)) + u64::from(relations != 0)
            }
            [] => 0,
        }
    }

    fn is_open(&self, set: &[u32], relations: u32, k: u32) -> bool {
        match self {
            Table::Dense { cells, narrow, pairs, .. } => {
                u32::from(Self::read(cells, *narrow, Self::place(*pairs, set, relations))) < k
            }
            Table::Sparse { known, .. } => known.get(&key(set, relations)).copied().unwrap_or(0) < k,
        }
    }

    fn count(&mut self, set: &[u32], relations: u32, k: u32) -> Result<()> {
        match self {
            Table::Dense { cells, narrow, pairs, .. } => {
                let at = Self::place(*pairs, set, relations);
                Self::add(cells, *narrow, at, k);
            }
            Table::Sparse { known, memory } => {
                let count = known.entry(key(set, relations)).or_insert(0);
                *count = (*count + 1).min(k);
                if known.len() * (ENTRY + 4 * (set.len() + 1)) > *memory {
                    return Err(too_large(*memory));
                }
            }
        }
        Ok(())
    }
}

fn key(set: &[u32], relations: u32) -> Vec<u32> {
    let mut key = set.to_vec();
    key.push(relations);
    key
}

fn too_large(memory: usize) -> Failure {
    let what = format!("the sets that records are chosen by take more than {} MB", memory >> 20);
    let help = "allow more memory, or ask for a smaller m";
    Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help))
}
