//! Relations: which knowledge with relations matches too few records, and taking such relations apart.
//!
//! The relations of a record at a cut are those of its rows. A rule (a ⇝ b) rewrites rows: where a is above b, b goes to
//! the parent of a and leaves its own children to its parent (or takes them along, or a goes instead). So a group of equal rows needs one set of ancestors per
//! position, and the records of a relation are the rows of the groups that have it.
//!
//! Order of repair: the violations of the unrepaired cut, by number of relations, number of values, nodes and pairs; then
//! whatever knowledge the rules of that pass have touched, in the same order; and so on until nothing is violated. Of the
//! relations of a violation the one with the fewest records goes (ties: the smallest pair). Knowledge that contains a
//! violation is not looked at on its own: the rule that repairs the smaller one removes it as well.
//!
//! Three records, k = 3: two have b below a, the third has both side by side.
//!
//! ```text
//! group   path   records   above: a mask per position
//! 0       a b    0 1       0 1                          bit 0 of the second: a, at position 0, is above b
//! 1       a      2         0
//! 2       b      2         0
//! ```
//!
//! The values a and b are in all three, but whoever knows that b is below a is left with the two records of `(a, b)`. That
//! is the only relation of this knowledge, so the rule a ⇝ b is made: in group 0 the mask of b becomes 0, the pair has no
//! records any more, and nothing else has changed. What a rule does to a longer path depends on how values are parted:
//!
//! ```text
//! a ⇝ b on path a b c     a     b     c        as bits, position 0 last
//! before                  000   001   011      c below b below a
//! value                   000   000   001      c stays below a, b stands alone
//! subtree, ancestor       000   000   010      c stays below b, a stands alone
//!
//! b ⇝ c on path a b c     000   001   011
//! value, subtree          000   001   001      c goes to the parent of b
//! ancestor                000   001   001      b is above nothing any more, which comes to the same
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::domain::{Domain, Node};
use super::rows::Group;
use super::set::Set;
use super::violations::{Concerned, Knowledge, Pair, Range, Related, violations};

/// The relations of some groups of rows, restricted to pairs that `wanted` accepts; `above` says which positions rules
/// have left above each position.
pub(super) fn relate(
    groups: &[Arc<Group>],
    above: Option<&[Vec<u64>]>,
    records: usize,
    wanted: impl Fn(Pair) -> bool,
    observer: &dyn Observer,
) -> Result<Related> {
    let mut having: BTreeMap<Pair, Vec<u32>> = BTreeMap::new();
    for (g, group) in groups.iter().enumerate() {
        observer.go_on()?;
        for (j, &b) in group.path.iter().enumerate() {
            for (i, &a) in group.path[..j].iter().enumerate() {
                if above.is_none_or(|above| above[g][j] >> i & 1 == 1) && wanted((a, b)) {
                    having.entry((a, b)).or_default().push(g as u32);
                }
            }
        }
    }
    let mut related = Related::new();
    for (pair, own) in having {
        observer.go_on()?;
        related.insert(pair, Arc::new(records_of(groups, &own, records)));
    }
    Ok(related)
}

fn records_of(groups: &[Arc<Group>], some: &[u32], records: usize) -> Set {
    Set::union(some.iter().map(|&g| groups[g as usize].records()), records)
}

/// How many records several sets share, counted up to `enough` only.
fn shared_by_all<'s>(sets: impl Iterator<Item = &'s Set>, enough: u32, domain: &Domain<'_>) -> u32 {
    let mut sets: Vec<&Set> = sets.collect();
    sets.sort_by_key(|set| set.len());
    let Some((last, others)) = sets.split_last() else { return 0 };
    match others {
        [] => last.len().min(enough),
        [other] => other.shared_up_to(last, enough),
        [first, second, more @ ..] => {
            let shared = first.and(second, domain.records);
            let shared = more.iter().fold(shared, |shared, set| shared.and(set, domain.records));
            shared.shared_up_to(last, enough)
        }
    }
}

/// How a value is parted from one above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The lower value goes to the parent of the upper one; its children stay with its parent.
    Value,
    /// The lower value goes there with all below it.
    Subtree,
    /// The upper value is taken out of the path.
    Ancestor,
}

/// A relation that is taken apart everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) pair: Pair,
    pub(super) how: How,
}

