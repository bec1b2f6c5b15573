//! Whether two datasets hold the same records, in whatever order.

use bosket_model::observe::Observer;
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Kind, MISSING, Place, Result};
use rustc_hash::FxHashMap;

use crate::bottom_up::write_records;
use crate::sorted::Sorted;

/// Where a class stands: the keys on the way.
fn way(data: &Dataset, mut class: ClassId) -> Vec<Vec<String>> {
    let mut keys = Vec::new();
    while let Some(parent) = data.schema().class(class).parent {
        keys.push(data.schema().class(class).name.clone());
        class = parent;
    }
    keys.reverse();
    keys
}

/// The classes and attributes of a dataset, in the order that the original has them in.
struct View<'d> {
    data: &'d Dataset,
    /// Per class of the original the same here.
    classes: Vec<Option<ClassId>>,
    /// Per attribute of the original the same here.
    attributes: Vec<Option<AttributeId>>,
}

impl<'d> View<'d> {
    fn new(original: &Dataset, data: &'d Dataset) -> Self {
        let ways: FxHashMap<Vec<Vec<String>>, ClassId> =
            data.schema().classes().map(|(id, _)| (way(data, id), id)).collect();
        let find = |id: ClassId| ways.get(&way(original, id)).copied();
        let classes: Vec<Option<ClassId>> = original.schema().classes().map(|(id, _)| find(id)).collect();
        let attribute = |(_, a): (AttributeId, &bosket_model::schema::Attribute)| {
            let here = &data.schema().class(classes[a.class.index()]?).attributes;
            here.iter().copied().find(|&id| data.schema().attribute(id).name == a.name)
        };
        let attributes = original.schema().attributes().map(attribute).collect();
        View { data, classes, attributes }
    }

    /// How often each code of an attribute occurs.
    fn counts(&self) -> Vec<Vec<u64>> {
        let schema = self.data.schema();
        let mut counts: Vec<Vec<u64>> =
            schema.attributes().map(|(id, _)| vec![0; self.data.dictionary(id).len()]).collect();
        for vertex in 0..self.data.vertex_count() {
            let attributes = &schema.class(self.data.class(vertex)).attributes;
            for (id, &code) in attributes.iter().zip(self.data.values(vertex)) {
                if code != MISSING {
                    counts[id.index()][code as usize] += 1;
                }
            }
        }
        counts
    }

    fn vertices(&self) -> Vec<u64> {
        let mut counts = vec![0; self.data.schema().classes().len()];
        for vertex in 0..self.data.vertex_count() {
            counts[self.data.class(vertex).index()] += 1;
        }
        counts
    }
}

/// A value as it is compared: with its kind where the format has kinds.
fn value(typed: bool, kind: Kind, text: &str) -> (Option<Kind>, &str) {
    (typed.then_some(kind), text)
}

/// What is not the same in records that were written and read again; nothing if all is. Without types, a number and
/// the text that spells it are the same.
pub(crate) fn differences(
    original: &Dataset,
    again: &Dataset,
    typed: bool,
    observer: &dyn Observer,
) -> Result<Vec<Diagnostic>> {
    let (before, after) = (View::new(original, original), View::new(original, again));
    let mut found = Vec::new();
    if original.len() != again.len() {
        let what = format!("{} records were written, {} are read again", original.len(), again.len());
        found.push(Diagnostic::error(what));
    }
    let (vertices, vertices_after) = (before.vertices(), after.vertices());
    for (id, class) in original.schema().classes().skip(1) {
        let left = after.classes[id.index()].map_or(0, |c| vertices_after[c.index()]);
        if vertices[id.index()] != left {
            let what = format!("{} elements were written, {left} are read again", vertices[id.index()]);
            found.push(Diagnostic::error(what).at(Place::default().path(class.path.as_str())));
        }
    }
    let (counts, counts_after) = (before.counts(), after.counts());
    for (id, attribute) in original.schema().attributes() {
        observer.go_on()?;
        let left = after.attributes[id.index()].map(|a| (again, a, counts_after[a.index()].as_slice()));
        if let Some(what) = changed((original, id, &counts[id.index()]), left, typed) {
            let place = Place::default().path(attribute.path.as_str());
            found.push(Diagnostic::error(what).at(place));
        }
    }
    if found.is_empty() && !put_together_alike(&before, &after, typed, observer)? {
        found
            .push(Diagnostic::error("the values are put together to other records when they are read again"));
    }
    Ok(found)
}

