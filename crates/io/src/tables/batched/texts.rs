//! Texts one after the other in a private file, read from the first to the last, as often as needed.

use bosket_model::Result;

use crate::apart::Scratch;

/// Bytes that are read at once.
const READ: usize = 1 << 16;

/// The texts: all are added before the first is read.
#[derive(Debug)]
pub(super) struct Texts {
    scratch: Scratch,
    at: u64,
    chunk: Vec<u8>,
    used: usize,
}

impl Texts {
    pub(super) fn create() -> Result<Self> {
        Ok(Texts { scratch: Scratch::create()?, at: 0, chunk: Vec::new(), used: 0 })
    }

    pub(super) fn push(&mut self, text: &[u8]) -> Result<()> {
        self.scratch.write(&(text.len() as u64).to_le_bytes())?;
        self.scratch.write(text)
    }

    /// Completes what was added; the next text is the first.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.scratch.flush()?;
        self.at = 0;
        self.chunk.clear();
        self.used = 0;
        Ok(())
    }

    /// The next text.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>> {
        if !self.need(8)? {
            return Ok(None);
        }
        let mut length = [0; 8];
        length.copy_from_slice(&self.chunk[self.used..self.used + 8]);
        self.used += 8;
        let length = u64::from_le_bytes(length) as usize;
        if !self.need(length)? {
            return Ok(None);
        }
        self.used += length;
        Ok(Some(&self.chunk[self.used - length..self.used]))
    }

    fn need(&mut self, bytes: usize) -> Result<bool> {
        if self.chunk.len() - self.used >= bytes {
            return Ok(true);
        }
        self.chunk.drain(..self.used);
        self.used = 0;
        let had = self.chunk.len();
        let left = usize::try_from(self.scratch.len() - self.at).unwrap_or(usize::MAX);
        let wanted = (bytes.max(READ) - had).min(left);
        self.chunk.resize(had + wanted, 0);
        let read = self.scratch.read_at(self.at, &mut self.chunk[had..])?;
        self.chunk.truncate(had + read);
        self.at += read as u64;
        Ok(self.chunk.len() >= bytes)
    }
}
