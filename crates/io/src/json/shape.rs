//! What is known about each position of the JSON documents read so far.
//!
//! A node is a position: the record, a key of an object, or the elements of an array. It leads straight to the
//! class or attribute it stands for, so that values go into the [`Builder`] without anything in between. Objects
//! mostly have the same keys in the same order; each field therefore remembers its successor, and the parser only
//! has to compare the text with that guess.

use std::collections::{BTreeSet, HashMap};

use bosket_model::path::{ENTRY_KEY, ENTRY_VALUE, attribute_path};
use bosket_model::{AttributeId, Builder, ClassId};

use crate::homes::HomePath;

/// No field.
pub(crate) const NONE: u32 = u32::MAX;

/// Up to this many fields, comparing them all is faster than hashing the key.
const FEW: usize = 12;

/// What stands at a position.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Only nulls and empty brackets so far.
    Unknown,
    Scalar(AttributeId),
    Object,
    Array {
        class: ClassId,
        element: u32,
    },
}

impl Kind {
    fn describe(self) -> &'static str {
        match self {
            Kind::Unknown => "nothing",
            Kind::Scalar(_) => "a single value",
            Kind::Object => "an object",
            Kind::Array { .. } => "an array",
        }
    }
}

#[derive(Debug)]
struct Node {
    /// The class of the vertex this position belongs to, and the keys from there.
    class: ClassId,
    name: Vec<String>,
    /// Whether an object that stands here is a map, by what the policy says.
    map: bool,
    kind: Kind,
    /// The record that decided the kind.
    since: u64,
    fields: Vec<Field>,
    /// The field that came first last time.
    first: u32,
    index: HashMap<Box<str>, u32>,
}

#[derive(Debug)]
struct Field {
    key: Box<str>,
    /// The key in quotes if nothing in it needs an escape, else empty.
    quoted: Box<str>,
    node: u32,
    /// The object that had this field last.
    seen: u64,
    /// The field that came after this one last time.
    next: u32,
}

/// A position is one thing here and was another before.
#[derive(Debug)]
pub(crate) struct Conflict {
    pub(crate) path: String,
    pub(crate) now: &'static str,
    pub(crate) before: &'static str,
    /// The record, from 1.
    pub(crate) since: u64,
}

/// All positions.
#[derive(Debug)]
pub(crate) struct Shape {
    nodes: Vec<Node>,
    /// How many objects were begun.
    objects: u64,
    /// The record that is read now, from 1.
    pub(crate) record: u64,
    maps: BTreeSet<HomePath>,
    /// The names from the record on to each class that lies in a map, or has one below.
    ways: HashMap<ClassId, HomePath>,
}

/// Progress through one object.
pub(crate) struct Cursor {
    node: u32,
    object: u64,
    previous: u32,
    guess: u32,
}

impl Cursor {
    /// Whether no key was seen yet.
    pub(crate) fn is_new(&self) -> bool {
        self.previous == NONE
    }
}

impl Shape {
    /// The position of the records.
    pub(crate) const ROOT: u32 = 0;

    pub(crate) fn new() -> Self {
        Self::with_maps(BTreeSet::new())
    }

    /// The same where some objects are known to be maps.
    pub(crate) fn with_maps(maps: BTreeSet<HomePath>) -> Self {
        let ways = HashMap::from([(ClassId::ROOT, HomePath::new())]);
        let mut shape = Shape { nodes: Vec::new(), objects: 0, record: 0, maps, ways };
        shape.add(ClassId::ROOT, Vec::new());
        shape
    }

    fn add(&mut self, class: ClassId, name: Vec<String>) -> u32 {
        let map = !self.maps.is_empty() && self.maps.contains(&self.way(class, &name));
        self.nodes.push(Node {
            class,
            name,
            map,
            kind: Kind::Unknown,
            since: 0,
            fields: Vec::new(),
            first: NONE,
            index: HashMap::new(),
        });
        self.nodes.len() as u32 - 1
    }

