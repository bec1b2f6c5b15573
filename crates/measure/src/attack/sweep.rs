//! All knowledge of all people at once.
//!
//! Knowledge is grown value by value, the rarest first. All records that have the values so far are dealt out by their
//! further values, so that each piece of knowledge is counted once for all records that have it, and nothing is looked
//! up. A record that is alone has nothing left to count: all that can still be added to the knowledge is unique. Where a
//! population is counted, its records are dealt out along with the people's, as far as a person has what they have; what
//! fits nobody in the population fits nobody with more values either.

use std::sync::Mutex;

use rayon::prelude::*;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::count::{Kinds, List, STRIDE, Tally, choose};
use super::records::Records;

/// What is counted: knowledge of 1 to `levels` values with each of these numbers of relations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    pub(super) records: &'a Records,
    pub(super) levels: usize,
    pub(super) relations: &'a [usize],
}

impl Scope<'_> {
    /// Whether any relation may be known.
    pub(super) fn related(&self) -> bool {
        self.relations.iter().any(|&n| n > 0)
    }

    /// Where the tally of knowledge of so many values with relations `n` is.
    pub(super) fn cell(&self, size: usize, n: usize) -> usize {
        (size - 1) * self.relations.len() + n
    }

    /// How many tallies a person has.
    pub(super) fn cells(&self) -> usize {
        self.levels * self.relations.len()
    }
}

