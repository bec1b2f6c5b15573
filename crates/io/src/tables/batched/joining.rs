//! Finds the rows that rows belong to, table by table: both sides are sorted by the key.

use bosket_model::Result;

use super::cells::Taking;
use super::texts::Texts;
use crate::apart::{Merged, Sorter};

/// A row that waits for the one above: the key that it names, then the rest.
#[derive(Debug)]
pub(super) struct Waiting<'t> {
    /// The key with its length before it: what is equal is adjacent, whatever follows.
    pub(super) key: &'t [u8],
    pub(super) place: u64,
    /// What messages call the place.
    pub(super) number: u64,
    pub(super) rest: &'t [u8],
}

/// Appends a key, its length first, and where its row stands.
pub(super) fn put(key: &[u8], place: u64, number: u64, rest: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&(key.len() as u64).to_be_bytes());
    out.extend_from_slice(key);
    out.extend_from_slice(&place.to_be_bytes());
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(rest);
}

pub(super) fn take(text: &[u8]) -> Result<Waiting<'_>> {
    let length = Taking(text).long()? as usize;
    let mut taking = Taking(text);
    let key = taking.bytes(8 + length)?;
    let (place, number) = (taking.long()?, taking.long()?);
    Ok(Waiting { key, place, number, rest: taking.0 })
}

/// The row that a key names: its place, and the person it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Above {
    pub(super) place: u64,
    pub(super) person: u64,
}

/// The keys of a table in order, each with its row.
#[derive(Debug)]
pub(super) struct Index {
    texts: Texts,
    /// The key that was read last.
    current: Vec<u8>,
    above: Option<Above>,
}

impl Index {
    pub(super) fn create() -> Result<Self> {
        Ok(Index { texts: Texts::create()?, current: Vec::new(), above: None })
    }

    /// Adds the next key, larger than all before.
    pub(super) fn push(&mut self, key: &[u8], above: Above) -> Result<()> {
        let mut text = key.to_vec();
        text.extend_from_slice(&above.place.to_be_bytes());
        text.extend_from_slice(&above.person.to_be_bytes());
        self.texts.push(&text)
    }

    /// Begins at the first key.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.texts.rewind()?;
        self.advance()
    }

    fn advance(&mut self) -> Result<()> {
        self.above = match self.texts.next()? {
            None => None,
            Some(text) => {
                let (key, rest) = text.split_at(text.len().saturating_sub(16));
                self.current.clear();
                self.current.extend_from_slice(key);
                let mut rest = Taking(rest);
                Some(Above { place: rest.long()?, person: rest.long()? })
            }
        };
        Ok(())
    }

    /// The row of a key, if there is one; keys are asked for in their order.
    pub(super) fn find(&mut self, key: &[u8]) -> Result<Option<Above>> {
        while self.above.is_some() && self.current.as_slice() < key {
            self.advance()?;
        }
        Ok(self.above.filter(|_| self.current == key))
    }
}

/// The own keys of a table's rows: sorted, each kept once.
pub(super) fn index(
    mut keys: Merged,
    wanted: bool,
    duplicate: &mut dyn FnMut(u64, u64) -> Result<()>,
) -> Result<Option<Index>> {
    let mut index = wanted.then(Index::create).transpose()?;
    let mut last: Option<Vec<u8>> = None;
    while let Some(text) = keys.next()? {
        let row = take(text)?;
        if last.as_deref() == Some(row.key) {
            duplicate(row.place, row.number)?;
            continue;
        }
        if let Some(index) = &mut index {
            let person = Taking(row.rest).long()?;
            index.push(row.key, Above { place: row.place, person })?;
        }
        let last = last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(row.key);
    }
    Ok(index)
}

/// Rows in trouble, told in the order in which they stand in their table.
pub(super) struct Deferred(Sorter);

/// What is wrong with a row that is known only when it is joined. Of a row whose key is another's nothing else is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Duplicate,
    TwoPlaces,
    /// Nothing says to whom it belongs.
    Nobodys,
    /// No row of a table has the key that it names.
    Orphan(usize),
}

impl Deferred {
    pub(super) fn new(limit: usize) -> Self {
        Deferred(Sorter::within(limit))
    }

    pub(super) fn push(&mut self, place: u64, number: u64, wrong: Wrong) -> Result<()> {
        let (kind, table) = match wrong {
            Wrong::Duplicate => (0, 0),
            Wrong::TwoPlaces => (1, 0),
            Wrong::Nobodys => (2, 0),
            Wrong::Orphan(table) => (3, table as u64),
        };
        let mut text = place.to_be_bytes().to_vec();
        text.push(kind);
        text.extend_from_slice(&number.to_be_bytes());
        text.extend_from_slice(&table.to_be_bytes());
        self.0.push(&text)
    }

    pub(super) fn tell(self, tell: &mut dyn FnMut(u64, Wrong)) -> Result<()> {
        let mut sorted = self.0.finish()?;
        let mut last = None;
        while let Some(text) = sorted.next()? {
            let mut taking = Taking(text);
            let (place, kind) = (taking.long()?, taking.byte()?);
            let (number, table) = (taking.long()?, taking.long()? as usize);
            let wrong = match kind {
                0 => Wrong::Duplicate,
                1 => Wrong::TwoPlaces,
                2 => Wrong::Nobodys,
                _ => Wrong::Orphan(table),
            };
            if last.replace(place) != Some(place) {
                tell(number, wrong);
            }
        }
        Ok(())
    }
}
