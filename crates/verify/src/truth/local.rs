//! Local recoding of vertex trees: values generalized, subtrees pruned, records suppressed; nothing else. A companion
//! column may be dropped or repeat the label of the column it follows.

use std::collections::BTreeSet;

use bosket_model::binding::Declared;
use bosket_model::dataset::ObjectName;
use bosket_model::hierarchy::{Hierarchy, NodeId, Numbers};
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{ClassId, Dataset, MISSING, Result};

use super::{Comparison, Paired, Side, Untruth, assign, unknown_values};

/// A vertex with its children, its values by declared attribute.
pub(super) struct Vertex {
    pub(super) home: usize,
    pub(super) quasi: Vec<(usize, Known)>,
    /// Quasi attributes that have no value here.
    pub(super) missing: Vec<usize>,
    pub(super) beside: Vec<(usize, String)>,
    pub(super) companions: Vec<(usize, String)>,
    /// The nested objects that it has.
    pub(super) objects: Vec<ObjectName>,
    pub(super) children: Vec<Vertex>,
}

impl Vertex {
    /// Whether it has no nested object that another vertex does not have.
    pub(super) fn invents_nothing(&self, input: &Vertex) -> bool {
        self.objects.iter().all(|object| input.objects.contains(object))
    }

    /// Whether an attribute stands in a nested object of which no quasi value is published.
    fn says_nothing_around(&self, attribute: &Declared, declared: &[Declared]) -> bool {
        let around = attribute.name.split_last().map_or(&[][..], |(_, around)| around);
        !around.is_empty() && !self.quasi.iter().any(|(other, _)| declared[*other].name.starts_with(around))
    }
}

/// A quasi value.
pub(super) enum Known {
    Node(NodeId),
    /// Everything between two numbers, and how it is written.
    Between(f64, f64, String),
    Label(String),
}

pub(super) fn compare(c: &Comparison<'_>, observer: &dyn Observer) -> Result<Paired> {
    match VertexTrees::new(c, observer)? {
        Ok(trees) => assign(c, observer, |p, i| Ok(trees.fit(p, i))),
        Err(untruths) => Ok(untruths.into()),
    }
}

/// The records of both sides.
pub(super) struct VertexTrees<'a> {
    pub(super) published: Vec<Vertex>,
    pub(super) input: Vec<Vertex>,
    reading: Reading<'a>,
}

/// What vertices are compared by.
#[derive(Clone, Copy)]
struct Reading<'a> {
    hierarchies: &'a [Option<Hierarchy>],
    declared: &'a [Declared],
}

impl<'a> VertexTrees<'a> {
    /// Values that no hierarchy has are told instead.
    pub(super) fn new(
        c: &Comparison<'a>,
        observer: &dyn Observer,
    ) -> Result<std::result::Result<Self, Vec<Untruth>>> {
        let mut unknown = BTreeSet::new();
        let node = |h: &Hierarchy, text: &str| h.node(text).map(Known::Node).or_else(|| between(h, text));
        let mut published = records(&c.published, c.hierarchies, node, (&mut unknown, observer))?;
        let leaf = |h: &Hierarchy, text: &str| h.leaf(text).map(Known::Node);
        let input = records(&c.input, c.hierarchies, leaf, (&mut unknown, observer))?;
        if !unknown.is_empty() {
            return Ok(Err(unknown_values(c, unknown.into_iter().map(|(declared, _)| declared))));
        }
        published.iter_mut().for_each(|record| forget_repetitions(record, c));
        let reading = Reading { hierarchies: c.hierarchies, declared: &c.input.binding.declared };
        Ok(Ok(VertexTrees { published, input, reading }))
    }

    /// Whether a published record is what the operations make of an input record.
    pub(super) fn fit(&self, published: usize, input: usize) -> bool {
        derives(&self.published[published], &self.input[input], self.reading)
    }
}

/// A range of numbers, where ranges take the place of nodes.
fn between(hierarchy: &Hierarchy, text: &str) -> Option<Known> {
    hierarchy.numbers()?;
    Numbers::parse(text).map(|(low, high)| Known::Between(low, high, text.to_owned()))
}

