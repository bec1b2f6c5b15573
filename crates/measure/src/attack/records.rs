//! What an attacker can know of each record: its distinct values, and which of them are related.
//!
//! Values are numbered with the rarest first, so that lists of records start short and stay short.

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::policy::{Model, Payload, Privacy, Role};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, MISSING};

use super::together::{Span, together};

/// A value that can be known.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// The declared attribute.
    pub(super) declared: usize,
    /// The value as the data has it.
    pub(super) label: String,
    /// How often a record has it, where that is known too.
    pub(super) count: Option<u32>,
    /// Its place in the order of the policy and of labels.
    pub(super) order: u32,
}

/// Records as sorted distinct values with a bit per related pair.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Values by number, the rarest first.
    pub(super) values: Vec<Value>,
    first: Vec<usize>,
    items: Vec<u32>,
    first_word: Vec<usize>,
    related: Vec<u64>,
    nodes: Option<Nodes>,
    first_posting: Vec<usize>,
    postings: Vec<u32>,
    /// Per record the sensitive items that the policy lists, by number.
    pub(super) sensitive: Vec<Vec<u32>>,
}

/// Per value of a record its nodes as (preorder, end).
#[derive(Debug, Default)]
struct Nodes {
    first: Vec<usize>,
    spans: Vec<Span>,
}

impl Nodes {
    fn of(&self, value: usize) -> &[Span] {
        &self.spans[self.first[value]..self.first[value + 1]]
    }
}

/// A value's node while records are read: value, preorder, end.
type Node = (u32, u32, u32);

