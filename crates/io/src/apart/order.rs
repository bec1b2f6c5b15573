//! The order of a publication with two sides that lies in parts, as it is read: groups are numbered and ordered by what is published
//! of their people, across all parts, and each part has whole groups on all sides.

use std::path::Path;

use bosket_model::Result;

use super::spool::PERSON;
use crate::parts::{PartFacts, refuse_disorder};

/// What was found about the order so far.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Per part its groups: how many, the first and the last as texts.
    parts: Vec<PartFacts>,
    /// Per part the numbers of its first and last group.
    ranges: Vec<(u64, u64)>,
    /// The group that is read now, and the one that ended the part before.
    now: Option<u64>,
    before: Option<u64>,
    content: Vec<u8>,
    last: Vec<u8>,
    /// The last row of the table of sensitive values that is read now.
    row: (u64, Vec<u8>),
}

impl Order {
    /// A part of the people begins.
    pub(super) fn begin(&mut self) {
        self.end();
        self.parts.push(PartFacts::new(""));
        self.ranges.push((1, 0));
    }

    /// The columns of the part.
    pub(super) fn columns(&mut self, columns: &str) {
        if let Some(part) = self.parts.last_mut() {
            part.columns.clear();
            part.columns.push_str(columns);
        }
    }

    /// The next person: its group, and what else is published of it.
    pub(super) fn person(&mut self, group: &str, text: &[u8]) {
        let number = group.parse().unwrap_or(0);
        if self.now == Some(number) {
            if text < self.last.as_slice() {
                self.disordered(self.parts.len());
            }
        } else {
            self.close();
            if self.now.or(self.before).is_some_and(|before| number != before + 1) {
                self.disordered(self.parts.len());
            }
            if let Some(range) = self.ranges.last_mut() {
                *range = (if self.now.is_none() { number } else { range.0 }, number);
            }
            self.now = Some(number);
        }
        self.content.extend_from_slice(text);
        self.content.push(PERSON);
        self.last.clear();
        self.last.extend_from_slice(text);
    }

    fn close(&mut self) {
        if let Some(part) = self.parts.last_mut().filter(|_| self.now.is_some()) {
            part.add(&self.content);
            self.content.clear();
        }
    }

    /// All people have been read, or those of a part.
    pub(super) fn end(&mut self) {
        self.close();
        self.before = self.now.take().or(self.before);
    }

    fn disordered(&mut self, parts: usize) {
        if let Some(part) = parts.checked_sub(1).and_then(|at| self.parts.get_mut(at)) {
            part.sorted = false;
        }
    }

    /// A table of sensitive values begins.
    pub(super) fn table(&mut self) {
        self.row = (0, Vec::new());
    }

    /// Its next row, in which of its parts.
    pub(super) fn value(&mut self, part: usize, group: &str, text: &[u8]) {
        let number = group.parse().unwrap_or(0);
        let there = self.ranges.get(part).is_some_and(|range| (range.0..=range.1).contains(&number));
        if !there || (number, text) < (self.row.0, self.row.1.as_slice()) {
            self.disordered(part + 1);
        }
        self.row.0 = number;
        self.row.1.clear();
        self.row.1.extend_from_slice(text);
    }

    /// The number of the first group.
    pub(super) fn first(&self) -> u64 {
        self.ranges.first().map_or(1, |range| range.0)
    }

    /// What is known about the parts.
    pub(super) fn into_parts(self) -> Vec<PartFacts> {
        self.parts
    }

    /// Refuses parts of people that are not one sorted file that was cut.
    pub(super) fn refuse(self, people: &Path) -> Result<()> {
        refuse_disorder(people, "parquet", &self.parts)
    }
}
