//! Which records have a node, and how many have several.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use crate::km::cuts::cut::Cut;
use crate::km::transactions::{STRIDE, Transactions};
use crate::km::tree::{Node, ROOT};

/// Records, ascending; as a list when few, else as bits.
#[derive(Debug)]
enum Set {
    List(Vec<u32>),
    Bits(Vec<u64>),
}

impl Set {
    fn contains(&self, record: u32) -> bool {
        match self {
            Set::List(list) => list.binary_search(&record).is_ok(),
            Set::Bits(words) => words[record as usize / 64] >> (record % 64) & 1 == 1,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Set::List(list) => list.len() * 4,
            Set::Bits(words) => words.len() * 8,
        }
    }
}

/// The records of each node that somebody has asked for.
pub(crate) struct Tids<'a> {
    data: &'a Transactions,
    /// Per leaf position where its records begin in `records`; empty until the first question.
    start: Vec<u32>,
    records: Vec<u32>,
    sets: Vec<Option<Set>>,
    /// The records that have two nodes, for pairs that many itemsets share.
    pairs: FxHashMap<(Node, Node), Pair>,
    bytes: usize,
    pair_bytes: usize,
    limit: usize,
    observer: &'a dyn Observer,
}

/// Records that have two nodes, as far as they were looked for: a frequent itemset is known as such after a few.
#[derive(Debug, Default)]
struct Pair {
    found: Vec<u32>,
    /// How many entries of the shorter list were gone through, or words of the bits.
    passed: usize,
}

/// Records of a node from which on pairs are remembered.
const MANY: u32 = 128;

impl<'a> Tids<'a> {
    /// Keeps about `limit` bytes of record sets.
    pub(crate) fn new(data: &'a Transactions, limit: usize, observer: &'a dyn Observer) -> Self {
        let sets = (0..data.tree.len()).map(|_| None).collect();
        Tids {
            data,
            start: Vec::new(),
            records: Vec::new(),
            sets,
            pairs: FxHashMap::default(),
            bytes: 0,
            pair_bytes: 0,
            limit,
            observer,
        }
    }

    fn turn(&mut self) -> Result<()> {
        let leaves = self.data.tree.leaf_count();
        let mut next = vec![0u32; leaves + 1];
        self.data.all_items().iter().for_each(|&leaf| next[leaf as usize + 1] += 1);
        for leaf in 0..leaves {
            next[leaf + 1] += next[leaf];
        }
        let start = next.clone();
        self.records = vec![0; self.data.all_items().len()];
        for record in 0..self.data.len() as u32 {
            if record.is_multiple_of(STRIDE as u32) {
                self.observer.go_on()?;
            }
            for &leaf in self.data.items(record) {
                let at = &mut next[leaf as usize];
                self.records[*at as usize] = record;
                *at += 1;
            }
        }
        self.start = start;
        Ok(())
    }

    /// Makes sure that the sets of these nodes are there.
    fn need(&mut self, nodes: &[Node], cut: &Cut) -> Result<()> {
        if nodes.iter().all(|&n| self.sets[n as usize].is_some()) {
            return Ok(());
        }
        if self.start.is_empty() {
            self.turn()?;
        }
        if self.bytes > self.limit {
            self.sets.iter_mut().for_each(|s| *s = None);
            self.bytes = 0;
            self.forget_pairs();
        }
        for &node in nodes {
            if self.sets[node as usize].is_none() {
                self.observer.go_on()?;
                let set = self.build(node, cut);
                self.bytes += set.bytes();
                self.sets[node as usize] = Some(set);
            }
        }
        Ok(())
    }

    fn build(&self, node: Node, cut: &Cut) -> Set {
        let of = |p: u32| &self.records[self.start[p as usize] as usize..self.start[p as usize + 1] as usize];
        // Dropped items are out of the data; those under a node that is itself dropped are asked for by nobody.
        let leaves = self.data.tree.leaves(node).filter(|&p| !cut.is_dropped(p));
        let records = self.data.len();
        let support = self.data.support(node) as usize;
        // Going through a list costs some nanoseconds an entry, through bits about one a word.
        if support * 128 < records {
            let mut list: Vec<u32> = Vec::with_capacity(support);
            let mut lists = 0;
            for p in leaves {
                lists += u32::from(!of(p).is_empty());
                list.extend_from_slice(of(p));
            }
            if lists > 1 {
                list.sort_unstable();
                list.dedup();
            }
            return Set::List(list);
        }
        let mut words = vec![0u64; records.div_ceil(64)];
        for p in leaves {
            of(p).iter().for_each(|&r| words[r as usize / 64] |= 1 << (r % 64));
        }
        Set::Bits(words)
    }

