//! `aa`: apriori. Itemsets of one item are repaired, then of two, up to m, each on the cut that the last left.
//!
//! An itemset violates if it is in some but fewer than k transactions. Supports do not depend on the cut, so the violating
//! itemsets of a size, over nodes at or above the cut, are known beforehand: the rare ones of the cut itself, and those
//! above them that are still rare. They are gone through in the order of the count tree, leaving out those with a node that
//! a repair has generalized meanwhile.

use bosket_model::Result;

use crate::km::counting::coded::Coded;
use crate::km::counting::count_tree::count_tree_nodes;
use crate::km::counting::counted::Counted;
use crate::km::counting::pairs;
use crate::km::counting::rare::{self, Bounds};
use crate::km::cuts::search::Search;
use crate::km::cuts::triples::triples;
use crate::km::cuts::walk::{Keys, Walk, above_and_through};

/// Repairs all itemsets up to m, level by level.
pub(crate) fn aa(search: &mut Search<'_>) -> Result<()> {
    let most = search.limits.m.min(search.data.longest());
    for size in 1..=most {
        if !all_of_size(search, size)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Repairs all itemsets of one size, those of which are smaller being frequent. Whether there is any.
pub(crate) fn all_of_size(search: &mut Search<'_>, size: usize) -> Result<bool> {
    let observer = search.observer;
    observer.stage(&format!("itemsets of size {size}"), 1);
    if let Some(largest) = search.count_tree {
        search.count_tree = Some(largest.max(count_tree_nodes(search, size)?));
    }
    loop {
        let before = search.cut.changes;
        if !level(search, size)? {
            return Ok(false);
        }
        // Dropping an item lowers the supports above it, so what was looked at before may have become rare.
        if search.cut.changes == before || !search.cut.has_dropped() {
            break;
        }
    }
    observer.advance(1);
    Ok(true)
}

/// Repairs the itemsets of one size. Whether there is any.
fn level(search: &mut Search<'_>, size: usize) -> Result<bool> {
    match size {
        1 => singles(search)?,
        _ => {
            let mut coded = Coded::at(search.data, &search.cut, search.limits.k, size, search.observer)?;
            if coded.longest < size {
                return Ok(false);
            }
            let limits = &search.limits;
            if size == 2 && pairs::bytes(&search.cut, limits.k) <= limits.memory / 2 {
                all_pairs(search, &coded)?;
            } else if size == 2 || !all_larger(search, &mut coded, size)? {
                Walk { prefix: Vec::new(), size }.visit(search, &coded)?;
            }
        }
    }
    Ok(true)
}

/// Repairs itemsets of three or more, all of which are counted first. Whether memory allows that.
fn all_larger(search: &mut Search<'_>, coded: &mut Coded, size: usize) -> Result<bool> {
    let bounds =
        Bounds { size, k: search.limits.k, cap: usize::MAX, memory: search.limits.memory / 8, keep: true };
    if !rare::planes_fit(coded, bounds) {
        return Ok(false);
    }
    coded.group_equal(search.limits.k, search.observer)?;
    let Some(planes) = rare::planes(coded, bounds, search.observer)? else {
        return Ok(false);
    };
    if size == 3 {
        // All that is asked from here on is in the planes, or asked of lists of records, which take as much memory.
        coded.forget_rows();
    }
    let coded = &*coded;
    let counted = Counted::new(coded, planes, size, search.data);
    if size == 3 {
        triples(search, &counted)?;
        return Ok(true);
    }
    let keys = Keys::new(search, size);
    let most = search.limits.memory / 128;
    let Some(sets) = counted.rare_sets(most, search.observer)?.filter(|_| keys.fit()) else {
        return Ok(false);
    };
    let suspects = keys.pack_all(search, coded, &sets);
    above_and_through(search, &[], keys, suspects, Some(&counted))?;
    Ok(true)
}

fn singles(search: &mut Search<'_>) -> Result<()> {
    for i in 0..search.order.nodes.len() {
        let node = search.order.nodes[i];
        if !search.cut.is_gone(node) {
            search.go_on()?;
            let support = search.support(&[node])?;
            if support > 0 && support < search.limits.k {
                search.repair(&[node])?;
            }
        }
    }
    Ok(())
}

/// Pairs, gone through by their first node: by the time its turn comes, most nodes are generalized.
fn all_pairs(search: &mut Search<'_>, coded: &Coded) -> Result<()> {
    let mut partners = pairs::partners(coded, &search.cut, search.limits.k, search.observer)?;
    let (mut suspects, mut seconds) = (Vec::new(), Vec::new());
    for first in 0..search.order.nodes.len() {
        let node = search.order.nodes[first];
        if search.cut.is_gone(node) {
            continue;
        }
        search.go_on()?;
        partners(node, &mut suspects);
        seconds.clear();
        let ranked = suspects.iter().map(|s| (search.order.rank[s.partner as usize], s.certain));
        seconds.extend(ranked.filter(|&(rank, _)| rank != u32::MAX && rank > first as u32));
        seconds.sort_unstable();
        for &(second, certain) in &seconds {
            let pair = [node, search.order.nodes[second as usize]];
            if search.cut.is_gone(pair[1]) {
                continue;
            }
            if certain || search.support(&pair)? < search.limits.k {
                search.repair(&pair)?;
                if search.cut.is_gone(node) {
                    break;
                }
            }
        }
    }
    Ok(())
}
