//! Better groups out of finished ones, step by step.

use bosket_model::Result;

use super::table::{Group, Table, whole};

/// Times that all rows of a block are looked at, at most.
const ROUNDS: usize = 8;

impl Table<'_> {
    /// Moves rows out of groups that are larger than they need to be, parts groups that are twice as large, and gives the
    /// rows of costly groups to others, while the loss falls.
    pub(super) fn refine(&self, groups: &mut Vec<Group>) -> Result<()> {
        for _ in 0..ROUNDS {
            let mut better = self.move_rows(groups)?;
            for at in 0..groups.len() {
                better |= self.part(groups, at)?;
            }
            let mut at = 0;
            while at < groups.len() {
                self.observer.go_on()?;
                if self.dissolve(groups, at) { better = true } else { at += 1 }
            }
            if !better {
                break;
            }
        }
        Ok(())
    }

    /// Moves rows to where they cost less; whether any was.
    pub(super) fn move_rows(&self, groups: &mut [Group]) -> Result<bool> {
        let mut better = false;
        for from in 0..groups.len() {
            let mut at = 0;
            while at < groups[from].rows.len() && groups[from].rows.len() > self.size {
                self.observer.go_on()?;
                if self.move_row(groups, from, at) { better = true } else { at += 1 }
            }
        }
        Ok(better)
    }

    fn move_row(&self, groups: &mut [Group], from: usize, at: usize) -> bool {
        let row = groups[from].rows[at];
        let mut rest = groups[from].rows.clone();
        rest.remove(at);
        if !self.is_done(&rest) {
            return false;
        }
        let rest = self.group(rest);
        let saved = groups[from].whole() - rest.whole();
        let Some((_, to)) = self.cheapest(groups, from, row, saved) else { return false };
        groups[from] = rest;
        self.take(&mut groups[to], row);
        true
    }

    /// The group that a row adds least to, and how much, if that is less than `most`.
    pub(super) fn cheapest(&self, groups: &[Group], but: usize, row: u32, most: i64) -> Option<(i64, usize)> {
        let mut best: Option<(i64, usize)> = None;
        for (to, group) in groups.iter().enumerate().filter(|(to, _)| *to != but) {
            if let Some(rise) = self.rise(group, row, best.map_or(most, |b| b.0))
                && self.may_take(group, row)
            {
                best = Some((rise, to));
            }
        }
        best
    }

    /// Clusters the rows of a large group anew, if that makes several that cost less.
    fn part(&self, groups: &mut Vec<Group>, at: usize) -> Result<bool> {
        if groups[at].rows.len() < 2 * self.size || groups[at].cost == 0 {
            return Ok(false);
        }
        let mut parts = self.gather(&groups[at].rows)?;
        if whole(&parts) >= groups[at].whole() || !self.are_done(&parts) {
            return Ok(false);
        }
        groups.extend(parts.drain(1..));
        groups[at] = parts.remove(0);
        Ok(true)
    }

    /// Gives all rows of a group to others, if that costs less than the group does.
    fn dissolve(&self, groups: &mut Vec<Group>, at: usize) -> bool {
        let whole = groups[at].whole();
        if whole == 0 || groups.len() == 1 {
            return false;
        }
        let mut changed: Vec<(usize, Group)> = Vec::new();
        let mut risen = 0;
        for &row in &groups[at].rows {
            let mut best: Option<(i64, usize)> = None;
            for (to, group) in groups.iter().enumerate().filter(|(to, _)| *to != at) {
                let group = changed.iter().find(|c| c.0 == to).map_or(group, |c| &c.1);
                if let Some(rise) = self.rise(group, row, best.map_or(whole - risen, |b| b.0))
                    && self.may_take(group, row)
                {
                    best = Some((rise, to));
                }
            }
            let Some((rise, to)) = best else { return false };
            risen += rise;
            let place = changed.iter().position(|c| c.0 == to).unwrap_or_else(|| {
                changed.push((to, groups[to].clone()));
                changed.len() - 1
            });
            self.take(&mut changed[place].1, row);
        }
        if risen >= whole {
            return false;
        }
        changed.into_iter().for_each(|(to, group)| groups[to] = group);
        groups.swap_remove(at);
        true
    }
}
