//! Records as sets of items, waiting in private files, the long ones first.
//!
//! A long set has many sets of a few items at once. If they come first, fewer records are chosen for kernels: of two million
//! baskets a third as many for sets of three.

use bosket_engine::partition::Sets;
use bosket_io::Chunks;
use bosket_model::Result;

use crate::chunked::each_bytes;
use crate::run::Run;

/// Sets by how long they are.
#[derive(Debug, Default)]
pub(super) struct SetChunks {
    /// The longest first.
    lengths: [OfLength; CLASSES],
}

/// Sets that are about as long as each other.
#[derive(Debug, Default)]
struct OfLength {
    chunks: Chunks,
    /// Those that are not many enough for a chunk yet.
    waiting: Sets,
}

/// Fewer than 4, 8, 16, 32, 64 items, or more.
const CLASSES: usize = 6;

/// The place of a set among the classes.
fn class(items: usize) -> usize {
    let doublings = (items / 2).checked_ilog2().unwrap_or(0) as usize;
    CLASSES - 1 - doublings.min(CLASSES - 1)
}

impl SetChunks {
    /// Adds some sets.
    pub(super) fn push(&mut self, sets: &Sets, run: &Run<'_>) -> Result<()> {
        let full = (run.settings.memory() / 2048).clamp(1 << 14, 1 << 20);
        for record in 0..sets.len() {
            let set = sets.of(record);
            let own = &mut self.lengths[class(set.len())];
            own.waiting.push(set);
            if own.waiting.item_count() + own.waiting.len() >= full {
                own.flush()?;
            }
        }
        Ok(())
    }

    /// Makes chunks of all that wait.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.lengths.iter_mut().try_for_each(OfLength::flush)
    }

    /// Goes through all sets: some chunks at a time are prepared side by side, then taken one after the other, with a number each.
    pub(super) fn each<T: Send>(
        &mut self,
        stage: &str,
        run: &Run<'_>,
        prepare: impl Fn(Sets) -> Result<T> + Sync,
        mut take: impl FnMut(u32, T) -> Result<()>,
    ) -> Result<()> {
        let chunks = self.lengths.iter().map(|own| own.chunks.len() as u64).sum();
        run.observer.stage(stage, chunks);
        let mut before = 0;
        for OfLength { chunks, .. } in &mut self.lengths {
            let prepare = |bytes: &[u8]| prepare(Sets::from_bytes(bytes)?);
            each_bytes(chunks, run, prepare, |chunk, prepared| take(before + chunk, prepared))?;
            before += chunks.len() as u32;
        }
        Ok(())
    }
}

impl OfLength {
    fn flush(&mut self) -> Result<()> {
        let sets = std::mem::take(&mut self.waiting);
        if sets.is_empty() { Ok(()) } else { self.chunks.push_bytes(&sets.to_bytes(), sets.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_are_in_the_first_class() {
        let classes = [0, 1, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 164].map(class);
        assert_eq!(classes, [5, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0]);
    }
}
