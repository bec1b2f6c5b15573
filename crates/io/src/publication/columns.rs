//! Publications in columns, from chunks: what types the columns have follows from the values of all chunks.

use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::partition::Joined;
use bosket_model::{Dataset, Result};

use super::ChunkWriter;
use crate::apart::Sorter;
use crate::chunks::Chunks;
use crate::parquet::from_chunks::{ChunkSheet, ColumnTypes};

impl ChunkWriter<'_> {
    pub(super) fn write_columns(
        &self,
        chunks: &mut Chunks,
        memory: usize,
        output: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<()> {
        let (sheet, frame) = self.sheet(chunks, observer)?;
        let mut sorter = Sorter::within(memory);
        for chunk in 0..chunks.len() {
            let data = self.aligned(&chunks.read(chunk)?, &frame, observer)?;
            sheet.texts(&data, observer, &mut |text| sorter.push(text))?;
            observer.advance(1);
        }
        let mut sorted = sorter.finish()?;
        let mut rows = sheet.begin(output)?;
        while let Some(text) = sorted.next()? {
            observer.go_on()?;
            rows.record(text)?;
        }
        rows.finish()?;
        observer.advance(chunks.len() as u64);
        Ok(())
    }

    /// The columns, and the classes and attributes of all chunks.
    fn sheet(&self, chunks: &mut Chunks, observer: &dyn Observer) -> Result<(ChunkSheet, Dataset)> {
        let mut joined = Joined::new();
        let mut types = ColumnTypes::begin(&self.layout.columns)?;
        let mut is_first = true;
        while std::mem::take(&mut is_first) || types.pass_done() {
            for chunk in 0..chunks.len() {
                let data = chunks.read(chunk)?;
                let merged = self.kinds.merge(&data)?;
                let data = merged.as_ref().unwrap_or(&data);
                joined.add_values(data, |_| false);
                types.add(data, observer)?;
            }
        }
        let frame = joined.finish();
        Ok((types.sheet(frame.schema())?, frame))
    }
}
