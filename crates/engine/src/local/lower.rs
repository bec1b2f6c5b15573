//! Lowering the cells of one label to one of its children, in as many records as the promise allows.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::pieces::{Piece, Shown};
use super::promise::Promise;
use super::{Cells, Index, Label, NONE, Taxonomy};

/// What a record holds, in whatever order its rows stand: per cell its label and value, and those above it.
pub(super) fn content(cells: &Cells, record: usize) -> Vec<Vec<(Label, Label)>> {
    let up = |&cell: &u32| Some(cells.above[cell as usize]).filter(|&above| above != NONE);
    let both = |cell: u32| (cells.label[cell as usize], cells.leaf[cell as usize]);
    let mut content: Vec<Vec<(Label, Label)>> = cells
        .of(record)
        .map(|cell| std::iter::successors(Some(cell as u32), up).map(both).collect())
        .collect();
    content.sort_unstable();
    content
}

/// Per value how many cells more may have it.
pub(super) type Room = BTreeMap<Label, u64>;

/// How many cells have to stay, and of which values.
struct Wanted {
    lacking: u64,
    room: Room,
}

impl Wanted {
    fn has_room(&self, values: &[Label]) -> bool {
        let times = |value: &Label| values.iter().filter(|other| *other == value).count() as u64;
        values.iter().all(|value| self.room.get(value).is_some_and(|&room| room >= times(value)))
    }

    fn take(&mut self, values: &[Label]) {
        self.lacking = self.lacking.saturating_sub(values.len() as u64);
        for value in values {
            let room = self.room.entry(*value).or_default();
            *room = room.saturating_sub(1);
        }
    }
}

/// A try at making `to` of cells that carry `from`.
pub(super) struct Lowering<'a> {
    cells: &'a Cells,
    promise: &'a Promise,
    taxonomy: &'a Taxonomy,
    from: Label,
    to: Label,
    /// Records that show one of the two labels, those first that could be lowered, by content.
    concerned: Vec<u32>,
    /// How many of them could be lowered.
    candidates: usize,
    /// Per cell whether it would be lowered with its record.
    moves: &'a mut [bool],
    /// The cells that could be.
    moving: Vec<u32>,
    /// Per candidate whether it is lowered at the moment.
    lowered: Vec<bool>,
    /// How many records show a piece that holds one of the two labels.
    counts: FxHashMap<Piece, u32>,
    used: u64,
}

impl<'a> Lowering<'a> {
    /// None where too few could be lowered, or looking would take more pieces than `most`.
    pub(super) fn new(
        cells: &'a Cells,
        taxonomy: &'a Taxonomy,
        promise: &'a Promise,
        (from, to): (Label, Label),
        index: &'a mut Index,
        most: u64,
    ) -> Option<Self> {
        let goes = |cell: &u32| taxonomy.step(from, cells.leaf[*cell as usize]) == Some(to);
        let moving: Vec<u32> = index.cells_of[from as usize].iter().copied().filter(goes).collect();
        // A few may join those who carry the lower label already.
        let least = (promise.least() as usize).saturating_sub(index.cells_of[to as usize].len());
        Self::of(cells, (taxonomy, promise), (from, to), moving, index, (least, most))
    }

    /// The same with the cells that could be lowered, to any label below. None where they are of fewer records than `least`.
    pub(super) fn of(
        cells: &'a Cells,
        (taxonomy, promise): (&'a Taxonomy, &'a Promise),
        (from, to): (Label, Label),
        moving: Vec<u32>,
        index: &'a mut Index,
        (least, most): (usize, u64),
    ) -> Option<Self> {
        let Index { record_of, cells_of, moves } = index;
        let records = |cells: &mut dyn Iterator<Item = u32>| -> Vec<u32> {
            let mut records: Vec<u32> = cells.map(|cell| record_of[cell as usize]).collect();
            records.sort_unstable();
            records.dedup();
            records
        };
        let mut concerned = records(&mut moving.iter().copied());
        if concerned.len() < least {
            return None;
        }
        // Who does not show the upper label is not counted with it.
        let shown = if taxonomy.hidden == Some(from) { &[][..] } else { &cells_of[from as usize][..] };
        let others = records(&mut shown.iter().chain(&cells_of[to as usize]).copied());
        let others: Vec<u32> =
            others.into_iter().filter(|record| concerned.binary_search(record).is_err()).collect();
        let pieces = concerned
            .iter()
            .chain(&others)
            .fold(0u64, |all, &record| all.saturating_add(promise.estimate(cells.of(record as usize).len())));
        if pieces > most {
            return None;
        }
        // Records that are alike in all they show are alike here: which of them comes first changes no label's count.
        concerned.sort_by_cached_key(|&r| (content(cells, r as usize), r));
        moving.iter().for_each(|&cell| moves[cell as usize] = true);
        let candidates = concerned.len();
        concerned.extend(others);
        Some(Lowering {
            cells,
            promise,
            taxonomy,
            from,
            to,
            concerned,
            candidates,
            moves,
            moving,
            lowered: vec![true; candidates],
            counts: FxHashMap::default(),
            used: 0,
        })
    }

