//! All hierarchies of the quasi attributes as one numbering of nodes.

use std::sync::{Arc, OnceLock};

use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::value_tree::{EMPTY_PLACE, ValueTrees};
use bosket_model::{Failure, Result};

use rustc_hash::FxHashMap;

use super::rows::Change;
use super::set::Set;
use crate::partition::Frequencies;

/// A node of some attribute's hierarchy, numbered over all attributes in the policy's order. Numbers from the domain's size
/// on stand for the absence of the node that many below.
pub(super) type Node = u32;

/// How a cut becomes one of its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// An attribute, and those that share its cut, are published as their root.
    Publish(usize),
    /// A node is replaced by its children; of attributes that share a cut the first one's number is used.
    Specialise(Node),
}

/// What the policy says about the attributes.
pub(super) struct Wishes<'a> {
    /// Per declared attribute how much its detail counts.
    pub(super) weights: &'a [f64],
    /// Per declared attribute the first one that shares its cut; itself if none does.
    pub(super) shared: &'a [usize],
    /// Values whose absence counts as knowledge.
    pub(super) negative: &'a [String],
    /// Per declared attribute the home of its rows, if rows are published as they are.
    pub(super) homes: Option<&'a [usize]>,
    /// Per declared attribute how many values of it went with emptied people.
    pub(super) lost: &'a [u64],
    /// The sums over all records, where these are a kernel.
    pub(super) all: Option<&'a Arc<Frequencies>>,
}

/// One quasi attribute.
pub(super) struct Level<'a> {
    pub(super) declared: usize,
    pub(super) hierarchy: &'a Hierarchy,
    /// The home of its rows, if rows are published as they are.
    home: Option<usize>,
    /// The number of its root; its other nodes follow.
    pub(super) root: Node,
    /// The first level that shares its cut; itself if none does.
    leader: usize,
    /// How much the detail of its values counts.
    weight: f64,
    /// How many of its values went with emptied people.
    lost: u64,
    /// The leaf of empty places, if these count.
    pub(super) empty: Option<Node>,
    /// Factor of a node in the loss of its path, by hierarchy depth: the nodes at that depth and the leaves above it.
    width: Vec<f64>,
}

/// The quasi attributes that occur in the data, with the records of each node.
pub(super) struct Domain<'a> {
    pub(super) levels: Vec<Level<'a>>,
    pub(super) records: usize,
    /// Per input item its level and leaf.
    leaf: Vec<(u32, Node)>,
    /// Per input item its records.
    item_records: Vec<Vec<u32>>,
    /// Per input item how many nodes of all records have it.
    item_nodes: Vec<u64>,
    /// The sums over all records, where these are a kernel.
    all: Option<Arc<Frequencies>>,
    /// Per node whether its absence counts as knowledge: all its leaves are listed.
    negatable: Vec<bool>,
    /// Per node its level: asked for so often that looking it up among many attributes would take most of the time.
    level_of: Vec<u32>,
    /// Per level those that share its cut, if it is the first of them.
    sharing: Vec<Vec<usize>>,
    /// Records of each node, then of the absence of each node.
    sets: Vec<OnceLock<Set>>,
}

impl Level<'_> {
    /// How much the detail of its values counts.
    pub(super) fn weight(&self) -> f64 {
        self.weight
    }
}

