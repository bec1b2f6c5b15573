//! The sensitive values of a record, as the claim tells them apart.

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::policy::{Diversity, Role, Siblings};
use bosket_model::{Dataset, MISSING};

use super::{is_over, is_uniform};
use crate::vertex::Diverse;

/// What counts as sensitive.
pub(super) enum Secrets<'a> {
    /// Values of sensitive attributes, or their buckets. Bounds are per declared attribute.
    OfAttributes(&'a [Option<Vec<f64>>]),
    /// Quasi values that are listed.
    Listed(&'a [String]),
}

impl Secrets<'_> {
    /// The sensitive values of a record, each once: the declared attribute and the text that is compared.
    pub(super) fn of(&self, data: &Dataset, binding: &Binding, record: usize) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for vertex in data.vertices(record) {
            for &attribute in &data.schema().class(data.class(vertex)).attributes {
                let code = data.value(vertex, attribute);
                let Some(declared) = binding.attributes[attribute.index()].filter(|_| code != MISSING) else {
                    continue;
                };
                let text = data.dictionary(attribute).text(code);
                match (self, binding.declared[declared].role) {
                    (Secrets::OfAttributes(bounds), Role::Sensitive) => {
                        let bounds = bounds.get(declared).and_then(Option::as_deref);
                        found.push((declared, told(bounds, text)));
                    }
                    (Secrets::Listed(listed), Role::Quasi) if listed.iter().any(|value| value == text) => {
                        found.push((declared, text.to_owned()));
                    }
                    _ => {}
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }
}

/// Listed labels and, where a hierarchy has one above others and no value is written like it, the leaves below.
pub(super) fn all_listed(listed: &[String], hierarchies: &[Option<Hierarchy>]) -> Vec<String> {
    let mut all = listed.to_vec();
    for hierarchy in hierarchies.iter().flatten() {
        for leaf in hierarchy.nodes().filter(|&node| hierarchy.is_leaf(node)) {
            let above: Vec<&str> = std::iter::successors(hierarchy.parent(leaf), |&n| hierarchy.parent(n))
                .filter(|&n| hierarchy.parent(n).is_some())
                .map(|n| hierarchy.label(n))
                .collect();
            let means = |label: &String| {
                hierarchy.leaf(label).map_or(above.contains(&label.as_str()), |own| own == leaf)
            };
            if listed.iter().any(means) {
                all.push(hierarchy.label(leaf).to_owned());
            }
        }
    }
    all
}

/// A value as it is compared: its text, or the two bounds around it.
pub(super) fn told(bounds: Option<&[f64]>, text: &str) -> String {
    let number = bounds.and_then(|_| text.trim().parse::<f64>().ok());
    let (Some(bounds), Some(number)) = (bounds, number) else {
        return text.to_owned();
    };
    let reached = bounds.iter().rfind(|bound| **bound <= number);
    let next = bounds.iter().find(|bound| **bound > number);
    match (reached, next) {
        (Some(from), Some(to)) => format!("[{from},{to})"),
        (Some(from), None) => format!(">= {from}"),
        (None, Some(to)) => format!("< {to}"),
        (None, None) => String::new(),
    }
}

/// Whether one place of those who look alike says too much: per value the vertices and the records that have it, of so many
/// vertices and records.
pub(super) fn says_too_much(
    having: &[(usize, usize)],
    (vertices, records): (usize, usize),
    ask: &Diverse,
) -> bool {
    let too_common = having.iter().any(|&(in_vertices, in_records)| match ask.siblings {
        Siblings::Pooled => is_over(in_vertices, vertices, ask.l),
        Siblings::Each => is_over(in_records, records, ask.l),
    });
    match ask.diversity {
        Diversity::Frequency => too_common,
        Diversity::Entropy => {
            let filled: usize = having.iter().map(|own| own.0).sum();
            // A missing value could be anything, so each is a value of its own.
            let missing = std::iter::repeat_n(1, vertices.saturating_sub(filled));
            let counts: Vec<usize> = having.iter().map(|own| own.0).chain(missing).collect();
            let low = !having.is_empty() && is_uniform(&counts, ask.l);
            low || (ask.siblings == Siblings::Each && too_common)
        }
    }
}
