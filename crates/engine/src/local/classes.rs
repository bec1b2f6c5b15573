//! A start for attackers who know all of some attributes at once: people are parted into classes of a least size, in which all look
//! alike to them, and within each class all else gets the finest labels that enough of its people carry.
//!
//! ```text
//! all 2,000        gender, birth year, town: *, *, *
//! ├─ female 980    by the attribute that tells most for how much smaller its classes are
//! │  ├─ 1940-1959 310
//! │  └─ …
//! └─ male 933      the 87 others stay at *, or are joined where they are too few
//! ```

use std::collections::BTreeMap;

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::carry::carry;
use super::lower::content;
use super::pieces::{Piece, Shown};
use super::{Cells, Knower, Label, Promise, Taxonomy};

/// Labels for classes of at least `size` people. `top` has the widest labels everywhere; none where these do not keep the promise.
pub(super) fn start(
    top: Cells,
    (taxonomy, promise): (&Taxonomy, &Promise),
    size: usize,
    observer: &dyn Observer,
) -> Result<Option<Cells>> {
    let known = known_cells(&top, taxonomy, promise);
    let profiles = Profiles::new(&top, (taxonomy, promise), observer)?;
    let parting = Parting { cells: &top, taxonomy, known: &known, profiles: &profiles, size };
    let all = Class {
        records: (0..top.records() as u32).collect(),
        labels: known.iter().map(|cells| top.label[cells[0] as usize]).collect(),
    };
    if !profiles.are_sound(&all.records) {
        return Ok(None);
    }
    let mut waiting = vec![all];
    let mut classes: Vec<Class> = Vec::new();
    while let Some(class) = waiting.pop() {
        observer.go_on()?;
        match parting.parts(&class) {
            Some(parts) => waiting.extend(parts),
            None => classes.push(class),
        }
    }
    let rank = ranks(&top);
    let depth = depths(taxonomy);
    let mut cells = top.clone();
    for class in &classes {
        observer.go_on()?;
        for (cells_of, &label) in known.iter().zip(&class.labels) {
            class.records.iter().for_each(|&r| cells.label[cells_of[r as usize] as usize] = label);
        }
        carry_within(&mut cells, class, (taxonomy, promise), (&rank, &depth));
    }
    Ok(Some(cells))
}

/// People who look alike to whoever knows some attributes at once.
struct Class {
    records: Vec<u32>,
    /// Per attribute that is known and can be parted by, the label of all.
    labels: Vec<Label>,
}

/// Per attribute that is known at once, and of which every record has one cell, the cell of each record.
fn known_cells(cells: &Cells, taxonomy: &Taxonomy, promise: &Promise) -> Vec<Vec<u32>> {
    let mut of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut several: Vec<u32> = Vec::new();
    for record in 0..cells.records() {
        for cell in cells.of(record) {
            let attribute = taxonomy.attribute[cells.label[cell] as usize];
            if promise.is_known_at_once(attribute) {
                let own = of.entry(attribute).or_default();
                if own.len() != record {
                    several.push(attribute);
                } else {
                    own.push(cell as u32);
                }
            }
        }
    }
    of.into_iter()
        .filter(|(attribute, own)| own.len() == cells.records() && !several.contains(attribute))
        .map(|(_, own)| own)
        .collect()
}

/// What is known of each record at the widest labels, so that a class can be judged before it is made.
struct Profiles {
    /// Per record its profile.
    of: Vec<u32>,
    /// Per profile its pieces by number.
    pieces: Vec<Vec<u32>>,
    /// How many different pieces there are.
    count: usize,
    k: u32,
}

impl Profiles {
    fn new(top: &Cells, (taxonomy, promise): (&Taxonomy, &Promise), observer: &dyn Observer) -> Result<Self> {
        let within = within_a_class(promise);
        let mut shown = Shown::new(&within, taxonomy);
        let mut number: FxHashMap<Piece, u32> = FxHashMap::default();
        let mut profile: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut profiles = Profiles { of: Vec::new(), pieces: Vec::new(), count: 0, k: promise.most() };
        for record in 0..top.records() {
            observer.go_on()?;
            shown.read(top, record, |cell| top.label[cell]);
            let mut own: Vec<u32> = Vec::new();
            shown.all(&mut |piece, _| {
                let next = number.len() as u32;
                own.push(*number.entry(piece).or_insert(next));
                true
            });
            own.sort_unstable();
            own.dedup();
            let next = profile.len() as u32;
            let at = *profile.entry(own).or_insert_with_key(|own| {
                profiles.pieces.push(own.clone());
                next
            });
            profiles.of.push(at);
        }
        profiles.count = number.len();
        Ok(profiles)
    }

    /// Whether everything that some people show at the widest labels is shown by none of them or by at least k.
    fn are_sound(&self, records: &[u32]) -> bool {
        if records.len() < self.k as usize {
            return records.is_empty();
        }
        let mut with = vec![0u32; self.pieces.len()];
        records.iter().for_each(|&record| with[self.of[record as usize] as usize] += 1);
        let mut counts = vec![0u32; self.count];
        for (pieces, &people) in self.pieces.iter().zip(&with) {
            pieces.iter().for_each(|&piece| counts[piece as usize] += people);
        }
        counts.iter().all(|&count| count == 0 || count >= self.k)
    }
}

