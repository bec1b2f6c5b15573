//! Clustering neighbouring groups anew: what single moves cannot reach, such as two groups of eight that make three of five.

use bosket_model::Result;

use super::table::{Group, Table, whole};

/// Neighbours that a group is clustered anew with, at most.
const NEIGHBOURS: usize = 4;

/// Rows that are clustered anew at most: it takes time by their square, for every group.
const MOST_ROWS: usize = 200;

impl Table<'_> {
    /// Clusters every group that has lost anything anew together with its nearest ones, while the loss falls.
    pub(super) fn regroup(&self, groups: &mut Vec<Group>) -> Result<()> {
        // Groups that come of this are not looked at again: they stand behind the others.
        let (mut at, mut end) = (0, groups.len());
        while at < end.min(groups.len()) {
            let chosen = if groups[at].cost > 0 { self.better(groups, at)? } else { None };
            let Some((mut old, new)) = chosen else {
                at += 1;
                continue;
            };
            old.sort_unstable();
            for &gone in old.iter().rev() {
                groups.swap_remove(gone);
            }
            end = end.min(groups.len());
            groups.extend(new);
        }
        Ok(())
    }

    /// The group and as few neighbours as possible that cost less when clustered anew, and what comes of them.
    fn better(&self, groups: &[Group], at: usize) -> Result<Option<(Vec<usize>, Vec<Group>)>> {
        let mut near: Vec<(i64, usize)> = Vec::with_capacity(NEIGHBOURS + 1);
        for (other, group) in groups.iter().enumerate().filter(|(other, _)| *other != at) {
            let most = near.get(NEIGHBOURS - 1).map_or(i64::MAX, |n| n.0);
            let cost = self.together(&groups[at].bounds, &group.bounds, most);
            if cost < most {
                near.insert(near.partition_point(|n| n.0 <= cost), (cost, other));
                near.truncate(NEIGHBOURS);
            }
        }
        let mut old = vec![at];
        let mut rows = groups[at].rows.clone();
        let mut before = groups[at].whole();
        for (_, other) in near {
            old.push(other);
            rows.extend_from_slice(&groups[other].rows);
            before += groups[other].whole();
            if rows.len() > MOST_ROWS {
                break;
            }
            for mut new in [self.grow(&rows)?, self.gather(&rows)?] {
                if !self.are_done(&new) {
                    continue;
                }
                while self.move_rows(&mut new)? {}
                if whole(&new) < before {
                    return Ok(Some((old, new)));
                }
            }
        }
        Ok(None)
    }
}
