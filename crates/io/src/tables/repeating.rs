//! References to the person beside those that join tables, as rows are read.
//!
//! A reference tells nothing new where it names in every row the person that the row belongs to anyway; then a publication
//! repeats the person's number in it. Where one row does not, the whole column is published empty: what is filled in some
//! rows only would tell them apart, and no guarantee counts that.

use super::backend::Row;
use super::columns::{Mode, Reading};
use super::keys::Keys;
use super::shape::Shape;

/// References that repeat the person's key: table and column.
pub(super) type Repeating = Vec<(usize, String)>;

/// References that should and do not, with the rows that tell against them.
pub(super) type Contradicting = Vec<(usize, String, usize)>;

/// What was found so far.
#[derive(Debug)]
pub(super) struct SecondWays {
    /// Per table and row the person that it belongs to; nothing where nobody asks.
    person: Vec<Vec<u32>>,
    /// Per table and reference the rows that tell against it; of a publication those in which it is filled.
    counts: Vec<Vec<usize>>,
    asked: bool,
}

impl SecondWays {
    pub(super) fn new(readings: &[Reading]) -> Self {
        SecondWays {
            person: vec![Vec::new(); readings.len()],
            counts: readings.iter().map(|r| vec![0; r.second.len()]).collect(),
            asked: readings.iter().any(|r| !r.second.is_empty()),
        }
    }

    /// Takes the next row of a table: the table above and its row there.
    pub(super) fn row(
        &mut self,
        node: usize,
        above: Option<usize>,
        parent: u32,
        row: &Row,
        reading: &Reading,
        people: &mut Keys,
    ) {
        if !self.asked {
            return;
        }
        let person = match above {
            None => self.person[node].len() as u32,
            Some(0) => parent,
            // Rows above may be missing where there is trouble already.
            Some(above) => self.person[above].get(parent as usize).copied().unwrap_or(0),
        };
        self.person[node].push(person);
        for ((_, cell), against) in reading.second.iter().zip(&mut self.counts[node]) {
            *against += usize::from(people.get(row, std::slice::from_ref(cell)) != Ok(person));
        }
    }

    /// Whether anybody asks.
    pub(super) fn asked(&self) -> bool {
        self.asked
    }

    /// The same with a row of which the person's key is known, and what its reference calls the person.
    pub(super) fn told(&mut self, node: usize, reference: usize, calls: Option<&[u8]>, key: &[u8]) {
        self.counts[node][reference] += usize::from(calls != Some(key));
    }

    /// The same with a publication, where numbers are compared by whoever knows them.
    pub(super) fn published_row(&mut self, node: usize, row: &Row, reading: &Reading) {
        for ((_, cell), filled) in reading.second.iter().zip(&mut self.counts[node]) {
            *filled += usize::from(row.cell(*cell).is_some());
        }
    }

    /// The references that repeat the person's key, and those that should and do not, with the rows that tell against them.
    pub(super) fn settle(
        &self,
        shape: &Shape,
        readings: &[Reading],
        rows: &[usize],
        mode: Mode,
    ) -> (Repeating, Contradicting) {
        let (mut repeating, mut contradicting) = (Vec::new(), Vec::new());
        for (node, reading) in readings.iter().enumerate() {
            for ((name, _), &count) in reading.second.iter().zip(&self.counts[node]) {
                let repeats = match mode {
                    Mode::Publication => count > 0,
                    _ => count == 0 && rows[node] > 0,
                };
                if repeats {
                    repeating.push((node, name.clone()));
                } else if mode == Mode::Input && count > 0 && shape.names_the_person(name) {
                    contradicting.push((node, name.clone(), count));
                }
            }
        }
        (repeating, contradicting)
    }
}
