//! The hierarchy as plain arrays.

use std::ops::Range;

use bosket_model::hierarchy::Hierarchy;

/// A node of the hierarchy; numbered depth first, so that a cut's nodes in order are its leaf ranges in order.
pub(super) type Node = u32;

/// The root: everything, and so nothing that would be published.
pub(super) const ROOT: Node = 0;

/// The hierarchy as plain arrays. A leaf is known by its position among the leaves; a node's leaves are one range.
#[derive(Debug)]
pub(super) struct Tree {
    parent: Vec<Node>,
    end: Vec<Node>,
    first_leaf: Vec<u32>,
    last_leaf: Vec<u32>,
    leaf_node: Vec<Node>,
}

impl Tree {
    pub(super) fn new(hierarchy: &Hierarchy) -> Self {
        let nodes = hierarchy.nodes();
        Tree {
            parent: nodes.map(|n| hierarchy.parent(n).map_or(ROOT, |p| p.0)).collect(),
            end: hierarchy.nodes().map(|n| hierarchy.subtree(n).end).collect(),
            first_leaf: hierarchy.nodes().map(|n| hierarchy.leaves(n).start).collect(),
            last_leaf: hierarchy.nodes().map(|n| hierarchy.leaves(n).end).collect(),
            leaf_node: (0..hierarchy.leaf_count() as u32).map(|p| hierarchy.leaf_node(p).0).collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    pub(super) fn leaf_count(&self) -> usize {
        self.leaf_node.len()
    }

    /// The node above; the root is above itself.
    pub(super) fn parent(&self, node: Node) -> Node {
        self.parent[node as usize]
    }

    /// The node and all below it.
    pub(super) fn subtree(&self, node: Node) -> Range<Node> {
        node..self.end[node as usize]
    }

    /// The positions of the leaves at or below the node.
    pub(super) fn leaves(&self, node: Node) -> Range<u32> {
        self.first_leaf[node as usize]..self.last_leaf[node as usize]
    }

    pub(super) fn leaf(&self, position: u32) -> Node {
        self.leaf_node[position as usize]
    }

    /// A node over a single leaf says no more than that leaf.
    pub(super) fn lowest(&self, node: Node) -> Node {
        match self.leaves(node) {
            leaves if leaves.len() == 1 => self.leaf(leaves.start),
            _ => node,
        }
    }

    pub(super) fn is_leaf(&self, node: Node) -> bool {
        self.end[node as usize] == node + 1
    }

    /// Whether `a` is `b` or above it.
    pub(super) fn covers(&self, a: Node, b: Node) -> bool {
        a <= b && b < self.end[a as usize]
    }

    /// Whether one is the other or above it.
    pub(super) fn related(&self, a: Node, b: Node) -> bool {
        self.covers(a, b) || self.covers(b, a)
    }

    pub(super) fn children(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let end = self.end[node as usize];
        let below = move |next: Node| (next < end).then_some(next);
        std::iter::successors(below(node + 1), move |&c| below(self.end[c as usize]))
    }

    /// What an occurrence loses at the node, in parts of all leaves. At the root it is not published at all, however few
    /// leaves there are.
    pub(super) fn weight(&self, node: Node) -> u64 {
        match self.leaves(node).len() as u64 {
            1 if node != ROOT => 0,
            leaves => leaves,
        }
    }
}
