//! What is known about each position of the elements and attributes read so far.
//!
//! A node is a path of names. Whether its element repeats, and whether it has text, is only known at the end, so a node
//! collects what was seen. As with JSON, each child remembers its successor: the next name is compared with that guess
//! before it is looked up.

use std::collections::HashMap;

use bosket_model::Dictionary;

use super::mistake::What;
use super::names::is_qualified;
use super::order::Bits;

/// No node.
const NONE: u32 = u32::MAX;

/// Up to this many children, comparing them all is faster than hashing the name.
const FEW: usize = 12;

/// Longer paths are cut off in messages.
const LONGEST: usize = 60;

#[derive(Debug)]
pub(super) struct Node {
    /// Attributes start with `@`.
    pub(super) name: Box<str>,
    parent: u32,
    pub(super) prefixed: bool,
    /// Elements here are not looked into.
    pub(super) opaque: bool,
    /// Attributes and elements in it.
    pub(super) fields: Vec<u32>,
    index: HashMap<Box<str>, u32>,
    /// The field that came first last time.
    first: u32,
    /// The node that came after this one last time.
    next: u32,
    /// Its place among the fields of its parent.
    place: u32,
    /// The fields of its parent that came before it somewhere.
    pub(super) before: Bits,
    /// The element that had this one last.
    last: u64,
    /// Whether an element has it more than once.
    pub(super) many: bool,
    pub(super) count: u64,
    /// The texts that occur, except the empty one.
    pub(super) values: Dictionary,
    /// Whether it has text somewhere, or says that its emptiness is text.
    pub(super) texty: bool,
    /// Whether it is without content somewhere.
    pub(super) empty: bool,
    /// The record that was last found not to fit here.
    pub(super) reported: u64,
}

impl Node {
    /// Whether its elements have a text, which may be empty: text was seen, or never anything else.
    pub(super) fn has_text(&self) -> bool {
        (self.texty || self.fields.is_empty()) && (self.empty || !self.values.is_empty())
    }
}

/// Progress through one element.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) node: u32,
    element: u64,
    seen: Bits,
    previous: u32,
    guess: u32,
}

/// All positions below one element.
#[derive(Debug)]
pub(super) struct Shape {
    nodes: Vec<Node>,
    elements: u64,
}

impl Shape {
    /// The outermost element.
    pub(super) const ROOT: u32 = 0;

    pub(super) fn new(root: &str) -> Self {
        let mut shape = Shape { nodes: Vec::new(), elements: 0 };
        shape.push(root.into(), NONE);
        shape
    }

    fn push(&mut self, name: Box<str>, parent: u32) -> u32 {
        let id = self.nodes.len() as u32;
        let place = if parent == NONE { 0 } else { self.nodes[parent as usize].fields.len() as u32 };
        self.nodes.push(Node {
            prefixed: name.contains(':'),
            opaque: false,
            name,
            parent,
            fields: Vec::new(),
            index: HashMap::new(),
            first: NONE,
            next: NONE,
            place,
            before: Bits::default(),
            last: 0,
            many: false,
            count: 0,
            values: Dictionary::default(),
            texty: false,
            empty: false,
            reported: 0,
        });
        id
    }

    pub(super) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    pub(super) fn node_mut(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    /// A node and those around it, innermost first.
    fn above(&self, node: u32) -> impl Iterator<Item = &Node> {
        let mut at = node;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize)?;
            at = node.parent;
            Some(node)
        })
    }

    /// Begins an element.
    #[inline]
    pub(super) fn begin(&mut self, node: u32) -> Cursor {
        self.elements += 1;
        let at = &mut self.nodes[node as usize];
        at.count += 1;
        Cursor { node, element: self.elements, seen: Bits::default(), previous: NONE, guess: at.first }
    }

    /// Steps to a field: an element, or an attribute with its `@`.
    #[inline]
    pub(super) fn step(&mut self, cursor: &mut Cursor, name: &str, attribute: bool) -> Result<u32, What> {
        let guess = self.nodes.get(cursor.guess as usize);
        let found = match guess.filter(|g| is_called(&g.name, name, attribute)) {
            Some(_) => cursor.guess,
            None => {
                let found = match self.find(cursor.node, name, attribute) {
                    Some(found) => found,
                    None => self.add(cursor.node, name, attribute)?,
                };
                match self.nodes.get_mut(cursor.previous as usize) {
                    Some(previous) => previous.next = found,
                    None => self.nodes[cursor.node as usize].first = found,
                }
                found
            }
        };
        let field = &mut self.nodes[found as usize];
        if std::mem::replace(&mut field.last, cursor.element) == cursor.element {
            field.many = true;
        } else {
            field.before.unite(&cursor.seen);
            cursor.seen.insert(field.place);
        }
        (cursor.previous, cursor.guess) = (found, field.next);
        Ok(found)
    }

    fn find(&self, node: u32, name: &str, attribute: bool) -> Option<u32> {
        let node = &self.nodes[node as usize];
        if node.fields.len() <= FEW {
            let called = |f: &&u32| is_called(&self.nodes[**f as usize].name, name, attribute);
            node.fields.iter().find(called).copied()
        } else if attribute {
            node.index.get(format!("@{name}").as_str()).copied()
        } else {
            node.index.get(name).copied()
        }
    }

    #[cold]
    fn add(&mut self, parent: u32, name: &str, attribute: bool) -> Result<u32, What> {
        if !is_qualified(name) {
            return Err(What::BadName(if attribute { "an attribute" } else { "an element" }));
        }
        let name: Box<str> = if attribute { format!("@{name}").into() } else { name.into() };
        let id = self.push(name.clone(), parent);
        let parent = &mut self.nodes[parent as usize];
        parent.fields.push(id);
        parent.index.insert(name, id);
        Ok(id)
    }

    /// How many elements are around a node.
    pub(super) fn depth(&self, node: u32) -> usize {
        self.above(node).count() - 1
    }

    /// The names from the outermost element, which is left out, to a node.
    pub(super) fn path(&self, node: u32) -> String {
        let mut names: Vec<&str> = self.above(node).map(|n| &*n.name).collect();
        names.pop();
        names.reverse();
        let path = names.join("/");
        match path.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &path[..end]),
            None => path,
        }
    }

    /// The same, name by name.
    pub(super) fn names(&self, node: u32) -> Vec<String> {
        let mut names: Vec<String> = self.above(node).map(|n| n.name.to_string()).collect();
        names.pop();
        names.reverse();
        names
    }

    /// All nodes.
    pub(super) fn nodes(&self) -> impl ExactSizeIterator<Item = (u32, &Node)> {
        self.nodes.iter().enumerate().map(|(i, n)| (i as u32, n))
    }
}

#[inline]
fn is_called(node: &str, name: &str, attribute: bool) -> bool {
    // Names of elements cannot start with `@`.
    if attribute { node.strip_prefix('@') == Some(name) } else { node == name }
}
