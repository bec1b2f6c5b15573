//! People who keep everybody else's values from being published.
//!
//! A handful of dirty records (a date of 1970, a misspelt word) can force a whole attribute up to its root. With
//! `method.suppress` they are found by counting: from a cut that was found without leaving anything out, steps are taken as
//! long as the detail that all others gain is more than what those lose who would be found at them. Those are emptied: every
//! place of their own object is published as `*`, and nothing below it is. Either nobody is emptied or at least k people, so
//! that `*` fits as many. Then the search starts again without them, and the cheaper of both results is kept.
//!
//! Relations are not looked at here: whatever the second search finds is sound by itself.

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::value_tree::ValueTrees;
use rustc_hash::FxHashMap;

use super::domain::{Domain, Node, Step};
use super::violations::Range;

/// At most one person in so many is emptied.
const FEW: usize = 10;

/// Words of bits that may be looked at for one step.
const WORK: usize = 1 << 28;

/// Records as bits.
type Bits = Vec<u64>;

/// The people to be emptied, per record; none if it is not worth it.
pub(super) fn outliers(
    trees: &ValueTrees,
    domain: &Domain<'_>,
    cut: &[Node],
    range: Range,
    observer: &dyn Observer,
) -> Result<Option<Vec<bool>>> {
    let mut walk = Walk {
        domain,
        range,
        cut: cut.to_vec(),
        emptied: vec![0; domain.records.div_ceil(64)],
        known: FxHashMap::default(),
        observer,
    };
    while walk.step()? {}
    if count(&walk.emptied) == 0 {
        return Ok(None);
    }
    if !trees.empty_tops().is_empty() && !walk.fill_up() {
        return Ok(None);
    }
    let emptied = &walk.emptied;
    Ok(Some((0..domain.records).map(|record| emptied[record / 64] >> (record % 64) & 1 == 1).collect()))
}

fn count(bits: &[u64]) -> usize {
    bits.iter().map(|word| word.count_ones() as usize).sum()
}

struct Walk<'a> {
    domain: &'a Domain<'a>,
    range: Range,
    cut: Vec<Node>,
    emptied: Bits,
    known: FxHashMap<Node, Bits>,
    observer: &'a dyn Observer,
}

impl Walk<'_> {
    /// Takes the step that is worth most; whether there was one.
    fn step(&mut self) -> Result<bool> {
        let before = self.domain.detail_lost(&self.cut);
        let mut worth: Vec<(f64, Step, Vec<Node>)> = Vec::new();
        for step in self.domain.steps(&self.cut) {
            self.observer.go_on()?;
            let (cut, new) = self.after(step);
            let mut found = self.emptied.clone();
            if !self.find(&new, &cut, &mut found)? {
                continue;
            }
            let gain = self.gain(before, &cut, &found);
            if gain > 0.0 {
                worth.push((gain, step, cut));
            }
        }
        // Of equally good ones the first.
        worth.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, _, cut) in worth {
            let mut found = self.emptied.clone();
            // Whoever is emptied is missing from what others fit.
            loop {
                let known = count(&found);
                if !self.find(&cut, &cut, &mut found)? {
                    break;
                }
                if count(&found) == known && self.gain(before, &cut, &found) > 0.0 {
                    (self.cut, self.emptied) = (cut, found);
                    return Ok(true);
                } else if count(&found) == known {
                    break;
                }
            }
        }
        Ok(false)
    }

    /// The detail that is gained by a cut, less what is lost with those who are emptied for it.
    fn gain(&self, before: f64, cut: &[Node], found: &[u64]) -> f64 {
        let lost = self.domain.detail_lost(cut);
        let more = (count(found) - count(&self.emptied)) as f64 / self.domain.records as f64;
        before - lost - more * (1.0 - lost)
    }

    /// The cut after a step, and the nodes that come in with it.
    fn after(&self, step: Step) -> (Vec<Node>, Vec<Node>) {
        let changes = self.domain.changes(step);
        let new: Vec<Node> = changes.iter().flat_map(|change| change.new.iter().copied()).collect();
        let stays = |node: &&Node| changes.iter().all(|change| change.old != Some(**node));
        let mut cut: Vec<Node> = self.cut.iter().filter(stays).chain(&new).copied().collect();
        cut.sort_unstable();
        (cut, new)
    }

    /// Adds those who are found by up to m values of a cut, one of them `new`; false if that is too many people or too
    /// much work.
    fn find(&mut self, new: &[Node], cut: &[Node], found: &mut Bits) -> Result<bool> {
        let sets = (1..self.range.m).fold(new.len(), |sets, _| sets.saturating_mul(cut.len()));
        if sets.saturating_mul(found.len()) > WORK {
            return Ok(false);
        }
        for &node in cut {
            if !self.known.contains_key(&node) {
                let mut bits = vec![0; found.len()];
                self.domain.set(node).each(|record| bits[record as usize / 64] |= 1 << (record % 64));
                self.known.insert(node, bits);
            }
        }
        let emptied = found.clone();
        for &node in new {
            let own: Bits = self.known[&node].iter().zip(&emptied).map(|(a, gone)| a & !gone).collect();
            let others: Vec<&Bits> =
                cut.iter().filter(|&&other| other != node).map(|other| &self.known[other]).collect();
            if !self.extend(&own, &others, self.range.m, found)? {
                return Ok(false);
            }
        }
        Ok(count(found) <= self.domain.records / FEW)
    }

    fn extend(&self, own: &[u64], others: &[&Bits], left: usize, found: &mut Bits) -> Result<bool> {
        self.observer.go_on()?;
        let people = count(own);
        if people == 0 {
            return Ok(true);
        }
        if people < self.range.k as usize {
            found.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
            return Ok(count(found) <= self.domain.records / FEW);
        }
        for at in 0..if left > 1 { others.len() } else { 0 } {
            let both: Bits = own.iter().zip(others[at]).map(|(a, b)| a & b).collect();
            if !self.extend(&both, &others[at + 1..], left - 1, found)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the people of the rarest value until there are k; false if there is no such value.
    fn fill_up(&mut self) -> bool {
        while count(&self.emptied) < self.range.k as usize {
            let mut rarest: Option<(usize, Node)> = None;
            for &node in &self.cut {
                let own = self.known.get(&node).map_or(0, |bits| {
                    bits.iter().zip(&self.emptied).map(|(a, gone)| (a & !gone).count_ones() as usize).sum()
                });
                if own > 0 && rarest.is_none_or(|best| (own, node) < best) {
                    rarest = Some((own, node));
                }
            }
            let Some((_, node)) = rarest else {
                return false;
            };
            let bits = &self.known[&node];
            self.emptied.iter_mut().zip(bits).for_each(|(all, own)| *all |= own);
        }
        count(&self.emptied) <= self.domain.records / FEW
    }
}
