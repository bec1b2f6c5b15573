//! The rows of a CSV file, with the line each starts in.

use bosket_model::Result;

use crate::input::Input;

/// Why a row cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// The file ends inside a quoted cell.
    Open,
    /// Something follows a closing quote.
    AfterQuote,
    /// A carriage return that ends no line, outside quotes.
    CarriageReturn,
}

impl Mistake {
    /// What is wrong, and what to do.
    pub(crate) fn describe(self) -> (&'static str, &'static str) {
        match self {
            Mistake::Open => ("a quoted cell is not closed", "add the closing quote"),
            Mistake::AfterQuote => ("text after a closing quote", "write a quote inside a quoted cell twice"),
            Mistake::CarriageReturn => {
                ("a carriage return outside quotes", "convert the line ends, or quote the cell")
            }
        }
    }
}

/// Reads row after row. Quotes count only where a cell starts with one; blank lines are skipped.
pub(crate) struct Rows<'i> {
    input: &'i mut Input,
    separator: u8,
    /// The physical line that is looked at, with its end.
    line: Vec<u8>,
    lines: u64,
    /// The cells of the row without quotes, one after the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl<'i> Rows<'i> {
    pub(crate) fn new(input: &'i mut Input, separator: u8) -> Self {
        Rows::after(input, separator, 0)
    }

    /// Goes on after so many lines.
    pub(crate) fn after(input: &'i mut Input, separator: u8, lines: u64) -> Self {
        Rows { input, separator, line: Vec::new(), lines, text: Vec::new(), ends: Vec::new() }
    }

    /// How many lines have been read.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Goes to the next row; gives the line it starts in and what is wrong with it, or nothing at the end.
    pub(crate) fn advance(&mut self) -> Result<Option<(u64, Result<(), Mistake>)>> {
        loop {
            if !self.next_line()? {
                return Ok(None);
            }
            if self.content_end() > 0 {
                break;
            }
        }
        let start = self.lines;
        Ok(Some((start, self.row()?)))
    }

    /// The cells of the row.
    pub(crate) fn cells(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.ends.len()).map(|i| self.cell(i))
    }

    /// One cell of the row.
    pub(crate) fn cell(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.text[start..self.ends[i]]
    }

    fn next_line(&mut self) -> Result<bool> {
        self.lines += 1;
        self.input.read_raw_line(&mut self.line)
    }

    /// Where the line ends, without `\n` or `\r\n`.
    fn content_end(&self) -> usize {
        let line =
            self.line.strip_suffix(b"\n").map_or(&self.line[..], |l| l.strip_suffix(b"\r").unwrap_or(l));
        line.len()
    }

    fn row(&mut self) -> Result<Result<(), Mistake>> {
        self.text.clear();
        self.ends.clear();
        let mut at = 0;
        loop {
            if self.line.get(at) == Some(&b'"') {
                match self.quoted(at + 1)? {
                    Some(after) => at = after,
                    None => return Ok(Err(Mistake::Open)),
                }
            } else {
                let rest = &self.line[at..self.content_end()];
                let cell = &rest[..memchr::memchr(self.separator, rest).unwrap_or(rest.len())];
                if memchr::memchr(b'\r', cell).is_some() {
                    return Ok(Err(Mistake::CarriageReturn));
                }
                self.text.extend_from_slice(cell);
                at += cell.len();
            }
            self.ends.push(self.text.len());
            if at == self.content_end() {
                return Ok(Ok(()));
            }
            if self.line[at] != self.separator {
                return Ok(Err(Mistake::AfterQuote));
            }
            at += 1;
        }
    }

    /// Takes a cell after its opening quote; gives the place after the closing one, if there is one.
    fn quoted(&mut self, mut at: usize) -> Result<Option<usize>> {
        loop {
            let rest = &self.line[at..];
            match memchr::memchr(b'"', rest) {
                None => {
                    self.text.extend_from_slice(rest);
                    self.input.refuse_longer(self.text.len())?;
                    if !self.next_line()? {
                        return Ok(None);
                    }
                    at = 0;
                }
                Some(i) => {
                    self.text.extend_from_slice(&rest[..i]);
                    at += i + 1;
                    if self.line.get(at) != Some(&b'"') {
                        return Ok(Some(at));
                    }
                    self.text.push(b'"');
                    at += 1;
                }
            }
        }
    }
}
