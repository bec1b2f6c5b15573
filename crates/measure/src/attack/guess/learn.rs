//! An attacker who has nothing but the publication, and knows the hierarchies and how it was made.
//!
//! From the cells that are published as they are the attacker learns which value goes with which other labels of its row, and
//! of those above and below it. Two things more are known. A hidden value lies below its label. And Bosket generalizes no more
//! than it has to: a value that the publication shows k times and more beside each other label of the record would hardly
//! have been hidden. How common values are is learnt together with who is hidden, by expectation maximization.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::cells::{Attribute, Cell};
use super::context::{Beside, Context, Shown};

/// Rounds of expectation and maximization.
const ROUNDS: usize = 30;

/// Records that are added to each value's own when its company is learnt, as everybody's is.
const PRIOR: f64 = 1.0;

/// Cells that every value has before anything is seen.
const BEFORE: f64 = 0.1;

/// How likely it is that a value is hidden that could have been published: there are reasons that pairs do not show.
const NEEDLESS: f64 = 0.001;

/// What an attacker says of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Guess {
    /// The position of the leaf.
    pub(super) leaf: u32,
    /// How sure the attacker is.
    pub(super) certainty: f64,
}

/// A value that a cell may hide.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Which value: among those that are seen somewhere, or behind them all that are not.
    value: usize,
    /// How many values this stands for.
    leaves: f64,
    /// How well it goes with what else is seen.
    fit: f64,
    /// How likely it is to be hidden there.
    hidden: f64,
}

/// What is learnt about an attribute.
pub(super) struct Learner<'a> {
    own: &'a Attribute,
    /// Labels of one leaf: which leaf, which label, how many cells.
    values: Vec<(u32, u32, f64)>,
    /// Per value the labels that cover it, itself first.
    above: Vec<Vec<u32>>,
    /// How many records show a label and a thing beside it.
    together: FxHashMap<(u32, u32), u32>,
    /// How many records show a label.
    alone: Vec<u32>,
    /// How many records show one of the values and a thing beside it, and how many show one.
    any: FxHashMap<u32, u32>,
    records: u32,
    k: u32,
}

impl<'a> Learner<'a> {
    /// Learns from the cells of an attribute; at least `k` people are to fit whatever is known.
    pub(super) fn new(
        own: &'a Attribute,
        context: &mut Context<'_>,
        k: u32,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut learner = Learner {
            own,
            values: Vec::new(),
            above: Vec::new(),
            together: FxHashMap::default(),
            alone: vec![0; own.labels.len()],
            any: FxHashMap::default(),
            records: 0,
            k,
        };
        learner.read_labels();
        learner.count(context, observer)?;
        Ok(learner)
    }

    fn read_labels(&mut self) {
        let labels = &self.own.labels;
        for (at, label) in labels.iter().enumerate().filter(|(_, label)| !label.is_general()) {
            self.values.push((label.leaves.start, at as u32, 0.0));
        }
        self.values.sort_unstable_by_key(|value| value.0);
        self.values.dedup_by_key(|value| value.0);
        for (leaf, at, cells) in &mut self.values {
            *cells = self.own.cells.iter().filter(|cell| cell.label == *at).count() as f64;
            let mut above: Vec<u32> = (0..labels.len() as u32)
                .filter(|&other| {
                    let label = &labels[other as usize];
                    label.node.is_some() && label.leaves.contains(leaf)
                })
                .collect();
            above.sort_by_key(|&other| labels[other as usize].leaves.len());
            self.above.push(above);
        }
    }

    /// Counts what labels are seen beside. A record counts once.
    fn count(&mut self, context: &mut Context<'_>, observer: &dyn Observer) -> Result<()> {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut of_values: Vec<u32> = Vec::new();
        for own in by_record(&self.own.cells) {
            observer.go_on()?;
            let shown = context.shown(own[0].record as usize);
            pairs.clear();
            of_values.clear();
            let mut labels: Vec<u32> = Vec::new();
            for cell in own {
                let Beside { labels: exact, meanings, above } =
                    context.beside(&shown, cell.vertex, self.own.declared, true);
                let things = || exact.iter().chain(&meanings).chain(&above).copied();
                pairs.extend(things().map(|thing| (cell.label, thing)));
                labels.push(cell.label);
                if !self.own.labels[cell.label as usize].is_general() {
                    of_values.extend(things());
                }
            }
            labels.sort_unstable();
            labels.dedup();
            labels.iter().for_each(|&label| self.alone[label as usize] += 1);
            let is_value = |label: &u32| !self.own.labels[*label as usize].is_general();
            self.records += u32::from(labels.iter().any(is_value));
            pairs.sort_unstable();
            pairs.dedup();
            pairs.iter().for_each(|&pair| *self.together.entry(pair).or_default() += 1);
            of_values.sort_unstable();
            of_values.dedup();
            of_values.iter().for_each(|&thing| *self.any.entry(thing).or_default() += 1);
        }
        Ok(())
    }

    /// In how many records a label is seen beside each of the others: in so many at least.
    fn seen(&self, label: u32, beside: &Beside) -> u32 {
        let pair = |&thing: &u32| self.together.get(&(label, thing)).copied().unwrap_or(0);
        let alone = self.alone[label as usize];
        beside.labels.iter().map(pair).min().map_or(alone, |fewest| fewest.min(alone))
    }

