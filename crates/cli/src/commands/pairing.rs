//! Which published record stems from which input record.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use bosket_model::value_tree::{Item, PayloadAt, PayloadValues, ValueTrees};
use rustc_hash::FxHasher;

/// Which published record stems from which input record, by number from 0. Equal records are given out in order. None if
/// they are not the same records.
pub(super) fn pair_up<'a>(made: &'a ValueTrees, published: &'a ValueTrees) -> Option<Vec<(usize, usize)>> {
    if made.len() != published.len() {
        return None;
    }
    // One number per attribute and label, whichever of the two has it.
    let mut labels: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    let mut number = |items: &'a [Item]| -> Vec<usize> {
        let mut of = |item: &'a Item| {
            let next = labels.len();
            *labels.entry((item.declared, &item.label)).or_insert(next)
        };
        items.iter().map(&mut of).collect()
    };
    let made = Numbered { trees: made, number: number(made.items()) };
    let published = Numbered { trees: published, number: number(published.items()) };
    let (mut wanted, mut places) = (made.by_hash(), published.by_hash());
    let same = |wanted: &[usize], places: &[usize]| {
        wanted.iter().zip(places).all(|(&w, &p)| {
            made.nodes(w).eq(published.nodes(p)) && made.payloads(w).eq(published.payloads(p))
        })
    };
    if !same(&wanted, &places) {
        // Different records may share a hash.
        wanted.sort_by(|&a, &b| made.order(a, b));
        places.sort_by(|&a, &b| published.order(a, b));
        if !same(&wanted, &places) {
            return None;
        }
    }
    let mut pairs: Vec<(usize, usize)> = wanted.into_iter().zip(places).collect();
    pairs.sort_unstable();
    Some(pairs)
}

/// Trees with a number for each item that means the same in others.
struct Numbered<'a> {
    trees: &'a ValueTrees,
    number: Vec<usize>,
}

impl<'a> Numbered<'a> {
    /// The values of a record with their places, counted from 1; 0 is the record's root.
    fn nodes(&self, record: usize) -> impl Iterator<Item = (usize, usize)> {
        let range = self.trees.nodes(record);
        let first = range.start;
        range.map(move |n| {
            (self.number[self.trees.item(n) as usize], self.trees.parent(n).map_or(0, |p| p - first + 1))
        })
    }

    /// The same for its payloads.
    fn payloads(&self, record: usize) -> impl Iterator<Item = (usize, usize, &'a PayloadValues)> {
        let first = self.trees.nodes(record).start;
        let place = move |p: &PayloadAt| p.node.map_or(0, |n| n as usize - first + 1);
        self.trees.payloads(record).iter().map(move |p| (place(p), p.home, &p.values))
    }

    /// The records by a hash of what they hold; equal ones in their order.
    fn by_hash(&self) -> Vec<usize> {
        let mut sorted: Vec<(u64, usize)> = (0..self.trees.len())
            .map(|record| {
                let mut hasher = FxHasher::default();
                self.nodes(record).for_each(|node| node.hash(&mut hasher));
                self.payloads(record).for_each(|payload| payload.hash(&mut hasher));
                (hasher.finish(), record)
            })
            .collect();
        sorted.sort_unstable();
        sorted.into_iter().map(|(_, record)| record).collect()
    }

    fn order(&self, a: usize, b: usize) -> Ordering {
        self.nodes(a).cmp(self.nodes(b)).then_with(|| self.payloads(a).cmp(self.payloads(b)))
    }
}
