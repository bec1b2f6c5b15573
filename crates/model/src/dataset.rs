//! Records as flat columns.
//!
//! All vertices of all records stand in preorder, record after record; class, parent and values are parallel
//! arrays. A vertex owns a contiguous run of value codes, one slot per attribute of its class known when it was
//! read; slots that came to the class later are missing. That makes a record of 12 values in 6 vertices about
//! 120 bytes, and counting a walk over arrays.

mod objects;
mod sets;
mod silent;

use std::ops::Range;

pub use objects::ObjectName;
pub use sets::Sets;

use crate::dictionary::{Dictionary, Kind, MISSING};
use crate::kind::ClassKind;
use crate::path::Notation;
use crate::schema::{AttributeId, Class, ClassId, Schema};

/// The parent of a record's root vertex.
const NO_PARENT: u32 = u32::MAX;

/// A collection of records, one per person.
#[derive(Clone, Debug)]
pub struct Dataset {
    schema: Schema,
    dictionaries: Vec<Dictionary>,
    class: Vec<ClassId>,
    parent: Vec<u32>,
    first_value: Vec<u32>,
    values: Vec<u32>,
    first_vertex: Vec<u32>,
}

impl Dataset {
    /// Classes and attributes.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How many records there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.first_vertex.len() - 1
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many vertices all records have together.
    pub fn vertex_count(&self) -> usize {
        self.class.len()
    }

    /// The vertices of a record (numbered from 0), its root first.
    #[inline]
    pub fn vertices(&self, record: usize) -> Range<usize> {
        self.first_vertex[record] as usize..self.first_vertex[record + 1] as usize
    }

    /// The class of a vertex.
    #[inline]
    pub fn class(&self, vertex: usize) -> ClassId {
        self.class[vertex]
    }

    /// The vertex above; none for a record's root.
    #[inline]
    pub fn parent(&self, vertex: usize) -> Option<usize> {
        let parent = self.parent[vertex];
        (parent != NO_PARENT).then_some(parent as usize)
    }

    /// The value codes of a vertex in the order of its class's attributes; missing ones at the end may be left out.
    #[inline]
    pub fn values(&self, vertex: usize) -> &[u32] {
        &self.values[self.first_value[vertex] as usize..self.first_value[vertex + 1] as usize]
    }

    /// The code of one attribute of a vertex, or [`MISSING`]. The attribute must belong to the vertex's class.
    #[inline]
    pub fn value(&self, vertex: usize, attribute: AttributeId) -> u32 {
        let slot = self.schema.attribute(attribute).slot as usize;
        self.values(vertex).get(slot).copied().unwrap_or(MISSING)
    }

    /// The values that occur in an attribute.
    #[inline]
    pub fn dictionary(&self, attribute: AttributeId) -> &Dictionary {
        &self.dictionaries[attribute.index()]
    }

    /// The same with one code per text: whoever reads `1` and `"1"` in a publication reads one value. None if every text
    /// has one code already, as in all data but such as mixes kinds.
    pub fn one_spelling(&self) -> Option<Dataset> {
        let firsts: Vec<Option<Vec<u32>>> = self.dictionaries.iter().map(Dictionary::first_of_text).collect();
        if firsts.iter().all(Option::is_none) {
            return None;
        }
        let mut data = self.clone();
        for vertex in 0..data.class.len() {
            let attributes = &data.schema.class(data.class[vertex]).attributes;
            let own = data.first_value[vertex] as usize..data.first_value[vertex + 1] as usize;
            for (value, attribute) in data.values[own].iter_mut().zip(attributes) {
                if let (Some(first), true) = (&firsts[attribute.index()], *value != MISSING) {
                    *value = first[*value as usize];
                }
            }
        }
        Some(data)
    }

    /// The same with other values: of an attribute that is to change, its new values and what each old code becomes, which
    /// may be [`MISSING`].
    #[must_use]
    pub fn recoded(&self, change: impl Fn(AttributeId) -> Option<(Dictionary, Vec<u32>)>) -> Dataset {
        let mut data = self.clone();
        let mut codes: Vec<Option<Vec<u32>>> = Vec::new();
        for (id, _) in self.schema.attributes() {
            codes.push(change(id).map(|(dictionary, codes)| {
                data.dictionaries[id.index()] = dictionary;
                codes
            }));
        }
        for vertex in 0..data.class.len() {
            let attributes = &data.schema.class(data.class[vertex]).attributes;
            let own = data.first_value[vertex] as usize..data.first_value[vertex + 1] as usize;
            for (value, attribute) in data.values[own].iter_mut().zip(attributes) {
                if let (Some(codes), true) = (&codes[attribute.index()], *value != MISSING) {
                    *value = codes[*value as usize];
                }
            }
        }
        data
    }
}

