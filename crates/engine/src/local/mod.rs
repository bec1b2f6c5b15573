//! Local recoding: every cell its own label.
//!
//! One cut for everybody wastes much: 85 people of a rare gender force `*` on 2,000. Here each cell carries an ancestor of its
//! value of its own. Labels start where a cut has them, which keeps the promise, and are lowered group by group: of the cells
//! that carry `p` and lie below its child `c`, those become `c` for which every piece of knowledge is still shown by nobody or
//! by at least k records (`lower`). So the result is never worse than the cut, and keeps its promise after every step. The
//! other start is from the values, raised until the promise holds (`raise`), and lowered again.
//!
//! Say k = 2, and four people are `*` with their treatment: Ann (f) scan, Bea (f) scan, Cid (m) scan, Dan (m) drip. Lowering
//! `*` to f makes Ann and Bea `f scan`, and leaves `* scan` to Cid alone: one of the two stays `*`, but then the other is the
//! only `f`, so that both stay. With a third woman in a scan, two become `f`.
//!
//! What is decided depends on labels and structure alone, never on what is sensitive or on the order of the records.

mod carry;
mod classes;
mod guess;
mod lower;
mod pieces;
mod promise;
mod raise;
mod silent;

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use lower::Lowering;
use pieces::{Piece, Shown};
use raise::raised;

pub(crate) use guess::{Cover, cover};
pub(crate) use promise::{Knower, Promise};
pub(crate) use silent::{Going, put_back};

/// A label of a cell: a node of some hierarchy, numbered over all of them.
pub(crate) type Label = u32;

/// No cell above.
pub(crate) const NONE: u32 = u32::MAX;

/// What is known about labels.
pub(crate) struct Taxonomy {
    /// Per label the one above; itself for those that have none.
    pub(crate) parent: Vec<Label>,
    /// Per label its attribute.
    pub(crate) attribute: Vec<u32>,
    /// Per label what a cell loses that carries it, from 0 to 1, with its weight.
    pub(crate) loss: Vec<f64>,
    /// A label that stands for nothing: whoever carries it does not show it.
    pub(crate) hidden: Option<Label>,
}

impl Taxonomy {
    /// The widest label of the attribute.
    fn root(&self, label: Label) -> Label {
        let mut at = label;
        while self.parent[at as usize] != at {
            at = self.parent[at as usize];
        }
        at
    }

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
}

/// The most labels of a piece that fit its key, with what is known at once as one of them.
pub(crate) const MOST: usize = pieces::MOST;

/// Pieces that are looked at in all, so that the effort is bounded and does not depend on the machine.
const EFFORT: u64 = 400_000_000;
/// Pieces of one lowering, which are kept in memory.
const AT_ONCE: u64 = 12_000_000;
/// Pieces of all records up to which the second start is tried. It wins seldom and little, and takes as long as the first.
const FROM_VALUES: u64 = 4_000_000;

/// Where labels are, kept up while they are lowered.
struct Index {
    /// Per cell its record.
    record_of: Vec<u32>,
    /// Per label the cells that carry it.
    cells_of: Vec<Vec<u32>>,
    /// Per cell whether it is about to be lowered; all false between two tries.
    moves: Vec<bool>,
}

impl Index {
    fn new(cells: &Cells, labels: usize) -> Self {
        let mut cells_of = vec![Vec::new(); labels];
        cells.label.iter().zip(0..).for_each(|(&label, cell)| cells_of[label as usize].push(cell));
        let record_of =
            (0..cells.records()).flat_map(|r| std::iter::repeat_n(r as u32, cells.of(r).len())).collect();
        Index { record_of, cells_of, moves: vec![false; cells.label.len()] }
    }

    fn lower(&mut self, cells: &mut Cells, from: Label, to: Label, moved: &[u32]) {
        for &cell in moved {
            cells.label[cell as usize] = to;
        }
        self.cells_of[from as usize].retain(|&cell| cells.label[cell as usize] == from);
        self.cells_of[to as usize].extend_from_slice(moved);
    }
}

