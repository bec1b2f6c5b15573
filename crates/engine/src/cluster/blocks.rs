//! `blocks`: for flat tables. The table is split top-down into blocks, each block is clustered bottom-up, and then rows move
//! between clusters of their block, and clusters are parted and dissolved, while the loss falls.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::cost::Domain;
use super::forest::Forest;
use super::rep::Rep;
use super::search::Search;
use super::{Clustering, cancelled};

/// Rows that are clustered together at most.
const BLOCK: usize = 3000;

/// Times that all rows of a block are looked at, at most.
const ROUNDS: usize = 8;

/// Rows that are going to look alike.
#[derive(Clone, Debug)]
struct Group {
    rows: Vec<u32>,
    values: Vec<u32>,
    /// The cost of its values, for one row.
    cost: i64,
    version: u32,
}

/// A flat table.
struct Table<'a> {
    forest: &'a Forest,
    domains: Vec<&'a Domain>,
    /// Per attribute the cost of the lowest node above two.
    above: Vec<Vec<i64>>,
    size: usize,
}

/// Puts rows into clusters of at least `size`.
pub(super) fn blocks(search: &mut Search<'_>, size: usize, observer: &dyn Observer) -> Result<Clustering> {
    let forest = search.forest();
    if !forest.kinds.of_kid.is_empty() {
        let what = "algorithm `blocks` is for flat tables, but records have something below them";
        return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help("use ctoff or clustree")));
    }
    let domains: Vec<&Domain> = forest.classes[0].quasi.iter().map(|&(_, d)| &forest.domains[d]).collect();
    let above = domains.iter().map(|domain| costs_above(domain)).collect();
    let table = Table { forest, domains, above, size };
    let mut blocks = Vec::new();
    table.split((0..forest.len() as u32).collect(), &mut blocks);
    observer.stage("clustering blocks", blocks.len() as u64);
    let groups: Vec<Vec<Group>> = (blocks.into_par_iter())
        .map(|block| {
            let mut groups = table.agglomerate(&block);
            table.refine(&mut groups);
            observer.advance(1);
            groups
        })
        .collect();
    cancelled(observer)?;
    let mut found = Clustering::default();
    for group in groups.into_iter().flatten() {
        let mut rows = group.rows.iter();
        let first = rows.next().map(|&r| Rep::of_record(forest, r));
        let joined = rows.try_fold(first, |rep, &r| {
            let rep = rep?;
            search.joiner.join(&rep, &Rep::of_record(forest, r)).map(Some)
        });
        match joined.flatten() {
            Some(rep) if group.rows.len() >= size => found.add(forest, group.rows, rep),
            _ => found.left.extend(group.rows),
        }
    }
    found.left.sort_unstable();
    Ok(found)
}

fn costs_above(domain: &Domain) -> Vec<i64> {
    let mut row = Vec::new();
    let mut all = Vec::with_capacity(domain.len() * domain.len());
    for node in 0..domain.len() as u32 {
        domain.costs_with(node, &mut row);
        all.extend_from_slice(&row);
    }
    all
}

