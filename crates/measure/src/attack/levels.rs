//! Whose knowledge is counted, and how much of it: all if that fits the budget, else a sample.

use rayon::prelude::*;

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::random::Random;

use super::Options;
use super::count::{ONE, Tally, choose};
use super::figures::{Figure, Look, Point};
use super::person::{Person, PersonScope, work, work_at_once, work_of_draw};
use super::records::Records;
use super::sweep::{Scope, sweep};

/// Fewer people than this are a poor sample; rather their knowledge is sampled too.
const ENOUGH_PEOPLE: u128 = 1000;

/// Looking at a record takes as long as so many steps of counting values only: for a piece of one person's knowledge, or
/// for relations.
const LOOK: u128 = 4;

/// So few people are a sample at all. Where one piece of knowledge takes more than a person's share, more do not fit.
pub(super) const FEW_PEOPLE: u128 = 30;

/// Pieces of knowledge that are drawn per person, unless even these take too long.
const DRAWS: u64 = 100;

/// The figures of people whose knowledge of one number of values was counted.
pub(super) struct Level {
    pub(super) m: u32,
    /// Who was looked at, ascending.
    pub(super) people: Vec<u32>,
    pub(super) exact: bool,
    /// Per number of relations, per person.
    pub(super) figures: Vec<Vec<Figure>>,
}

/// What is asked, and of whom.
pub(super) struct Plan<'a> {
    pub(super) records: &'a Records,
    pub(super) options: &'a Options,
    /// Numbers of relations, ascending.
    pub(super) relations: &'a [usize],
    pub(super) observer: &'a dyn Observer,
}

