//! Relations: which knowledge with relations matches too few records, and taking such relations apart.
//!
//! The relations of a record at a cut are those of its rows. A rule (a ⇝ b) rewrites rows: where a is above b, b goes to
//! the parent of a and leaves its own children to its parent. So a group of equal rows needs one set of ancestors per
//! position, and the records of a relation are the rows of the groups that have it.
//!
//! Order of repair: the violations of the unrepaired cut, by number of relations, number of values, nodes and pairs; then
//! whatever knowledge the rules of that pass have touched, in the same order; and so on until nothing is violated. Of the
//! relations of a violation the one with the fewest records goes (ties: the smallest pair). Knowledge that contains a
//! violation is not looked at on its own: the rule that repairs the smaller one removes it as well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::domain::{Domain, Node};
use super::rows::{Group, Rows};
use super::set::Set;

/// A related pair: ancestor, descendant.
pub(super) type Pair = (Node, Node);

/// Knowledge with relations: pairs, and further values beside those in the pairs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Knowledge {
    relations: usize,
    values: usize,
    nodes: Vec<Node>,
    pairs: Vec<Pair>,
}

impl Knowledge {
    fn new(pairs: &[Pair], further: &[Node]) -> Self {
        let nodes: BTreeSet<Node> =
            pairs.iter().flat_map(|p| [p.0, p.1]).chain(further.iter().copied()).collect();
        Knowledge {
            relations: pairs.len(),
            values: nodes.len(),
            nodes: nodes.into_iter().collect(),
            pairs: pairs.to_vec(),
        }
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

/// The records of every related pair at a cut; pairs that no record has are absent.
pub(super) type Related = BTreeMap<Pair, Arc<Set>>;

/// What an attacker may know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) k: u32,
    pub(super) m: usize,
    pub(super) n: usize,
}

/// The relations of some groups of rows, restricted to pairs that `wanted` accepts; `above` says which positions rules
/// have left above each position.
pub(super) fn relate(
    groups: &[Group],
    above: Option<&[Vec<u64>]>,
    rows: &Rows,
    records: usize,
    wanted: impl Fn(Pair) -> bool,
) -> Related {
    let mut lists: BTreeMap<Pair, Vec<u32>> = BTreeMap::new();
    for (g, group) in groups.iter().enumerate() {
        for (j, &b) in group.path.iter().enumerate() {
            for (i, &a) in group.path[..j].iter().enumerate() {
                if above.is_none_or(|above| above[g][j] >> i & 1 == 1) && wanted((a, b)) {
                    lists.entry((a, b)).or_default().extend(group.rows.iter().map(|&r| rows.record(r)));
                }
            }
        }
    }
    (lists.into_iter()).map(|(pair, records_of)| (pair, Arc::new(Set::new(records_of, records)))).collect()
}

/// All violations among the knowledge that holds a pair or value that `concerned` accepts, in the order of repair.
pub(super) fn violations(
    domain: &Domain<'_>,
    cut: &[Node],
    related: &Related,
    range: Range,
    concerned: &Concerned<'_>,
) -> Vec<Knowledge> {
    let pairs: Vec<(Pair, &Set)> = related.iter().map(|(&p, s)| (p, s.as_ref())).collect();
    let mut flags: FxHashMap<Node, u8> = FxHashMap::default();
    let (mut needed, mut wanted) = (0, None);
    match concerned {
        Concerned::Pairs(pairs) => wanted = Some(*pairs),
        Concerned::Nodes(new, fresh) => {
            needed = NEW | if fresh.is_some() { FRESH } else { 0 };
            new.iter().for_each(|&n| *flags.entry(n).or_default() |= NEW);
            fresh.unwrap_or(&[]).iter().for_each(|&n| *flags.entry(n).or_default() |= FRESH);
        }
    }
    let mut search = Search {
        domain,
        cut,
        pairs: &pairs,
        range,
        flags: &flags,
        needed,
        wanted,
        chosen: Vec::new(),
        found: Vec::new(),
    };
    for (i, &(pair, set)) in pairs.iter().enumerate() {
        search.chosen.push(pair);
        search.pair(set, i + 1);
        search.chosen.pop();
    }
    let mut found = search.found;
    found.sort();
    found
}

/// Which knowledge a search is about.
pub(super) enum Concerned<'a> {
    /// What holds one of the first nodes and, if there are second ones, one of these too.
    Nodes(&'a [Node], Option<&'a [Node]>),
    /// What holds one of these pairs.
    Pairs(&'a BTreeSet<Pair>),
}

const NEW: u8 = 1;
const FRESH: u8 = 2;

struct Search<'a> {
    domain: &'a Domain<'a>,
    cut: &'a [Node],
    pairs: &'a [(Pair, &'a Set)],
    range: Range,
    /// Per node of the cut whether it is new or fresh; which of both knowledge must hold.
    flags: &'a FxHashMap<Node, u8>,
    needed: u8,
    /// Or pairs of which it must hold one.
    wanted: Option<&'a BTreeSet<Pair>>,
    chosen: Vec<Pair>,
    found: Vec<Knowledge>,
}