/// The tallies of all people, person by person, in the order of [`Scope::cell`].
pub(super) fn sweep(scope: Scope<'_>, observer: &dyn Observer) -> Result<Vec<Tally>> {
    let records = scope.records;
    let all = Mutex::new(vec![Tally::default(); records.people() * scope.cells()]);
    let whose = if records.has_population() {
        "knowledge of all people, in the population"
    } else {
        "knowledge of all people"
    };
    observer.stage(whose, records.values.len() as u64);
    (0..records.values.len() as u32).into_par_iter().try_for_each_init(
        || Sweeper::new(scope, observer),
        |sweeper, item| {
            observer.go_on()?;
            sweeper.from(item)?;
            let mut all = all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            for (&record, own) in records.with(item).iter().zip(sweeper.tallies.chunks(scope.cells())) {
                let cells = &mut all[record as usize * scope.cells()..][..scope.cells()];
                cells.iter_mut().zip(own).for_each(|(cell, own)| cell.add(*own));
            }
            observer.advance(1);
            Ok(())
        },
    )?;
    Ok(all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// One thread's means.
struct Sweeper<'a> {
    scope: Scope<'a>,
    related: bool,
    /// Per person with the first value their tallies.
    tallies: Vec<Tally>,
    /// Where the person of an entry stands among those with the first value, per level.
    owners: Vec<Vec<u32>>,
    lists: Vec<List>,
    hands: Vec<Hand>,
    kinds: Kinds,
    kind_of: Vec<u32>,
    outcomes: Vec<Tally>,
    observer: &'a dyn Observer,
}

/// Entries dealt out by their next value.
#[derive(Clone, Default)]
struct Hand {
    /// Per value how many have it, then one more than where its next one goes; 0 for all others.
    next: Vec<u32>,
    values: Vec<u32>,
    dealt: Vec<(u32, u32)>,
}

impl<'a> Sweeper<'a> {
    fn new(scope: Scope<'a>, observer: &'a dyn Observer) -> Self {
        let hand = Hand { next: vec![0; scope.records.values.len()], ..Hand::default() };
        Sweeper {
            scope,
            related: scope.related(),
            tallies: Vec::new(),
            owners: vec![Vec::new(); scope.levels + 1],
            lists: vec![List::default(); scope.levels + 1],
            hands: vec![hand; scope.levels],
            kinds: Kinds::default(),
            kind_of: Vec::new(),
            outcomes: Vec::new(),
            observer,
        }
    }

    /// Counts all knowledge whose rarest value is this one.
    fn from(&mut self, item: u32) -> Result<()> {
        let records = self.scope.records;
        let mut list = std::mem::take(&mut self.lists[1]);
        list.start(records, item);
        let people = records.people_among(&list.records);
        self.tallies.clear();
        self.tallies.resize(people * self.scope.cells(), Tally::default());
        self.owners[1] = (0..people as u32).collect();
        let fitting = records.fitting(&list.records);
        if fitting == records.fewest() {
            for owner in 0..people {
                let left = records.items(list.records[owner] as usize).len() - 1 - list.last(owner);
                self.settle(owner, left, 1, fitting);
            }
        } else {
            let outcome = Tally::of(fitting);
            for owner in 0..people {
                for n in 0..self.scope.relations.len() {
                    self.tallies[owner * self.scope.cells() + n].add(outcome);
                }
            }
            self.extend(&list)?;
        }
        self.lists[1] = list;
        Ok(())
    }

    /// Nobody else has what is known of a person, nor any of it with more of the `left` values behind.
    fn settle(&mut self, owner: usize, left: usize, size: usize, fitting: u32) {
        for level in size..=self.scope.levels {
            let pieces = Tally::at_most_one(fitting, choose(left, level - size));
            for n in 0..self.scope.relations.len() {
                self.tallies[owner * self.scope.cells() + self.scope.cell(level, n)].add(pieces);
            }
        }
    }

    /// Counts all knowledge that starts with that of a list.
    fn extend(&mut self, list: &List) -> Result<()> {
        let size = list.size;
        if size == self.scope.levels {
            return Ok(());
        }
        let records = self.scope.records;
        let mut hand = std::mem::take(&mut self.hands[size]);
        // People come first, and are those who have an owner.
        let people = self.owners[size].len();
        hand.deal(records, list, people);
        let mut from = 0;
        for at in 0..hand.values.len() {
            self.observer.go_on()?;
            let item = hand.values[at] as usize;
            let to = hand.next[item] as usize - 1;
            hand.next[item] = 0;
            let entries = &hand.dealt[from..to];
            from = to;
            let own = entries.partition_point(|e| (e.0 as usize) < people);
            let fitting = if records.has_population() { entries.len() - own } else { entries.len() } as u32;
            if fitting == records.fewest() {
                for &(entry, position) in &entries[..own] {
                    let record = list.records[entry as usize] as usize;
                    let owner = self.owners[size][entry as usize] as usize;
                    let left = records.items(record).len() - 1 - position as usize;
                    self.settle(owner, left, size + 1, fitting);
                }
                continue;
            }
            let mut longer = std::mem::take(&mut self.lists[size + 1]);
            let mut owners = std::mem::take(&mut self.owners[size + 1]);
            longer.clear(size + 1);
            owners.clear();
            for &(entry, position) in entries {
                let entry = entry as usize;
                let record = list.records[entry];
                if self.related {
                    let mask = list.mask_with(records, entry, position as usize);
                    longer.push(record, list.at(entry), position, mask);
                } else {
                    longer.push(record, &[], position, 0);
                }
                owners.extend(self.owners[size].get(entry));
            }
            self.account(&longer, &owners, fitting)?;
            self.owners[size + 1] = owners;
            self.extend(&longer)?;
            self.lists[size + 1] = longer;
        }
        self.hands[size] = hand;
        Ok(())
    }

    /// Adds the outcome of one set of values to the tallies of all who have them.
    fn account(&mut self, list: &List, owners: &[u32], fitting: u32) -> Result<()> {
        let Scope { records, relations, .. } = self.scope;
        let cells = self.scope.cells();
        let first = self.scope.cell(list.size, 0);
        self.kinds.clear();
        self.kind_of.clear();
        let mut own_kinds = 0;
        if self.related {
            for entry in 0..list.len() {
                if entry.is_multiple_of(STRIDE) {
                    self.observer.go_on()?;
                }
                let record = list.records[entry] as usize;
                let kind = self.kinds.add(records, record, list.at(entry), list.masks[entry]);
                if entry < owners.len() {
                    self.kind_of.push(kind as u32);
                    own_kinds = self.kinds.len();
                }
            }
        }
        let plain = Tally::of(fitting);
        if self.kinds.len() <= 1 {
            for &owner in owners {
                let own = &mut self.tallies[owner as usize * cells + first..][..relations.len()];
                own.iter_mut().for_each(|tally| tally.add(plain));
            }
            return Ok(());
        }
        self.outcomes.clear();
        for kind in 0..own_kinds {
            for &n in relations {
                let outcome = if n == 0 { plain } else { self.kinds.tally(kind, n, self.observer)? };
                self.outcomes.push(outcome);
            }
        }
        for (&owner, &kind) in owners.iter().zip(&self.kind_of) {
            let own = &mut self.tallies[owner as usize * cells + first..][..relations.len()];
            let outcomes = &self.outcomes[kind as usize * relations.len()..];
            own.iter_mut().zip(outcomes).for_each(|(tally, outcome)| tally.add(*outcome));
        }
        Ok(())
    }
}

impl Hand {
    /// Deals the entries of a list out by all their values behind the last known one. Only values that one of the first
    /// `people` entries has are of interest.
    fn deal(&mut self, records: &Records, list: &List, people: usize) {
        self.values.clear();
        for entry in 0..list.len() {
            let own = records.items(list.records[entry] as usize);
            for &item in &own[list.last(entry) + 1..] {
                let count = &mut self.next[item as usize];
                if *count > 0 {
                    *count += 1;
                } else if entry < people {
                    self.values.push(item);
                    *count = 1;
                }
            }
        }
        // One more than where the next one goes, so that 0 stays what it is.
        let mut end = 1;
        for &item in &self.values {
            let count = std::mem::replace(&mut self.next[item as usize], end);
            end += count;
        }
        self.dealt.clear();
        self.dealt.resize(end as usize - 1, (0, 0));
        for entry in 0..list.len() {
            let own = records.items(list.records[entry] as usize);
            for position in list.last(entry) + 1..own.len() {
                let next = &mut self.next[own[position] as usize];
                if *next > 0 {
                    self.dealt[*next as usize - 1] = (entry as u32, position as u32);
                    *next += 1;
                }
            }
        }
    }
}
