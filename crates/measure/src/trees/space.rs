//! All nodes of all hierarchies in one numbering.
//!
//! An attribute's nodes are consecutive, in its hierarchy's order, so a parent's number is smaller than its
//! children's. An attribute without hierarchy cannot be generalized: each of its values is a node at depth 0 with
//! nothing above it.

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

/// The numbering, and what the metrics ask about a node.
pub struct Space<'a> {
    hierarchies: &'a [Option<Hierarchy>],
    first: Vec<u32>,
    plain: FxHashMap<(usize, &'a str), u32>,
    attribute: Vec<u32>,
    parent: Vec<u32>,
    depth: Vec<u32>,
    width: Vec<u32>,
    leaf: Vec<bool>,
    height: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Value trees whose items are nodes of a [`Space`].
pub struct Located<'a> {
    trees: &'a ValueTrees,
    nodes: Vec<u32>,
}

impl<'a> Located<'a> {
    /// The trees.
    pub fn trees(&self) -> &'a ValueTrees {
        self.trees
    }

    /// The hierarchy node of each item.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// The hierarchy node that a tree's node is labelled with.
    pub fn at(&self, node: usize) -> u32 {
        self.nodes[self.trees.item(node) as usize]
    }
}

impl<'a> Space<'a> {
    /// The space of hierarchies, one per declared attribute; the values of attributes without one are those of
    /// `input`.
    pub fn new(hierarchies: &'a [Option<Hierarchy>], input: &'a ValueTrees) -> Self {
        let mut space = Space {
            hierarchies,
            first: Vec::with_capacity(hierarchies.len()),
            plain: FxHashMap::default(),
            attribute: Vec::new(),
            parent: Vec::new(),
            depth: Vec::new(),
            width: Vec::new(),
            leaf: Vec::new(),
            height: Vec::with_capacity(hierarchies.len()),
        };
        for (declared, hierarchy) in hierarchies.iter().enumerate() {
            space.first.push(space.parent.len() as u32);
            match hierarchy {
                Some(hierarchy) => space.add_hierarchy(declared, hierarchy),
                None => space.add_plain(declared, input),
            }
        }
        space
    }

    fn add_hierarchy(&mut self, declared: usize, hierarchy: &Hierarchy) {
        let first = self.parent.len() as u32;
        let levels = hierarchy.height() as usize + 1;
        let (mut at_depth, mut leaves_at) = (vec![0u32; levels], vec![0u32; levels]);
        for n in hierarchy.nodes() {
            let depth = hierarchy.depth(n) as usize;
            at_depth[depth] += 1;
            leaves_at[depth] += u32::from(hierarchy.is_leaf(n));
        }
        let mut leaves_above = 0;
        let widths: Vec<u32> = (at_depth.iter().zip(&leaves_at))
            .map(|(&here, &leaves)| {
                let width = here + leaves_above;
                leaves_above += leaves;
                width
            })
            .collect();
        for n in hierarchy.nodes() {
            self.attribute.push(declared as u32);
            self.parent.push(hierarchy.parent(n).map_or(NONE, |p| first + p.0));
            self.depth.push(hierarchy.depth(n));
            self.width.push(widths[hierarchy.depth(n) as usize]);
            self.leaf.push(hierarchy.is_leaf(n));
        }
        self.height.push(hierarchy.height());
    }

    fn add_plain(&mut self, declared: usize, input: &'a ValueTrees) {
        let first = self.parent.len();
        for item in input.items().iter().filter(|i| i.declared == declared) {
            // A label may occur in several kinds; it is one value.
            let next = self.parent.len() as u32;
            if *self.plain.entry((declared, &item.label)).or_insert(next) == next {
                self.attribute.push(declared as u32);
                self.parent.push(NONE);
                self.depth.push(0);
                self.leaf.push(true);
            }
        }
        let count = self.parent.len() - first;
        self.width.extend(std::iter::repeat_n(count as u32, count));
        self.height.push(0);
    }