impl Table<'_> {
    fn row(&self, row: u32) -> &[u32] {
        self.forest.values(self.forest.roots[row as usize])
    }

    fn lca(&self, a: &mut [u32], b: &[u32]) {
        for (i, domain) in self.domains.iter().enumerate() {
            a[i] = domain.lca(a[i], b[i]);
        }
    }

    fn values_of(&self, rows: &[u32]) -> Vec<u32> {
        let mut values = self.row(rows[0]).to_vec();
        rows[1..].iter().for_each(|&r| self.lca(&mut values, self.row(r)));
        values
    }

    fn cost_of(&self, values: &[u32]) -> i64 {
        self.domains.iter().zip(values).map(|(domain, &node)| domain.cost(node)).sum()
    }

    /// The cost of what two groups would share, for one row; stops where it is more than `most`.
    fn together(&self, a: &[u32], b: &[u32], most: i64) -> i64 {
        let mut cost = 0;
        for (i, domain) in self.domains.iter().enumerate() {
            cost += self.above[i][a[i] as usize * domain.len() + b[i] as usize];
            if cost > most {
                break;
            }
        }
        cost
    }

    /// Splits rows by the attribute that has lost most, at the children of the node that they share, into parts that are
    /// small enough to be clustered.
    fn split(&self, rows: Vec<u32>, blocks: &mut Vec<Vec<u32>>) {
        if rows.len() <= BLOCK {
            blocks.push(rows);
            return;
        }
        let values = self.values_of(&rows);
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|&i| Reverse(self.domains[i].cost(values[i])));
        for i in order {
            let mut parts: Vec<(u32, Vec<u32>)> = Vec::new();
            let mut sorted = rows.clone();
            sorted.sort_by_key(|&r| self.row(r)[i]);
            for row in sorted {
                let child = self.domains[i].child_above(values[i], self.row(row)[i]);
                match parts.last_mut() {
                    // A part that could not stand alone goes with the next one.
                    Some((last, part)) if *last == child || part.len() < self.size => {
                        *last = child;
                        part.push(row);
                    }
                    _ => parts.push((child, vec![row])),
                }
            }
            if parts.len() > 1 && parts.last().is_some_and(|p| p.1.len() < self.size) {
                let (_, rest) = parts.pop().unwrap_or_default();
                parts.last_mut().into_iter().for_each(|p| p.1.extend_from_slice(&rest));
            }
            if parts.len() > 1 {
                parts.into_iter().for_each(|(_, part)| self.split(part, blocks));
                return;
            }
        }
        // All rows are alike.
        let mut rows = rows;
        while rows.len() >= BLOCK + self.size {
            let rest = rows.split_off(BLOCK);
            blocks.push(std::mem::replace(&mut rows, rest));
        }
        blocks.push(rows);
    }

    /// Clusters a block: of all groups that are too small, the one that is cheapest to merge goes first.
    fn agglomerate(&self, block: &[u32]) -> Vec<Group> {
        let mut rows = block.to_vec();
        rows.sort_by(|&a, &b| self.row(a).cmp(self.row(b)).then(a.cmp(&b)));
        let same = rows.chunk_by(|&a, &b| self.row(a) == self.row(b));
        let mut groups: Vec<Option<Group>> = same
            .map(|rows| {
                Some(Group { rows: rows.to_vec(), values: self.row(rows[0]).to_vec(), cost: 0, version: 0 })
            })
            .collect();
        let mut queue = BinaryHeap::new();
        for at in 0..groups.len() {
            queue.extend(self.nearest(&groups, at).map(Reverse));
        }
        while let Some(Reverse((_, at, version, other, its))) = queue.pop() {
            let Some(one) = groups[at].as_ref().filter(|g| g.version == version) else { continue };
            if groups[other].as_ref().is_none_or(|g| g.version != its) {
                queue.extend(self.nearest(&groups, at).map(Reverse));
                continue;
            }
            let mut values = one.values.clone();
            let Some(gone) = groups[other].take() else { continue };
            self.lca(&mut values, &gone.values);
            if let Some(one) = &mut groups[at] {
                one.cost = self.cost_of(&values);
                one.values = values;
                one.rows.extend(gone.rows);
                one.version += 1;
            }
            queue.extend(self.nearest(&groups, at).map(Reverse));
        }
        groups.into_iter().flatten().collect()
    }

    /// The group that a small one is cheapest merged with: rise of the cost, and both with their versions.
    fn nearest(&self, groups: &[Option<Group>], at: usize) -> Option<(i64, usize, u32, usize, u32)> {
        let one = groups[at].as_ref().filter(|g| g.rows.len() < self.size)?;
        let own = one.rows.len() as i64;
        let mut best: Option<(i64, usize, u32)> = None;
        for (other, group) in groups.iter().enumerate() {
            let Some(group) = group.as_ref().filter(|_| other != at) else { continue };
            let its = group.rows.len() as i64;
            let before = own * one.cost + its * group.cost;
            let most = best.map_or(i64::MAX / 4, |b| (b.0 + before) / (own + its));
            let rise = (own + its) * self.together(&one.values, &group.values, most) - before;
            if best.is_none_or(|b| rise < b.0) {
                best = Some((rise, other, group.version));
            }
        }
        best.map(|(rise, other, its)| (rise, at, one.version, other, its))
    }

    /// Moves rows out of groups that are larger than they need to be, parts groups that are twice as large, and gives the
    /// rows of costly groups to others, while the loss falls.
    fn refine(&self, groups: &mut Vec<Group>) {
        for _ in 0..ROUNDS {
            let mut better = false;
            for from in 0..groups.len() {
                let mut at = 0;
                while at < groups[from].rows.len() && groups[from].rows.len() > self.size {
                    if self.move_row(groups, from, at) { better = true } else { at += 1 }
                }
            }
            for at in 0..groups.len() {
                if let Some((one, other)) = self.part(&groups[at]) {
                    groups[at] = one;
                    groups.push(other);
                    better = true;
                }
            }
            let mut at = 0;
            while at < groups.len() {
                if self.dissolve(groups, at) { better = true } else { at += 1 }
            }
            if !better {
                break;
            }
        }
    }

    fn group(&self, rows: Vec<u32>) -> Group {
        let values = self.values_of(&rows);
        Group { cost: self.cost_of(&values), values, rows, version: 0 }
    }

    /// The cheapest way to part a group in two, by one child of what it shares in one attribute, if that saves anything.
    fn part(&self, group: &Group) -> Option<(Group, Group)> {
        if group.rows.len() < 2 * self.size || group.cost == 0 {
            return None;
        }
        let mut best: Option<(i64, Group, Group)> = None;
        for i in 0..self.domains.len() {
            let child = |row: u32| self.domains[i].child_above(group.values[i], self.row(row)[i]);
            let mut children: Vec<u32> = group.rows.iter().map(|&r| child(r)).collect();
            children.sort_unstable();
            children.dedup();
            for one in children {
                let (a, b): (Vec<u32>, Vec<u32>) = group.rows.iter().partition(|&&r| child(r) == one);
                if a.len() < self.size || b.len() < self.size {
                    continue;
                }
                let (a, b) = (self.group(a), self.group(b));
                let cost = a.cost * a.rows.len() as i64 + b.cost * b.rows.len() as i64;
                if cost < best.as_ref().map_or(group.cost * group.rows.len() as i64, |x| x.0) {
                    best = Some((cost, a, b));
                }
            }
        }
        best.map(|(_, a, b)| (a, b))
    }

    /// Gives all rows of a group to others, if that costs less than the group does.
    fn dissolve(&self, groups: &mut Vec<Group>, at: usize) -> bool {
        let whole = groups[at].cost * groups[at].rows.len() as i64;
        if whole == 0 || groups.len() == 1 {
            return false;
        }
        let mut changed: Vec<(usize, Group)> = Vec::new();
        let mut risen = 0;
        for &row in &groups[at].rows {
            let mut best: Option<(i64, usize)> = None;
            for to in (0..groups.len()).filter(|&to| to != at) {
                let group = changed.iter().find(|c| c.0 == to).map_or(&groups[to], |c| &c.1);
                let its = group.rows.len() as i64;
                let most = best.map_or(whole - risen, |b| b.0);
                let limit = (most + its * group.cost) / (its + 1);
                let rise = (its + 1) * self.together(&group.values, self.row(row), limit) - its * group.cost;
                if rise < most {
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
        groups.remove(at);
        true
    }

    fn take(&self, group: &mut Group, row: u32) {
        group.rows.push(row);
        self.lca(&mut group.values, self.row(row));
        group.cost = self.cost_of(&group.values);
    }

    fn move_row(&self, groups: &mut [Group], from: usize, at: usize) -> bool {
        let row = groups[from].rows[at];
        let mut rest = groups[from].rows.clone();
        rest.remove(at);
        let values = self.values_of(&rest);
        let cost = self.cost_of(&values);
        let saved = groups[from].cost * (rest.len() as i64 + 1) - cost * rest.len() as i64;
        let mut best: Option<(i64, usize)> = None;
        for (to, group) in groups.iter().enumerate().filter(|(to, _)| *to != from) {
            let its = group.rows.len() as i64;
            let most = best.map_or(saved, |b| b.0);
            let limit = (most + its * group.cost) / (its + 1);
            let rise = (its + 1) * self.together(&group.values, self.row(row), limit) - its * group.cost;
            if rise < most {
                best = Some((rise, to));
            }
        }
        let Some((_, to)) = best else { return false };
        groups[from] = Group { rows: rest, values, cost, version: 0 };
        self.take(&mut groups[to], row);
        true
    }
}
