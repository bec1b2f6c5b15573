//! The knowledge of one person, piece by piece.

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::random::Random;

use super::count::{Kinds, List, Tally, choose};
use super::records::Records;

/// What is counted of a person: knowledge of `size` values (all, if there are fewer) with each of these numbers of
/// relations.
#[derive(Clone, Copy)]
pub(super) struct PersonScope<'a> {
    pub(super) records: &'a Records,
    pub(super) size: usize,
    pub(super) relations: &'a [usize],
    pub(super) observer: &'a dyn Observer,
}

/// One thread's means.
#[derive(Debug, Default)]
pub(super) struct Person {
    lists: Vec<List>,
    kinds: Kinds,
    tallies: Vec<Tally>,
}

impl Person {
    /// Per number of relations the tally of all knowledge, and of how many pieces.
    pub(super) fn all(&mut self, scope: PersonScope<'_>, person: usize) -> Result<(Vec<Tally>, u64)> {
        let items = scope.records.items(person);
        let size = scope.size.min(items.len());
        self.start(&scope, size);
        if size > 0 {
            for at in 0..=items.len() - size {
                let mut list = std::mem::take(&mut self.lists[1]);
                list.start(scope.records, items[at]);
                self.grow(&scope, person, size, at, &list)?;
                self.lists[1] = list;
            }
        }
        Ok((self.finish(&scope), choose(items.len(), size)))
    }

    /// The same from pieces drawn at random. The rarest values together are one more piece, which only the fewest
    /// records are taken from.
    pub(super) fn drawn(
        &mut self,
        scope: PersonScope<'_>,
        person: usize,
        draws: u64,
        random: &mut Random,
    ) -> Result<(Vec<Tally>, u64)> {
        let items = scope.records.items(person);
        let size = scope.size.min(items.len());
        self.start(&scope, size);
        let mut positions: Vec<usize> = (0..size).collect();
        self.piece(&scope, person, &positions)?;
        for tally in &mut self.tallies {
            *tally = Tally { fewest: tally.fewest, ..Tally::default() };
        }
        for _ in 0..draws {
            random.positions(items.len(), size, &mut positions);
            self.piece(&scope, person, &positions)?;
        }
        Ok((self.finish(&scope), if size == 0 { 1 } else { draws }))
    }

    fn start(&mut self, scope: &PersonScope<'_>, size: usize) {
        if self.lists.len() <= size {
            self.lists.resize(size + 1, List::default());
        }
        self.tallies.clear();
        self.tallies.resize(scope.relations.len(), Tally::default());
    }

    /// Whoever has no value is like everybody.
    fn finish(&mut self, scope: &PersonScope<'_>) -> Vec<Tally> {
        for tally in self.tallies.iter_mut().filter(|t| t.fewest == u32::MAX) {
            *tally = Tally::of(scope.records.counted() as u32);
        }
        std::mem::take(&mut self.tallies)
    }

    /// Counts one piece.
    fn piece(&mut self, scope: &PersonScope<'_>, person: usize, positions: &[usize]) -> Result<()> {
        let items = scope.records.items(person);
        let Some((&first, rest)) = positions.split_first() else {
            return Ok(());
        };
        let related = scope.relations.iter().any(|&n| n > 0);
        let (mut list, mut longer) = (std::mem::take(&mut self.lists[0]), List::default());
        list.start(scope.records, items[first]);
        for &at in rest {
            scope.observer.go_on()?;
            list.with(scope.records, items[at], related, &mut longer);
            std::mem::swap(&mut list, &mut longer);
        }
        self.account(scope, person, &list)?;
        self.lists[0] = list;
        Ok(())
    }

