//! Records of several releases in one schema, as trees that can be laid over each other.

use std::cmp::Ordering;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Builder, ClassId, Dataset, MISSING, Result};

use super::Part;
use super::labels::Labels;

/// A vertex with what is below it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Its class in the common schema.
    pub(super) class: u32,
    /// Attributes of the common schema with their codes, sorted.
    pub(super) values: Vec<(u32, u32)>,
    /// Vertices below, sorted.
    pub(super) children: Vec<Node>,
    /// The vertex of the private input that it stems from, where that is known. Nobody who reads sees it: vertices that differ
    /// by it alone are equal.
    pub(super) origin: Option<u32>,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Node {}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |node: &Self| (node.class, node.values.len());
        let shallow = key(self).cmp(&key(other)).then_with(|| self.values.cmp(&other.values));
        shallow.then_with(|| self.children.cmp(&other.children))
    }
}

impl Node {
    /// The code of an attribute.
    pub(super) fn value(&self, attribute: u32) -> Option<u32> {
        self.values.binary_search_by_key(&attribute, |v| v.0).ok().map(|at| self.values[at].1)
    }

    /// Marks the classes that occur.
    pub(super) fn mark(&self, shown: &mut [bool]) {
        shown[self.class as usize] = true;
        self.children.iter().for_each(|child| child.mark(shown));
    }

    /// The same as one tree per path from the root to a leaf, for those who read rows united.
    fn paths(self) -> Vec<Node> {
        let Node { class, values, children, origin } = self;
        if children.is_empty() {
            return vec![Node { class, values, children, origin }];
        }
        let below = children.into_iter().flat_map(Node::paths);
        below.map(|child| Node { class, values: values.clone(), children: vec![child], origin }).collect()
    }

    /// Whether a path is the beginning of another, or that path.
    fn begins(&self, other: &Node) -> bool {
        let own = self.class == other.class && self.values == other.values;
        own && match (self.children.first(), other.children.first()) {
            (None, _) => true,
            (Some(child), Some(others)) => child.begins(others),
            (Some(_), None) => false,
        }
    }

    /// A record whose rows below the root are paths. Whoever reads rows united does not see the beginning of a path as a row
    /// of its own.
    pub(super) fn parted(self) -> Node {
        let mut paths: Vec<Node> = self.children.into_iter().flat_map(Node::paths).collect();
        paths.sort();
        paths.dedup();
        let is_whole = |path: &&Node| !paths.iter().any(|other| other != *path && path.begins(other));
        let children = paths.iter().filter(is_whole).cloned().collect();
        Node { children, ..self }
    }
}

/// What an attribute of the common schema is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// The declared attribute; none where the policy drops it.
    pub(super) declared: Option<usize>,
    /// Whether it is quasi and no companion: only these are compared by their hierarchies.
    pub(super) quasi: bool,
    /// The declared attribute whose label it repeats.
    pub(super) follows: Option<usize>,
    /// Whether it is a pseudonym, which says nothing about rows.
    pub(super) pseudonym: bool,
}

/// The common schema and the labels in it.
pub(super) struct Common<'h> {
    pub(super) builder: Builder,
    pub(super) columns: Vec<Column>,
    pub(super) labels: Vec<Labels<'h>>,
    hierarchies: &'h [Option<Hierarchy>],
}

impl<'h> Common<'h> {
    /// The schema of the first release, to which others are added.
    pub(super) fn new(first: &Dataset, binding: &Binding, hierarchies: &'h [Option<Hierarchy>]) -> Self {
        let mut common =
            Common { builder: Builder::like(first), columns: Vec::new(), labels: Vec::new(), hierarchies };
        for (id, _) in first.schema().attributes() {
            common.add_column(binding.attributes[id.index()], binding);
        }
        common
    }

