//! People from records that are in memory, all of them or a part.

use std::ops::Range;

use bosket_model::binding::Binding;
use bosket_model::{AttributeId, Builder, ClassId, Dataset, Failure, MISSING, Result};

use super::spool::Spool;
use crate::problems::too_large;
use crate::sorted::Sorted;
use bosket_model::sides::{Fate, Fates};

/// What becomes of a vertex that has no quasi value in it or below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    /// It leaves no trace: how often something sensitive occurs must not show on the other side.
    Gone,
    /// It stays: records of a class have as many of them, and sensitive values are counted against them.
    Kept,
}

/// The quasi side of all records, in their order. With `groups`, each has its number in an attribute of this name, and
/// those without are left out.
pub(crate) fn quasi_side(
    data: &Dataset,
    binding: &Binding,
    fates: &Fates,
    groups: Option<(&str, &[Option<u32>])>,
    empty: Empty,
) -> Result<Dataset> {
    let schema = data.schema();
    let mut builder = Builder::in_notation(schema.notation());
    let number = groups.map(|(name, _)| builder.attribute(ClassId::ROOT, &[name.to_owned()]));
    let stays = |id: AttributeId| binding.attributes[id.index()].is_some_and(|d| fates.of[d] == Fate::Quasi);
    let kept = match empty {
        Empty::Gone => KeptVertices::new(data, &stays),
        Empty::Kept => KeptVertices::all(data, binding),
    };
    let mut classes: Vec<Option<ClassId>> = Vec::new();
    let mut attributes: Vec<Option<AttributeId>> = vec![None; schema.attributes().len()];
    for (id, class) in schema.classes() {
        let own = match class.parent {
            None => Some(ClassId::ROOT),
            Some(parent) if kept.classes[id.index()] => {
                classes[parent.index()].map(|parent| builder.class(parent, &class.name))
            }
            Some(_) => None,
        };
        for &attribute in class.attributes.iter().filter(|&&a| stays(a)) {
            attributes[attribute.index()] =
                own.map(|own| builder.attribute(own, &schema.attribute(attribute).name));
        }
        classes.push(own);
    }
    for record in 0..data.len() {
        let group = match groups {
            Some((_, groups)) => match groups[record] {
                Some(group) => Some(group),
                None => continue,
            },
            None => None,
        };
        builder.begin_record();
        if let (Some(number), Some(group)) = (number, group) {
            builder.set(number, bosket_model::Kind::Number, &group.to_string());
        }
        let mut open: Vec<usize> = Vec::new();
        for vertex in data.vertices(record) {
            while open.last().is_some_and(|&last| Some(last) != data.parent(vertex)) {
                open.pop();
                builder.close();
            }
            if !kept.vertices[vertex] && data.parent(vertex).is_some() {
                continue;
            }
            if data.parent(vertex).is_some() {
                let Some(class) = classes[data.class(vertex).index()] else { continue };
                builder.open(class);
                open.push(vertex);
            } else {
                // The record itself is closed with the record.
                open.clear();
            }
            for (slot, &attribute) in schema.class(data.class(vertex)).attributes.iter().enumerate() {
                let code = data.values(vertex).get(slot).copied().unwrap_or(MISSING);
                if let Some(to) = attributes[attribute.index()].filter(|_| code != MISSING) {
                    let dictionary = data.dictionary(attribute);
                    builder.set(to, dictionary.kind(code), dictionary.text(code));
                }
            }
        }
        let full = |_| Failure::new(bosket_model::Fault::Data, too_large(bosket_model::Place::default()));
        builder.end_record().map_err(full)?;
    }
    Ok(builder.finish())
}

/// What stands on the quasi side.
struct KeptVertices {
    vertices: Vec<bool>,
    classes: Vec<bool>,
}

impl KeptVertices {
    /// All vertices of classes that the policy names.
    fn all(data: &Dataset, binding: &Binding) -> Self {
        let classes: Vec<bool> = binding.classes.iter().map(Option::is_some).collect();
        let own = |vertex: usize| classes[data.class(vertex).index()];
        KeptVertices { vertices: (0..data.vertex_count()).map(own).collect(), classes }
    }

    /// What has quasi values in it or below.
    fn new(data: &Dataset, stays: &dyn Fn(AttributeId) -> bool) -> Self {
        let schema = data.schema();
        let mut kept = KeptVertices {
            vertices: vec![false; data.vertex_count()],
            classes: vec![false; schema.classes().len()],
        };
        // Not by what there is: all parts of a file have the same classes.
        for (id, class) in schema.classes().collect::<Vec<_>>().into_iter().rev() {
            if class.attributes.iter().any(|&a| stays(a)) || kept.classes[id.index()] {
                kept.classes[id.index()] = true;
                if let Some(parent) = class.parent {
                    kept.classes[parent.index()] = true;
                }
            }
        }
        for vertex in (0..data.vertex_count()).rev() {
            let attributes = &schema.class(data.class(vertex)).attributes;
            let own =
                data.values(vertex).iter().zip(attributes).any(|(&code, &a)| code != MISSING && stays(a));
            kept.vertices[vertex] |= own;
            if let Some(parent) = data.parent(vertex).filter(|_| kept.vertices[vertex]) {
                kept.vertices[parent] = true;
            }
        }
        kept
    }
}

/// Hands the people of a dataset over, with the texts of their quasi sides.
pub(crate) fn fill(
    spool: &mut Spool,
    data: &Dataset,
    binding: &Binding,
    fates: &Fates,
    texts: &Sorted,
) -> Result<()> {
    for (record, text) in texts.iter().enumerate() {
        sensitive(data, data.vertices(record), binding, fates, &mut |at, attribute, code| {
            let dictionary = data.dictionary(attribute);
            spool.value(at, dictionary.kind(code), dictionary.text(code));
        });
        spool.person(text)?;
    }
    Ok(())
}

/// The sensitive values of a record: which sensitive attribute, which of the data, and the code.
pub(super) fn sensitive(
    data: &Dataset,
    vertices: Range<usize>,
    binding: &Binding,
    fates: &Fates,
    take: &mut dyn FnMut(usize, AttributeId, u32),
) {
    for vertex in vertices {
        let attributes = &data.schema().class(data.class(vertex)).attributes;
        for (&code, &attribute) in data.values(vertex).iter().zip(attributes) {
            let fate = binding.attributes[attribute.index()].map(|d| fates.of[d]);
            if let Some(Fate::Sensitive(at)) = fate.filter(|_| code != MISSING) {
                take(at, attribute, code);
            }
        }
    }
}