    /// The names from the record on to what stands at `name` in a class.
    fn way(&self, class: ClassId, name: &[String]) -> HomePath {
        let mut way = self.ways.get(&class).cloned().unwrap_or_default();
        way.push(name.to_vec());
        way
    }

    /// Whether an object that stands at a position is a map.
    #[inline]
    pub(crate) fn is_map(&self, node: u32) -> bool {
        self.nodes[node as usize].map
    }

    /// Whether an object would be a map that is what is called `value` of an entry.
    pub(crate) fn is_map_of_maps(&self, element: u32) -> bool {
        let at = &self.nodes[element as usize];
        self.maps.contains(&self.way(at.class, &[ENTRY_VALUE.to_owned()]))
    }

    /// The class of a map's entries with the position of these, and the attribute that their keys are.
    pub(crate) fn map(
        &mut self,
        node: u32,
        builder: &mut Builder,
    ) -> Result<(ClassId, u32, AttributeId), Conflict> {
        let (class, element) = self.array(node, builder)?;
        let key = self.child(element, ENTRY_KEY);
        Ok((class, element, self.scalar(key, builder)?))
    }

    /// Begins an object.
    #[inline]
    pub(crate) fn begin(&mut self, node: u32) -> Cursor {
        self.objects += 1;
        Cursor { node, object: self.objects, previous: NONE, guess: self.nodes[node as usize].first }
    }

    /// Begins an object that has one key already, before its first is read.
    pub(crate) fn begin_with(&mut self, node: u32, key: &str) -> Cursor {
        let field = self.find(node, key).unwrap_or_else(|| self.add_field(node, key));
        let cursor = self.begin(node);
        self.nodes[node as usize].fields[field as usize].seen = cursor.object;
        cursor
    }

    /// The key that is likely to come next, in quotes.
    #[inline]
    pub(crate) fn guess(&self, cursor: &Cursor) -> &str {
        self.nodes[cursor.node as usize].fields.get(cursor.guess as usize).map_or("", |f| &f.quoted)
    }

    /// Steps to a field: the guessed one, or that of `key`. Returns its position, and whether the object has it
    /// for the second time.
    #[inline]
    pub(crate) fn step(&mut self, cursor: &mut Cursor, key: Option<&str>) -> (u32, bool) {
        let found = match key {
            None => cursor.guess,
            Some(key) => {
                let found = self.find(cursor.node, key).unwrap_or_else(|| self.add_field(cursor.node, key));
                let node = &mut self.nodes[cursor.node as usize];
                match node.fields.get_mut(cursor.previous as usize) {
                    Some(previous) => previous.next = found,
                    None => node.first = found,
                }
                found
            }
        };
        let field = &mut self.nodes[cursor.node as usize].fields[found as usize];
        let twice = std::mem::replace(&mut field.seen, cursor.object) == cursor.object;
        (cursor.previous, cursor.guess) = (found, field.next);
        (field.node, twice)
    }

    /// The position of a key below another, whether or not an object is being read.
    pub(crate) fn child(&mut self, node: u32, key: &str) -> u32 {
        let field = self.find(node, key).unwrap_or_else(|| self.add_field(node, key));
        self.nodes[node as usize].fields[field as usize].node
    }

    /// Whether the object has had this key.
    pub(crate) fn has(&self, cursor: &Cursor, key: &str) -> bool {
        let fields = &self.nodes[cursor.node as usize].fields;
        self.find(cursor.node, key).is_some_and(|f| fields[f as usize].seen == cursor.object)
    }

    /// The keys from the vertex to a position.
    pub(crate) fn name(&self, node: u32) -> &[String] {
        &self.nodes[node as usize].name
    }

    /// The class of the vertex that a position belongs to.
    pub(crate) fn class(&self, node: u32) -> ClassId {
        self.nodes[node as usize].class
    }