    /// The cells that become the lower label, and how many pieces were looked at.
    pub(super) fn run(mut self, observer: &dyn Observer) -> Result<(Vec<u32>, u64)> {
        let mut shown = Shown::new(self.promise, self.taxonomy);
        for at in 0..self.concerned.len() {
            observer.go_on()?;
            self.count(at, true, &mut shown);
        }
        loop {
            self.give_up_rare(&mut shown, observer)?;
            if !self.fill_up(&mut shown, observer)? {
                break;
            }
        }
        Ok(self.end())
    }

    /// The same where so many of the cells have to stay, of each value so many at most as there is room for it, if possible: those
    /// first that break nothing. None where the promise cannot be kept so.
    pub(super) fn run_without(
        mut self,
        lacking: u64,
        room: &Room,
        observer: &dyn Observer,
    ) -> Result<(Option<Vec<u32>>, u64)> {
        let mut shown = Shown::new(self.promise, self.taxonomy);
        for at in 0..self.concerned.len() {
            observer.go_on()?;
            self.count(at, true, &mut shown);
        }
        let mut wanted = Wanted { lacking, room: room.clone() };
        while wanted.lacking > 0 && self.keep_harmless(&mut wanted, &mut shown, observer)? {}
        self.keep_others(&mut wanted, &mut shown, observer)?;
        let sound = self.is_sound(&mut shown, observer)?;
        let (lowered, used) = self.end();
        Ok((sound.then_some(lowered), used))
    }

    /// Keeps the cells of records by which nothing gets rare. Whether there were any.
    fn keep_harmless(
        &mut self,
        wanted: &mut Wanted,
        shown: &mut Shown<'_>,
        observer: &dyn Observer,
    ) -> Result<bool> {
        let mut changed = false;
        for at in 0..self.candidates {
            observer.go_on()?;
            if wanted.lacking == 0 {
                break;
            }
            if !self.lowered[at] || !wanted.has_room(&self.values(at)) {
                continue;
            }
            self.take_back(at, shown);
            if self.lacks(at, shown) > 0 {
                self.count(at, false, shown);
                self.lowered[at] = true;
                self.count(at, true, shown);
            } else {
                wanted.take(&self.values(at));
                changed = true;
            }
        }
        Ok(changed)
    }

    /// Keeps as many more as are wanted, those first by which least gets rare, and with them whoever keeps the promise.
    fn keep_others(
        &mut self,
        wanted: &mut Wanted,
        shown: &mut Shown<'_>,
        observer: &dyn Observer,
    ) -> Result<()> {
        if wanted.lacking == 0 {
            return Ok(());
        }
        let mut harm: Vec<(usize, usize)> = Vec::new();
        for at in 0..self.candidates {
            observer.go_on()?;
            if self.lowered[at] {
                harm.push((self.harm(at, shown), at));
            }
        }
        harm.sort_unstable();
        for (_, at) in harm {
            if wanted.lacking > 0 && wanted.has_room(&self.values(at)) {
                wanted.take(&self.values(at));
                self.take_back(at, shown);
            }
        }
        loop {
            self.give_up_rare(shown, observer)?;
            if !self.fill_up(shown, observer)? {
                return Ok(());
            }
        }
    }

    /// The values of a record's cells that could be lowered.
    fn values(&self, at: usize) -> Vec<Label> {
        let own = self.cells.of(self.concerned[at] as usize).filter(|&cell| self.moves[cell]);
        own.map(|cell| self.cells.leaf[cell]).collect()
    }

    /// How many pieces that a record shows, lowered or not, are shown by too few.
    fn lacks(&mut self, at: usize, shown: &mut Shown<'_>) -> usize {
        let mut lacking = 0;
        for lowered in [false, true] {
            self.read(at, lowered, shown);
            let (counts, used) = (&self.counts, &mut self.used);
            let mut tell = |piece, k| {
                *used += 1;
                lacking += usize::from(counts.get(&piece).is_some_and(|&count| count > 0 && count < k));
                true
            };
            shown.each(self.from, None, &mut tell);
            shown.each(self.to, Some(self.from), &mut tell);
        }
        lacking
    }

    /// How many pieces that a record would show with the upper label, no others do often enough.
    fn harm(&mut self, at: usize, shown: &mut Shown<'_>) -> usize {
        self.read(at, false, shown);
        let (counts, used) = (&self.counts, &mut self.used);
        let mut lacking = 0;
        shown.each(self.from, None, &mut |piece, k| {
            *used += 1;
            lacking += usize::from(counts.get(&piece).is_none_or(|&count| count + 1 < k));
            true
        });
        lacking
    }