/// What may be known besides what is known at once: whoever may know anything may know one of that, too.
fn within_a_class(promise: &Promise) -> Promise {
    let attributes = promise.knowers.first().map_or(0, |knower| knower.knows.len());
    let besides = |knower: &Knower| match knower.knows_at_once() {
        true => knower.m,
        false => knower.m.saturating_sub(1),
    };
    let m = promise.knowers.iter().map(besides).max().unwrap_or(0);
    let n = if m > 1 { promise.relations() } else { 0 };
    let mut within = Knower::of_anything(promise.most(), m, n, attributes);
    for attribute in 0..attributes {
        within.among[attribute] = !promise.is_known_at_once(attribute as u32);
    }
    Promise::new(vec![within])
}

struct Parting<'a> {
    cells: &'a Cells,
    taxonomy: &'a Taxonomy,
    known: &'a [Vec<u32>],
    profiles: &'a Profiles,
    size: usize,
}

impl Parting<'_> {
    /// The classes that a class is parted into by the attribute that tells most for each halving; none if it stays.
    fn parts(&self, class: &Class) -> Option<Vec<Class>> {
        let mut best: Option<(f64, Vec<Class>)> = None;
        for at in 0..self.known.len() {
            let Some((worth, parts)) = self.parts_by(class, at) else { continue };
            if best.as_ref().is_none_or(|(most, _)| worth > *most) {
                best = Some((worth, parts));
            }
        }
        best.map(|(_, parts)| parts)
    }

    /// The classes by one attribute, with what they tell more for each halving of the class.
    fn parts_by(&self, class: &Class, at: usize) -> Option<(f64, Vec<Class>)> {
        let from = class.labels[at];
        let mut below: BTreeMap<Label, Vec<u32>> = BTreeMap::new();
        let mut rest: Vec<u32> = Vec::new();
        for &record in &class.records {
            let leaf = self.cells.leaf[self.known[at][record as usize] as usize];
            match self.taxonomy.step(from, leaf) {
                Some(label) => below.entry(label).or_default().push(record),
                None => rest.push(record),
            }
        }
        let mut parts: Vec<(Label, Vec<u32>)> = Vec::new();
        for (label, records) in below {
            if records.len() >= self.size && self.profiles.are_sound(&records) {
                parts.push((label, records));
            } else {
                rest.extend(records);
            }
        }
        // Those who are left over are a class as well, with the smallest of the others if they are too few.
        parts.sort_by_key(|(label, records)| (std::cmp::Reverse(records.len()), *label));
        while !rest.is_empty() && (rest.len() < self.size || !self.profiles.are_sound(&rest)) {
            let (_, records) = parts.pop()?;
            rest.extend(records);
        }
        if parts.is_empty() {
            return None;
        }
        let all = class.records.len() as f64;
        let bits = |people: usize| people as f64 / all * (all / people as f64).log2();
        let (mut gain, mut halvings) = (0.0, if rest.is_empty() { 0.0 } else { bits(rest.len()) });
        let mut classes = Vec::new();
        for (label, records) in parts {
            let told = self.taxonomy.loss[from as usize] - self.taxonomy.loss[label as usize];
            gain += told * records.len() as f64 / all;
            halvings += bits(records.len());
            let mut labels = class.labels.clone();
            labels[at] = label;
            classes.push(Class { records, labels });
        }
        if !rest.is_empty() {
            rest.sort_unstable();
            classes.push(Class { records: rest, labels: class.labels.clone() });
        }
        // A label over all of the class says more for nothing.
        Some((gain / halvings.max(1e-9), classes))
    }
}

/// Gives all that is not known at once the finest labels that enough people of the class carry.
fn carry_within(
    cells: &mut Cells,
    class: &Class,
    (taxonomy, promise): (&Taxonomy, &Promise),
    (rank, depth): (&[u32], &[u32]),
) {
    let mut own: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for &record in &class.records {
        for cell in cells.of(record as usize) {
            let attribute = taxonomy.attribute[cells.label[cell] as usize];
            if !promise.is_known_at_once(attribute) {
                own.entry(attribute).or_default().push((rank[record as usize], cell as u32));
            }
        }
    }
    for own in own.values() {
        carry(cells, own, taxonomy, depth, promise.most() as usize);
    }
}

/// Per record its place in the order of contents, so that nothing depends on the order of the input.
fn ranks(cells: &Cells) -> Vec<u32> {
    let mut order: Vec<u32> = (0..cells.records() as u32).collect();
    order.sort_by_cached_key(|&record| (content(cells, record as usize), record));
    let mut rank = vec![0; order.len()];
    (0..).zip(&order).for_each(|(at, &record)| rank[record as usize] = at);
    rank
}

/// Per label how many are above it.
fn depths(taxonomy: &Taxonomy) -> Vec<u32> {
    let up = |&label: &Label| Some(taxonomy.parent[label as usize]).filter(|&parent| parent != label);
    (0..taxonomy.parent.len() as Label)
        .map(|label| std::iter::successors(Some(label), up).count() as u32 - 1)
        .collect()
}