    fn find(&self, node: u32, key: &str) -> Option<u32> {
        let node = &self.nodes[node as usize];
        if node.fields.len() <= FEW {
            node.fields.iter().position(|f| *f.key == *key).map(|i| i as u32)
        } else {
            node.index.get(key).copied()
        }
    }

    #[cold]
    fn add_field(&mut self, node: u32, key: &str) -> u32 {
        let at = &self.nodes[node as usize];
        let mut name = at.name.clone();
        name.push(key.to_owned());
        let child = self.add(at.class, name);
        let plain = !key.bytes().any(|c| matches!(c, b'"' | b'\\' | 0..0x20));
        let quoted = if plain { format!("\"{key}\"").into() } else { Box::default() };
        let node = &mut self.nodes[node as usize];
        let field = node.fields.len() as u32;
        node.fields.push(Field { key: key.into(), quoted, node: child, seen: 0, next: NONE });
        node.index.insert(key.into(), field);
        field
    }

    /// The attribute at a position that holds a scalar.
    #[inline]
    pub(crate) fn scalar(&mut self, node: u32, builder: &mut Builder) -> Result<AttributeId, Conflict> {
        match self.nodes[node as usize].kind {
            Kind::Scalar(attribute) => Ok(attribute),
            Kind::Unknown => {
                let at = &self.nodes[node as usize];
                let attribute = builder.attribute(at.class, &at.name);
                self.decide(node, Kind::Scalar(attribute));
                Ok(attribute)
            }
            before => Err(self.conflict(node, "a single value", before, builder)),
        }
    }

    /// Notes that a position holds an object with keys.
    pub(crate) fn object(&mut self, node: u32, builder: &Builder) -> Result<(), Conflict> {
        match self.nodes[node as usize].kind {
            Kind::Object => Ok(()),
            Kind::Unknown => {
                self.decide(node, Kind::Object);
                Ok(())
            }
            before => Err(self.conflict(node, "an object", before, builder)),
        }
    }

    /// The class at a position that holds an array with elements, and the position of these.
    pub(crate) fn array(&mut self, node: u32, builder: &mut Builder) -> Result<(ClassId, u32), Conflict> {
        match self.nodes[node as usize].kind {
            Kind::Array { class, element } => Ok((class, element)),
            Kind::Unknown => {
                let at = &self.nodes[node as usize];
                let class = match at.map {
                    true => builder.map(at.class, &at.name),
                    false => builder.class(at.class, &at.name),
                };
                if !self.maps.is_empty() {
                    self.ways.insert(class, self.way(at.class, &at.name));
                }
                let element = self.add(class, Vec::new());
                self.decide(node, Kind::Array { class, element });
                Ok((class, element))
            }
            before => Err(self.conflict(node, "an array", before, builder)),
        }
    }

    fn decide(&mut self, node: u32, kind: Kind) {
        let node = &mut self.nodes[node as usize];
        (node.kind, node.since) = (kind, self.record);
    }

    #[cold]
    fn conflict(&self, node: u32, now: &'static str, before: Kind, builder: &Builder) -> Conflict {
        let since = self.nodes[node as usize].since;
        Conflict { path: self.path(node, builder), now, before: before.describe(), since }
    }

    /// The keys under which only nulls and empty brackets stood.
    pub(crate) fn hollow(&self) -> impl Iterator<Item = u32> {
        let fields = self.nodes.iter().flat_map(|node| &node.fields).map(|field| field.node);
        fields.filter(|&node| {
            let at = &self.nodes[node as usize];
            matches!(at.kind, Kind::Unknown) && at.fields.is_empty()
        })
    }

    /// The path of a position, as policies write it.
    pub(crate) fn path(&self, node: u32, builder: &Builder) -> String {
        let node = &self.nodes[node as usize];
        attribute_path(&builder.schema().class(node.class).path, &node.name)
    }
}
