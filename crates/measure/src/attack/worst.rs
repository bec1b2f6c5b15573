//! The people who are found most easily, and the knowledge that finds them.

use bosket_model::Result;
use bosket_model::binding::Binding;
use bosket_model::observe::Observer;

use super::count::{Kinds, List, subsets};
use super::person::work;
use super::records::{Records, pair_bit};
use super::{Known, Worst};

/// An attacker of one strength.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strength {
    pub(super) values: usize,
    pub(super) relations: usize,
}

/// Those with the fewest matches; of these, those with the rarest value. `fewest` are (person, fewest matches).
pub(super) fn rank(records: &Records, fewest: &[(u32, u32)], most: usize) -> Vec<(u32, u32)> {
    let rarest = |person: u32| {
        let first = records.items(person as usize).first();
        first.map_or(records.len(), |&item| records.with(item).len())
    };
    let mut ranked: Vec<(u32, usize, u32)> =
        fewest.iter().map(|&(person, matches)| (matches, rarest(person), person)).collect();
    ranked.sort_unstable();
    ranked.into_iter().take(most).map(|(matches, _, person)| (person, matches)).collect()
}

/// The smallest knowledge that so few records fit: by relations, then values, then the policy's order. Where a person has
/// too much of it to be gone through within a budget, what is rarest about them.
pub(super) fn smallest(
    records: &Records,
    binding: &Binding,
    (person, matches): (u32, u32),
    strength: Strength,
    budget: u64,
    observer: &dyn Observer,
) -> Result<Worst> {
    let kinds = Kinds::default();
    let mut search = Search { records, person, matches, strength, best: None, kinds, observer };
    let items = records.items(person as usize);
    // Few values are gone through first: most of the time they are enough.
    for values in 1..=strength.values {
        let enough = search.best.as_ref().is_some_and(|best| best.size.0 == 0);
        if enough || work(records, person as usize, values) > u128::from(budget) {
            break;
        }
        search.strength.values = values;
        for at in 0..items.len() {
            let mut list = List::default();
            list.start(records, items[at]);
            search.grow(&list, &mut vec![at])?;
        }
    }
    if search.best.is_none() {
        search.strength = strength;
        search.rarest()?;
    }
    let found = search.best.unwrap_or_default();
    Ok(told(records, binding, person, &found))
}

/// Knowledge: positions of values, relations over them in that order, and how many records fit.
#[derive(Clone, Debug, Default)]
struct KnownPiece {
    positions: Vec<usize>,
    relations: u64,
    matches: u32,
    /// Relations, values, the values in the policy's order.
    size: (u32, usize, Vec<u32>),
}

struct Search<'a> {
    records: &'a Records,
    person: u32,
    matches: u32,
    strength: Strength,
    best: Option<KnownPiece>,
    kinds: Kinds,
    observer: &'a dyn Observer,
}

