//! Records as trees of quasi values, the verifier's own.
//!
//! A node **is** its path: the items from the record's root down to it. Values of one vertex follow each other on the path
//! in the policy's order, child vertices go on from the last present value, and two nodes with the same path are one. So
//! a record's tree is its set of paths; sorted, they stand in preorder with siblings by item. The values of the record's
//! top object are paths of their own unless the policy makes them the first chain.
//!
//! Say a record has `sex = f`, and two visits in hospital `H1`, one with disease `flu`, one with `flu` and `cold`. With
//! items 0 = f, 1 = H1, 2 = cold, 3 = flu the vertices give these paths, the top object apart:
//!
//! ```text
//! paths as they come    sorted, each once    item  parent  end
//! [0]                   [0]                  0     –       1
//! [1] [1 3]             [1]                  1     –       4
//! [1] [1 3] [1 2]       [1 2]                2     1       3
//!                       [1 3]                3     1       4
//! ```
//!
//! `end` is one past the last node below: 1 is above 2 and 3 because they lie between 1 and its end.
//!
//! Where rows are published as they are, whoever reads them sees each for itself: then every value of every vertex is a node
//! of its own ([`Trees::of_rows`]), and the two visits above are two nodes H1, one above flu, one above flu and cold.
//!
//! Where missing values count, an empty place is a node `*` like any other (see `columns`).

use std::collections::BTreeSet;
use std::ops::Range;

use rayon::prelude::*;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Payload, Role, RootMode};
use bosket_model::{AttributeId, ClassId, Dataset, MISSING, Result};

use crate::columns::{Columns, Emptiness, Item};

/// Records that are read together; enough to make handing them out cheap.
const BLOCK: usize = 1024;

/// What is published beside the quasi values of one vertex.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Beside {
    /// The vertex's last quasi value, as a node of the whole forest; none for the record's root.
    pub(crate) node: Option<u32>,
    /// The home of the vertex.
    pub(crate) home: usize,
    /// Declared attributes with their texts, in the policy's order.
    pub(crate) values: Vec<(usize, String)>,
}

/// All records. Nodes are numbered through.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    items: Vec<Item>,
    item: Vec<u32>,
    parent: Vec<Option<u32>>,
    end: Vec<u32>,
    /// Per record one past its last node.
    last_node: Vec<u32>,
    beside: Vec<Beside>,
    /// Per record one past the last of what is beside.
    last_beside: Vec<u32>,
}

/// What is the same for all records.
struct Reading<'a> {
    data: &'a Dataset,
    binding: &'a Binding,
    columns: &'a Columns,
    separate: bool,
    /// Per class the attributes that are published beside quasi values, by declared attribute; empty if nobody asks.
    beside: Vec<Vec<AttributeId>>,
}

