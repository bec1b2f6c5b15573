//! k^m-anonymity taken literally: all cuts one by one, the paper's count tree, knowledge by its definition.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::hierarchy::{Hierarchy, NodeId};

use crate::knowledge::subsets;

/// Transactions over the leaves of a hierarchy.
#[derive(Clone, Debug)]
pub struct Baskets<'a> {
    /// The hierarchy.
    pub hierarchy: &'a Hierarchy,
    /// Per transaction its leaves.
    pub transactions: Vec<BTreeSet<NodeId>>,
}

/// Per leaf position the node it goes to.
pub type LeafCut = Vec<NodeId>;

impl<'a> Baskets<'a> {
    /// Transactions by their labels, which the hierarchy has.
    pub fn new(hierarchy: &'a Hierarchy, transactions: &[Vec<String>]) -> Self {
        let leaf = |label: &String| hierarchy.leaf(label).expect("a leaf");
        Baskets {
            hierarchy,
            transactions: transactions.iter().map(|t| t.iter().map(leaf).collect()).collect(),
        }
    }

    /// Every cut of the hierarchy.
    pub fn cuts(&self) -> Vec<LeafCut> {
        self.cuts_below(self.hierarchy.root())
    }

    fn cuts_below(&self, node: NodeId) -> Vec<LeafCut> {
        let h = self.hierarchy;
        let mut all = vec![vec![node; h.leaves(node).len()]];
        if h.is_leaf(node) {
            return all;
        }
        let mut joined: Vec<LeafCut> = vec![Vec::new()];
        for child in h.children(node) {
            let below = self.cuts_below(child);
            joined = joined
                .iter()
                .flat_map(|left| below.iter().map(|right| [left.as_slice(), right].concat()))
                .collect();
        }
        all.extend(joined);
        all
    }

    /// What a cut publishes. The root is left out.
    pub fn publish(&self, cut: &LeafCut) -> Vec<BTreeSet<NodeId>> {
        let to = |leaf: &NodeId| cut[self.hierarchy.leaves(*leaf).start as usize];
        let sets =
            self.transactions.iter().map(|t| t.iter().map(to).filter(|n| *n != NodeId::ROOT).collect());
        sets.collect()
    }

    /// What a cut loses: per occurrence the leaves of its node, nothing if that is one.
    pub fn loss(&self, cut: &LeafCut) -> u128 {
        let h = self.hierarchy;
        let weight = |leaf: &NodeId| {
            let node = cut[h.leaves(*leaf).start as usize];
            match h.leaves(node).len() as u128 {
                1 if node != NodeId::ROOT => 0,
                leaves => leaves,
            }
        };
        self.transactions.iter().flatten().map(weight).sum()
    }

    /// The loss as a share of the most that can be lost.
    pub fn ncp(&self, cut: &LeafCut) -> f64 {
        let occurrences = self.transactions.iter().map(BTreeSet::len).sum::<usize>() as u128;
        self.loss(cut) as f64 / (occurrences * self.hierarchy.leaf_count() as u128) as f64
    }

    /// The least loss of all cuts with a property.
    pub fn least_loss(&self, holds: impl Fn(&[BTreeSet<NodeId>]) -> bool) -> Option<u128> {
        self.cuts().iter().filter(|cut| holds(&self.publish(cut))).map(|cut| self.loss(cut)).min()
    }

    fn covers(&self, a: NodeId, b: NodeId) -> bool {
        self.hierarchy.is_ancestor_or_self(a, b)
    }

    /// How many transactions hold, for each node of a set, a leaf below it.
    pub fn support(&self, set: &[NodeId]) -> usize {
        let holds = |t: &&BTreeSet<NodeId>| set.iter().all(|&n| t.iter().any(|&leaf| self.covers(n, leaf)));
        self.transactions.iter().filter(holds).count()
    }

    /// The nodes of a transaction's leaves and all above them but the root, without those below the cut.
    fn expanded(&self, transaction: &BTreeSet<NodeId>, cut: &LeafCut) -> BTreeSet<NodeId> {
        let above = |leaf: &NodeId| std::iter::successors(Some(*leaf), |&n| self.hierarchy.parent(n));
        let is_in = |n: &NodeId| *n != NodeId::ROOT && !self.is_below(*n, cut);
        transaction.iter().flat_map(above).filter(is_in).collect()
    }

