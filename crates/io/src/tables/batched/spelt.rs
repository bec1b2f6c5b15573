//! Records as bytes whose order is that of what is published, whatever other records there are.
//!
//! A vertex is the number of its table from 1 in two bytes, its values, what is below it, and two zeros. A value is 1, its
//! text, an end, and its kind; one that is missing is 0. In texts a zero is followed by 255, and 0 1 is the end.

use bosket_model::{Dataset, Kind, MISSING, Result};

use super::cells::{Taking, damaged, kind_byte, kind_of};
use crate::tables::disassemble::{END, Spelling};
use crate::tables::emit::Content;
use crate::tables::published::Table;

/// Spells the vertices of a dataset.
pub(super) struct Spelt<'a> {
    data: &'a Dataset,
    /// The table of each class.
    classes: &'a [usize],
    /// Per class and value of its table the place among the class's attributes.
    values: Vec<Vec<Option<usize>>>,
}

impl<'a> Spelt<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        classes: &'a [usize],
        slots: &[Vec<Option<usize>>],
        tables: &[Table],
    ) -> Self {
        let places = |(slots, node): (&Vec<Option<usize>>, &usize)| {
            let place = |value: usize| slots.iter().position(|slot| *slot == Some(value));
            (0..tables[*node].values.len()).map(place).collect()
        };
        Spelt { data, classes, values: slots.iter().zip(classes).map(places).collect() }
    }
}

impl Spelling for Spelt<'_> {
    type Unit = u8;

    fn vertex(&self, vertex: usize, out: &mut Vec<u8>) {
        let class = self.data.class(vertex);
        // There are fewer tables: whoever begins has seen to it.
        out.extend_from_slice(&(self.classes[class.index()] as u16 + 1).to_be_bytes());
        let attributes = &self.data.schema().class(class).attributes;
        let codes = self.data.values(vertex);
        for place in &self.values[class.index()] {
            let known = place.map(|place| (attributes[place], codes[place])).filter(|(_, c)| *c != MISSING);
            let Some((attribute, code)) = known else {
                out.push(0);
                continue;
            };
            let dictionary = self.data.dictionary(attribute);
            out.push(1);
            for &byte in dictionary.text(code).as_bytes() {
                out.push(byte);
                if byte == 0 {
                    out.push(255);
                }
            }
            out.extend_from_slice(&[0, 1, kind_byte(dictionary.kind(code))]);
        }
    }

    fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 0]);
    }
}

/// A record that was spelt: words in which a rank is a place among its own values.
#[derive(Debug, Default)]
pub(super) struct Read {
    words: Vec<u32>,
    text: String,
    /// Where each value ends, and its kind.
    values: Vec<(usize, Kind)>,
}

impl Read {
    /// Takes the place of the record before.
    pub(super) fn read(&mut self, spelt: &[u8], tables: &[Table]) -> Result<()> {
        self.words.clear();
        self.text.clear();
        self.values.clear();
        let mut taking = Taking(spelt);
        let mut open = 0usize;
        loop {
            let table = taking.short()?;
            self.words.push(u32::from(table));
            if u32::from(table) == END {
                open = open.checked_sub(1).ok_or_else(damaged)?;
                if open == 0 {
                    return Ok(());
                }
                continue;
            }
            open += 1;
            let width = tables.get(usize::from(table) - 1).ok_or_else(damaged)?.values.len();
            for _ in 0..width {
                let rank = if taking.byte()? == 0 { 0 } else { self.value(&mut taking)? };
                self.words.push(rank);
            }
        }
    }

    fn value(&mut self, taking: &mut Taking<'_>) -> Result<u32> {
        loop {
            let until = memchr::memchr(0, taking.0).ok_or_else(damaged)?;
            let part = taking.bytes(until)?;
            self.text.push_str(std::str::from_utf8(part).map_err(|_| damaged())?);
            match taking.short()? {
                1 => break,
                _ => self.text.push('\0'),
            }
        }
        self.values.push((self.text.len(), kind_of(taking.byte()?)?));
        Ok(self.values.len() as u32)
    }
}

impl Content for Read {
    fn words(&self) -> &[u32] {
        &self.words
    }

    fn value(&self, _: usize, _: usize, rank: u32) -> (&str, Kind) {
        let at = rank as usize - 1;
        let start = at.checked_sub(1).map_or(0, |before| self.values[before].0);
        (&self.text[start..self.values[at].0], self.values[at].1)
    }
}
