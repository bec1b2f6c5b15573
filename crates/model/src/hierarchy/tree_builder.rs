//! Growing a hierarchy from the root downwards; the one place where nodes get their numbers.

use super::labels::Labels;
use super::tree::{Hierarchy, ROOT_LABEL, unspecified};

/// A node of a tree that is still growing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(u32);

impl Handle {
    /// The number as an index: handles count up from the root, which is 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A growing tree. Siblings keep the order in which they were planted.
#[derive(Clone)]
pub struct TreeBuilder {
    labels: Labels,
    parents: Vec<u32>,
    data: Vec<Handle>,
}

impl Default for TreeBuilder {
    fn default() -> Self {
        let mut labels = Labels::default();
        labels.push(ROOT_LABEL);
        TreeBuilder { labels, parents: vec![0], data: Vec::new() }
    }
}

impl TreeBuilder {
    /// The root, labelled `*`.
    pub const ROOT: Handle = Handle(0);

    /// A tree that is only its root.
    pub fn new() -> Self {
        TreeBuilder::default()
    }

    /// The node with this label.
    pub fn node(&self, label: &str) -> Option<Handle> {
        self.labels.find(label).map(Handle)
    }

    /// The node above; the root is its own.
    pub fn parent(&self, node: Handle) -> Handle {
        Handle(self.parents[node.index()])
    }

    /// What is published for the node.
    pub fn label(&self, node: Handle) -> &str {
        self.labels.get(node.0)
    }

    /// How many nodes there are.
    #[expect(clippy::len_without_is_empty, reason = "there is always a root")]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// The child of `parent` with this label, planted if need be. A node below itself is itself. Labels are unique:
    /// when one is taken elsewhere, that node is the error.
    pub fn child(&mut self, parent: Handle, label: &str) -> Result<Handle, Handle> {
        match self.node(label) {
            Some(node) if node == parent || (node != Self::ROOT && self.parent(node) == parent) => Ok(node),
            Some(node) => Err(node),
            None => {
                self.parents.push(parent.0);
                Ok(Handle(self.labels.push(label)))
            }
        }
    }

    /// The node with this label, planted below `parent` unless it has a place already.
    pub fn place(&mut self, parent: Handle, label: &str) -> Handle {
        self.child(parent, label).unwrap_or_else(|elsewhere| elsewhere)
    }

    /// Says that the node occurs as data: if it ends up as an inner node, it gets a leaf of its own.
    pub fn mark_data(&mut self, node: Handle) {
        self.data.push(node);
    }

    /// Whether `node` is `ancestor` or lies below it.
    pub fn is_below_or_self(&self, node: Handle, ancestor: Handle) -> bool {
        let mut at = node;
        while at != ancestor && at != Self::ROOT {
            at = self.parent(at);
        }
        at == ancestor
    }

    /// Numbers the nodes depth first.
    ///
    /// An inner node that occurs as data gets its leaf as first child. If the leaf's label is taken by another node,
    /// it gets none: its value is then covered by nothing, which the binding of the data reports.
    pub fn finish(mut self) -> Hierarchy {
        let planted = self.parents.len();
        let mut inner = vec![false; planted];
        for &parent in &self.parents[1..] {
            inner[parent as usize] = true;
        }
        for node in std::mem::take(&mut self.data) {
            let label = unspecified(self.label(node));
            if inner[node.index()] && self.node(&label).is_none() {
                self.parents.push(node.0);
                self.labels.push(&label);
            }
        }
        // The leaves just added come first, so that a value stands before what it contains.
        let arrival = || (planted..self.parents.len()).chain(1..planted);
        let (starts, children) = group_by_parent(&self.parents, arrival);
        let mut labels = Labels::default();
        let mut parents = Vec::with_capacity(self.parents.len());
        let mut stack = vec![(0u32, 0u32)];
        while let Some((node, parent)) = stack.pop() {
            let number = labels.push(self.labels.get(node));
            parents.push(parent);
            let below = starts[node as usize] as usize..starts[node as usize + 1] as usize;
            stack.extend(children[below].iter().rev().map(|&child| (child, number)));
        }
        Hierarchy::from_preorder(labels, parents)
    }
}

/// Plants sorted leaves below nested levels without asking for every level's label again at each leaf.
pub(super) struct Ladder<K> {
    rungs: Vec<Option<(K, Handle)>>,
}

impl<K: PartialEq + Copy> Ladder<K> {
    pub(super) fn new(levels: usize) -> Self {
        Ladder { rungs: vec![None; levels] }
    }

