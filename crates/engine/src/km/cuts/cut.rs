//! A cut that only rises, and what it loses.

use std::sync::Arc;

use crate::km::transactions::Transactions;
use crate::km::tree::{Node, ROOT, Tree};

/// Loss of information as a whole number: occurrences times leaves. Divided by all occurrences times all leaves it is the
/// NCP.
pub(crate) type Loss = u128;

/// Where a leaf goes that is suppressed.
pub(crate) const DROPPED: Node = Node::MAX;

/// A cut with the loss below every node, so that the price of raising it somewhere is one subtraction.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub(crate) tree: Arc<Tree>,
    /// Per leaf position its node.
    at: Vec<Node>,
    /// Per node whether the cut lies above it, or it is dropped.
    gone: Vec<bool>,
    /// Per node the occurrences below that are not dropped.
    occurrences: Vec<u64>,
    /// Per node what these lose.
    loss: Vec<Loss>,
    /// What dropped occurrences lose.
    dropped: Loss,
    /// How many times it has been changed.
    pub(crate) changes: u64,
}

impl Cut {
    /// Every leaf as it is.
    pub(crate) fn bottom(data: &Transactions) -> Self {
        let tree = data.tree.clone();
        Cut {
            at: (0..tree.leaf_count() as u32).map(|p| tree.leaf(p)).collect(),
            gone: vec![false; tree.len()],
            occurrences: (0..tree.len() as Node).map(|n| data.occurrences(n)).collect(),
            loss: vec![0; tree.len()],
            dropped: 0,
            changes: 0,
            tree,
        }
    }

    /// Per leaf position its node, [`DROPPED`] if it has none.
    pub(crate) fn at(&self) -> &[Node] {
        &self.at
    }

    /// Where the leaves below a node go that was in the cut once, [`DROPPED`] if nowhere.
    pub(crate) fn now(&self, node: Node) -> Node {
        if !self.is_gone(node) {
            return node;
        }
        let places = self.tree.leaves(node).map(|position| self.at[position as usize]);
        places.min().unwrap_or(DROPPED)
    }

    /// Whether the node lies below the cut, or is dropped.
    pub(crate) fn is_gone(&self, node: Node) -> bool {
        self.gone[node as usize]
    }

    /// Whether a leaf is suppressed.
    pub(crate) fn is_dropped(&self, position: u32) -> bool {
        self.at[position as usize] == DROPPED
    }

    pub(crate) fn has_dropped(&self) -> bool {
        self.dropped > 0
    }

    /// The occurrences below a node that are not dropped.
    pub(crate) fn occurrences(&self, node: Node) -> u64 {
        self.occurrences[node as usize]
    }

    /// What the whole cut loses.
    pub(crate) fn total(&self) -> Loss {
        self.loss[ROOT as usize] + self.dropped
    }

    /// What raising everything below the node to it would add.
    pub(super) fn price(&self, node: Node) -> Loss {
        let raised = Loss::from(self.occurrences(node)) * Loss::from(self.tree.weight(node));
        raised - self.loss[node as usize]
    }

    /// What dropping everything below the node would add.
    pub(super) fn price_of_dropping(&self, node: Node) -> Loss {
        Loss::from(self.occurrences(node)) * self.tree.leaf_count() as Loss - self.loss[node as usize]
    }

    /// Raises everything below the node to it.
    pub(crate) fn raise(&mut self, node: Node) {
        let added = self.price(node);
        let tree = self.tree.clone();
        for below in tree.subtree(node).skip(1) {
            self.gone[below as usize] = true;
        }
        for position in tree.leaves(node) {
            if self.at[position as usize] != DROPPED {
                self.at[position as usize] = node;
            }
        }
        self.add_above(node, |loss| *loss += added);
        self.changes += 1;
    }

    /// Suppresses everything below the node.
    pub(super) fn drop_item(&mut self, node: Node) {
        let tree = self.tree.clone();
        let (lost, occurrences) = (self.loss[node as usize], self.occurrences(node));
        self.dropped += Loss::from(occurrences) * tree.leaf_count() as Loss;
        for below in tree.subtree(node) {
            self.gone[below as usize] = true;
        }
        for position in tree.leaves(node) {
            self.at[position as usize] = DROPPED;
        }
        self.add_above(node, |loss| *loss -= lost);
        let mut at = node;
        loop {
            self.occurrences[at as usize] -= occurrences;
            if at == ROOT {
                break;
            }
            at = tree.parent(at);
        }
        self.changes += 1;
    }

    fn add_above(&mut self, node: Node, change: impl Fn(&mut Loss)) {
        let mut at = node;
        loop {
            change(&mut self.loss[at as usize]);
            if at == ROOT {
                break;
            }
            at = self.tree.parent(at);
        }
    }

    /// Lets the leaves below a node of the cut go one step down again: to its children.
    pub(super) fn specialise(&mut self, node: Node) {
        let tree = self.tree.clone();
        let mut lost: Loss = 0;
        for child in tree.children(node) {
            // A child with nothing left below it was dropped as a whole.
            let mut any = false;
            for position in tree.leaves(child) {
                if self.at[position as usize] != DROPPED {
                    self.at[position as usize] = child;
                    any = true;
                }
            }
            self.gone[child as usize] = !any;
            let own = Loss::from(self.occurrences(child)) * Loss::from(tree.weight(child));
            self.loss[child as usize] = own;
            lost += own;
        }
        let saved = self.loss[node as usize] - lost;
        self.add_above(node, |loss| *loss -= saved);
        self.changes += 1;
    }

    /// What letting the leaves below a node of the cut go down to its children would save.
    pub(super) fn saving(&self, node: Node) -> Loss {
        let below = self
            .tree
            .children(node)
            .map(|c| Loss::from(self.occurrences(c)) * Loss::from(self.tree.weight(c)));
        self.loss[node as usize] - below.sum::<Loss>()
    }

    /// The nodes of the cut that have occurrences, ascending.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::new();
        for &node in &self.at {
            if node != DROPPED && nodes.last() != Some(&node) && self.occurrences(node) > 0 {
                nodes.push(node);
            }
        }
        nodes.dedup();
        nodes
    }
}
