//! Labels a step below a cut: which of them are rare together with labels of the cut.
//!
//! Going down again at the end of a search asks of every node of the cut whether its children would be frequent with all
//! others. A kernel that shows the children of all nodes has the sets of three children, too, and may be most of the records.
//! But a child that is rare with labels of the cut as it is stays so whatever else goes down. So these sets are counted
//! first, in one pass over all records, and a kernel needs to show only what is left.
//!
//! Labels of the cut are numbered by falling support. A finer label has a row of counters, one for each of them that it may be
//! together with and one for each two, at the rarer of these. Where there is not enough memory, only the rarest labels have
//! counters: what is rare at all is mostly rare with them.
//!
//! ```text
//! labels a = 0, b = 1, c = 2      row of x:  xa | xab xb | xac xbc xc
//! ```

use bosket_model::Result;
use bosket_model::observe::Observer;
use rayon::prelude::*;

use super::filter::NO_LABEL;
use super::sets::Sets;

/// What is asked about steps down from a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// How often a set is needed.
    pub k: u32,
    /// Per item the number of its label in the cut, the most popular one's first; [`NO_LABEL`] if it has none.
    pub labels: Vec<u32>,
    /// Per item the number of its label a step below, numbered from 0; [`NO_LABEL`] where nobody asks.
    pub finer: Vec<u32>,
}

/// Records by the finer labels that they have.
#[derive(Debug)]
pub struct LaidOut {
    /// Per record where its labels begin, and these, ascending.
    first: Vec<u32>,
    labels: Vec<u32>,
    /// Per finer label where its records begin, and these.
    start: Vec<u32>,
    records: Vec<u32>,
}

impl Steps {
    /// Lays records out for counting.
    pub fn lay_out(&self, sets: &Sets, observer: &dyn Observer) -> Result<LaidOut> {
        let (mut first, mut labels) = (vec![0], Vec::new());
        let mut start = vec![0u32; size_of(&self.finer) + 1];
        let mut finer: Vec<(u32, u32)> = Vec::new();
        let mut own: Vec<u32> = Vec::new();
        for record in 0..sets.len() {
            observer.go_on()?;
            distinct(&mut own, sets.of(record), &self.labels);
            labels.extend_from_slice(&own);
            first.push(labels.len() as u32);
            distinct(&mut own, sets.of(record), &self.finer);
            own.iter().for_each(|&label| start[label as usize + 1] += 1);
            finer.extend(own.iter().map(|&label| (label, record as u32)));
        }
        (1..start.len()).for_each(|at| start[at] += start[at - 1]);
        let mut next = start.clone();
        let mut records = vec![0; finer.len()];
        for (label, record) in finer {
            let at = &mut next[label as usize];
            records[*at as usize] = record;
            *at += 1;
        }
        Ok(LaidOut { first, labels, start, records })
    }
}

/// The labels of some items, ascending, each once.
fn distinct(own: &mut Vec<u32>, items: &[u32], labels: &[u32]) {
    own.clear();
    own.extend(items.iter().map(|&item| labels[item as usize]).filter(|&label| label != NO_LABEL));
    own.sort_unstable();
    own.dedup();
}

/// How many numbers there are.
fn size_of(labels: &[u32]) -> usize {
    labels.iter().filter(|&&label| label != NO_LABEL).max().map_or(0, |&last| last as usize + 1)
}

/// How often finer labels are together with labels of the cut, up to k.
#[derive(Debug)]
pub struct StepCounts {
    k: u8,
    /// Per finer label the label of the cut that it lies below.
    above: Vec<u32>,
    /// The most popular label that has counters.
    rarest_from: usize,
    /// Counters of a finer label.
    width: usize,
    cells: Vec<u8>,
}

/// The counters of all labels before one.
fn before(label: usize) -> usize {
    label * (label + 1) / 2
}

impl StepCounts {
    /// Nothing is counted yet. The rarest labels have counters, as many as memory allows.
    pub fn new(steps: &Steps, memory: usize) -> Self {
        let labels = size_of(&steps.labels);
        let mut above = vec![NO_LABEL; size_of(&steps.finer)];
        for (&label, &finer) in steps.labels.iter().zip(&steps.finer).filter(|(_, finer)| **finer != NO_LABEL)
        {
            above[finer as usize] = label;
        }
        let k = u8::try_from(steps.k).ok();
        let width = |from: usize| before(labels) - before(from);
        let fits = |from: usize| k.is_some() && width(from).saturating_mul(above.len()) <= memory;
        let rarest_from = (0..labels).find(|&from| fits(from)).unwrap_or(labels);
        let width = width(rarest_from);
        let cells = vec![0; width * above.len()];
        StepCounts { k: k.unwrap_or(0), above, rarest_from, width, cells }
    }