    /// Counts all knowledge that starts with that of a list, whose last value is at a position of the person's.
    fn grow(
        &mut self,
        scope: &PersonScope<'_>,
        person: usize,
        size: usize,
        last: usize,
        list: &List,
    ) -> Result<()> {
        let items = scope.records.items(person);
        if list.size == size {
            return self.account(scope, person, list);
        }
        let fitting = scope.records.fitting(&list.records);
        if fitting == scope.records.fewest() {
            let pieces = choose(items.len() - 1 - last, size - list.size);
            let pieces = Tally::at_most_one(fitting, pieces);
            self.tallies.iter_mut().for_each(|tally| tally.add(pieces));
            return Ok(());
        }
        let related = scope.relations.iter().any(|&n| n > 0);
        let missing = size - list.size;
        for at in last + 1..=items.len() - missing {
            scope.observer.go_on()?;
            let mut longer = std::mem::take(&mut self.lists[list.size + 1]);
            list.with(scope.records, items[at], related, &mut longer);
            self.grow(scope, person, size, at, &longer)?;
            self.lists[list.size + 1] = longer;
        }
        Ok(())
    }

    fn account(&mut self, scope: &PersonScope<'_>, person: usize, list: &List) -> Result<()> {
        let plain = Tally::of(scope.records.fitting(&list.records));
        let related = scope.relations.iter().any(|&n| n > 0) && list.len() > 1;
        let own = list.records.binary_search(&(person as u32)).unwrap_or(0);
        let kind = if related { self.kinds.of(scope.records, list, own, scope.observer)? } else { 0 };
        for (tally, &n) in self.tallies.iter_mut().zip(scope.relations) {
            let is_plain = n == 0 || !related || self.kinds.len() == 1;
            tally.add(if is_plain { plain } else { self.kinds.tally(kind, n, scope.observer)? });
        }
        Ok(())
    }
}

/// How much work it is at most to count all knowledge of a person: records looked at, more of it where places are told
/// apart.
pub(super) fn work(records: &Records, person: usize, size: usize) -> u128 {
    weighed(records, person, size, |item| records.with(item).len() as u128)
}

/// The same where everybody's is counted at once.
pub(super) fn work_at_once(records: &Records, person: usize, size: usize) -> u128 {
    if !records.at_one_place() {
        return u128::from(choose(records.items(person).len(), size));
    }
    weighed(records, person, size, |_| 1)
}

/// The sum over all pieces of a person's knowledge of what their first value and the places of all of them come to.
fn weighed(records: &Records, person: usize, size: usize, first: impl Fn(u32) -> u128) -> u128 {
    let items = records.items(person);
    let size = size.min(items.len());
    if size == 0 {
        return 1;
    }
    if !records.at_one_place() {
        let rest = |at: usize| u128::from(choose(items.len() - 1 - at, size - 1));
        return items.iter().enumerate().map(|(at, &item)| first(item) * rest(at)).sum();
    }
    let mut sum = 0u128;
    // Per number of values what all choices among those behind come to.
    let mut behind = vec![0u128; size];
    behind[0] = 1;
    for (at, &item) in items.iter().enumerate().rev() {
        let weight = records.weight(person, at);
        sum = sum.saturating_add(behind[size - 1].saturating_mul(weight).saturating_mul(first(item)));
        for taken in (1..size).rev() {
            behind[taken] = behind[taken].saturating_add(behind[taken - 1].saturating_mul(weight));
        }
    }
    sum
}

/// The same for one piece drawn at random, on average.
pub(super) fn work_of_draw(records: &Records, person: usize, size: usize) -> u128 {
    let items = records.items(person);
    let pieces = u128::from(choose(items.len(), size.min(items.len())).max(1));
    if pieces < u128::from(u64::MAX) {
        return work(records, person, size) / pieces + 1;
    }
    // The rarest of many is among the first.
    let places = (0..items.len()).map(|at| records.weight(person, at)).max().unwrap_or(1);
    let rarest = items.first().map_or(1, |&item| records.with(item).len() as u128);
    rarest.saturating_mul(places.saturating_pow(size as u32))
}
