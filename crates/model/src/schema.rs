//! The tree of classes with their attributes, as found in the data.

use rustc_hash::FxHashMap;

use crate::kind::ClassKind;
use crate::path::Notation;

/// A class: the record itself, or the elements of an array, rows of a table, repeated elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u32);

/// An attribute of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeId(pub u32);

impl ClassId {
    /// The class of the records.
    pub const ROOT: ClassId = ClassId(0);
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl AttributeId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A kind of vertex. Every class but the root may occur many times below one vertex of its parent.
#[derive(Clone, Debug)]
pub struct Class {
    /// The class above; none for the record itself.
    pub parent: Option<ClassId>,
    /// Keys from the parent's vertex to the array; several when single objects lie between.
    pub name: Vec<String>,
    /// The whole path, ending in `[]`, in `{}` for the entries of a map, in `[name=value]` for a kind; empty for the record
    /// itself.
    pub path: String,
    /// Attributes in order of appearance; a vertex's values stand in this order.
    pub attributes: Vec<AttributeId>,
    /// Classes below, in order of appearance.
    pub children: Vec<ClassId>,
}

/// A named scalar of a class.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The class it belongs to.
    pub class: ClassId,
    /// Its place among the class's attributes.
    pub slot: u32,
    /// Keys from the vertex to the scalar; empty for the elements of an array of scalars.
    pub name: Vec<String>,
    /// The whole path.
    pub path: String,
}

/// Classes and attributes.
#[derive(Clone, Debug)]
pub struct Schema {
    notation: Notation,
    classes: Vec<Class>,
    attributes: Vec<Attribute>,
    /// Per class what lies in it, by name: records may have any number of keys.
    named: Vec<Named>,
}

#[derive(Clone, Debug, Default)]
struct Named {
    classes: FxHashMap<Vec<String>, ClassId>,
    attributes: FxHashMap<Vec<String>, AttributeId>,
}

impl Default for Schema {
    fn default() -> Self {
        let root = Class {
            parent: None,
            name: Vec::new(),
            path: String::new(),
            attributes: Vec::new(),
            children: Vec::new(),
        };
        Schema {
            notation: Notation::default(),
            classes: vec![root],
            attributes: Vec::new(),
            named: vec![Named::default()],
        }
    }
}

impl Schema {
    pub(crate) fn in_notation(notation: Notation) -> Self {
        Schema { notation, ..Schema::default() }
    }

    /// How its paths are written.
    pub fn notation(&self) -> Notation {
        self.notation
    }

    /// A class.
    #[inline]
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    /// An attribute.
    #[inline]
    pub fn attribute(&self, id: AttributeId) -> &Attribute {
        &self.attributes[id.index()]
    }

    /// All classes, parents before children.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = (ClassId, &Class)> {
        self.classes.iter().enumerate().map(|(i, c)| (ClassId(i as u32), c))
    }

    /// All attributes in order of appearance.
    pub fn attributes(&self) -> impl ExactSizeIterator<Item = (AttributeId, &Attribute)> {
        self.attributes.iter().enumerate().map(|(i, a)| (AttributeId(i as u32), a))
    }

    /// The attribute with this path, written as the schema writes it.
    pub fn find(&self, path: &str) -> Option<AttributeId> {
        self.attributes.iter().position(|a| a.path == path).map(|i| AttributeId(i as u32))
    }

    pub(crate) fn add_class(&mut self, parent: ClassId, name: &[String], map: bool) -> ClassId {
        let above = &self.class(parent).path;
        let path =
            if map { self.notation.map_path(above, name) } else { self.notation.class_path(above, name) };
        self.add_class_at(parent, name, path)
    }

    /// A kind of the class called `name`.
    pub(crate) fn add_kind(&mut self, parent: ClassId, name: &[String], kind: &ClassKind) -> ClassId {
        let path = kind.path(self.notation, &self.class(parent).path, name);
        self.add_class_at(parent, &kind.name(self.notation, name), path)
    }

    pub(crate) fn add_class_at(&mut self, parent: ClassId, name: &[String], path: String) -> ClassId {
        if let Some(&id) = self.named[parent.index()].classes.get(name) {
            return id;
        }
        let id = ClassId(self.classes.len() as u32);
        self.classes[parent.index()].children.push(id);
        self.named[parent.index()].classes.insert(name.to_vec(), id);
        self.named.push(Named::default());
        self.classes.push(Class {
            parent: Some(parent),
            name: name.to_vec(),
            path,
            attributes: Vec::new(),
            children: Vec::new(),
        });
        id
    }

    pub(crate) fn add_attribute(&mut self, class: ClassId, name: &[String]) -> AttributeId {
        if let Some(&id) = self.named[class.index()].attributes.get(name) {
            return id;
        }
        let id = AttributeId(self.attributes.len() as u32);
        let path = self.notation.attribute_path(&self.class(class).path, name);
        let attributes = &mut self.classes[class.index()].attributes;
        let slot = attributes.len() as u32;
        attributes.push(id);
        self.named[class.index()].attributes.insert(name.to_vec(), id);
        self.attributes.push(Attribute { class, slot, name: name.to_vec(), path });
        id
    }

    pub(crate) fn rename(&mut self, id: AttributeId, path: &str) {
        path.clone_into(&mut self.attributes[id.index()].path);
    }
}
