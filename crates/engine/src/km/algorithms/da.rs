//! `da`: direct. Itemsets of all sizes in one walk over the count tree.
//!
//! The tree itself is not built: a prefix carries the records that have it. An itemset's generalizations come before it, so
//! whatever a repair leads to has been looked at already. For small data: everything that occurs is gone through.

use bosket_model::Result;

use crate::km::cuts::search::Search;
use crate::km::tree::Node;

/// Repairs all itemsets up to m in one pass.
pub(crate) fn da(search: &mut Search<'_>) -> Result<()> {
    let observer = search.observer;
    let nodes = search.order.nodes.len();
    observer.stage("itemsets", nodes as u64);
    loop {
        let before = search.cut.changes;
        for first in 0..nodes {
            let node = search.order.nodes[first];
            if !search.cut.is_gone(node) {
                let records = search.tids.shared(&[node], &search.cut)?;
                visit(search, &mut vec![node], &records)?;
            }
            observer.advance(1);
        }
        // Dropping an item lowers the supports above it, so what was looked at before may have become rare.
        if search.cut.changes == before || !search.cut.has_dropped() {
            break;
        }
    }
    Ok(())
}

/// Looks at a set and those that begin with it, until one of its nodes is generalized.
fn visit(search: &mut Search<'_>, set: &mut Vec<Node>, records: &[u32]) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    if records.len() < search.limits.k as usize {
        return search.repair(set);
    }
    if set.len() == search.limits.m {
        return Ok(());
    }
    let after = set.last().map_or(0, |&last| search.order.rank[last as usize] as usize + 1);
    for rank in after..search.order.nodes.len() {
        let node = search.order.nodes[rank];
        if search.cut.is_gone(node) || set.iter().any(|&n| search.data.tree.related(n, node)) {
            continue;
        }
        search.go_on()?;
        let shared = search.tids.among(records, node, &search.cut)?;
        set.push(node);
        visit(search, set, &shared)?;
        set.pop();
        if set.iter().any(|&n| search.cut.is_gone(n)) {
            break;
        }
    }
    Ok(())
}
