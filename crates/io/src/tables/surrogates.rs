//! Whether the rows of a publication stand where their content puts them, under the numbers that they have there.
//!
//! Records that were read are taken apart again, as if they were to be published. All rows must come out as they were
//! found: in the same order, with the same keys, with the same repeated parts of keys. So neither the order of rows nor a
//! key can say anything that the records do not say.

use bosket_model::observe::Observer;
use bosket_model::{Dataset, Diagnostic, Place, Result};
use sha2::{Digest, Sha256};

use super::backend::{Column, Row};
use super::columns::Reading;
use super::disassemble::disassemble;
use super::emit::Outflow;
use super::shape::{Fate, Shape};

/// What a row says, in few bytes. Nobody finds another row with the same ones.
pub(super) type Seal = [u8; 16];

/// Per table the rows as they were found.
#[derive(Debug)]
pub(crate) struct RowsFound {
    tables: Vec<Vec<Seal>>,
}

impl RowsFound {
    pub(crate) fn new(tables: usize) -> Self {
        RowsFound { tables: vec![Vec::new(); tables] }
    }

    /// Adds the next row of a table.
    pub(crate) fn push(&mut self, node: usize, row: &Row, reading: &Reading) {
        self.tables[node].push(seal(reading.accounted.iter().map(|(_, cell)| row.cell(*cell))));
    }

    /// What is wrong with the order or the keys of tables that hold these records. `place` names a table's place.
    pub(crate) fn compare(
        &self,
        data: &Dataset,
        shape: &Shape,
        readings: &[Reading],
        place: &dyn Fn(usize) -> String,
        observer: &dyn Observer,
    ) -> Result<Vec<Diagnostic>> {
        let columns: Vec<Vec<Column>> =
            readings.iter().enumerate().map(|(node, r)| source_columns(shape, node, r)).collect();
        let rows = disassemble(data, shape, &columns, observer)?;
        // Per table and column that was found, the one that would be written; a column too many must be empty.
        let written: Vec<Vec<Option<usize>>> = (readings.iter().zip(&rows.tables))
            .map(|(reading, table)| {
                let find = |name: &String| table.columns.iter().position(|c| c.name == *name);
                reading.accounted.iter().map(|(name, _)| find(name)).collect()
            })
            .collect();
        let mut next = vec![0; readings.len()];
        let mut first: Vec<Option<usize>> = vec![None; readings.len()];
        rows.each(&mut |node, row| {
            observer.go_on()?;
            let cells = written[node].iter().map(|at| at.and_then(|at| row.cell(at)));
            if self.tables[node].get(next[node]) != Some(&seal(cells)) {
                first[node].get_or_insert(next[node]);
            }
            next[node] += 1;
            Ok(())
        })?;
        let mut wrong = Vec::new();
        for (node, first) in first.iter().enumerate() {
            let fewer = (next[node] < self.tables[node].len()).then_some(next[node]);
            if let Some(row) = first.or(fewer) {
                wrong.push(misplaced(&shape.nodes[node].name, row + 1, &place(node)));
            }
        }
        Ok(wrong)
    }
}

pub(super) fn seal<'a, K>(cells: impl Iterator<Item = Option<(K, &'a str)>>) -> Seal {
    let mut hash = Sha256::new();
    for cell in cells {
        match cell {
            None => hash.update([0]),
            Some((_, text)) => {
                hash.update([1]);
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text);
            }
        }
    }
    let mut seal = Seal::default();
    seal.copy_from_slice(&hash.finalize()[..16]);
    seal
}

/// The columns that a publication has from its source: all but those that were added to hold numbers.
pub(super) fn source_columns(shape: &Shape, node: usize, reading: &Reading) -> Vec<Column> {
    let own = &shape.nodes[node];
    let mut numbers: Vec<String> = Vec::new();
    for table in [Some(own), own.parent.map(|p| &shape.nodes[p])].into_iter().flatten().filter(|n| n.added) {
        numbers.extend(table.number.iter().cloned());
    }
    numbers.extend(shape.beyond(node).into_iter().flat_map(|ancestor| shape.moved_link(ancestor)));
    let added = |c: &&Column| {
        numbers.contains(&c.name)
            && !shape.joins(node, &c.name)
            && shape.fate(&own.name, &c.name) != Fate::Emptied
    };
    reading.columns.iter().filter(|c| !added(c)).cloned().collect()
}

pub(super) fn misplaced(table: &str, row: usize, place: &str) -> Diagnostic {
    let what = format!("row {row} of `{table}` is not where what it says puts it, or repeats a key wrongly");
    let help = "order and keys of a publication must not tell more than its values; hand it out as `anonymize` wrote it";
    Diagnostic::error(what).at(Place::source(place)).help(help)
}
