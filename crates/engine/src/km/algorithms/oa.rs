//! `oa`: the cheapest of all cuts that keep the promise.
//!
//! Which itemsets violate does not depend on the cut, so they are found once, as sets of nodes; a cut keeps the promise if
//! none of them lies in it. Cuts are gone through bottom-up in the order of their loss, which rises on the way up: the
//! first one that keeps the promise is the best, also where the promise is not monotone. For small domains.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxBuildHasher, FxHashSet};

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use crate::km::cuts::beyond::{Promise, Shares, is_listed};
use crate::km::cuts::cut::{Cut, Loss};
use crate::km::transactions::Transactions;
use crate::km::tree::{Node, ROOT};

/// Cuts looked at, at most.
const MOST_CUTS: u64 = 1 << 20;

/// The cheapest cut, and how many were looked at.
pub(crate) fn oa(data: &Transactions, promise: &Promise, observer: &dyn Observer) -> Result<(Cut, u64)> {
    let cuts = count_cuts(data)?;
    observer.stage("cuts", cuts);
    let violating = Violating::find(data, promise, observer)?;
    let mut open = BinaryHeap::new();
    // As many as there can be: to make room for a million later means to hash all of them again, too long to wait for.
    let mut seen = FxHashSet::with_capacity_and_hasher(cuts as usize, FxBuildHasher);
    let bottom: Vec<Node> =
        (0..data.tree.len() as Node).filter(|&n| data.tree.is_leaf(n) && data.support(n) > 0).collect();
    seen.insert(bottom.clone());
    open.push(Reverse(State::new(data, bottom)));
    let mut examined = 0;
    let mut best: Option<State> = None;
    while let Some(Reverse(state)) = open.pop() {
        // Chains of nodes with the same leaves cost the same; the highest of them has the smallest number.
        if best.as_ref().is_some_and(|b| (state.loss, state.leaves) > (b.loss, b.leaves)) {
            break;
        }
        observer.go_on()?;
        examined += 1;
        observer.advance(1);
        for above in state.above(data) {
            if seen.insert(above.clone()) {
                open.push(Reverse(State::new(data, above)));
            }
        }
        if best.as_ref().is_none_or(|b| state < *b) && !violating.any_in(&state.nodes) {
            best = Some(state);
        }
    }
    let mut cut = Cut::bottom(data);
    for node in best.map_or_else(|| vec![ROOT], |b| b.nodes) {
        if !data.tree.is_leaf(node) {
            cut.raise(node);
        }
    }
    Ok((cut, examined))
}

/// How many cuts there are, unless there are too many.
pub(crate) fn count_cuts(data: &Transactions) -> Result<u64> {
    let cuts = how_many(data, ROOT);
    if cuts > MOST_CUTS {
        let what = format!("the hierarchy has more than {MOST_CUTS} cuts, too many to look at all of them");
        return Err(Failure::new(
            Fault::Unreachable,
            Diagnostic::error(what).help("`oa` is for up to some 60 items; use `aa`"),
        ));
    }
    Ok(cuts)
}

/// How many cuts the part of the hierarchy that occurs has below a node.
fn how_many(data: &Transactions, node: Node) -> u64 {
    if data.tree.is_leaf(node) {
        return 1;
    }
    let children = data.tree.children(node).filter(|&c| data.support(c) > 0);
    children.fold(1u64, |product, c| product.saturating_mul(how_many(data, c))).saturating_add(1)
}

/// A cut, in the order of preference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    loss: Loss,
    /// Leaves that are generalized.
    leaves: usize,
    /// The nodes that occur, ascending.
    nodes: Vec<Node>,
}

impl State {
    fn new(data: &Transactions, nodes: Vec<Node>) -> Self {
        let inner = || nodes.iter().filter(|&&n| !data.tree.is_leaf(n) || n == ROOT);
        State {
            loss: inner().map(|&n| Loss::from(data.occurrences(n)) * Loss::from(data.tree.weight(n))).sum(),
            leaves: inner().map(|&n| data.tree.leaves(n).len()).sum(),
            nodes,
        }
    }

    /// The cuts one step above: all children of one node replaced by it.
    fn above(&self, data: &Transactions) -> Vec<Vec<Node>> {
        let mut parents: Vec<Node> =
            self.nodes.iter().filter(|&&n| n != ROOT).map(|&n| data.tree.parent(n)).collect();
        parents.sort_unstable();
        parents.dedup();
        let complete = |&parent: &Node| {
            let mut children = data.tree.children(parent).filter(|&c| data.support(c) > 0);
            children.all(|c| self.nodes.binary_search(&c).is_ok())
        };
        parents
            .into_iter()
            .filter(complete)
            .map(|parent| {
                let mut nodes: Vec<Node> =
                    self.nodes.iter().copied().filter(|&n| !data.tree.covers(parent, n)).collect();
                nodes.insert(nodes.partition_point(|&n| n < parent), parent);
                nodes
            })
            .collect()
    }
}

