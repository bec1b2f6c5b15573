//! The paths of a policy as a tree, for finding elements as they come.

use bosket_model::path::AttributePath;
use bosket_model::policy::Policy;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use bosket_model::sides::{Fate, Fates};

/// The name of the element that holds text where attributes stand beside it.
pub(super) const VALUE: &str = "value";
/// The attribute that says which groups belong together.
pub(super) const ID: &str = "Id";

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// A value that an element or attribute holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(super) declared: usize,
    pub(super) fate: Fate,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(super) name: Box<str>,
    pub(super) parent: u32,
    pub(super) attribute: bool,
    /// Attributes and elements, in the order in which they are published.
    pub(super) fields: Vec<u32>,
    /// Its place among these.
    pub(super) place: u32,
    /// Its text, or its value.
    pub(super) leaf: Option<Leaf>,
    /// Whether the policy says that it repeats.
    pub(super) many: bool,
    /// Whether its text stands in an element of its own.
    pub(super) wrapped: bool,
}

/// All paths; the first node is the record.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    pub(super) nodes: Vec<Node>,
    /// Per attribute of the policy its node.
    pub(super) of: Vec<u32>,
}

impl Paths {
    pub(super) const ROOT: u32 = 0;

    /// The paths of a policy as they are in private documents, or as they are written to a publication.
    pub(crate) fn new(policy: &Policy, fates: &Fates, published: bool) -> Result<Self> {
        let paths = Self::build(&fates.paths, &|declared| fates.of[declared], published);
        let stays = |node: &Node| node.leaf.is_some_and(|leaf| leaf.fate != Fate::Gone);
        let taken = |node: &&Node| node.attribute && node.parent == Self::ROOT && *node.name == *ID;
        let leaf = paths.nodes.iter().find(taken).filter(|node| stays(node)).and_then(|node| node.leaf);
        let Some(leaf) = leaf else {
            return Ok(paths);
        };
        let attribute = &policy.attributes[leaf.declared];
        let what = format!("`{}` would be published where `@{ID}` says the group", attribute.path);
        let help = "rename the attribute in the data, or make it identifying";
        Err(Failure::new(Fault::Policy, Diagnostic::error(what).at(attribute.place.clone()).help(help)))
    }

    /// The paths of a policy as they are in a publication of which everything that is there is to be told.
    pub(crate) fn of_publication(paths: &[AttributePath]) -> Self {
        Self::build(paths, &|_| Fate::Quasi, true)
    }

    fn build(all: &[AttributePath], fate: &dyn Fn(usize) -> Fate, published: bool) -> Self {
        let mut paths = Paths { nodes: Vec::new(), of: Vec::new() };
        paths.add(NONE, "", false);
        for (declared, path) in all.iter().enumerate() {
            let mut node = Self::ROOT;
            for names in &path.classes {
                for (i, name) in names.iter().enumerate() {
                    node = paths.step(node, name);
                    paths.nodes[node as usize].many |= i + 1 == names.len();
                }
            }
            for name in &path.name {
                node = paths.step(node, name);
            }
            let at = &mut paths.nodes[node as usize];
            at.leaf.get_or_insert(Leaf { declared, fate: fate(declared) });
            paths.of.push(node);
        }
        for node in 0..paths.nodes.len() as u32 {
            let at = paths.node(node);
            let beside = at.fields.iter().any(|&f| paths.node(f).attribute) || node == Self::ROOT;
            if at.attribute || at.leaf.is_none() || !beside {
                continue;
            }
            if published {
                let leaf = paths.nodes[node as usize].leaf.take();
                let value = paths.step(node, VALUE);
                paths.nodes[value as usize].leaf = leaf;
                if let Some(leaf) = leaf {
                    paths.of[leaf.declared] = value;
                }
            } else {
                paths.nodes[node as usize].wrapped = true;
            }
        }
        paths
    }

    pub(super) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    fn add(&mut self, parent: u32, name: &str, attribute: bool) -> u32 {
        let id = self.nodes.len() as u32;
        let place = self.nodes.get(parent as usize).map_or(0, |p| p.fields.len() as u32);
        if let Some(parent) = self.nodes.get_mut(parent as usize) {
            parent.fields.push(id);
        }
        self.nodes.push(Node {
            name: name.into(),
            parent,
            attribute,
            fields: Vec::new(),
            place,
            leaf: None,
            many: false,
            wrapped: false,
        });
        id
    }

    fn step(&mut self, parent: u32, name: &str) -> u32 {
        let (name, attribute) = match name.strip_prefix('@') {
            Some(name) => (name, true),
            None => (name, false),
        };
        self.find(parent, name, attribute).unwrap_or_else(|| self.add(parent, name, attribute))
    }

    /// The field of a node with this name.
    #[inline]
    pub(super) fn find(&self, parent: u32, name: &str, attribute: bool) -> Option<u32> {
        let fields = &self.nodes[parent as usize].fields;
        fields.iter().copied().find(|&f| {
            let field = &self.nodes[f as usize];
            *field.name == *name && field.attribute == attribute
        })
    }

    /// The path of a node below the record, as policies write it but without `[]`.
    pub(super) fn path(&self, node: u32) -> String {
        let mut names = Vec::new();
        let mut at = node;
        while at != Self::ROOT {
            let node = self.node(at);
            names.push(format!("{}{}", if node.attribute { "@" } else { "" }, node.name));
            at = node.parent;
        }
        names.reverse();
        if names.is_empty() { ".".to_owned() } else { names.join("/") }
    }

    /// Nodes from below the record down to one.
    pub(super) fn chain(&self, node: u32) -> Vec<u32> {
        let mut chain = Vec::new();
        let mut at = node;
        while at != Self::ROOT {
            chain.push(at);
            at = self.node(at).parent;
        }
        chain.reverse();
        chain
    }
}