/// Parts position j from position i above it; masks are the positions above each position. What is above j from `from` on,
/// i or further up, goes in any case.
pub(super) fn take_apart(above: &mut [u64], (i, j): (usize, usize), how: How, from: usize) {
    match how {
        How::Value => {
            above[j] = above[i] & ((1 << from) - 1);
            above.iter_mut().for_each(|mask| *mask &= !(1 << j));
        }
        How::Subtree => {
            let lost = above[j] & !above[i];
            above[j] &= !lost;
            above.iter_mut().filter(|mask| **mask >> j & 1 == 1).for_each(|mask| *mask &= !lost);
        }
        How::Ancestor => above.iter_mut().for_each(|mask| *mask &= !(1 << i)),
    }
}

/// A cut whose relations are being repaired.
pub(super) struct Repair<'a> {
    domain: &'a Domain<'a>,
    groups: &'a [Arc<Group>],
    /// The nodes of the cut, and the absences that count as knowledge.
    values: &'a [Node],
    range: Range,
    related: Related,
    /// The paths of all groups one after the other, and where they begin: most of them are only glanced at.
    paths: Vec<Node>,
    first: Vec<usize>,
    /// Per place in `paths` the positions of the group still above, as bits.
    above: Vec<u64>,
    /// Per node its groups with its position there, and where they begin.
    groups_of: Vec<(u32, u32)>,
    first_group: Vec<u32>,
    /// Pairs whose records have to be looked up again.
    stale: BTreeSet<Pair>,
    /// Pairs that have lost records in this pass.
    changed: BTreeSet<Pair>,
    /// How relations are taken apart; none to choose for each rule what loses the fewest relations.
    how: Option<How>,
    rules: Vec<Rule>,
    observer: &'a dyn Observer,
}

/// What repairing a cut has led to.
#[derive(Clone, Debug, Default)]
pub(super) struct Repaired {
    /// The rules in the order they were applied.
    pub(super) rules: Vec<Rule>,
    /// Per group and position the positions above, as bits.
    pub(super) above: Vec<Vec<u64>>,
}

impl<'a> Repair<'a> {
    pub(super) fn new(
        domain: &'a Domain<'a>,
        groups: &'a [Arc<Group>],
        values: &'a [Node],
        range: Range,
        how: Option<How>,
        related: &Related,
        observer: &'a dyn Observer,
    ) -> Self {
        let (mut paths, mut first) = (Vec::new(), vec![0]);
        for group in groups {
            paths.extend_from_slice(&group.path);
            first.push(paths.len());
        }
        let mut first_group = vec![0u32; domain.len() as usize + 1];
        paths.iter().for_each(|&n| first_group[n as usize + 1] += 1);
        (1..first_group.len()).for_each(|n| first_group[n] += first_group[n - 1]);
        let mut next = first_group.clone();
        let mut groups_of = vec![(0u32, 0u32); paths.len()];
        let mut above = Vec::with_capacity(paths.len());
        for (g, bounds) in first.windows(2).enumerate() {
            for (j, &node) in paths[bounds[0]..bounds[1]].iter().enumerate() {
                groups_of[next[node as usize] as usize] = (g as u32, j as u32);
                next[node as usize] += 1;
                above.push((1u64 << j) - 1);
            }
        }
        Repair {
            domain,
            groups,
            values,
            range,
            related: related.clone(),
            paths,
            first,
            above,
            groups_of,
            first_group,
            stale: BTreeSet::new(),
            changed: BTreeSet::new(),
            how,
            rules: Vec::new(),
            observer,
        }
    }

    /// Repairs until nothing is violated; `first` are the violations of the unrepaired cut.
    pub(super) fn run(mut self, first: Vec<Knowledge>) -> Result<Repaired> {
        let mut pass = first;
        while !pass.is_empty() {
            for knowledge in &pass {
                self.observer.go_on()?;
                if let Some(pair) = self.weakest(knowledge) {
                    self.apply(pair);
                }
            }
            for pair in std::mem::take(&mut self.stale) {
                self.observer.go_on()?;
                self.refresh(pair);
            }
            let mut changed = std::mem::take(&mut self.changed);
            changed.retain(|pair| self.related.contains_key(pair));
            pass = if changed.is_empty() {
                Vec::new()
            } else {
                let changed = Concerned::Pairs(&changed);
                violations(self.domain, self.values, &self.related, self.range, &changed, self.observer)?
            };
        }
        let above = self.first.windows(2).map(|bounds| self.above[bounds[0]..bounds[1]].to_vec()).collect();
        Ok(Repaired { rules: self.rules, above })
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
        let of_pairs = knowledge.pairs().iter().map(|pair| self.related[pair].as_ref());
        let is_alone = |node: &&Node| !knowledge.pairs().iter().any(|p| p.0 == **node || p.1 == **node);
        let alone = knowledge.nodes().iter().filter(is_alone).map(|&node| self.domain.set(node));
        if !(1..self.range.k).contains(&shared_by_all(of_pairs.chain(alone), self.range.k, self.domain)) {
            return None;
        }
        knowledge.pairs().iter().copied().min_by_key(|p| (self.related[p].len(), *p))
    }