/// The sets of nodes that no cut may hold all of, as bits.
struct Violating {
    words: usize,
    sets: Vec<u64>,
}

/// A node that a record has, or has not.
#[derive(Clone, Copy)]
struct Fact {
    node: Node,
    absent: bool,
}

impl Violating {
    fn find(data: &Transactions, promise: &Promise, observer: &dyn Observer) -> Result<Self> {
        let occurs = |&n: &Node| data.support(n) > 0;
        let present = (1..data.tree.len() as Node).filter(occurs).map(|node| Fact { node, absent: false });
        let absent = (1..data.tree.len() as Node)
            .filter(|n| occurs(n) && is_listed(data, *n))
            .map(|node| Fact { node, absent: true });
        let facts: Vec<Fact> = present.chain(absent).collect();
        let words = data.len().div_ceil(64);
        let mut rows = vec![vec![0u64; words]; data.tree.len()];
        for record in 0..data.len() as u32 {
            observer.go_on()?;
            for &leaf in data.items(record) {
                let mut node = data.tree.leaf(leaf);
                while node != ROOT {
                    rows[node as usize][record as usize / 64] |= 1 << (record % 64);
                    node = data.tree.parent(node);
                }
            }
        }
        let all: Vec<u64> = (0..words)
            .map(|w| {
                if w + 1 < words || data.len().is_multiple_of(64) {
                    u64::MAX
                } else {
                    (1 << (data.len() % 64)) - 1
                }
            })
            .collect();
        let mut violating = Violating { words: data.tree.len().div_ceil(64), sets: Vec::new() };
        let finder = Finder { data, promise, facts, rows, observer };
        finder.extend(&mut Vec::new(), &all, 0, &mut violating)?;
        Ok(violating)
    }

    fn push(&mut self, nodes: &[Fact]) {
        let first = self.sets.len();
        self.sets.resize(first + self.words, 0);
        nodes.iter().for_each(|f| self.sets[first + f.node as usize / 64] |= 1 << (f.node % 64));
    }

    fn any_in(&self, nodes: &[Node]) -> bool {
        let mut cut = vec![0u64; self.words];
        nodes.iter().for_each(|&n| cut[n as usize / 64] |= 1 << (n % 64));
        self.sets.chunks_exact(self.words).any(|set| set.iter().zip(&cut).all(|(s, c)| s & !c == 0))
    }
}

struct Finder<'a> {
    data: &'a Transactions,
    promise: &'a Promise,
    facts: Vec<Fact>,
    /// Per node its records, as bits.
    rows: Vec<Vec<u64>>,
    observer: &'a dyn Observer,
}

impl Finder<'_> {
    fn extend(
        &self,
        set: &mut Vec<Fact>,
        records: &[u64],
        from: usize,
        violating: &mut Violating,
    ) -> Result<()> {
        if set.len() == self.promise.m {
            return Ok(());
        }
        for (i, &fact) in self.facts.iter().enumerate().skip(from) {
            if set.iter().any(|f| self.data.tree.related(f.node, fact.node)) {
                continue;
            }
            self.observer.go_on()?;
            let row = &self.rows[fact.node as usize];
            let having = |(r, f): (&u64, &u64)| if fact.absent { r & !f } else { r & f };
            let shared: Vec<u64> = records.iter().zip(row).map(having).collect();
            let support: u32 = shared.iter().map(|w| w.count_ones()).sum();
            if support == 0 {
                continue;
            }
            set.push(fact);
            // A larger set would only be found in cuts that hold this one.
            if support < self.promise.k || self.is_too_certain(&shared, support) {
                violating.push(set);
            } else {
                self.extend(set, &shared, i + 1, violating)?;
            }
            set.pop();
        }
        Ok(())
    }

    fn is_too_certain(&self, records: &[u64], support: u32) -> bool {
        let Some(l) = self.promise.l else {
            return false;
        };
        let list: Vec<u32> =
            (0..self.data.len() as u32).filter(|&r| records[r as usize / 64] >> (r % 64) & 1 == 1).collect();
        !Shares::of(self.data, &list).hold(l, support as usize)
    }
}
