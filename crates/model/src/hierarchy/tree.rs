//! The hierarchy itself: a rooted tree whose leaves are original values.
//!
//! Nodes are numbered depth first, so a node's descendants are the numbers that follow it and its leaves are one
//! range of leaf positions. Ancestor tests, leaf counts and walks over children are then arithmetic.

use std::fmt;
use std::ops::Range;

use super::labels::Labels;
use super::range::Numbers;
use crate::diag::Result;
use crate::partition::bytes::{Reader, Writer, damaged};

/// The label of every root.
pub const ROOT_LABEL: &str = "*";

/// A node of one hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The root of every hierarchy.
    pub const ROOT: NodeId = NodeId(0);

    /// The number as an index into arrays with one element per node.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A domain generalization hierarchy.
///
/// Labels are unique. An inner node that also occurs as data has a leaf `<label> (unspecified)` of its own, which
/// stands for that value. A hierarchy over no values at all is its root alone, which then is a leaf.
#[derive(Clone, PartialEq)]
pub struct Hierarchy {
    labels: Labels,
    parents: Vec<u32>,
    depths: Vec<u32>,
    /// One past the last descendant.
    ends: Vec<u32>,
    /// How many leaves come before the node; one more element at the end for the total.
    leaves_before: Vec<u32>,
    leaf_nodes: Vec<u32>,
    /// Inner nodes that occur as data with the leaf that stands for them, sorted.
    own_leaves: Vec<(u32, u32)>,
    /// Other ways to write a label, sorted, with their nodes.
    spellings: Vec<(String, u32)>,
    height: u32,
    /// The numbers of the leaves, where ranges of them take the place of nodes.
    pub(super) numbers: Option<Numbers>,
}

impl Hierarchy {
    /// Takes labels and parents that are already in preorder; the tree builder sees to that.
    pub(super) fn from_preorder(labels: Labels, parents: Vec<u32>) -> Self {
        let nodes = parents.len();
        let mut depths = vec![0u32; nodes];
        let mut ends: Vec<u32> = (1..=nodes as u32).collect();
        for n in 1..nodes {
            depths[n] = depths[parents[n] as usize] + 1;
        }
        for n in (1..nodes).rev() {
            let parent = parents[n] as usize;
            ends[parent] = ends[parent].max(ends[n]);
        }
        let mut leaves_before = Vec::with_capacity(nodes + 1);
        let mut leaf_nodes = Vec::new();
        let mut own_leaves = Vec::new();
        for n in 0..nodes as u32 {
            leaves_before.push(leaf_nodes.len() as u32);
            if ends[n as usize] == n + 1 {
                leaf_nodes.push(n);
                let parent = parents[n as usize];
                if n > 0 && is_unspecified(labels.get(parent), labels.get(n)) {
                    own_leaves.push((parent, n));
                }
            }
        }
        leaves_before.push(leaf_nodes.len() as u32);
        own_leaves.sort_unstable();
        let height = depths.iter().copied().max().unwrap_or(0);
        let spellings = Vec::new();
        Hierarchy {
            labels,
            parents,
            depths,
            ends,
            leaves_before,
            leaf_nodes,
            own_leaves,
            spellings,
            height,
            numbers: None,
        }
    }

