//! Local recoding of sets: each transaction by a cut of its own part.

use bosket_model::hierarchy::NodeId;
use bosket_model::observe::Observer;
use bosket_model::policy::{Payload, RootMode};
use bosket_model::value_tree::ValueTrees;

use super::{Comparison, Side, Untruth, assign};

/// An item as a node of its attribute's hierarchy, or as a label where there is none.
#[derive(PartialEq)]
enum Known {
    Node(usize, NodeId),
    Label(usize, String),
}

pub(super) fn compare(c: &Comparison<'_>, observer: &dyn Observer) -> Vec<Untruth> {
    let mut unknown = Vec::new();
    let mut side = |side: &Side<'_>, published: bool| -> (ValueTrees, Vec<Option<Known>>) {
        let trees = ValueTrees::new(side.data, side.binding, RootMode::Separate, Payload::Drop);
        let known = (trees.items().iter())
            .map(|item| match &c.hierarchies[item.declared] {
                None => Some(Known::Label(item.declared, item.label.clone())),
                Some(h) => {
                    let node = if published { h.node(&item.label) } else { h.leaf(&item.label) };
                    if node.is_none() {
                        unknown.push(side.binding.declared[item.declared].path.clone());
                    }
                    node.map(|n| Known::Node(item.declared, n))
                }
            })
            .collect();
        (trees, known)
    };
    let (published, out) = side(&c.published, true);
    let (input, original) = side(&c.input, false);
    if !unknown.is_empty() {
        let count = unknown.len();
        return vec![Untruth::new(format!("{count} values are in no hierarchy")).path(&unknown[0])];
    }
    let covers = |p: u32, i: u32| match (&out[p as usize], &original[i as usize]) {
        (Some(Known::Node(pd, pn)), Some(Known::Node(id, leaf))) => {
            pd == id && c.hierarchies[*pd].as_ref().is_some_and(|h| h.is_ancestor_or_self(*pn, *leaf))
        }
        (p, i) => p == i,
    };
    let items = |trees: &ValueTrees, record: usize| -> Vec<u32> {
        let mut items: Vec<u32> = trees.nodes(record).map(|n| trees.item(n)).collect();
        items.sort_unstable();
        items
    };
    let out_items: Vec<Vec<u32>> = (0..published.len()).map(|r| items(&published, r)).collect();
    let in_items: Vec<Vec<u32>> = (0..input.len()).map(|r| items(&input, r)).collect();
    assign(c, observer, |p, i| {
        let (p, i) = (&out_items[p], &in_items[i]);
        // An empty publication of a record is its suppression; else every item went to exactly one published one.
        p.is_empty()
            || (p.iter().all(|&p| i.iter().any(|&i| covers(p, i)))
                && i.iter().all(|&i| {
                    let over = p.iter().filter(|&&p| covers(p, i)).count();
                    over == 1 || (over == 0 && c.suppress)
                }))
    })
}
