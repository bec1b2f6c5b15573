//! What a cluster says about sensitive values, once everything else is settled.
//!
//! Vertices of a representative that are alike and have alike parents cannot be told apart: they are one place.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::policy::{Diversity, Siblings};

use super::Cluster;
use super::forest::Forest;
use super::params::Diverse;
use super::rep::Rep;
use super::secrets::UNKNOWN;

/// Judges clusters.
#[derive(Clone, Copy)]
pub(super) struct Judge<'a> {
    pub(super) forest: &'a Forest,
    pub(super) ask: &'a Diverse,
    pub(super) observer: &'a dyn Observer,
}

/// A vertex by the positions of its ancestors and itself among their siblings.
pub(super) type Path = Vec<usize>;

impl Judge<'_> {
    /// Whether a cluster says nothing too clearly.
    pub(super) fn is_diverse(&self, rep: &Rep) -> bool {
        self.violated(rep).is_none()
    }

    /// Takes vertices away until a cluster says nothing too clearly. False if its root would have to go.
    pub(super) fn enforce(&self, rep: &mut Rep) -> Result<bool> {
        let mut changed = false;
        while let Some(path) = self.violated(rep) {
            self.observer.go_on()?;
            if path.is_empty() {
                return Ok(false);
            }
            remove(rep, &path);
            changed = true;
        }
        if changed {
            rep.settle(self.forest);
        }
        Ok(true)
    }

    /// The last vertex of a place that says too much.
    fn violated(&self, rep: &Rep) -> Option<Path> {
        let mut places: BTreeMap<u32, Vec<(Path, &Rep)>> = BTreeMap::new();
        let mut forms = RepForms::default();
        let mut numbers = FxHashMap::default();
        forms.of(rep);
        gather(rep, &mut forms, &mut numbers, u32::MAX, &mut Vec::new(), &mut places);
        places.values().find(|place| self.says_too_much(place)).and_then(|p| p.last()).map(|p| p.0.clone())
    }

    fn says_too_much(&self, place: &[(Path, &Rep)]) -> bool {
        let (_, first) = place[0];
        let attributes = self.forest.classes[first.class as usize].sensitive;
        (0..attributes).any(|i| self.attribute_says_too_much(place, i, attributes))
    }

    fn attribute_says_too_much(&self, place: &[(Path, &Rep)], attribute: usize, attributes: usize) -> bool {
        let members = place[0].1.members();
        // Per label the places it fills and the members that have it.
        let mut counts: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        for member in 0..members {
            let labels = place.iter().map(|(_, rep)| rep.labels[member * attributes + attribute]);
            let mut own: Vec<u32> = labels.filter(|&l| l != UNKNOWN).collect();
            own.iter().for_each(|&l| counts.entry(l).or_default().0 += 1);
            own.sort_unstable();
            own.dedup();
            own.iter().for_each(|&l| counts.entry(l).or_default().1 += 1);
        }
        let counts: Vec<(usize, usize)> = counts.into_values().collect();
        is_too_clear(self.ask, &counts, (members * place.len(), members))
    }
}

/// Whether the values of so many places and so many members say too much; per value the places it fills and the members that
/// have it.
pub(super) fn is_too_clear(
    ask: &Diverse,
    counts: &[(usize, usize)],
    (places, members): (usize, usize),
) -> bool {
    let over = |count: usize, of: usize| count as f64 * ask.l > of as f64 * (1.0 + 1e-12);
    let too_often = match ask.siblings {
        Siblings::Pooled => counts.iter().any(|c| over(c.0, places)),
        Siblings::Each => counts.iter().any(|c| over(c.1, members)),
    };
    match ask.diversity {
        Diversity::Frequency => too_often,
        Diversity::Entropy => {
            let low = !counts.is_empty() && entropy(counts.iter().map(|c| c.0), places) < ask.l.ln();
            low || (ask.siblings == Siblings::Each && too_often)
        }
    }
}

