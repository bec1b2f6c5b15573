//! Records of chunks as rows of a publication, in the order of what is published.

use std::cell::RefCell;

use bosket_model::observe::Observer;
use bosket_model::{Failure, Result};

use super::spelt::{Read, Spelt};
use super::texts::Texts;
use crate::apart::Sorter;
use crate::chunks::Chunks;
use crate::tables::backend::Column;
use crate::tables::disassemble::{Encoder, classes, needs, slots};
use crate::tables::emit::{Emitter, Outflow, Sink};
use crate::tables::published::{Needs, Table, tables};
use crate::tables::shape::Shape;

/// The records of all chunks, sorted, in a private file.
pub(in crate::tables) struct SortedRows {
    shape: Shape,
    tables: Vec<Table>,
    records: RefCell<Texts>,
}

impl SortedRows {
    /// Sorts the records of chunks within about so many bytes.
    pub(in crate::tables) fn new(
        chunks: &mut Chunks,
        shape: &Shape,
        columns: &[Vec<Column>],
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        if shape.nodes.len() >= usize::from(u16::MAX) {
            return Err(Failure::defect("too many tables"));
        }
        observer.stage("sorting records", 3 * chunks.len() as u64);
        let mut all: Vec<Needs> = shape.nodes.iter().map(|_| Needs::default()).collect();
        for chunk in 0..chunks.len() {
            observer.go_on()?;
            let data = chunks.read(chunk)?;
            let own = needs(&data, shape, &classes(&data, shape)?);
            all.iter_mut().zip(own).for_each(|(all, own)| all.join(own));
            observer.advance(1);
        }
        all.iter_mut().enumerate().for_each(|(node, need)| need.nearest_first(shape, node));
        let tables = tables(shape, columns, &all)?;
        let mut sorter = Sorter::within(memory);
        let mut text = Vec::new();
        for chunk in 0..chunks.len() {
            let data = chunks.read(chunk)?;
            let classes = classes(&data, shape)?;
            let slots = slots(&data, shape, &classes, &tables)?;
            let mut encoder = Encoder::new(&data, Spelt::new(&data, &classes, &slots, &tables));
            for record in 0..data.len() {
                observer.go_on()?;
                text.clear();
                encoder.record(record, &mut text);
                sorter.push(&text)?;
            }
            observer.advance(1);
        }
        let (mut sorted, mut records) = (sorter.finish()?, Texts::create()?);
        while let Some(text) = sorted.next()? {
            observer.go_on()?;
            records.push(text)?;
        }
        observer.advance(chunks.len() as u64);
        Ok(SortedRows { shape: shape.clone(), tables, records: RefCell::new(records) })
    }
}

impl Outflow for SortedRows {
    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn each(&self, sink: &mut Sink<'_>) -> Result<()> {
        let mut records = self.records.borrow_mut();
        records.rewind()?;
        let mut emitter = Emitter::new(&self.shape, &self.tables);
        let mut record = Read::default();
        while let Some(text) = records.next()? {
            record.read(text, &self.tables)?;
            emitter.record(&record, 0, sink)?;
        }
        Ok(())
    }
}
