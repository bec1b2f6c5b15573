//! Violating itemsets in the order of the count tree, and their repair.
//!
//! Where the rare itemsets of the cut can be held, those above them that are still rare are found from them. Where there are
//! too many, they are found prefix by prefix, as the walk gets there.

use bosket_model::Result;
use rustc_hash::FxHashSet;

use super::search::Search;
use crate::km::counting::coded::{Coded, Codes};
use crate::km::counting::counted::{Counted, Verdict};
use crate::km::counting::rare::{Bounds, rare_sets};
use crate::km::tree::{Node, ROOT};

/// A walk over the itemsets of a size that begin with a prefix.
pub(crate) struct Walk {
    pub(crate) prefix: Vec<Node>,
    pub(crate) size: usize,
}

impl Walk {
    /// Repairs the violating itemsets among the transactions that have the prefix, given as far as they matter.
    pub(crate) fn visit(&mut self, search: &mut Search<'_>, coded: &Coded) -> Result<()> {
        let left = self.size - self.prefix.len();
        if left == 1 {
            return self.last(search, coded);
        }
        let keys = Keys::new(search, left);
        if keys.fit() {
            // A key takes 16 bytes, and a place in the table of those that were tried.
            let cap = (search.limits.memory / 128).clamp(1 << 10, 1 << 18);
            let bounds =
                Bounds { size: left, k: search.limits.k, cap, memory: search.limits.memory / 8, keep: false };
            let rare = rare_sets(coded, bounds, search.observer)?;
            if rare.complete {
                let suspects = keys.pack_all(search, coded, &rare.sets);
                return above_and_through(search, &self.prefix, keys, suspects, None);
            }
        }
        let after = self.prefix.last().map_or(0, |&p| search.order.rank[p as usize] + 1);
        for rank in after as usize..search.order.nodes.len() {
            search.go_on()?;
            let node = search.order.nodes[rank];
            if search.cut.is_gone(node) || is_related(search, &self.prefix, node) {
                continue;
            }
            self.prefix.push(node);
            let below = self.project(search)?;
            if below.longest >= left - 1 {
                self.visit(search, &below)?;
            }
            self.prefix.pop();
            if self.prefix.iter().any(|&p| search.cut.is_gone(p)) {
                break;
            }
        }
        Ok(())
    }

    /// The transactions that have the prefix, with the items that may come after it.
    fn project(&self, search: &mut Search<'_>) -> Result<Coded> {
        let records = search.tids.shared(&self.prefix, &search.cut)?;
        let last = self.prefix.last().map_or(0, |&p| search.order.rank[p as usize]);
        let codes = Codes::new(search.data, &search.cut, search.cut.at(), |node| {
            let rank = search.order.rank[node as usize];
            rank != u32::MAX && rank > last && !is_related(search, &self.prefix, node)
        });
        Coded::new(search.data, codes, &records, self.size - self.prefix.len(), search.observer)
    }

    /// The last node of the set: all supports at once.
    fn last(&mut self, search: &mut Search<'_>, coded: &Coded) -> Result<()> {
        let tree = search.data.tree.clone();
        let mut support = vec![0u32; tree.len()];
        let mut nodes: Vec<Node> = Vec::new();
        for row in coded.rows() {
            search.go_on()?;
            nodes.clear();
            nodes.extend(row.iter().map(|&code| coded.nodes[code as usize]));
            nodes.sort_unstable();
            let mut before: Option<Node> = None;
            for &own in &nodes {
                let mut node = own;
                while node != ROOT && before.is_none_or(|b| !tree.covers(node, b)) {
                    support[node as usize] += 1;
                    node = tree.parent(node);
                }
                before = Some(own);
            }
        }
        let after = self.prefix.last().map_or(0, |&p| search.order.rank[p as usize] + 1);
        let mut set = self.prefix.clone();
        for rank in after as usize..search.order.nodes.len() {
            let node = search.order.nodes[rank];
            let support = support[node as usize];
            if support == 0
                || support >= search.limits.k
                || search.cut.is_gone(node)
                || is_related(search, &self.prefix, node)
            {
                continue;
            }
            set.push(node);
            search.repair(&set)?;
            set.pop();
            if self.prefix.iter().any(|&p| search.cut.is_gone(p)) {
                break;
            }
        }
        Ok(())
    }
}

fn is_related(search: &Search<'_>, prefix: &[Node], node: Node) -> bool {
    prefix.iter().any(|&p| search.data.tree.related(p, node))
}

/// An itemset that may violate, as the places of its nodes in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Suspect {
    pub(crate) key: u128,
    /// Whether it does for sure. Else it is counted when its turn comes: by then most of them are gone.
    pub(crate) certain: bool,
}

