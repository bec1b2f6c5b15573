//! What an attacker could know of each record: its distinct items and which of them are related.

use bosket_model::policy::Relations as Reading;
use bosket_model::value_tree::ValueTrees;

use super::guard::Inferred;

/// Records as sorted distinct items with a bit per related pair.
pub struct Records {
    first: Vec<usize>,
    items: Vec<u32>,
    relations: Option<Relations>,
    item_count: usize,
}

/// Relations of all records, as symmetric bit matrices over the positions of a record's items.
struct Relations {
    first_word: Vec<usize>,
    bits: Vec<u64>,
    /// Per item of a record its nodes as (preorder, end), where the embedded reading needs them.
    nodes: Option<Nodes>,
}

struct Nodes {
    first: Vec<u32>,
    spans: Vec<(u32, u32)>,
    inferred: Inferred,
}

impl Records {
    /// The records of a forest. Relations are only kept if the attacker knows any (`related`).
    pub fn new(trees: &ValueTrees, related: bool, reading: Reading, inferred: Inferred) -> Self {
        let mut records =
            Records { first: vec![0], items: Vec::new(), relations: None, item_count: trees.items().len() };
        let mut relations = Relations { first_word: Vec::new(), bits: Vec::new(), nodes: None };
        let mut nodes = Nodes { first: vec![0], spans: Vec::new(), inferred };
        let mut sorted: Vec<(u32, u32)> = Vec::new();
        let mut position: Vec<u32> = Vec::new();
        for record in 0..trees.len() {
            let range = trees.nodes(record);
            sorted.clear();
            sorted.extend(range.clone().map(|n| (trees.item(n), n as u32)));
            sorted.sort_unstable();
            let start = records.items.len();
            position.clear();
            position.resize(range.len(), 0);
            for &(item, node) in &sorted {
                if records.items.len() == start || records.items.last() != Some(&item) {
                    if related && records.items.len() > start {
                        nodes.first.push(nodes.spans.len() as u32);
                    }
                    records.items.push(item);
                }
                position[node as usize - range.start] = (records.items.len() - start - 1) as u32;
                if related {
                    nodes.spans.push((node, trees.end(node as usize) as u32));
                }
            }
            let count = records.items.len() - start;
            records.first.push(records.items.len());
            if related {
                if count > 0 {
                    nodes.first.push(nodes.spans.len() as u32);
                }
                let words = count.div_ceil(64);
                let base = relations.bits.len();
                relations.first_word.push(base);
                relations.bits.resize(base + words * count, 0);
                let mut relate = |a: usize, b: usize| {
                    relations.bits[base + a * words + b / 64] |= 1 << (b % 64);
                    relations.bits[base + b * words + a / 64] |= 1 << (a % 64);
                };
                for node in range.clone() {
                    let below = position[node - range.start] as usize;
                    let mut above = trees.parent(node);
                    while let Some(a) = above {
                        relate(position[a - range.start] as usize, below);
                        above = trees.parent(a);
                    }
                }
                for (a, b) in nodes.inferred.of(range.clone()) {
                    relate(position[a - range.start] as usize, position[b - range.start] as usize);
                }
            }
        }
        if related {
            relations.nodes = (reading == Reading::Embedded).then_some(nodes);
            records.relations = Some(relations);
        }
        records
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items there are in all.
    pub fn item_count(&self) -> usize {
        self.item_count
    }

    /// The distinct items of a record, ascending.
    pub fn items(&self, record: usize) -> &[u32] {
        &self.items[self.first[record]..self.first[record + 1]]
    }

    /// Whether several relations of one value must hold at one node.
    pub fn is_embedded(&self) -> bool {
        self.relations.as_ref().is_some_and(|r| r.nodes.is_some())
    }

    /// Whether the items at two positions of a record are related somewhere in it.
    pub fn related(&self, record: usize, a: usize, b: usize) -> bool {
        self.pairs(record).related(a, b)
    }

    /// The related pairs of a record.
    #[inline]
    pub fn pairs(&self, record: usize) -> Pairs<'_> {
        let count = self.first[record + 1] - self.first[record];
        let words = count.div_ceil(64);
        match &self.relations {
            None => Pairs { words: 0, bits: &[] },
            Some(r) => {
                Pairs { words, bits: &r.bits[r.first_word[record]..r.first_word[record] + words * count] }
            }
        }
    }

    /// The sets of relations that can be known together about the items at `positions`, as bit masks over
    /// [`pair_bit`]. The pair reading has one; the embedded reading one per choice of nodes.
    pub fn relation_sets(&self, record: usize, positions: &[u32], out: &mut Vec<u64>) {
        out.clear();
        let mut all = 0;
        for j in 1..positions.len() {
            for i in 0..j {
                if self.related(record, positions[i] as usize, positions[j] as usize) {
                    all |= 1 << pair_bit(i, j);
                }
            }
        }
        out.push(all);
        let nodes = self.relations.as_ref().and_then(|r| r.nodes.as_ref());
        let Some(nodes) = nodes.filter(|_| all.count_ones() > 1) else {
            return;
        };
        let spans = |position: u32| {
            let at = self.first[record] + position as usize;
            &nodes.spans[nodes.first[at] as usize..nodes.first[at + 1] as usize]
        };
        if positions.iter().all(|&p| spans(p).len() == 1) {
            return;
        }
        out.clear();
        let mut choice = vec![0usize; positions.len()];
        loop {
            let mut mask = 0;
            for j in 1..positions.len() {
                for i in 0..j {
                    let (a, b) = (spans(positions[i])[choice[i]], spans(positions[j])[choice[j]]);
                    if all >> pair_bit(i, j) & 1 == 1 && nodes.related(a, b) {
                        mask |= 1 << pair_bit(i, j);
                    }
                }
            }
            if !out.contains(&mask) {
                out.push(mask);
            }
            let Some(next) = (0..positions.len()).find(|&i| choice[i] + 1 < spans(positions[i]).len()) else {
                return;
            };
            choice[next] += 1;
            choice[..next].fill(0);
        }
    }
}

impl Nodes {
    fn related(&self, a: (u32, u32), b: (u32, u32)) -> bool {
        (a.0 < b.0 && b.0 < a.1)
            || (b.0 < a.0 && a.0 < b.1)
            || self.inferred.has(a.0 as usize, b.0 as usize)
            || self.inferred.has(b.0 as usize, a.0 as usize)
    }
}

/// The related pairs of one record, looked up once and asked often.
#[derive(Clone, Copy)]
pub struct Pairs<'a> {
    words: usize,
    bits: &'a [u64],
}

impl Pairs<'_> {
    /// Whether the items at two positions are related.
    #[inline]
    pub fn related(&self, a: usize, b: usize) -> bool {
        self.bits.get(a * self.words + b / 64).is_some_and(|word| word >> (b % 64) & 1 == 1)
    }
}

/// The bit of the pair of the `i`-th and `j`-th known value, `i < j`.
#[inline]
pub fn pair_bit(i: usize, j: usize) -> u32 {
    (j * (j - 1) / 2 + i) as u32
}