    /// Takes b out from under a, everywhere.
    fn apply(&mut self, pair: Pair) {
        let how = self.how.unwrap_or_else(|| {
            let all = [How::Value, How::Subtree, How::Ancestor];
            all.into_iter().min_by_key(|&how| self.lost(pair, how)).unwrap_or(How::Value)
        });
        self.rules.push(Rule { pair, how });
        for (g, at) in self.having(pair) {
            let own = self.own(g);
            let path = &self.paths[own.clone()];
            let above = &mut self.above[own];
            let before = above.to_vec();
            take_apart(above, at, how, self.domain.lost_from(path, at.0));
            for (c, (before, after)) in before.iter().zip(above).enumerate() {
                let lost = before & !*after;
                self.stale.extend((0..c).filter(|x| lost >> x & 1 == 1).map(|x| (path[x], path[c])));
            }
        }
    }

    /// How many related pairs of rows a rule would take away.
    fn lost(&self, pair: Pair, how: How) -> u64 {
        let of_group = |(g, at): (u32, (usize, usize))| {
            let mut above = self.above[self.own(g)].to_vec();
            let pairs = |above: &[u64]| above.iter().map(|mask| u64::from(mask.count_ones())).sum::<u64>();
            let before = pairs(&above);
            let from = self.domain.lost_from(&self.groups[g as usize].path, at.0);
            take_apart(&mut above, at, how, from);
            (before - pairs(&above)) * self.groups[g as usize].rows.len() as u64
        };
        self.having(pair).into_iter().map(of_group).sum()
    }

    /// Where the path of a group lies in `paths`.
    fn own(&self, group: u32) -> std::ops::Range<usize> {
        self.first[group as usize]..self.first[group as usize + 1]
    }

    /// The groups in which a pair is still related, with its positions.
    fn having(&self, (a, b): Pair) -> Vec<(u32, (usize, usize))> {
        let of = |node: Node| {
            let from = self.first_group[node as usize] as usize;
            &self.groups_of[from..self.first_group[node as usize + 1] as usize]
        };
        let mut having = Vec::new();
        if of(a).len() < of(b).len() {
            for &(g, i) in of(a) {
                let own = self.own(g);
                let below = self.paths[own.start + i as usize..own.end].iter().position(|&n| n == b);
                let j = below.map(|below| i as usize + below);
                if let Some(j) = j.filter(|j| self.above[own.start + j] >> i & 1 == 1) {
                    having.push((g, (i as usize, j)));
                }
            }
            return having;
        }
        for &(g, j) in of(b) {
            let own = self.own(g);
            let above = self.above[own.start + j as usize];
            // Most have lost what was above them when many rules have been made.
            if above == 0 {
                continue;
            }
            let i = self.paths[own.start..own.start + j as usize].iter().position(|&n| n == a);
            if let Some(i) = i.filter(|i| above >> i & 1 == 1) {
                having.push((g, (i, j as usize)));
            }
        }
        having
    }

    /// Looks up the records of a pair again.
    fn refresh(&mut self, (a, b): Pair) {
        let still: Vec<u32> = self.having((a, b)).into_iter().map(|(g, _)| g).collect();
        let set = records_of(self.groups, &still, self.domain.records);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_masks_of_the_head() {
        let after = |pair: (usize, usize), how: How| {
            let mut above = vec![0b000, 0b001, 0b011];
            take_apart(&mut above, pair, how, pair.0);
            above
        };
        assert_eq!(after((0, 1), How::Value), [0b000, 0b000, 0b001]);
        for how in [How::Subtree, How::Ancestor] {
            assert_eq!(after((0, 1), how), [0b000, 0b000, 0b010]);
        }
        for how in [How::Value, How::Subtree, How::Ancestor] {
            assert_eq!(after((1, 2), how), [0b000, 0b001, 0b001]);
        }
    }
}
