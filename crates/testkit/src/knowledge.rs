//! k^(m,n)-anonymity by its definition: every piece of knowledge of every record, counted over all records.
//!
//! With the guard, pairs that a reader can put back count as relations too. With absence as knowledge, so does that a record
//! lacks a label, or that it has two labels which are nowhere related.

use std::collections::BTreeSet;

use crate::trees::{LEVELS, PathRecord, nodes};

/// Knowledge: labels in order, and related pairs as (ancestor, descendant) indices into them.
pub type Knowledge = (Vec<String>, Vec<(usize, usize)>);

/// What is knowledge by its absence.
#[derive(Clone, Debug, Default)]
pub struct Absence {
    /// Labels.
    pub labels: BTreeSet<String>,
    /// Pairs of labels, the smaller first.
    pub pairs: BTreeSet<(String, String)>,
}

/// Knowledge with absent labels, marked by a tilde that sorts them behind all others, and with unrelated pairs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signed {
    /// Labels in order.
    pub values: Vec<String>,
    /// Related pairs as (ancestor, descendant) indices into them.
    pub relations: Vec<(usize, usize)>,
    /// Pairs known to be unrelated.
    pub unrelated: Vec<(usize, usize)>,
}

/// The smallest knowledge (by relations, values, order) that matches fewer than k records, with its support.
pub fn smallest_violation(
    records: &[PathRecord],
    k: usize,
    m: usize,
    n: usize,
    embedded: bool,
) -> Option<(Knowledge, usize)> {
    let records = records.iter().map(|r| Record { nodes: nodes(r), inferred: BTreeSet::new() }).collect();
    unsigned(smallest(records, &Absence::default(), k, m, n, embedded))
}

/// The same where absence is knowledge. What no record has excludes nobody.
pub fn smallest_signed_violation(
    records: &[PathRecord],
    absence: &Absence,
    k: usize,
    m: usize,
    n: usize,
    embedded: bool,
) -> Option<(Signed, usize)> {
    let records: Vec<Record> =
        records.iter().map(|r| Record { nodes: nodes(r), inferred: BTreeSet::new() }).collect();
    let mut absence = absence.clone();
    absence.labels.retain(|label| records.iter().any(|r| !r.at(label).is_empty()));
    smallest(records, &absence, k, m, n, embedded)
}

/// What attackers who know up to m values and n relations of a person find, per person.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attacked {
    /// The fewest records that any of their knowledge fits.
    pub fewest: usize,
    /// The share of largest pieces of knowledge that fit the person alone, each set of values alike, and for each set of
    /// values each largest set of relations.
    pub unique: f64,
    /// One by the matching records, averaged in the same way.
    pub inverse: f64,
}

/// Attacks every person with everything that can be known.
pub fn attack(records: &[PathRecord], m: usize, n: usize, embedded: bool) -> Vec<Attacked> {
    let records: Vec<Record> =
        records.iter().map(|r| Record { nodes: nodes(r), inferred: BTreeSet::new() }).collect();
    records.iter().map(|person| attack_one(person, &records, m, n, embedded)).collect()
}

/// How many records fit some knowledge.
pub fn support(records: &[PathRecord], (values, relations): &Knowledge, embedded: bool) -> usize {
    let known = Signed { values: values.clone(), relations: relations.clone(), unrelated: Vec::new() };
    let records = records.iter().map(|r| Record { nodes: nodes(r), inferred: BTreeSet::new() });
    records.filter(|r| matches(r, &known, embedded)).count()
}

/// The fewest relations, and then values, of a person's knowledge that fits so many records; none if nobody can know
/// anything of them.
pub fn size_of_smallest(
    records: &[PathRecord],
    person: usize,
    (m, n): (usize, usize),
    embedded: bool,
    matching: usize,
) -> (usize, usize) {
    let own = Record { nodes: nodes(&records[person]), inferred: BTreeSet::new() };
    let all = knowledge(&own, &Absence::default(), m, n);
    (all.into_iter().filter(|k| matches(&own, k, embedded)))
        .filter(|k| support(records, &(k.values.clone(), k.relations.clone()), embedded) == matching)
        .map(|k| (k.relations.len(), k.values.len()))
        .min()
        .unwrap_or_default()
}

fn attack_one(person: &Record, records: &[Record], m: usize, n: usize, embedded: bool) -> Attacked {
    let support = |known: &Signed| records.iter().filter(|r| matches(r, known, embedded)).count();
    let mut all = knowledge(person, &Absence::default(), m, n);
    all.retain(|known| matches(person, known, embedded));
    let everybody = Attacked { fewest: records.len(), unique: 0.0, inverse: 1.0 / records.len() as f64 };
    let everybody = Attacked { unique: if records.len() == 1 { 1.0 } else { 0.0 }, ..everybody };
    let Some(longest) = all.iter().map(|k| k.values.len()).max() else {
        return everybody;
    };
    let is_part = |a: &Signed, b: &Signed| {
        a.values == b.values
            && a.relations.len() < b.relations.len()
            && a.relations.iter().all(|r| b.relations.contains(r))
    };
    let largest: Vec<&Signed> = (all.iter())
        .filter(|k| k.values.len() == longest && !all.iter().any(|other| is_part(k, other)))
        .collect();
    let values: BTreeSet<&Vec<String>> = largest.iter().map(|k| &k.values).collect();
    let mean = |of: &dyn Fn(usize) -> f64| {
        let per_values = values.iter().map(|v| {
            let own: Vec<f64> = largest.iter().filter(|k| k.values == **v).map(|k| of(support(k))).collect();
            own.iter().sum::<f64>() / own.len() as f64
        });
        per_values.sum::<f64>() / values.len() as f64
    };
    Attacked {
        fewest: all.iter().map(support).min().unwrap_or(records.len()),
        unique: mean(&|s| if s == 1 { 1.0 } else { 0.0 }),
        inverse: mean(&|s| 1.0 / s as f64),
    }
}