    /// The node reached from the root by the given keys, coarsest first. Equal keys at one level must mean equal keys
    /// at all coarser ones.
    pub(super) fn descend<W: Copy>(
        &mut self,
        builder: &mut TreeBuilder,
        keys: impl Iterator<Item = (K, W)>,
        label: impl Fn(K, W) -> String,
    ) -> Handle {
        let mut at = TreeBuilder::ROOT;
        for (rung, (key, what)) in self.rungs.iter_mut().zip(keys) {
            at = match *rung {
                Some((last, node)) if last == key => node,
                _ => builder.place(at, &label(key, what)),
            };
            *rung = Some((key, at));
        }
        at
    }
}

/// The children of node `n` are `children[starts[n]..starts[n + 1]]`, in order of arrival.
fn group_by_parent<I: Iterator<Item = usize>>(
    parents: &[u32],
    arrival: impl Fn() -> I,
) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; parents.len() + 1];
    for n in arrival() {
        starts[parents[n] as usize + 1] += 1;
    }
    for n in 0..parents.len() {
        starts[n + 1] += starts[n];
    }
    let mut next = starts.clone();
    let mut children = vec![0u32; parents.len() - 1];
    for n in arrival() {
        let slot = &mut next[parents[n] as usize];
        children[*slot as usize] = n as u32;
        *slot += 1;
    }
    (starts, children)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planting_order_does_not_disturb_the_numbering() {
        let mut b = TreeBuilder::new();
        let x = b.child(TreeBuilder::ROOT, "x").expect("free");
        let y = b.child(TreeBuilder::ROOT, "y").expect("free");
        for (parent, label) in [(y, "y1"), (x, "x1"), (y, "y2"), (x, "x2")] {
            b.child(parent, label).expect("free");
        }
        let h = b.finish();
        assert_eq!(
            h.nodes().map(|n| h.label(n)).collect::<Vec<_>>(),
            ["*", "x", "x1", "x2", "y", "y1", "y2"]
        );
    }

    #[test]
    fn a_label_has_one_place() {
        let mut b = TreeBuilder::new();
        let x = b.child(TreeBuilder::ROOT, "x").expect("free");
        let y = b.child(TreeBuilder::ROOT, "y").expect("free");
        let leaf = b.child(x, "leaf").expect("free");
        assert_eq!(b.child(x, "leaf"), Ok(leaf));
        assert_eq!(b.child(y, "leaf"), Err(leaf));
        assert_eq!(b.child(x, "x"), Ok(x));
        assert_eq!(b.child(x, "*"), Err(TreeBuilder::ROOT));
        assert_eq!(b.child(TreeBuilder::ROOT, "*"), Ok(TreeBuilder::ROOT));
        assert!(
            b.is_below_or_self(leaf, x) && b.is_below_or_self(leaf, leaf) && !b.is_below_or_self(x, leaf)
        );
    }

    #[test]
    fn an_unspecified_leaf_is_made_once() {
        let mut b = TreeBuilder::new();
        let x = b.child(TreeBuilder::ROOT, "x").expect("free");
        b.child(x, "x1").expect("free");
        b.child(x, "x (unspecified)").expect("free");
        b.mark_data(x);
        b.mark_data(x);
        b.mark_data(TreeBuilder::ROOT);
        let h = b.finish();
        let labels: Vec<_> = h.nodes().map(|n| h.label(n)).collect();
        assert_eq!(labels, ["*", "* (unspecified)", "x", "x1", "x (unspecified)"]);
        assert_eq!(h.leaf("x"), h.node("x (unspecified)"));
        assert_eq!(h.leaf("*"), h.node("* (unspecified)"));
    }

    #[test]
    fn the_root_alone_is_a_leaf() {
        let h = TreeBuilder::new().finish();
        assert_eq!((h.len(), h.leaf_count(), h.height()), (1, 1, 0));
        assert!(h.is_leaf(h.root()));
    }
}
