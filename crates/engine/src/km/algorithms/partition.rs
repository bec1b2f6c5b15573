//! `partition`: top-down local recoding to groups of equal sets.
//!
//! He, Naughton: Anonymization of set-valued data via top-down, local generalization. PVLDB 2 (2009).
//!
//! All transactions start in one group, at the root. A group expands the node that loses most; its transactions part by which
//! children they hold. Parts that may stand alone become groups; the others stay together, unexpanded, filled up from the
//! largest groups where they are too few. Every published set is then that of at least k records.

use std::collections::BTreeMap;

use bosket_model::Result;
use bosket_model::observe::Observer;

use crate::km::cuts::beyond::Shares;
use crate::km::cuts::cut::Loss;
use crate::km::recoding::{Recoding, most};
use crate::km::transactions::Transactions;
use crate::km::tree::{Node, ROOT, Tree};

/// Records that look alike.
struct Group {
    records: Vec<u32>,
    /// What they look like, ascending.
    nodes: Vec<Node>,
    /// Nodes that cannot be expanded any more.
    closed: Vec<Node>,
}

/// Parts all records into groups.
pub(crate) fn partition(
    data: &Transactions,
    k: u32,
    l: Option<f64>,
    observer: &dyn Observer,
) -> Result<Recoding> {
    let mut records: Vec<u32> = (0..data.len() as u32).collect();
    // By content, so that who fills a group up does not depend on the order of the input.
    records.sort_by(|&a, &b| {
        data.items(a).cmp(data.items(b)).then_with(|| data.secrets(a).cmp(data.secrets(b))).then(a.cmp(&b))
    });
    observer.stage("groups", records.len() as u64);
    let may_stand_alone = |records: &[u32]| {
        records.len() >= k as usize && l.is_none_or(|l| Shares::of(data, records).hold(l, records.len()))
    };
    let mut open = vec![Group { records, nodes: vec![ROOT], closed: Vec::new() }];
    let mut found = Recoding { part_of: vec![0; data.len()], most: most(data), ..Recoding::default() };
    while let Some(mut group) = open.pop() {
        found.examined += 1;
        // Groups keep the promise at any time: those that are there then are published as they are.
        found.cut_short |= observer.out_of_time();
        let next = if found.cut_short { None } else { next_node(data, &group, observer)? };
        match next {
            None => {
                observer.advance(group.records.len() as u64);
                for &record in &group.records {
                    observer.go_on()?;
                    found.part_of[record as usize] = found.parts.len() as u32;
                    let lost =
                        data.items(record).iter().map(|&leaf| weight_in(&data.tree, &group.nodes, leaf));
                    found.loss += lost.map(Loss::from).sum::<Loss>();
                }
                found.parts.push(group.nodes);
            }
            Some(node) => {
                let kept = expand(data, &mut group, node, &may_stand_alone, observer)?;
                // What is left is done with this node.
                group.closed.push(node);
                if !group.records.is_empty() {
                    open.push(group);
                }
                open.extend(kept);
            }
        }
    }
    Ok(found)
}

/// What a leaf loses in a group: the weight of the node that stands for it.
fn weight_in(tree: &Tree, nodes: &[Node], leaf: u32) -> u64 {
    let leaf = tree.leaf(leaf);
    let before = nodes.partition_point(|&n| n <= leaf);
    before.checked_sub(1).map_or(0, |i| tree.weight(nodes[i]))
}

/// The node whose expansion would save most, over all records of the group; ties go to the smallest.
fn next_node(data: &Transactions, group: &Group, observer: &dyn Observer) -> Result<Option<Node>> {
    let tree = &data.tree;
    let candidates: Vec<Node> =
        (group.nodes.iter().copied()).filter(|&n| !tree.is_leaf(n) && !group.closed.contains(&n)).collect();
    let mut saved: Vec<Loss> = vec![0; candidates.len()];
    for &record in &group.records {
        observer.go_on()?;
        for &leaf in data.items(record) {
            let node = tree.leaf(leaf);
            let before = candidates.partition_point(|&n| n <= node);
            if let Some(i) = before.checked_sub(1).filter(|&i| tree.covers(candidates[i], node)) {
                let child = child_above(tree, candidates[i], node);
                saved[i] += Loss::from(tree.weight(candidates[i]) - tree.weight(child));
            }
        }
    }
    let best = (0..candidates.len()).max_by_key(|&i| (saved[i], std::cmp::Reverse(candidates[i])));
    Ok(best.map(|i| candidates[i]))
}

/// The child of a node that is at or above a leaf below it.
fn child_above(tree: &Tree, node: Node, leaf: Node) -> Node {
    let mut at = leaf;
    while tree.parent(at) != node {
        at = tree.parent(at);
    }
    at
}

/// Parts a group by the children of a node that its records hold. Gives the parts that may stand alone; the others stay in
/// the group.
fn expand(
    data: &Transactions,
    group: &mut Group,
    node: Node,
    may_stand_alone: &dyn Fn(&[u32]) -> bool,
    observer: &dyn Observer,
) -> Result<Vec<Group>> {
    let tree = &data.tree;
    let mut parts: BTreeMap<Vec<Node>, Vec<u32>> = BTreeMap::new();
    for &record in &group.records {
        observer.go_on()?;
        let mut held: Vec<Node> = Vec::new();
        for &leaf in data.items(record) {
            let leaf = tree.leaf(leaf);
            if tree.covers(node, leaf) && held.last().is_none_or(|&last| !tree.covers(last, leaf)) {
                held.push(child_above(tree, node, leaf));
            }
        }
        parts.entry(held).or_default().push(record);
    }
    let mut left: Vec<u32> = Vec::new();
    let mut kept: Vec<(Vec<Node>, Vec<u32>)> = Vec::new();
    for (held, records) in parts {
        observer.go_on()?;
        if may_stand_alone(&records) { kept.push((held, records)) } else { left.extend(records) }
    }
    // The rest must be able to stand alone too: records of the largest part fill it up, and whole parts if need be.
    while !left.is_empty() && !may_stand_alone(&left) && !kept.is_empty() {
        observer.go_on()?;
        let largest = (0..kept.len()).max_by_key(|&i| (kept[i].1.len(), std::cmp::Reverse(i))).unwrap_or(0);
        let records = &mut kept[largest].1;
        left.extend(records.pop());
        if !may_stand_alone(records) {
            left.append(records);
            kept.remove(largest);
        }
    }
    left.sort_by(|&a, &b| {
        data.items(a).cmp(data.items(b)).then_with(|| data.secrets(a).cmp(data.secrets(b))).then(a.cmp(&b))
    });
    group.records = left;
    let others: Vec<Node> = group.nodes.iter().copied().filter(|&n| n != node).collect();
    let groups = kept.into_iter().map(|(held, records)| {
        let mut nodes = others.clone();
        nodes.extend(held);
        nodes.sort_unstable();
        Group { records, nodes, closed: group.closed.clone() }
    });
    Ok(groups.collect())
}
