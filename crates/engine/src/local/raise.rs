//! The other start: every cell carries its value, and what too few records show is raised, record by record.
//!
//! Per record a small choice of labels is raised by one step that hits all its pieces that too few show: those first that are
//! in most of them for what raising costs. Others may lose company by that, so it is done again until nothing is rare. Where a
//! rare piece cannot rise, those below its labels come up to it. Labels only rise, and not above those of the start that keeps
//! the promise, so it ends; at the worst there.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::pieces::{Piece, Shown, estimate, labels_of};
use super::{Cells, Label, Promise, Taxonomy};

/// The labels that a start from the values ends with; none where that would take more pieces than `most`.
pub(super) fn raised(
    sound: &Cells,
    taxonomy: &Taxonomy,
    promise: Promise,
    most: u64,
    observer: &dyn Observer,
) -> Result<Option<Cells>> {
    let pieces = (0..sound.records()).fold(0u64, |all, record| {
        let labels = sound.of(record).len();
        all.saturating_add(estimate(labels, (promise.m, promise.n)).saturating_mul(labels as u64))
    });
    if pieces > most {
        return Ok(None);
    }
    let mut cells = Cells { label: sound.leaf.clone(), ..sound.clone() };
    let mut raising =
        Raising { taxonomy, promise, top: &sound.label, counts: FxHashMap::default(), used: 0, most };
    let mut shown = Shown::default();
    for record in 0..cells.records() {
        observer.go_on()?;
        raising.count(&cells, record, true, &mut shown);
    }
    loop {
        let mut rising: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut lonely: BTreeSet<Label> = BTreeSet::new();
        for record in 0..cells.records() {
            observer.go_on()?;
            let chosen = raising.choice(&cells, record, &mut lonely, &mut shown);
            if !chosen.is_empty() {
                rising.push((record as u32, chosen));
            }
        }
        if rising.is_empty() && lonely.is_empty() {
            return Ok(Some(cells));
        }
        if rising.is_empty() {
            rising.extend(raising.company(&cells, &lonely));
        }
        if rising.is_empty() {
            return Ok(None);
        }
        if raising.used > raising.most || observer.out_of_time() {
            return Ok(None);
        }
        for (record, chosen) in rising {
            raising.count(&cells, record as usize, false, &mut shown);
            for cell in chosen {
                let label = &mut cells.label[cell as usize];
                *label = taxonomy.parent[*label as usize];
            }
            raising.count(&cells, record as usize, true, &mut shown);
        }
    }
}

struct Raising<'a> {
    taxonomy: &'a Taxonomy,
    promise: Promise,
    /// Per cell the label that it need not rise above.
    top: &'a [Label],
    /// How many records show a piece.
    counts: FxHashMap<Piece, u32>,
    used: u64,
    most: u64,
}

impl Raising<'_> {
    fn read(&self, cells: &Cells, record: usize, shown: &mut Shown) {
        shown.read(cells, record, |cell| cells.label[cell], (self.promise.n, self.taxonomy.hidden));
    }

    /// Adds the pieces of a record, or takes them away.
    fn count(&mut self, cells: &Cells, record: usize, add: bool, shown: &mut Shown) {
        self.read(cells, record, shown);
        let (counts, used) = (&mut self.counts, &mut self.used);
        shown.all((self.promise.m, self.promise.n), &mut |piece| {
            *used += 1;
            let count = counts.entry(piece).or_default();
            *count = if add { *count + 1 } else { *count - 1 };
            true
        });
    }

    /// The cells that come up to labels which are too lonely, by record.
    fn company(&self, cells: &Cells, lonely: &BTreeSet<Label>) -> Vec<(u32, Vec<u32>)> {
        let comes = |&cell: &u32| {
            let (mut at, top) = (cells.label[cell as usize], self.top[cell as usize]);
            while at != top {
                at = self.taxonomy.parent[at as usize];
                if lonely.contains(&at) {
                    return true;
                }
            }
            false
        };
        let own = |record: usize| cells.of(record).map(|cell| cell as u32).filter(comes).collect::<Vec<_>>();
        let all = (0..cells.records()).map(|record| (record as u32, own(record)));
        all.filter(|(_, own)| !own.is_empty()).collect()
    }

    /// The cells of a record that are to be raised; labels of what is rare and cannot rise become `lonely`.
    fn choice(
        &mut self,
        cells: &Cells,
        record: usize,
        lonely: &mut BTreeSet<Label>,
        shown: &mut Shown,
    ) -> Vec<u32> {
        self.read(cells, record, shown);
        let mut rare: Vec<Vec<Label>> = Vec::new();
        let (counts, k, used) = (&self.counts, self.promise.k, &mut self.used);
        shown.all((self.promise.m, self.promise.n), &mut |piece| {
            *used += 1;
            if counts[&piece] < k {
                rare.push(labels_of(piece).collect());
            }
            true
        });
        if rare.is_empty() {
            return Vec::new();
        }
        let risable = |cell: &u32| cells.label[*cell as usize] != self.top[*cell as usize];
        let mut cells_of: BTreeMap<Label, Vec<u32>> = BTreeMap::new();
        for cell in cells.of(record).map(|cell| cell as u32).filter(risable) {
            cells_of.entry(cells.label[cell as usize]).or_default().push(cell);
        }
        let loss = |label: Label| self.taxonomy.loss[label as usize];
        let mut chosen = Vec::new();
        loop {
            let mut hits: BTreeMap<Label, u32> = BTreeMap::new();
            rare.iter().flatten().for_each(|&label| *hits.entry(label).or_default() += 1);
            let worth = |(&label, &hits): (&Label, &u32)| {
                let own = cells_of.get(&label)?;
                let lost = loss(self.taxonomy.parent[label as usize]) - loss(label);
                Some((f64::from(hits) / (lost.max(1e-9) * own.len() as f64), label))
            };
            let better = |a: &(f64, Label), b: &(f64, Label)| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1));
            let Some((_, label)) = hits.iter().filter_map(worth).max_by(better) else { break };
            chosen.extend(cells_of.remove(&label).into_iter().flatten());
            rare.retain(|piece| !piece.contains(&label));
        }
        lonely.extend(rare.into_iter().flatten());
        chosen
    }
}