impl Plan<'_> {
    /// Looks at all numbers of values that are asked for, ascending.
    pub(super) fn levels(&self) -> Result<Vec<Level>> {
        let mut sizes = self.options.m.clone();
        sizes.sort_unstable();
        sizes.dedup();
        let largest = sizes.last().map_or(0, |&m| m as usize).min(self.records.longest());
        let done = if self.options.sample.is_some() { 0 } else { self.affordable(largest)? };
        let scope = Scope { records: self.records, levels: done.max(1), relations: self.relations };
        let tallies = if done > 0 { sweep(scope, self.observer)? } else { Vec::new() };
        let mut levels = Vec::new();
        for &m in &sizes {
            self.observer.go_on()?;
            levels.push(if (m as usize).min(largest) <= done {
                self.swept(m, scope, &tallies)
            } else {
                self.one_by_one(m)?
            });
        }
        Ok(levels)
    }

    /// Up to how many values all knowledge of all people fits the budget.
    fn affordable(&self, largest: usize) -> Result<usize> {
        // Where relations are known, records that have the same values are told apart by them. Of a population, only those
        // that have values of a person are.
        let related = self.relations.iter().any(|&n| n > 0) && !self.records.has_population();
        let mut left = u128::from(self.options.budget) / if related { LOOK } else { 1 };
        for size in 1..=largest {
            let mut work = 0u128;
            for person in 0..self.records.len() {
                self.observer.go_on()?;
                if self.records.items(person).len() >= size {
                    work = work.saturating_add(work_at_once(self.records, person, size));
                }
            }
            if work > left {
                return Ok(size - 1);
            }
            left -= work;
        }
        Ok(largest)
    }

    fn swept(&self, m: u32, scope: Scope<'_>, tallies: &[Tally]) -> Level {
        let everybody = self.records.people();
        let figure = |person: usize, n: usize| {
            let values = self.records.items(person).len();
            let size = values.min(m as usize);
            if size == 0 {
                return Figure::one(self.records.counted() as u32);
            }
            let tally = tallies[person * scope.cells() + scope.cell(size, n)];
            figure(tally, choose(values, size))
        };
        let of = |n: usize| (0..everybody).map(|person| figure(person, n)).collect();
        Level {
            m,
            people: (0..everybody as u32).collect(),
            exact: true,
            figures: (0..self.relations.len()).map(of).collect(),
        }
    }

    /// Looks at people one by one. Few people have most of the knowledge: of those who would take more than their share
    /// of the budget pieces are drawn.
    fn one_by_one(&self, m: u32) -> Result<Level> {
        let (records, size) = (self.records, m as usize);
        let everybody = records.people() as u128;
        let budget = u128::from(self.options.budget) / LOOK;
        let wanted = self.options.sample.map(|s| s as u128);
        let share = (budget / wanted.unwrap_or(ENOUGH_PEOPLE).min(everybody).max(1)).max(1);
        // Where places are told apart, a single piece can be a lot of work; so it can be where a population is large.
        let heavy = records.at_one_place() || records.has_population();
        let (fewest_draws, fewest_people) = if heavy { (1, FEW_PEOPLE) } else { (DRAWS, ENOUGH_PEOPLE) };
        let draws = |person: usize| {
            let fit = share / work_of_draw(records, person, size).max(1);
            fit.clamp(u128::from(fewest_draws), u128::from(DRAWS)) as u64
        };
        let needed = |person: usize| {
            let all = work(records, person, size);
            if all <= share {
                return all;
            }
            work_of_draw(records, person, size).saturating_mul(u128::from(draws(person)))
        };
        let mut sum = 0u128;
        for person in 0..records.people() {
            self.observer.go_on()?;
            sum = sum.saturating_add(needed(person));
        }
        let mean = (sum / everybody.max(1)).max(1);
        let people = wanted.unwrap_or((budget / mean).max(fewest_people));
        let people = people.clamp(1, everybody.max(1)) as usize;
        let people = Random::stream(self.options.seed, 0).sample(records.people(), people);
        self.observer.stage(&format!("knowledge of {m} values"), people.len() as u64);
        let scope = PersonScope { records, size, relations: self.relations, observer: self.observer };
        let found: Result<Vec<(Vec<Tally>, u64)>> = (people.par_iter())
            .map_init(Person::default, |means, &person| {
                self.observer.go_on()?;
                let found = if work(records, person as usize, size) <= share {
                    means.all(scope, person as usize)?
                } else {
                    let mut random = Random::stream(self.options.seed, 1 + u64::from(person));
                    means.drawn(scope, person as usize, draws(person as usize), &mut random)?
                };
                self.observer.advance(1);
                Ok(found)
            })
            .collect();
        let found = found?;
        let exact = people.iter().all(|&person| work(records, person as usize, size) <= share);
        let of = |n: usize| found.iter().map(|(tallies, pieces)| figure(tallies[n], *pieces)).collect();
        Ok(Level { m, people, exact, figures: (0..self.relations.len()).map(of).collect() })
    }

    /// The points of all levels, for each number of relations in turn.
    pub(super) fn points(&self, levels: &[Level], k: u32) -> Vec<Point> {
        self.looks(levels).map(|(look, figures)| Point::new(look, figures, k)).collect()
    }

    /// How people were looked at and what came out, for each number of relations in turn.
    pub(super) fn looks<'a>(&'a self, levels: &'a [Level]) -> impl Iterator<Item = (Look, &'a [Figure])> {
        let look = |level: &Level, n: usize| Look {
            m: Some(level.m),
            n: Some(n as u32),
            exhaustive: level.people.len() == self.records.people(),
            exact: level.exact,
        };
        let of = move |(at, &n): (usize, &usize)| {
            levels.iter().map(move |level| (look(level, n), &level.figures[at][..]))
        };
        self.relations.iter().enumerate().flat_map(of)
    }
}

fn figure(tally: Tally, pieces: u64) -> Figure {
    let pieces = pieces.max(1) as f64 * ONE as f64;
    Figure {
        fewest: tally.fewest,
        random_unique: tally.unique as f64 / pieces,
        random_inverse: tally.inverse as f64 / pieces,
    }
}
