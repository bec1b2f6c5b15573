//! Publications whose records do not fit into memory: written from chunks, sorted by content over all of them, read again in
//! batches.

use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::partition::Joined;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

use super::{Document, Kind, NAME, Publication, unlike, unwritten};
use crate::apart::Sorter;
use crate::batches::{BatchSize, read_batches};
use crate::chunks::Chunks;
use crate::fault;
use crate::form::{self, There};
use crate::format::{Format, Layout};
use crate::json;
use crate::kinds::Kinds;
use crate::table;

impl Publication {
    /// Refuses a form that cannot be written from chunks.
    pub fn refuse_unwritable_in_parts(&self) -> Result<()> {
        match &self.kind {
            Kind::Document(document) if FORMATS.contains(&document.format.name()) => Ok(()),
            Kind::Document(document) => Err(unwritable(document.format.name())),
            Kind::Tables(_) => Ok(()),
        }
    }

    /// Writes the records of all chunks, once, to where nobody looks yet; ordered by what is written, over all chunks. Of
    /// memory it takes about as much as told.
    pub fn write_parts(&mut self, chunks: &mut Chunks, memory: usize, observer: &dyn Observer) -> Result<()> {
        match &mut self.kind {
            Kind::Document(document) => document.write_parts(chunks, memory, observer),
            Kind::Tables(writing) => writing.write_parts(chunks, memory, observer),
        }
    }

    /// Reads what has been written in batches, as a stranger would.
    pub fn read_again_in_parts(
        &mut self,
        size: BatchSize,
        observer: &dyn Observer,
        take: &mut dyn FnMut(Dataset) -> Result<()>,
    ) -> Result<()> {
        let document = match &mut self.kind {
            Kind::Document(document) => document,
            Kind::Tables(writing) => return writing.read_again_in_parts(size, observer, take),
        };
        let hidden = document.output.as_mut().ok_or_else(unwritten)?.hidden()?;
        let input = hidden.open(NAME)?.published();
        let (format, kinds) = (document.format, &document.kinds);
        let mut chunks = Chunks::new();
        let layout = read_batches(input, format, &document.known, size, observer, &mut |loaded| {
            let data = kinds.split(loaded.data, NAME)?;
            chunks.push(&data)?;
            take(data)
        })?;
        if !document.has_one_form {
            return Ok(());
        }
        let there = There::hidden(NAME, hidden);
        let differs =
            form::of_chunks(&there, (format, &layout, kinds), &mut chunks, document.sorting, observer)?;
        differs.map_or(Ok(()), |differs| Err(unlike(&differs)))
    }
}

const FORMATS: [&str; 4] = ["ndjson", "transactions", "csv", "parquet"];

fn unwritable(format: &str) -> Failure {
    let what = format!("{format} cannot be written from parts of the records");
    let help = "have the data as ndjson, transactions, csv or parquet or in a database, or allow more memory, so that all records fit";
    Failure::new(Fault::Policy, Diagnostic::error(what).help(help))
}

impl Document {
    fn write_parts(&mut self, chunks: &mut Chunks, memory: usize, observer: &dyn Observer) -> Result<()> {
        if std::mem::replace(&mut self.written, true) {
            return Err(Failure::defect("a publication was written twice"));
        }
        let mut output = self.output.take().ok_or_else(unwritten)?;
        self.sorting = memory;
        let writer = ChunkWriter { format: self.format, layout: &self.layout, kinds: &self.kinds };
        writer.write(chunks, memory, &mut output, observer)?;
        self.output = Some(output.completed()?);
        observer.go_on()
    }
}

/// Writes the records of chunks as one document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkWriter<'w> {
    pub(crate) format: &'static dyn Format,
    pub(crate) layout: &'w Layout,
    /// Kinds that are put together when it is written.
    pub(crate) kinds: &'w Kinds,
}

impl ChunkWriter<'_> {
    /// Writes them, ordered by what is written over all chunks. Of memory it takes about as much as told.
    pub(crate) fn write(
        &self,
        chunks: &mut Chunks,
        memory: usize,
        output: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<()> {
        observer.stage("sorting records", 2 * chunks.len() as u64);
        if self.format.name() == "parquet" {
            return self.write_columns(chunks, memory, output, observer);
        }
        self.write_texts(chunks, memory, output, observer)
    }

    fn write_texts(
        &self,
        chunks: &mut Chunks,
        memory: usize,
        output: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<()> {
        let (frame, always) = self.frame(chunks, observer)?;
        let mut sorter = Sorter::within(memory);
        for chunk in 0..chunks.len() {
            observer.go_on()?;
            let data = self.aligned(&chunks.read(chunk)?, &frame, observer)?;
            match self.format.name() {
                "ndjson" => {
                    let texts = json::record_texts_as(&data, self.layout, &always, observer)?;
                    texts.iter().try_for_each(|text| sorter.push(text))?;
                }
                "csv" => {
                    table::row_texts(&data, self.layout, observer)?.iter().try_for_each(|t| sorter.push(t))?
                }
                _ => {
                    let mut text = Vec::new();
                    self.format.write(&data, self.layout, &mut text, observer)?;
                    text.split_inclusive(|&c| c == b'\n')
                        .try_for_each(|line| sorter.push(&line[..line.len() - 1]))?;
                }
            }
            observer.advance(1);
        }
        let end: &[u8] = if self.format.name() == "csv" { b"" } else { b"\n" };
        if self.format.name() == "csv" {
            output.write_all(&table::header_text(&frame, self.layout)?).map_err(fault::from_write)?;
        }
        let mut sorted = sorter.finish()?;
        let mut written = 0usize;
        while let Some(text) = sorted.next()? {
            if written.is_multiple_of(1024) {
                observer.go_on()?;
            }
            written += 1;
            output.write_all(text).and_then(|()| output.write_all(end)).map_err(fault::from_write)?;
        }
        observer.advance(chunks.len() as u64);
        Ok(())
    }

    /// Classes and attributes of all chunks, and which attributes every vertex of their class has.
    fn frame(&self, chunks: &mut Chunks, observer: &dyn Observer) -> Result<(Dataset, Vec<bool>)> {
        let mut joined = Joined::new();
        let merged = |data: &Dataset| -> Result<Option<Dataset>> { self.kinds.merge(data) };
        if self.format.name() == "transactions" && !chunks.is_empty() {
            let first = chunks.read(0)?;
            joined.add_values(&first, |_| false);
            return Ok((joined.finish(), Vec::new()));
        }
        for chunk in 0..chunks.len() {
            observer.go_on()?;
            let data = chunks.read(chunk)?;
            joined.add_values(merged(&data)?.as_ref().unwrap_or(&data), |_| false);
        }
        let frame = joined.finish();
        let mut always = vec![true; frame.schema().attributes().len()];
        for chunk in 0..chunks.len() {
            let data = self.aligned(&chunks.read(chunk)?, &frame, observer)?;
            let own = json::always_present(&data);
            always.iter_mut().zip(own).for_each(|(all, own)| *all &= own);
        }
        Ok((frame, always))
    }

    pub(super) fn aligned(
        &self,
        data: &Dataset,
        frame: &Dataset,
        observer: &dyn Observer,
    ) -> Result<Dataset> {
        let merged = self.kinds.merge(data)?;
        let mut joined = Joined::over(frame);
        joined.add(merged.as_ref().unwrap_or(data), |_| true, |_| true, observer)?;
        Ok(joined.finish())
    }
}
