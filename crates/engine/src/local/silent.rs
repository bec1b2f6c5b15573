//! Rows that say nothing and have to stay: without them too few would show `*` in their place.
//!
//! Leaving a row out takes away the pieces of knowledge that hold one of its `*`. Most are still shown by k records, or by nobody any
//! more. Of those that a few still show, the rows come back wherever they had been: then as many show the piece as before. That
//! adds others, so it is done again until nothing is rare.
//!
//! ```text
//! k = 3    with the rows          without                    put back
//!          5 show (2010, *)       2 show it, in other rows    in the 3 who do not
//!          4 show (2011, *)       nobody does                 nothing
//! ```

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::pieces::{Piece, Shown};
use super::{Cells, Label, NONE, Promise, Taxonomy};

/// Pieces that are looked at in all; beyond that all rows stay.
const EFFORT: u64 = 1_000_000_000;

/// Per row whether it is left out, with the one above it: what stands below a row needs it.
pub(crate) struct Going<'a> {
    /// Per cell its row.
    pub(crate) row: &'a [u32],
    /// Per row the one above, or [`NONE`].
    pub(crate) above: &'a [u32],
    /// Per row whether it goes.
    pub(crate) gone: &'a mut [bool],
}

impl Going<'_> {
    fn is_gone(&self, cell: usize) -> bool {
        self.gone[self.row[cell] as usize]
    }

    fn put_back(&mut self, cell: usize) {
        let mut row = self.row[cell];
        while row != NONE && self.gone[row as usize] {
            self.gone[row as usize] = false;
            row = self.above[row as usize];
        }
    }

    /// The cells that are left.
    fn left(&self, cells: &Cells) -> Cells {
        let mut number = vec![NONE; cells.label.len()];
        let mut left = Cells { first: vec![0], ..Cells::default() };
        for record in 0..cells.records() {
            for cell in cells.of(record).filter(|&cell| !self.is_gone(cell)) {
                number[cell] = left.label.len() as u32;
                left.label.push(cells.label[cell]);
                left.leaf.push(cells.leaf[cell]);
                let above = cells.above[cell];
                left.above.push(if above == NONE { NONE } else { number[above as usize] });
            }
            left.first.push(left.label.len() as u32);
        }
        left
    }

    /// The labels of cells that go, ascending.
    fn labels(&self, cells: &Cells) -> Vec<Label> {
        let gone = (0..cells.label.len()).filter(|&cell| self.is_gone(cell));
        let mut labels: Vec<Label> = gone.map(|cell| cells.label[cell]).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }
}

/// Puts rows back until every piece of knowledge with a label of theirs is shown by nobody or by enough.
pub(crate) fn put_back(
    cells: &Cells,
    going: &mut Going<'_>,
    (taxonomy, promise): (&Taxonomy, &Promise),
    observer: &dyn Observer,
) -> Result<()> {
    let mut effort = EFFORT;
    loop {
        let mut changed = false;
        for label in going.labels(cells) {
            let left = going.left(cells);
            let mut shown = Shown::new(promise, taxonomy);
            let mut counts: FxHashMap<Piece, u32> = FxHashMap::default();
            for record in 0..left.records() {
                observer.go_on()?;
                if !left.label[left.of(record)].contains(&label) {
                    continue;
                }
                shown.read(&left, record, |cell| left.label[cell]);
                shown.each(label, None, &mut |piece, _| {
                    *counts.entry(piece).or_default() += 1;
                    effort = effort.saturating_sub(1);
                    effort > 0
                });
            }
            for record in 0..cells.records() {
                observer.go_on()?;
                let own = |&cell: &usize| cells.label[cell] == label && going.is_gone(cell);
                let missing: Vec<usize> = cells.of(record).filter(own).collect();
                if missing.is_empty() {
                    continue;
                }
                let mut rare = false;
                shown.read(cells, record, |cell| cells.label[cell]);
                shown.each(label, None, &mut |piece, k| {
                    rare = counts.get(&piece).is_some_and(|&count| count < k);
                    effort = effort.saturating_sub(1);
                    !rare && effort > 0
                });
                if rare {
                    changed = true;
                    missing.into_iter().for_each(|cell| going.put_back(cell));
                }
            }
            if effort == 0 || shown.is_full() {
                going.gone.fill(false);
                return Ok(());
            }
        }
        if !changed {
            return Ok(());
        }
    }
}
