//! Labels of several releases in one numbering, and which of two says more.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use bosket_model::hierarchy::{Hierarchy, NodeId, ROOT_LABEL};
use bosket_model::{Dictionary, Kind};

/// What two labels of one place are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meet {
    /// The more specific of the two, or the one that both are.
    At(u32),
    /// They have nothing in common: they cannot be of one place.
    Apart,
}

/// The labels of one attribute.
pub(super) struct Labels<'h> {
    /// Everything that any of the releases shows there.
    pub(super) values: Dictionary,
    /// One code per text: whoever reads `1` and `"1"` reads one value.
    codes: FxHashMap<String, u32>,
    hierarchy: Option<&'h Hierarchy>,
    /// Whether labels are compared by the hierarchy rather than by their texts.
    generalized: bool,
    nodes: Vec<Option<NodeId>>,
    known: RefCell<FxHashMap<(u32, u32), Meet>>,
    /// Pairs of labels that nobody can compare.
    unknown: RefCell<usize>,
}

impl<'h> Labels<'h> {
    pub(super) fn new(hierarchy: Option<&'h Hierarchy>, generalized: bool) -> Self {
        Labels {
            values: Dictionary::default(),
            codes: FxHashMap::default(),
            hierarchy,
            generalized,
            nodes: Vec::new(),
            known: RefCell::default(),
            unknown: RefCell::new(0),
        }
    }

    /// The code of a text.
    pub(super) fn code(&mut self, kind: Kind, text: &str) -> u32 {
        if let Some(&code) = self.codes.get(text) {
            return code;
        }
        let code = self.values.intern(kind, text);
        self.codes.insert(text.to_owned(), code);
        self.nodes.push(self.hierarchy.and_then(|hierarchy| hierarchy.node(text)));
        code
    }

    /// How many pairs of labels could not be compared.
    pub(super) fn unknown(&self) -> usize {
        *self.unknown.borrow()
    }

    /// The meet of two labels in the hierarchy.
    pub(super) fn meet(&self, a: u32, b: u32) -> Meet {
        if a == b {
            return Meet::At(a);
        }
        if !self.generalized {
            return Meet::Apart;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&found) = self.known.borrow().get(&key) {
            return found;
        }
        let found = self.compared(key.0, key.1);
        self.known.borrow_mut().insert(key, found);
        found
    }

    fn compared(&self, a: u32, b: u32) -> Meet {
        match (self.values.text(a) == ROOT_LABEL, self.values.text(b) == ROOT_LABEL) {
            (true, _) => return Meet::At(b),
            (_, true) => return Meet::At(a),
            _ => {}
        }
        let nodes = (self.nodes[a as usize], self.nodes[b as usize]);
        // Ranges of numbers may overlap, and what is in both has no label.
        let tree = self.hierarchy.filter(|hierarchy| hierarchy.numbers().is_none());
        let (Some(hierarchy), (Some(above), Some(below))) = (tree, nodes) else {
            *self.unknown.borrow_mut() += 1;
            return Meet::Apart;
        };
        match () {
            () if hierarchy.is_ancestor_or_self(above, below) => Meet::At(b),
            () if hierarchy.is_ancestor_or_self(below, above) => Meet::At(a),
            () => Meet::Apart,
        }
    }
}
