//! What a search works on: the records, the promise, and what is known about cuts.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::cost::{Counted, Reuse, relations_lost};
use super::domain::{Domain, Node};
use super::effort::Effort;
use super::losses::{Look, Losses, Scratch};
use super::publish::{by_pair, rewrite};
use super::rows::{Group, Rows, STRIDE};
use super::sample::Sample;
use super::set::Set;
use super::structure::{How, Rule, relate};
use super::violations::{Concerned, Knowledge, Pair, Range, Related, violations};

/// By which figure cuts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// RPD_a, on the synopsis.
    RpdA,
    /// RPD, on the records.
    Rpd,
    /// RPD of a sample, where records are many: for comparing cuts only.
    Sampled,
    /// Half the detail lost per value, half the share of relations lost.
    Lm,
}

/// What a search needs.
pub(super) struct Problem<'a> {
    pub(super) domain: Domain<'a>,
    pub(super) rows: Rows,
    pub(super) range: Range,
    pub(super) cost: Cost,
    /// Cuts may be repaired by taking relations apart.
    pub(super) repair: bool,
    /// How relations are taken apart; none to choose per rule.
    pub(super) how: Option<How>,
    /// How many related pairs the input has, those of emptied people too.
    pub(super) input_pairs: u64,
    pub(super) max_cuts: u64,
    /// Whether there is a solution before the search begins, so that it may end without any.
    pub(super) has_first: bool,
    /// How many of its cheapest solutions a search hands on.
    pub(super) finalists: usize,
    pub(super) shortcuts: Shortcuts,
    /// Most bytes for what the search keeps.
    pub(super) memory: usize,
    /// How much the search may do.
    pub(super) effort: Effort,
    /// Records of related pairs. They depend on the two nodes alone, not on the cut.
    pub(super) pairs: Pairs,
    /// What is known about cuts: several searches come by the same ones.
    pub(super) judged: Cuts,
    /// The records that cuts are compared by, if there are many.
    pub(super) sample: Option<Sample>,
    /// Where losses of records are counted.
    pub(super) scratch: Scratch,
    /// Whoever is told how far it is, and asked whether to go on.
    pub(super) observer: &'a dyn Observer,
}

/// What makes the search fast. None of it changes a result, which tests show by switching them off one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    /// What was found out about a cut, a pair or a group is used again.
    pub memo: bool,
    /// Of a child cut only what differs from its parent is looked at.
    pub incremental: bool,
    /// Records are counted up to k only.
    pub early_exit: bool,
    /// A beam is spared where the finest cut needs no repair and costs less and less on the way down.
    pub leap: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Shortcuts { memo: true, incremental: true, early_exit: true, leap: true }
    }
}

/// What is known about a cut, whatever search it was found by.
#[derive(Clone, Default)]
pub(super) struct Judged {
    /// Its values alone are not sound.
    pub(super) dead: bool,
    /// Absences are sound as well.
    pub(super) sound: bool,
    /// Relations have to be taken apart.
    pub(super) violated: bool,
    /// Which ones, once that was asked for.
    pub(super) rules: Option<Arc<[Rule]>>,
    /// Costs, by which figure and whether after repair.
    pub(super) costs: Vec<(Cost, bool, f64)>,
}

impl Judged {
    pub(super) fn cost(&self, cost: Cost, repaired: bool) -> Option<f64> {
        self.costs.iter().find(|c| c.0 == cost && c.1 == repaired).map(|c| c.2)
    }
}

/// Sets of records that many cuts ask for, as long as they fit into memory.
pub(super) struct Pairs {
    known: Mutex<(FxHashMap<Pair, Arc<Set>>, usize)>,
    /// Most bytes to keep.
    memory: usize,
}

impl Pairs {
    pub(super) fn new(memory: usize) -> Self {
        Pairs { known: Mutex::default(), memory }
    }

    pub(super) fn get(&self, pair: Pair) -> Option<Arc<Set>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).0.get(&pair).cloned()
    }

    pub(super) fn keep(&self, related: &Related) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (&pair, set) in related {
            if known.1 + set.bytes() > self.memory {
                return;
            }
            known.1 += set.bytes();
            known.0.insert(pair, Arc::clone(set));
        }
    }
}

/// What is known about cuts, as long as it fits into memory: with many attributes a cut has as many nodes, and every level of
/// a beam as many cuts.
pub(super) struct Cuts {
    known: Mutex<(FxHashMap<Vec<Node>, Judged>, usize)>,
    /// Most bytes to keep.
    memory: usize,
}