/// Makes labels finer than those of a cut as far as the promise allows. Two starts, from the cut and, where that is not too
/// much to count, from the values; the one that loses less is kept. Whether a cut `is_sound` matters where somebody knows all of
/// some attributes at once: else nothing is told of these at first.
pub(crate) fn refine(
    cells: &mut Cells,
    taxonomy: &Taxonomy,
    (promise, is_sound): (&Promise, bool),
    observer: &dyn Observer,
) -> Result<()> {
    observer.refining();
    if promise.knows_at_once() {
        return by_classes(cells, taxonomy, (promise, is_sound), observer);
    }
    let values = Cells { label: cells.leaf.clone(), ..cells.clone() };
    let from_values = match pieces_of(&values, promise, |labels| labels.len()) <= FROM_VALUES {
        true => raised(values, &cells.label, (taxonomy, promise), &mut FROM_CLASSES.clone(), observer)?,
        false => None,
    };
    lower(cells, taxonomy, promise, 0, observer)?;
    if let Some(mut other) = from_values {
        lower(&mut other, taxonomy, promise, 0, observer)?;
        if lost(&other, taxonomy) < lost(cells, taxonomy) {
            *cells = other;
        }
    }
    Ok(())
}

/// Pieces that are looked at for all starts from classes.
const FROM_CLASSES: u64 = 1_000_000_000;
/// Pieces of all records up to which such a start is tried, which bounds the memory.
const IN_CLASSES: u64 = 60_000_000;

/// About how many pieces all records have, by how many labels there are to choose from.
fn pieces_of(cells: &Cells, promise: &Promise, count: impl Fn(&[Label]) -> usize) -> u64 {
    let of = |record: usize| promise.estimate_all(count(&cells.label[cells.of(record)]));
    (0..cells.records()).map(of).fold(0, u64::saturating_add)
}

/// How many labels there are, each once.
fn different(labels: &[Label]) -> usize {
    let mut labels = labels.to_vec();
    labels.sort_unstable();
    labels.dedup();
    labels.len()
}

/// The same where somebody knows all of some attributes at once. How large the classes of those who look alike to them are
/// is part of the search: larger ones tell less of what is known at once, and more of all else.
fn by_classes(
    cells: &mut Cells,
    taxonomy: &Taxonomy,
    (promise, is_sound): (&Promise, bool),
    observer: &dyn Observer,
) -> Result<()> {
    let top: Vec<Label> = cells.label.iter().map(|&label| taxonomy.root(label)).collect();
    let mut best: Option<(f64, Cells)> = None;
    let people = cells.records();
    let (mut worse, mut effort) = (0, FROM_CLASSES);
    let sizes = std::iter::successors(Some(promise.most() as usize * 2), |size| Some(size * 2));
    for size in sizes.take_while(|&size| size <= people.max(1)) {
        let all = Cells { label: top.clone(), ..cells.clone() };
        let Some(start) = classes::start(all, (taxonomy, promise), size, observer)? else { continue };
        if pieces_of(&start, promise, different) > IN_CLASSES {
            break;
        }
        let bound: Vec<Label> = (start.label.iter().zip(&top))
            .map(
                |(&label, &top)| {
                    if promise.is_known_at_once(taxonomy.attribute[label as usize]) { label } else { top }
                },
            )
            .collect();
        let Some(found) = raised(start, &bound, (taxonomy, promise), &mut effort, observer)? else {
            continue;
        };
        let lost = lost(&found, taxonomy);
        if best.as_ref().is_none_or(|(least, _)| lost < *least) {
            (best, worse) = (Some((lost, found)), 0);
        } else {
            worse += 1;
        }
        if worse > 1 || effort == 0 || observer.out_of_time() {
            break;
        }
    }
    for (label, top) in cells.label.iter_mut().zip(&top) {
        if !is_sound && promise.is_known_at_once(taxonomy.attribute[*label as usize]) {
            *label = *top;
        }
    }
    lower(cells, taxonomy, promise, 0, observer)?;
    if let Some((_, mut other)) = best {
        lower(&mut other, taxonomy, promise, 0, observer)?;
        if lost(&other, taxonomy) < lost(cells, taxonomy) {
            *cells = other;
        }
    }
    Ok(())
}

/// Steps of a first solution that are taken however little time there is, those first that win most.
const AT_ANY_RATE: usize = 16;

/// The same for a solution that somebody waits for: from the cut alone, and never nothing at all.
pub(crate) fn refine_first(
    cells: &mut Cells,
    taxonomy: &Taxonomy,
    promise: &Promise,
    observer: &dyn Observer,
) -> Result<()> {
    observer.refining();
    lower(cells, taxonomy, promise, AT_ANY_RATE, observer)?;
    observer.refined();
    Ok(())
}

