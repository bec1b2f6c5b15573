//! Applying a cut and its rules to the records.

use rustc_hash::FxHashMap;

use bosket_model::Kind;
use bosket_model::value_tree::{Item, RecordTree, ValueTrees};

use super::domain::{Domain, Node};
use super::search::Solution;
use super::violations::Pair;

/// The value trees that a solution makes of the input.
pub(super) fn publish(trees: &ValueTrees, domain: &Domain<'_>, solution: &Solution) -> ValueTrees {
    let (items, number) = published_items(trees, domain, &solution.cut);
    let above_item = domain.assign_all(&solution.cut);
    let rule: FxHashMap<Pair, u32> = solution.rules.iter().enumerate().map(|(i, &p)| (p, i as u32)).collect();
    let mut out = ValueTrees::over(items);
    let mut tree = RecordTree::default();
    let mut chain: Vec<Node> = Vec::new();
    for record in 0..trees.len() {
        tree.clear();
        let first = trees.nodes(record).start;
        // The published node of each input node; for one that is not published, of the nearest above.
        let mut placed: Vec<u32> = Vec::new();
        for node in trees.nodes(record) {
            chain.clear();
            let mut at = Some(node);
            while let Some(n) = at {
                chain.extend(above_item[trees.item(n) as usize]);
                at = trees.parent(n);
            }
            chain.reverse();
            // What hangs below a value stays where it is when the value moves: a place after the last position.
            let above = rewrite(&chain, &rule);
            let mut below = RecordTree::ROOT;
            for (j, mask) in above.iter().enumerate() {
                let mut parent = RecordTree::ROOT;
                for (i, &value) in chain.iter().enumerate().take(j) {
                    if mask >> i & 1 == 1 {
                        parent = tree.child(parent, number[&value]);
                    }
                }
                match chain.get(j) {
                    Some(value) => drop(tree.child(parent, number[value])),
                    None => below = parent,
                }
            }
            placed.push(below);
        }
        for payload in trees.payloads(record) {
            let at = payload.node.map_or(RecordTree::ROOT, |n| placed[n as usize - first]);
            tree.payload(at, payload.home, payload.values.clone());
        }
        out.append(&mut tree);
    }
    out
}

/// The ancestors of each position of a path, and of whatever hangs below its end, after all rules in their order.
pub(super) fn rewrite(path: &[Node], rule: &FxHashMap<Pair, u32>) -> Vec<u64> {
    let mut above: Vec<u64> = (0..=path.len()).map(|j| (1u64 << j) - 1).collect();
    let mut apply: Vec<(u32, usize, usize)> = Vec::new();
    for j in 1..path.len() {
        for i in 0..j {
            apply.extend(rule.get(&(path[i], path[j])).map(|&order| (order, i, j)));
        }
    }
    apply.sort_unstable();
    for (_, i, j) in apply {
        if above[j] >> i & 1 == 1 {
            above[j] = above[i];
            above.iter_mut().for_each(|mask| *mask &= !(1 << j));
        }
    }
    above
}

/// The items of a publication. An attribute of which anything is generalized is text.
fn published_items(
    trees: &ValueTrees,
    domain: &Domain<'_>,
    cut: &[Node],
) -> (Vec<Item>, FxHashMap<Node, u32>) {
    let original: FxHashMap<Node, (&str, Kind)> = trees
        .items()
        .iter()
        .enumerate()
        .map(|(i, item)| (domain.leaf_of_item(i as u32), (item.label.as_str(), item.kind)))
        .collect();
    let mut items: Vec<(Item, Node)> = (cut.iter())
        .map(|&node| {
            let level = domain.level_of(node);
            let whole =
                cut.iter().filter(|&&n| domain.level_of(n) == level).all(|n| original.contains_key(n));
            let (label, kind) = match original.get(&node) {
                Some(&(label, kind)) if whole => (label, kind),
                _ => (domain.label(node), Kind::Text),
            };
            (Item { declared: domain.levels[level].declared, label: label.to_owned(), kind }, node)
        })
        .collect();
    items.sort();
    let number = items.iter().enumerate().map(|(i, (_, node))| (*node, i as u32)).collect();
    (items.into_iter().map(|(item, _)| item).collect(), number)
}
