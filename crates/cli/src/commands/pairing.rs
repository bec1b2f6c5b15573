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
    let (wanted, places) = (made.sorted(), published.sorted());
    let same = wanted.iter().zip(&places).all(|(w, p)| {
        made.nodes(w.1).eq(published.nodes(p.1)) && made.payloads(w.1).eq(published.payloads(p.1))
    });
    let mut pairs: Vec<(usize, usize)> = wanted.iter().zip(&places).map(|(w, p)| (w.1, p.1)).collect();
    pairs.sort_unstable();
    same.then_some(pairs)
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

    /// The records in an order that only depends on what they hold, by a hash of it.
    fn sorted(&self) -> Vec<(u64, usize)> {
        let mut sorted: Vec<(u64, usize)> = (0..self.trees.len())
            .map(|record| {
                let mut hasher = FxHasher::default();
                self.nodes(record).for_each(|node| node.hash(&mut hasher));
                (hasher.finish(), record)
            })
            .collect();
        sorted.sort_unstable();
        for run in sorted.chunk_by_mut(|a, b| a.0 == b.0) {
            let first = run[0].1;
            // Records that share a hash are nearly always equal.
            if !run.iter().all(|&(_, record)| self.order(first, record).is_eq()) {
                run.sort_by(|a, b| self.order(a.1, b.1));
            }
        }
        sorted
    }

    fn order(&self, a: usize, b: usize) -> Ordering {
        self.nodes(a).cmp(self.nodes(b)).then_with(|| self.payloads(a).cmp(self.payloads(b)))
    }
}
