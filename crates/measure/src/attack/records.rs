//! What an attacker can know of each record: its distinct values, and which of them are related.
//!
//! Values are numbered with the rarest first, so that lists of records start short and stay short.

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Privacy;
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Result};

use super::raw::{NO_NODE, Node, Raw};
use super::together::{Span, together};

/// A value that can be known.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// The declared attribute.
    pub(super) declared: usize,
    /// The value as the data has it.
    pub(super) label: String,
    /// Its number among the items of the trees.
    pub(super) item: u32,
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
    /// How many of the records, from the first on, are of people whose knowledge is asked about.
    people: usize,
    /// The first record that is counted: all are, or only those behind the people's.
    counted_from: usize,
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

impl Records {
    /// Reads what can be known of records. Relations are read if anybody may know one, nodes if all relations of a value
    /// must hold at one place.
    pub(super) fn read(
        data: &Dataset,
        binding: &Binding,
        privacy: &Privacy,
        (related, nodes): (bool, bool),
        observer: &dyn Observer,
    ) -> Result<Self> {
        Records::of_raw(Raw::read(data, binding, privacy, observer)?, (related, nodes), observer)
    }

    /// Lays out what was read.
    pub(super) fn of_raw(raw: Raw, (related, nodes): (bool, bool), observer: &dyn Observer) -> Result<Self> {
        let Raw { trees, values, mut records, sensitive } = raw;
        let mut laid = Records { sensitive, ..Records::by_rarity(values, &mut records, observer)? };
        if related || nodes {
            laid.relate(&trees, &records, 0, nodes, observer)?;
        }
        Ok(laid)
    }

    /// The records of people with those of a population behind them, which alone are counted. `behind` are the values of
    /// the population's records by the numbers of the people's.
    pub(super) fn with_population(
        people: Raw,
        population: &ValueTrees,
        behind: Vec<Vec<Node>>,
        (related, nodes): (bool, bool),
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Raw { trees, values, mut records, .. } = people;
        let people = records.len();
        records.extend(behind);
        let mut laid = Records::by_rarity(values, &mut records, observer)?;
        (laid.people, laid.counted_from) = (people, people);
        if related || nodes {
            laid.relate(&trees, &records[..people], 0, nodes, observer)?;
            laid.relate(population, &records[people..], people, nodes, observer)?;
        }
        Ok(laid)
    }

    /// Numbers values and lays records out. `raw` comes back by the new numbers, sorted.
    fn by_rarity(values: Vec<Value>, raw: &mut [Vec<Node>], observer: &dyn Observer) -> Result<Self> {
        let mut support = vec![0u32; values.len()];
        for own in raw.iter_mut() {
            observer.go_on()?;
            own.sort_unstable();
            own.chunk_by(|a, b| a.0 == b.0).for_each(|run| support[run[0].0 as usize] += 1);
        }
        let mut order: Vec<u32> = (0..values.len() as u32).filter(|&v| support[v as usize] > 0).collect();
        order.sort_by_key(|&v| (support[v as usize], v));
        let mut number = vec![0u32; values.len()];
        order.iter().zip(0..).for_each(|(&v, at)| number[v as usize] = at);
        let mut records = Records {
            values: order.iter().map(|&v| values[v as usize].clone()).collect(),
            people: raw.len(),
            first: vec![0],
            first_posting: vec![0],
            ..Records::default()
        };
        for own in raw.iter_mut() {
            observer.go_on()?;
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
            observer.go_on()?;
            for &item in &records.items[records.first[record]..records.first[record + 1]] {
                records.postings[next[item as usize]] = record as u32;
                next[item as usize] += 1;
            }
        }
        Ok(records)
    }

    /// Marks related pairs of the records from one on; a value is related to all above its nodes.
    fn relate(
        &mut self,
        trees: &ValueTrees,
        raw: &[Vec<Node>],
        from: usize,
        nodes: bool,
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut all = self.nodes.take().unwrap_or_else(|| Nodes { first: vec![0], spans: Vec::new() });
        // Nodes of a record, each with the place of its value among the record's.
        let mut places: Vec<(u32, u32)> = Vec::new();
        for (record, own) in (from..).zip(raw) {
            observer.go_on()?;
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
            for &(node, b) in places.iter().filter(|place| place.0 != NO_NODE) {
                let mut above = trees.parent(node as usize);
                while let Some(parent) = above {
                    // What is not to be known stands between values without being one; what was recoded locally may be
                    // known in several ways.
                    let first = places.partition_point(|p| p.0 < parent as u32);
                    for &(_, a) in places[first..].iter().take_while(|p| p.0 == parent as u32) {
                        let (a, b) = (a as usize, b as usize);
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
        Ok(())
    }

    /// How many records there are.
    pub(super) fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// How many of them are of people whose knowledge is asked about. They are the first.
    pub(super) fn people(&self) -> usize {
        self.people
    }

    /// How many records are counted.
    pub(super) fn counted(&self) -> usize {
        self.len() - self.counted_from
    }

    /// Whether a population is counted rather than the people themselves.
    pub(super) fn has_population(&self) -> bool {
        self.counted_from > 0
    }

    /// How often a record counts: once, or not at all.
    #[inline]
    pub(super) fn counts(&self, record: usize) -> u32 {
        u32::from(record >= self.counted_from)
    }

    /// How many of some records, ascending, are of people whose knowledge is asked about.
    #[inline]
    pub(super) fn people_among(&self, records: &[u32]) -> usize {
        if self.people == self.len() {
            return records.len();
        }
        records.partition_point(|&record| (record as usize) < self.people)
    }

    /// How many of some records, ascending, are counted.
    #[inline]
    pub(super) fn fitting(&self, records: &[u32]) -> u32 {
        if self.counted_from == 0 {
            return records.len() as u32;
        }
        (records.len() - records.partition_point(|&record| (record as usize) < self.counted_from)) as u32
    }

    /// So many fit anything that anybody has: nobody, or the people themselves.
    #[inline]
    pub(super) fn fewest(&self) -> u32 {
        u32::from(self.counted_from == 0)
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