impl Cuts {
    pub(super) fn new(memory: usize) -> Self {
        Cuts { known: Mutex::default(), memory }
    }

    pub(super) fn get(&self, cut: &[Node]) -> Option<Judged> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).0.get(cut).cloned()
    }

    /// Changes what is known of a cut that is known.
    fn with(&self, cut: &[Node], change: impl FnOnce(&mut Judged)) {
        if let Some(judged) = self.known.lock().unwrap_or_else(PoisonError::into_inner).0.get_mut(cut) {
            change(judged);
        }
    }

    /// Adds what was found out about a cut.
    pub(super) fn learn(&self, cut: &[Node], judged: Judged) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = size_of_val(cut) + 2 * size_of::<Judged>();
        if !known.0.contains_key(cut) {
            if known.1 + bytes > self.memory {
                return;
            }
            known.1 += bytes;
        }
        let entry = known.0.entry(cut.to_vec()).or_default();
        entry.dead |= judged.dead;
        entry.sound |= judged.sound;
        entry.violated |= judged.violated;
        entry.rules = entry.rules.take().or(judged.rules);
        for (cost, repaired, value) in judged.costs {
            if entry.cost(cost, repaired).is_none() {
                entry.costs.push((cost, repaired, value));
            }
        }
    }
}

/// What the cost of a cut can take over from the one above it.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) reuse: Reuse<'a>,
    pub(super) losses: Option<&'a Losses>,
}

impl Known<'_> {
    /// Nothing is known.
    pub(super) const NOTHING: Known<'static> = Known { reuse: Reuse::Nothing, losses: None };
}

/// A sound cut with its rules.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub(super) cut: Vec<Node>,
    pub(super) rules: Vec<Rule>,
    pub(super) cost: f64,
}

impl Solution {
    /// Cheap ones first; of equally cheap ones those with more detail.
    pub(super) fn rank(&self) -> (u64, std::cmp::Reverse<usize>) {
        (rounded(self.cost), std::cmp::Reverse(self.cut.len()))
    }
}

/// A cost without its last bits, which depend on the order of additions. Costs are not negative, so their bits are in
/// their order.
pub(super) fn rounded(cost: f64) -> u64 {
    cost.to_bits() >> 16
}

/// The rows of a cut, grouped by their paths.
pub(super) struct Grouped {
    pub(super) groups: Vec<Arc<Group>>,
}

impl Grouped {
    /// The ancestors that rules leave to each position of each group.
    pub(super) fn rewrite(
        &self,
        rules: &[Rule],
        domain: &Domain<'_>,
        observer: &dyn Observer,
    ) -> Result<Vec<Vec<u64>>> {
        let rules = by_pair(rules);
        let rewritten = |group: &Arc<Group>| {
            observer.go_on()?;
            Ok(rewrite(&group.path, &rules, domain))
        };
        self.groups.iter().map(rewritten).collect()
    }

    /// The same, where `before` is what other rules have left and only groups with a pair can differ.
    pub(super) fn rewrite_with(
        &self,
        (rules, before): (&[Rule], &[Vec<u64>]),
        pair: Pair,
        domain: &Domain<'_>,
    ) -> Vec<Vec<u64>> {
        let rules = by_pair(rules);
        let has = |path: &[Node]| path.contains(&pair.0) && path.contains(&pair.1);
        (self.groups.iter().zip(before))
            .map(|(group, before)| match has(&group.path) {
                true => rewrite(&group.path, &rules, domain),
                false => before.clone(),
            })
            .collect()
    }

    /// The pairs that are related somewhere by one set of ancestors and not by the other.
    pub(super) fn difference(&self, a: &[Vec<u64>], b: &[Vec<u64>]) -> BTreeSet<Pair> {
        let mut pairs = BTreeSet::new();
        for (g, group) in self.groups.iter().enumerate() {
            for (j, &node) in group.path.iter().enumerate() {
                let differ = a[g][j] ^ b[g][j];
                pairs.extend((0..j).filter(|i| differ >> i & 1 == 1).map(|i| (group.path[i], node)));
            }
        }
        pairs
    }
}