impl<'a> Domain<'a> {
    /// Lays the items of the input over the hierarchies, which cover all of them.
    pub(super) fn new(
        trees: &ValueTrees,
        hierarchies: &'a [Option<Hierarchy>],
        wishes: &Wishes<'_>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut levels: Vec<Level<'a>> = Vec::new();
        let mut leaf = Vec::new();
        let mut next: Node = 0;
        let mut leaders: FxHashMap<usize, usize> = FxHashMap::default();
        for item in trees.items() {
            let hierarchy =
                hierarchies[item.declared].as_ref().expect("every quasi attribute has a hierarchy");
            if levels.last().is_none_or(|l| l.declared != item.declared) {
                let weight = wishes.weights[item.declared];
                let width = widths(hierarchy, weight);
                let leader = *leaders.entry(wishes.shared[item.declared]).or_insert(levels.len());
                let home = wishes.homes.map(|homes| homes[item.declared]);
                let declared = item.declared;
                let empty = hierarchy.leaf(EMPTY_PLACE).map(|leaf| next + leaf.0);
                let lost = wishes.lost.get(declared).copied().unwrap_or(0);
                levels.push(Level {
                    declared,
                    hierarchy,
                    home,
                    root: next,
                    leader,
                    weight,
                    lost,
                    empty,
                    width,
                });
                next += hierarchy.len() as Node;
            }
            let level = levels.len() - 1;
            let node = hierarchy.leaf(&item.label).expect("the hierarchy covers all values");
            leaf.push((level as u32, levels[level].root + node.0));
        }
        let mut item_records = vec![Vec::new(); trees.items().len()];
        let mut item_nodes = vec![0; trees.items().len()];
        for record in 0..trees.len() {
            observer.go_on()?;
            for node in trees.nodes(record) {
                item_nodes[trees.item(node) as usize] += 1;
                let records: &mut Vec<u32> = &mut item_records[trees.item(node) as usize];
                if records.last() != Some(&(record as u32)) {
                    records.push(record as u32);
                }
            }
        }
        if let Some(all) = wishes.all {
            if all.nodes.len() != item_nodes.len() {
                return Err(Failure::defect(
                    "a kernel and the sums over all records do not have one numbering",
                ));
            }
            item_nodes.clone_from(&all.nodes);
        }
        let negatable = levels.iter().flat_map(|l| negatable(l.hierarchy, wishes.negative)).collect();
        let mut sharing = vec![Vec::new(); levels.len()];
        levels.iter().enumerate().for_each(|(at, level)| sharing[level.leader].push(at));
        let own = |(at, level): (usize, &Level<'a>)| std::iter::repeat_n(at as u32, level.hierarchy.len());
        Ok(Domain {
            level_of: levels.iter().enumerate().flat_map(own).collect(),
            sharing,
            levels,
            records: trees.len(),
            leaf,
            item_records,
            item_nodes,
            all: wishes.all.cloned(),
            negatable,
            sets: (0..2 * next).map(|_| OnceLock::new()).collect(),
        })
    }

    /// Two declared attributes that are to share a cut and cannot, because their hierarchies are not the same.
    pub(super) fn mismatch(&self) -> Option<(usize, usize)> {
        let same = |a: &Hierarchy, b: &Hierarchy| {
            a.len() == b.len() && a.nodes().all(|n| a.label(n) == b.label(n) && a.subtree(n) == b.subtree(n))
        };
        let leader = |level: &Level<'a>| &self.levels[level.leader];
        (self.levels.iter())
            .find(|level| !same(level.hierarchy, leader(level).hierarchy))
            .map(|level| (leader(level).declared, level.declared))
    }

    /// The position from which on a value loses what is above it when it is parted from an upper one: this itself, or
    /// the top of its row where rows are published as they are. No part of such a row stands above something alone.
    pub(super) fn lost_from(&self, path: &[Node], upper: usize) -> usize {
        let home = |at: usize| self.levels[self.level_of(path[at])].home;
        match self.levels.first().and_then(|level| level.home) {
            None => upper,
            Some(_) => (0..upper).rev().take_while(|&at| home(at) == home(upper)).last().unwrap_or(upper),
        }
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> Node {
        self.negatable.len() as Node
    }

    /// How many nodes have others below them.
    pub(super) fn inner_nodes(&self) -> usize {
        let inner = |level: &Level<'a>| {
            let hierarchy = level.hierarchy;
            hierarchy.nodes().filter(|&node| !hierarchy.is_leaf(node)).count()
        };
        self.levels.iter().map(inner).sum()
    }

    /// The nodes of a cut, and the absences that count as knowledge at it.
    pub(super) fn with_absences(&self, cut: &[Node]) -> Vec<Node> {
        cut.iter().copied().chain(self.absences(cut)).collect()
    }

    /// Whether the absence of any node counts as knowledge.
    pub(super) fn has_absences(&self) -> bool {
        self.negatable.contains(&true)
    }

    /// The absences that count as knowledge at a cut.
    pub(super) fn absences<'b>(&'b self, cut: &'b [Node]) -> impl Iterator<Item = Node> + 'b {
        cut.iter().filter(|&&n| self.negatable[n as usize]).map(|n| n + self.len())
    }

    /// The number that stands for a node in steps: that of the first attribute which shares the cut.
    fn canonical(&self, node: Node) -> Node {
        let (level, id) = self.id(node);
        self.levels[self.levels[level].leader].root + id.0
    }

    fn sharing(&self, leader: usize) -> impl Iterator<Item = usize> + '_ {
        self.sharing[leader].iter().copied()
    }