/// Repairs itemsets that begin with a prefix: the violating ones of the cut, which are given, and those above them.
pub(crate) fn above_and_through(
    search: &mut Search<'_>,
    prefix: &[Node],
    keys: Keys,
    mut suspects: Vec<Suspect>,
    counted: Option<&Counted<'_>>,
) -> Result<()> {
    add_those_above(search, prefix, keys, &mut suspects, counted)?;
    suspects.sort_unstable();
    let mut set = Vec::new();
    for suspect in suspects {
        search.go_on()?;
        set.clear();
        set.extend_from_slice(prefix);
        set.extend((0..keys.size).map(|i| search.order.nodes[keys.rank(suspect.key, i) as usize]));
        if set.iter().all(|&n| !search.cut.is_gone(n)) {
            if suspect.certain || search.support(&set)? < search.limits.k {
                search.repair_by(&set, counted)?;
            }
        } else if prefix.iter().any(|&n| search.cut.is_gone(n)) {
            break;
        }
    }
    Ok(())
}

/// Itemsets above a suspect, one node raised by one step at a time, as long as they are suspects too.
fn add_those_above(
    search: &mut Search<'_>,
    prefix: &[Node],
    keys: Keys,
    suspects: &mut Vec<Suspect>,
    counted: Option<&Counted<'_>>,
) -> Result<()> {
    let tree = search.data.tree.clone();
    let rank = |search: &Search<'_>, n: Node| search.order.rank[n as usize];
    let after = prefix.last().map_or(0, |&p| rank(search, p) + 1);
    let mut tried: FxHashSet<u128> = FxHashSet::default();
    let (mut nodes, mut ranks) = (Vec::new(), Vec::new());
    let mut next = 0;
    while next < suspects.len() {
        search.go_on()?;
        let key = suspects[next].key;
        next += 1;
        for i in 0..keys.size {
            let above = tree.parent(search.order.nodes[keys.rank(key, i) as usize]);
            let above_rank = rank(search, above);
            if above == ROOT || above_rank == u32::MAX || above_rank < after {
                continue;
            }
            nodes.clear();
            let others = (0..keys.size).filter(|&j| j != i);
            nodes.extend(others.map(|j| search.order.nodes[keys.rank(key, j) as usize]));
            // With another node of the set below it, the set would be smaller, and smaller ones are frequent.
            if nodes.iter().any(|&n| tree.related(above, n)) || is_related(search, prefix, above) {
                continue;
            }
            nodes.push(above);
            ranks.clear();
            ranks.extend(nodes.iter().map(|&n| rank(search, n)));
            let raised = keys.pack(&mut ranks);
            if !tried.insert(raised) {
                continue;
            }
            nodes.extend_from_slice(prefix);
            let certain = match counted.map(|c| c.judge(&nodes)) {
                Some(Verdict::Frequent) => continue,
                Some(verdict) => verdict == Verdict::Rare,
                None if search.support(&nodes)? >= search.limits.k => continue,
                None => true,
            };
            suspects.push(Suspect { key: raised, certain });
        }
    }
    Ok(())
}

/// Itemsets as numbers, ascending as the walk goes: the places of their nodes in the order, the first one highest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    bits: u32,
    pub(crate) size: usize,
}

impl Keys {
    pub(crate) fn new(search: &Search<'_>, size: usize) -> Self {
        Keys { bits: usize::BITS - search.order.nodes.len().leading_zeros(), size }
    }

    /// Whether a number can hold an itemset.
    pub(crate) fn fit(self) -> bool {
        self.size * self.bits as usize <= 128
    }

    pub(super) fn pack(self, ranks: &mut [u32]) -> u128 {
        ranks.sort_unstable();
        ranks.iter().fold(0, |key, &r| key << self.bits | u128::from(r))
    }

    /// Violating sets of codes, one after the other.
    pub(crate) fn pack_all(self, search: &Search<'_>, coded: &Coded, sets: &[u32]) -> Vec<Suspect> {
        let mut ranks = Vec::new();
        sets.chunks_exact(self.size)
            .map(|set| {
                ranks.clear();
                ranks.extend(set.iter().map(|&c| search.order.rank[coded.nodes[c as usize] as usize]));
                Suspect { key: self.pack(&mut ranks), certain: true }
            })
            .collect()
    }

    fn rank(self, key: u128, i: usize) -> u32 {
        let shift = self.bits * (self.size - 1 - i) as u32;
        (key >> shift) as u32 & ((1u64 << self.bits) - 1) as u32
    }
}