impl Problem<'_> {
    /// The rows of a cut, grouped.
    pub(super) fn relations(&self, cut: &[Node]) -> Result<Grouped> {
        let node_of = self.domain.assign_all(cut);
        let mut number: FxHashMap<Vec<Node>, usize> = FxHashMap::default();
        let mut by_path: Vec<(Vec<Node>, Vec<u32>)> = Vec::new();
        let mut path = Vec::new();
        for row in 0..self.rows.len() as u32 {
            if row.is_multiple_of(STRIDE as u32) {
                self.observer.go_on()?;
            }
            path.clear();
            path.extend(self.rows.items(row).iter().filter_map(|&i| node_of[i as usize]));
            let group = number.get(path.as_slice()).copied().unwrap_or_else(|| {
                number.insert(path.clone(), by_path.len());
                by_path.push((path.clone(), Vec::new()));
                by_path.len() - 1
            });
            by_path[group].1.push(row);
        }
        by_path.sort_by(|a, b| a.0.cmp(&b.0));
        let group = |(path, rows): (Vec<Node>, Vec<u32>)| Arc::new(Group::new(path, rows, &self.rows));
        Ok(Grouped { groups: by_path.into_iter().map(group).collect() })
    }

    /// The cost of a cut, and its synopsis without rules if that was needed.
    pub(super) fn cost(
        &self,
        cut: &[Node],
        groups: &[Arc<Group>],
        above: Option<&[Vec<u64>]>,
        known: Known<'_>,
    ) -> Result<(f64, Option<Counted>)> {
        let (rows, domain, observer) = (&self.rows, &self.domain, self.observer);
        match self.cost {
            Cost::Lm => {
                let known = if above.is_none() { domain.relations_lost(cut) } else { None };
                let relations = known.unwrap_or_else(|| relations_lost(groups, above, self.input_pairs));
                Ok((0.5 * domain.detail_lost(cut) + 0.5 * relations, None))
            }
            Cost::Rpd | Cost::Sampled => {
                let look = self.look(self.cost);
                let rpd = match known.losses {
                    Some(losses) => losses.rpd_of(groups, above, look)?,
                    None => Losses::new(groups, above, look)?.rpd(),
                };
                Ok((rpd, None))
            }
            Cost::RpdA => {
                let plain = Counted::new(groups, None, rows, domain, known.reuse, observer)?;
                let Some(above) = above else { return Ok((plain.rpd_a(domain), Some(plain))) };
                let reuse =
                    if self.shortcuts.incremental { Reuse::Unrepaired(&plain) } else { Reuse::Nothing };
                let repaired = Counted::new(groups, Some(above), rows, domain, reuse, observer)?;
                Ok((repaired.rpd_a(domain), Some(plain)))
            }
        }
    }

    fn look(&self, cost: Cost) -> Look<'_> {
        Look {
            rows: &self.rows,
            domain: &self.domain,
            scratch: &self.scratch,
            sample: self.sample.as_ref().filter(|_| cost == Cost::Sampled),
            observer: self.observer,
        }
    }

    /// The synopsis of a cut without rules, if the cost needs one.
    pub(super) fn unrepaired(&self, grouped: &Grouped) -> Result<Option<Counted>> {
        let count =
            || Counted::new(&grouped.groups, None, &self.rows, &self.domain, Reuse::Nothing, self.observer);
        (self.cost == Cost::RpdA).then(count).transpose()
    }

    /// What records lose at a cut by exact RPD, or those of the sample.
    pub(super) fn losses(
        &self,
        groups: &[Arc<Group>],
        above: Option<&[Vec<u64>]>,
        cost: Cost,
    ) -> Result<Losses> {
        Losses::new(groups, above, self.look(cost))
    }

    /// The figure that judges a cut with rules: exact RPD, unless the search is about detail. It is found from the losses of
    /// a cut that has most groups in common, if there is one.
    pub(super) fn repaired_cost(
        &self,
        cut: &[Node],
        grouped: &Grouped,
        above: Option<&[Vec<u64>]>,
        losses: Option<&Losses>,
    ) -> Result<f64> {
        let groups = &grouped.groups;
        match (self.cost, losses) {
            (Cost::Lm, _) => Ok(self.cost(cut, groups, above, Known::NOTHING)?.0),
            (_, Some(losses)) => losses.rpd_of(groups, above, self.look(Cost::Rpd)),
            (_, None) => Ok(self.losses(groups, above, Cost::Rpd)?.rpd()),
        }
    }

    /// The same for a cut that is not grouped yet.
    pub(super) fn judge(&self, cut: &[Node], rules: &[Rule]) -> Result<f64> {
        let figure = if self.cost == Cost::Lm { Cost::Lm } else { Cost::Rpd };
        let known = self.judged.get(cut);
        let known = known.filter(|judged| rules.is_empty() || judged.rules.as_deref() == Some(rules));
        if let Some(cost) = known.and_then(|judged| judged.cost(figure, !rules.is_empty())) {
            return Ok(cost);
        }
        let grouped = self.relations(cut)?;
        let above = self.above(&grouped, rules)?;
        let cost = self.repaired_cost(cut, &grouped, above.as_deref(), None)?;
        self.learn_cost(cut, rules, figure, cost);
        Ok(cost)
    }

    /// What all solutions are compared by whose cells have labels of their own: half the detail lost, of which some was
    /// `gained` after the cut, half the share of relations lost.
    pub(super) fn local_cost(&self, solution: &Solution, gained: f64) -> Result<f64> {
        let grouped = self.relations(&solution.cut)?;
        let above = self.above(&grouped, &solution.rules)?;
        let relations = relations_lost(&grouped.groups, above.as_deref(), self.input_pairs);
        let (lost, all) = self.domain.detail(&solution.cut);
        Ok(0.5 * relations + if all > 0.0 { 0.5 * (lost - gained) / all } else { 0.0 })
    }

    /// Remembers the cost of a cut that is known with these rules.
    fn learn_cost(&self, cut: &[Node], rules: &[Rule], figure: Cost, cost: f64) {
        let has_rules = |judged: &Judged| rules.is_empty() || judged.rules.as_deref() == Some(rules);
        self.judged.with(cut, |judged| {
            if has_rules(judged) && judged.cost(figure, !rules.is_empty()).is_none() {
                judged.costs.push((figure, !rules.is_empty(), cost));
            }
        });
    }

    /// What rules leave above each position; none without rules.
    fn above(&self, grouped: &Grouped, rules: &[Rule]) -> Result<Option<Vec<Vec<u64>>>> {
        (!rules.is_empty()).then(|| grouped.rewrite(rules, &self.domain, self.observer)).transpose()
    }

    /// Exact RPD of a cut with rules.
    pub(super) fn exact_rpd(&self, cut: &[Node], rules: &[Rule]) -> Result<f64> {
        let grouped = self.relations(cut)?;
        let above = self.above(&grouped, rules)?;
        Ok(self.losses(&grouped.groups, above.as_deref(), Cost::Rpd)?.rpd())
    }

    /// Which of some relations of a repaired cut has the fewest records; if none of them has any (they are inferred ones),
    /// which other relation of their lower values.
    pub(super) fn weakest(&self, solution: &Solution, pairs: &[Pair]) -> Result<Option<Pair>> {
        let grouped = self.relations(&solution.cut)?;
        let above = grouped.rewrite(&solution.rules, &self.domain, self.observer)?;
        let least = |related: Related| {
            related.iter().map(|(&pair, set)| (set.len(), pair)).min().map(|(_, pair)| pair)
        };
        let found = least(self.related(&grouped, &above, |pair| pairs.contains(&pair))?);
        if found.is_some() {
            return Ok(found);
        }
        Ok(least(self.related(&grouped, &above, |pair| pairs.iter().any(|p| p.1 == pair.1))?))
    }

    /// The relations that rules have left, of pairs that `wanted` accepts.
    pub(super) fn related(
        &self,
        grouped: &Grouped,
        above: &[Vec<u64>],
        wanted: impl Fn(Pair) -> bool,
    ) -> Result<Related> {
        relate(&grouped.groups, Some(above), self.domain.records, wanted, self.observer)
    }

    /// All violations at a cut among the knowledge that `concerned` describes, in the order of repair.
    pub(super) fn violations(
        &self,
        values: &[Node],
        related: &Related,
        concerned: &Concerned<'_>,
    ) -> Result<Vec<Knowledge>> {
        violations(&self.domain, values, related, self.range, concerned, self.observer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten thousand attributes, and as many cuts of ten thousand nodes each: whatever `--memory` said, all were kept.
    #[test]
    fn cuts_are_remembered_within_their_share_of_memory() {
        let cuts = Cuts::new(1 << 20);
        let cut = |first: Node| (first..first + 1000).collect::<Vec<Node>>();
        (0..5000).for_each(|first| cuts.learn(&cut(first), Judged { dead: true, ..Judged::default() }));
        let bytes = cuts.known.lock().expect("nobody panics").1;
        assert!((1 << 19..=1 << 20).contains(&bytes), "{bytes}");
        assert!(cuts.get(&cut(0)).is_some_and(|judged| judged.dead) && cuts.get(&cut(4999)).is_none());
        // What is known is added to all the same.
        cuts.learn(&cut(0), Judged { sound: true, ..Judged::default() });
        assert!(cuts.get(&cut(0)).is_some_and(|judged| judged.dead && judged.sound));
        assert_eq!(cuts.known.lock().expect("nobody panics").1, bytes);
    }
}
