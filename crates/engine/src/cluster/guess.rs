//! Labels of clusters that do not tell which values they hide (`privacy.guess`).
//!
//! A cluster's label is raised for all its members at once, so that these look alike as before:
//!
//! ```text
//! cluster 1   diverse, diverse   → *      share of diverse among what `*` hides: 2 of 2
//! cluster 2   female, female     → female
//! cluster 2   female, female     → *      with the second as cover: 2 of 4
//! ```
//!
//! Clusters come up first that lose least for what they cover. Where that does not do, the label goes up into the one above it, or
//! all that is below it comes up to it, whichever loses less.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::Result;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;

use super::Cluster;
use super::forest::Forest;
use super::rep::Rep;

/// So often all labels of an attribute are looked at: cover for one is taken from others.
const PASSES: usize = 64;

/// Raises labels of clusters until no value has a share over `guess` of what a label hides, unless it has that share of all below
/// it. Ranges of numbers are left as they are.
pub(super) fn cover(
    clusters: &mut [Cluster],
    forest: &Forest,
    hierarchies: &[Option<Hierarchy>],
    guess: f64,
    observer: &dyn Observer,
) -> Result<()> {
    let mut places: BTreeMap<usize, Vec<Place>> = BTreeMap::new();
    for (number, cluster) in clusters.iter().enumerate() {
        observer.go_on()?;
        read(&cluster.rep, (number, &mut Vec::new()), forest, &mut places);
    }
    let all = values(forest, observer)?;
    for (declared, places) in &mut places {
        let (Some(hierarchy), Some(all)) = (&hierarchies[*declared], all.get(declared)) else { continue };
        let missing = hierarchy.len() as u32;
        let attribute = Attribute { hierarchy, missing, all, guess };
        attribute.cover(places, observer)?;
        for place in places.iter() {
            let top = &mut clusters[place.cluster].rep;
            let rep = place.path.iter().fold(top, |rep, &kid| &mut rep.kids[kid]);
            rep.values[place.at] = place.label;
        }
    }
    clusters.iter_mut().for_each(|cluster| cluster.rep.settle(forest));
    Ok(())
}

/// How many cells have a value, by its node.
type Tally = BTreeMap<u32, u64>;

/// Where a label stands: a vertex of a cluster, and one of its quasi attributes.
struct Place {
    cluster: usize,
    path: Vec<usize>,
    at: usize,
    label: u32,
    /// The values of its members.
    own: Tally,
    cells: u64,
}

fn read(
    rep: &Rep,
    (cluster, path): (usize, &mut Vec<usize>),
    forest: &Forest,
    places: &mut BTreeMap<usize, Vec<Place>>,
) {
    let quasi = &forest.classes[rep.class as usize].quasi;
    for (at, (&label, &(_, domain))) in rep.values.iter().zip(quasi).enumerate() {
        if forest.domains[domain].has_ranges() {
            continue;
        }
        let mut own = Tally::new();
        rep.from.iter().for_each(|&vertex| *own.entry(forest.values(vertex)[at]).or_default() += 1);
        let place = Place { cluster, path: path.clone(), at, label, own, cells: rep.members() as u64 };
        places.entry(forest.declared[domain]).or_default().push(place);
    }
    for (number, kid) in rep.kids.iter().enumerate() {
        path.push(number);
        read(kid, (cluster, path), forest, places);
        path.pop();
    }
}

/// Per declared attribute the values of all records.
fn values(forest: &Forest, observer: &dyn Observer) -> Result<BTreeMap<usize, Tally>> {
    let mut all: BTreeMap<usize, Tally> = BTreeMap::new();
    for vertex in 0..forest.vertex_class.len() {
        observer.go_on()?;
        let quasi = &forest.classes[forest.vertex_class[vertex] as usize].quasi;
        for (&value, &(_, domain)) in forest.values(vertex as u32).iter().zip(quasi) {
            *all.entry(forest.declared[domain]).or_default().entry(value).or_default() += 1;
        }
    }
    Ok(all)
}

/// A label of which one value has too large a share.
struct Excess {
    value: u32,
    /// The share that it may have.
    most: f64,
}

struct Attribute<'a> {
    hierarchy: &'a Hierarchy,
    /// What stands for no value; it is below the root alone.
    missing: u32,
    all: &'a Tally,
    guess: f64,
}

