//! In which order the keys of a class's objects are written.
//!
//! Keys that every vertex of the class has come first, in the order in which they were read; all others follow by
//! name. Which optional key happened to be seen first depends on the order of the input's records, and so must
//! not be visible; this way it also does not change when a publication is read and written again.

use std::cmp::Ordering;

use bosket_model::path::attribute_path;
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result};

use super::write::push_string;

/// How vertices of a class are written.
#[derive(Debug, Default)]
pub(super) struct Template {
    /// The attribute of an array of scalars.
    pub(super) scalar: Option<(AttributeId, usize)>,
    /// The class of an array of arrays.
    pub(super) nested: Option<ClassId>,
    pub(super) fields: Vec<Field>,
}

#[derive(Debug)]
pub(super) struct Field {
    name: String,
    /// The key as it is written, with its colon.
    pub(super) key: Vec<u8>,
    pub(super) content: Content,
    /// The place of the first attribute in it that every vertex has.
    rank: usize,
}

#[derive(Debug)]
pub(super) enum Content {
    Value(AttributeId, usize),
    Object(Vec<Field>),
    Array(ClassId),
}

/// The templates of all classes.
pub(super) fn templates(data: &Dataset) -> Result<Vec<Template>> {
    templates_as(data, &always_present(data))
}

/// The same where somebody knows which attributes every vertex has.
pub(super) fn templates_as(data: &Dataset, always: &[bool]) -> Result<Vec<Template>> {
    let schema = data.schema();
    let mut templates = Vec::new();
    for (_, class) in schema.classes() {
        let mut template = Template::default();
        for &id in &class.attributes {
            let attribute = schema.attribute(id);
            let slot = attribute.slot as usize;
            if attribute.name.is_empty() {
                template.scalar = Some((id, slot));
                continue;
            }
            let rank = if always[id.index()] { slot } else { usize::MAX };
            if !insert(&mut template.fields, &attribute.name, Content::Value(id, slot), rank) {
                return Err(in_the_way(&class.path, &attribute.name));
            }
        }
        for &id in &class.children {
            let name = &schema.class(id).name;
            if name.is_empty() {
                template.nested = Some(id);
            } else if !insert(&mut template.fields, name, Content::Array(id), usize::MAX) {
                return Err(in_the_way(&class.path, name));
            }
        }
        sort(&mut template.fields);
        templates.push(template);
    }
    Ok(templates)
}

/// For each attribute, whether every vertex of its class has it.
pub(crate) fn always_present(data: &Dataset) -> Vec<bool> {
    let schema = data.schema();
    let mut always = vec![true; schema.attributes().len()];
    for vertex in 0..data.vertex_count() {
        let attributes = &schema.class(data.class(vertex)).attributes;
        let values = data.values(vertex);
        for (slot, attribute) in attributes.iter().enumerate() {
            if values.get(slot).is_none_or(|&code| code == MISSING) {
                always[attribute.index()] = false;
            }
        }
    }
    always
}

/// Puts a leaf into the tree of keys; false if there is a leaf already on the way.
fn insert(fields: &mut Vec<Field>, name: &[String], leaf: Content, rank: usize) -> bool {
    let (first, rest) = name.split_first().expect("names of fields are not empty");
    let known = fields.iter_mut().find(|f| f.name == *first);
    match known {
        Some(Field { content: Content::Object(inner), rank: least, .. }) if !rest.is_empty() => {
            *least = rank.min(*least);
            insert(inner, rest, leaf, rank)
        }
        Some(_) => false,
        None => {
            let mut key = Vec::new();
            push_string(&mut key, first);
            key.push(b':');
            let content = if rest.is_empty() {
                leaf
            } else {
                let mut inner = Vec::new();
                insert(&mut inner, rest, leaf, rank);
                Content::Object(inner)
            };
            fields.push(Field { name: first.clone(), key, content, rank });
            true
        }
    }
}

fn sort(fields: &mut [Field]) {
    fields.sort_by(|a, b| a.rank.cmp(&b.rank).then_with(|| by_name(a, b)));
    for field in fields {
        if let Content::Object(inner) = &mut field.content {
            sort(inner);
        }
    }
}

/// Arrays last: they are long.
fn by_name(a: &Field, b: &Field) -> Ordering {
    let array = |f: &Field| matches!(f.content, Content::Array(_));
    array(a).cmp(&array(b)).then_with(|| a.name.cmp(&b.name))
}

fn in_the_way(class: &str, name: &[String]) -> Failure {
    let what =
        Diagnostic::error("one JSON object cannot hold both this path and another that starts or ends in it");
    let place = Place::default().path(attribute_path(class, name));
    Failure::new(Fault::Data, what.at(place).help("rename one of the two"))
}