impl Records {
    /// Reads what can be known of records. Relations are read if anybody may know one, nodes if all relations of a value
    /// must hold at one place.
    pub(super) fn read(
        data: &Dataset,
        binding: &Binding,
        privacy: &Privacy,
        related: bool,
        nodes: bool,
    ) -> Self {
        let trees = ValueTrees::new(data, binding, privacy.root, Payload::Drop);
        let hidden = |label: &String| privacy.model == Model::Km && privacy.sensitive.contains(label);
        let mut values: Vec<Value> = Vec::new();
        let mut raw: Vec<Vec<Node>> = Vec::with_capacity(trees.len());
        let mut sensitive = Vec::new();
        let multiset = privacy.multiset && privacy.model == Model::Km;
        if multiset {
            (values, raw) = read_counts(data, binding, &trees);
        } else {
            values.extend(trees.items().iter().zip(0..).map(|(item, order)| Value {
                declared: item.declared,
                label: item.label.clone(),
                count: None,
                order,
            }));
            for record in 0..trees.len() {
                let own = trees.nodes(record).map(|n| (trees.item(n), n as u32, trees.end(n) as u32));
                raw.push(own.collect());
            }
        }
        if values.iter().any(|v| hidden(&v.label)) {
            let mut names: Vec<&str> =
                values.iter().filter(|v| hidden(&v.label)).map(|v| v.label.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            let number: Vec<Option<u32>> = (values.iter())
                .map(|v| names.binary_search(&v.label.as_str()).ok().map(|at| at as u32))
                .collect();
            for own in &mut raw {
                let mut secret: Vec<u32> = own.iter().filter_map(|n| number[n.0 as usize]).collect();
                secret.sort_unstable();
                secret.dedup();
                sensitive.push(secret);
                own.retain(|n| number[n.0 as usize].is_none());
            }
        }
        let mut records = Records { sensitive, ..Records::by_rarity(values, &mut raw) };
        if related || nodes {
            records.relate(&trees, &raw, nodes);
        }
        records
    }

    /// Numbers values and lays records out. `raw` comes back by the new numbers, sorted.
    fn by_rarity(values: Vec<Value>, raw: &mut [Vec<Node>]) -> Self {
        let mut support = vec![0u32; values.len()];
        for own in raw.iter_mut() {
            own.sort_unstable();
            own.chunk_by(|a, b| a.0 == b.0).for_each(|run| support[run[0].0 as usize] += 1);
        }
        let mut order: Vec<u32> = (0..values.len() as u32).filter(|&v| support[v as usize] > 0).collect();
        order.sort_by_key(|&v| (support[v as usize], v));
        let mut number = vec![0u32; values.len()];
        order.iter().zip(0..).for_each(|(&v, at)| number[v as usize] = at);
        let mut records = Records {
            values: order.iter().map(|&v| values[v as usize].clone()).collect(),
            first: vec![0],
            first_posting: vec![0],
            ..Records::default()
        };
        for own in raw.iter_mut() {
            own.iter_mut().for_each(|n| n.0 = number[n.0 as usize]);
            own.sort_unstable();
            records.items.extend(own.chunk_by(|a, b| a.0 == b.0).map(|run| run[0].0));
            records.first.push(records.items.len());
        }
        let mut at = 0;
        for &v in &order {
            at += support[v as usize] as usize;
            records.first_posting.push(at);
        }
        let mut next = records.first_posting.clone();
        records.postings = vec![0; at];
        for record in 0..raw.len() {
            for &item in &records.items[records.first[record]..records.first[record + 1]] {
                records.postings[next[item as usize]] = record as u32;
                next[item as usize] += 1;
            }
        }
        records
    }

    /// Marks related pairs; a value is related to all above its nodes.
    fn relate(&mut self, trees: &ValueTrees, raw: &[Vec<Node>], nodes: bool) {
        let mut all = Nodes { first: vec![0], spans: Vec::new() };
        // Nodes of a record, each with the place of its value among the record's.
        let mut places: Vec<(u32, u32)> = Vec::new();
        for (record, own) in raw.iter().enumerate() {
            let count = self.items(record).len();
            let words = count.div_ceil(64);
            let base = self.related.len();
            self.first_word.push(base);
            self.related.resize(base + count * words, 0);
            places.clear();
            for (place, run) in own.chunk_by(|a, b| a.0 == b.0).enumerate() {
                places.extend(run.iter().map(|node| (node.1, place as u32)));
            }
            places.sort_unstable();
            for &(node, b) in &places {
                let mut above = trees.parent(node as usize);
                while let Some(parent) = above {
                    // What is not to be known stands between values without being one.
                    if let Ok(at) = places.binary_search_by_key(&(parent as u32), |p| p.0) {
                        let (a, b) = (places[at].1 as usize, b as usize);
                        self.related[base + a * words + b / 64] |= 1 << (b % 64);
                        self.related[base + b * words + a / 64] |= 1 << (a % 64);
                    }
                    above = trees.parent(parent);
                }
            }
            for run in own.chunk_by(|a, b| a.0 == b.0).filter(|_| nodes) {
                all.spans.extend(run.iter().map(|n| (n.1, n.2)));
                all.first.push(all.spans.len());
            }
        }
        self.nodes = nodes.then_some(all);
    }

    /// How many records there are.
    pub(super) fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// The distinct values of a record, ascending.
    #[inline]
    pub(super) fn items(&self, record: usize) -> &[u32] {
        &self.items[self.first[record]..self.first[record + 1]]
    }

    /// The most values that a record has.
    pub(super) fn longest(&self) -> usize {
        self.first.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
    }

    /// The records that have a value, ascending.
    #[inline]
    pub(super) fn with(&self, item: u32) -> &[u32] {
        &self.postings[self.first_posting[item as usize]..self.first_posting[item as usize + 1]]
    }

    /// Which values of a record the one at a position is related to, a bit per position.
    #[inline]
    pub(super) fn related(&self, record: usize, position: usize) -> &[u64] {
        let words = (self.first[record + 1] - self.first[record]).div_ceil(64);
        let start = self.first_word[record] + position * words;
        &self.related[start..start + words]
    }

    /// The sets of relations that hold together at the values of `positions`, without those that are part of another.
    /// `all` are the relations that hold one by one; they are the only set unless nodes are told apart.
    pub(super) fn together(&self, record: usize, positions: &[u32], all: u64, out: &mut Vec<u64>) {
        let Some(nodes) = self.nodes.as_ref().filter(|_| all.count_ones() > 1) else {
            out.push(all);
            return;
        };
        let spans = |&position: &u32| nodes.of(self.first[record] + position as usize);
        if positions.iter().all(|p| spans(p).len() == 1) {
            out.push(all);
            return;
        }
        let places: Vec<&[Span]> = positions.iter().map(spans).collect();
        together(&places, all, out);
    }

    /// Whether all relations of a value must hold at one place.
    pub(super) fn at_one_place(&self) -> bool {
        self.nodes.is_some()
    }

    /// How many times the work it is to know the value at a position of a record, for all the places that it has.
    pub(super) fn weight(&self, record: usize, position: usize) -> u128 {
        let places = self.nodes.as_ref().map_or(1, |nodes| nodes.of(self.first[record] + position).len());
        places.min(MOST_PLACES) as u128
    }
}

/// More places of a value are not as much more work: what matters is what they come to.
const MOST_PLACES: usize = 8;

/// Values together with how often a record has them.
fn read_counts(data: &Dataset, binding: &Binding, trees: &ValueTrees) -> (Vec<Value>, Vec<Vec<Node>>) {
    let schema = data.schema();
    let items = trees.items();
    let codes: Vec<Vec<u32>> = (schema.attributes())
        .map(|(id, _)| {
            let declared = binding.attributes[id.index()].filter(|_| binding.role(id) == Some(Role::Quasi));
            declared.map_or(Vec::new(), |declared| {
                let find = |(kind, text): (_, &str)| {
                    items.partition_point(|i| (i.declared, i.label.as_str(), i.kind) < (declared, text, kind))
                };
                data.dictionary(id).iter().map(|value| find(value) as u32).collect()
            })
        })
        .collect();
    let quasi: Vec<_> =
        schema.classes().map(|(id, _)| binding.in_policy_order(schema, id, Role::Quasi)).collect();
    let mut counted: Vec<Vec<(u32, u32)>> = Vec::with_capacity(data.len());
    for record in 0..data.len() {
        let mut own = Vec::new();
        for v in data.vertices(record) {
            let present = quasi[data.class(v).index()].iter().map(|&a| (a, data.value(v, a)));
            own.extend(present.filter(|p| p.1 != MISSING).map(|(a, code)| codes[a.index()][code as usize]));
        }
        own.sort_unstable();
        counted.push(own.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect());
    }
    let mut pairs: Vec<(u32, u32)> = counted.iter().flatten().copied().collect();
    pairs.sort_unstable();
    pairs.dedup();
    let number: FxHashMap<(u32, u32), u32> = pairs.iter().copied().zip(0..).collect();
    let values = (pairs.iter().zip(0..))
        .map(|(&(item, count), order)| Value {
            declared: items[item as usize].declared,
            label: items[item as usize].label.clone(),
            count: Some(count),
            order,
        })
        .collect();
    let raw = counted.iter().map(|own| own.iter().map(|pair| (number[pair], 0, 0)).collect()).collect();
    (values, raw)
}

/// The bit of the pair of the `i`-th and `j`-th known value, `i < j`.
#[inline]
pub(super) fn pair_bit(i: usize, j: usize) -> u32 {
    (pair_count(j) + i) as u32
}

/// How many pairs so many values make.
pub(super) fn pair_count(values: usize) -> usize {
    values * values.saturating_sub(1) / 2
}

/// The most values that can be known: what is known of their pairs is a word of bits.
pub(super) const MOST_VALUES: usize = 11;
