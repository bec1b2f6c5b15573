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
//! Labels are done from the widest to the narrowest: cover for a label is taken from below it. Those cells come up first that lose
//! least and break no promise; if that is not enough, others with as many as it takes to keep the promise again. Where a
//! value is told all the same, the label goes up into the one above it, or all that is below it comes up to it, whichever
//! loses less; at the worst up to the cut, under which everybody has the label of the value.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::lower::{Lowering, Room};
use super::pieces::{Piece, Shown};
use super::{AT_ONCE, Cells, EFFORT, Index, Label, Promise, Taxonomy};

/// So often cover is looked for until it is enough.
const ROUNDS: usize = 8;
/// So often all labels are looked at: cover for one is taken from others.
const PASSES: usize = 32;

/// What labels there were, and what may become of them.
#[derive(Clone, Copy)]
pub(crate) struct Cover<'a> {
    /// The labels that cells may go back to, none below what it is now.
    pub(crate) cut: &'a [Label],
    /// Whether these are one cut for all that keeps the promise.
    pub(crate) is_sound: bool,
    /// Whether no label of a record may come to stand above another one of it.
    pub(crate) whole: bool,
    /// Labels that told too much to whoever read an earlier attempt, once for each of them. A reader pairs labels with values by what
    /// is published and may count a few cells otherwise; so less is asked for with each attempt.
    pub(crate) told: &'a [Label],
}

/// What part of `guess` a label may tell that told too much so often. In the end it is everybody's below it, or nobody's.
const STRICTER: [f64; 4] = [1.0, 0.9, 0.75, 0.0];