fn records(
    side: &Side<'_>,
    hierarchies: &[Option<Hierarchy>],
    find: impl Fn(&Hierarchy, &str) -> Option<Known>,
    (unknown, observer): (&mut BTreeSet<(usize, String)>, &dyn Observer),
) -> Result<Vec<Vertex>> {
    let data: &Dataset = side.data;
    let mut objects = data.objects_of_vertices(side.binding);
    let mut known = |declared: usize, text: &str| match &hierarchies[declared] {
        None => Known::Label(text.to_owned()),
        Some(hierarchy) => find(hierarchy, text).unwrap_or_else(|| {
            unknown.insert((declared, text.to_owned()));
            Known::Label(text.to_owned())
        }),
    };
    (0..data.len())
        .map(|record| {
            observer.go_on()?;
            let vertices = data.vertices(record);
            let mut open: Vec<(usize, Vertex)> = Vec::new();
            let close = |open: &mut Vec<(usize, Vertex)>| {
                if let (Some((_, done)), Some((_, above))) = (open.pop(), open.last_mut()) {
                    above.children.push(done);
                }
            };
            for v in vertices {
                while open.last().is_some_and(|(at, _)| data.parent(v) != Some(*at)) {
                    close(&mut open);
                }
                let class: ClassId = data.class(v);
                let mut vertex = Vertex {
                    home: side.binding.classes[class.index()].unwrap_or(usize::MAX),
                    quasi: Vec::new(),
                    missing: Vec::new(),
                    beside: Vec::new(),
                    companions: Vec::new(),
                    objects: std::mem::take(&mut objects[v]),
                    children: Vec::new(),
                };
                for &a in &data.schema().class(class).attributes {
                    let (Some(declared), code) = (side.binding.attributes[a.index()], data.value(v, a))
                    else {
                        continue;
                    };
                    let attribute = &side.binding.declared[declared];
                    if code == MISSING {
                        let is_quasi = attribute.role == Role::Quasi && attribute.follows.is_none();
                        vertex.missing.extend(is_quasi.then_some(declared));
                        continue;
                    }
                    let text = data.dictionary(a).text(code);
                    match attribute.role {
                        Role::Identifying | Role::Drop | Role::Key => {}
                        _ if attribute.follows.is_some() => {
                            vertex.companions.push((declared, text.to_owned()));
                        }
                        Role::Quasi => vertex.quasi.push((declared, known(declared, text))),
                        Role::Sensitive | Role::Insensitive | Role::Pseudonym => {
                            vertex.beside.push((declared, text.to_owned()))
                        }
                    }
                }
                vertex.quasi.sort_by_key(|q| q.0);
                vertex.beside.sort();
                open.push((v, vertex));
            }
            while open.len() > 1 {
                close(&mut open);
            }
            Ok(open.pop().map(|(_, root)| root).expect("a record has a root vertex"))
        })
        .collect()
}

/// Takes out companions that only say again what the column they follow says.
fn forget_repetitions(vertex: &mut Vertex, c: &Comparison<'_>) {
    let (quasi, beside) = (&vertex.quasi, &vertex.beside);
    let published = |declared: usize| {
        let label = quasi.iter().find(|q| q.0 == declared).map(|(_, known)| match known {
            Known::Node(node) => c.hierarchies[declared].as_ref().map_or("", |h| h.label(*node)),
            Known::Between(_, _, label) | Known::Label(label) => label,
        });
        label.or_else(|| beside.iter().find(|b| b.0 == declared).map(|b| b.1.as_str()))
    };
    vertex.companions.retain(|(declared, text)| {
        let followed = c.published.binding.declared[*declared].follows;
        followed.and_then(published) != Some(text.as_str())
    });
    vertex.children.iter_mut().for_each(|child| forget_repetitions(child, c));
}

/// Whether `published` is `input` with some values generalized and some subtrees pruned.
fn derives(published: &Vertex, input: &Vertex, reading: Reading<'_>) -> bool {
    published.home == input.home
        && published.invents_nothing(input)
        && published.beside == input.beside
        && published.companions.iter().all(|said| input.companions.contains(said))
        && values_derive(published, input, reading)
        && published.children.len() <= input.children.len()
        && children_derive(published, input, reading)
}

/// Whether a published value covers one of the input, or its absence.
pub(super) fn covers(label: &Known, value: Option<&Known>, hierarchy: Option<&Hierarchy>) -> bool {
    match (label, value) {
        // A missing value is a leaf of its own right below the root.
        (Known::Node(node), None) => *node == NodeId::ROOT,
        (Known::Node(node), Some(Known::Node(leaf))) => {
            hierarchy.is_some_and(|h| h.is_ancestor_or_self(*node, *leaf))
        }
        (Known::Between(low, high, _), Some(Known::Node(leaf))) => {
            let number = hierarchy.and_then(|h| h.number(*leaf));
            number.is_some_and(|n| (*low..=*high).contains(&n))
        }
        (Known::Label(label), Some(Known::Label(original))) => label == original,
        _ => false,
    }
}

fn values_derive(published: &Vertex, input: &Vertex, reading: Reading<'_>) -> bool {
    let original = |declared: usize| input.quasi.iter().find(|q| q.0 == declared).map(|q| &q.1);
    let is_true = |(declared, value): &(usize, Known)| {
        covers(value, original(*declared), reading.hierarchies[*declared].as_ref())
    };
    // A value that the input has may be generalized, never left out; but an object in which all would be `*` is not published
    // where others do not have it.
    let shown = |declared: usize| published.quasi.iter().any(|p| p.0 == declared);
    published.quasi.iter().all(is_true)
        && input
            .quasi
            .iter()
            .all(|q| shown(q.0) || published.says_nothing_around(&reading.declared[q.0], reading.declared))
}

/// Every published child needs a child of the input of its own: augmenting paths over a handful of siblings.
fn children_derive(published: &Vertex, input: &Vertex, reading: Reading<'_>) -> bool {
    let mut taken: Vec<Option<usize>> = vec![None; input.children.len()];
    (0..published.children.len()).all(|p| {
        let mut seen = vec![false; input.children.len()];
        place(p, published, input, reading, &mut taken, &mut seen)
    })
}

fn place(
    p: usize,
    published: &Vertex,
    input: &Vertex,
    reading: Reading<'_>,
    taken: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for i in 0..input.children.len() {
        if seen[i] || !derives(&published.children[p], &input.children[i], reading) {
            continue;
        }
        seen[i] = true;
        let free = match taken[i] {
            None => true,
            Some(other) => place(other, published, input, reading, taken, seen),
        };
        if free {
            taken[i] = Some(p);
            return true;
        }
    }
    false
}
