//! States as bytes: exact, versioned, and refused if they are anything else.

use crate::diag::{Diagnostic, Failure, Fault, Result};

/// Writes a state down.
#[derive(Debug)]
pub struct Writer {
    out: Vec<u8>,
}

impl Writer {
    /// Begins with what it is and by which version it is written.
    pub fn new(what: [u8; 4], version: u8) -> Self {
        let mut out = what.to_vec();
        out.push(version);
        Writer { out }
    }

    /// A number, small ones in few bytes.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.out.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.out.push(number as u8);
    }

    /// How many there are of something.
    pub fn length(&mut self, length: usize) {
        self.number(length as u64);
    }

    /// Bytes with their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.out.extend_from_slice(bytes);
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Numbers with their length.
    pub fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = u64>) {
        self.length(numbers.len());
        numbers.for_each(|number| self.number(number));
    }

    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }
}

/// Reads a state.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

/// Bytes that are no such state.
pub fn damaged() -> Failure {
    let what = "the state of a part is damaged, or was made by another version";
    let help = "let every part be counted by one version, and send its bytes unchanged";
    Failure::new(Fault::Data, Diagnostic::error(what).help(help))
}

impl<'a> Reader<'a> {
    /// Begins; refuses anything but what is expected.
    pub fn new(bytes: &'a [u8], what: [u8; 4], version: u8) -> Result<Self> {
        let (head, rest) = bytes.split_at_checked(5).ok_or_else(damaged)?;
        if head[..4] != what || head[4] != version {
            return Err(damaged());
        }
        Ok(Reader { rest })
    }

    fn byte(&mut self) -> Result<u8> {
        let (&first, rest) = self.rest.split_first().ok_or_else(damaged)?;
        self.rest = rest;
        Ok(first)
    }

    /// A number.
    pub fn number(&mut self) -> Result<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits {
                return Err(damaged());
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged())
    }

    /// A number of 32 bits.
    pub fn small(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| damaged())
    }

    /// How many there are of something that takes at least a byte each: no more than there are bytes.
    pub fn length(&mut self) -> Result<usize> {
        let length = usize::try_from(self.number()?).map_err(|_| damaged())?;
        if length > self.rest.len() { Err(damaged()) } else { Ok(length) }
    }

    /// Bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.length()?;
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(bytes)
    }

    /// A text.
    pub fn text(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| damaged())
    }

    /// Numbers.
    pub fn numbers(&mut self) -> Result<Vec<u64>> {
        let length = self.length()?;
        (0..length).map(|_| self.number()).collect()
    }

    /// Refuses anything that follows.
    pub fn end(self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(damaged()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_anything_else_refused() {
        let mut writer = Writer::new(*b"TEST", 1);
        let numbers = [0, 1, 127, 128, 300, u64::MAX];
        writer.numbers(numbers.into_iter());
        writer.text("größer");
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes, *b"TEST", 1).expect("the same");
        assert_eq!(reader.numbers().expect("numbers"), numbers);
        assert_eq!(reader.text().expect("a text"), "größer");
        reader.end().expect("nothing follows");
        assert!(Reader::new(&bytes, *b"TEST", 2).is_err());
        assert!(Reader::new(&bytes, *b"TESS", 1).is_err());
        for cut in 5..bytes.len() {
            let mut reader = Reader::new(&bytes[..cut], *b"TEST", 1).expect("its head");
            let all = reader.numbers().and_then(|_| reader.text().map(str::to_owned));
            assert!(all.is_err(), "{cut}");
        }
    }
}