impl Trees {
    /// The trees of a publication, or of its input. With `Payload::Keep` they know what stands beside quasi values.
    pub(crate) fn new(
        data: &Dataset,
        binding: &Binding,
        root: RootMode,
        payload: Payload,
        emptiness: Emptiness,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let columns = Columns::new(data, binding, emptiness);
        let beside = |class: ClassId| -> Vec<AttributeId> {
            let attributes = data.schema().class(class).attributes.iter().copied();
            let is_beside = |a: AttributeId| {
                payload == Payload::Keep
                    && matches!(binding.role(a), Some(Role::Sensitive | Role::Insensitive))
            };
            let mut found: Vec<AttributeId> = attributes.filter(|&a| is_beside(a)).collect();
            found.sort_by_key(|a| binding.attributes[a.index()]);
            found
        };
        let reading = Reading {
            data,
            binding,
            columns: &columns,
            separate: root == RootMode::Separate,
            beside: data.schema().classes().map(|(id, _)| beside(id)).collect(),
        };
        let blocks: Vec<Trees> = (0..data.len().div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut trees = Trees::default();
                let mut paths = Paths::default();
                for record in block * BLOCK..data.len().min((block + 1) * BLOCK) {
                    observer.go_on()?;
                    reading.add(record, &mut paths, &mut trees);
                }
                Ok(trees)
            })
            .collect::<Result<_>>()?;
        let mut all = Trees::default();
        blocks.into_iter().for_each(|block| all.join(block));
        all.items = columns.items;
        Ok(all)
    }

    /// The trees of a publication whose rows stand for themselves, without what stands beside quasi values.
    pub(crate) fn of_rows(
        data: &Dataset,
        binding: &Binding,
        root: RootMode,
        emptiness: Emptiness,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let columns = Columns::new(data, binding, emptiness);
        let mut trees = Trees::default();
        let mut last: Vec<Option<u32>> = Vec::new();
        for record in 0..data.len() {
            observer.go_on()?;
            let vertices = data.vertices(record);
            let (first, first_node) = (vertices.start, trees.item.len());
            last.clear();
            for vertex in vertices {
                let mut above = data.parent(vertex).and_then(|parent| last[parent - first]);
                let apart = root == RootMode::Separate && data.class(vertex) == ClassId::ROOT;
                columns.of_vertex(data, vertex, |item| {
                    let node = trees.item.len() as u32;
                    trees.item.push(item);
                    trees.parent.push(above);
                    trees.end.push(node + 1);
                    above = if apart { None } else { Some(node) };
                });
                last.push(above);
            }
            for node in (first_node..trees.item.len()).rev() {
                if let Some(parent) = trees.parent[node] {
                    trees.end[parent as usize] = trees.end[parent as usize].max(trees.end[node]);
                }
            }
            trees.last_node.push(trees.item.len() as u32);
            trees.last_beside.push(0);
        }
        trees.items = columns.items;
        Ok(trees)
    }

    fn join(&mut self, other: Trees) {
        let (nodes, beside) = (self.item.len() as u32, self.beside.len() as u32);
        self.item.extend(other.item);
        self.parent.extend(other.parent.iter().map(|parent| parent.map(|p| p + nodes)));
        self.end.extend(other.end.iter().map(|end| end + nodes));
        self.last_node.extend(other.last_node.iter().map(|last| last + nodes));
        self.beside.extend(other.beside.into_iter().map(|mut beside| {
            beside.node = beside.node.map(|node| node + nodes);
            beside
        }));
        self.last_beside.extend(other.last_beside.iter().map(|last| last + beside));
    }

    /// The homes of which anything stands beside quasi values somewhere.
    pub(crate) fn homes_beside(&self) -> BTreeSet<usize> {
        self.beside.iter().map(|beside| beside.home).collect()
    }

    /// The same records without what stands beside the quasi values of some homes.
    pub(crate) fn without_beside(mut self, is_gone: impl Fn(usize) -> bool) -> Self {
        let (all, lasts) = (std::mem::take(&mut self.beside), std::mem::take(&mut self.last_beside));
        let mut rest = all.into_iter();
        let mut before = 0;
        for last in lasts {
            let own = rest.by_ref().take((last - before) as usize);
            self.beside.extend(own.filter(|beside| !is_gone(beside.home)));
            self.last_beside.push(self.beside.len() as u32);
            before = last;
        }
        self
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> usize {
        self.last_node.len()
    }

    /// All items, by declared attribute and label.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// The nodes of a record, in preorder.
    pub(crate) fn nodes(&self, record: usize) -> Range<usize> {
        let first = record.checked_sub(1).map_or(0, |before| self.last_node[before]);
        first as usize..self.last_node[record] as usize
    }

    /// The item of a node.
    pub(crate) fn item(&self, node: usize) -> u32 {
        self.item[node]
    }

    /// The node above; none for those under the record's root.
    pub(crate) fn parent(&self, node: usize) -> Option<usize> {
        self.parent[node].map(|parent| parent as usize)
    }

    /// The nodes above one, from the nearest on.
    pub(crate) fn above(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent(node), |&above| self.parent(above))
    }

    /// One past the last node of the subtree.
    pub(crate) fn end(&self, node: usize) -> usize {
        self.end[node] as usize
    }

    /// What a record publishes beside its quasi values, sorted.
    pub(crate) fn beside(&self, record: usize) -> &[Beside] {
        let first = record.checked_sub(1).map_or(0, |before| self.last_beside[before]);
        &self.beside[first as usize..self.last_beside[record] as usize]
    }
}

/// The paths of one record while it is read, one after the other.
#[derive(Default)]
struct Paths {
    items: Vec<u32>,
    /// Where each path lies in `items`.
    spans: Vec<Range<usize>>,
    /// Per vertex of the record the path that its children go on from.
    of_vertex: Vec<Range<usize>>,
}

impl Paths {
    fn clear(&mut self) {
        self.items.clear();
        self.spans.clear();
        self.of_vertex.clear();
    }

    /// One more item after a path.
    fn step(&mut self, from: Range<usize>, item: u32) -> Range<usize> {
        let start = self.items.len();
        self.items.extend_from_within(from);
        self.items.push(item);
        self.spans.push(start..self.items.len());
        start..self.items.len()
    }
}

