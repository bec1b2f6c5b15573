//! Records that fit nowhere, once more: a few groups are taken apart, and all their people grouped anew.
//!
//! Where people have several values, putting one after the other where it fits leaves some out that could stay. Of a few people
//! all groups can be tried. How much is tried is bounded by steps, so that the result depends on nothing but the data.

use std::collections::VecDeque;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::attempt::Tried;
use super::place::Open;
use super::rows::Rows;

/// People that are grouped anew, where the groups are small.
const PEOPLE: usize = 12;

/// Steps for some groups, and for all.
const STEPS: usize = 4_000;
const ALL_STEPS: usize = 40_000;

/// Groups of at least `size` records in which fewer are left over, if there are any near by.
pub(super) fn repair(
    rows: &Rows,
    size: usize,
    tried: Tried,
    ties: &[u64],
    keeps: &dyn Fn(&[u32]) -> bool,
    observer: &dyn Observer,
) -> Result<Tried> {
    let most = PEOPLE.max(2 * size + 2);
    let (mut groups, mut left) = (VecDeque::from(tried.groups), VecDeque::from(tried.left));
    let mut budget = ALL_STEPS;
    // How many groups have been tried since anything was won.
    let mut idle = 0;
    while !left.is_empty() && budget > 0 && idle < groups.len().max(1) {
        observer.go_on()?;
        let out: Vec<u32> = left.drain(..left.len().min(most / 2)).collect();
        let mut people = out.clone();
        let mut apart: Vec<Vec<u32>> = Vec::new();
        // From the end, where the rare values are.
        while groups.back().is_some_and(|g| people.len() + g.len() <= most) {
            let group = groups.pop_back().unwrap_or_default();
            people.extend(&group);
            apart.push(group);
        }
        if apart.is_empty() {
            // A group that is too large waits for better times.
            groups.rotate_right(usize::from(!groups.is_empty()));
        }
        let mut order: Vec<(usize, u64, u32)> =
            people.iter().map(|&r| (usize::MAX - conflicts(rows, r, &people), ties[r as usize], r)).collect();
        order.sort_unstable();
        let people: Vec<u32> = order.into_iter().map(|(.., record)| record).collect();
        let mut search = Search {
            rows,
            size,
            keeps,
            people: &people,
            fewest: out.len(),
            found: None,
            steps: STEPS,
            observer,
        };
        search.go(0, &mut Vec::new(), &mut Vec::new())?;
        budget = budget.saturating_sub(STEPS - search.steps + people.len());
        idle = if search.found.is_some() { 0 } else { idle + apart.len().max(1) };
        let (grouped, out) = search.found.unwrap_or((apart, out));
        // What was tried goes to the other end, so that all have their turn.
        grouped.into_iter().for_each(|group| groups.push_front(group));
        left.extend(out);
    }
    Ok(Tried { groups: groups.into(), left: left.into() })
}

/// How many others a record may not meet.
fn conflicts(rows: &Rows, record: u32, people: &[u32]) -> usize {
    let shares = |other: &u32| rows.of(*other).iter().any(|id| rows.of(record).binary_search(id).is_ok());
    people.iter().filter(|other| **other != record && shares(other)).count()
}

/// All groups of a few people, one person after the other, those first who can meet the fewest.
struct Search<'a> {
    rows: &'a Rows,
    size: usize,
    keeps: &'a dyn Fn(&[u32]) -> bool,
    people: &'a [u32],
    /// Fewer have to be left over.
    fewest: usize,
    found: Option<(Vec<Vec<u32>>, Vec<u32>)>,
    steps: usize,
    observer: &'a dyn Observer,
}

impl Search<'_> {
    /// The fewest people that a group must have.
    fn fewest_in(&self, group: &Open) -> usize {
        group.records.iter().map(|&r| self.rows.times(r)).max().unwrap_or(1) * self.size
    }

    fn go(&mut self, at: usize, open: &mut Vec<Open>, out: &mut Vec<u32>) -> Result<()> {
        self.observer.go_on()?;
        let to_come = self.people.len() - at;
        let needed: usize = open.iter().map(|g| self.fewest_in(g).saturating_sub(g.records.len())).sum();
        if self.steps == 0 || out.len() >= self.fewest || needed > to_come {
            return Ok(());
        }
        self.steps -= 1;
        let Some(&person) = self.people.get(at) else {
            if open.iter().all(|g| (self.keeps)(&g.records)) {
                self.fewest = out.len();
                self.found = Some((open.iter().map(|g| g.records.clone()).collect(), out.clone()));
            }
            return Ok(());
        };
        // Many small groups say more than a few large ones.
        if needed + self.rows.times(person) * self.size <= to_come {
            open.push(Open::new(self.rows, vec![person]));
            self.go(at + 1, open, out)?;
            open.pop();
        }
        for group in 0..open.len() {
            // More people would be two groups.
            let full = open[group].records.len() + 1 >= 2 * self.fewest_in(&open[group]);
            if !full && open[group].fits(self.rows, person) {
                let before = open[group].clone();
                open[group].add(self.rows, person);
                self.go(at + 1, open, out)?;
                open[group] = before;
            }
        }
        out.push(person);
        self.go(at + 1, open, out)?;
        out.pop();
        Ok(())
    }
}