/// Entropy of the values at a place, with a little room for rounding. A missing value could be anything.
fn entropy(counts: impl Iterator<Item = usize>, all: usize) -> f64 {
    let n = all as f64;
    let mut known = 0;
    let sum: f64 = (counts.inspect(|c| known += c)).map(|c| c as f64 / n).map(|p| -p * p.ln()).sum();
    sum + (all - known) as f64 / n * n.ln() + 1e-10
}

/// Which subtrees of representatives look alike.
#[derive(Debug, Default)]
pub(super) struct RepForms {
    numbers: FxHashMap<Vec<u32>, u32>,
}

impl RepForms {
    /// The number of everything quasi in a subtree.
    pub(super) fn of(&mut self, rep: &Rep) -> u32 {
        let mut kids: Vec<u32> = rep.kids.iter().map(|k| self.of(k)).collect();
        kids.sort_unstable();
        let mut key = vec![rep.class];
        key.extend_from_slice(&rep.values);
        key.extend(kids);
        let next = self.numbers.len() as u32;
        *self.numbers.entry(key).or_insert(next)
    }
}

pub(super) fn gather<'r>(
    rep: &'r Rep,
    forms: &mut RepForms,
    numbers: &mut FxHashMap<(u32, u32), u32>,
    above: u32,
    path: &mut Path,
    places: &mut BTreeMap<u32, Vec<(Path, &'r Rep)>>,
) {
    let next = numbers.len() as u32;
    let place = *numbers.entry((above, forms.of(rep))).or_insert(next);
    places.entry(place).or_default().push((path.clone(), rep));
    for (at, kid) in rep.kids.iter().enumerate() {
        path.push(at);
        gather(kid, forms, numbers, place, path, places);
        path.pop();
    }
}

pub(super) fn remove(rep: &mut Rep, path: &[usize]) {
    match path {
        [] => {}
        [last] => drop(rep.kids.remove(*last)),
        [first, rest @ ..] => remove(&mut rep.kids[*first], rest),
    }
}

/// Values that may stand only once in a class: all clusters that look alike are one class, so vertices that repeat such a
/// value go, and clusters whose root would have to. Gives what is left of the clusters, the members of the
/// others, and whether anything went.
pub(super) fn distinct_everywhere(
    forest: &Forest,
    clusters: Vec<Cluster>,
    observer: &dyn Observer,
) -> Result<(Vec<Cluster>, Vec<u32>, bool)> {
    let mut clusters: Vec<Option<Cluster>> = clusters.into_iter().map(Some).collect();
    let mut gone = Vec::new();
    let mut any = false;
    let mut changed = forest.secrets.lists_any();
    while changed {
        changed = false;
        let mut forms = RepForms::default();
        let mut seen: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for slot in &mut clusters {
            observer.go_on()?;
            let Some(cluster) = slot else { continue };
            let seen = seen.entry(forms.of(&cluster.rep)).or_default();
            match repeated(forest, &cluster.rep, seen, &mut Vec::new()) {
                None => {}
                Some(path) if path.is_empty() => {
                    gone.extend(slot.take().map(|c| c.members).unwrap_or_default());
                    changed = true;
                }
                Some(path) => {
                    remove(&mut cluster.rep, &path);
                    cluster.rep.settle(forest);
                    changed = true;
                }
            }
        }
        any |= changed;
    }
    Ok((clusters.into_iter().flatten().collect(), gone, any))
}

/// The first vertex with a listed value that has been seen.
fn repeated(forest: &Forest, rep: &Rep, seen: &mut Vec<u32>, path: &mut Path) -> Option<Path> {
    for &label in rep.labels.iter().filter(|&&l| forest.secrets.is_listed(l)) {
        if seen.contains(&label) {
            return Some(path.clone());
        }
        seen.push(label);
    }
    for (at, kid) in rep.kids.iter().enumerate() {
        path.push(at);
        if let Some(found) = repeated(forest, kid, seen, path) {
            return Some(found);
        }
        path.pop();
    }
    None
}