    /// Counts some records.
    pub fn add(&mut self, sets: &LaidOut, observer: &dyn Observer) -> Result<()> {
        if self.width == 0 {
            return Ok(());
        }
        let (k, above, rarest_from) = (self.k, &self.above, self.rarest_from);
        self.cells.par_chunks_mut(self.width).enumerate().try_for_each_init(Vec::new, |own, (finer, row)| {
            observer.go_on()?;
            for &record in &sets.records[sets.start[finer] as usize..sets.start[finer + 1] as usize] {
                let bounds = sets.first[record as usize] as usize..sets.first[record as usize + 1] as usize;
                own.clear();
                own.extend(sets.labels[bounds].iter().copied().filter(|&label| label != above[finer]));
                for (at, &label) in
                    own.iter().enumerate().filter(|(_, label)| **label as usize >= rarest_from)
                {
                    let row = &mut row[before(label as usize) - before(rarest_from)..][..=label as usize];
                    for &other in &own[..=at] {
                        let cell = &mut row[other as usize];
                        *cell += u8::from(*cell < k);
                    }
                }
            }
            Ok(())
        })
    }

    /// Per finer label whether it is in some but fewer than k records together with one or two labels.
    pub fn rare(&self) -> Vec<bool> {
        if self.width == 0 {
            return vec![false; self.above.len()];
        }
        let rare = |row: &[u8]| row.iter().any(|&cell| cell > 0 && cell < self.k);
        self.cells.par_chunks(self.width).map(rare).collect()
    }
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;
    use bosket_testkit::dice::{Dice, cases};
    use proptest::prelude::*;

    use super::*;

    const ITEMS: u32 = 12;

    fn random(dice: &mut Dice) -> (Steps, Vec<Vec<u32>>) {
        // Three items a label, the last three at the root; of some labels every item is asked for, or two share a finer label.
        let labels = (0..ITEMS).map(|item| if item < 9 { item / 3 } else { NO_LABEL }).collect();
        let finer = [0, 1, 2, 3, 3, 4, NO_LABEL, NO_LABEL, NO_LABEL, 5, 6, 6].to_vec();
        let sets =
            (0..20 + dice.below(200)).map(|_| (0..ITEMS).filter(|_| dice.one_in(3)).collect()).collect();
        (Steps { k: 2 + dice.below(5) as u32, labels, finer }, sets)
    }

    fn sets_of(sets: &[Vec<u32>]) -> Sets {
        let mut first = vec![0];
        first.extend(sets.iter().scan(0, |end, set| {
            *end += set.len() as u32;
            Some(*end)
        }));
        Sets::new(first, sets.concat())
    }

    /// Whether a finer label is rare with one or two labels that are at least as rare as `from`, or have one that is.
    fn is_rare(steps: &Steps, sets: &[Vec<u32>], finer: u32, from: u32) -> bool {
        let below = (0..ITEMS as usize).filter(|&item| steps.finer[item] == finer);
        let above: Vec<u32> = below.map(|item| steps.labels[item]).collect();
        let has = |set: &[u32], label: u32| set.iter().any(|&item| steps.labels[item as usize] == label);
        let own: Vec<&Vec<u32>> =
            sets.iter().filter(|set| set.iter().any(|&item| steps.finer[item as usize] == finer)).collect();
        let others = || (0..3u32).filter(|label| !above.contains(label));
        others().filter(|&rarer| rarer >= from).any(|rarer| {
            others().filter(|&other| other <= rarer).any(|other| {
                let support = own.iter().filter(|set| has(set, rarer) && has(set, other)).count();
                support > 0 && support < steps.k as usize
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(200)))]
        #[test]
        fn what_is_rare_a_step_below_is_found_in_any_parts(seed: u64) {
            let mut dice = Dice::new(seed);
            let (steps, sets) = random(&mut dice);
            // Seven finer labels with six counters each, with five, three or none.
            for (memory, from) in [(1 << 10, 0), (7 * 5, 1), (7 * 3, 2), (7, 3)] {
                let mut counts = StepCounts::new(&steps, memory);
                prop_assert_eq!(counts.rarest_from, from as usize);
                for part in sets.chunks(1 + dice.below(50)) {
                    counts.add(&steps.lay_out(&sets_of(part), &Quiet).expect("laid out"), &Quiet).expect("counted");
                }
                let expected: Vec<bool> = (0..7).map(|finer| is_rare(&steps, &sets, finer, from)).collect();
                prop_assert_eq!(counts.rare(), expected);
            }
        }
    }
}