    /// Original values: every label is a leaf, that of an inner node its `(unspecified)` one.
    pub fn original<'t>(&self, trees: &'t ValueTrees, binding: &Binding) -> Result<Located<'t>> {
        self.locate(trees, binding, Hierarchy::leaf, |count| {
            Diagnostic::error(format!("{count} values of the input are no leaf of their hierarchy"))
                .help("bind the hierarchy to the values of the input first")
        })
    }

    /// Published values: every label is a node.
    pub fn published<'t>(&self, trees: &'t ValueTrees, binding: &Binding) -> Result<Located<'t>> {
        self.locate(trees, binding, Hierarchy::node, |count| {
            Diagnostic::error(format!("{count} published values are in no hierarchy"))
                .help("measure with the hierarchies that the publication was made with")
        })
    }

    fn locate<'t>(
        &self,
        trees: &'t ValueTrees,
        binding: &Binding,
        find: impl Fn(&Hierarchy, &str) -> Option<NodeId>,
        problem: impl Fn(usize) -> Diagnostic,
    ) -> Result<Located<'t>> {
        let mut unknown = vec![0usize; self.hierarchies.len()];
        let nodes = (trees.items().iter())
            .map(|item| {
                let node = match &self.hierarchies[item.declared] {
                    Some(hierarchy) => find(hierarchy, &item.label).map(|n| self.first[item.declared] + n.0),
                    None => self.plain.get(&(item.declared, item.label.as_str())).copied(),
                };
                node.unwrap_or_else(|| {
                    unknown[item.declared] += 1;
                    NONE
                })
            })
            .collect();
        let problems: Vec<Diagnostic> = (unknown.iter().enumerate())
            .filter(|&(_, &count)| count > 0)
            .map(|(declared, &count)| {
                problem(count).at(Place::default().path(&binding.declared[declared].path))
            })
            .collect();
        if problems.is_empty() {
            Ok(Located { trees, nodes })
        } else {
            Err(Failure::all(Fault::Data, problems))
        }
    }

    /// How many nodes there are in all.
    pub(crate) fn len(&self) -> usize {
        self.parent.len()
    }

    /// How many attributes there are.
    pub(super) fn attributes(&self) -> usize {
        self.height.len()
    }

    /// The declared attribute of a node.
    pub fn attribute(&self, node: u32) -> usize {
        self.attribute[node as usize] as usize
    }

    /// How many edges lie between the node and its root.
    pub fn depth(&self, node: u32) -> u32 {
        self.depth[node as usize]
    }

    /// C(u): how many nodes of the attribute lie at the node's depth, plus the leaves above that depth.
    pub fn width(&self, node: u32) -> u32 {
        self.width[node as usize]
    }

    /// Whether nothing is below.
    pub fn is_leaf(&self, node: u32) -> bool {
        self.leaf[node as usize]
    }

    /// The node and everything above it, upwards.
    pub fn upwards(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |n: u32| (n != NONE).then_some(n);
        std::iter::successors(known(node), move |&n| known(self.parent[n as usize]))
    }

    /// The highest level at which some of the nodes can be told apart from others: their hierarchies' largest height.
    pub fn top_level(&self, nodes: &[u32]) -> u32 {
        nodes.iter().map(|&n| self.height[self.attribute(n)]).max().unwrap_or(0)
    }

    /// What a value is at a generalization level: its ancestor at depth *height − level*, itself if it is a leaf
    /// above that depth, nothing if it is coarser. Level 0 is the leaves; from the height on everything is `*`.
    pub fn at_level(&self, node: u32, level: u32) -> Option<u32> {
        let depth = self.height[self.attribute(node)].saturating_sub(level);
        if self.depth(node) < depth {
            return self.is_leaf(node).then_some(node);
        }
        self.upwards(node).find(|&n| self.depth(n) == depth)
    }
}