    fn is_below(&self, node: NodeId, cut: &LeafCut) -> bool {
        let at = cut[self.hierarchy.leaves(node).start as usize];
        at != node && self.covers(at, node)
    }

    /// `aa` as the paper prints it: a count tree per size, walked in preorder.
    pub fn aa(&self, k: usize, m: usize) -> LeafCut {
        let mut cut: LeafCut = self.leaves();
        for size in 1..=m {
            let tree = self.count_tree(&cut, size..=size);
            self.walk(&tree, &mut Vec::new(), &mut cut, k, size..=size);
        }
        cut
    }

    /// `da`: one count tree with all sizes.
    pub fn da(&self, k: usize, m: usize) -> LeafCut {
        let mut cut: LeafCut = self.leaves();
        let tree = self.count_tree(&cut, 1..=m);
        self.walk(&tree, &mut Vec::new(), &mut cut, k, 1..=m);
        cut
    }

    fn leaves(&self) -> LeafCut {
        (0..self.hierarchy.leaf_count() as u32).map(|p| self.hierarchy.leaf_node(p)).collect()
    }

    /// The count tree of itemsets of some sizes at a cut.
    pub fn count_tree(&self, cut: &LeafCut, sizes: std::ops::RangeInclusive<usize>) -> CountTree {
        let mut order: Vec<NodeId> = self.hierarchy.nodes().skip(1).collect();
        order.sort_by_key(|&n| (std::cmp::Reverse(self.support(&[n])), n));
        let mut root = CountTree::default();
        for transaction in &self.transactions {
            let expanded = self.expanded(transaction, cut);
            let items: Vec<NodeId> = order.iter().copied().filter(|n| expanded.contains(n)).collect();
            for chosen in subsets(items.len(), *sizes.end()) {
                let set: Vec<NodeId> = chosen.iter().map(|&i| items[i]).collect();
                let related = |a: &NodeId, b: &NodeId| a != b && self.covers(*a, *b);
                if sizes.contains(&set.len()) && !set.iter().any(|a| set.iter().any(|b| related(a, b))) {
                    root.insert(&set, &order);
                }
            }
        }
        root
    }

    fn walk(
        &self,
        tree: &CountTree,
        prefix: &mut Vec<NodeId>,
        cut: &mut LeafCut,
        k: usize,
        sizes: std::ops::RangeInclusive<usize>,
    ) {
        for (&(_, node), child) in &tree.children {
            if self.is_below(node, cut) {
                continue;
            }
            prefix.push(node);
            if sizes.contains(&prefix.len()) && child.count < k {
                *cut = self.repaired(prefix, cut, k);
            } else {
                self.walk(child, prefix, cut, k, sizes.clone());
            }
            prefix.pop();
            if prefix.iter().any(|&n| self.is_below(n, cut)) {
                return;
            }
        }
    }

    /// The cheapest of all replacements of a set's nodes that make it frequent or smaller.
    fn repaired(&self, set: &[NodeId], cut: &LeafCut, k: usize) -> LeafCut {
        let above = |n: NodeId| -> Vec<NodeId> {
            std::iter::successors(Some(n), |&n| self.hierarchy.parent(n)).collect()
        };
        let mut choices: Vec<Vec<NodeId>> = vec![Vec::new()];
        for &node in set {
            choices = choices
                .iter()
                .flat_map(|c| above(node).into_iter().map(|n| [c.as_slice(), &[n]].concat()))
                .collect();
        }
        let is_closed = |choice: &[NodeId]| {
            let pairs = choice.iter().zip(set);
            choice.iter().all(|&g| pairs.clone().all(|(&to, &from)| !self.covers(g, from) || to == g))
        };
        let mut best: Option<(u128, usize, Vec<NodeId>, LeafCut)> = None;
        for choice in choices.iter().filter(|c| is_closed(c) && c.as_slice() != set) {
            let nodes: BTreeSet<NodeId> = choice.iter().copied().collect();
            let nodes: Vec<NodeId> = nodes.into_iter().collect();
            let frequent = nodes == [NodeId::ROOT] || nodes.len() < set.len() || self.support(&nodes) >= k;
            if !frequent {
                continue;
            }
            let raised: Vec<NodeId> = nodes.iter().copied().filter(|n| !set.contains(n)).collect();
            let mut now = cut.clone();
            for &node in &raised {
                self.hierarchy.leaves(node).for_each(|leaf| now[leaf as usize] = node);
            }
            let leaves = raised.iter().map(|&n| self.hierarchy.leaves(n).len()).sum();
            let candidate = (self.loss(&now) - self.loss(cut), leaves, nodes, now);
            if best.as_ref().is_none_or(|b| (candidate.0, candidate.1, &candidate.2) < (b.0, b.1, &b.2)) {
                best = Some(candidate);
            }
        }
        best.map(|b| b.3).expect("the root is always possible")
    }
}