/// Whether labels keep the promise as they are.
pub(crate) fn is_kept(
    cells: &Cells,
    taxonomy: &Taxonomy,
    promise: &Promise,
    observer: &dyn Observer,
) -> Result<bool> {
    let mut shown = Shown::new(promise, taxonomy);
    let mut counts: FxHashMap<Piece, (u32, u32)> = FxHashMap::default();
    for record in 0..cells.records() {
        observer.go_on()?;
        shown.read(cells, record, |cell| cells.label[cell]);
        shown.all(&mut |piece, k| {
            counts.entry(piece).or_insert((0, k)).0 += 1;
            true
        });
    }
    Ok(counts.values().all(|&(count, k)| count >= k))
}

/// What all cells lose. Cells are counted before losses are added, so that it does not depend on their order.
pub(crate) fn lost(cells: &Cells, taxonomy: &Taxonomy) -> f64 {
    let mut carried = vec![0u32; taxonomy.loss.len()];
    cells.label.iter().for_each(|&label| carried[label as usize] += 1);
    carried.iter().zip(&taxonomy.loss).map(|(&cells, loss)| f64::from(cells) * loss).sum()
}

/// Lowers labels as far as the promise allows; the first steps without a look at the time.
fn lower(
    cells: &mut Cells,
    taxonomy: &Taxonomy,
    promise: &Promise,
    mut at_any_rate: usize,
    observer: &dyn Observer,
) -> Result<()> {
    let mut index = Index::new(cells, taxonomy.parent.len());
    let mut effort = EFFORT;
    loop {
        let steps = steps(cells, taxonomy);
        observer.stage("local recoding", steps.len() as u64);
        let mut changed = false;
        for (from, to) in steps {
            observer.go_on()?;
            observer.advance(1);
            if at_any_rate == 0 && observer.out_of_time() {
                return Ok(());
            }
            at_any_rate = at_any_rate.saturating_sub(1);
            let most = AT_ONCE.min(effort);
            let Some(lowering) = Lowering::new(cells, taxonomy, promise, (from, to), &mut index, most) else {
                continue;
            };
            let (moved, used) = lowering.run(observer)?;
            effort = effort.saturating_sub(used);
            index.lower(cells, from, to, &moved);
            changed |= !moved.is_empty();
        }
        if !changed {
            return Ok(());
        }
    }
}

