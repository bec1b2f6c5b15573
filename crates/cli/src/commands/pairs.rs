//! Which published record stems from which input record. Publications are ordered by what they say, so records are found
//! again by it.

use std::collections::BTreeMap;

use bosket_model::binding::Binding;
use bosket_model::value_tree::{Item, PayloadAt, PayloadValues, ValueTrees};
use bosket_model::{Dataset, MISSING};

/// Which published record stems from which input record, by number from 0. Equal records are given out in order. None if
/// they are not the same records.
pub(super) fn trees<'a>(made: &'a ValueTrees, published: &'a ValueTrees) -> Option<Vec<(usize, usize)>> {
    if made.len() != published.len() {
        return None;
    }
    // One number per attribute and label, whichever of the two has it.
    let mut labels: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    let mut number = |items: &'a [Item]| -> Vec<usize> {
        let mut of = |item: &'a Item| {
            let next = labels.len();
            *labels.entry((item.declared, &item.label)).or_insert(next)
        };
        items.iter().map(&mut of).collect()
    };
    let mut wanted = keys(made, &number(made.items()));
    let mut places = keys(published, &number(published.items()));
    places.sort_unstable();
    wanted.sort_unstable();
    let same = places.iter().zip(&wanted).all(|(a, b)| (&a.0, &a.1) == (&b.0, &b.1));
    let mut pairs: Vec<(usize, usize)> = wanted.iter().zip(&places).map(|(w, p)| (w.2, p.2)).collect();
    pairs.sort_unstable();
    same.then_some(pairs)
}

/// Values and payloads of a record with their places, and its number.
type Keyed<'a> = (Vec<(usize, usize)>, Vec<(usize, usize, &'a PayloadValues)>, usize);

fn keys<'a>(trees: &'a ValueTrees, number: &[usize]) -> Vec<Keyed<'a>> {
    // Places are counted from 1, 0 is the record's root.
    (0..trees.len())
        .map(|record| {
            let range = trees.nodes(record);
            let place = |node: Option<usize>| node.map_or(0, |n| n - range.start + 1);
            let node = |n: usize| (number[trees.item(n) as usize], place(trees.parent(n)));
            let payload = |p: &'a PayloadAt| (place(p.node.map(|n| n as usize)), p.home, &p.values);
            (range.clone().map(node).collect(), trees.payloads(record).iter().map(payload).collect(), record)
        })
        .collect()
}

/// The same for vertex trees, each with the place of its attributes; `records` says which input record a made one is.
pub(super) fn vertices(
    made: (&Dataset, &Binding),
    records: &[u32],
    published: (&Dataset, &Binding),
) -> Option<Vec<(usize, usize)>> {
    if made.0.len() != published.0.len() {
        return None;
    }
    let mut labels = BTreeMap::new();
    let mut wanted = vertex_keys(made, &mut labels);
    let mut places = vertex_keys(published, &mut labels);
    wanted.sort_unstable();
    places.sort_unstable();
    let same = places.iter().zip(&wanted).all(|(a, b)| a.0 == b.0);
    let mut pairs: Vec<(usize, usize)> =
        wanted.iter().zip(&places).map(|(w, p)| (records[w.1] as usize, p.1)).collect();
    pairs.sort_unstable();
    same.then_some(pairs)
}

/// Everything about a record in one order, and its number.
fn vertex_keys<'a>(
    (data, binding): (&'a Dataset, &Binding),
    labels: &mut BTreeMap<(usize, &'a str), usize>,
) -> Vec<(Vec<usize>, usize)> {
    let schema = data.schema();
    let keyed = |record: usize| {
        let vertices = data.vertices(record);
        let mut keys: Vec<Vec<usize>> = vec![Vec::new(); vertices.len()];
        let mut below: Vec<Vec<Vec<usize>>> = vec![Vec::new(); vertices.len()];
        for v in vertices.clone().rev() {
            let at = v - vertices.start;
            let class = data.class(v);
            let mut own: Vec<usize> = Vec::new();
            for &a in &schema.class(class).attributes {
                let (Some(declared), code) = (binding.attributes[a.index()], data.value(v, a)) else {
                    continue;
                };
                if code != MISSING {
                    let next = labels.len();
                    own.push(*labels.entry((declared, data.dictionary(a).text(code))).or_insert(next));
                }
            }
            own.sort_unstable();
            below[at].sort_unstable();
            // Ends cannot be taken for labels or homes.
            let mut key = vec![binding.classes[class.index()].unwrap_or(usize::MAX - 1)];
            key.extend(own);
            below[at].drain(..).for_each(|kid| key.extend(kid));
            key.push(usize::MAX);
            match data.parent(v) {
                Some(parent) => below[parent - vertices.start].push(key),
                None => keys[at] = key,
            }
        }
        (std::mem::take(&mut keys[0]), record)
    };
    (0..data.len()).map(keyed).collect()
}

/// The mapping as a file.
pub(super) fn csv(pairs: &[(usize, usize)]) -> String {
    let lines = pairs.iter().map(|(input, published)| format!("{},{}\n", input + 1, published + 1));
    std::iter::once("input_record,published_record\n".to_owned()).chain(lines).collect()
}