impl Reading<'_> {
    fn add(&self, record: usize, paths: &mut Paths, trees: &mut Trees) {
        let Reading { data, binding, columns, .. } = *self;
        let vertices = data.vertices(record);
        let first_vertex = vertices.start;
        paths.clear();
        let mut hung = Vec::new();
        for vertex in vertices {
            let class = data.class(vertex);
            let mut at = data.parent(vertex).map_or(0..0, |p| paths.of_vertex[p - first_vertex].clone());
            let apart = self.separate && class == ClassId::ROOT;
            columns.of_vertex(data, vertex, |item| {
                let longer = paths.step(if apart { 0..0 } else { at.clone() }, item);
                if !apart {
                    at = longer;
                }
            });
            let values = self.beside(vertex);
            if let Some(home) = binding.classes[class.index()].filter(|_| !values.is_empty()) {
                hung.push((at.clone(), home, values));
            }
            paths.of_vertex.push(at);
        }
        let Paths { items, spans, .. } = paths;
        spans.sort_unstable_by(|a, b| items[a.clone()].cmp(&items[b.clone()]));
        spans.dedup_by(|a, b| items[a.clone()] == items[b.clone()]);
        let first = trees.item.len();
        let mut open: Vec<u32> = Vec::new();
        for path in spans.iter() {
            let node = trees.item.len() as u32;
            open.truncate(path.len() - 1);
            trees.parent.push(open.last().copied());
            trees.item.push(items[path.end - 1]);
            trees.end.push(node + 1);
            open.iter().for_each(|&above| trees.end[above as usize] = node + 1);
            open.push(node);
        }
        trees.last_node.push(trees.item.len() as u32);
        let before = trees.beside.len();
        for (path, home, values) in hung {
            let node = spans.binary_search_by(|span| items[span.clone()].cmp(&items[path.clone()])).ok();
            let node = node.map(|at| (first + at) as u32);
            trees.beside.push(Beside { node, home, values });
        }
        trees.beside[before..].sort();
        trees.last_beside.push(trees.beside.len() as u32);
    }

    fn beside(&self, vertex: usize) -> Vec<(usize, String)> {
        let attributes = self.beside[self.data.class(vertex).index()].iter();
        let present = attributes.filter_map(|&a| {
            let code = self.data.value(vertex, a);
            let declared = self.binding.attributes[a.index()]?;
            (code != MISSING).then(|| (declared, self.data.dictionary(a).text(code).to_owned()))
        });
        present.collect()
    }
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;
    use bosket_model::policy::{Policy, Undeclared};
    use bosket_model::value_tree::{TreeView, ValueTrees};
    use bosket_testkit::dice::{Dice, cases};
    use bosket_testkit::vertices::{self, NAMES, Roles, Vertex};
    use proptest::prelude::*;

    use super::*;

    /// Roles of all kinds, companions of the first attribute of some classes among them.
    fn bound(dice: &mut Dice, data: &Dataset) -> Binding {
        let roles = [Role::Quasi, Role::Quasi, Role::Insensitive, Role::Sensitive, Role::Identifying];
        let roles: Roles = std::array::from_fn(|_| std::array::from_fn(|_| *dice.of(&roles)));
        let (mut policy, _) = Policy::parse("p", &vertices::policy(&roles), &[]).expect("a good policy");
        for class in 0..roles.len() {
            if dice.one_in(2) {
                let leader = policy.attributes[class * NAMES.len()].path.clone();
                policy.attributes[class * NAMES.len() + 1].follows = Some(leader);
            }
        }
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(600)))]
        /// The makers' trees are another implementation of the same definition.
        #[test]
        fn are_those_that_the_makers_see(seed: u64, chain: bool, keep: bool, counted: bool) {
            let mut dice = Dice::new(seed);
            let records: Vec<Vertex> = (0..1 + dice.below(4))
                .map(|_| {
                    let mut record = vertices::random_shape(&mut dice, 3);
                    for attribute in 0..NAMES.len() {
                        vertices::throw_values(&mut dice, &mut record, attribute, &["x", "y", "7"]);
                    }
                    record
                })
                .collect();
            let data = vertices::dataset(&records);
            let binding = bound(&mut dice, &data);
            let root = if chain { RootMode::Chain } else { RootMode::Separate };
            let payload = if keep { Payload::Keep } else { Payload::Drop };
            let emptiness = if counted { Emptiness::Counted } else { Emptiness::Nothing };
            let own = Trees::new(&data, &binding, root, payload, emptiness, &Quiet).expect("nobody gives up");
            let view = TreeView { root, united: true, payload, missing: counted.then_some("*") };
            let theirs = ValueTrees::viewed(&data, &binding, &view, &Quiet).expect("nobody gives up");
            let items = |item: &Item| (item.declared, item.label.clone());
            let their_items = theirs.items().iter().map(|i| (i.declared, i.label.clone()));
            prop_assert_eq!(own.items().iter().map(items).collect::<Vec<_>>(), their_items.collect::<Vec<_>>());
            prop_assert_eq!(own.len(), theirs.len());
            for record in 0..own.len() {
                prop_assert_eq!(own.nodes(record), theirs.nodes(record));
                for node in own.nodes(record) {
                    prop_assert_eq!(own.item(node), theirs.item(node));
                    prop_assert_eq!(own.parent(node), theirs.parent(node));
                    prop_assert_eq!(own.end(node), theirs.end(node));
                }
                let mut theirs: Vec<Beside> = (theirs.payloads(record).iter())
                    .map(|p| {
                        let values = p.values.iter().map(|(declared, _, text)| (*declared, text.clone()));
                        Beside { node: p.node, home: p.home, values: values.collect() }
                    })
                    .collect();
                // They order by kinds as well, which nobody here asks for.
                theirs.sort();
                prop_assert_eq!(own.beside(record), theirs.as_slice());
            }
        }
    }
}
