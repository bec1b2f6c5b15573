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

use super::domain::{Domain, Node};
use super::rows::{Group, Rows};
use super::set::Set;
use super::violations::{Concerned, Knowledge, Pair, Range, Related, violations};

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

    /// Repairs until nothing is violated; `first` are the violations of the unrepaired cut.
    pub(super) fn run(mut self, first: Vec<Knowledge>) -> Repaired {
        let mut pass = first;
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
                violations(self.domain, self.cut, &self.related, self.range, &Concerned::Pairs(&changed))
            };
        }
        Repaired { rules: self.rules, above: self.above }
    }

    /// The relation to take apart so that the knowledge is gone, if it matches too few records now.
    fn weakest(&mut self, knowledge: &Knowledge) -> Option<Pair> {
        for &pair in knowledge.pairs() {
            if self.stale.remove(&pair) {
                self.refresh(pair);
            }
            if !self.related.contains_key(&pair) {
                return None;
            }
        }
        let k = self.range.k;
        let mut set = Arc::clone(&self.related[&knowledge.pairs()[0]]);
        for pair in &knowledge.pairs()[1..] {
            set = Arc::new(set.and(&self.related[pair], self.domain.records));
        }
        for &node in knowledge.nodes() {
            if !knowledge.pairs().iter().any(|p| p.0 == node || p.1 == node) {
                set = Arc::new(set.and(self.domain.set(node), self.domain.records));
            }
        }
        if !(1..k).contains(&set.len()) {
            return None;
        }
        knowledge.pairs().iter().copied().min_by_key(|p| (self.related[p].len(), *p))
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