    fn forget_pairs(&mut self) {
        self.pairs.clear();
        self.pair_bytes = 0;
    }

    /// Forgets the sets of a node and of all above it, since a leaf of theirs was dropped.
    pub(crate) fn forget_above(&mut self, node: Node) {
        self.forget_pairs();
        let mut at = node;
        loop {
            if let Some(set) = self.sets[at as usize].take() {
                self.bytes -= set.bytes();
            }
            if at == ROOT {
                break;
            }
            at = self.data.tree.parent(at);
        }
    }

    /// How many records have all of these nodes, counted up to `enough` only.
    pub(crate) fn support_up_to(&mut self, nodes: &[Node], cut: &Cut, enough: u32) -> Result<u32> {
        self.need(nodes, cut)?;
        if nodes.len() > 2 {
            let mut rarest = nodes.to_vec();
            rarest.sort_unstable_by_key(|&n| (self.data.support(n), n));
            if self.data.support(rarest[0]) >= MANY {
                return Ok(self.support_of_pair(&rarest, enough));
            }
        }
        let (base, others) = self.by_size(nodes);
        let mut count = 0;
        match base {
            Some(list) => {
                for &record in list {
                    count += u32::from(others.iter().all(|s| s.contains(record)));
                    if count >= enough {
                        return Ok(enough);
                    }
                }
            }
            None => {
                let rows = rows(&others);
                for at in 0..self.data.len().div_ceil(64) {
                    count += word(&rows, at).count_ones();
                    if count >= enough {
                        return Ok(enough);
                    }
                }
            }
        }
        Ok(count)
    }

    /// The same from the records of the first two nodes, which the next itemset is likely to share.
    fn support_of_pair(&mut self, nodes: &[Node], enough: u32) -> u32 {
        if self.bytes + self.pair_bytes > self.limit {
            self.forget_pairs();
        }
        let key = (nodes[0], nodes[1]);
        let mut pair = self.pairs.remove(&key).unwrap_or_else(|| {
            self.pair_bytes += 64;
            Pair::default()
        });
        let others: Vec<&Set> = nodes[2..].iter().filter_map(|&n| self.sets[n as usize].as_ref()).collect();
        let has_all = |record: u32| others.iter().all(|s| s.contains(record));
        let mut count = 0;
        for &record in &pair.found {
            count += u32::from(has_all(record));
            if count >= enough {
                break;
            }
        }
        let before = pair.found.len();
        if count < enough {
            let (base, both) = self.by_size(&nodes[..2]);
            let mut look = |record: u32, found: &mut Vec<u32>| {
                found.push(record);
                count += u32::from(has_all(record));
                count >= enough
            };
            match base {
                Some(list) => {
                    for &record in &list[pair.passed..] {
                        pair.passed += 1;
                        if both.iter().all(|s| s.contains(record)) && look(record, &mut pair.found) {
                            break;
                        }
                    }
                }
                None => {
                    let rows = rows(&both);
                    for at in pair.passed..self.data.len().div_ceil(64) {
                        pair.passed += 1;
                        let mut done = false;
                        records_of(word(&rows, at), at, |record| done |= look(record, &mut pair.found));
                        if done {
                            break;
                        }
                    }
                }
            }
        }
        self.pair_bytes += (pair.found.len() - before) * 4;
        self.pairs.insert(key, pair);
        count.min(enough)
    }

    /// The records that have all of these nodes; all records if there is none.
    pub(crate) fn shared(&mut self, nodes: &[Node], cut: &Cut) -> Result<Vec<u32>> {
        self.need(nodes, cut)?;
        Ok(self.intersection(nodes))
    }

    fn intersection(&self, nodes: &[Node]) -> Vec<u32> {
        let (base, others) = self.by_size(nodes);
        match base {
            Some(list) => list.iter().copied().filter(|&r| others.iter().all(|s| s.contains(r))).collect(),
            None if others.is_empty() => (0..self.data.len() as u32).collect(),
            None => {
                let (mut found, rows) = (Vec::new(), rows(&others));
                for at in 0..self.data.len().div_ceil(64) {
                    records_of(word(&rows, at), at, |record| found.push(record));
                }
                found
            }
        }
    }

