//! Which published record stems from which input record. Publications are ordered by what they say, so records are found
//! again by it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use bosket_model::binding::Binding;
use bosket_model::value_tree::{Item, PayloadAt, PayloadValues, ValueTrees};
use bosket_model::{Dataset, MISSING};
use rustc_hash::{FxHashMap, FxHasher};

/// Which published record stems from which input record, by number from 0. Equal records are given out in order. None if
/// they are not the same records.
pub(crate) fn trees<'a>(made: &'a ValueTrees, published: &'a ValueTrees) -> Option<Vec<(usize, usize)>> {
    if made.len() != published.len() {
        return None;
    }
    // One number per attribute and label, whichever of the two has it.
    let mut labels: BTreeMap<(usize, &str), u32> = BTreeMap::new();
    let mut number = |items: &'a [Item]| -> Vec<u32> {
        let mut of = |item: &'a Item| {
            let next = labels.len() as u32;
            *labels.entry((item.declared, &item.label)).or_insert(next)
        };
        items.iter().map(&mut of).collect()
    };
    let made = Numbered { trees: made, number: number(made.items()) };
    let published = Numbered { trees: published, number: number(published.items()) };
    let became = published.found(&made).or_else(|| {
        // Different records may share a hash.
        let (mut wanted, mut places) = (made.all(), published.all());
        wanted.sort_by(|&a, &b| made.order(a, b));
        places.sort_by(|&a, &b| published.order(a, b));
        let mut became = vec![0; wanted.len()];
        wanted.iter().zip(&places).for_each(|(&from, &to)| became[from] = to);
        let same = wanted.iter().zip(&places).all(|(&from, &to)| made.is_same(from, &published, to));
        same.then_some(became)
    })?;
    Some(became.into_iter().enumerate().collect())
}

/// Trees with a number for each item that means the same in others.
struct Numbered<'a> {
    trees: &'a ValueTrees,
    number: Vec<u32>,
}

impl<'a> Numbered<'a> {
    /// The values of a record, each in one number with its place below it: counted from 1, 0 is the record's root.
    fn nodes(&self, record: usize) -> impl Iterator<Item = u64> {
        let range = self.trees.nodes(record);
        let first = range.start;
        range.map(move |n| {
            let place = self.trees.parent(n).map_or(0, |p| p - first + 1);
            u64::from(self.number[self.trees.item(n) as usize]) << 32 | place as u64
        })
    }

    /// The same for its payloads.
    fn payloads(&self, record: usize) -> impl Iterator<Item = (usize, usize, &'a PayloadValues)> {
        let first = self.trees.nodes(record).start;
        let place = move |p: &PayloadAt| p.node.map_or(0, |n| n as usize - first + 1);
        self.trees.payloads(record).iter().map(move |p| (place(p), p.home, &p.values))
    }

    fn all(&self) -> Vec<usize> {
        (0..self.trees.len()).collect()
    }

    fn hash(&self, record: usize) -> u64 {
        let mut hasher = FxHasher::default();
        // Zeros in front leave no trace in this hash; behind a length they do.
        hasher.write_usize(self.trees.nodes(record).len() + 1);
        self.nodes(record).for_each(|node| hasher.write_u64(node));
        self.payloads(record).for_each(|payload| payload.hash(&mut hasher));
        hasher.finish()
    }

    fn is_same(&self, record: usize, other: &Self, of_other: usize) -> bool {
        self.nodes(record).eq(other.nodes(of_other)) && self.payloads(record).eq(other.payloads(of_other))
    }

    /// Per record of others the record here that is the same, equal ones in their order. None if they are not the same
    /// records, or two different ones share a hash.
    fn found(&self, others: &Self) -> Option<Vec<usize>> {
        let mut first: FxHashMap<u64, usize> = FxHashMap::default();
        first.reserve(self.trees.len());
        // Records of one hash are a list, the first in front.
        let mut next = vec![usize::MAX; self.trees.len()];
        for record in (0..self.trees.len()).rev() {
            if let Some(after) = first.insert(self.hash(record), record) {
                next[record] = after;
            }
        }
        let mut found = Vec::with_capacity(others.trees.len());
        for wanted in 0..others.trees.len() {
            let place = first.get_mut(&others.hash(wanted))?;
            let record = *place;
            if record == usize::MAX || !others.is_same(wanted, self, record) {
                return None;
            }
            *place = next[record];
            found.push(record);
        }
        Some(found)
    }

    fn order(&self, a: usize, b: usize) -> Ordering {
        self.nodes(a).cmp(self.nodes(b)).then_with(|| self.payloads(a).cmp(self.payloads(b)))
    }
}

/// The same for vertex trees, each with the place of its attributes; `records` says which input record a made one is.
pub(crate) fn vertices(
    made: (&Dataset, &Binding),
    records: &[u32],
    published: (&Dataset, &Binding),
) -> Option<Vec<(usize, usize)>> {
    if made.0.len() != published.0.len() {
        return None;
    }
    let mut labels = BTreeMap::new();
    let mut wanted = vertex_keys(made, &mut labels);
    let mut places = vertex_keys(published, &mut labels);
    wanted.sort_unstable();
    places.sort_unstable();
    let same = places.iter().zip(&wanted).all(|(a, b)| a.0 == b.0);
    let mut pairs: Vec<(usize, usize)> =
        wanted.iter().zip(&places).map(|(w, p)| (records[w.1] as usize, p.1)).collect();
    pairs.sort_unstable();
    same.then_some(pairs)
}

/// Everything about a record in one order, and its number.
fn vertex_keys<'a>(
    (data, binding): (&'a Dataset, &Binding),
    labels: &mut BTreeMap<(usize, &'a str), usize>,
) -> Vec<(Vec<usize>, usize)> {
    let schema = data.schema();
    let keyed = |record: usize| {
        let vertices = data.vertices(record);
        let mut keys: Vec<Vec<usize>> = vec![Vec::new(); vertices.len()];
        let mut below: Vec<Vec<Vec<usize>>> = vec![Vec::new(); vertices.len()];
        for v in vertices.clone().rev() {
            let at = v - vertices.start;
            let class = data.class(v);
            let mut own: Vec<usize> = Vec::new();
            for &a in &schema.class(class).attributes {
                let (Some(declared), code) = (binding.attributes[a.index()], data.value(v, a)) else {
                    continue;
                };
                if code != MISSING {
                    let next = labels.len();
                    own.push(*labels.entry((declared, data.dictionary(a).text(code))).or_insert(next));
                }
            }
            own.sort_unstable();
            below[at].sort_unstable();
            // Ends cannot be taken for labels or homes.
            let mut key = vec![binding.classes[class.index()].unwrap_or(usize::MAX - 1)];
            key.extend(own);
            below[at].drain(..).for_each(|kid| key.extend(kid));
            key.push(usize::MAX);
            match data.parent(v) {
                Some(parent) => below[parent - vertices.start].push(key),
                None => keys[at] = key,
            }
        }
        (std::mem::take(&mut keys[0]), record)
    };
    (0..data.len()).map(keyed).collect()
}
