//! Records that are sets of items, in few bytes.

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader, Writer};
use bosket_model::value_tree::ValueTrees;

const WHAT: [u8; 4] = *b"BkSe";
const VERSION: u8 = 1;

/// Sets of items, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sets {
    first: Vec<u32>,
    items: Vec<u32>,
}

impl Default for Sets {
    fn default() -> Self {
        Sets { first: vec![0], items: Vec::new() }
    }
}

impl Sets {
    /// Sets whose items stand one after the other; each begins where `first` says.
    pub(super) fn new(first: Vec<u32>, items: Vec<u32>) -> Self {
        Sets { first, items }
    }

    /// The items of trees, without what is above what.
    pub fn of_trees(trees: &ValueTrees, observer: &dyn Observer) -> Result<Self> {
        let mut sets = Sets::default();
        for record in 0..trees.len() {
            observer.go_on()?;
            let first = sets.items.len();
            sets.items.extend(trees.nodes(record).map(|node| trees.item(node)));
            sets.items[first..].sort_unstable();
            sets.first.push(sets.items.len() as u32);
        }
        Ok(sets)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items they have together.
    pub fn item_count(&self) -> usize {
        self.items.len()
    }

    /// Adds one of ascending items.
    pub fn push(&mut self, items: &[u32]) {
        self.items.extend_from_slice(items);
        self.first.push(self.items.len() as u32);
    }

    /// The items of one.
    pub fn of(&self, record: usize) -> &[u32] {
        &self.items[self.first[record] as usize..self.first[record + 1] as usize]
    }

    /// The sets as bytes: of each item how far it is from the one before.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.length(self.len());
        for record in 0..self.len() {
            let own = self.of(record);
            out.length(own.len());
            let mut last = 0;
            for &item in own {
                out.number(u64::from(item - last));
                last = item;
            }
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let mut sets = Sets::default();
        for _ in 0..from.length()? {
            let mut last = 0u32;
            for _ in 0..from.length()? {
                last = last.wrapping_add(from.small()?);
                sets.items.push(last);
            }
            sets.first.push(sets.items.len() as u32);
        }
        from.end()?;
        Ok(sets)
    }
}