impl Search<'_> {
    fn nodes(&self) -> Vec<Node> {
        let nodes: BTreeSet<Node> = self.chosen.iter().flat_map(|p| [p.0, p.1]).collect();
        nodes.into_iter().collect()
    }

    fn flags(&self, nodes: &[Node]) -> u8 {
        nodes.iter().fold(0, |flags, n| flags | self.flags.get(n).copied().unwrap_or(0))
    }

    /// Whether the chosen pairs and further nodes, with these flags, are what the search is about.
    fn is_concerned(&self, flags: u8) -> bool {
        flags & self.needed == self.needed
            && self.wanted.is_none_or(|wanted| self.chosen.iter().any(|p| wanted.contains(p)))
    }

    /// Looks at the chosen pairs, whose shared records are `set`, and at everything that adds to them.
    fn pair(&mut self, set: &Set, next: usize) {
        let nodes = self.nodes();
        if set.is_empty() || nodes.len() > self.range.m {
            return;
        }
        let flags = self.flags(&nodes);
        if set.len() < self.range.k {
            if self.is_concerned(flags) {
                self.found.push(Knowledge::new(&self.chosen, &[]));
            }
            return;
        }
        let left = self.range.m - nodes.len();
        self.values(set, &nodes, &mut Vec::new(), flags, 0, left);
        if self.chosen.len() == self.range.n {
            return;
        }
        let k = self.range.k;
        for i in next..self.pairs.len() {
            let (pair, other) = self.pairs[i];
            let grows = usize::from(!nodes.contains(&pair.0)) + usize::from(!nodes.contains(&pair.1));
            if grows > left || other.len() < k {
                continue;
            }
            let more_pairs = self.chosen.len() + 1 < self.range.n;
            let more_values = grows < left;
            self.chosen.push(pair);
            let concerned = self.is_concerned(flags | self.flags(&[pair.0, pair.1]));
            // What is not concerned and cannot become so by adding to it needs no counting.
            if concerned || more_pairs || (more_values && self.wanted.is_none()) {
                let shared = set.shared_up_to(other, k);
                if shared > 0 && shared < k {
                    if concerned {
                        self.found.push(Knowledge::new(&self.chosen, &[]));
                    }
                } else if shared == k && (more_pairs || more_values) {
                    let both = set.and(other, self.domain.records);
                    self.pair(&both, i + 1);
                }
            }
            self.chosen.pop();
        }
    }

    /// Adds up to `left` further values to the chosen pairs.
    fn values(
        &mut self,
        set: &Set,
        nodes: &[Node],
        further: &mut Vec<Node>,
        flags: u8,
        from: usize,
        left: usize,
    ) {
        if left == 0 || self.wanted.is_some_and(|wanted| !self.chosen.iter().any(|p| wanted.contains(p))) {
            return;
        }
        let k = self.range.k;
        for i in from..self.cut.len() {
            let node = self.cut[i];
            if nodes.contains(&node) {
                continue;
            }
            let flags = flags | self.flags(&[node]);
            let concerned = self.is_concerned(flags);
            if !concerned && left == 1 {
                continue;
            }
            let other = self.domain.set(node);
            let shared = set.shared_up_to(other, k);
            if shared == 0 {
                continue;
            }
            further.push(node);
            if shared < k {
                if concerned {
                    self.found.push(Knowledge::new(&self.chosen, further));
                }
            } else if left > 1 {
                let both = set.and(other, self.domain.records);
                self.values(&both, nodes, further, flags, i + 1, left - 1);
            }
            further.pop();
        }
    }
}

/// A cut whose relations are being repaired.
pub(super) struct Repair<'a> {
    domain: &'a Domain<'a>,
    rows: &'a Rows,
    groups: &'a [Group],
    cut: &'a [Node],
    range: Range,
    related: Related,
    /// Per group and position the positions still above, as bits.
    above: Vec<Vec<u64>>,
    /// The groups that have both nodes of a pair.
    groups_of: BTreeMap<Pair, Vec<u32>>,
    /// Pairs whose records have to be looked up again.
    stale: BTreeSet<Pair>,
    /// Pairs that have lost records in this pass.
    changed: BTreeSet<Pair>,
    rules: Vec<Pair>,
}

/// What repairing a cut has led to.
#[derive(Clone, Debug, Default)]
pub(super) struct Repaired {
    /// The rules in the order they were applied.
    pub(super) rules: Vec<Pair>,
    /// Per group and position the positions above, as bits.
    pub(super) above: Vec<Vec<u64>>,
}

