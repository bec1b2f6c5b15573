//! Clustering bottom-up: by merging groups that are too small, or by growing them one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bosket_model::Result;

use super::table::{Group, Table, widen};

/// A merger that may come: what it costs, and both groups as they were.
type Merger = (i64, usize, u32, usize, u32);

/// Groups that merge, laid out so that looking at all of them is one walk through memory.
struct Groups {
    /// Per group the bounds of all attributes, one group after the other.
    bounds: Vec<(u32, u32)>,
    /// How many attributes there are.
    width: usize,
    /// How many rows each has; none when it has gone into another.
    sizes: Vec<i64>,
    /// The cost for one row of each.
    costs: Vec<i64>,
    /// Whether each can stay as it is.
    done: Vec<bool>,
    /// How often each has changed.
    versions: Vec<u32>,
    rows: Vec<Vec<u32>>,
}

impl Groups {
    fn bounds(&self, at: usize) -> &[(u32, u32)] {
        &self.bounds[at * self.width..(at + 1) * self.width]
    }

    fn is(&self, at: usize, version: u32) -> bool {
        self.sizes[at] > 0 && self.versions[at] == version
    }
}

impl Table<'_> {
    /// Of all groups that are too small, or not diverse, the one that is cheapest to merge goes first. Equal rows start
    /// together. A group for which no other is of any use stays as it is.
    pub(super) fn gather(&self, rows: &[u32]) -> Result<Vec<Group>> {
        // Where nobody has a value, all rows are alike.
        if self.attributes() == 0 {
            return Ok(vec![Group { rows: rows.to_vec(), bounds: Vec::new(), cost: 0 }]);
        }
        let rows = self.sorted(rows);
        let same: Vec<Vec<u32>> =
            rows.chunk_by(|&a, &b| self.row(a) == self.row(b)).map(<[u32]>::to_vec).collect();
        let mut groups = Groups {
            bounds: same.iter().flat_map(|rows| self.row(rows[0])).copied().collect(),
            width: self.attributes(),
            sizes: same.iter().map(|rows| rows.len() as i64).collect(),
            costs: vec![0; same.len()],
            versions: vec![0; same.len()],
            done: same.iter().map(|rows| self.is_done(rows)).collect(),
            rows: same,
        };
        let mut queue = BinaryHeap::new();
        for at in 0..groups.rows.len() {
            self.observer.go_on()?;
            queue.extend(self.nearest(&groups, at).map(Reverse));
        }
        while let Some(Reverse((_, at, version, other, its))) = queue.pop() {
            self.observer.go_on()?;
            if !groups.is(at, version) {
                continue;
            }
            if groups.is(other, its) {
                let gone = std::mem::take(&mut groups.rows[other]);
                groups.sizes[at] += std::mem::take(&mut groups.sizes[other]);
                let mut bounds = groups.bounds(at).to_vec();
                widen(&mut bounds, groups.bounds(other));
                groups.costs[at] = self.cost(&bounds);
                groups.bounds[at * groups.width..(at + 1) * groups.width].copy_from_slice(&bounds);
                groups.rows[at].extend(gone);
                groups.done[at] = self.is_done(&groups.rows[at]);
                groups.versions[at] += 1;
            }
            queue.extend(self.nearest(&groups, at).map(Reverse));
        }
        let bounds = groups.bounds.chunks(groups.width);
        let found = groups.rows.into_iter().zip(bounds).zip(groups.costs);
        let found = found.filter(|((rows, _), _)| !rows.is_empty());
        Ok(found.map(|((rows, bounds), cost)| Group { rows, bounds: bounds.to_vec(), cost }).collect())
    }

    /// The group that a small one is cheapest merged with.
    fn nearest(&self, groups: &Groups, at: usize) -> Option<Merger> {
        let own = groups.sizes[at];
        if own == 0 || groups.done[at] {
            return None;
        }
        let clearest = self.guarded.as_ref().and_then(|guarded| guarded.clearest(&groups.rows[at]));
        let (one, own_whole) = (groups.bounds(at), own * groups.costs[at]);
        let mut best: Option<(i64, usize)> = None;
        for (other, bounds) in groups.bounds.chunks_exact(groups.width).enumerate() {
            let its = groups.sizes[other];
            if its == 0 || other == at {
                continue;
            }
            let more = own.min(own + its - self.size as i64).max(0);
            let before = own_whole + its * groups.costs[other] - more * self.surplus;
            let most = best.map_or(i64::MAX / 4, |b| (b.0 + before) / (own + its));
            let rise = (own + its) * self.together(one, bounds, most) - before;
            let helps = || match &self.guarded {
                Some(guarded) => guarded.helps(clearest, &groups.rows[at], &groups.rows[other], self.size),
                None => true,
            };
            if best.is_none_or(|b| rise < b.0) && helps() {
                best = Some((rise, other));
            }
        }
        best.map(|(rise, other)| (rise, at, groups.versions[at], other, groups.versions[other]))
    }

    /// Grows one group after the other out of a few rows, beginning where rows lie closest. As many equal rows as a group
    /// needs stay one.
    pub(super) fn grow(&self, rows: &[u32]) -> Result<Vec<Group>> {
        let mut groups = Vec::new();
        let mut left: Vec<u32> = Vec::new();
        let rows = self.sorted(rows);
        for same in rows.chunk_by(|&a, &b| self.row(a) == self.row(b)) {
            if self.is_done(same) {
                groups.push(self.group(same.to_vec()));
            } else {
                left.extend_from_slice(same);
            }
        }
        let mut seeds: Vec<(i64, u32)> = left.iter().map(|&r| (self.sparse(r, &left), r)).collect();
        seeds.sort_unstable();
        let mut left: Vec<u32> = seeds.into_iter().map(|(_, row)| row).collect();
        let mut alone: Vec<u32> = Vec::new();
        while left.len() >= self.size {
            let mut group = self.group(vec![left.remove(0)]);
            while group.rows.len() < self.size {
                self.observer.go_on()?;
                let mut best: Option<(i64, usize)> = None;
                for (at, &row) in left.iter().enumerate() {
                    let most = best.map_or(i64::MAX, |best| best.0);
                    let cost = self.together(&group.bounds, self.row(row), most);
                    if cost < most && self.has_room(&group.rows, row) {
                        best = Some((cost, at));
                    }
                }
                let Some((_, at)) = best else { break };
                self.take(&mut group, left.remove(at));
            }
            if group.rows.len() < self.size {
                // Nobody else fits: the others may fit elsewhere.
                alone.push(group.rows.remove(0));
                left.splice(0..0, group.rows);
            } else {
                groups.push(group);
            }
        }
        left.extend(alone);
        if groups.is_empty() {
            return Ok(vec![self.group(left)]);
        }
        let mut rest: Vec<u32> = Vec::new();
        for row in left {
            match self.cheapest(&groups, usize::MAX, row, i64::MAX / 4) {
                Some((_, to)) => self.take(&mut groups[to], row),
                None => rest.push(row),
            }
        }
        if !rest.is_empty() {
            groups.push(self.group(rest));
        }
        Ok(groups)
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
