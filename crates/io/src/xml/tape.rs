//! The records as they were read, before it is known which elements repeat.
//!
//! One entry per attribute, per element with text only, and two per other element; nothing is looked up again when they
//! are turned into the dataset. The tape is kept in pieces, each freed when it is done with.

/// How many entries a piece has.
const PIECE: usize = 1 << 15;

/// What an element without elements in it holds, instead of a text's code.
pub(super) const EMPTY: u32 = u32::MAX;
/// An element without text, because it says so or since it has elements.
pub(super) const NOTHING: u32 = u32::MAX - 1;

/// Set in the node of an element that has more than text.
const OPEN: u32 = 1 << 31;
/// The end of the innermost open element.
const CLOSE: u32 = u32::MAX;

/// One step through a record. A code is [`EMPTY`], [`NOTHING`] or of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// An element starts.
    Open(u32),
    /// It ends, and has this text.
    Close(u32),
    /// An attribute, or an element with nothing but this text.
    Leaf(u32, u32),
}

/// Steps, one after the other.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pieces: Vec<Vec<(u32, u32)>>,
}

impl Tape {
    pub(super) fn len(&self) -> usize {
        self.pieces.last().map_or(0, |last| (self.pieces.len() - 1) * PIECE + last.len())
    }

    pub(super) fn push(&mut self, step: Step) {
        let entry = match step {
            Step::Open(node) => (node | OPEN, 0),
            Step::Close(code) => (CLOSE, code),
            Step::Leaf(node, code) => (node, code),
        };
        match self.pieces.last_mut() {
            Some(last) if last.len() < PIECE => last.push(entry),
            first => {
                let mut piece = if first.is_some() { Vec::with_capacity(PIECE) } else { Vec::new() };
                piece.push(entry);
                self.pieces.push(piece);
            }
        }
    }

    /// Makes the element that was just opened one with nothing but text.
    pub(super) fn make_leaf(&mut self, code: u32) {
        if let Some(entry) = self.pieces.last_mut().and_then(|p| p.last_mut()) {
            *entry = (entry.0 & !OPEN, code);
        }
    }

    /// All steps, freeing what was handed out.
    pub(super) fn play(self) -> impl Iterator<Item = Step> {
        self.pieces.into_iter().flatten().map(|(node, code)| match node {
            CLOSE => Step::Close(code),
            node if node & OPEN != 0 => Step::Open(node & !OPEN),
            node => Step::Leaf(node, code),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_back_over_many_pieces() {
        let mut tape = Tape::default();
        let mut steps = Vec::new();
        for i in 0..(PIECE as u32 * 2 + 5) {
            let step = match i % 4 {
                0 => Step::Open(i),
                1 => Step::Leaf(i, NOTHING),
                2 => Step::Leaf(i, 7),
                _ => Step::Close(EMPTY),
            };
            assert_eq!(tape.len(), i as usize);
            tape.push(step);
            steps.push(step);
        }
        tape.push(Step::Open(9));
        tape.make_leaf(4);
        steps.push(Step::Leaf(9, 4));
        assert_eq!(tape.play().collect::<Vec<_>>(), steps);
    }
}
