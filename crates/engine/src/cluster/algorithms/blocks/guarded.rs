//! What diversity and closeness ask of the rows of a group, and rows that no group has room for.

use rustc_hash::FxHashMap;

use bosket_model::Result;

use super::split::BLOCK;
use super::table::{Group, Table, whole};
use crate::cluster::close::Whole;
use crate::cluster::diverse::is_too_clear;
use crate::cluster::forest::Forest;
use crate::cluster::params::Diverse;
use crate::cluster::secrets::UNKNOWN;

/// Groups that a loose row is tried in.
const NEAR: usize = 64;

/// Rows of which nothing too clear may be said.
pub(super) struct Guarded<'a> {
    forest: &'a Forest,
    guard: Guard<'a>,
}

/// What is asked of the sensitive values of a group.
#[derive(Clone, Copy)]
pub(crate) enum Guard<'a> {
    /// That none is too common.
    Diverse(&'a Diverse),
    /// That they are distributed as in all rows.
    Close(&'a Whole<'a>),
}

/// A sensitive value: its attribute, its label.
type Value = (usize, u32);

impl<'a> Guarded<'a> {
    pub(super) fn new(forest: &'a Forest, guard: Guard<'a>) -> Self {
        Guarded { forest, guard }
    }

    /// What diversity asks for; none where closeness does.
    fn diverse(&self) -> Option<&'a Diverse> {
        match self.guard {
            Guard::Diverse(ask) => Some(ask),
            Guard::Close(_) => None,
        }
    }

    /// The known values of a row.
    fn values(&self, row: u32) -> impl Iterator<Item = Value> {
        let secret = self.forest.secret[self.forest.roots[row as usize] as usize];
        let labels = self.forest.secrets.labels(secret).iter().copied().enumerate();
        labels.filter(|value| value.1 != UNKNOWN)
    }

    fn counts(&self, rows: &[u32]) -> FxHashMap<Value, usize> {
        let mut counts = FxHashMap::default();
        for value in rows.iter().flat_map(|&row| self.values(row)) {
            *counts.entry(value).or_default() += 1;
        }
        counts
    }

    fn is_diverse(&self, rows: &[u32]) -> bool {
        let ask = match self.guard {
            Guard::Diverse(ask) => ask,
            Guard::Close(whole) => return whole.are_close(rows),
        };
        let counts = self.counts(rows);
        let attributes = self.forest.classes[0].sensitive;
        let of = |attribute: usize| -> Vec<(usize, usize)> {
            counts.iter().filter(|(value, _)| value.0 == attribute).map(|(_, &c)| (c, c)).collect()
        };
        let said = |attribute| is_too_clear(ask, &of(attribute), (rows.len(), rows.len()));
        !self.has_repeated(rows) && !(0..attributes).any(said)
    }

    /// Whether a value that may stand only once stands twice.
    fn has_repeated(&self, rows: &[u32]) -> bool {
        if !self.forest.secrets.lists_any() {
            return false;
        }
        let listed = |value: &Value| self.forest.secrets.is_listed(value.1);
        let mut labels: Vec<u32> =
            rows.iter().flat_map(|&row| self.values(row)).filter(listed).map(|value| value.1).collect();
        labels.sort_unstable();
        labels.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// The value that most rows of a group have, if it is one too clear; of equal ones the first.
    pub(super) fn clearest(&self, rows: &[u32]) -> Option<Value> {
        let ask = self.diverse()?;
        let counts = self.counts(rows);
        let (&value, &count) =
            counts.iter().max_by_key(|(value, count)| (**count, std::cmp::Reverse(**value)))?;
        (count as f64 * ask.l > rows.len() as f64).then_some(value)
    }

    /// Whether a group becomes less clear together with others; `clearest` is its clearest value.
    pub(super) fn helps(&self, clearest: Option<Value>, rows: &[u32], others: &[u32], size: usize) -> bool {
        if let Guard::Close(whole) = self.guard {
            return rows.len() < size || whole.complement(rows, others);
        }
        if self.forest.secrets.lists_any() && self.has_repeated(&[rows, others].concat()) {
            return false;
        }
        let (Some(value), Some(ask)) = (clearest, self.diverse()) else { return true };
        let having = others.iter().filter(|&&row| self.values(row).any(|own| own == value)).count();
        (having as f64) * ask.l < others.len() as f64
    }
}

