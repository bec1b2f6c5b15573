//! Whether the rows of a publication stand where their content puts them, batch by batch.
//!
//! Records come in the order of their rows. Each must not be smaller than the one before, and the rows that it would be
//! published as, numbered on from those before, must be the next ones that were found.

use bosket_model::observe::Observer;
use bosket_model::{Dataset, Failure, Fault, Result};

use super::spelt::{Read, Spelt};
use super::texts::Texts;
use crate::tables::backend::Row;
use crate::tables::columns::Reading;
use crate::tables::disassemble::{Encoder, classes, needs, slots};
use crate::tables::emit::Emitter;
use crate::tables::published::tables;
use crate::tables::shape::Shape;
use crate::tables::surrogates::{misplaced, seal, source_columns};

/// Per table the rows of a publication in the order in which they were found.
#[derive(Debug)]
pub(super) struct RowsInOrder {
    found: Vec<Texts>,
    /// Per table the rows that were compared.
    rows: Vec<u64>,
    /// Per table the last number given.
    numbers: Vec<u64>,
    /// Per table the first row that is not where it belongs.
    first: Vec<Option<u64>>,
    /// The record before.
    last: Vec<u8>,
}

impl RowsInOrder {
    pub(super) fn create(tables: usize) -> Result<Self> {
        let found = (0..tables).map(|_| Texts::create()).collect::<Result<_>>()?;
        let (numbers, first) = (vec![0; tables], vec![None; tables]);
        Ok(RowsInOrder { found, rows: numbers.clone(), numbers, first, last: Vec::new() })
    }

    /// Adds the next row of a table.
    pub(super) fn push(&mut self, node: usize, row: &Row, reading: &Reading) -> Result<()> {
        self.found[node].push(&seal(reading.accounted.iter().map(|(_, cell)| row.cell(*cell))))
    }

    /// All rows are there.
    pub(super) fn complete(&mut self) -> Result<()> {
        self.found.iter_mut().try_for_each(Texts::rewind)
    }

    /// Compares the next records with the next rows.
    pub(super) fn compare(
        &mut self,
        data: &Dataset,
        (shape, readings): (&Shape, &[Reading]),
        places: &[String],
        observer: &dyn Observer,
    ) -> Result<()> {
        let columns: Vec<_> =
            readings.iter().enumerate().map(|(node, r)| source_columns(shape, node, r)).collect();
        let classes = classes(data, shape)?;
        // What only other batches need is empty in all rows of this one, found and written alike.
        let tables = tables(shape, &columns, &needs(data, shape, &classes))?;
        let slots = slots(data, shape, &classes, &tables)?;
        let written: Vec<Vec<Option<usize>>> = (readings.iter().zip(&tables))
            .map(|(reading, table)| {
                let find = |name: &String| table.columns.iter().position(|c| c.name == *name);
                reading.accounted.iter().map(|(name, _)| find(name)).collect()
            })
            .collect();
        let RowsInOrder { found, rows, numbers, first, last } = self;
        let mut encoder = Encoder::new(data, Spelt::new(data, &classes, &slots, &tables));
        let mut emitter = Emitter::new(shape, &tables);
        emitter.numbers.clone_from(numbers);
        let (mut text, mut record) = (Vec::new(), Read::default());
        let people = shape.grouped().unwrap_or(0);
        for at in 0..data.len() {
            observer.go_on()?;
            text.clear();
            encoder.record(at, &mut text);
            if text < *last {
                first[people].get_or_insert(rows[people]);
            }
            record.read(&text, &tables)?;
            emitter.record(&record, 0, &mut |node, row| {
                let cells = written[node].iter().map(|at| at.and_then(|at| row.cell(at)));
                if found[node].next()? != Some(seal(cells).as_slice()) {
                    first[node].get_or_insert(rows[node]);
                }
                rows[node] += 1;
                Ok(())
            })?;
            std::mem::swap(last, &mut text);
        }
        *numbers = emitter.numbers;
        self.refuse_misplaced(shape, places)
    }

    /// Refuses rows behind those of the last record.
    pub(super) fn finish(mut self, shape: &Shape, places: &[String]) -> Result<()> {
        for (node, found) in self.found.iter_mut().enumerate() {
            if found.next()?.is_some() {
                self.first[node].get_or_insert(self.rows[node]);
            }
        }
        self.refuse_misplaced(shape, places)
    }

    fn refuse_misplaced(&self, shape: &Shape, places: &[String]) -> Result<()> {
        let wrong = self.first.iter().enumerate().filter_map(|(node, first)| {
            Some(misplaced(&shape.nodes[node].name, (*first)? as usize + 1, &places[node]))
        });
        let wrong: Vec<_> = wrong.collect();
        if wrong.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Data, wrong)) }
    }
}