    fn add_column(&mut self, declared: Option<usize>, binding: &Binding) {
        let of = declared.map(|d| &binding.declared[d]);
        let column = Column {
            declared,
            quasi: of.is_some_and(|d| d.role == Role::Quasi && d.follows.is_none()),
            follows: of.and_then(|d| d.follows),
            pseudonym: of.is_some_and(|d| d.pseudonym),
        };
        let hierarchy = declared.and_then(|d| self.hierarchies.get(d)?.as_ref());
        self.labels.push(Labels::new(hierarchy, column.quasi));
        self.columns.push(column);
    }

    /// The records of a release as trees of the common schema.
    pub(super) fn read(&mut self, part: &Part<'_>, observer: &dyn Observer) -> Result<Vec<Node>> {
        let Part { data, binding, .. } = *part;
        let schema = data.schema();
        let mut classes: Vec<ClassId> = Vec::new();
        for (_, class) in schema.classes() {
            classes.push(match class.parent {
                None => ClassId::ROOT,
                Some(parent) => self.builder.class_like(classes[parent.index()], class),
            });
        }
        let mut codes: Vec<(AttributeId, Vec<u32>)> = Vec::new();
        for (id, attribute) in schema.attributes() {
            let own = self.builder.attribute(classes[attribute.class.index()], &attribute.name);
            if own.index() == self.columns.len() {
                self.builder.rename(own, &attribute.path);
                self.add_column(binding.attributes[id.index()], binding);
            }
            let labels = &mut self.labels[own.index()];
            let of_code = data.dictionary(id).iter().map(|(kind, text)| labels.code(kind, text)).collect();
            codes.push((own, of_code));
        }
        let mut records = Vec::with_capacity(data.len());
        for record in 0..data.len() {
            observer.go_on()?;
            let vertices = data.vertices(record);
            let mut open: Vec<(usize, Node)> = Vec::new();
            let close = |open: &mut Vec<(usize, Node)>| {
                if let (Some((_, done)), Some((_, above))) = (open.pop(), open.last_mut()) {
                    above.children.push(done);
                }
            };
            for vertex in vertices {
                while open.last().is_some_and(|(at, _)| data.parent(vertex) != Some(*at)) {
                    close(&mut open);
                }
                let class = data.class(vertex);
                let own = schema.class(class).attributes.iter().filter_map(|&id| {
                    let (code, (attribute, of_code)) = (data.value(vertex, id), &codes[id.index()]);
                    (code != MISSING).then(|| (attribute.0, of_code[code as usize]))
                });
                let mut values: Vec<(u32, u32)> = own.collect();
                values.sort_unstable();
                let origin = part.origins.and_then(|origins| origins[vertex]).map(|origin| origin as u32);
                let class = classes[class.index()].0;
                open.push((vertex, Node { class, values, children: Vec::new(), origin }));
            }
            while open.len() > 1 {
                close(&mut open);
            }
            let (_, mut root) = open.pop().expect("a record has a root vertex");
            in_order(&mut root);
            records.push(root);
        }
        Ok(records)
    }

    /// Writes a record.
    pub(super) fn write(&mut self, root: &Node) -> std::result::Result<(), bosket_model::dataset::Refused> {
        self.builder.begin_record();
        write_below(&mut self.builder, root);
        self.builder.end_record()
    }

    /// The records that were written.
    pub(super) fn finish(mut self) -> Dataset {
        for (at, labels) in self.labels.into_iter().enumerate() {
            self.builder.adopt(AttributeId(at as u32), labels.values);
        }
        self.builder.finish()
    }
}

fn in_order(node: &mut Node) {
    node.children.iter_mut().for_each(in_order);
    node.children.sort_unstable();
}

fn write_below(builder: &mut Builder, node: &Node) {
    for &(attribute, code) in &node.values {
        builder.set_code(AttributeId(attribute), code);
    }
    for child in &node.children {
        builder.open(ClassId(child.class));
        write_below(builder, child);
        builder.close();
    }
}