    /// The steps from a cut, in the order of their nodes; publishing comes before specialising the root.
    pub(super) fn steps(&self, cut: &[Node]) -> Vec<Step> {
        let mut published = vec![false; self.levels.len()];
        cut.iter().for_each(|&node| published[self.levels[self.level_of(node)].leader] = true);
        let publish = (0..self.levels.len())
            .filter(|&l| self.levels[l].leader == l && !published[l])
            .map(Step::Publish);
        let mut nodes: Vec<Node> = cut.iter().map(|&n| self.canonical(n)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let specialise = nodes.into_iter().map(Step::Specialise);
        let mut steps: Vec<Step> = publish
            .chain(specialise)
            .filter(|&step| self.changes(step).iter().any(|change| !change.new.is_empty()))
            .collect();
        steps.sort_by_key(|&step| self.key(step));
        steps
    }

    /// A number for a step, in the order of steps.
    pub(super) fn key(&self, step: Step) -> u64 {
        match step {
            Step::Publish(level) => 2 * u64::from(self.levels[level].root),
            Step::Specialise(node) => 2 * u64::from(node) + 1,
        }
    }

    /// What a step does to each attribute.
    pub(super) fn changes(&self, step: Step) -> Vec<Change> {
        match step {
            Step::Publish(leader) => (self.sharing(leader))
                .map(|level| Change { level, old: None, new: vec![self.levels[level].root] })
                .collect(),
            Step::Specialise(node) => {
                let (leader, id) = self.id(node);
                (self.sharing(leader))
                    .map(|level| (level, self.levels[level].root + id.0))
                    .filter(|&(_, old)| !self.set(old).is_empty())
                    .map(|(level, old)| Change { level, old: Some(old), new: self.children(old) })
                    .collect()
            }
        }
    }

    pub(super) fn level_of_item(&self, item: u32) -> usize {
        self.leaf[item as usize].0 as usize
    }

    pub(super) fn leaf_of_item(&self, item: u32) -> Node {
        self.leaf[item as usize].1
    }

    pub(super) fn item_count(&self) -> usize {
        self.leaf.len()
    }

    pub(super) fn level_of(&self, node: Node) -> usize {
        // What stands for absences comes behind all nodes.
        self.level_of.get(node as usize).map_or(self.levels.len() - 1, |&level| level as usize)
    }

    pub(super) fn id(&self, node: Node) -> (usize, NodeId) {
        let level = self.level_of(node);
        (level, NodeId(node - self.levels[level].root))
    }

    pub(super) fn label(&self, node: Node) -> &str {
        let (level, id) = self.id(node);
        self.levels[level].hierarchy.label(id)
    }

    /// The leaf that says the same as a node: its only one, or the only value of an attribute that all records have. Nobody
    /// can be picked out by what all have.
    pub(super) fn lowest(&self, node: Node) -> Node {
        let (level, id) = self.id(node);
        let Level { hierarchy, root, empty, .. } = &self.levels[level];
        let occurring = |&i: &usize| !self.item_records[i].is_empty();
        // Where no place is empty, what stands for empty ones is no value.
        let is_needed = |&empty: &Node| !self.set(empty).is_empty();
        let leaves = hierarchy.leaves(id).map(|leaf| root + hierarchy.leaf_node(leaf).0);
        let mut leaves = leaves.filter(|leaf| *empty != Some(*leaf) || is_needed(leaf));
        if let (Some(only), None) = (leaves.next(), leaves.next()) {
            return only;
        }
        let mut items = self.items_of_level(level).filter(occurring);
        let alone = self.sharing(self.levels[level].leader).count() == 1 && !self.has_absences();
        match (items.next(), items.next()) {
            (Some(item), None) if alone && self.all_have(item) => self.leaf[item].1,
            _ => node,
        }
    }

    /// Whether all records have an item.
    fn all_have(&self, item: usize) -> bool {
        match &self.all {
            Some(all) => all.people[item] == all.records,
            None => self.item_records[item].len() == self.records,
        }
    }

    /// How many rows all records have, where these are a kernel.
    pub(super) fn all_rows(&self) -> Option<u64> {
        self.all.as_ref().map(|all| all.rows)
    }

    /// The share of related pairs of all records that a cut without rules takes away, where these are a kernel.
    pub(super) fn relations_lost(&self, cut: &[Node]) -> Option<f64> {
        let all = self.all.as_ref()?;
        let mut published = vec![false; all.declared];
        cut.iter().for_each(|&node| published[self.levels[self.level_of(node)].declared] = true);
        let pairs = all.all_pairs();
        let kept = all.pairs_between(|declared| published[declared]);
        Some(if pairs == 0 { 0.0 } else { 1.0 - kept as f64 / pairs as f64 })
    }

    /// The root of a node's hierarchy.
    pub(super) fn top(&self, node: Node) -> Node {
        self.levels[self.level_of(node)].root
    }

    /// The node and everything below it, as numbers.
    pub(super) fn subtree(&self, node: Node) -> std::ops::Range<Node> {
        let (level, id) = self.id(node);
        let root = self.levels[level].root;
        let range = self.levels[level].hierarchy.subtree(id);
        root + range.start..root + range.end
    }

    /// The children that occur in the data.
    pub(super) fn children(&self, node: Node) -> Vec<Node> {
        let (level, id) = self.id(node);
        let root = self.levels[level].root;
        (self.levels[level].hierarchy.children(id))
            .map(|c| root + c.0)
            .filter(|&c| !self.set(c).is_empty())
            .collect()
    }

    /// Whether a node stands for places in which nothing stands.
    pub(super) fn is_empty_place(&self, node: Node) -> bool {
        self.levels[self.level_of(node)].empty == Some(node)
    }

    /// The factor of a node at some depth of a tree. An empty place says as much as the root does: nothing.
    pub(super) fn factor(&self, node: Node, depth: usize) -> f64 {
        let (level, id) = self.id(node);
        if self.levels[level].empty == Some(node) {
            return depth as f64;
        }
        depth as f64 * self.levels[level].width[self.levels[level].hierarchy.depth(id) as usize]
    }

    /// Detail lost by a cut: per value (leaves of its node − 1) / (leaves of the root − 1), 1 if it is left out; the mean over
    /// all values, weighted by attribute. What was empty before is not lost.
    pub(super) fn detail_lost(&self, cut: &[Node]) -> f64 {
        let (lost, all) = self.detail(cut);
        if all > 0.0 { lost / all } else { 0.0 }
    }

    /// The same as a sum, and the most that could be lost.
    pub(super) fn detail(&self, cut: &[Node]) -> (f64, f64) {
        let mut lost: f64 = self.levels.iter().map(|level| level.lost as f64 * level.weight).sum();
        let mut all = lost;
        for (item, node) in self.assign_all(cut).into_iter().enumerate() {
            let level = &self.levels[self.level_of_item(item as u32)];
            if level.empty == Some(self.leaf[item].1) {
                continue;
            }
            let is_more = |n: NodeId| n == NodeId::ROOT && level.empty.is_some();
            let leaves = |n: NodeId| (level.hierarchy.leaves(n).len() - usize::from(is_more(n))) as f64;
            let root = leaves(NodeId::ROOT);
            let share = match node {
                None => 1.0,
                Some(_) if root < 2.0 => 0.0,
                Some(node) => (leaves(NodeId(node - level.root)) - 1.0) / (root - 1.0),
            };
            let values = self.item_nodes[item] as f64 * level.weight;
            lost += values * share;
            all += values;
        }
        (lost, all)
    }

    /// The records that have a value under the node; of an absence those that have none.
    pub(super) fn set(&self, node: Node) -> &Set {
        self.sets[node as usize].get_or_init(|| {
            if node >= self.len() {
                return self.set(node - self.len()).complement(self.records);
            }
            let below = self.subtree(node);
            let records: Vec<u32> = (self.items_of_level(self.level_of(node)))
                .filter(|&i| below.contains(&self.leaf[i].1))
                .flat_map(|i| self.item_records[i].iter().copied())
                .collect();
            Set::new(records, self.records)
        })
    }

    /// Items are numbered by attribute, so those of a level are one range.
    fn items_of_level(&self, level: usize) -> std::ops::Range<usize> {
        let from = self.leaf.partition_point(|l| (l.0 as usize) < level);
        let to = self.leaf.partition_point(|l| (l.0 as usize) <= level);
        from..to
    }

    /// For each item the node of a cut above it, if any.
    pub(super) fn assign_all(&self, cut: &[Node]) -> Vec<Option<Node>> {
        let mut all = vec![None; self.item_count()];
        for &node in cut {
            let below = self.subtree(node);
            for item in self.items_of_level(self.level_of(node)) {
                if below.contains(&self.leaf[item].1) {
                    all[item] = Some(node);
                }
            }
        }
        all
    }

    /// For each item of a level the one of `nodes` above it, if any.
    pub(super) fn assign(&self, level: usize, nodes: &[Node]) -> Vec<Option<Node>> {
        let mut above = vec![None; self.item_count()];
        for &node in nodes {
            let below = self.subtree(node);
            for i in self.items_of_level(level) {
                if below.contains(&self.leaf[i].1) {
                    above[i] = Some(node);
                }
            }
        }
        above
    }
}

/// Per node whether all its leaves are listed. An empty place is published as the root is, and is listed if that is.
fn negatable(hierarchy: &Hierarchy, listed: &[String]) -> Vec<bool> {
    let mut listed = hierarchy.listed(listed.iter().map(String::as_str));
    if hierarchy.leaf(EMPTY_PLACE).is_some()
        && let Some((last, others)) = listed.split_last_mut()
    {
        *last = others.iter().all(|&other| other);
    }
    (hierarchy.nodes()).map(|node| hierarchy.leaves(node).all(|leaf| listed[leaf as usize])).collect()
}

/// Per depth of a hierarchy: its nodes there, and the leaves above, which stay as they are; to the power of the weight.
fn widths(hierarchy: &Hierarchy, weight: f64) -> Vec<f64> {
    let mut at_depth = vec![0usize; hierarchy.height() as usize + 1];
    let mut leaves = vec![0usize; hierarchy.height() as usize + 1];
    for node in hierarchy.nodes().filter(|&node| hierarchy.label(node) != EMPTY_PLACE) {
        at_depth[hierarchy.depth(node) as usize] += 1;
        if hierarchy.is_leaf(node) {
            leaves[hierarchy.depth(node) as usize] += 1;
        }
    }
    let mut above = 0;
    (at_depth.iter().zip(&leaves))
        .map(|(nodes, own)| {
            let width = nodes + above;
            above += own;
            (width as f64).powf(weight)
        })
        .collect()
}
