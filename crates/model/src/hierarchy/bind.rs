//! Laying the values of the data over the leaves.

use super::tree::{Hierarchy, NodeId};
use super::tree_builder::{Handle, TreeBuilder};

impl Hierarchy {
    /// The leaf of every value, in the order given, in a hierarchy that has a leaf `<label> (unspecified)` wherever
    /// an inner node occurs as data. Values that no node covers are the error, by their positions.
    pub fn bind<'a>(
        &self,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Result<(Hierarchy, Vec<NodeId>), Vec<usize>> {
        let values: Vec<&str> = values.into_iter().collect();
        let inner = values.iter().copied().filter(|v| self.leaf(v).is_none());
        let hierarchy = self.with_unspecified(inner);
        let mut leaves = Vec::with_capacity(values.len());
        let mut uncovered = Vec::new();
        for (at, value) in values.iter().enumerate() {
            match hierarchy.leaf(value) {
                Some(leaf) => leaves.push(leaf),
                None => uncovered.push(at),
            }
        }
        if uncovered.is_empty() { Ok((hierarchy, leaves)) } else { Err(uncovered) }
    }

    /// The same hierarchy with a leaf `<label> (unspecified)` for each inner node among `labels`. Other labels change
    /// nothing; nor does one whose leaf would need a label that another node has.
    #[must_use]
    pub fn with_unspecified<'a>(&self, labels: impl IntoIterator<Item = &'a str>) -> Hierarchy {
        let inner: Vec<NodeId> =
            labels.into_iter().filter_map(|l| self.node(l)).filter(|&n| !self.is_leaf(n)).collect();
        // A range has no place for what is no number.
        if inner.is_empty() || self.numbers.is_some() {
            return self.clone();
        }
        let (mut builder, handles) = self.regrow();
        for n in inner {
            builder.mark_data(handles[n.index()]);
        }
        builder.finish()
    }

    /// Per leaf whether one of the labels stands for it: that of an inner node stands for all leaves below.
    ///
    /// A value that is written like an inner node counts as listed if all others below that node are. Whoever has only
    /// the publication cannot know that the data has such a value, and must come to the same.
    pub fn listed<'a>(&self, labels: impl IntoIterator<Item = &'a str>) -> Vec<bool> {
        let mut listed = vec![false; self.leaf_count()];
        for node in labels.into_iter().filter_map(|label| self.node(label)) {
            self.leaves(node).for_each(|at| listed[at as usize] = true);
        }
        for inner in self.nodes() {
            let Some(own) = self.own_leaf(inner) else { continue };
            if self.proper_leaves(inner).all(|leaf| listed[self.leaves(leaf).start as usize]) {
                listed[self.leaves(own).start as usize] = true;
            }
        }
        listed
    }

    /// The leaves at or below the node, without those of values that are written like inner nodes; a leaf is its own.
    pub fn proper_leaves(&self, n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let leaves = self.leaves(n).map(|at| self.leaf_node(at));
        leaves.filter(move |&leaf| leaf == n || !self.is_own_leaf(leaf))
    }

    /// Whether the leaf stands for a value that is written like the inner node above it.
    pub fn is_own_leaf(&self, leaf: NodeId) -> bool {
        self.parent(leaf).is_some_and(|parent| self.own_leaf(parent) == Some(leaf))
    }

    /// The same hierarchy with one more leaf, the last one directly under the root. All other nodes keep their numbers.
    #[must_use]
    pub fn with_last_leaf(&self, label: &str) -> Hierarchy {
        if self.len() == 1 || self.node(label).is_some() {
            let (mut builder, _) = self.regrow();
            builder.place(TreeBuilder::ROOT, label);
            return builder.finish();
        }
        let mut hierarchy = self.clone();
        hierarchy.push_leaf(label);
        hierarchy
    }

    fn regrow(&self) -> (TreeBuilder, Vec<Handle>) {
        let mut builder = TreeBuilder::new();
        let mut handles = Vec::with_capacity(self.len());
        for n in self.nodes() {
            handles.push(match self.parent(n) {
                None => TreeBuilder::ROOT,
                Some(p) => builder.child(handles[p.index()], self.label(n)).expect("labels are unique"),
            });
        }
        (builder, handles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::csv::parse;

    #[test]
    fn values_find_their_leaves() {
        let h = parse("h", "a;A;*\nb;A;*\nc;*\n").expect("good");
        let (bound, leaves) = h.bind(["c", "A", "a", "A"]).expect("all covered");
        let labels: Vec<_> = leaves.iter().map(|&n| bound.label(n)).collect();
        assert_eq!(labels, ["c", "A (unspecified)", "a", "A (unspecified)"]);
        assert_eq!(bound.len(), h.len() + 1);
        assert_eq!(bound.bind(["A"]).expect("still covered").0, bound);
    }

    #[test]
    fn uncovered_values_are_told_by_position() {
        let h = parse("h", "a;A;*\n").expect("good");
        assert_eq!(h.bind(["a", "x", "A", "y"]).expect_err("x and y"), [1, 3]);
    }

    #[test]
    fn a_taken_label_leaves_the_value_uncovered() {
        let h = parse("h", "a;A;*\nA (unspecified);B;*\n").expect("good");
        assert_eq!(h.bind(["A"]).expect_err("the leaf's label is taken"), [0]);
    }

    #[test]
    fn a_label_of_an_inner_node_lists_all_its_leaves() {
        let h = parse("h", "a;A;B;*\nb;A;B;*\nc;B;*\nd;*\n").expect("good").with_unspecified(["A", "B"]);
        let listed = |labels: &[&str]| -> Vec<&str> {
            let listed = h.listed(labels.iter().copied());
            let leaves = (0..h.leaf_count() as u32).filter(|&at| listed[at as usize]);
            leaves.map(|at| h.label(h.leaf_node(at))).collect()
        };
        assert_eq!(listed(&["A"]), ["A (unspecified)", "a", "b"]);
        assert_eq!(listed(&["A"]), listed(&["a", "b"]));
        assert_eq!(listed(&["B"]), listed(&["c", "A"]));
        assert_eq!(listed(&["a", "A (unspecified)"]), ["A (unspecified)", "a"]);
        assert_eq!(listed(&["*"]).len(), h.leaf_count());
        assert_eq!(listed(&["x"]), [""; 0]);
    }

    #[test]
    fn a_last_leaf_changes_no_other_number() {
        let h = parse("h", "a;A;*\nb;A;*\nc;*\n").expect("good");
        let more = h.with_last_leaf("x");
        assert!(h.nodes().all(|n| h.label(n) == more.label(n) && h.parent(n) == more.parent(n)));
        let leaf = more.leaf("x").expect("there");
        assert_eq!((leaf.index(), more.parent(leaf)), (h.len(), Some(h.root())));
        assert_eq!(more.leaves(more.root()).len(), h.leaf_count() + 1);
        assert_eq!(more.leaf_node(h.leaf_count() as u32), leaf);
        assert_eq!(more.children(more.root()).last(), Some(leaf));
        let (mut builder, _) = h.regrow();
        builder.place(TreeBuilder::ROOT, "x");
        assert!(builder.finish() == more);
    }
}
