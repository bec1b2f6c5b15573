//! A record taken apart, and what can be known of it.

use super::record::{NodePath, on_one_path};

/// Something that can be known of a record: an item, and how often it occurs where that counts.
pub(super) type Known = (u32, u32);

/// An item that is there, however often.
pub(super) const PRESENT: u32 = 0;
/// An item that is not there.
pub(super) const ABSENT: u32 = u32::MAX;
/// Not an item: all that the record shows wherever an attacker knows all, by its number.
pub(super) const CLASS: u32 = u32::MAX - 1;

/// What is known, and which pairs of it are known to be related, by their places in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Piece {
    pub(super) known: Vec<Known>,
    pub(super) related: Vec<(usize, usize)>,
}

impl Piece {
    /// Writes it down as numbers: how many values, then these, then the relations.
    pub(super) fn write(&self, into: &mut Vec<u32>) {
        into.clear();
        into.push(self.known.len() as u32);
        into.extend(self.known.iter().flat_map(|&(item, times)| [item, times]));
        into.extend(self.related.iter().flat_map(|&(a, b)| [a as u32, b as u32]));
    }
}

/// A record, taken apart.
pub(super) struct Person {
    /// What an attacker knows of it in any case, as its class; none for somebody who knows nothing in particular.
    pub(super) class: Option<Known>,
    /// All that can be known of it besides, ascending.
    pub(super) known: Vec<Known>,
    pub(super) nodes: Vec<NodePath>,
    /// Pairs of nodes that a reader may put together.
    pub(super) inferred: Vec<(usize, usize)>,
}

impl Person {
    /// Pairs of known items of which some nodes are related.
    pub(super) fn pairs(&self, piece: &Piece) -> Vec<(usize, usize)> {
        if self.nodes.is_empty() {
            return Vec::new();
        }
        let all = (0..piece.known.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        all.filter(|&(a, b)| self.relates(piece, a, b)).collect()
    }

    fn nodes_of(&self, known: Known) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(move |&at| {
            ![ABSENT, CLASS].contains(&known.1) && self.nodes[at].last().is_some_and(|node| node.0 == known.0)
        })
    }

    fn related(&self, a: usize, b: usize) -> bool {
        on_one_path(&self.nodes[a], &self.nodes[b])
            || self.inferred.contains(&(a, b))
            || self.inferred.contains(&(b, a))
    }

    /// Whether some nodes of two known items are related.
    pub(super) fn relates(&self, piece: &Piece, a: usize, b: usize) -> bool {
        self.nodes_of(piece.known[a]).any(|x| self.nodes_of(piece.known[b]).any(|y| self.related(x, y)))
    }

    /// Whether one node can be found for each known item so that all relations hold between these: tried one by one.
    pub(super) fn places(&self, piece: &Piece, chosen: &mut Vec<usize>) -> bool {
        let at = chosen.len();
        if at == piece.known.len() || piece.related.is_empty() {
            return true;
        }
        if piece.related.iter().all(|&(a, b)| a != at && b != at) {
            chosen.push(usize::MAX);
            let found = self.places(piece, chosen);
            chosen.pop();
            return found;
        }
        self.nodes_of(piece.known[at]).any(|node| {
            let holds = |&(a, b): &(usize, usize)| b != at || self.related(chosen[a], node);
            if !piece.related.iter().all(holds) {
                return false;
            }
            chosen.push(node);
            let found = self.places(piece, chosen);
            chosen.pop();
            found
        })
    }
}
