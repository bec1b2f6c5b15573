//! What an attacker could know of each record: its distinct items and which of them are related.
//!
//! An item is a published quasi value; with multisets a value together with how often it occurs; or the absence of a value
//! that the claim lists. Absent values come after all others, so that nothing else has to tell them apart.
//!
//! Of the three records of [`knowledge`](super), each of three items, `first` is 0, 3, 6, 9 and `items` is 0 1 2 0 1 2 0 2 3.
//! Relations are a matrix of bits per record over **positions**, a word per row as long as there are up to 64 items, the
//! lowest bit first:
//!
//! ```text
//!             row 0  row 1  row 2
//! record 0    010    100    000     positions 0 and 1 are related
//! record 1    010    101    010     and 1 and 2
//! record 2    000    000    000
//! ```
//!
//! The relations between v chosen positions are one mask: the pair (i, j), i < j, has the bit `j(j-1)/2 + i`, so that (0, 1) is
//! bit 0, (0, 2) bit 1, (1, 2) bit 2, (0, 3) bit 3. All positions of record 1 give the mask 101. Pairs that are known to be
//! unrelated have the same bits once more, past those of all related ones.
//!
//! In the embedded reading a value's relations must hold at one of its nodes. If item 1 of record 1 stands at two nodes, one
//! below 0 and one above 2, nobody can know both relations of one node: `relation_sets` gives the masks 001 and 100 instead.

use rayon::prelude::*;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::guard::Inferred;

/// Records that are put into another order together.
const BLOCK: usize = 4096;

/// Something that can be known of a record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Known {
    /// The declared attribute.
    pub declared: usize,
    /// The value as published.
    pub label: String,
    /// How often the record has it, where that is known too.
    pub count: Option<u32>,
    /// Known is that the record does not have it.
    pub absent: bool,
}

/// Records as sorted distinct items with a bit per related pair.
pub struct Records {
    pub(super) first: Vec<usize>,
    pub(super) items: Vec<u32>,
    pub(super) relations: Option<Relations>,
    pub(super) known: Vec<Known>,
}

/// Relations of all records, as symmetric bit matrices over the positions of a record's items.
pub(super) struct Relations {
    pub(super) first_word: Vec<usize>,
    pub(super) related: Vec<u64>,
    /// Pairs whose being unrelated is knowledge; empty if the claim lists none.
    pub(super) unrelated: Vec<u64>,
    /// Per item of a record its nodes as (preorder, end), where the embedded reading needs them.
    pub(super) nodes: Option<Nodes>,
}

impl Relations {
    /// Of no record yet.
    pub(super) fn none() -> Self {
        Relations { first_word: Vec::new(), related: Vec::new(), unrelated: Vec::new(), nodes: None }
    }

    /// Adds a record that has some of another one's items, told by their positions.
    pub(super) fn push(&mut self, pairs: &Pairs<'_>, positions: &[usize]) {
        let words = positions.len().div_ceil(64);
        let base = self.related.len();
        self.first_word.push(base);
        self.related.resize(base + words * positions.len(), 0);
        for (a, &first) in positions.iter().enumerate() {
            for (b, &second) in positions.iter().enumerate().filter(|(b, _)| *b != a) {
                let related = u64::from(pairs.related(first, second));
                self.related[base + a * words + b / 64] |= related << (b % 64);
            }
        }
    }
}

pub(super) struct Nodes {
    pub(super) first: Vec<u32>,
    pub(super) spans: Vec<(u32, u32)>,
    pub(super) inferred: Inferred,
}