impl Table<'_> {
    fn diverse(&self) -> Option<&Diverse> {
        self.guarded.as_ref().and_then(Guarded::diverse)
    }

    /// Whether rows can stay together as they are.
    pub(super) fn is_done(&self, rows: &[u32]) -> bool {
        rows.len() >= self.size && self.guarded.as_ref().is_none_or(|guarded| guarded.is_diverse(rows))
    }

    pub(super) fn are_done(&self, groups: &[Group]) -> bool {
        groups.iter().all(|group| self.is_done(&group.rows))
    }

    /// Whether a group that is done is so with another row.
    pub(super) fn may_take(&self, group: &Group, row: u32) -> bool {
        let Some(guarded) = &self.guarded else { return true };
        let mut rows = group.rows.clone();
        rows.push(row);
        guarded.is_diverse(&rows)
    }

    /// Whether a group that is being filled up to its size has room for a row: no value may come too often for that size.
    pub(super) fn has_room(&self, rows: &[u32], row: u32) -> bool {
        let Some(guarded) = &self.guarded else { return true };
        let Some(ask) = guarded.diverse() else { return true };
        let most = (self.size as f64 / ask.l + 1e-9).floor() as usize;
        let is_free = |value: Value| {
            let having = rows.iter().filter(|&&other| guarded.values(other).any(|own| own == value)).count();
            having < if guarded.forest.secrets.is_listed(value.1) { 1 } else { most }
        };
        guarded.values(row).all(is_free)
    }

    /// The groups of a block before they are refined, and the rows that are in none. Merging loses less where a group may well
    /// be larger than it needs to be; where values are so frequent that it has to be diverse from the start, growing does.
    pub(super) fn first(&self, block: &[u32], prune: i64) -> Result<(Vec<Group>, Vec<u32>)> {
        let mut merged = self.gather(block)?;
        let loose = self.loosen(&mut merged)?;
        if self.diverse().is_none() || block.len() < self.size {
            return Ok((merged, loose));
        }
        let mut grown = self.grow(block)?;
        let left = self.loosen(&mut grown)?;
        let cost = |groups: &[Group], loose: &[u32]| whole(groups) + loose.len() as i64 * prune;
        let is_better = cost(&grown, &left) < cost(&merged, &loose);
        Ok(if is_better { (grown, left) } else { (merged, loose) })
    }

    /// Takes rows out of groups that are not done, until they are or nothing is left of them. Gives the rows.
    pub(super) fn loosen(&self, groups: &mut Vec<Group>) -> Result<Vec<u32>> {
        // What is not close is merged with others later on.
        let Some(guarded) = self.guarded.as_ref().filter(|g| g.diverse().is_some()) else {
            return Ok(Vec::new());
        };
        let mut loose = Vec::new();
        for group in groups.iter_mut().filter(|group| !self.is_done(&group.rows)) {
            let mut rows = std::mem::take(&mut group.rows);
            while rows.len() >= self.size && !guarded.is_diverse(&rows) {
                self.observer.go_on()?;
                let counts = guarded.counts(&rows);
                // Whoever has what most have goes; of those the last.
                let clear =
                    |&(_, row): &(usize, &u32)| guarded.values(*row).map(|value| counts[&value]).max();
                let Some((at, _)) = rows.iter().enumerate().max_by_key(clear) else { break };
                loose.push(rows.remove(at));
            }
            if rows.len() < self.size {
                loose.append(&mut rows);
            } else {
                *group = self.group(rows);
            }
        }
        groups.retain(|group| !group.rows.is_empty());
        loose.sort_unstable();
        Ok(loose)
    }

    /// Puts loose rows into groups: into new ones, or into one nearby that has room, if that costs less than `prune`. Gives the
    /// rows that have no place.
    pub(super) fn place(&self, groups: &mut Vec<Group>, loose: &[u32], prune: i64) -> Result<Vec<u32>> {
        let mut alone = Vec::new();
        for some in loose.chunks(BLOCK) {
            let mut new = if some.len() < self.size { Vec::new() } else { self.grow(some)? };
            if new.is_empty() {
                alone.extend_from_slice(some);
            }
            alone.extend(self.loosen(&mut new)?);
            // A group that costs as much as its rows is none.
            alone.extend(new.extract_if(.., |group| group.cost >= prune).flat_map(|group| group.rows));
            groups.append(&mut new);
        }
        alone.sort_unstable();
        let mut left = Vec::new();
        for row in alone {
            self.observer.go_on()?;
            let near = self.near(groups, row, prune);
            match near.into_iter().find(|&(_, to)| self.may_take(&groups[to], row)) {
                Some((_, to)) => self.take(&mut groups[to], row),
                None => left.push(row),
            }
        }
        Ok(left)
    }

    /// The groups that a row adds least to, if that is less than `most`.
    fn near(&self, groups: &[Group], row: u32, most: i64) -> Vec<(i64, usize)> {
        let mut near: Vec<(i64, usize)> = Vec::new();
        for (to, group) in groups.iter().enumerate() {
            let most = near.get(NEAR - 1).map_or(most, |last| last.0);
            if let Some(rise) = self.rise(group, row, most) {
                near.insert(near.partition_point(|other| other.0 <= rise), (rise, to));
                near.truncate(NEAR);
            }
        }
        near
    }
}