impl Attribute<'_> {
    fn cover(&self, places: &mut [Place], observer: &dyn Observer) -> Result<()> {
        for _ in 0..PASSES {
            let told = self.told(places);
            if told.is_empty() {
                return Ok(());
            }
            for label in told {
                observer.go_on()?;
                self.label(label, places);
            }
        }
        Ok(())
    }

    /// The labels that tell too much, the widest first.
    fn told(&self, places: &[Place]) -> Vec<u32> {
        let used: BTreeSet<u32> = places.iter().map(|place| place.label).collect();
        let mut told: Vec<u32> =
            used.into_iter().filter(|&label| self.excess(label, places).is_some()).collect();
        told.sort_by_key(|&label| (self.hierarchy.depth(NodeId(label)), label));
        told
    }

    fn is_below(&self, value: u32, label: u32) -> bool {
        match (value == self.missing, label == self.missing) {
            (true, _) => label == self.missing || NodeId(label) == NodeId::ROOT,
            (false, true) => false,
            (false, false) => self.hierarchy.is_ancestor_or_self(NodeId(label), NodeId(value)),
        }
    }

    /// What a cell loses that carries a label.
    fn loss(&self, label: u32) -> f64 {
        if label == self.missing { 0.0 } else { self.hierarchy.leaves(NodeId(label)).len() as f64 - 1.0 }
    }

    /// What a label tells too much of; none if it tells nothing.
    fn excess(&self, label: u32, places: &[Place]) -> Option<Excess> {
        if label == self.missing {
            return None;
        }
        let (mut own, mut carried, mut shown) = (Tally::new(), 0, 0);
        for place in places {
            if place.label == label {
                carried += place.cells;
                place.own.iter().for_each(|(&value, cells)| *own.entry(value).or_default() += cells);
            }
            shown += place
                .own
                .iter()
                .filter(|(value, _)| self.is_below(**value, label))
                .map(|own| own.1)
                .sum::<u64>();
        }
        // Where everybody below it carries it, it tells what everybody would guess.
        if carried == 0 || carried >= shown {
            return None;
        }
        let below: u64 =
            self.all.iter().filter(|(value, _)| self.is_below(**value, label)).map(|all| all.1).sum();
        let usual = |value: &u32| self.all[value] as f64 / below as f64;
        let is_told = |(value, hits): &(&u32, &u64)| {
            let as_usual =
                u128::from(**hits) * u128::from(below) <= u128::from(self.all[value]) * u128::from(carried);
            **hits as f64 > self.guess * carried as f64 && !as_usual
        };
        let (value, _) = own.iter().filter(is_told).max_by_key(|(_, hits)| **hits)?;
        Some(Excess { value: *value, most: self.guess.max(usual(value)) })
    }

    /// Covers what a label tells, or raises it.
    fn label(&self, label: u32, places: &mut [Place]) {
        while let Some(Excess { value, most }) = self.excess(label, places) {
            let mut order: Vec<(f64, usize)> = Vec::new();
            for (number, place) in places.iter().enumerate() {
                let hits = place.own.get(&value).copied().unwrap_or(0) as f64;
                let covered = most * place.cells as f64 - hits;
                if place.label != label && self.is_below(place.label, label) && covered > 0.0 {
                    let lost = (self.loss(label) - self.loss(place.label)) * place.cells as f64;
                    order.push((lost / covered, number));
                }
            }
            order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let Some(cheapest) = self.enough(label, (value, most), &order, places) else {
                return self.give_up(label, places);
            };
            cheapest.iter().for_each(|&number| places[number].label = label);
        }
    }

    /// So many of these places, in their order, as cover a value under a label; all, if they do not; none if there are none.
    fn enough(
        &self,
        label: u32,
        (value, most): (u32, f64),
        order: &[(f64, usize)],
        places: &[Place],
    ) -> Option<Vec<usize>> {
        let of = |place: &Place| place.own.get(&value).copied().unwrap_or(0);
        let carriers = || places.iter().filter(|place| place.label == label);
        let (mut hits, mut cells): (u64, u64) = (carriers().map(of).sum(), carriers().map(|p| p.cells).sum());
        let mut taken = Vec::new();
        for &(_, number) in order {
            if hits as f64 <= most * cells as f64 {
                break;
            }
            (hits, cells) = (hits + of(&places[number]), cells + places[number].cells);
            taken.push(number);
        }
        (!taken.is_empty()).then_some(taken)
    }

    /// Raises a label to the one above it, or all that is below it to the label.
    fn give_up(&self, label: u32, places: &mut [Place]) {
        let above = self.hierarchy.parent(NodeId(label)).map(|above| above.0);
        let cost = |places: &[Place], of: &dyn Fn(u32) -> bool, to: u32| -> f64 {
            let own = places.iter().filter(|place| of(place.label));
            own.map(|place| (self.loss(to) - self.loss(place.label)) * place.cells as f64).sum()
        };
        let is_inside = |own: u32| own != label && self.is_below(own, label);
        let merging = above.map_or(f64::INFINITY, |above| cost(places, &|own| own == label, above));
        if cost(places, &is_inside, label) < merging {
            let before: Vec<u32> = places.iter().map(|place| place.label).collect();
            places.iter_mut().filter(|p| is_inside(p.label)).for_each(|place| place.label = label);
            if self.excess(label, places).is_none() {
                return;
            }
            places.iter_mut().zip(before).for_each(|(place, label)| place.label = label);
        }
        if let Some(above) = above {
            places.iter_mut().filter(|p| p.label == label).for_each(|place| place.label = above);
        }
    }
}