    /// The hierarchy as bytes. One whose nodes are ranges of numbers has no such form.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut out = Writer::new(*b"BkHi", 1);
        out.length(self.parents.len());
        for (node, &parent) in self.parents.iter().enumerate() {
            out.number(u64::from(parent));
            out.text(self.labels.get(node as u32));
        }
        out.length(self.spellings.len());
        for (text, node) in &self.spellings {
            out.text(text);
            out.number(u64::from(*node));
        }
        self.numbers.is_none().then(|| out.finish())
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, *b"BkHi", 1)?;
        let nodes = from.length()?;
        let (mut labels, mut parents) = (Labels::default(), Vec::new());
        for node in 0..nodes {
            let parent = from.small()?;
            let label = from.text()?;
            // Parents come first, and a node's descendants follow it.
            if (node > 0 && parent as usize >= node) || labels.find(label).is_some() {
                return Err(damaged());
            }
            labels.push(label);
            parents.push(parent);
        }
        if nodes == 0 {
            return Err(damaged());
        }
        let mut hierarchy = Self::from_preorder(labels, parents);
        for _ in 0..from.length()? {
            let (text, node) = (from.text()?.to_owned(), from.small()?);
            if node as usize >= nodes {
                return Err(damaged());
            }
            hierarchy.spellings.push((text, node));
        }
        from.end()?;
        Ok(hierarchy)
    }

    /// Adds a leaf behind all others, directly under the root, which is not a leaf itself.
    pub(super) fn push_leaf(&mut self, label: &str) {
        let node = self.labels.push(label);
        self.parents.push(NodeId::ROOT.0);
        self.depths.push(1);
        self.ends.push(node + 1);
        self.ends[NodeId::ROOT.index()] = node + 1;
        self.leaf_nodes.push(node);
        self.leaves_before.push(self.leaf_nodes.len() as u32);
    }

    /// How many nodes there are, the root included.
    #[expect(clippy::len_without_is_empty, reason = "there is always a root")]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// The root, labelled `*`.
    pub fn root(&self) -> NodeId {
        NodeId::ROOT
    }

    /// All nodes, parents before children.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.parents.len() as u32).map(NodeId)
    }

    /// What is published for the node.
    pub fn label(&self, n: NodeId) -> &str {
        self.labels.get(n.0)
    }

    /// The node above; none above the root.
    pub fn parent(&self, n: NodeId) -> Option<NodeId> {
        (n != NodeId::ROOT).then(|| NodeId(self.parents[n.index()]))
    }

    /// How many edges lie between the node and the root.
    pub fn depth(&self, n: NodeId) -> u32 {
        self.depths[n.index()]
    }

    /// The depth of the deepest node.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The nodes directly below, in order.
    pub fn children(&self, n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.ends[n.index()];
        let below = move |next: u32| (next < end).then_some(NodeId(next));
        std::iter::successors(below(n.0 + 1), move |c| below(self.ends[c.index()]))
    }

    /// The node and everything below it.
    pub fn subtree(&self, n: NodeId) -> Range<u32> {
        n.0..self.ends[n.index()]
    }

    /// Whether nothing is below.
    pub fn is_leaf(&self, n: NodeId) -> bool {
        self.ends[n.index()] == n.0 + 1
    }

    /// The positions of the leaves at or below the node.
    pub fn leaves(&self, n: NodeId) -> Range<u32> {
        self.leaves_before[n.index()]..self.leaves_before[self.ends[n.index()] as usize]
    }

    /// The leaf at a position.
    pub fn leaf_node(&self, position: u32) -> NodeId {
        NodeId(self.leaf_nodes[position as usize])
    }

    /// How many leaves there are.
    pub fn leaf_count(&self) -> usize {
        self.leaf_nodes.len()
    }

    /// Whether `a` is `b` or lies above it.
    pub fn is_ancestor_or_self(&self, a: NodeId, b: NodeId) -> bool {
        self.subtree(a).contains(&b.0)
    }

    /// The lowest node that is at or above both.
    pub fn lca(&self, a: NodeId, b: NodeId) -> NodeId {
        let mut at = a.0;
        // The root is above everything, so this ends.
        while !self.is_ancestor_or_self(NodeId(at), b) {
            at = self.parents[at as usize];
        }
        NodeId(at)
    }

    /// The node that is published as `label`, or that it is another spelling of.
    pub fn node(&self, label: &str) -> Option<NodeId> {
        let spelt = || {
            let at = self.spellings.binary_search_by(|(text, _)| text.as_str().cmp(label)).ok()?;
            Some(self.spellings[at].1)
        };
        self.labels.find(label).or_else(spelt).map(NodeId)
    }

    /// The same hierarchy, in which these texts mean these nodes. Labels keep their meaning.
    #[must_use]
    pub fn with_spellings(mut self, spellings: impl IntoIterator<Item = (String, NodeId)>) -> Self {
        self.spellings.extend(spellings.into_iter().map(|(text, node)| (text, node.0)));
        self.spellings.sort_unstable();
        self.spellings.dedup_by(|a, b| a.0 == b.0);
        self
    }

    /// The leaf that stands for the original value `label`.
    pub fn leaf(&self, label: &str) -> Option<NodeId> {
        let n = self.node(label)?;
        if self.is_leaf(n) { Some(n) } else { self.own_leaf(n) }
    }

    /// Whether the label is that of an inner node.
    pub fn is_inner(&self, label: &str) -> bool {
        self.node(label).is_some_and(|n| !self.is_leaf(n))
    }

    /// The leaf `<label> (unspecified)` of an inner node that occurs as data.
    pub fn own_leaf(&self, n: NodeId) -> Option<NodeId> {
        let at = self.own_leaves.binary_search_by_key(&n.0, |&(inner, _)| inner).ok()?;
        Some(NodeId(self.own_leaves[at].1))
    }
}