fn unsigned(found: Option<(Signed, usize)>) -> Option<(Knowledge, usize)> {
    found.map(|(signed, support)| ((signed.values, signed.relations), support))
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
    unsigned(smallest(all.iter().map(guarded).collect(), &Absence::default(), k, m, n, embedded))
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

/// Whoever is promised relations at one place is promised each for itself as well.
fn smallest(
    records: Vec<Record>,
    absence: &Absence,
    k: usize,
    m: usize,
    n: usize,
    embedded: bool,
) -> Option<(Signed, usize)> {
    let apart = smallest_by(&records, absence, k, m, n, false);
    apart.or_else(|| embedded.then(|| smallest_by(&records, absence, k, m, n, true)).flatten())
}

fn smallest_by(
    records: &[Record],
    absence: &Absence,
    k: usize,
    m: usize,
    n: usize,
    embedded: bool,
) -> Option<(Signed, usize)> {
    let all: BTreeSet<Signed> = records.iter().flat_map(|r| knowledge(r, absence, m, n)).collect();
    (all.into_iter())
        .map(|k| (records.iter().filter(|r| matches(r, &k, embedded)).count(), k))
        .filter(|&(support, _)| support > 0 && support < k)
        .min_by_key(|(_, known)| {
            let pairs = pairs_of(known.values.len());
            let order = (order(&known.relations), order(&known.unrelated) << pairs);
            let relations = known.relations.len() + known.unrelated.len();
            (relations, known.values.len(), known.values.clone(), order.0 | order.1)
        })
        .map(|(support, knowledge)| (knowledge, support))
}

fn pairs_of(values: usize) -> usize {
    values * (values - 1) / 2
}

/// Relations compare by the later value first, as bits of a mask do.
fn order(relations: &[(usize, usize)]) -> u64 {
    relations.iter().map(|&(a, b)| (a.min(b), a.max(b))).map(|(i, j)| 1u64 << (j * (j - 1) / 2 + i)).sum()
}

/// All that can be asked about a record's labels, whether or not it fits.
fn knowledge(record: &Record, absence: &Absence, m: usize, n: usize) -> Vec<Signed> {
    let present: BTreeSet<&str> = record.nodes.iter().map(|p| last(p)).collect();
    let absent = absence.labels.iter().filter(|label| !present.contains(label.as_str()));
    let labels: Vec<String> =
        present.iter().map(|l| (*l).to_owned()).chain(absent.map(|label| format!("~{label}"))).collect();
    let mut found = Vec::new();
    for chosen in subsets(labels.len(), m) {
        let values: Vec<String> = chosen.iter().map(|&i| labels[i].clone()).collect();
        // A pair, and whether it is known to be related.
        let mut pairs: Vec<((usize, usize), bool)> = Vec::new();
        for a in 0..values.len() {
            for b in 0..values.len() {
                if a != b && record.relates(&values[a], &values[b]) {
                    pairs.push(((a, b), true));
                }
                let listed = a < b && absence.pairs.contains(&(values[a].clone(), values[b].clone()));
                if listed
                    && !record.relates(&values[a], &values[b])
                    && !record.relates(&values[b], &values[a])
                {
                    pairs.push(((a, b), false));
                }
            }
        }
        for known in subsets(pairs.len(), n).into_iter().chain([Vec::new()]) {
            let of =
                |sign: bool| known.iter().map(|&i| pairs[i]).filter(|p| p.1 == sign).map(|p| p.0).collect();
            found.push(Signed { values: values.clone(), relations: of(true), unrelated: of(false) });
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

fn matches(record: &Record, known: &Signed, embedded: bool) -> bool {
    let Signed { values, relations, unrelated } = known;
    if values.iter().filter_map(|v| v.strip_prefix('~')).any(|absent| !record.at(absent).is_empty()) {
        return false;
    }
    let is_present = |v: &String| v.starts_with('~') || !record.at(v).is_empty();
    if !values.iter().all(is_present) {
        return false;
    }
    let related = |a: usize, b: usize| record.relates(&values[a], &values[b]);
    if unrelated.iter().any(|&(a, b)| related(a, b) || related(b, a)) {
        return false;
    }
    if !embedded {
        return relations.iter().all(|&(a, b)| related(a, b));
    }
    // An absent label has no place; nothing is said about where it would be.
    let nowhere = Vec::new();
    let places: Vec<Vec<&Path>> =
        (values.iter()).map(|v| if v.starts_with('~') { vec![&nowhere] } else { record.at(v) }).collect();
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
