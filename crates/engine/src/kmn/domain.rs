//! All hierarchies of the quasi attributes as one numbering of nodes.

use std::sync::OnceLock;

use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::value_tree::ValueTrees;

use super::set::Set;

/// A node of some attribute's hierarchy, numbered over all attributes in the policy's order.
pub(super) type Node = u32;

/// One quasi attribute.
pub(super) struct Level<'a> {
    pub(super) declared: usize,
    pub(super) hierarchy: &'a Hierarchy,
    /// The number of its root; its other nodes follow.
    pub(super) root: Node,
    /// How much the detail of its values counts.
    weight: f64,
    /// Factor of a node in the loss of its path, by hierarchy depth: the nodes at that depth and the leaves above it.
    width: Vec<f64>,
}

/// The quasi attributes that occur in the data, with the records of each node.
pub(super) struct Domain<'a> {
    pub(super) levels: Vec<Level<'a>>,
    pub(super) records: usize,
    /// Per input item its level and leaf.
    leaf: Vec<(u32, Node)>,
    /// Per input item its records.
    item_records: Vec<Vec<u32>>,
    /// Per input item how many nodes of all records have it.
    item_nodes: Vec<u64>,
    sets: Vec<OnceLock<Set>>,
}

impl<'a> Domain<'a> {
    /// Lays the items of the input over the hierarchies, which cover all of them.
    pub(super) fn new(trees: &ValueTrees, hierarchies: &'a [Option<Hierarchy>], weights: &[f64]) -> Self {
        let mut levels: Vec<Level<'a>> = Vec::new();
        let mut leaf = Vec::new();
        let mut next: Node = 0;
        for item in trees.items() {
            let hierarchy =
                hierarchies[item.declared].as_ref().expect("every quasi attribute has a hierarchy");
            if levels.last().is_none_or(|l| l.declared != item.declared) {
                let weight = weights[item.declared];
                let width = widths(hierarchy, weight);
                levels.push(Level { declared: item.declared, hierarchy, root: next, weight, width });
                next += hierarchy.len() as Node;
            }
            let level = levels.len() - 1;
            let node = hierarchy.leaf(&item.label).expect("the hierarchy covers all values");
            leaf.push((level as u32, levels[level].root + node.0));
        }
        let mut item_records = vec![Vec::new(); trees.items().len()];
        let mut item_nodes = vec![0; trees.items().len()];
        for record in 0..trees.len() {
            for node in trees.nodes(record) {
                item_nodes[trees.item(node) as usize] += 1;
                let records: &mut Vec<u32> = &mut item_records[trees.item(node) as usize];
                if records.last() != Some(&(record as u32)) {
                    records.push(record as u32);
                }
            }
        }
        Domain {
            levels,
            records: trees.len(),
            leaf,
            item_records,
            item_nodes,
            sets: (0..next).map(|_| OnceLock::new()).collect(),
        }
    }

    pub(super) fn level_of_item(&self, item: u32) -> usize {
        self.leaf[item as usize].0 as usize
    }

    pub(super) fn leaf_of_item(&self, item: u32) -> Node {
        self.leaf[item as usize].1
    }

    pub(super) fn item_count(&self) -> usize {
        self.leaf.len()
    }

    pub(super) fn level_of(&self, node: Node) -> usize {
        self.levels.partition_point(|l| l.root <= node) - 1
    }

    pub(super) fn id(&self, node: Node) -> (usize, NodeId) {
        let level = self.level_of(node);
        (level, NodeId(node - self.levels[level].root))
    }

    pub(super) fn label(&self, node: Node) -> &str {
        let (level, id) = self.id(node);
        self.levels[level].hierarchy.label(id)
    }

    /// The node and everything below it, as numbers.
    pub(super) fn subtree(&self, node: Node) -> std::ops::Range<Node> {
        let (level, id) = self.id(node);
        let root = self.levels[level].root;
        let range = self.levels[level].hierarchy.subtree(id);
        root + range.start..root + range.end
    }