/// `1 value`, `2 values`.
pub(crate) fn plural(n: i64, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

type Counted<'a> = (&'a Dataset, AttributeId, &'a [u64]);

/// What happened to the values of an attribute.
fn changed(before: Counted<'_>, after: Option<Counted<'_>>, typed: bool) -> Option<String> {
    let mut balance: FxHashMap<(Option<Kind>, &str), i64> = FxHashMap::default();
    let mut kinds: FxHashMap<&str, Kind> = FxHashMap::default();
    let mut alike = false;
    let dictionary = before.0.dictionary(before.1);
    for ((kind, text), &count) in dictionary.iter().zip(before.2).filter(|(_, count)| **count > 0) {
        alike |= !typed && *kinds.entry(text).or_insert(kind) != kind;
        *balance.entry(value(typed, kind, text)).or_insert(0) += count as i64;
    }
    if alike {
        return Some("a number or truth value and a text would be written alike".to_owned());
    }
    if let Some((data, id, counts)) = after {
        for ((kind, text), &count) in data.dictionary(id).iter().zip(counts) {
            *balance.entry(value(typed, kind, text)).or_insert(0) -= count as i64;
        }
    }
    let gone: i64 = balance.values().filter(|b| **b > 0).sum();
    let new: i64 = -balance.values().filter(|b| **b < 0).sum::<i64>();
    let empty: i64 = [None, Some(Kind::Text)].iter().filter_map(|k| balance.get(&(*k, ""))).sum();
    match (gone, new) {
        (0, 0) => None,
        (gone, 0) if gone == empty => Some(format!("{} would be missing", plural(gone, "empty text"))),
        (gone, 0) => Some(format!("{} would be missing", plural(gone, "value"))),
        (gone, new) if gone == new => {
            Some(format!("{} would be of another type, or others", plural(gone, "value")))
        }
        (gone, new) => {
            Some(format!("{} would be missing, {new} others there instead", plural(gone, "value")))
        }
    }
}

fn put_together_alike(
    before: &View<'_>,
    after: &View<'_>,
    typed: bool,
    observer: &dyn Observer,
) -> Result<bool> {
    let mut ranks: Vec<FxHashMap<(Option<Kind>, &str), u32>> = Vec::new();
    for (id, _) in before.data.schema().attributes() {
        let mut known = FxHashMap::default();
        for (kind, text) in before.data.dictionary(id).iter() {
            let next = known.len() as u32 + 1;
            known.entry(value(typed, kind, text)).or_insert(next);
        }
        ranks.push(known);
    }
    let text = |view: &View<'_>| -> Result<Sorted> {
        let codes: Vec<Vec<u32>> = view
            .attributes
            .iter()
            .zip(&ranks)
            .map(|(id, ranks)| {
                let rank = |(kind, text)| ranks.get(&value(typed, kind, text)).copied().unwrap_or(0);
                id.map_or(Vec::new(), |id| view.data.dictionary(id).iter().map(rank).collect())
            })
            .collect();
        let mut originals = vec![None; view.data.schema().classes().len()];
        for (original, class) in view.classes.iter().enumerate() {
            if let Some(class) = class {
                originals[class.index()] = Some(ClassId(original as u32));
            }
        }
        write_records(view.data, observer, |texts, _, vertex| {
            let Some(class) = originals[view.data.class(vertex).index()] else { return Ok(()) };
            let class = before.data.schema().class(class);
            for attribute in &class.attributes {
                let code = view.attributes[attribute.index()].map(|id| view.data.value(vertex, id));
                let rank = code.and_then(|c| codes[attribute.index()].get(c as usize)).copied().unwrap_or(0);
                texts.buffer.extend_from_slice(&rank.to_be_bytes());
            }
            for child in class.children.iter().filter_map(|c| view.classes[c.index()]) {
                for i in 0..texts.below(child).len() {
                    let (_, start, end) = texts.below(child)[i];
                    texts.buffer.push(1);
                    texts.buffer.extend_from_within(start..end);
                }
                texts.buffer.push(0);
            }
            Ok(())
        })
    };
    let (before_text, after_text) = (text(before)?, text(after)?);
    Ok(before_text.iter().eq(after_text.iter()))
}
