//! Rows as bytes while they wait.

use bosket_model::{Failure, Kind, Result};

use crate::tables::backend::Row;

/// What was written is not what is read.
pub(super) fn damaged() -> Failure {
    Failure::defect("a private file of rows was read wrongly")
}

pub(super) fn put_length(mut length: usize, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// Adds some cells of a row.
pub(super) fn put_cells(row: &Row, cells: impl Iterator<Item = usize>, out: &mut Vec<u8>) {
    for cell in cells {
        match row.cell(cell) {
            None => out.push(0),
            Some((kind, text)) => {
                out.push(kind_byte(kind));
                put_text(text.as_bytes(), out);
            }
        }
    }
}

pub(super) fn put_text(text: &[u8], out: &mut Vec<u8>) {
    put_length(text.len(), out);
    out.extend_from_slice(text);
}

/// Kinds in their order, from 1.
pub(super) fn kind_byte(kind: Kind) -> u8 {
    match kind {
        Kind::Text => 1,
        Kind::Number => 2,
        Kind::Bool => 3,
    }
}

pub(super) fn kind_of(byte: u8) -> Result<Kind> {
    match byte {
        1 => Ok(Kind::Text),
        2 => Ok(Kind::Number),
        3 => Ok(Kind::Bool),
        _ => Err(damaged()),
    }
}

/// Takes bytes apart again.
pub(super) struct Taking<'b>(pub(super) &'b [u8]);

impl<'b> Taking<'b> {
    pub(super) fn bytes(&mut self, count: usize) -> Result<&'b [u8]> {
        let (taken, left) = self.0.split_at_checked(count).ok_or_else(damaged)?;
        self.0 = left;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        Ok(self.bytes(1)?[0])
    }

    pub(super) fn short(&mut self) -> Result<u16> {
        self.bytes(2)?.try_into().map(u16::from_be_bytes).map_err(|_| damaged())
    }

    pub(super) fn long(&mut self) -> Result<u64> {
        self.bytes(8)?.try_into().map(u64::from_be_bytes).map_err(|_| damaged())
    }

    fn length(&mut self) -> Result<usize> {
        let (mut length, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            length |= usize::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(length);
            }
            shift += 7;
        }
    }

    pub(super) fn text(&mut self) -> Result<&'b [u8]> {
        let length = self.length()?;
        self.bytes(length)
    }

    pub(super) fn cell(&mut self) -> Result<Option<(Kind, &'b str)>> {
        match self.byte()? {
            0 => Ok(None),
            kind => {
                let text = std::str::from_utf8(self.text()?).map_err(|_| damaged())?;
                Ok(Some((kind_of(kind)?, text)))
            }
        }
    }
}