/// Why a record was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A value was set twice.
    Twice,
    /// The dataset has more values or vertices than 32 bits can number.
    Full,
}

/// Builds a dataset record by record.
///
/// Vertices are opened and closed as a document is read; a value may be set before or after the vertices below.
/// The record under construction is kept apart and only joins the columns when it is complete.
#[derive(Debug)]
pub struct Builder {
    data: Dataset,
    class: Vec<ClassId>,
    parent: Vec<u32>,
    /// (vertex, slot, code) in order of arrival.
    values: Vec<(u32, u32, u32)>,
    open: Vec<u32>,
    /// Scratch of `end_record`: where each vertex's values start.
    starts: Vec<u32>,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// An empty dataset.
    pub fn new() -> Self {
        Builder {
            data: Dataset {
                schema: Schema::default(),
                dictionaries: Vec::new(),
                class: Vec::new(),
                parent: Vec::new(),
                first_value: vec![0],
                values: Vec::new(),
                first_vertex: vec![0],
            },
            class: Vec::new(),
            parent: Vec::new(),
            values: Vec::new(),
            open: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// An empty dataset whose paths are written in a certain way.
    pub fn in_notation(notation: Notation) -> Self {
        let mut builder = Self::new();
        builder.data.schema = Schema::in_notation(notation);
        builder
    }

    /// An empty dataset with the classes and attributes of another, under the same numbers.
    pub fn like(data: &Dataset) -> Self {
        let mut builder = Self::new();
        builder.data.schema = data.schema.clone();
        builder.data.dictionaries = vec![Dictionary::default(); data.dictionaries.len()];
        builder
    }

    /// Goes on with a dataset, of which nothing is copied.
    pub fn after(data: Dataset) -> Self {
        Builder { data, ..Self::new() }
    }

    /// The schema so far.
    pub fn schema(&self) -> &Schema {
        &self.data.schema
    }

    /// How many records are complete.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether no record is complete.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The class of the array at `name` below `parent`'s vertices, added if it is new.
    pub fn class(&mut self, parent: ClassId, name: &[String]) -> ClassId {
        self.data.schema.add_class(parent, name, false)
    }

    /// The class of the entries of the map at `name`, added if it is new.
    pub fn map(&mut self, parent: ClassId, name: &[String]) -> ClassId {
        self.data.schema.add_class(parent, name, true)
    }

    /// A kind of the class of the array at `name`, added if it is new.
    pub fn kind(&mut self, parent: ClassId, name: &[String], kind: &ClassKind) -> ClassId {
        self.data.schema.add_kind(parent, name, kind)
    }

    /// A class of another dataset, with the path that it has there, added if it is new.
    pub fn class_like(&mut self, parent: ClassId, class: &Class) -> ClassId {
        self.data.schema.add_class_at(parent, &class.name, class.path.clone())
    }

    /// The class called `name` below `parent`'s vertices, with a path of its own if it is new.
    pub(crate) fn class_at(&mut self, parent: ClassId, name: &[String], path: String) -> ClassId {
        self.data.schema.add_class_at(parent, name, path)
    }

    /// The attribute at `name` in a class's vertices, added if it is new.
    pub fn attribute(&mut self, class: ClassId, name: &[String]) -> AttributeId {
        let id = self.data.schema.add_attribute(class, name);
        if id.index() == self.data.dictionaries.len() {
            self.data.dictionaries.push(Dictionary::default());
        }
        id
    }

    /// Gives an attribute another path than the one its keys spell.
    pub fn rename(&mut self, attribute: AttributeId, path: &str) {
        self.data.schema.rename(attribute, path);
    }

    /// Gives an attribute without values all that it is going to have, to be set by their codes.
    pub fn adopt(&mut self, attribute: AttributeId, values: Dictionary) {
        debug_assert!(self.data.dictionaries[attribute.index()].is_empty());
        self.data.dictionaries[attribute.index()] = values;
    }

    /// Makes room for so many more records, vertices and values at once.
    pub fn reserve(&mut self, records: usize, vertices: usize, values: usize) {
        let data = &mut self.data;
        data.first_vertex.reserve_exact(records);
        data.class.reserve_exact(vertices);
        data.parent.reserve_exact(vertices);
        data.first_value.reserve_exact(vertices);
        data.values.reserve_exact(values);
    }

    /// Starts a record; its root vertex is open.
    #[inline]
    pub fn begin_record(&mut self) {
        self.abort_record();
        self.push(ClassId::ROOT, NO_PARENT);
    }

    /// Opens a vertex below the open one.
    #[inline]
    pub fn open(&mut self, class: ClassId) {
        let parent = *self.open.last().expect("a record is begun");
        self.push(class, parent);
    }

    fn push(&mut self, class: ClassId, parent: u32) {
        self.open.push(self.class.len() as u32);
        self.class.push(class);
        self.parent.push(parent);
    }

    /// Closes the vertex opened last.
    #[inline]
    pub fn close(&mut self) {
        self.open.pop();
    }

    /// The code of a value, for [`Builder::set_code`]: sources that come in parts keep codes until the record is whole.
    pub fn code(&mut self, attribute: AttributeId, kind: Kind, text: &str) -> u32 {
        self.data.dictionaries[attribute.index()].intern(kind, text)
    }

    /// The code that a value of one attribute has in another.
    pub fn same_code(&mut self, from: AttributeId, code: u32, to: AttributeId) -> u32 {
        let dictionary = &self.data.dictionaries[from.index()];
        let (kind, text) = (dictionary.kind(code), dictionary.text(code).to_owned());
        self.code(to, kind, &text)
    }

    /// Sets a value of the open vertex, whose class the attribute belongs to.
    #[inline]
    pub fn set(&mut self, attribute: AttributeId, kind: Kind, text: &str) {
        let code = self.code(attribute, kind, text);
        self.set_code(attribute, code);
    }

    /// The same with a value's code in place of the value.
    #[inline]
    pub fn set_code(&mut self, attribute: AttributeId, code: u32) {
        let vertex = *self.open.last().expect("a record is begun");
        debug_assert_eq!(self.data.schema.attribute(attribute).class, self.class[vertex as usize]);
        self.values.push((vertex, self.data.schema.attribute(attribute).slot, code));
    }

    /// Completes the record, or drops it and says why.
    pub fn end_record(&mut self) -> Result<(), Refused> {
        let data = &mut self.data;
        let first_vertex = data.class.len() as u32;
        let mut next = data.values.len();
        self.starts.clear();
        for class in &self.class {
            self.starts.push(next as u32);
            next += data.schema.class(*class).attributes.len();
        }
        if next.max(data.class.len() + self.class.len()) >= u32::MAX as usize {
            self.abort_record();
            return Err(Refused::Full);
        }
        data.values.resize(next, MISSING);
        for &(vertex, slot, code) in &self.values {
            let value = &mut data.values[(self.starts[vertex as usize] + slot) as usize];
            if *value != MISSING {
                data.values.truncate(self.starts[0] as usize);
                self.abort_record();
                return Err(Refused::Twice);
            }
            *value = code;
        }
        data.class.append(&mut self.class);
        data.parent.extend(self.parent.iter().map(|&p| if p == NO_PARENT { p } else { p + first_vertex }));
        data.first_value.extend_from_slice(&self.starts[1..]);
        data.first_value.push(next as u32);
        data.first_vertex.push(data.class.len() as u32);
        self.abort_record();
        Ok(())
    }

    /// Adds a record that is a set: below its root one vertex of the attribute's class per code, with that value alone.
    /// Nothing is opened and closed for it, which is most of the work where records are many and small.
    pub fn add_set(&mut self, attribute: AttributeId, codes: &[u32]) -> Result<(), Refused> {
        self.abort_record();
        let data = &mut self.data;
        let (class, slot) = {
            let attribute = data.schema.attribute(attribute);
            (attribute.class, attribute.slot as usize)
        };
        let root = data.class.len();
        let first = data.values.len() + data.schema.class(ClassId::ROOT).attributes.len();
        let width = data.schema.class(class).attributes.len();
        let (vertices, values) = (root + 1 + codes.len(), first + width * codes.len());
        if vertices.max(values) >= u32::MAX as usize {
            return Err(Refused::Full);
        }
        data.class.push(ClassId::ROOT);
        data.class.resize(vertices, class);
        data.parent.push(NO_PARENT);
        data.parent.resize(vertices, root as u32);
        data.first_value.extend((0..=codes.len()).map(|vertex| (first + width * vertex) as u32));
        if width == 1 {
            data.values.resize(first, MISSING);
            data.values.extend_from_slice(codes);
        } else {
            data.values.resize(values, MISSING);
            codes.iter().enumerate().for_each(|(i, &code)| data.values[first + width * i + slot] = code);
        }
        data.first_vertex.push(vertices as u32);
        Ok(())
    }

    /// Forgets the record under construction. Values it brought stay in the dictionaries, unused.
    pub fn abort_record(&mut self) {
        self.class.clear();
        self.parent.clear();
        self.values.clear();
        self.open.clear();
    }

    /// The dataset.
    pub fn finish(mut self) -> Dataset {
        let data = &mut self.data;
        data.class.shrink_to_fit();
        data.parent.shrink_to_fit();
        data.first_value.shrink_to_fit();
        data.values.shrink_to_fit();
        data.first_vertex.shrink_to_fit();
        data.dictionaries.iter_mut().for_each(Dictionary::shrink);
        self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(name: &str) -> Vec<String> {
        vec![name.to_owned()]
    }

    #[test]
    fn values_may_come_after_the_vertices_below() {
        let mut b = Builder::new();
        let id = b.attribute(ClassId::ROOT, &keys("id"));
        let visits = b.class(ClassId::ROOT, &keys("visits"));
        let hospital = b.attribute(visits, &keys("hospital"));
        b.begin_record();
        b.open(visits);
        b.set(hospital, Kind::Text, "H1");
        b.close();
        b.set(id, Kind::Number, "7");
        b.end_record().expect("nothing twice");
        // An attribute that only the second record has widens the class, not the first record.
        let age = b.attribute(ClassId::ROOT, &keys("age"));
        b.begin_record();
        b.set(age, Kind::Number, "30");
        b.end_record().expect("nothing twice");
        let d = b.finish();
        assert_eq!(d.len(), 2);
        assert_eq!(d.vertices(0), 0..2);
        assert_eq!(d.parent(1), Some(0));
        assert_eq!(d.dictionary(hospital).text(d.value(1, hospital)), "H1");
        assert_eq!(d.value(0, age), MISSING);
        assert_eq!(d.value(2, id), MISSING);
        assert_eq!(d.schema().find("visits[].hospital"), Some(hospital));
    }

    #[test]
    fn a_set_is_the_record_that_its_vertices_would_make() {
        let (mut one, mut other) = (Builder::new(), Builder::new());
        let prepared = |b: &mut Builder| {
            let class = b.class(ClassId::ROOT, &keys("items"));
            let item = b.attribute(class, &[]);
            ["x", "y", "z"].iter().for_each(|text| {
                b.code(item, Kind::Text, text);
            });
            (class, item)
        };
        let (class, item) = prepared(&mut one);
        prepared(&mut other);
        let sets: [&[u32]; 5] = [&[0, 2], &[], &[1], &[2, 2, 0], &[1, 0]];
        for (i, set) in sets.into_iter().enumerate() {
            if i == 3 {
                // Classes may widen between two records, that of the root and that of the items.
                for b in [&mut one, &mut other] {
                    b.attribute(ClassId::ROOT, &keys("age"));
                    b.attribute(class, &keys("price"));
                }
            }
            one.add_set(item, set).expect("there is room");
            other.begin_record();
            for &code in set {
                other.open(class);
                other.set_code(item, code);
                other.close();
            }
            other.end_record().expect("nothing twice");
        }
        let (one, other) = (one.finish(), other.finish());
        assert_eq!(
            (&one.class, &one.parent, &one.first_vertex),
            (&other.class, &other.parent, &other.first_vertex)
        );
        assert_eq!((&one.first_value, &one.values), (&other.first_value, &other.values));
    }

    #[test]
    fn a_text_of_two_kinds_becomes_one_value() {
        let mut b = Builder::new();
        let (a, other) = (b.attribute(ClassId::ROOT, &keys("a")), b.attribute(ClassId::ROOT, &keys("other")));
        for (kind, text) in [(Kind::Number, "1"), (Kind::Text, "1"), (Kind::Number, "2"), (Kind::Text, "1.0")]
        {
            b.begin_record();
            b.set(a, kind, text);
            b.set(other, Kind::Text, "1");
            b.end_record().expect("nothing twice");
        }
        let data = b.finish();
        let same = data.one_spelling().expect("two kinds of 1");
        let codes: Vec<u32> = (0..4).map(|record| same.value(record, a)).collect();
        assert_eq!((codes[0], codes[1]), (codes[1], codes[0]));
        assert!(codes[1] != codes[2] && codes[2] != codes[3] && codes[1] != codes[3]);
        assert!(same.one_spelling().is_some_and(|again| again.value(1, a) == codes[1]));
        assert!((0..4).all(|record| same.value(record, other) == data.value(record, other)));
    }

    #[test]
    fn a_value_set_twice_drops_the_record_only() {
        let mut b = Builder::new();
        let id = b.attribute(ClassId::ROOT, &keys("id"));
        b.begin_record();
        b.set(id, Kind::Number, "1");
        b.set(id, Kind::Number, "2");
        assert_eq!(b.end_record(), Err(Refused::Twice));
        b.begin_record();
        b.set(id, Kind::Number, "3");
        b.end_record().expect("nothing twice");
        let d = b.finish();
        assert_eq!((d.len(), d.vertex_count()), (1, 1));
        assert_eq!(d.dictionary(id).text(d.value(0, id)), "3");
    }
}
