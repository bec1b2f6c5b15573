//! Matches in a population by the definition: every piece of a person's knowledge, tried on every record.

use crate::knowledge::subsets;
use crate::trees::{PathRecord, nodes};
use crate::vertices::Vertex;

/// Whether a published label may stand for an original one.
pub type Covers<'a> = &'a dyn Fn(&str, &str) -> bool;

type Path = Vec<String>;

/// Per person the fewest records of a population that fit what can be known: up to m labels and n relations.
pub fn fewest(
    people: &[PathRecord],
    population: &[PathRecord],
    covers: Covers<'_>,
    (m, n): (usize, usize),
    embedded: bool,
) -> Vec<usize> {
    let others: Vec<Vec<Path>> = population.iter().map(|r| nodes(r).into_iter().collect()).collect();
    let of = |person: &PathRecord| {
        let own: Vec<Path> = nodes(person).into_iter().collect();
        let mut labels: Vec<&String> = own.iter().filter_map(|path| path.last()).collect();
        labels.sort();
        labels.dedup();
        let mut fewest = others.len();
        for chosen in subsets(labels.len(), m) {
            let values: Vec<&String> = chosen.iter().map(|&at| labels[at]).collect();
            let pairs: Vec<(usize, usize)> = (0..values.len())
                .flat_map(|a| (0..values.len()).map(move |b| (a, b)))
                .filter(|(a, b)| a != b)
                .collect();
            for known in subsets(pairs.len(), n).into_iter().chain([Vec::new()]) {
                let relations: Vec<(usize, usize)> = known.iter().map(|&at| pairs[at]).collect();
                if has(&own, &values, &relations, &|a, b| a == b, embedded) {
                    let fitting = others.iter().filter(|o| has(o, &values, &relations, covers, embedded));
                    fewest = fewest.min(fitting.count());
                }
            }
        }
        fewest
    };
    people.iter().map(of).collect()
}

/// Whether a record has values, related as is known: at one place each, or each relation wherever it holds.
fn has(
    record: &[Path],
    values: &[&String],
    relations: &[(usize, usize)],
    covers: Covers<'_>,
    embedded: bool,
) -> bool {
    let places: Vec<Vec<&Path>> = (values.iter())
        .map(|value| record.iter().filter(|path| path.last().is_some_and(|own| covers(value, own))).collect())
        .collect();
    let is_above = |a: &Path, b: &Path| a.len() < b.len() && b.starts_with(a);
    if places.iter().any(Vec::is_empty) {
        return false;
    }
    if !embedded {
        let holds =
            |&(a, b): &(usize, usize)| places[a].iter().any(|x| places[b].iter().any(|y| is_above(x, y)));
        return relations.iter().all(holds);
    }
    let choices: usize = places.iter().map(Vec::len).product();
    (0..choices).any(|mut choice| {
        let mut at = Vec::new();
        for own in &places {
            at.push(own[choice % own.len()]);
            choice /= own.len();
        }
        relations.iter().all(|&(a, b)| is_above(at[a], at[b]))
    })
}

/// Whether a published vertex may have been made of an original one by generalizing the first attribute of every vertex
/// and by pruning. A label `*` stands for everything, a missing value for itself.
pub fn may_come_from(published: &Vertex, original: &Vertex, covers: Covers<'_>) -> bool {
    let is_true = match (published.values[0].as_deref(), original.values[0].as_deref()) {
        (Some("*"), _) | (None, None) => true,
        (Some(label), Some(value)) => covers(label, value),
        _ => false,
    };
    published.class == original.class
        && is_true
        && children_may(&published.children, &original.children.iter().collect::<Vec<_>>(), covers)
}

fn children_may(published: &[Vertex], original: &[&Vertex], covers: Covers<'_>) -> bool {
    let Some((first, rest)) = published.split_first() else {
        return true;
    };
    (0..original.len()).any(|at| {
        let mut others = original.to_vec();
        let own = others.remove(at);
        may_come_from(first, own, covers) && children_may(rest, &others, covers)
    })
}