    /// Whether everything that holds one of the two labels is shown by enough.
    fn is_sound(&mut self, shown: &mut Shown<'_>, observer: &dyn Observer) -> Result<bool> {
        for at in 0..self.concerned.len() {
            observer.go_on()?;
            self.read(at, self.is_lowered(at), shown);
            let mut tell = |piece, k| !self.is_rare(piece, k);
            if !shown.each(self.from, None, &mut tell) || !shown.each(self.to, Some(self.from), &mut tell) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The cells that are lowered, and how many pieces were looked at.
    fn end(self) -> (Vec<u32>, u64) {
        let kept = (0..self.candidates).filter(|&at| self.lowered[at]);
        let cells = kept.flat_map(|at| self.cells.of(self.concerned[at] as usize));
        let lowered = cells.filter(|&cell| self.moves[cell]).map(|cell| cell as u32).collect();
        self.moving.iter().for_each(|&cell| self.moves[cell as usize] = false);
        (lowered, self.used)
    }

    fn is_lowered(&self, at: usize) -> bool {
        at < self.candidates && self.lowered[at]
    }

    fn read(&self, at: usize, lowered: bool, shown: &mut Shown<'_>) {
        let label = |cell: usize| if lowered && self.moves[cell] { self.to } else { self.cells.label[cell] };
        shown.read(self.cells, self.concerned[at] as usize, label);
    }

    /// Adds the pieces of a record as it is, or takes them away.
    fn count(&mut self, at: usize, add: bool, shown: &mut Shown<'_>) {
        self.read(at, self.is_lowered(at), shown);
        let (counts, used) = (&mut self.counts, &mut self.used);
        let mut tell = |piece, _| {
            *used += 1;
            let count = counts.entry(piece).or_default();
            if add {
                *count += 1
            } else {
                *count -= 1
            }
            true
        };
        shown.each(self.from, None, &mut tell);
        shown.each(self.to, Some(self.from), &mut tell);
    }

    fn take_back(&mut self, at: usize, shown: &mut Shown<'_>) {
        self.count(at, false, shown);
        self.lowered[at] = false;
        self.count(at, true, shown);
    }

    fn is_rare(&self, piece: Piece, k: u32) -> bool {
        self.counts.get(&piece).is_some_and(|&count| count < k)
    }

    /// Takes back whoever would show something with the lower label that too few show.
    fn give_up_rare(&mut self, shown: &mut Shown<'_>, observer: &dyn Observer) -> Result<()> {
        loop {
            let mut changed = false;
            for at in 0..self.candidates {
                observer.go_on()?;
                if !self.lowered[at] {
                    continue;
                }
                self.read(at, true, shown);
                let mut seen = 0;
                let sound = shown.each(self.to, None, &mut |piece, k| {
                    seen += 1;
                    !self.is_rare(piece, k)
                });
                self.used += seen;
                if !sound {
                    self.take_back(at, shown);
                    changed = true;
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// Takes back so many that what is left with the upper label is shown often enough. Whether there was anything to do.
    fn fill_up(&mut self, shown: &mut Shown<'_>, observer: &dyn Observer) -> Result<bool> {
        let mut lacking: FxHashMap<Piece, u32> = FxHashMap::default();
        for at in 0..self.concerned.len() {
            observer.go_on()?;
            self.read(at, self.is_lowered(at), shown);
            let (counts, used) = (&self.counts, &mut self.used);
            let mut tell = |piece, k| {
                *used += 1;
                if let Some(&count) = counts.get(&piece).filter(|&&count| count < k) {
                    lacking.insert(piece, k - count);
                }
                true
            };
            shown.each(self.from, None, &mut tell);
            shown.each(self.to, Some(self.from), &mut tell);
        }
        if lacking.is_empty() {
            return Ok(false);
        }
        // Those first who fill up most.
        let mut helpful: Vec<(usize, usize)> = Vec::new();
        for at in (0..self.candidates).filter(|&at| self.lowered[at]) {
            self.read(at, false, shown);
            let mut helps = 0;
            let mut tell = |piece, _| {
                helps += usize::from(lacking.contains_key(&piece));
                true
            };
            shown.each(self.from, None, &mut tell);
            shown.each(self.to, Some(self.from), &mut tell);
            if helps > 0 {
                helpful.push((usize::MAX - helps, at));
            }
        }
        helpful.sort_unstable();
        if helpful.is_empty() {
            // What nobody can fill up was not broken by this; nothing is lowered.
            for at in 0..self.candidates {
                if self.lowered[at] {
                    self.take_back(at, shown);
                }
            }
            return Ok(false);
        }
        for (_, at) in helpful {
            observer.go_on()?;
            self.read(at, false, shown);
            let mut helps = false;
            let mut tell = |piece, _| {
                helps |= lacking.get(&piece).is_some_and(|&lack| lack > 0);
                true
            };
            shown.each(self.from, None, &mut tell);
            shown.each(self.to, Some(self.from), &mut tell);
            if !helps {
                continue;
            }
            let mut tell = |piece, _| {
                if let Some(lack) = lacking.get_mut(&piece) {
                    *lack = lack.saturating_sub(1);
                }
                true
            };
            shown.each(self.from, None, &mut tell);
            shown.each(self.to, Some(self.from), &mut tell);
            self.take_back(at, shown);
        }
        Ok(true)
    }
}
