//! Records as texts in which order does not count, to compare what was read with what was read again.

use bosket_model::{Dataset, MISSING};

/// All records, sorted. Every value stands with its path and kind, every vertex with its class.
pub(crate) fn canonical(data: &Dataset) -> Vec<String> {
    sorted(data, true)
}

/// The same without kinds, for formats in which a column's type decides about them.
pub(crate) fn canonical_texts(data: &Dataset) -> Vec<String> {
    sorted(data, false)
}

fn sorted(data: &Dataset, kinds: bool) -> Vec<String> {
    let mut records: Vec<String> = (0..data.len()).map(|r| record(data, r, kinds)).collect();
    records.sort();
    records
}

fn record(data: &Dataset, record: usize, kinds: bool) -> String {
    let vertices = data.vertices(record);
    let mut below: Vec<Vec<String>> = vec![Vec::new(); vertices.len()];
    let start = vertices.start;
    // Parents stand before their children, so that from behind every vertex is complete when it is reached.
    for vertex in vertices.rev() {
        let children = std::mem::take(&mut below[vertex - start]);
        let text = one(data, vertex, children, kinds);
        match data.parent(vertex) {
            Some(parent) => below[parent - start].push(text),
            None => return text,
        }
    }
    String::new()
}

fn one(data: &Dataset, vertex: usize, mut parts: Vec<String>, kinds: bool) -> String {
    let schema = data.schema();
    let class = schema.class(data.class(vertex));
    for &attribute in &class.attributes {
        let code = data.value(vertex, attribute);
        if code != MISSING {
            let (dictionary, path) = (data.dictionary(attribute), &schema.attribute(attribute).path);
            let kind = if kinds { format!("{:?} ", dictionary.kind(code)) } else { String::new() };
            parts.push(format!("{path:?}={kind}{:?}", dictionary.text(code)));
        }
    }
    parts.sort();
    format!("{:?}{{{}}}", class.path, parts.join(" "))
}
