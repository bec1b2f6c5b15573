//! Clustering bottom-up: by merging groups that are too small, or by growing them one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::table::{Group, Table, widen};

/// Groups that merge, with how often each has changed.
type Groups = Vec<Option<(Group, u32)>>;

/// A merger that may come: what it costs, and both groups as they were.
type Merger = (i64, usize, u32, usize, u32);

impl Table<'_> {
    /// Of all groups that are too small, the one that is cheapest to merge goes first. Equal rows start together.
    pub(super) fn gather(&self, rows: &[u32]) -> Vec<Group> {
        let rows = self.sorted(rows);
        let same = rows.chunk_by(|&a, &b| self.row(a) == self.row(b));
        let mut groups: Groups = same
            .map(|rows| Some((Group { rows: rows.to_vec(), bounds: self.row(rows[0]).to_vec(), cost: 0 }, 0)))
            .collect();
        let mut queue = BinaryHeap::new();
        for at in 0..groups.len() {
            queue.extend(self.nearest(&groups, at).map(Reverse));
        }
        while let Some(Reverse((_, at, version, other, its))) = queue.pop() {
            let is = |at: usize, version: u32| groups[at].as_ref().is_some_and(|g| g.1 == version);
            if !is(at, version) {
                continue;
            }
            if is(other, its)
                && let Some((gone, _)) = groups[other].take()
                && let Some((one, version)) = &mut groups[at]
            {
                widen(&mut one.bounds, &gone.bounds);
                one.cost = self.cost(&one.bounds);
                one.rows.extend(gone.rows);
                *version += 1;
            }
            queue.extend(self.nearest(&groups, at).map(Reverse));
        }
        groups.into_iter().flatten().map(|(group, _)| group).collect()
    }

    /// The group that a small one is cheapest merged with.
    fn nearest(&self, groups: &Groups, at: usize) -> Option<Merger> {
        let (one, version) = groups[at].as_ref().filter(|(g, _)| g.rows.len() < self.size)?;
        let own = one.rows.len() as i64;
        let mut best: Option<(i64, usize, u32)> = None;
        for (other, group) in groups.iter().enumerate() {
            let Some((group, its_version)) = group.as_ref().filter(|_| other != at) else { continue };
            let its = group.rows.len() as i64;
            let more = own.min(own + its - self.size as i64).max(0);
            let before = own * one.cost + its * group.cost - more * self.surplus;
            let most = best.map_or(i64::MAX / 4, |b| (b.0 + before) / (own + its));
            let rise = (own + its) * self.together(&one.bounds, &group.bounds, most) - before;
            if best.is_none_or(|b| rise < b.0) {
                best = Some((rise, other, *its_version));
            }
        }
        best.map(|(rise, other, its)| (rise, at, *version, other, its))
    }

    /// Grows one group after the other out of a few rows, beginning where rows lie closest. As many equal rows as a group
    /// needs stay one.
    pub(super) fn grow(&self, rows: &[u32]) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut left: Vec<u32> = Vec::new();
        let rows = self.sorted(rows);
        for same in rows.chunk_by(|&a, &b| self.row(a) == self.row(b)) {
            if same.len() >= self.size {
                groups.push(self.group(same.to_vec()));
            } else {
                left.extend_from_slice(same);
            }
        }
        let mut seeds: Vec<(i64, u32)> = left.iter().map(|&r| (self.sparse(r, &left), r)).collect();
        seeds.sort_unstable();
        let mut left: Vec<u32> = seeds.into_iter().map(|(_, row)| row).collect();
        while left.len() >= self.size {
            let mut group = self.group(vec![left.remove(0)]);
            while group.rows.len() < self.size {
                let mut best = (i64::MAX, 0);
                for (at, &row) in left.iter().enumerate() {
                    let cost = self.together(&group.bounds, self.row(row), best.0);
                    if cost < best.0 {
                        best = (cost, at);
                    }
                }
                self.take(&mut group, left.remove(best.1));
            }
            groups.push(group);
        }
        if groups.is_empty() {
            return vec![self.group(left)];
        }
        for row in left {
            if let Some((_, to)) = self.cheapest(&groups, usize::MAX, row, i64::MAX / 4) {
                self.take(&mut groups[to], row);
            }
        }
        groups
    }

    /// How far away the last of the nearest rows is that would fill up a group.
    fn sparse(&self, row: u32, rows: &[u32]) -> i64 {
        let mut nearest = vec![i64::MAX; (self.size - 1).min(rows.len() - 1)];
        for &other in rows.iter().filter(|&&o| o != row) {
            let Some(&farthest) = nearest.last() else { break };
            let cost = self.together(self.row(row), self.row(other), farthest);
            if cost < farthest {
                let at = nearest.partition_point(|&n| n <= cost);
                nearest.pop();
                nearest.insert(at, cost);
            }
        }
        nearest.last().copied().unwrap_or(0)
    }
}
