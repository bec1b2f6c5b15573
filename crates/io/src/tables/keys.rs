//! Which row has which key.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::backend::Row;

/// The keys of a table's rows. All keys lie in one buffer: ten million of them are three allocations.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
    ends: Vec<u64>,
    /// Hash and place among the keys.
    table: HashTable<(u32, u32)>,
    scratch: Vec<u8>,
}

fn hash(bytes: &[u8]) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

/// The bits of the table's own hash, from the 32 that are kept.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The key that a row has in some cells. None if a cell is missing.
pub(super) fn pack(row: &Row, cells: &[usize], out: &mut Vec<u8>) -> Option<()> {
    out.clear();
    for &i in cells {
        let (_, text) = row.cell(i)?;
        // A single column needs no lengths; several must not run into each other.
        if cells.len() > 1 {
            out.extend_from_slice(&(text.len() as u64).to_le_bytes());
        }
        out.extend_from_slice(text.as_bytes());
    }
    Some(())
}

/// Why a row has no parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// A cell is missing.
    Missing,
    /// No row has this key.
    Unknown,
}

impl Keys {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds the key of the next row; false if a row has it already. None if a cell is missing.
    pub(crate) fn insert(&mut self, row: &Row, cells: &[usize]) -> Option<bool> {
        let known = self.len() as u32;
        Some(self.find_or_insert(row, cells)? == known)
    }

    /// The place of a key among those known, new ones last. None if a cell is missing.
    pub(crate) fn find_or_insert(&mut self, row: &Row, cells: &[usize]) -> Option<u32> {
        let mut key = std::mem::take(&mut self.scratch);
        let packed = pack(row, cells, &mut key);
        let place = packed.map(|()| {
            let hash = hash(&key);
            self.find(hash, &key).unwrap_or_else(|| {
                let place = self.ends.len() as u32;
                self.bytes.extend_from_slice(&key);
                self.ends.push(self.bytes.len() as u64);
                self.table.insert_unique(spread(hash), (hash, place), |&(h, _)| spread(h));
                place
            })
        });
        self.scratch = key;
        place
    }

    /// The row that the cells refer to.
    pub(crate) fn get(&mut self, row: &Row, cells: &[usize]) -> Result<u32, Lost> {
        let mut key = std::mem::take(&mut self.scratch);
        let packed = pack(row, cells, &mut key);
        let found = match packed {
            None => Err(Lost::Missing),
            Some(()) => self.find(hash(&key), &key).ok_or(Lost::Unknown),
        };
        self.scratch = key;
        found
    }

    fn find(&self, hash: u32, key: &[u8]) -> Option<u32> {
        let bytes = |place: u32| {
            let place = place as usize;
            let start = if place == 0 { 0 } else { self.ends[place - 1] as usize };
            &self.bytes[start..self.ends[place] as usize]
        };
        self.table.find(spread(hash), |&(h, place)| h == hash && bytes(place) == key).map(|&(_, place)| place)
    }
}
