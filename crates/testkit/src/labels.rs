//! Hierarchies as plain lists of labels, and all their cuts.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::hierarchy::{Hierarchy, ROOT_LABEL, TreeBuilder};

use crate::dice::Dice;

/// A hierarchy: every label but the root's with the label above it.
#[derive(Clone, Debug)]
pub struct LabelTree {
    above: BTreeMap<String, String>,
}

impl LabelTree {
    /// A random hierarchy over leaves `<name>1` to `<name>4`, with up to three inner nodes. One of them may be a value
    /// of the data as well.
    pub fn random(dice: &mut Dice, name: &str) -> Self {
        let mut above = BTreeMap::new();
        let (upper, left, right) = (format!("{name}x"), format!("{name}y"), format!("{name}z"));
        let mut groups = vec![ROOT_LABEL.to_owned()];
        if dice.one_in(2) {
            above.insert(upper.clone(), ROOT_LABEL.to_owned());
            groups.push(upper);
        }
        for inner in [left, right] {
            above.insert(inner.clone(), groups[groups.len().min(2) - 1].clone());
            groups.push(inner);
        }
        for leaf in 1..=4 {
            above.insert(format!("{name}{leaf}"), dice.of(&groups).clone());
        }
        let mut tree = LabelTree { above };
        // An inner node without anything below would be a leaf.
        while let Some(bare) = tree.leaves().into_iter().find(|l| l.ends_with(['x', 'y', 'z'])) {
            tree.above.remove(&bare);
        }
        let inner: Vec<String> = tree.above.values().filter(|l| *l != ROOT_LABEL).cloned().collect();
        if !inner.is_empty() && dice.one_in(3) {
            let inner = dice.of(&inner).clone();
            tree.above.insert(format!("{inner} (unspecified)"), inner);
        }
        tree
    }

    /// The labels with nothing below.
    pub fn leaves(&self) -> Vec<String> {
        self.above.keys().filter(|l| !self.above.values().any(|above| above == *l)).cloned().collect()
    }

    /// The values that the data can have: leaves, and inner nodes in place of their unspecified leaf.
    pub fn values(&self) -> Vec<String> {
        self.leaves().iter().map(|l| l.trim_end_matches(" (unspecified)").to_owned()).collect()
    }

    /// All labels, the root's too.
    pub fn labels(&self) -> Vec<String> {
        self.above.keys().cloned().chain([ROOT_LABEL.to_owned()]).collect()
    }

    /// The leaf of a value of the data and all labels above it.
    pub fn chain(&self, value: &str) -> Vec<String> {
        let own = format!("{value} (unspecified)");
        let mut chain = vec![if self.above.contains_key(&own) { own } else { value.to_owned() }];
        while let Some(next) = self.above.get(&chain[chain.len() - 1]) {
            chain.push(next.clone());
        }
        chain
    }

    /// All cuts; with `partial` also those that leave some leaves without a node.
    pub fn cuts(&self, partial: bool) -> Vec<BTreeSet<String>> {
        self.cuts_below(ROOT_LABEL, partial)
    }

    fn cuts_below(&self, label: &str, partial: bool) -> Vec<BTreeSet<String>> {
        let mut cuts = vec![BTreeSet::from([label.to_owned()])];
        let children: Vec<&String> = self.above.iter().filter(|(_, a)| *a == label).map(|(l, _)| l).collect();
        if children.is_empty() {
            cuts.extend(partial.then(BTreeSet::new));
            return cuts;
        }
        let mut spread = vec![BTreeSet::new()];
        for child in children {
            let below = self.cuts_below(child, partial);
            spread = (spread.iter())
                .flat_map(|cut| below.iter().map(|more| cut.union(more).cloned().collect()))
                .collect();
        }
        cuts.extend(spread);
        cuts
    }

    /// What a value of the data is published as.
    pub fn recode(&self, value: &str, cut: &BTreeSet<String>) -> Option<String> {
        self.chain(value).into_iter().find(|l| cut.contains(l))
    }

    /// The hierarchy as the tool knows it.
    pub fn hierarchy(&self) -> Hierarchy {
        let mut builder = TreeBuilder::new();
        for leaf in self.leaves() {
            let mut at = TreeBuilder::ROOT;
            let mut chain = vec![leaf];
            while let Some(next) = self.above.get(&chain[chain.len() - 1]).filter(|l| *l != ROOT_LABEL) {
                chain.push(next.clone());
            }
            for label in chain.iter().rev() {
                at = builder.child(at, label).expect("a label has one place");
            }
        }
        builder.finish()
    }
}