    /// The children that occur in the data.
    pub(super) fn children(&self, node: Node) -> Vec<Node> {
        let (level, id) = self.id(node);
        let root = self.levels[level].root;
        (self.levels[level].hierarchy.children(id))
            .map(|c| root + c.0)
            .filter(|&c| !self.set(c).is_empty())
            .collect()
    }

    /// The factor of a node at some depth of a tree.
    pub(super) fn factor(&self, node: Node, depth: usize) -> f64 {
        let (level, id) = self.id(node);
        depth as f64 * self.levels[level].width[self.levels[level].hierarchy.depth(id) as usize]
    }

    /// Detail lost by a cut: per value (leaves of its node − 1) / (leaves of the root − 1), 1 if it is left out; the mean over
    /// all values, weighted by attribute.
    pub(super) fn detail_lost(&self, cut: &[Node]) -> f64 {
        let (mut lost, mut all) = (0.0, 0.0);
        for (item, node) in self.assign_all(cut).into_iter().enumerate() {
            let level = &self.levels[self.level_of_item(item as u32)];
            let leaves = |n: NodeId| level.hierarchy.leaves(n).len() as f64;
            let root = leaves(NodeId::ROOT);
            let share = match node {
                None => 1.0,
                Some(_) if root < 2.0 => 0.0,
                Some(node) => (leaves(NodeId(node - level.root)) - 1.0) / (root - 1.0),
            };
            let values = self.item_nodes[item] as f64 * level.weight;
            lost += values * share;
            all += values;
        }
        lost / all
    }

    /// The records that have a value under the node.
    pub(super) fn set(&self, node: Node) -> &Set {
        self.sets[node as usize].get_or_init(|| {
            let below = self.subtree(node);
            let records: Vec<u32> = (self.items_of_level(self.level_of(node)))
                .filter(|&i| below.contains(&self.leaf[i].1))
                .flat_map(|i| self.item_records[i].iter().copied())
                .collect();
            Set::new(records, self.records)
        })
    }

    /// Items are numbered by attribute, so those of a level are one range.
    fn items_of_level(&self, level: usize) -> std::ops::Range<usize> {
        let from = self.leaf.partition_point(|l| (l.0 as usize) < level);
        let to = self.leaf.partition_point(|l| (l.0 as usize) <= level);
        from..to
    }

    /// For each item the node of a cut above it, if any.
    pub(super) fn assign_all(&self, cut: &[Node]) -> Vec<Option<Node>> {
        let mut all = vec![None; self.item_count()];
        for level in 0..self.levels.len() {
            let nodes: Vec<Node> = cut.iter().copied().filter(|&n| self.level_of(n) == level).collect();
            for (at, node) in self.assign(level, &nodes).into_iter().enumerate() {
                all[at] = all[at].or(node);
            }
        }
        all
    }

    /// For each item of a level the one of `nodes` above it, if any.
    pub(super) fn assign(&self, level: usize, nodes: &[Node]) -> Vec<Option<Node>> {
        let mut above = vec![None; self.item_count()];
        for &node in nodes {
            let below = self.subtree(node);
            for i in self.items_of_level(level) {
                if below.contains(&self.leaf[i].1) {
                    above[i] = Some(node);
                }
            }
        }
        above
    }
}

/// Per depth of a hierarchy: its nodes there, and the leaves above, which stay as they are; to the power of the weight.
fn widths(hierarchy: &Hierarchy, weight: f64) -> Vec<f64> {
    let mut at_depth = vec![0usize; hierarchy.height() as usize + 1];
    let mut leaves = vec![0usize; hierarchy.height() as usize + 1];
    for node in hierarchy.nodes() {
        at_depth[hierarchy.depth(node) as usize] += 1;
        if hierarchy.is_leaf(node) {
            leaves[hierarchy.depth(node) as usize] += 1;
        }
    }
    let mut above = 0;
    (at_depth.iter().zip(&leaves))
        .map(|(nodes, own)| {
            let width = nodes + above;
            above += own;
            (width as f64).powf(weight)
        })
        .collect()
}
