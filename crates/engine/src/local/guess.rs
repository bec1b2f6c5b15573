//! Labels that do not tell which values they hide (`privacy.guess`).
//!
//! A cell is raised because its value is rare; so the label tells the value. Where one value has too large a share of a label's
//! cells, cells of other values come up to it as cover:
//!
//! ```text
//! f 60, m 37, * 3 (diverse 2, m 1)        share of diverse: 2 of 3
//! f 59, m 37, * 4 (diverse 2, m 1, f 1)   with one f as cover: 2 of 4
//! ```
//!
//! Labels are done from the widest to the narrowest: cover for a label is taken from below it, so that what was done stays done.
//! Those cells come up first that lose least and break no promise; if that is not enough, others with as many as it takes to
//! keep the promise again. Where even that does not do, all cells below the label come up to it, or the attribute goes back
//! to the cut, under which everybody has the label of the value.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::lower::{Lowering, Room};
use super::pieces::{Piece, Shown};
use super::{AT_ONCE, Cells, EFFORT, Index, Label, Promise, Taxonomy};

/// So often cover is looked for until it is enough.
const ROUNDS: usize = 8;

/// Raises cells until no value has a share over `guess` of a label's cells, unless it has that share of all cells below the label.
/// `cut` has labels of one cut for all; where these keep the promise, they are what it comes to at the worst. Where they do not,
/// labels may be left that tell too much.
pub(crate) fn cover(
    cells: &mut Cells,
    (cut, is_sound): (&[Label], bool),
    (taxonomy, promise): (&Taxonomy, &Promise),
    guess: f64,
    observer: &dyn Observer,
) -> Result<()> {
    let mut covering = Covering {
        index: Index::new(cells, taxonomy.parent.len()),
        totals: Totals::new(cells, taxonomy),
        cells,
        taxonomy,
        promise,
        guess,
        effort: EFFORT,
    };
    let mut used: Vec<Label> = (0..taxonomy.parent.len() as Label)
        .filter(|&label| !covering.index.cells_of[label as usize].is_empty())
        .collect();
    used.sort_by_key(|&label| (covering.depth(label), label));
    observer.stage("covering rare values", used.len() as u64);
    for label in used {
        observer.go_on()?;
        observer.advance(1);
        covering.label(label, cut, observer)?;
    }
    let all = 0..covering.taxonomy.parent.len() as Label;
    if is_sound && all.into_iter().any(|label| covering.excess(label).is_some()) {
        covering.cells.label.copy_from_slice(cut);
    }
    Ok(())
}

/// How many cells have a value.
type Tally = BTreeMap<Label, u64>;

/// The values of all cells, whatever they carry, and of those that show anything.
struct Totals {
    all: Tally,
    shown: Tally,
}

impl Totals {
    fn new(cells: &Cells, taxonomy: &Taxonomy) -> Self {
        let (mut all, mut shown) = (Tally::new(), Tally::new());
        for (&leaf, &label) in cells.leaf.iter().zip(&cells.label) {
            *all.entry(leaf).or_default() += 1;
            *shown.entry(leaf).or_default() += u64::from(Some(label) != taxonomy.hidden);
        }
        Totals { all, shown }
    }
}

/// A label of which one value has too large a share.
struct Excess {
    value: Label,
    /// How many cells more it needs.
    lacking: u64,
    /// Per value how many of these may have it.
    room: Room,
}

struct Covering<'a> {
    cells: &'a mut Cells,
    index: Index,
    totals: Totals,
    taxonomy: &'a Taxonomy,
    promise: &'a Promise,
    guess: f64,
    /// Pieces that may still be looked at.
    effort: u64,
}