    /// How well a value goes with what else is seen: a logarithm.
    fn fit(&self, value: Option<u32>, beside: &Beside) -> f64 {
        let own = value.map_or(0.0, |label| f64::from(self.alone[label as usize]));
        let one = |thing: &u32| {
            let everybody = f64::from(self.any.get(thing).copied().unwrap_or(0));
            let usual = (everybody + 0.5) / (f64::from(self.records) + 1.0);
            let pair = value.and_then(|label| self.together.get(&(label, *thing))).copied().unwrap_or(0);
            ((f64::from(pair) + PRIOR * usual) / (own + PRIOR)).ln()
        };
        beside.meanings.iter().map(one).sum()
    }

    /// What a cell may hide.
    fn candidates(&self, cell: &Cell, beside: &Beside) -> Vec<Candidate> {
        let label = &self.own.labels[cell.label as usize];
        let leaves = &label.leaves;
        let from = self.values.partition_point(|value| value.0 < leaves.start);
        let end = self.values.partition_point(|value| value.0 < leaves.end);
        let finer = |other: &&u32| self.own.labels[**other as usize].leaves.len() < leaves.len();
        let mut all: Vec<Candidate> = (from..end)
            .map(|value| {
                // Whatever is finer than the label could have been published instead, this cell's own record included.
                let seen = self.above[value].iter().filter(finer).map(|&other| self.seen(other, beside) + 1);
                let hidden = if seen.max().unwrap_or(1) < self.k { 1.0 } else { NEEDLESS };
                Candidate { value, leaves: 1.0, fit: self.fit(Some(self.values[value].1), beside), hidden }
            })
            .collect();
        let unseen = leaves.len() - (end - from);
        if unseen > 0 {
            let fit = self.fit(None, beside);
            all.push(Candidate { value: self.values.len(), leaves: unseen as f64, fit, hidden: 1.0 });
        }
        // Only differences count, and powers of large numbers are none.
        let best = all.iter().map(|candidate| candidate.fit).fold(f64::NEG_INFINITY, f64::max);
        all.iter_mut().for_each(|candidate| candidate.fit = (candidate.fit - best).exp());
        all
    }

    /// What the attacker says of cells, in their order.
    pub(super) fn guesses(
        &self,
        cells: &[Cell],
        context: &mut Context<'_>,
        observer: &dyn Observer,
    ) -> Result<Vec<Guess>> {
        let mut candidates: Vec<Vec<Candidate>> = Vec::with_capacity(cells.len());
        let mut shown: (u32, Vec<Shown>) = (u32::MAX, Vec::new());
        for cell in cells {
            observer.go_on()?;
            if shown.0 != cell.record {
                shown = (cell.record, context.shown(cell.record as usize));
            }
            let beside = context.beside(&shown.1, cell.vertex, self.own.declared, false);
            candidates.push(self.candidates(cell, &beside));
            observer.advance(1);
        }
        let mut belief = Belief::new(self);
        for _ in 0..ROUNDS {
            observer.go_on()?;
            belief = belief.learnt(self, &candidates);
        }
        let say = |(cell, candidates): (&Cell, &Vec<Candidate>)| self.say(cell, candidates, &belief);
        Ok(cells.iter().zip(&candidates).map(say).collect())
    }

    fn say(&self, cell: &Cell, candidates: &[Candidate], belief: &Belief) -> Guess {
        let leaves = self.own.labels[cell.label as usize].leaves.clone();
        let weights = belief.weights(candidates);
        let mut guess = Guess { leaf: leaves.start, certainty: 0.0 };
        for (candidate, weight) in candidates.iter().zip(weights) {
            let each = weight / candidate.leaves;
            if each > guess.certainty {
                let leaf = match self.values.get(candidate.value) {
                    Some(value) => value.0,
                    // One that is nowhere seen is as good as another.
                    None => self.first_unseen(leaves.clone()),
                };
                guess = Guess { leaf, certainty: each };
            }
        }
        guess
    }

    fn first_unseen(&self, mut leaves: std::ops::Range<u32>) -> u32 {
        let start = leaves.start;
        let is_seen = |leaf: &u32| self.values.binary_search_by_key(leaf, |value| value.0).is_ok();
        leaves.find(|leaf| !is_seen(leaf)).unwrap_or(start)
    }
}

/// How common values are: those that are seen, and behind them each that is not.
struct Belief(Vec<f64>);

impl Belief {
    fn new(learner: &Learner<'_>) -> Self {
        Belief(learner.values.iter().map(|value| value.2 + BEFORE).chain([BEFORE]).collect())
    }

    /// How likely each candidate is, in the light of the others.
    fn weights<'b>(&'b self, candidates: &'b [Candidate]) -> impl Iterator<Item = f64> + use<'b> {
        let weigh = |c: &Candidate| self.0[c.value] * c.leaves * c.fit * c.hidden;
        let sum: f64 = candidates.iter().map(weigh).sum();
        candidates.iter().map(move |c| if sum > 0.0 { weigh(c) / sum } else { 0.0 })
    }

    /// How common values are if those are hidden that this makes likely.
    fn learnt(&self, learner: &Learner<'_>, cells: &[Vec<Candidate>]) -> Self {
        let mut next = Belief::new(learner);
        let seen = learner.values.len();
        let unseen = learner.own.common.len().saturating_sub(seen).max(1) as f64;
        for candidates in cells {
            for (candidate, weight) in candidates.iter().zip(self.weights(candidates)) {
                next.0[candidate.value] += if candidate.value < seen { weight } else { weight / unseen };
            }
        }
        next
    }
}

/// Cells of an attribute record by record.
fn by_record(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunk_by(|a, b| a.record == b.record)
}
