//! Sorts texts that need not fit into memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bosket_model::Result;

use super::scratch::Scratch;

/// Bytes of texts that are sorted in memory.
const IN_MEMORY: usize = 24 << 20;
/// Bytes that are read at once while runs are merged.
const READ: usize = 1 << 17;

/// Takes texts in any order.
pub(crate) struct Sorter {
    buffer: Vec<u8>,
    /// First bytes, start and length of each text: most comparisons need not look at the text.
    spans: Vec<(u64, usize, usize)>,
    runs: Vec<(u64, u64)>,
    scratch: Option<Scratch>,
    limit: usize,
}

fn head(text: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = text.len().min(8);
    first[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(first)
}

impl Sorter {
    pub(crate) fn new() -> Self {
        Self::within(IN_MEMORY)
    }

    pub(crate) fn within(limit: usize) -> Self {
        Sorter { buffer: Vec::new(), spans: Vec::new(), runs: Vec::new(), scratch: None, limit }
    }

    pub(crate) fn push(&mut self, text: &[u8]) -> Result<()> {
        let span = size_of::<(u64, usize, usize)>();
        if !self.spans.is_empty() && self.buffer.len() + text.len() + span * self.spans.len() > self.limit {
            self.spill()?;
        }
        // What all texts have in common says nothing.
        self.spans.push((head(text), self.buffer.len(), text.len()));
        self.buffer.extend_from_slice(text);
        Ok(())
    }

    fn sort(&mut self) {
        let text = |s: &(u64, usize, usize)| &self.buffer[s.1..s.1 + s.2];
        self.spans.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| text(a).cmp(text(b))));
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let scratch = match &mut self.scratch {
            Some(scratch) => scratch,
            none => none.insert(Scratch::create()?),
        };
        let start = scratch.len();
        for &(_, at, length) in &self.spans {
            scratch.write(&(length as u64).to_le_bytes())?;
            scratch.write(&self.buffer[at..at + length])?;
        }
        self.runs.push((start, scratch.len()));
        self.buffer.clear();
        self.spans.clear();
        Ok(())
    }

    /// All texts in order.
    pub(crate) fn finish(mut self) -> Result<Merged> {
        if self.runs.is_empty() {
            self.sort();
            return Ok(Merged {
                buffer: self.buffer,
                spans: self.spans.into_iter(),
                runs: Vec::new(),
                heap: BinaryHeap::new(),
                scratch: None,
                last: None,
            });
        }
        self.spill()?;
        let Sorter { scratch, runs, .. } = self;
        let mut merged = Merged {
            buffer: Vec::new(),
            spans: Vec::new().into_iter(),
            runs: runs.into_iter().map(|(at, end)| Run { at, end, chunk: Vec::new(), used: 0 }).collect(),
            heap: BinaryHeap::new(),
            scratch,
            last: None,
        };
        if let Some(scratch) = &mut merged.scratch {
            scratch.flush()?;
        }
        for run in 0..merged.runs.len() {
            merged.advance(run, Vec::new())?;
        }
        Ok(merged)
    }
}

/// A sorted part in the file.
struct Run {
    at: u64,
    end: u64,
    chunk: Vec<u8>,
    used: usize,
}

impl Run {
    /// Makes so many bytes available; false at the end of the run.
    fn need(&mut self, bytes: usize, scratch: &mut Scratch) -> Result<bool> {
        if self.chunk.len() - self.used >= bytes {
            return Ok(true);
        }
        self.chunk.drain(..self.used);
        self.used = 0;
        let had = self.chunk.len();
        let wanted = (bytes.max(READ) - had).min((self.end - self.at) as usize);
        self.chunk.resize(had + wanted, 0);
        let read = scratch.read_at(self.at, &mut self.chunk[had..])?;
        self.chunk.truncate(had + read);
        self.at += read as u64;
        Ok(self.chunk.len() >= bytes)
    }
}

/// Hands out texts in order.
pub(crate) struct Merged {
    buffer: Vec<u8>,
    spans: std::vec::IntoIter<(u64, usize, usize)>,
    runs: Vec<Run>,
    heap: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    scratch: Option<Scratch>,
    /// What was handed out last, and from which run.
    last: Option<(Vec<u8>, usize)>,
}

impl Merged {
    /// Puts the next text of a run into the heap, in a buffer that is free.
    fn advance(&mut self, run: usize, mut text: Vec<u8>) -> Result<()> {
        let Some(scratch) = &mut self.scratch else {
            return Ok(());
        };
        let from = &mut self.runs[run];
        if !from.need(8, scratch)? {
            return Ok(());
        }
        let mut length = [0; 8];
        length.copy_from_slice(&from.chunk[from.used..from.used + 8]);
        from.used += 8;
        let length = u64::from_le_bytes(length) as usize;
        if from.need(length, scratch)? {
            text.clear();
            text.extend_from_slice(&from.chunk[from.used..from.used + length]);
            from.used += length;
            self.heap.push(Reverse((text, run)));
        }
        Ok(())
    }

    /// The next text.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>> {
        if let Some((_, start, length)) = self.spans.next() {
            return Ok(Some(&self.buffer[start..start + length]));
        }
        if let Some((text, run)) = self.last.take() {
            self.advance(run, text)?;
        }
        self.last = self.heap.pop().map(|Reverse(found)| found);
        Ok(self.last.as_ref().map(|(text, _)| text.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_come_in_order(mut texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..200)) {
            for limit in [1, 300, 1 << 20] {
                let mut sorter = Sorter::within(limit);
                for text in &texts {
                    sorter.push(text).expect("room");
                }
                let mut merged = sorter.finish().expect("room");
                let mut found = Vec::new();
                while let Some(text) = merged.next().expect("readable") {
                    found.push(text.to_vec());
                }
                texts.sort();
                prop_assert_eq!(&found, &texts);
            }
        }
    }
}