/// Raises cells until no value has a share over `guess` of a label's cells, unless it has that share of all cells below the label.
/// Where the cut does not do, labels may be left that tell too much.
pub(crate) fn cover(
    cells: &mut Cells,
    Cover { cut, is_sound, whole, told }: Cover<'_>,
    (taxonomy, promise): (&Taxonomy, &Promise),
    guess: f64,
    observer: &dyn Observer,
) -> Result<()> {
    let mut covering = Covering {
        index: Index::new(cells, taxonomy.parent.len()),
        totals: Totals::new(cells, taxonomy),
        // Where the cut keeps no promise, some are above it already.
        widest: cut.iter().copied().filter(|_| !whole && is_sound).collect(),
        cells,
        taxonomy,
        promise,
        guess,
        strictness: BTreeMap::new(),
        whole,
        effort: EFFORT,
    };
    for &label in told {
        *covering.strictness.entry(label).or_default() += 1;
    }
    for _ in 0..PASSES {
        let told = covering.told();
        if told.is_empty() {
            return Ok(());
        }
        observer.stage("covering rare values", told.len() as u64);
        for label in told {
            observer.go_on()?;
            observer.advance(1);
            covering.label(label, observer)?;
        }
    }
    if is_sound && !covering.told().is_empty() {
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
        for &leaf in &cells.leaf {
            *shown.entry(leaf).or_default() += u64::from(taxonomy.hidden.is_none());
            *all.entry(leaf).or_default() += 1;
        }
        if taxonomy.hidden.is_some() {
            for record in 0..cells.records() {
                let read = read_set(cells, record, taxonomy);
                read.iter().for_each(|&(cell, _)| *shown.entry(cells.leaf[cell as usize]).or_default() += 1);
            }
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

/// Which label of a set hides which of its cells: the narrowest label the first value below it that is left, and what is left over in
/// the end is hidden by the narrowest label above it. Nobody can tell more of a set.
fn read_set(cells: &Cells, record: usize, taxonomy: &Taxonomy) -> Vec<(u32, Label)> {
    let mut own: Vec<u32> = cells.of(record).map(|cell| cell as u32).collect();
    own.sort_by_key(|&cell| cells.leaf[cell as usize]);
    let mut labels: Vec<Label> = own.iter().map(|&cell| cells.label[cell as usize]).collect();
    labels.retain(|&label| Some(label) != taxonomy.hidden);
    labels.sort_by(|&a, &b| taxonomy.loss[a as usize].total_cmp(&taxonomy.loss[b as usize]).then(a.cmp(&b)));
    labels.dedup();
    let covers = |label: Label, cell: u32| {
        let leaf = cells.leaf[cell as usize];
        leaf == label || taxonomy.step(label, leaf).is_some()
    };
    let mut read: Vec<(u32, Label)> = Vec::new();
    for &label in &labels {
        if let Some(at) = own.iter().position(|&cell| covers(label, cell)) {
            read.push((own.remove(at), label));
        }
    }
    for cell in own {
        read.extend(labels.iter().find(|&&label| covers(label, cell)).map(|&label| (cell, label)));
    }
    read
}

struct Covering<'a> {
    cells: &'a mut Cells,
    index: Index,
    totals: Totals,
    /// Labels that nothing is raised above.
    widest: BTreeSet<Label>,
    taxonomy: &'a Taxonomy,
    promise: &'a Promise,
    guess: f64,
    /// How often labels told too much before.
    strictness: BTreeMap<Label, usize>,
    whole: bool,
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

    /// The labels that tell too much, the widest first.
    fn told(&self) -> Vec<Label> {
        let all = 0..self.taxonomy.parent.len() as Label;
        let mut told: Vec<Label> = all.filter(|&label| self.excess(label).is_some()).collect();
        told.sort_by_key(|&label| (self.depth(label), label));
        told
    }

    /// Covers what a label tells, or raises it.
    fn label(&mut self, label: Label, observer: &dyn Observer) -> Result<()> {
        if self.taxonomy.hidden.is_some() {
            self.totals = Totals::new(self.cells, self.taxonomy);
        }
        for _ in 0..ROUNDS {
            let Some(excess) = self.excess(label) else { return Ok(()) };
            if !self.raise_some(label, excess, observer)? {
                break;
            }
        }
        if self.excess(label).is_none() { Ok(()) } else { self.give_up(label, observer) }
    }

    /// Raises a label that tells too much, or all that is below it, as far up as it takes.
    fn give_up(&mut self, label: Label, observer: &dyn Observer) -> Result<()> {
        let mut at = label;
        loop {
            observer.go_on()?;
            let above = self.above(at);
            let merges = |of: &Self, above| of.cost_of_merging(label, above) <= of.cost_of_raising(at);
            let first = above.filter(|&above| !self.whole && merges(self, above));
            if let Some(above) = first
                && self.raise_all(label, above, observer)?
            {
                return self.label(above, observer);
            }
            if self.raise_below(at, observer)? {
                return Ok(());
            }
            match above {
                Some(above) => at = above,
                None => return Ok(()),
            }
        }
    }

    /// The label above one, if cells may be raised to it.
    fn above(&self, label: Label) -> Option<Label> {
        let above = self.taxonomy.parent[label as usize];
        let is_widest = above == label || Some(above) == self.taxonomy.hidden || self.widest.contains(&label);
        (!is_widest).then_some(above)
    }

    fn loss(&self, label: Label) -> f64 {
        self.taxonomy.loss[label as usize]
    }

    fn carriers(&self, label: Label) -> &[u32] {
        &self.index.cells_of[label as usize]
    }

    /// What is lost where a label goes up into the one above it.
    fn cost_of_merging(&self, label: Label, above: Label) -> f64 {
        self.carriers(label).len() as f64 * (self.loss(above) - self.loss(label))
    }

    /// What is lost where all that is below a label comes up to it.
    fn cost_of_raising(&self, label: Label) -> f64 {
        let below = self.labels_below(label).into_iter();
        below.map(|own| self.carriers(own).len() as f64 * (self.loss(label) - self.loss(own))).sum()
    }

    /// The labels below one that cells carry.
    fn labels_below(&self, label: Label) -> Vec<Label> {
        let all = 0..self.taxonomy.parent.len() as Label;
        all.filter(|&own| own != label && !self.carriers(own).is_empty() && self.is_below(own, label))
            .collect()
    }

    /// The values that a label hides, as a publication is read.
    fn hidden_by(&self, label: Label) -> Tally {
        let mut own = Tally::new();
        let mut count = |cell: u32| *own.entry(self.cells.leaf[cell as usize]).or_default() += 1;
        if self.taxonomy.hidden.is_none() {
            self.carriers(label).iter().for_each(|&cell| count(cell));
            return own;
        }
        for record in self.records(label) {
            let read = read_set(self.cells, record as usize, self.taxonomy);
            read.into_iter().filter(|(_, over)| *over == label).for_each(|(cell, _)| count(cell));
        }
        own
    }

    /// The records that show a label.
    fn records(&self, label: Label) -> Vec<u32> {
        let of = |cell: &u32| self.index.record_of[*cell as usize];
        let mut records: Vec<u32> = self.carriers(label).iter().map(of).collect();
        records.sort_unstable();
        records.dedup();
        records
    }

    /// What a label tells too much of; none if it tells nothing.
    fn excess(&self, label: Label) -> Option<Excess> {
        if self.carriers(label).is_empty() || Some(label) == self.taxonomy.hidden {
            return None;
        }
        let own = self.hidden_by(label);
        let carried: u64 = own.values().sum();
        let often = self.strictness.get(&label).copied().unwrap_or(0).min(STRICTER.len() - 1);
        let guess = self.guess * STRICTER[often];
        if own.values().all(|&hits| hits as f64 <= guess * carried as f64) {
            return None;
        }
        let below = |tally: &Tally| -> Tally {
            tally
                .iter()
                .filter(|(leaf, _)| self.is_below(**leaf, label))
                .map(|(&leaf, &n)| (leaf, n))
                .collect()
        };
        let (all, shown) = (below(&self.totals.all), below(&self.totals.shown));
        // Where everybody below it carries it, it tells what everybody would guess.
        if carried >= shown.values().sum() {
            return None;
        }
        let of_all: u64 = all.values().sum();
        let most = |leaf: Label, cells: u64| -> u64 {
            let usual = u128::from(all[&leaf]) * u128::from(cells) / u128::from(of_all.max(1));
            ((guess * cells as f64 * (1.0 + 1e-12)) as u64).max(usual as u64)
        };
        let (&value, &hits) =
            own.iter().filter(|&(&leaf, &n)| n > most(leaf, carried)).max_by_key(|(_, n)| **n)?;
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
        let mut from = self.labels_below(label);
        from.sort_by(|&a, &b| {
            let most = |label| Reverse(self.carriers(label).len());
            self.loss(b).total_cmp(&self.loss(a)).then(most(a).cmp(&most(b))).then(a.cmp(&b))
        });
        let mut raised = false;
        for own in from {
            observer.go_on()?;
            if lacking == 0 {
                break;
            }
            let has_room = |cell: u32| {
                let leaf = self.cells.leaf[cell as usize];
                leaf != value && room.get(&leaf).is_some_and(|&room| room > 0)
            };
            let may_rise = |&cell: &u32| {
                has_room(cell) && (!self.whole || self.rises_alone(cell, (own, label), &has_room))
            };
            let moving: Vec<u32> =
                self.index.cells_of[own as usize].iter().copied().filter(may_rise).collect();
            if moving.is_empty() {
                continue;
            }
            let risen = self.raise((own, label), moving, (&mut lacking, &mut room), observer)?;
            raised |= risen;
        }
        Ok(raised)
    }

    /// Whether a record has nothing below a label but cells of the same one that all may rise.
    fn rises_alone(&self, cell: u32, (own, label): (Label, Label), may_rise: &dyn Fn(u32) -> bool) -> bool {
        let mut cells = self.cells.of(self.index.record_of[cell as usize] as usize);
        cells.all(|other| {
            let carried = self.cells.label[other];
            !self.is_below(carried, label) || (carried == own && may_rise(other as u32))
        })
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
        let lowering = Lowering::of(
            cells,
            (self.taxonomy, self.promise),
            (label, own),
            moving.clone(),
            index,
            (0, most),
        );
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

    /// Raises all cells of one label to another, if the promise is kept.
    fn raise_all(&mut self, own: Label, label: Label, observer: &dyn Observer) -> Result<bool> {
        let carriers = self.index.cells_of[own as usize].clone();
        self.index.lower(self.cells, own, label, &carriers);
        let is_kept = self.is_kept(label, observer)?;
        if !is_kept {
            self.index.lower(self.cells, label, own, &carriers);
        }
        Ok(is_kept)
    }

    /// Raises all cells below a label to it, if the promise is kept and it tells nothing then.
    fn raise_below(&mut self, label: Label, observer: &dyn Observer) -> Result<bool> {
        let before = self.cells.label.clone();
        for own in self.labels_below(label) {
            let carriers = self.index.cells_of[own as usize].clone();
            self.index.lower(self.cells, own, label, &carriers);
        }
        let is_done = self.excess(label).is_none() && self.is_kept(label, observer)?;
        if !is_done {
            self.cells.label = before;
            self.index = Index::new(self.cells, self.taxonomy.parent.len());
        }
        Ok(is_done)
    }

    /// Whether what is known with a label is shown by enough records.
    fn is_kept(&self, label: Label, observer: &dyn Observer) -> Result<bool> {
        let mut shown = Shown::new(self.promise, self.taxonomy);
        let mut counts: FxHashMap<Piece, (u32, u32)> = FxHashMap::default();
        for record in self.records(label) {
            observer.go_on()?;
            shown.read(self.cells, record as usize, |cell| self.cells.label[cell]);
            shown.each(label, None, &mut |piece, k| {
                counts.entry(piece).or_insert((0, k)).0 += 1;
                true
            });
        }
        Ok(counts.values().all(|&(count, k)| count >= k))
    }
}
