//! Re-specialising: generalizations that later ones have made unnecessary are undone.
//!
//! Specialising a node can only lower supports, so a node whose children would be rare somewhere stays so whatever else is
//! specialised: each is tried once, the one that saves most first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bosket_model::Result;
use rayon::prelude::*;

use super::beyond;
use super::cut::DROPPED;
use super::search::Search;
use crate::km::counting::coded::{Coded, Codes};
use crate::km::counting::rare::{Bounds, rare_sets};
use crate::km::tree::Node;

/// Lets nodes of the cut go down to their children wherever that keeps the promise.
pub(crate) fn improve(search: &mut Search<'_>, l: Option<f64>) -> Result<()> {
    let mut stays = vec![false; search.data.tree.len()];
    improve_above(search, l, &|_| true, &mut stays).map(|_| ())
}

/// The same where the records are known to show no more than some nodes' children: others are handed back as soon as the first
/// of them would be looked at, with all of them that wait for it, and the cut is no more than what was reached by then.
/// `stays` are nodes that are known not to go down; those that turn out so join them.
pub(crate) fn improve_above(
    search: &mut Search<'_>,
    l: Option<f64>,
    is_shown: &dyn Fn(Node) -> bool,
    stays: &mut [bool],
) -> Result<Vec<Node>> {
    let observer = search.observer;
    let mut open: BinaryHeap<_> = BinaryHeap::new();
    let push = |open: &mut BinaryHeap<_>, search: &Search<'_>, node: Node| {
        if !search.data.tree.is_leaf(node) && search.cut.occurrences(node) > 0 {
            open.push((search.cut.saving(node), Reverse(node)));
        }
    };
    search.cut.nodes().into_iter().for_each(|node| push(&mut open, search, node));
    observer.stage("re-specialising", open.len() as u64);
    let asked = beyond::is_asked(search.data, l);
    while let Some((_, Reverse(node))) = open.pop() {
        observer.go_on()?;
        observer.advance(1);
        if stays[node as usize] {
            continue;
        }
        if !is_shown(node) {
            if !may_go_down(search, node) {
                continue;
            }
            let waiting = open.into_iter().map(|(_, Reverse(other))| other);
            let waiting = waiting
                .filter(|&other| !stays[other as usize] && !is_shown(other) && may_go_down(search, other));
            let mut unknown: Vec<Node> = std::iter::once(node).chain(waiting).collect();
            unknown.sort_unstable();
            return Ok(unknown);
        }
        if !stays_frequent(search, node)? {
            stays[node as usize] = true;
            continue;
        }
        let before = asked.then(|| search.cut.clone());
        search.cut.specialise(node);
        if let Some(before) = before {
            let holds = beyond::holds(search, l);
            if !matches!(holds, Ok(true)) {
                // Also where nobody can wait for the answer: the cut keeps the promise at any time.
                search.cut = before;
                holds?;
                continue;
            }
        }
        let tree = search.data.tree.clone();
        tree.children(node).filter(|&c| !search.cut.is_gone(c)).for_each(|c| push(&mut open, search, c));
    }
    Ok(Vec::new())
}

/// Whether the children of a node are frequent on their own, as far as the counts of all records tell.
fn may_go_down(search: &Search<'_>, node: Node) -> bool {
    // Where items were dropped, counts are too high.
    let mut occurring = search.data.tree.children(node).filter(|&c| search.cut.occurrences(c) > 0);
    occurring.all(|child| search.data.support(child) >= search.limits.k)
}

/// Whether all itemsets with a child of the node, up to m items, would be frequent.
fn stays_frequent(search: &mut Search<'_>, node: Node) -> Result<bool> {
    let k = search.limits.k;
    let tree = search.data.tree.clone();
    let occurring = tree.children(node).filter(|&c| search.cut.occurrences(c) > 0);
    let mut children: Vec<Node> = occurring.collect();
    // What is rare is most likely to be rare together with something.
    children.sort_by_key(|&c| (search.data.support(c), c));
    for &child in &children {
        if search.support(&[child])? < k {
            return Ok(false);
        }
    }
    if search.limits.m == 1 {
        return Ok(true);
    }
    let mut at = search.cut.at().to_vec();
    for &child in &children {
        for leaf in tree.leaves(child) {
            if !search.cut.is_dropped(leaf) {
                at[leaf as usize] = child;
            }
        }
    }
    for &child in &children {
        let partners = partners(search, &[child], &at)?;
        let frequent = partners.iter().all(|&(support, _)| support >= k)
            && (search.limits.m == 2
                || !is_rare_with_rarest(search, child, &partners, &at)?
                    && has_frequent_others(search, child, &at)?);
        if !frequent {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Records that a thread goes through at once.
const PART: usize = 1 << 15;

/// The nodes with which some nodes occur, and in how many records, the rarest first.
fn partners(search: &mut Search<'_>, nodes: &[Node], at: &[Node]) -> Result<Vec<(u32, Node)>> {
    let (data, observer, none) = (search.data, search.observer, || vec![0u32; search.data.tree.len()]);
    let records = search.tids.shared(nodes, &search.cut)?;
    let parts = records.par_chunks(PART).map(|records| {
        let mut count = none();
        data.visit(records.iter().copied(), observer, |leaves| {
            let mut last = DROPPED;
            for &leaf in leaves {
                let node = at[leaf as usize];
                if node != DROPPED && node != last {
                    count[node as usize] += 1;
                    last = node;
                }
            }
        })?;
        Ok(count)
    });
    let count = parts.try_reduce(none, |mut sum, part| {
        sum.iter_mut().zip(part).for_each(|(sum, count)| *sum += count);
        Ok(sum)
    })?;
    // At the root nothing is published.
    let occurring = (1..count.len()).filter(|&n| count[n] > 0 && !nodes.contains(&(n as Node)));
    let mut partners: Vec<(u32, Node)> = occurring.map(|n| (count[n], n as Node)).collect();
    partners.sort_unstable();
    Ok(partners)
}

/// Partners that are looked at before all of them are.
const FEW: usize = 8;

/// Whether a child is rare together with one of its rarest partners and a third node: where it is rare at all, it mostly is
/// there, and these have few records.
fn is_rare_with_rarest(
    search: &mut Search<'_>,
    child: Node,
    rarest: &[(u32, Node)],
    at: &[Node],
) -> Result<bool> {
    let k = search.limits.k;
    for &(_, other) in rarest.iter().take(FEW) {
        if partners(search, &[child, other], at)?.iter().any(|&(s, _)| s < k) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the itemsets of two or more in the records of a child are frequent there, and so together with it.
fn has_frequent_others(search: &mut Search<'_>, child: Node, at: &[Node]) -> Result<bool> {
    let records = search.tids.shared(&[child], &search.cut)?;
    let codes = Codes::new(search.data, &search.cut, at, |n| n != child);
    let coded = Coded::new(search.data, codes, &records, 2, search.observer)?;
    for size in 2..search.limits.m.min(coded.longest + 1) {
        let bounds =
            Bounds { size, k: search.limits.k, cap: 0, memory: search.limits.memory / 8, keep: false };
        if !rare_sets(&coded, bounds, search.observer)?.sets.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}
