//! The size of the paper's count tree, where its memory figures are reproduced.

use bosket_model::Result;

use crate::km::cuts::search::Search;
use crate::km::tree::Node;

/// How many nodes the count tree for itemsets of a size has at the cut so far: the beginnings of all such itemsets over
/// nodes at or above the cut. Nothing here needs that tree; this only counts what it would hold.
pub(crate) fn count_tree_nodes(search: &mut Search<'_>, size: usize) -> Result<u64> {
    let records: Vec<u32> = (0..search.data.len() as u32).collect();
    below(search, &mut Vec::new(), &records, size)
}

/// The nodes below a prefix from which an itemset of full size is reached.
fn below(search: &mut Search<'_>, prefix: &mut Vec<Node>, records: &[u32], size: usize) -> Result<u64> {
    let after = prefix.last().map_or(0, |&last| search.order.rank[last as usize] as usize + 1);
    let mut nodes = 0;
    for rank in after..search.order.nodes.len() {
        search.go_on()?;
        let node = search.order.nodes[rank];
        if search.cut.is_gone(node) || prefix.iter().any(|&p| search.data.tree.related(p, node)) {
            continue;
        }
        let shared = search.tids.among(records, node, &search.cut)?;
        if shared.is_empty() {
            continue;
        }
        if prefix.len() + 1 == size {
            nodes += 1;
            continue;
        }
        prefix.push(node);
        let under = below(search, prefix, &shared, size)?;
        prefix.pop();
        if under > 0 {
            nodes += under + 1;
        }
    }
    Ok(nodes)
}