impl fmt::Debug for Hierarchy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Hierarchy({} nodes)\n{}",
            self.len(),
            super::draw(self, None, &super::DrawOptions::default())
        )
    }
}

const UNSPECIFIED: &str = " (unspecified)";

pub(super) fn unspecified(label: &str) -> String {
    format!("{label}{UNSPECIFIED}")
}

fn is_unspecified(inner: &str, leaf: &str) -> bool {
    leaf.strip_suffix(UNSPECIFIED) == Some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::csv::parse;

    fn diseases() -> Hierarchy {
        parse("h.csv", "Flu;Lung;*\nCough;Lung;*\nLung;*\nBurn;*\n").expect("a good file")
    }

    #[test]
    fn numbering_is_depth_first() {
        let h = diseases();
        let labels: Vec<_> = h.nodes().map(|n| h.label(n)).collect();
        assert_eq!(labels, ["*", "Lung", "Lung (unspecified)", "Flu", "Cough", "Burn"]);
        assert_eq!(h.leaves(h.root()), 0..4);
        assert_eq!(h.leaves(NodeId(1)), 0..3);
        assert_eq!(h.leaf_node(3), NodeId(5));
        assert_eq!(h.children(h.root()).collect::<Vec<_>>(), [NodeId(1), NodeId(5)]);
        assert_eq!(h.children(NodeId(5)).count(), 0);
        assert_eq!((h.height(), h.depth(NodeId(3)), h.depth(NodeId(5))), (2, 2, 1));
    }

    #[test]
    fn an_inner_value_has_a_leaf_of_its_own() {
        let h = diseases();
        assert_eq!(h.node("Lung"), Some(NodeId(1)));
        assert_eq!(h.leaf("Lung"), Some(NodeId(2)));
        assert_eq!(h.leaf("Flu"), Some(NodeId(3)));
        assert_eq!(h.leaf("*"), None);
        assert_eq!(h.leaf("Fever"), None);
    }

    #[test]
    fn ancestors() {
        let h = diseases();
        let node = |label| h.node(label).expect("a node");
        assert_eq!(h.lca(node("Flu"), node("Cough")), node("Lung"));
        assert_eq!(h.lca(node("Flu"), node("Lung")), node("Lung"));
        assert_eq!(h.lca(node("Flu"), node("Burn")), h.root());
        assert_eq!(h.lca(node("Flu"), node("Flu")), node("Flu"));
        assert!(h.is_ancestor_or_self(node("Lung"), node("Flu")));
        assert!(!h.is_ancestor_or_self(node("Flu"), node("Lung")));
        assert_eq!(h.parent(h.root()), None);
    }
}