/// The paper's count tree.
#[derive(Clone, Debug, Default)]
pub struct CountTree {
    /// How many transactions hold the itemset that ends here.
    pub count: usize,
    children: BTreeMap<(usize, NodeId), CountTree>,
}

impl CountTree {
    fn insert(&mut self, set: &[NodeId], order: &[NodeId]) {
        match set {
            [] => self.count += 1,
            [first, rest @ ..] => {
                let place = order.iter().position(|n| n == first).expect("in the order");
                self.children.entry((place, *first)).or_default().insert(rest, order);
            }
        }
    }

    /// How many nodes it has, the root aside.
    pub fn nodes(&self) -> usize {
        self.children.values().map(|c| 1 + c.nodes()).sum()
    }

    /// The support of an itemset given in the tree's order.
    pub fn support(&self, set: &[NodeId]) -> usize {
        match set {
            [] => self.count,
            [first, rest @ ..] => (self.children.iter().find(|((_, n), _)| n == first))
                .map_or(0, |(_, child)| child.support(rest)),
        }
    }
}

/// What beyond k^m is promised about published sets.
#[derive(Clone, Debug, Default)]
pub struct Beyond {
    /// No sensitive label may have a share over 1/l.
    pub l: Option<f64>,
    /// The sensitive labels.
    pub sensitive: BTreeSet<String>,
    /// The original values whose absence counts as knowledge.
    pub negative: BTreeSet<String>,
}

/// A piece of knowledge about published sets that breaks the promise, in words.
pub fn violation(
    published: &[BTreeSet<String>],
    hierarchy: &Hierarchy,
    k: usize,
    m: usize,
    beyond: &Beyond,
) -> Option<String> {
    let is_sensitive = |label: &String| beyond.sensitive.contains(label);
    let labels: BTreeSet<&String> = published.iter().flatten().filter(|l| !is_sensitive(l)).collect();
    let is_listed = |label: &str| {
        let node = hierarchy.leaf(label).or_else(|| hierarchy.node(label)).expect("a label of the hierarchy");
        let leaf = |p: u32| hierarchy.label(hierarchy.leaf_node(p)).to_owned();
        hierarchy.leaves(node).all(|p| beyond.negative.contains(&leaf(p)) || is_sensitive(&leaf(p)))
    };
    let facts: Vec<BTreeSet<(bool, &str)>> = published
        .iter()
        .map(|set| {
            let present = set.iter().filter(|l| !is_sensitive(l)).map(|l| (true, l.as_str()));
            let absent =
                labels.iter().filter(|l| !beyond.negative.is_empty() && !set.contains(**l) && is_listed(l));
            present.chain(absent.map(|l| (false, l.as_str()))).collect()
        })
        .collect();
    let mut all: BTreeSet<Vec<(bool, &str)>> = BTreeSet::from([Vec::new()]);
    for set in &facts {
        let items: Vec<_> = set.iter().copied().collect();
        all.extend(subsets(items.len(), m).into_iter().map(|c| c.iter().map(|&i| items[i]).collect()));
    }
    all.into_iter().find_map(|known| {
        let matching: Vec<usize> =
            (0..facts.len()).filter(|&r| known.iter().all(|fact| facts[r].contains(fact))).collect();
        if !known.is_empty() && matching.len() < k {
            return Some(format!("{known:?} matches {matching:?}"));
        }
        let l = beyond.l?;
        beyond.sensitive.iter().find_map(|secret| {
            let having = matching.iter().filter(|&&r| published[r].contains(secret)).count();
            (having as f64 * l > matching.len() as f64 * (1.0 + 1e-12))
                .then(|| format!("{known:?} gives {secret} to {having} of {matching:?}"))
        })
    })
}
