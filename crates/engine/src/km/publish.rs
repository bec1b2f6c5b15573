//! Applying what was found to the records.

use rustc_hash::FxHashMap;

use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::value_tree::{Item, RecordTree, ValueTrees};
use bosket_model::{Kind, Result};

use super::recoding::Recoding;
use super::transactions::Transactions;
use super::tree::Node;

/// The value trees that a solution makes of the input.
pub(super) fn publish(
    trees: &ValueTrees,
    hierarchy: &Hierarchy,
    data: &Transactions,
    found: &Recoding,
    observer: &dyn Observer,
) -> Result<ValueTrees> {
    publish_part(trees, hierarchy, data, found, None, observer)
}

/// The same for a part of the records; `used` are the nodes that all of them are published as.
pub(super) fn publish_part(
    trees: &ValueTrees,
    hierarchy: &Hierarchy,
    data: &Transactions,
    found: &Recoding,
    used: Option<Vec<bool>>,
    observer: &dyn Observer,
) -> Result<ValueTrees> {
    let leaf_of: Vec<u32> = (trees.items().iter())
        .map(|item| hierarchy.leaves(hierarchy.leaf(&item.label).expect("covered")).start)
        .collect();
    let place = found.places(data);
    let look = |record: usize, item: u32| {
        let leaf = leaf_of[item as usize];
        match data.sensitive.binary_search(&leaf) {
            Ok(_) => Some(data.tree.leaf(leaf)),
            Err(_) => place(record, leaf).map(|node| data.tree.lowest(node)),
        }
    };
    // Where all records are alike in that, an item is looked up once.
    let common: Vec<Option<Node>> = match found.is_global() {
        true => (0..leaf_of.len() as u32).map(|item| look(0, item)).collect(),
        false => Vec::new(),
    };
    let placed = |record: usize, item: u32| match common.get(item as usize) {
        Some(&node) => node,
        None => look(record, item),
    };
    let used = match used {
        Some(used) => used,
        None => {
            let mut used = vec![false; hierarchy.len()];
            for record in 0..trees.len() {
                observer.go_on()?;
                for node in trees.nodes(record) {
                    if let Some(to) = placed(record, trees.item(node)) {
                        used[to as usize] = true;
                    }
                }
            }
            used
        }
    };
    let (items, number) = published_items(trees, hierarchy, &leaf_of, data, &used);
    let mut out = ValueTrees::over(items);
    out.reserve(trees);
    if trees.are_sets() {
        let mut items: Vec<u32> = Vec::new();
        for record in 0..trees.len() {
            observer.go_on()?;
            items.clear();
            let nodes = trees.nodes(record).filter_map(|node| placed(record, trees.item(node)));
            items.extend(nodes.map(|to| number[to as usize]));
            out.append_items(&mut items);
        }
        return Ok(out);
    }
    let mut tree = RecordTree::default();
    let mut now: Vec<u32> = Vec::new();
    for record in 0..trees.len() {
        observer.go_on()?;
        tree.clear();
        now.clear();
        let first = trees.nodes(record).start;
        for node in trees.nodes(record) {
            now.push(match placed(record, trees.item(node)) {
                Some(to) => tree.child(RecordTree::ROOT, number[to as usize]),
                None => RecordTree::ROOT,
            });
        }
        for payload in trees.payloads(record) {
            let at = payload.node.map_or(RecordTree::ROOT, |n| now[n as usize - first]);
            tree.payload(at, payload.home, payload.values.clone());
        }
        out.append(&mut tree);
    }
    Ok(out)
}

/// The items of a publication, and per node its item. If anything is generalized, all of it is text.
fn published_items(
    trees: &ValueTrees,
    hierarchy: &Hierarchy,
    leaf_of: &[u32],
    data: &Transactions,
    used: &[bool],
) -> (Vec<Item>, Vec<u32>) {
    // Two items that differ in kind only share a leaf; the first stands for both. The label of an inner node would say
    // that it may be anything below: such a value is published by the label of its leaf.
    let mut original: FxHashMap<Node, &Item> = FxHashMap::default();
    for (i, item) in trees.items().iter().enumerate().filter(|(_, item)| !hierarchy.is_inner(&item.label)) {
        original.entry(data.tree.leaf(leaf_of[i])).or_insert(item);
    }
    let nodes = || (0..used.len() as Node).filter(|&n| used[n as usize]);
    let whole = nodes().all(|n| original.contains_key(&n));
    let declared = trees.items().first().map_or(0, |i| i.declared);
    let mut items: Vec<(Item, Node)> = nodes()
        .map(|node| {
            let item = match original.get(&node) {
                Some(&item) if whole => item.clone(),
                _ => Item { declared, label: hierarchy.label(NodeId(node)).to_owned(), kind: Kind::Text },
            };
            (item, node)
        })
        .collect();
    items.sort();
    let mut number = vec![u32::MAX; used.len()];
    items.iter().enumerate().for_each(|(i, (_, node))| number[*node as usize] = i as u32);
    (items.into_iter().map(|(item, _)| item).collect(), number)
}