/// Labels with those below them that some of their cells could carry, those first that would win most.
fn steps(cells: &Cells, taxonomy: &Taxonomy) -> Vec<(Label, Label)> {
    let mut could: std::collections::BTreeMap<(Label, Label), u32> = std::collections::BTreeMap::new();
    for (&label, &leaf) in cells.label.iter().zip(&cells.leaf) {
        if let Some(below) = taxonomy.step(label, leaf) {
            *could.entry((label, below)).or_default() += 1;
        }
    }
    let won = |((from, to), cells): ((Label, Label), u32)| {
        ((from, to), f64::from(cells) * (taxonomy.loss[from as usize] - taxonomy.loss[to as usize]))
    };
    let mut steps: Vec<((Label, Label), f64)> = could.into_iter().map(won).collect();
    steps.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    steps.into_iter().map(|(step, _)| step).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bosket_model::observe::Quiet;
    use bosket_testkit::dice::{Dice, cases};

    use super::*;

    /// Two hierarchies of two levels: 0 over 1 and 2, which are over 3 to 6; 7 over 8 and 9, which are over 10 to 13.
    fn taxonomy(hidden: Option<Label>) -> Taxonomy {
        Taxonomy {
            parent: vec![0, 0, 0, 1, 1, 2, 2, 7, 7, 7, 8, 8, 9, 9],
            attribute: [0, 1].iter().flat_map(|&a| [a; 7]).collect(),
            loss: [1.0, 0.4, 0.4, 0.0, 0.0, 0.0, 0.0].repeat(2),
            hidden,
        }
    }

    /// Labels, and which stands above which.
    type Known = (Vec<Label>, Vec<(Label, Label)>);

    /// Every piece of a record, by choosing cells: labels, and pairs that stand one above the other.
    fn pieces(cells: &Cells, record: usize, promise: &Knower, hidden: Option<Label>) -> Vec<Known> {
        let own: Vec<usize> = cells.of(record).filter(|&c| Some(cells.label[c]) != hidden).collect();
        let is_above = |a: usize, b: usize| {
            std::iter::successors(Some(b as u32), |&c| Some(cells.above[c as usize]).filter(|&c| c != NONE))
                .skip(1)
                .any(|c| c as usize == a)
        };
        let mut found = Vec::new();
        for mask in 1u32..1 << own.len() {
            let chosen: Vec<usize> = (0..own.len()).filter(|i| mask >> i & 1 == 1).map(|i| own[i]).collect();
            let mut labels: Vec<Label> = chosen.iter().map(|&c| cells.label[c]).collect();
            labels.sort_unstable();
            labels.dedup();
            if labels.len() < chosen.len() || chosen.len() > promise.m {
                continue;
            }
            let mut related: Vec<(Label, Label)> = Vec::new();
            for &a in &chosen {
                related.extend(
                    chosen.iter().filter(|&&b| is_above(a, b)).map(|&b| (cells.label[a], cells.label[b])),
                );
            }
            related.sort_unstable();
            for which in 0u32..1 << related.len() {
                let some: Vec<(Label, Label)> =
                    (0..related.len()).filter(|i| which >> i & 1 == 1).map(|i| related[i]).collect();
                if some.len() <= promise.n {
                    found.push((labels.clone(), some));
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }

    fn holds(cells: &Cells, promise: &Knower, hidden: Option<Label>) -> bool {
        let mut counts: BTreeMap<Known, u32> = BTreeMap::new();
        for record in 0..cells.records() {
            pieces(cells, record, promise, hidden)
                .into_iter()
                .for_each(|p| *counts.entry(p).or_default() += 1);
        }
        counts.values().all(|&count| count >= promise.k)
    }

    fn is_below(label: Label, above: Label, taxonomy: &Taxonomy) -> bool {
        let chain = std::iter::successors(Some(label), |&l| Some(taxonomy.parent[l as usize]));
        chain.take(4).any(|l| l == above)
    }

    /// Which label hides which cell. In a set the leaves come first, then the labels right above them: each takes the first
    /// cell below it, and all that are left in the end go to the lowest one above them.
    fn as_read(cells: &Cells, taxonomy: &Taxonomy) -> Vec<Option<Label>> {
        if taxonomy.hidden.is_none() {
            return cells.label.iter().copied().map(Some).collect();
        }
        let mut read = vec![None; cells.leaf.len()];
        for record in 0..cells.records() {
            let mut order: Vec<usize> = cells.of(record).collect();
            order.sort_by_key(|&cell| cells.leaf[cell]);
            let has = |label: Label| cells.of(record).any(|cell| cells.label[cell] == label);
            let labels: Vec<Label> = [3, 4, 5, 6, 1, 2].into_iter().filter(|&label| has(label)).collect();
            for all in [false, true] {
                for &label in &labels {
                    let free = |cell: &&usize| {
                        read[**cell].is_none() && is_below(cells.leaf[**cell], label, taxonomy)
                    };
                    let taken: Vec<usize> =
                        order.iter().filter(free).take(if all { usize::MAX } else { 1 }).copied().collect();
                    taken.into_iter().for_each(|cell| read[cell] = Some(label));
                }
            }
        }
        read
    }

    /// Whether a value has a larger share of a label's cells than `guess`, and than of all cells below it.
    fn tells(cells: &Cells, taxonomy: &Taxonomy, guess: f64) -> bool {
        let read = as_read(cells, taxonomy);
        let count = |of: &dyn Fn(Label, Option<Label>) -> bool| {
            cells.leaf.iter().zip(&read).filter(|(leaf, label)| of(**leaf, **label)).count()
        };
        (0..14).any(|own| {
            let below = |leaf: Label| is_below(leaf, own, taxonomy);
            let (carried, all) = (count(&|_, label| label == Some(own)), count(&|leaf, _| below(leaf)));
            let shown = count(&|leaf, label| below(leaf) && label.is_some());
            carried < shown
                && (0..14).any(|value| {
                    let hits = count(&|leaf, label| label == Some(own) && leaf == value);
                    let usual = count(&|leaf, _| leaf == value && below(leaf));
                    hits as f64 > guess * carried as f64 && hits * all > usual * carried
                })
        })
    }

    #[test]
    fn lowered_labels_keep_the_promise_and_cover_their_values() {
        let (mut finer, mut from_values, mut all) = (0, 0, 0);
        let (mut told, mut finer_all_the_same) = (0, 0);
        for seed in 0..u64::from(cases(400)) {
            let mut dice = Dice::new(seed);
            let sets = dice.one_in(3);
            let hidden = sets.then_some(0);
            let taxonomy = taxonomy(hidden);
            let mut cells = Cells { first: vec![0], ..Cells::default() };
            for _ in 0..4 + dice.below(10) {
                let first = cells.leaf.len() as u32;
                for at in 0..1 + dice.below(5) as u32 {
                    let root = if sets || dice.one_in(2) { 0 } else { 7 };
                    cells.leaf.push(root + 3 + dice.below(4) as u32);
                    cells.label.push(root);
                    let below = !sets && at > 0 && dice.one_in(2);
                    cells.above.push(if below { first + dice.below(at as usize) as u32 } else { NONE });
                }
                cells.first.push(cells.leaf.len() as u32);
            }
            let knower = Knower::of_anything(2, 1 + dice.below(3), if sets { 0 } else { dice.below(3) }, 2);
            let promise = Promise::new(vec![knower.clone()]);
            if !holds(&cells, &knower, hidden) {
                continue;
            }
            let before = cells.clone();
            let at_values = Cells { label: cells.leaf.clone(), ..cells.clone() };
            let values =
                raised(at_values, &cells.label, (&taxonomy, &promise), &mut FROM_CLASSES.clone(), &Quiet)
                    .expect("nobody interrupts");
            // With two relations, pairs at different places are counted as well, and may be rare from the start.
            assert!(values.is_some() || knower.n > 1, "seed {seed}");
            if let Some(values) = values {
                assert!(holds(&values, &knower, hidden), "seed {seed}: {values:?}");
            }
            let mut from_cut = cells.clone();
            lower(&mut from_cut, &taxonomy, &promise, 0, &Quiet).expect("nobody interrupts");
            refine(&mut cells, &taxonomy, (&promise, true), &Quiet).expect("nobody interrupts");
            all += 1;
            finer += usize::from(cells.label != before.label);
            from_values += usize::from(cells.label != from_cut.label);
            assert!(lost(&cells, &taxonomy) <= lost(&from_cut, &taxonomy));
            assert!(holds(&cells, &knower, hidden), "seed {seed}: {cells:?}");
            for cell in 0..cells.leaf.len() {
                let chain =
                    std::iter::successors(Some(cells.leaf[cell]), |&l| Some(taxonomy.parent[l as usize]));
                assert!(chain.take(4).any(|l| l == cells.label[cell]), "seed {seed}");
            }
            for guess in [0.4, 0.6] {
                let (mut covered, at_cut) =
                    (cells.clone(), Cover { cut: &before.label, is_sound: true, whole: false, told: &[] });
                told += usize::from(tells(&cells, &taxonomy, guess));
                cover(&mut covered, at_cut, (&taxonomy, &promise), guess, &Quiet).expect("nobody interrupts");
                assert!(!tells(&covered, &taxonomy, guess), "seed {seed}, {guess}: {cells:?} {covered:?}");
                assert!(holds(&covered, &knower, hidden), "seed {seed}, {guess}: {cells:?} {covered:?}");
                finer_all_the_same += usize::from(covered.label != before.label);
                for (cell, &label) in covered.label.iter().enumerate() {
                    assert!(is_below(cells.label[cell], label, &taxonomy), "seed {seed}: a cell was lowered");
                }
            }
            assert_eq!((before.leaf, before.above), (cells.leaf, cells.above));
        }
        assert!(told > 20 && finer_all_the_same > 20, "{told} told, {finer_all_the_same} finer");
        assert!(all > 50 && finer > 20 && from_values > 0, "{finer} of {all}, {from_values} from the values");
    }

    /// The example of the module.
    #[test]
    fn two_of_three_women_become_women() {
        // Labels: 0 is `*` over 1 = f and 2 = m, over themselves; 7 over 8 = scan and 9 = drip.
        let taxonomy = Taxonomy {
            parent: vec![0, 0, 0, 7, 7, 7, 7, 7, 7, 7],
            attribute: vec![0, 0, 0, 1, 1, 1, 1, 1, 1, 1],
            loss: vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            hidden: None,
        };
        let people = |women: usize| {
            let mut cells = Cells { first: vec![0], ..Cells::default() };
            let all = std::iter::repeat_n((1, 8), women).chain([(2, 8), (2, 9), (2, 9)]);
            for (gender, treatment) in all {
                cells.leaf.extend([gender, treatment]);
                cells.label.extend([0, treatment]);
                cells.above.extend([NONE, NONE]);
                cells.first.push(cells.leaf.len() as u32);
            }
            cells
        };
        let knower = Knower::of_anything(2, 2, 0, 2);
        let promise = Promise::new(vec![knower.clone()]);
        for (women, become_women) in [(2, 0), (3, 2)] {
            let mut cells = people(women);
            lower(&mut cells, &taxonomy, &promise, 0, &Quiet).expect("nobody interrupts");
            assert!(holds(&cells, &knower, None), "{cells:?}");
            assert_eq!(cells.label.iter().filter(|&&l| l == 1).count(), become_women, "{cells:?}");
        }
    }
}
