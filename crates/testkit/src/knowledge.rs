//! k^(m,n)-anonymity by its definition: every piece of knowledge of every record, counted over all records.
//!
//! With the guard, pairs that a reader can put back count as relations too.

use std::collections::BTreeSet;

use crate::trees::{LEVELS, PathRecord, nodes};

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
    smallest(
        records.iter().map(|r| Record { nodes: nodes(r), inferred: BTreeSet::new() }).collect(),
        k,
        m,
        n,
        embedded,
    )
}

/// The same where relations that can be put back count.
pub fn smallest_guarded_violation(
    records: &[PathRecord],
    k: usize,
    m: usize,
    n: usize,
    embedded: bool,
) -> Option<(Knowledge, usize)> {
    let all: Vec<BTreeSet<Path>> = records.iter().map(nodes).collect();
    let guarded = |nodes: &BTreeSet<Path>| Record { nodes: nodes.clone(), inferred: inferred(nodes, &all) };
    smallest(all.iter().map(guarded).collect(), k, m, n, embedded)
}

type Path = Vec<String>;

struct Record {
    nodes: BTreeSet<Path>,
    /// Pairs of nodes, the first of which a reader can put above the second.
    inferred: BTreeSet<(Path, Path)>,
}

impl Record {
    fn at(&self, label: &str) -> Vec<&Path> {
        self.nodes.iter().filter(|p| last(p) == label).collect()
    }

    fn is_above(&self, a: &Path, b: &Path) -> bool {
        (a.len() < b.len() && b.starts_with(a)) || self.inferred.contains(&(a.clone(), b.clone()))
    }

    fn relates(&self, a: &str, b: &str) -> bool {
        self.at(a).iter().any(|x| self.at(b).iter().any(|y| self.is_above(x, y)))
    }
}

fn last(path: &[String]) -> &str {
    path.last().expect("a node has a label")
}

/// The pairs that a reader can put back in a record: b's levels to its present parent are missing, and only one
/// value of such a level below that parent is related to b in no published record.
fn inferred(record: &BTreeSet<Path>, all: &[BTreeSet<Path>]) -> BTreeSet<(Path, Path)> {
    let level = |path: &[String]| path.last().map_or(String::new(), |label| label[..1].to_owned());
    let related = |x: &str, b: &str| {
        let mut published = all.iter().flatten();
        published.any(|p| last(p) == b && p[..p.len() - 1].iter().any(|above| above == x))
    };
    let mut found = BTreeSet::new();
    for b in record.iter().filter(|b| LEVELS.contains(&level(b).as_str())) {
        let parent = &b[..b.len() - 1];
        for missing in LEVELS.iter().filter(|l| **l > level(parent).as_str() && **l < level(b).as_str()) {
            let candidates: Vec<&Path> = (record.iter())
                .filter(|x| x.len() > parent.len() && x.starts_with(parent) && level(x) == **missing)
                .filter(|x| !related(last(x), last(b)))
                .collect();
            let values: BTreeSet<&str> = candidates.iter().map(|x| last(x)).collect();
            if values.len() == 1 {
                found.extend(candidates.into_iter().map(|x| (x.clone(), b.clone())));
            }
        }
    }
    found
}

fn smallest(
    records: Vec<Record>,
    k: usize,
    m: usize,
    n: usize,
    embedded: bool,
) -> Option<(Knowledge, usize)> {
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
fn knowledge(record: &Record, m: usize, n: usize) -> Vec<Knowledge> {
    let labels: Vec<&str> =
        record.nodes.iter().map(|p| last(p)).collect::<BTreeSet<_>>().into_iter().collect();
    let mut found = Vec::new();
    for chosen in subsets(labels.len(), m) {
        let values: Vec<String> = chosen.iter().map(|&i| labels[i].to_owned()).collect();
        let pairs: Vec<(usize, usize)> = (0..values.len())
            .flat_map(|a| (0..values.len()).map(move |b| (a, b)))
            .filter(|&(a, b)| a != b && record.relates(&values[a], &values[b]))
            .collect();
        for related in subsets(pairs.len(), n).into_iter().chain([Vec::new()]) {
            found.push((values.clone(), related.iter().map(|&i| pairs[i]).collect()));
        }
    }
    found
}

/// All subsets of 0..n with 1..=most elements.
pub(crate) fn subsets(n: usize, most: usize) -> Vec<Vec<usize>> {
    (1u32..1 << n)
        .filter(|bits| bits.count_ones() as usize <= most)
        .map(|bits| (0..n).filter(|i| bits >> i & 1 == 1).collect())
        .collect()
}

fn matches(record: &Record, (values, relations): &Knowledge, embedded: bool) -> bool {
    let places: Vec<Vec<&Path>> = values.iter().map(|v| record.at(v)).collect();
    if places.iter().any(Vec::is_empty) {
        return false;
    }
    if !embedded {
        return relations.iter().all(|&(a, b)| record.relates(&values[a], &values[b]));
    }
    let choices: usize = places.iter().map(Vec::len).product();
    (0..choices).any(|mut choice| {
        let nodes: Vec<&Path> = (places.iter())
            .map(|p| {
                let node = p[choice % p.len()];
                choice /= p.len();
                node
            })
            .collect();
        relations.iter().all(|&(a, b)| record.is_above(nodes[a], nodes[b]))
    })
}
