//! Records that wait in a private file, chunk by chunk.

use bosket_model::{Dataset, Result};

use crate::apart::Scratch;

/// Datasets one after the other in a file that only its owner can read and that is gone when it is closed.
#[derive(Debug, Default)]
pub struct Chunks {
    scratch: Option<Scratch>,
    /// Start, length and records of each.
    spans: Vec<(u64, u64, usize)>,
}

impl Chunks {
    /// None yet.
    pub fn new() -> Self {
        Chunks::default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// How many records they have.
    pub fn records(&self) -> usize {
        self.spans.iter().map(|span| span.2).sum()
    }

    /// How many bytes they take in their file.
    pub fn size(&self) -> u64 {
        self.spans.iter().map(|span| span.1).sum()
    }

    /// Adds one behind all others.
    pub fn push(&mut self, data: &Dataset) -> Result<()> {
        self.push_bytes(&data.to_bytes(), data.len())
    }

    /// The same with records in a form of somebody's own.
    pub fn push_bytes(&mut self, bytes: &[u8], records: usize) -> Result<()> {
        let scratch = match &mut self.scratch {
            Some(scratch) => scratch,
            none => none.insert(Scratch::create()?),
        };
        let start = scratch.len();
        scratch.write(bytes)?;
        scratch.flush()?;
        self.spans.push((start, bytes.len() as u64, records));
        Ok(())
    }

    /// Reads one.
    pub fn read(&mut self, chunk: usize) -> Result<Dataset> {
        Dataset::from_bytes(&self.bytes(chunk)?)
    }

    /// Reads the bytes of one.
    pub fn bytes(&mut self, chunk: usize) -> Result<Vec<u8>> {
        let (start, length, _) = self.spans[chunk];
        let mut bytes = vec![0; length as usize];
        if let Some(scratch) = &mut self.scratch {
            let read = scratch.read_at(start, &mut bytes)?;
            bytes.truncate(read);
        }
        Ok(bytes)
    }
}