impl<'a> Repair<'a> {
    pub(super) fn new(
        domain: &'a Domain<'a>,
        rows: &'a Rows,
        groups: &'a [Group],
        cut: &'a [Node],
        range: Range,
        related: &Related,
    ) -> Self {
        let mut groups_of: BTreeMap<Pair, Vec<u32>> = BTreeMap::new();
        for (g, group) in groups.iter().enumerate() {
            for (j, &b) in group.path.iter().enumerate() {
                for &a in &group.path[..j] {
                    groups_of.entry((a, b)).or_default().push(g as u32);
                }
            }
        }
        Repair {
            domain,
            rows,
            groups,
            cut,
            range,
            related: related.clone(),
            above: groups.iter().map(|g| (0..g.path.len()).map(|j| (1u64 << j) - 1).collect()).collect(),
            groups_of,
            stale: BTreeSet::new(),
            changed: BTreeSet::new(),
            rules: Vec::new(),
        }
    }

    /// Repairs until nothing is violated; `violations` are those of the unrepaired cut.
    pub(super) fn run(mut self, violations: Vec<Knowledge>) -> Repaired {
        let mut pass = violations;
        while !pass.is_empty() {
            for knowledge in &pass {
                if let Some(pair) = self.weakest(knowledge) {
                    self.apply(pair);
                }
            }
            for pair in std::mem::take(&mut self.stale) {
                self.refresh(pair);
            }
            let mut changed = std::mem::take(&mut self.changed);
            changed.retain(|pair| self.related.contains_key(pair));
            pass = if changed.is_empty() {
                Vec::new()
            } else {
                super::structure::violations(
                    self.domain,
                    self.cut,
                    &self.related,
                    self.range,
                    &Concerned::Pairs(&changed),
                )
            };
        }
        Repaired { rules: self.rules, above: self.above }
    }

    /// The relation to take apart so that the knowledge is gone, if it matches too few records now.
    fn weakest(&mut self, knowledge: &Knowledge) -> Option<Pair> {
        for &pair in &knowledge.pairs {
            if self.stale.remove(&pair) {
                self.refresh(pair);
            }
            if !self.related.contains_key(&pair) {
                return None;
            }
        }
        let k = self.range.k;
        let mut set = Arc::clone(&self.related[&knowledge.pairs[0]]);
        for pair in &knowledge.pairs[1..] {
            set = Arc::new(set.and(&self.related[pair], self.domain.records));
        }
        for &node in &knowledge.nodes {
            if !knowledge.pairs.iter().any(|p| p.0 == node || p.1 == node) {
                set = Arc::new(set.and(self.domain.set(node), self.domain.records));
            }
        }
        if !(1..k).contains(&set.len()) {
            return None;
        }
        knowledge.pairs.iter().copied().min_by_key(|p| (self.related[p].len(), *p))
    }

    /// Takes b out from under a, everywhere.
    fn apply(&mut self, (a, b): Pair) {
        self.rules.push((a, b));
        for &g in &self.groups_of[&(a, b)] {
            let path = &self.groups[g as usize].path;
            let above = &mut self.above[g as usize];
            let position = |node: Node| path.iter().position(|&n| n == node);
            let (Some(i), Some(j)) = (position(a), position(b)) else {
                continue;
            };
            if above[j] >> i & 1 == 0 {
                continue;
            }
            let lost = above[j] & !above[i];
            above[j] = above[i];
            for x in (0..path.len()).filter(|x| lost >> x & 1 == 1) {
                self.stale.insert((path[x], b));
            }
            for c in 0..path.len() {
                if above[c] >> j & 1 == 1 {
                    above[c] &= !(1 << j);
                    self.stale.insert((b, path[c]));
                }
            }
        }
    }

    /// Looks up the records of a pair again.
    fn refresh(&mut self, (a, b): Pair) {
        let mut records = Vec::new();
        for &g in &self.groups_of[&(a, b)] {
            let group = &self.groups[g as usize];
            let position = |node: Node| group.path.iter().position(|&n| n == node);
            if let (Some(i), Some(j)) = (position(a), position(b))
                && self.above[g as usize][j] >> i & 1 == 1
            {
                records.extend(group.rows.iter().map(|&r| self.rows.record(r)));
            }
        }
        let set = Set::new(records, self.domain.records);
        let before = self.related.get(&(a, b)).map_or(0, |s| s.len());
        // Records only ever lose relations: as many as before are the same ones.
        if set.len() == before {
            return;
        }
        self.changed.insert((a, b));
        if set.is_empty() {
            self.related.remove(&(a, b));
        } else {
            self.related.insert((a, b), Arc::new(set));
        }
    }
}