impl Records {
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
        self.known.len()
    }

    /// What an item stands for.
    pub fn known(&self, item: u32) -> &Known {
        &self.known[item as usize]
    }

    /// The distinct items of a record, ascending.
    #[inline]
    pub fn items(&self, record: usize) -> &[u32] {
        &self.items[self.first[record]..self.first[record + 1]]
    }

    /// The most items that a record has.
    pub fn longest(&self) -> usize {
        self.first.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
    }

    /// The same records with the rarest items first, and the number that each item had; none if they have relations, which
    /// would have to follow.
    pub(super) fn by_rarity(&self, observer: &dyn Observer) -> Result<Option<(Records, Vec<u32>)>> {
        if self.relations.is_some() {
            return Ok(None);
        }
        let mut support = vec![0u32; self.item_count()];
        self.items.iter().for_each(|&item| support[item as usize] += 1);
        let mut original: Vec<u32> = (0..self.item_count() as u32).collect();
        original.sort_by_key(|&item| support[item as usize]);
        let mut rank = vec![0u32; original.len()];
        original.iter().zip(0..).for_each(|(&item, at)| rank[item as usize] = at);
        let known = original.iter().map(|&item| self.known(item).clone()).collect();
        let block = |records: &[usize]| -> Result<Vec<u32>> {
            observer.go_on()?;
            let base = records[0];
            let own = &self.items[base..records[records.len() - 1]];
            let mut items: Vec<u32> = own.iter().map(|&item| rank[item as usize]).collect();
            records.windows(2).for_each(|w| items[w[0] - base..w[1] - base].sort_unstable());
            Ok(items)
        };
        let starts: Vec<usize> = (0..self.len()).step_by(BLOCK).collect();
        let blocks: Vec<Vec<u32>> = (starts.into_par_iter())
            .map(|from| block(&self.first[from..=self.len().min(from + BLOCK)]))
            .collect::<Result<_>>()?;
        Ok(Some((
            Records { first: self.first.clone(), items: blocks.concat(), relations: None, known },
            original,
        )))
    }

    /// Takes items out of all records, which have no relations.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        debug_assert!(self.relations.is_none());
        let mut end = 0;
        let mut start = 0;
        for record in 1..self.first.len() {
            for at in start..self.first[record] {
                if keep(self.items[at]) {
                    self.items[end] = self.items[at];
                    end += 1;
                }
            }
            start = self.first[record];
            self.first[record] = end;
        }
        self.items.truncate(end);
    }

    /// Whether several relations of one value must hold at one node.
    pub fn is_embedded(&self) -> bool {
        self.relations.as_ref().is_some_and(|r| r.nodes.is_some())
    }

    /// Whether being unrelated counts as knowledge of some pairs.
    pub fn is_signed(&self) -> bool {
        self.relations.as_ref().is_some_and(|r| !r.unrelated.is_empty())
    }

    /// The related pairs of a record.
    #[inline]
    pub fn pairs(&self, record: usize) -> Pairs<'_> {
        let count = self.first[record + 1] - self.first[record];
        let words = count.div_ceil(64);
        match &self.relations {
            None => Pairs { words: 0, related: &[], unrelated: &[] },
            Some(r) => {
                let range = r.first_word[record]..r.first_word[record] + words * count;
                let unrelated = if r.unrelated.is_empty() { &[] } else { &r.unrelated[range.clone()] };
                Pairs { words, related: &r.related[range], unrelated }
            }
        }
    }

    /// Whether the embedded reading may know fewer relations together of an item than one by one: it has several nodes.
    pub(super) fn is_spread(&self, record: usize, position: usize) -> bool {
        let nodes = self.relations.as_ref().and_then(|r| r.nodes.as_ref());
        let at = self.first[record] + position;
        nodes.is_some_and(|n| n.first[at + 1] - n.first[at] > 1)
    }

    /// The sets of relations that can be known together about the items at `positions`, as bit masks over
    /// [`pair_bit`], pairs known to be unrelated after those known to be related. The pair reading has one such set; the
    /// embedded reading one per choice of nodes.
    pub fn relation_sets(
        &self,
        record: usize,
        positions: &[u32],
        out: &mut Vec<u64>,
        observer: &dyn Observer,
    ) -> Result<()> {
        out.clear();
        if self.relations.is_none() {
            out.push(0);
            return Ok(());
        }
        let pairs = self.pairs(record);
        let (mut all, mut apart) = (0u64, 0u64);
        for j in 1..positions.len() {
            for i in 0..j {
                let (a, b) = (positions[i] as usize, positions[j] as usize);
                all |= u64::from(pairs.related(a, b)) << pair_bit(i, j);
                apart |= u64::from(pairs.unrelated(a, b)) << pair_bit(i, j);
            }
        }
        let apart = if apart == 0 { 0 } else { apart << pair_count(positions.len()) };
        out.push(all | apart);
        let nodes = self.relations.as_ref().and_then(|r| r.nodes.as_ref());
        let Some(nodes) = nodes.filter(|_| all.count_ones() > 1) else {
            return Ok(());
        };
        // An absent value has no node; nothing is related to it.
        let spans = |position: u32| {
            let at = self.first[record] + position as usize;
            &nodes.spans[nodes.first[at] as usize..nodes.first[at + 1] as usize]
        };
        if positions.iter().all(|&p| spans(p).len() <= 1) {
            return Ok(());
        }
        out.clear();
        let mut choice = vec![0usize; positions.len()];
        loop {
            observer.go_on()?;
            let mut mask = apart;
            for j in 1..positions.len() {
                for i in 0..j {
                    if all >> pair_bit(i, j) & 1 == 1 {
                        let (a, b) = (spans(positions[i])[choice[i]], spans(positions[j])[choice[j]]);
                        mask |= u64::from(nodes.related(a, b)) << pair_bit(i, j);
                    }
                }
            }
            if !out.contains(&mask) {
                out.push(mask);
            }
            let Some(next) = (0..positions.len()).find(|&i| choice[i] + 1 < spans(positions[i]).len()) else {
                return Ok(());
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
    related: &'a [u64],
    unrelated: &'a [u64],
}

impl<'a> Pairs<'a> {
    /// Whether the items at two positions are related.
    #[inline]
    pub fn related(&self, a: usize, b: usize) -> bool {
        self.related.get(a * self.words + b / 64).is_some_and(|word| word >> (b % 64) & 1 == 1)
    }

    /// Whether it is knowledge that the items at two positions are not related.
    #[inline]
    pub fn unrelated(&self, a: usize, b: usize) -> bool {
        self.unrelated.get(a * self.words + b / 64).is_some_and(|word| word >> (b % 64) & 1 == 1)
    }

    /// The related pairs of a record of up to 64 items, a word per item.
    #[inline]
    pub(super) fn words(&self) -> Option<&'a [u64]> {
        (self.words == 1).then_some(self.related)
    }
}

/// The bit of the pair of the `i`-th and `j`-th known value, `i < j`.
#[inline]
pub fn pair_bit(i: usize, j: usize) -> u32 {
    (pair_count(j) + i) as u32
}

/// How many pairs `v` values make.
#[inline]
pub fn pair_count(v: usize) -> usize {
    v * v.saturating_sub(1) / 2
}
