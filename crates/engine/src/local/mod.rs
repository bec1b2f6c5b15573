//! Local recoding: every cell its own label.
//!
//! One cut for everybody wastes much: 85 people of a rare gender force `*` on 2,000. Here each cell carries an ancestor of its
//! value of its own. Labels start where a cut has them, which keeps the promise, and are lowered group by group: of the cells
//! that carry `p` and lie below its child `c`, those become `c` for which every piece of knowledge is still shown by nobody or
//! by at least k records (`lower`). So the result is never worse than the cut, and keeps its promise after every step.
//!
//! Say k = 2, and four people are `*` with their treatment: Ann (f) scan, Bea (f) scan, Cid (m) scan, Dan (m) drip. Lowering
//! `*` to f makes Ann and Bea `f scan`, and leaves `* scan` to Cid alone: one of the two stays `*`, but then the other is the
//! only `f`, so that both stay. With a third woman in a scan, two become `f`.
//!
//! What is decided depends on labels and structure alone, never on what is sensitive or on the order of the records.

mod lower;
mod pieces;

use bosket_model::Result;
use bosket_model::observe::Observer;

use lower::Lowering;

/// A label of a cell: a node of some hierarchy, numbered over all of them.
pub(crate) type Label = u32;

/// No cell above.
pub(crate) const NONE: u32 = u32::MAX;

/// What is known about labels.
pub(crate) struct Taxonomy {
    /// Per label the one above; itself for those that have none.
    pub(crate) parent: Vec<Label>,
    /// Per label what a cell loses that carries it, from 0 to 1, with its weight.
    pub(crate) loss: Vec<f64>,
}

impl Taxonomy {
    /// The label below `above` that covers `label`; none if that is not below it.
    fn step(&self, above: Label, label: Label) -> Option<Label> {
        let mut at = label;
        while at != above {
            let parent = self.parent[at as usize];
            if parent == above {
                return Some(at);
            }
            if parent == at {
                return None;
            }
            at = parent;
        }
        None
    }
}

/// The cells of all records. Those of a record follow each other, each after the one above it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    /// Per record its first cell, and one past the last.
    pub(crate) first: Vec<u32>,
    /// Per cell the one above it, or [`NONE`].
    pub(crate) above: Vec<u32>,
    /// Per cell its value, which its label may come down to.
    pub(crate) leaf: Vec<Label>,
    /// Per cell what is published.
    pub(crate) label: Vec<Label>,
}

impl Cells {
    fn records(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    fn of(&self, record: usize) -> std::ops::Range<usize> {
        self.first[record] as usize..self.first[record + 1] as usize
    }

    /// What all cells lose.
    pub(crate) fn loss(&self, taxonomy: &Taxonomy) -> f64 {
        self.label.iter().map(|&label| taxonomy.loss[label as usize]).sum()
    }
}

/// What is promised: any m labels with n relations between them are shown by at least k records, or by none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise {
    pub(crate) k: u32,
    pub(crate) m: usize,
    pub(crate) n: usize,
}

/// The most labels of a piece that fit its key.
pub(crate) const MOST: usize = pieces::MOST;

/// Pieces that are looked at in all, so that the effort is bounded and does not depend on the machine.
const EFFORT: u64 = 1_500_000_000;
/// Pieces of one lowering, which are kept in memory.
const AT_ONCE: u64 = 12_000_000;

/// Lowers labels as far as the promise allows; gives the number of cells that were lowered.
pub(crate) fn refine(
    cells: &mut Cells,
    taxonomy: &Taxonomy,
    promise: Promise,
    observer: &dyn Observer,
) -> Result<usize> {
    let mut effort = EFFORT;
    let mut lowered = 0;
    loop {
        let steps = steps(cells, taxonomy);
        observer.stage("local recoding", steps.len() as u64);
        let before = lowered;
        for (from, to) in steps {
            observer.go_on()?;
            observer.advance(1);
            if observer.out_of_time() {
                return Ok(lowered);
            }
            let Some(lowering) = Lowering::new(cells, taxonomy, promise, (from, to), AT_ONCE.min(effort))
            else {
                continue;
            };
            let (cells_of, used) = lowering.run(observer)?;
            effort = effort.saturating_sub(used);
            for cell in &cells_of {
                cells.label[*cell as usize] = to;
            }
            lowered += cells_of.len();
        }
        if lowered == before {
            return Ok(lowered);
        }
    }
}

/// Labels with those below them that some of their cells could carry, those first that would win most.
fn steps(cells: &Cells, taxonomy: &Taxonomy) -> Vec<(Label, Label)> {
    let mut gain: std::collections::BTreeMap<(Label, Label), f64> = std::collections::BTreeMap::new();
    for (&label, &leaf) in cells.label.iter().zip(&cells.leaf) {
        if let Some(below) = taxonomy.step(label, leaf) {
            let won = taxonomy.loss[label as usize] - taxonomy.loss[below as usize];
            *gain.entry((label, below)).or_default() += won;
        }
    }
    let mut steps: Vec<((Label, Label), f64)> = gain.into_iter().collect();
    steps.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    steps.into_iter().map(|(step, _)| step).collect()
}