impl Search<'_> {
    fn offer(&mut self, positions: &[usize], relations: u64, matches: u32) {
        let items = self.records.items(self.person as usize);
        let mut order: Vec<u32> =
            positions.iter().map(|&p| self.records.values[items[p] as usize].order).collect();
        order.sort_unstable();
        let size = (relations.count_ones(), positions.len(), order);
        if self.best.as_ref().is_none_or(|best| size < best.size) {
            self.best = Some(KnownPiece { positions: positions.to_vec(), relations, matches, size });
        }
    }

    fn grow(&mut self, list: &List, positions: &mut Vec<usize>) -> Result<()> {
        self.observer.go_on()?;
        let beaten = |best: &KnownPiece| best.size.0 == 0 && best.size.1 < list.size;
        if self.best.as_ref().is_some_and(beaten) {
            return Ok(());
        }
        if list.len() as u32 <= self.matches {
            self.offer(positions, 0, list.len() as u32);
            return Ok(());
        }
        if self.strength.relations > 0 && list.size > 1 {
            self.relate(list, positions)?;
        }
        if list.size == self.strength.values {
            return Ok(());
        }
        let items = self.records.items(self.person as usize);
        let mut longer = List::default();
        for at in positions.last().map_or(0, |p| p + 1)..items.len() {
            list.with(self.records, items[at], self.strength.relations > 0, &mut longer);
            positions.push(at);
            self.grow(&longer, positions)?;
            positions.pop();
        }
        Ok(())
    }

    /// Looks for relations that leave so few records.
    fn relate(&mut self, list: &List, positions: &[usize]) -> Result<()> {
        let own = list.records.binary_search(&self.person).unwrap_or(0);
        let kind = self.kinds.of(self.records, list, own, self.observer)?;
        let mut known = Vec::new();
        for r in 1..=self.strength.relations {
            if self.best.as_ref().is_some_and(|best| best.size.0 < r as u32) {
                return Ok(());
            }
            self.kinds.knowable(kind, r, &mut known);
            let found = known.iter().map(|&set| (self.kinds.support(set), set));
            if let Some((matches, relations)) = found.into_iter().find(|f| f.0 <= self.matches) {
                self.offer(positions, relations, matches);
                return Ok(());
            }
        }
        Ok(())
    }

    /// The rarest values of a person, with the relations that leave the fewest records.
    fn rarest(&mut self) -> Result<()> {
        let items = self.records.items(self.person as usize);
        let positions: Vec<usize> = (0..self.strength.values.min(items.len())).collect();
        let Some((&first, rest)) = positions.split_first() else {
            return Ok(());
        };
        let related = self.strength.relations > 0;
        let (mut list, mut longer) = (List::default(), List::default());
        list.start(self.records, items[first]);
        for &at in rest {
            list.with(self.records, items[at], related, &mut longer);
            std::mem::swap(&mut list, &mut longer);
        }
        let mut known = vec![0];
        if related {
            let own = list.records.binary_search(&self.person).unwrap_or(0);
            let kind = self.kinds.of(self.records, &list, own, self.observer)?;
            self.kinds.knowable(kind, self.strength.relations, &mut known);
        } else {
            self.kinds.clear();
        }
        let support = |set: &u64| if related { self.kinds.support(*set) } else { list.records.len() as u32 };
        let best = known.iter().map(|set| (support(set), *set)).min();
        if let Some((matches, relations)) = best {
            self.offer(&positions, relations, matches);
        }
        Ok(())
    }
}

/// Knowledge with paths and labels, in the policy's order.
fn told(records: &Records, binding: &Binding, person: u32, found: &KnownPiece) -> Worst {
    let items = records.items(person as usize);
    let value = |i: usize| &records.values[items[found.positions[i]] as usize];
    let mut order: Vec<usize> = (0..found.positions.len()).collect();
    order.sort_by_key(|&i| value(i).order);
    let known = order.iter().map(|&i| {
        let times = match value(i).count {
            None => String::new(),
            Some(1) => "once ".to_owned(),
            Some(n) => format!("{n} times "),
        };
        let path = binding.declared[value(i).declared].path.clone();
        Known { path, value: format!("{times}{}", value(i).label) }
    });
    // The embedding fixes which of two related values is above: its class lies above, or it comes first in the policy.
    let rank = |i: usize| {
        let declared = value(i).declared;
        (binding.homes[binding.declared[declared].home].depth, declared)
    };
    let mut relations = Vec::new();
    for j in 1..order.len() {
        for i in (0..j).filter(|&i| found.relations >> pair_bit(i, j) & 1 == 1) {
            let at = |i: usize| order.iter().position(|&o| o == i).unwrap_or(0);
            relations.push(if rank(i) < rank(j) { (at(i), at(j)) } else { (at(j), at(i)) });
        }
    }
    relations.sort_unstable();
    let matches = if found.positions.is_empty() { records.len() } else { found.matches as usize };
    Worst { record: person as usize, matches, known: known.collect(), relations }
}

/// All sets of up to so many relations out of one, the empty one included.
pub(super) fn up_to(set: u64, n: usize, out: &mut Vec<u64>) {
    for r in 0..=n.min(set.count_ones() as usize) {
        subsets(set, r, 0, out);
    }
}
