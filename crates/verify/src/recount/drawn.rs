//! Knowledge drawn at random, where there is too much of it to count all.

use rustc_hash::FxHashSet;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::knowledge::{Asked, RELATED, says_too_much};
use super::person::{ABSENT, CLASS, Known, Person, Piece};
use super::record::Reader;
use super::sample::{Budget, Choices};
use super::{Recount, STEPS, disagreement};

/// Draws in a row that bring nothing new before no more are made.
const MOST_KNOWN: usize = 1000;

/// The records that some knowledge fits.
struct Fitting {
    records: Vec<usize>,
    /// Whether there are others of which it cannot be told.
    undecided: bool,
}

impl Asked<'_> {
    /// Counts random knowledge of random records.
    pub(super) fn count_some(&self, reader: &mut Reader<'_>, observer: &dyn Observer) -> Result<Recount> {
        let mut choices = Choices::new(self.data.len());
        let mut counted: FxHashSet<Piece> = FxHashSet::default();
        let mut from: FxHashSet<usize> = FxHashSet::default();
        let mut budget = Budget::of(STEPS * 3 / 4);
        let mut known = 0;
        while let Some((record, piece)) = self.draw(reader, &mut choices, &mut budget) {
            observer.go_on()?;
            if counted.contains(&piece) {
                known += 1;
                // Hardly anything is left that was not drawn yet.
                if known == MOST_KNOWN {
                    break;
                }
                continue;
            }
            known = 0;
            let enough = Some(self.k.max(1));
            let Some(fitting) = self.fitting(reader, &piece, (record, enough), &mut budget, observer)? else {
                break;
            };
            if fitting.records.len() < self.k {
                if fitting.undecided {
                    continue;
                }
                return Err(disagreement("some knowledge fits fewer records than claimed"));
            }
            counted.insert(piece);
            from.insert(record);
        }
        let mut recount = Recount { complete: false, ..Recount::default() };
        if let Some((l, secrets)) = &self.diverse {
            let mut looked_at = 0;
            let mut budget = Budget::of(STEPS / 4);
            while let Some((record, piece)) = self.draw(reader, &mut choices, &mut budget) {
                let all = self.fitting(reader, &piece, (record, None), &mut budget, observer)?;
                let Some(fitting) = all.filter(|fitting| budget.take(100 * fitting.records.len())) else {
                    break;
                };
                if fitting.undecided {
                    continue;
                }
                let of: Vec<_> =
                    fitting.records.iter().map(|&r| secrets.of(self.data, self.binding, r)).collect();
                if says_too_much(of.iter().map(Vec::as_slice), *l) {
                    return Err(disagreement(
                        "some knowledge says more about a sensitive value than claimed",
                    ));
                }
                looked_at += 1;
            }
            if looked_at == 0 {
                recount.not_covered.push("what knowledge says about sensitive values");
            }
        }
        (recount.pieces, recount.records) = (counted.len() as u64, from.len() as u64);
        Ok(recount)
    }

    /// Random knowledge of a random record; none if there are no steps left.
    fn draw(
        &self,
        reader: &mut Reader<'_>,
        choices: &mut Choices,
        budget: &mut Budget,
    ) -> Option<(usize, Piece)> {
        loop {
            let record = choices.below(self.data.len().max(1));
            if record >= self.data.len() || !budget.take(20 + self.cost(record)) {
                return None;
            }
            let person = self.person(reader, record);
            if let Some(piece) = self.some_piece(&person, choices) {
                return Some((record, piece));
            }
        }
    }

    /// Random knowledge of a person; none if there is none.
    pub(super) fn some_piece(&self, person: &Person, choices: &mut Choices) -> Option<Piece> {
        let most = self.m.min(person.known.len());
        // What somebody knows in any case is knowledge by itself.
        let least = usize::from(person.class.is_none());
        if most < least {
            return None;
        }
        let size = least + choices.below(most + 1 - least);
        let known = choices.some_of(person.known.len(), size).into_iter().map(|at| person.known[at]);
        let mut piece = Piece { known: person.class.into_iter().chain(known).collect(), related: Vec::new() };
        let pairs = person.pairs(&piece);
        let wanted = choices.below(self.n.min(pairs.len()) + 1);
        for at in choices.some_of(pairs.len(), wanted) {
            piece.related.push(pairs[at]);
            if !self.fits(person, &piece) {
                piece.related.pop();
            }
        }
        Some(piece)
    }

    /// Steps that taking a record apart takes.
    pub(super) fn cost(&self, record: usize) -> usize {
        let vertices = self.data.vertices(record).len();
        let related = if self.n > 0 && vertices <= RELATED { 60 + 4 * vertices } else { 0 };
        vertices * (20 + related)
    }

    /// The records that some knowledge fits, from one on and round to it, up to as many as are enough; none if there are no
    /// steps left before that is known.
    fn fitting(
        &self,
        reader: &mut Reader<'_>,
        piece: &Piece,
        (first, enough): (usize, Option<usize>),
        budget: &mut Budget,
        observer: &dyn Observer,
    ) -> Result<Option<Fitting>> {
        let mut found = Fitting { records: Vec::new(), undecided: false };
        for (at, record) in (first..self.data.len()).chain(0..first).enumerate() {
            if at % 64 == 0 {
                observer.go_on()?;
            }
            if !budget.take(1 + 3 * self.data.vertices(record).len()) {
                return Ok(None);
            }
            // Most records do not even have the values.
            let items = reader.items(record);
            let has = |&(item, times): &Known| times == CLASS || items.contains(&item) == (times != ABSENT);
            if !piece.known.iter().all(has) {
                continue;
            }
            if !piece.related.is_empty() && self.is_large(record) {
                found.undecided = true;
                continue;
            }
            if !budget.take(self.cost(record)) {
                return Ok(None);
            }
            if self.fits(&self.person(reader, record), piece) {
                found.records.push(record);
                if enough == Some(found.records.len()) {
                    break;
                }
            }
        }
        Ok(Some(found))
    }
}
