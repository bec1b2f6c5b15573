//! k^(m,n)-anonymity by its definition: every piece of knowledge of every record, counted over all records.

use std::collections::BTreeSet;

use crate::trees::{PathRecord, nodes};

/// Knowledge: labels in order, and related pairs as (ancestor, descendant) indices into them.
pub type Knowledge = (Vec<String>, Vec<(usize, usize)>);

/// The smallest knowledge (by relations, values, order) that matches fewer than k records, with its support.
pub fn smallest_violation(
    records: &[PathRecord],
    k: usize,
    m: usize,
    n: usize,
    embedded: bool,
) -> Option<(Knowledge, usize)> {
    let records: Vec<BTreeSet<Vec<String>>> = records.iter().map(nodes).collect();
    let all: BTreeSet<Knowledge> = records.iter().flat_map(|r| knowledge(r, m, n)).collect();
    (all.into_iter())
        .map(|k| (records.iter().filter(|r| matches(r, &k, embedded)).count(), k))
        .filter(|&(support, _)| support > 0 && support < k)
        .min_by_key(|(_, (values, relations))| {
            (relations.len(), values.len(), values.clone(), order(relations))
        })
        .map(|(support, knowledge)| (knowledge, support))
}

/// Relations compare by the later value first, as bits of a mask do.
fn order(relations: &[(usize, usize)]) -> u64 {
    relations.iter().map(|&(a, b)| (a.min(b), a.max(b))).map(|(i, j)| 1u64 << (j * (j - 1) / 2 + i)).sum()
}

/// All that can be asked about a record's labels, whether or not it fits.
fn knowledge(record: &BTreeSet<Vec<String>>, m: usize, n: usize) -> Vec<Knowledge> {
    let labels: Vec<&String> =
        record.iter().filter_map(|p| p.last()).collect::<BTreeSet<_>>().into_iter().collect();
    let mut found = Vec::new();
    for chosen in subsets(labels.len(), m) {
        let values: Vec<String> = chosen.iter().map(|&i| labels[i].clone()).collect();
        let pairs: Vec<(usize, usize)> = (0..values.len())
            .flat_map(|a| (0..values.len()).map(move |b| (a, b)))
            .filter(|&(a, b)| {
                a != b
                    && record
                        .iter()
                        .any(|p| p.last() == Some(&values[b]) && p[..p.len() - 1].contains(&values[a]))
            })
            .collect();
        for related in subsets(pairs.len(), n).into_iter().chain([Vec::new()]) {
            found.push((values.clone(), related.iter().map(|&i| pairs[i]).collect()));
        }
    }
    found
}

/// All subsets of 0..n with 1..=most elements.
fn subsets(n: usize, most: usize) -> Vec<Vec<usize>> {
    (1u32..1 << n)
        .filter(|bits| bits.count_ones() as usize <= most)
        .map(|bits| (0..n).filter(|i| bits >> i & 1 == 1).collect())
        .collect()
}

fn matches(record: &BTreeSet<Vec<String>>, (values, relations): &Knowledge, embedded: bool) -> bool {
    let above = |a: &Vec<String>, b: &Vec<String>| a.len() < b.len() && b.starts_with(a);
    let places: Vec<Vec<&Vec<String>>> =
        values.iter().map(|v| record.iter().filter(|p| p.last() == Some(v)).collect()).collect();
    if places.iter().any(Vec::is_empty) {
        return false;
    }
    if !embedded {
        return relations
            .iter()
            .all(|&(a, b)| places[a].iter().any(|x| places[b].iter().any(|y| above(x, y))));
    }
    let choices: usize = places.iter().map(Vec::len).product();
    (0..choices).any(|mut choice| {
        let nodes: Vec<&Vec<String>> = (places.iter())
            .map(|p| {
                let node = p[choice % p.len()];
                choice /= p.len();
                node
            })
            .collect();
        relations.iter().all(|&(a, b)| above(nodes[a], nodes[b]))
    })
}
