//! Builds records from rows that come person by person, a batch at a time.

use bosket_model::observe::Observer;
use bosket_model::{Dataset, MISSING, Result};

use super::cells::{Taking, damaged};
use super::gather::Gathered;
use crate::batches::BatchSize;
use crate::tables::assemble::Assembled;
use crate::tables::build::{ELSEWHERE, Staged, no_record};
use crate::tables::columns::{Mode, Reading};
use crate::tables::repeating::{Contradicting, Repeating, SecondWays};
use crate::tables::shape::Shape;

impl Gathered {
    /// Hands out all batches but the last, which comes back with what is known of all of them.
    pub(in crate::tables) fn batches(
        self,
        shape: &Shape,
        size: BatchSize,
        observer: &dyn Observer,
        take: &mut dyn FnMut(Dataset) -> Result<()>,
    ) -> Result<Assembled> {
        let Gathered { mut rows, readings, mode, mut second, counts, mut found, places } = self;
        let settle = |second: &SecondWays| second.settle(shape, &readings, &counts, mode);
        let mut known: (Repeating, Contradicting) = settle(&second);
        // What a publication repeats is known before its records are; of private rows each is asked first.
        let shape = &match mode {
            Mode::Publication => shape.clone().repeating(known.0.clone()),
            _ => shape.clone(),
        };
        if let Some(found) = &mut found {
            found.complete()?;
        }
        let own = &places[shape.grouped().unwrap_or(0)];
        let mut finished = |batch: Batch| -> Result<Dataset> {
            let data = batch.staged.build((shape, &readings), batch.records, own, observer)?;
            if let Some(found) = &mut found {
                found.compare(&data, (shape, &readings), &places, observer)?;
            }
            Ok(data)
        };
        observer.stage("putting records together", counts.iter().sum::<usize>() as u64);
        let mut batch = Batch::new(shape, &readings);
        let mut done = 0u64;
        while let Some(text) = rows.next()? {
            done += 1;
            if done.is_multiple_of(1024) {
                observer.go_on()?;
                observer.advance(1024);
            }
            let mut row = Taking(text);
            let (_, node) = (row.long()?, usize::from(row.short()?));
            let full = batch.records >= size.records || batch.bytes >= size.bytes;
            if node == 0 && full && batch.records > 0 {
                let next = Batch::new(shape, &readings);
                take(finished(std::mem::replace(&mut batch, next))?)?;
            }
            batch.bytes += text.len();
            batch.row(node, row, (shape, &readings), mode, &mut second)?;
        }
        if batch.records == 0 {
            return Err(no_record(own));
        }
        let data = finished(batch)?;
        if let Some(found) = found {
            found.finish(shape, &places)?;
        }
        if mode == Mode::Input {
            known = settle(&second);
        }
        let (repeating, contradicting) = known;
        let columns = readings.into_iter().map(|r| r.columns).collect();
        Ok(Assembled { data, columns, repeating, contradicting })
    }
}

/// Whole records that are not built yet.
struct Batch {
    staged: Staged,
    records: usize,
    bytes: usize,
    /// The person's key, where rows call the person by it.
    key: Vec<u8>,
    /// Per table the rows of the person at hand: the place in the table, and the one among the rows of the batch.
    own: Vec<Vec<(u64, u32)>>,
}

impl Batch {
    fn new(shape: &Shape, readings: &[Reading]) -> Self {
        let own = vec![Vec::new(); readings.len()];
        Batch { staged: Staged::new(shape, readings), records: 0, bytes: 0, key: Vec::new(), own }
    }

    fn row(
        &mut self,
        node: usize,
        mut row: Taking<'_>,
        (shape, readings): (&Shape, &[Reading]),
        mode: Mode,
        second: &mut SecondWays,
    ) -> Result<()> {
        let (place, on, above) = (row.long()?, usize::from(row.short()?), row.long()?);
        let reading = &readings[node];
        let stage = &mut self.staged.stages[node];
        let at = stage.parent.len() as u32;
        if node == 0 {
            self.own.iter_mut().for_each(Vec::clear);
            self.own[0].push((place, self.records as u32));
            self.records += 1;
            if second.asked() {
                self.key.clear();
                self.key.extend_from_slice(row.text()?);
            }
            if shape.nodes[0].table.is_none() {
                return Ok(());
            }
            stage.parent.push(0);
        } else {
            let find = self.own[on].binary_search_by_key(&above, |(place, _)| *place);
            let parent = self.own[on][find.map_err(|_| damaged())?].1;
            if shape.nodes[node].parent == Some(on) {
                stage.parent.push(parent);
            } else {
                stage.moved.push((at, on, parent));
                stage.parent.push(ELSEWHERE);
            }
            self.own[node].push((place, at));
        }
        for (attribute, &id) in reading.attributes.iter().zip(&self.staged.attributes[node].1) {
            if attribute.cell.is_some() {
                let cell = row.cell()?;
                let code = cell.map_or(MISSING, |(kind, text)| self.staged.builder.code(id, kind, text));
                stage.codes.push(code);
            }
        }
        for reference in 0..reading.second.len() {
            let cell = row.cell()?;
            if mode == Mode::Input {
                second.told(node, reference, cell.map(|(_, text)| text.as_bytes()), &self.key);
            }
        }
        Ok(())
    }
}