impl Covering<'_> {
    /// How many labels are above one.
    fn depth(&self, label: Label) -> usize {
        self.chain(label).count()
    }

    /// A label and those above it.
    fn chain(&self, label: Label) -> impl Iterator<Item = Label> {
        let parent = |&at: &Label| {
            let above = self.taxonomy.parent[at as usize];
            (above != at).then_some(above)
        };
        std::iter::successors(Some(label), parent)
    }

    fn is_below(&self, label: Label, above: Label) -> bool {
        self.chain(label).any(|at| at == above)
    }

    /// Covers what a label tells, at the worst by going back to the cut with its whole attribute.
    fn label(&mut self, label: Label, cut: &[Label], observer: &dyn Observer) -> Result<()> {
        for _ in 0..ROUNDS {
            let Some(excess) = self.excess(label) else { return Ok(()) };
            if !self.raise_some(label, excess, observer)? {
                break;
            }
        }
        if self.excess(label).is_none() || self.raise_all(label, |_| Some(label), observer)? {
            return Ok(());
        }
        self.raise_all(label, |cell| Some(cut[cell as usize]), observer)?;
        Ok(())
    }

    /// What a label tells too much of; none if it tells nothing.
    fn excess(&self, label: Label) -> Option<Excess> {
        let carriers = &self.index.cells_of[label as usize];
        if carriers.is_empty() || Some(label) == self.taxonomy.hidden {
            return None;
        }
        let mut own = Tally::new();
        carriers.iter().for_each(|&cell| *own.entry(self.cells.leaf[cell as usize]).or_default() += 1);
        let carried = carriers.len() as u64;
        let below = |tally: &Tally| -> Tally {
            tally.iter().filter(|(leaf, _)| self.is_below(**leaf, label)).map(|(&leaf, &n)| (leaf, n)).collect()
        };
        let (all, shown) = (below(&self.totals.all), below(&self.totals.shown));
        // Where everybody below it carries it, it tells what everybody would guess.
        if carried >= shown.values().sum() {
            return None;
        }
        let of_all: u64 = all.values().sum();
        let most = |leaf: Label, cells: u64| -> u64 {
            let usual = u128::from(all[&leaf]) * u128::from(cells) / u128::from(of_all.max(1));
            ((self.guess * cells as f64 * (1.0 + 1e-12)) as u64).max(usual as u64)
        };
        let (&value, &hits) = own.iter().filter(|&(&leaf, &n)| n > most(leaf, carried)).max_by_key(|(_, n)| **n)?;
        let wanted = (carried..=shown.values().sum()).find(|&cells| hits <= most(value, cells));
        let wanted = wanted.unwrap_or_else(|| shown.values().sum());
        let room = |(&leaf, _): (&Label, &u64)| {
            (leaf, most(leaf, wanted).saturating_sub(own.get(&leaf).copied().unwrap_or(0)))
        };
        Some(Excess { value, lacking: wanted - carried, room: all.iter().map(room).collect() })
    }

    /// Raises cells of other values to a label, as many as it lacks if there are. Whether any were.
    fn raise_some(&mut self, label: Label, excess: Excess, observer: &dyn Observer) -> Result<bool> {
        let Excess { value, mut lacking, mut room } = excess;
        let mut from: Vec<(Label, usize)> = (0..self.taxonomy.parent.len() as Label)
            .filter(|&own| own != label && self.is_below(own, label))
            .map(|own| (own, self.index.cells_of[own as usize].len()))
            .filter(|(_, cells)| *cells > 0)
            .collect();
        let loss = |label: Label| self.taxonomy.loss[label as usize];
        from.sort_by(|a, b| {
            loss(b.0).total_cmp(&loss(a.0)).then(Reverse(a.1).cmp(&Reverse(b.1))).then(a.0.cmp(&b.0))
        });
        let mut raised = false;
        for (own, _) in from {
            observer.go_on()?;
            if lacking == 0 {
                break;
            }
            let may_rise = |&cell: &u32| {
                let leaf = self.cells.leaf[cell as usize];
                leaf != value && room.get(&leaf).is_some_and(|&room| room > 0)
            };
            let moving: Vec<u32> = self.index.cells_of[own as usize].iter().copied().filter(may_rise).collect();
            if moving.is_empty() {
                continue;
            }
            let risen = self.raise((own, label), moving, (&mut lacking, &mut room), observer)?;
            raised |= risen;
        }
        Ok(raised)
    }

    /// Raises some of these cells from one label to another, so that the promise is kept. Whether any were.
    fn raise(
        &mut self,
        (own, label): (Label, Label),
        moving: Vec<u32>,
        (lacking, room): (&mut u64, &mut Room),
        observer: &dyn Observer,
    ) -> Result<bool> {
        // Seen from the end: all are raised, and those are lowered again that need not be.
        self.index.lower(self.cells, own, label, &moving);
        let most = AT_ONCE.min(self.effort);
        let (cells, index) = (&*self.cells, &mut self.index);
        let lowering =
            Lowering::of(cells, (self.taxonomy, self.promise), (label, own), moving.clone(), index, (0, most));
        let back = match lowering {
            None => None,
            Some(lowering) => {
                let (lowered, used) = lowering.run_without(*lacking, room, observer)?;
                self.effort = self.effort.saturating_sub(used);
                lowered
            }
        };
        let back = back.unwrap_or_else(|| moving.clone());
        self.index.lower(self.cells, label, own, &back);
        let risen = (moving.len() - back.len()) as u64;
        *lacking = lacking.saturating_sub(risen);
        for cell in moving.iter().filter(|&&cell| self.cells.label[cell as usize] == label) {
            let left = room.entry(self.cells.leaf[*cell as usize]).or_default();
            *left = left.saturating_sub(1);
        }
        Ok(risen > 0)
    }

    /// Raises the cells of a label's attribute to what `to` says, if the promise is kept and the label tells nothing then.
    fn raise_all(
        &mut self,
        label: Label,
        to: impl Fn(u32) -> Option<Label>,
        observer: &dyn Observer,
    ) -> Result<bool> {
        let before = self.cells.label.clone();
        let top = self.chain(label).last();
        let mut raised: Vec<Label> = Vec::new();
        for cell in 0..before.len() as u32 {
            let own = before[cell as usize];
            let Some(to) = to(cell).filter(|&to| to != own && self.is_below(own, to)) else { continue };
            if self.chain(own).last() == top {
                self.cells.label[cell as usize] = to;
                raised.push(to);
            }
        }
        raised.sort_unstable();
        raised.dedup();
        self.index = Index::new(self.cells, self.taxonomy.parent.len());
        let told = |own: &Label| self.excess(*own).is_some();
        if !raised.iter().any(told) && self.is_kept(&raised, observer)? {
            return Ok(true);
        }
        self.cells.label = before;
        self.index = Index::new(self.cells, self.taxonomy.parent.len());
        Ok(false)
    }

    /// Whether what is known with these labels is shown by enough records.
    fn is_kept(&self, labels: &[Label], observer: &dyn Observer) -> Result<bool> {
        let mut shown = Shown::new(self.promise, self.taxonomy);
        for &label in labels.iter().filter(|label| Some(**label) != self.taxonomy.hidden) {
            let cells = &self.index.cells_of[label as usize];
            let mut records: Vec<u32> = cells.iter().map(|&cell| self.index.record_of[cell as usize]).collect();
            records.sort_unstable();
            records.dedup();
            let mut counts: FxHashMap<Piece, (u32, u32)> = FxHashMap::default();
            for record in records {
                observer.go_on()?;
                shown.read(self.cells, record as usize, |cell| self.cells.label[cell]);
                shown.each(label, None, &mut |piece, k| {
                    counts.entry(piece).or_insert((0, k)).0 += 1;
                    true
                });
            }
            if counts.values().any(|&(count, k)| count < k) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
