//! Laying the values of the data over the leaves.

use super::tree::{Hierarchy, NodeId};
use super::tree_builder::{Handle, TreeBuilder};

/// The label of the leaf that stands for a missing value.
pub const MISSING_LABEL: &str = "∅";

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

    /// The same hierarchy with a leaf for missing values directly under the root.
    #[must_use]
    pub fn with_missing(&self) -> Hierarchy {
        if self.node(MISSING_LABEL).is_some() {
            return self.clone();
        }
        let (mut builder, _) = self.regrow();
        builder.child(TreeBuilder::ROOT, MISSING_LABEL).expect("the label is free");
        builder.finish()
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
    fn missing_values_hang_under_the_root() {
        let h = parse("h", "a;A;*\n").expect("good").with_missing();
        let leaf = h.leaf(MISSING_LABEL).expect("there");
        assert_eq!(h.parent(leaf), Some(h.root()));
        assert_eq!(h.with_missing(), h);
    }
}