    /// Those of some records that have a node.
    pub(crate) fn among(&mut self, records: &[u32], node: Node, cut: &Cut) -> Result<Vec<u32>> {
        self.need(&[node], cut)?;
        let Some(set) = &self.sets[node as usize] else {
            return Ok(Vec::new());
        };
        Ok(records.iter().copied().filter(|&r| set.contains(r)).collect())
    }

    /// The shortest list, if there is a list, and the others.
    fn by_size(&self, nodes: &[Node]) -> (Option<&[u32]>, Vec<&Set>) {
        let mut sets: Vec<&Set> = nodes.iter().filter_map(|&n| self.sets[n as usize].as_ref()).collect();
        let length = |s: &Set| match s {
            Set::List(list) => list.len(),
            Set::Bits(_) => usize::MAX,
        };
        let shortest = (0..sets.len()).min_by_key(|&i| length(sets[i]));
        match shortest.map(|i| sets[i]) {
            Some(Set::List(list)) => {
                sets.swap_remove(shortest.unwrap_or(0));
                (Some(list), sets)
            }
            _ => (None, sets),
        }
    }
}

/// The bits of sets that all are bits.
fn rows<'s>(sets: &[&'s Set]) -> Vec<&'s [u64]> {
    let bits = |set: &&'s Set| match set {
        Set::Bits(words) => Some(words.as_slice()),
        Set::List(_) => None,
    };
    sets.iter().filter_map(bits).collect()
}

fn word(rows: &[&[u64]], at: usize) -> u64 {
    rows.iter().fold(u64::MAX, |word, row| word & row[at])
}

/// The records that a word stands for.
fn records_of(mut word: u64, at: usize, mut then: impl FnMut(u32)) {
    while word != 0 {
        then(at as u32 * 64 + word.trailing_zeros());
        word &= word - 1;
    }
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;
    use bosket_testkit::dice::Dice;
    use bosket_testkit::fixtures::{bound, hierarchy, value_trees};
    use bosket_testkit::sets;

    use super::*;
    use crate::km::{Algorithm, Params};

    #[test]
    fn support_is_that_of_a_look_at_every_record_whatever_was_asked_before() {
        let mut dice = Dice::new(7);
        // Some items are rare, so that they are lists, others are bits.
        let one_in = [2, 3, 3, 2, 9, 200];
        let mut row = || -> Vec<String> {
            "abcdef".chars().zip(one_in).filter(|&(_, n)| dice.one_in(n)).map(|(c, _)| c.into()).collect()
        };
        let records: Vec<Vec<String>> = (0..30_000).map(|_| row()).collect();
        let data = sets::dataset(&records);
        let trees = value_trees(&data, &bound(&data, sets::ATTRIBUTES).1);
        let h = [Some(hierarchy("a;*\nb;X;*\nc;X;*\nd;*\ne;*\nf;*\n"))];
        let data =
            Transactions::new(&trees, &h, &Params::plain(Algorithm::Aa, 2, 3), &Quiet).expect("laid out");
        let cut = Cut::bottom(&data);
        let nodes: Vec<Node> = (1..data.tree.len() as Node).collect();
        let has = |record: u32, node: Node| {
            data.items(record).iter().any(|leaf| data.tree.leaves(node).contains(leaf))
        };
        let mut asked: Vec<[Node; 3]> = Vec::new();
        for &a in &nodes {
            for &b in nodes.iter().filter(|&&b| b > a) {
                asked.extend(nodes.iter().filter(|&&c| c > b).map(|&c| [a, b, c]));
            }
        }
        for limit in [0, 1 << 12, 1 << 20] {
            let mut tids = Tids::new(&data, limit, &Quiet);
            for _ in 0..200 {
                let set = asked[dice.below(asked.len())];
                let all = (0..data.len() as u32).filter(|&r| set.iter().all(|&n| has(r, n))).count() as u32;
                let enough = 1 + dice.below(1 + 2 * all as usize) as u32;
                let found = tids.support_up_to(&set, &cut, enough).expect("nobody interrupts");
                assert_eq!(found, all.min(enough), "{set:?} up to {enough} with {limit} bytes");
            }
        }
    }
}
