//! Classes that hold several kinds of things, and what tells these apart.

use std::collections::BTreeMap;

use bosket_model::{AttributeId, ClassId, Dataset, MISSING};

/// A value of so many different ones may tell kinds apart.
const MOST: usize = 20;

/// Attributes that every vertex of their class has and that tell kinds of it apart: others occur only with some of their
/// values, and mostly there. One per class.
pub fn telling_kinds(data: &Dataset) -> Vec<AttributeId> {
    let schema = data.schema();
    let mut vertices: Vec<Vec<usize>> = vec![Vec::new(); schema.classes().len()];
    for vertex in (0..data.len()).flat_map(|record| data.vertices(record)) {
        vertices[data.class(vertex).index()].push(vertex);
    }
    let mut found = Vec::new();
    for (id, class) in schema.classes().filter(|(id, _)| *id != ClassId::ROOT) {
        let told = |&by: &AttributeId| (told_apart(data, &vertices[id.index()], &class.attributes, by), by);
        let told = class.attributes.iter().map(told).filter(|(others, _)| *others > 0);
        // Of several the first that tells most apart.
        let best = told.rev().max_by_key(|(others, _)| *others);
        found.extend(best.map(|(_, by)| by));
    }
    found
}

/// How many attributes occur only with some values of another.
fn told_apart(data: &Dataset, vertices: &[usize], attributes: &[AttributeId], by: AttributeId) -> usize {
    let mut kinds: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for &vertex in vertices {
        kinds.entry(data.value(vertex, by)).or_default().push(vertex);
        if kinds.len() > MOST || kinds.contains_key(&MISSING) {
            return 0;
        }
    }
    // A value of a single vertex tells no kind.
    if kinds.len() < 2 || kinds.values().any(|own| own.len() < 2) {
        return 0;
    }
    let apart = |other: AttributeId| {
        let (mut with, mut all) = (0, 0);
        let mut some = 0;
        for own in kinds.values() {
            let present = own.iter().filter(|&&v| data.value(v, other) != MISSING).count();
            if present > 0 {
                (some, with, all) = (some + 1, with + present, all + own.len());
            }
        }
        (1..kinds.len()).contains(&some) && with * 2 > all
    };
    attributes.iter().filter(|&&other| other != by && apart(other)).count()
}

#[cfg(test)]
mod tests {
    use super::telling_kinds;
    use bosket_model::{Builder, ClassId, Kind};

    #[test]
    fn what_others_occur_with_tells_kinds() {
        let mut b = Builder::new();
        let name = |n: &str| vec![n.to_owned()];
        let entry = b.class(ClassId::ROOT, &name("entry"));
        let [kind, code, note, colour] =
            ["kind", "code", "note", "colour"].map(|n| b.attribute(entry, &name(n)));
        for i in 0..6 {
            b.begin_record();
            for (own, other) in [("Condition", code), ("Note", note)] {
                b.open(entry);
                b.set(kind, Kind::Text, own);
                b.set(colour, Kind::Text, ["red", "green"][i % 2]);
                b.set(other, Kind::Text, "x");
                b.close();
            }
            b.end_record().expect("nothing twice");
        }
        assert_eq!(telling_kinds(&b.finish()), [kind]);
    }
}
