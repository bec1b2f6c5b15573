//! The highest distance that groups can have, by trying all groups; and the climb of the δ-dependency paper, step by step.

use std::collections::BTreeMap;

use bosket_model::hierarchy::{Hierarchy, NodeId};

use crate::dissect::{degrees, is_anatomy};

/// What a group of a given distance has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// By the definition: every value of a choice lies so far below the closest common ancestor of the choice.
    Definition,
    /// As the algorithm looks for it: the common ancestor is so far above the shallowest value of all records, not only
    /// of the group.
    Shallowest,
}

/// What is asked of groups of people's values.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'h> {
    /// Where the values stand.
    pub hierarchy: &'h Hierarchy,
    /// Fewest people in a group.
    pub size: usize,
    /// The distance is one of every two people.
    pub pairwise: bool,
    /// What it is counted from.
    pub rule: Rule,
}

impl Wanted<'_> {
    fn depth(&self, value: &str) -> usize {
        self.hierarchy.depth(self.hierarchy.node(value).expect("a node")) as usize
    }

    /// The depth of the shallowest value.
    pub fn shallowest(&self, people: &[Vec<String>]) -> usize {
        people.iter().flatten().map(|v| self.depth(v)).min().unwrap_or(0)
    }

    /// Whether people may be a group of a distance, where `shallowest` is the depth of the shallowest value of all.
    fn allows(&self, group: &[Vec<String>], distance: usize, shallowest: usize) -> bool {
        // More people would be two groups; one of everybody is farther apart than any others.
        if !is_anatomy(group, self.size) || group.len() >= 2 * self.size {
            return false;
        }
        if self.rule == Rule::Definition {
            let (set_wise, pairwise) = degrees(self.hierarchy, group);
            return (if self.pairwise { pairwise } else { set_wise }).is_none_or(|d| d >= distance);
        }
        let Some(highest) = shallowest.checked_sub(distance) else {
            return false;
        };
        // All values cut off at the shallowest depth are as far below their ancestor as the weakest may be.
        let cut = |value: &String| ancestor(self.hierarchy, value, shallowest);
        let group: Vec<Vec<String>> = group.iter().map(|p| p.iter().map(cut).collect()).collect();
        let (set_wise, pairwise) = degrees(self.hierarchy, &group);
        (if self.pairwise { pairwise } else { set_wise }).is_none_or(|d| shallowest - d <= highest)
    }

    /// Fewest records that any groups of a distance leave out. Looks at every set of records: for a dozen at most.
    pub fn fewest_left(&self, people: &[Vec<String>], distance: usize) -> usize {
        let shallowest = self.shallowest(people);
        let members = |set: usize| -> Vec<Vec<String>> {
            (0..people.len()).filter(|i| set >> i & 1 == 1).map(|i| people[i].clone()).collect()
        };
        let all = 1usize << people.len();
        let good: Vec<bool> = (0..all).map(|set| self.allows(&members(set), distance, shallowest)).collect();
        let mut fewest = vec![usize::MAX; all];
        fewest[0] = 0;
        for set in 1..all {
            let first = 1 << set.trailing_zeros();
            let rest = set ^ first;
            // The first record is left out, or in a group with any of the others.
            let mut best = fewest[rest] + 1;
            let mut others = rest;
            loop {
                if good[others | first] {
                    best = best.min(fewest[rest ^ others]);
                }
                if others == 0 {
                    break;
                }
                others = (others - 1) & rest;
            }
            fewest[set] = best;
        }
        fewest[all - 1]
    }

    /// The highest distance of groups that leave out fewer records than a group has, and how many. None if there are no
    /// such groups at all.
    pub fn highest(&self, people: &[Vec<String>]) -> Option<(usize, usize)> {
        (0..=self.shallowest(people)).rev().find_map(|distance| {
            let left = self.fewest_left(people, distance);
            (left < self.size).then_some((distance, left))
        })
    }
}

/// The label at a depth above a value; the value's own where it lies higher.
fn ancestor(hierarchy: &Hierarchy, value: &str, depth: usize) -> String {
    let mut node: NodeId = hierarchy.node(value).expect("a node");
    while hierarchy.depth(node) as usize > depth {
        node = hierarchy.parent(node).expect("below the root");
    }
    hierarchy.label(node).to_owned()
}

/// The groups of algorithm 1 of the paper for people with one value each, as record numbers: values are counted under their
/// ancestors at the depth of the shallowest one, and each group takes one record from each of the `size` ancestors with
/// most records left, of equal ones the first in the hierarchy. What is over is not placed.
pub fn climb(hierarchy: &Hierarchy, values: &[String], size: usize) -> (Vec<Vec<usize>>, Vec<usize>) {
    let depth = |v: &String| hierarchy.depth(hierarchy.node(v).expect("a node")) as usize;
    let current_level = values.iter().map(depth).min().unwrap_or(0);
    let mut col: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
    for (record, value) in values.iter().enumerate() {
        let above = hierarchy.node(&ancestor(hierarchy, value, current_level)).expect("a node");
        col.entry(above).or_default().push(record);
    }
    let mut groups = Vec::new();
    loop {
        let mut sorted: Vec<NodeId> = col.keys().copied().collect();
        sorted.sort_by_key(|node| std::cmp::Reverse(col[node].len()));
        if sorted.len() < size {
            break;
        }
        let take = |node: &NodeId| {
            let records = col.get_mut(node).expect("counted");
            let first = records.remove(0);
            if records.is_empty() {
                col.remove(node);
            }
            first
        };
        groups.push(sorted[..size].iter().map(take).collect());
    }
    (groups, col.into_values().flatten().collect())
}
