//! Records as rows: every path from a record's root to one of its leaves.
//!
//! Everything that the search asks is a question about paths: which records have this path, which have a above b.
//! A rule of disassociation rewrites paths one by one. So a record is kept as its rows, and a cut groups equal rows.

use std::sync::{Arc, OnceLock};

use bosket_model::value_tree::ValueTrees;

use super::domain::{Domain, Node};

/// The rows of all records, record after record.
pub(super) struct Rows {
    first: Vec<u32>,
    items: Vec<u32>,
    record: Vec<u32>,
    /// Per attribute the item of each row, made when it is first asked for: splitting by an attribute then reads one
    /// number per row instead of the whole row.
    columns: Vec<OnceLock<Vec<u32>>>,
}

/// The item of a row that lacks the attribute.
const ABSENT: u32 = u32::MAX;

impl Rows {
    pub(super) fn new(trees: &ValueTrees, levels: usize) -> Self {
        let columns = (0..levels).map(|_| OnceLock::new()).collect();
        let mut rows = Rows { first: vec![0], items: Vec::new(), record: Vec::new(), columns };
        let mut path = Vec::new();
        for record in 0..trees.len() {
            for leaf in trees.nodes(record).filter(|&n| trees.end(n) == n + 1) {
                path.clear();
                let mut at = Some(leaf);
                while let Some(node) = at {
                    path.push(trees.item(node));
                    at = trees.parent(node);
                }
                rows.items.extend(path.iter().rev());
                rows.first.push(rows.items.len() as u32);
                rows.record.push(record as u32);
            }
        }
        rows
    }

    pub(super) fn len(&self) -> usize {
        self.record.len()
    }

    pub(super) fn items(&self, row: u32) -> &[u32] {
        &self.items[self.first[row as usize] as usize..self.first[row as usize + 1] as usize]
    }

    fn column(&self, level: usize, domain: &Domain<'_>) -> &[u32] {
        self.columns[level].get_or_init(|| {
            let item = |row| self.items(row).iter().copied().find(|&i| domain.level_of_item(i) == level);
            (0..self.len() as u32).map(|row| item(row).unwrap_or(ABSENT)).collect()
        })
    }

    /// How many related pairs all rows have together.
    pub(super) fn pairs(&self) -> u64 {
        self.first.windows(2).map(|w| u64::from(w[1] - w[0])).map(|n| n * n.saturating_sub(1) / 2).sum()
    }

    /// The attribute that the row starts with.
    pub(super) fn level(&self, row: u32, domain: &Domain<'_>) -> usize {
        domain.level_of_item(self.items(row)[0])
    }

    pub(super) fn record(&self, row: u32) -> u32 {
        self.record[row as usize]
    }
}

/// Rows that are equal at a cut.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The nodes of the cut on the way down; empty if nothing of the rows is published.
    pub(super) path: Vec<Node>,
    /// The rows, ascending; shared by all cuts that have the group.
    pub(super) rows: Arc<[u32]>,
}

/// How a cut becomes one of its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// An attribute is published as its root.
    Publish(usize),
    /// A node is replaced by its children.
    Specialise(Node),
}

impl Step {
    pub(super) fn level(self, domain: &Domain<'_>) -> usize {
        match self {
            Step::Publish(level) => level,
            Step::Specialise(node) => domain.level_of(node),
        }
    }

    /// The nodes that come into the cut.
    pub(super) fn new_nodes(self, domain: &Domain<'_>) -> Vec<Node> {
        match self {
            Step::Publish(level) => vec![domain.levels[level].root],
            Step::Specialise(node) => domain.children(node),
        }
    }
}

/// The groups of a child cut: those that the step does not touch are none of the result.
pub(super) fn split(
    groups: &[Group],
    step: Step,
    rows: &Rows,
    domain: &Domain<'_>,
) -> (Vec<Group>, Vec<bool>) {
    let level = step.level(domain);
    let nodes = step.new_nodes(domain);
    // The last part holds the rows without the attribute.
    let without = nodes.len() as u32;
    let part_of: Vec<u32> = (domain.assign(level, &nodes).iter())
        .map(|node| node.map_or(without, |n| nodes.partition_point(|&m| m < n) as u32))
        .collect();
    let column = rows.column(level, domain);
    let mut touched = vec![false; groups.len()];
    let mut split = Vec::new();
    let mut parts: Vec<Vec<u32>> = vec![Vec::new(); nodes.len() + 1];
    for (g, group) in groups.iter().enumerate() {
        let concerned = match step {
            Step::Specialise(node) => group.path.contains(&node),
            Step::Publish(_) => true,
        };
        if !concerned {
            continue;
        }
        for &row in group.rows.iter() {
            let part = part_of.get(column[row as usize] as usize).copied().unwrap_or(without);
            parts[part as usize].push(row);
        }
        if parts[nodes.len()].len() == group.rows.len() {
            parts[nodes.len()].clear();
            continue;
        }
        touched[g] = true;
        for (part, own) in parts.iter_mut().enumerate() {
            if own.is_empty() {
                continue;
            }
            let path = match nodes.get(part) {
                None => group.path.clone(),
                Some(&node) => renew(&group.path, step, node, rows.items(own[0]), domain),
            };
            split.push(Group { path, rows: std::mem::take(own).into() });
        }
    }
    (split, touched)
}

/// The path with the new node in it.
fn renew(path: &[Node], step: Step, node: Node, items: &[u32], domain: &Domain<'_>) -> Vec<Node> {
    match step {
        Step::Specialise(old) => path.iter().map(|&n| if n == old { node } else { n }).collect(),
        Step::Publish(level) => {
            // The row tells which published attributes stand above the new one.
            let before = items.iter().take_while(|&&i| domain.level_of_item(i) != level);
            let at = before
                .filter(|&&i| path.iter().any(|&n| domain.level_of(n) == domain.level_of_item(i)))
                .count();
            let mut path = path.to_vec();
            path.insert(at, node);
            path
        }
    }
}
