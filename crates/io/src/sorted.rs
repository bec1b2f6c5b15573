//! Texts of records, ordered by their bytes.

/// All texts in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    buffer: Vec<u8>,
    spans: Vec<(usize, usize)>,
}

impl Sorted {
    /// Adds the text that `write` appends.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.buffer.len();
        write(&mut self.buffer);
        self.spans.push((start, self.buffer.len()));
    }

    pub(crate) fn sort(&mut self) {
        let buffer = &self.buffer;
        self.spans.sort_unstable_by(|a, b| buffer[a.0..a.1].cmp(&buffer[b.0..b.1]));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|&(start, end)| &self.buffer[start..end])
    }
}
