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

use super::pieces::{Piece, Shown};
use super::promise::{Promise, Rare};
use super::{Cells, Label, Taxonomy};

/// The labels that a start ends with when what is rare has risen, none above `top`; none where the effort was
/// spent before that, or where something stays rare.
pub(super) fn raised(
    start: Cells,
    top: &[Label],
    (taxonomy, promise): (&Taxonomy, &Promise),
    effort: &mut u64,
    observer: &dyn Observer,
) -> Result<Option<Cells>> {
    let mut cells = start;
    let mut raising = Raising { taxonomy, top, counts: FxHashMap::default(), effort };
    let mut shown = Shown::new(promise, taxonomy);
    for record in 0..cells.records() {
        observer.go_on()?;
        raising.count(&cells, record, true, &mut shown);
    }
    // Only what was taken from somebody, or given to them, can have become rare.
    let mut suspects: Vec<u32> = (0..cells.records() as u32).collect();
    loop {
        let mut rising: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut lonely: BTreeSet<Label> = BTreeSet::new();
        let mut stuck: Vec<u32> = Vec::new();
        for &record in &suspects {
            observer.go_on()?;
            match raising.choice(&cells, record as usize, &mut lonely, &mut shown) {
                Some(chosen) if chosen.is_empty() => stuck.push(record),
                Some(chosen) => rising.push((record, chosen)),
                None => {}
            }
        }
        if rising.is_empty() && stuck.is_empty() {
            return Ok(Some(cells));
        }
        if rising.is_empty() {
            rising.extend(raising.company(&cells, &lonely));
        }
        if rising.is_empty() || *raising.effort == 0 || shown.is_full() || observer.out_of_time() {
            return Ok(None);
        }
        let mut lost = vec![false; taxonomy.parent.len()];
        for (record, chosen) in &rising {
            raising.count(&cells, *record as usize, false, &mut shown);
            for &cell in chosen {
                let label = &mut cells.label[cell as usize];
                lost[*label as usize] = true;
                *label = taxonomy.parent[*label as usize];
            }
            raising.count(&cells, *record as usize, true, &mut shown);
        }
        let has_lost = |&record: &u32| cells.of(record as usize).any(|cell| lost[cells.label[cell] as usize]);
        suspects = (0..cells.records() as u32).filter(has_lost).collect();
        suspects.extend(rising.into_iter().map(|(record, _)| record).chain(stuck));
        suspects.sort_unstable();
        suspects.dedup();
    }
}

struct Raising<'a> {
    taxonomy: &'a Taxonomy,
    /// Per cell the label that it need not rise above.
    top: &'a [Label],
    /// How many records show a piece.
    counts: FxHashMap<Piece, u32>,
    /// Pieces that may still be looked at.
    effort: &'a mut u64,
}

impl Raising<'_> {
    /// Adds the pieces of a record, or takes them away.
    fn count(&mut self, cells: &Cells, record: usize, add: bool, shown: &mut Shown<'_>) {
        shown.read(cells, record, |cell| cells.label[cell]);
        let (counts, effort) = (&mut self.counts, &mut *self.effort);
        shown.all(&mut |piece, _| {
            *effort = effort.saturating_sub(1);
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

    /// The cells of a record that are to be raised; none where nothing is rare. Labels of what is rare and cannot rise become `lonely`.
    fn choice(
        &mut self,
        cells: &Cells,
        record: usize,
        lonely: &mut BTreeSet<Label>,
        shown: &mut Shown<'_>,
    ) -> Option<Vec<u32>> {
        shown.read(cells, record, |cell| cells.label[cell]);
        let mut rare: Vec<Rare> = Vec::new();
        let (counts, effort) = (&self.counts, &mut *self.effort);
        shown.all(&mut |piece, k| {
            *effort = effort.saturating_sub(1);
            if counts[&piece] < k {
                rare.push(shown.labels_of(piece));
            }
            true
        });
        if rare.is_empty() {
            return None;
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
        Some(chosen)
    }
}
