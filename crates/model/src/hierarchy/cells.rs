//! Splitting delimited text into cells that know where they stand, and collecting what is wrong with them.

use std::borrow::Cow;
use std::ops::Range;

use crate::diag::{Diagnostic, Place};

/// One cell of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell<'a> {
    pub(super) text: Cow<'a, str>,
    /// Its bytes in the whole text, quotes included.
    pub(super) span: Range<usize>,
    pub(super) quoted: bool,
    /// What is wrong with its quotes.
    pub(super) fault: Option<&'static str>,
}

impl Cell<'_> {
    fn is_nothing(&self) -> bool {
        self.text.is_empty() && !self.quoted
    }
}

/// A line that is not blank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: u64,
    /// Whether the separator occurs.
    pub(super) separated: bool,
}

/// Reads a text line by line.
pub(super) struct Lines<'a> {
    text: &'a str,
    separator: u8,
    at: usize,
    number: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str, separator: u8) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Lines { text, separator, at, number: 1 }
    }

    /// Reads the next line that is not blank into `cells`, without empty cells at its end.
    pub(super) fn next(&mut self, cells: &mut Vec<Cell<'a>>) -> Option<Line> {
        while self.at < self.text.len() {
            cells.clear();
            let number = self.number;
            while self.cell(cells) {}
            let line = Line { number, separated: cells.len() > 1 };
            while cells.last().is_some_and(Cell::is_nothing) {
                cells.pop();
            }
            let blank = match cells.as_slice() {
                [] => true,
                [only] => !line.separated && !only.quoted && only.text.trim().is_empty(),
                _ => false,
            };
            if !blank {
                return Some(line);
            }
        }
        None
    }

    /// Reads one cell; false when it was the last of its line.
    fn cell(&mut self, cells: &mut Vec<Cell<'a>>) -> bool {
        let start = self.at;
        let quoted = self.text[start..].starts_with('"');
        let (mut text, mut fault) = (Cow::Borrowed(""), None);
        if quoted {
            match self.quoted() {
                Some(inside) => text = inside,
                None => fault = Some("this quote is never closed"),
            }
        }
        let rest = &self.text[self.at..];
        let length = rest.bytes().position(|b| b == self.separator || b == b'\n').unwrap_or(rest.len());
        let more = rest.as_bytes().get(length) == Some(&self.separator);
        let tail = if more { &rest[..length] } else { rest[..length].trim_end_matches('\r') };
        if !quoted {
            text = Cow::Borrowed(tail);
        } else if !tail.is_empty() && fault.is_none() {
            fault = Some("text follows the closing quote");
        }
        cells.push(Cell { text, span: start..self.at + tail.len(), quoted, fault });
        self.at = (self.at + length + 1).min(self.text.len());
        if !more {
            self.number += 1;
        }
        more
    }

    /// Reads a quoted cell up to its closing quote. Without one nothing but the opening quote is read, so that one
    /// slip does not swallow the rest of the file.
    fn quoted(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at + 1;
        let mut from = start;
        let mut inside: Cow<'a, str> = Cow::Borrowed("");
        loop {
            let Some(length) = self.text[from..].find('"') else {
                self.at = start;
                return None;
            };
            let quote = from + length;
            let piece = &self.text[from..quote];
            if self.text[quote + 1..].starts_with('"') {
                inside.to_mut().push_str(piece);
                inside.to_mut().push('"');
                from = quote + 2;
            } else {
                if inside.is_empty() {
                    inside = Cow::Borrowed(piece);
                } else {
                    inside.to_mut().push_str(piece);
                }
                self.number += self.text[start..quote].matches('\n').count() as u64;
                self.at = quote + 1;
                return Some(inside);
            }
        }
    }
}

/// The separator of a text: `;` if it is on every line, else a tab if that is, else a comma.
pub(super) fn separator(text: &str) -> u8 {
    let on_every_line = |&separator: &u8| {
        let mut lines = Lines::new(text, separator);
        let mut cells = Vec::new();
        std::iter::from_fn(|| lines.next(&mut cells)).all(|line| line.separated)
    };
    [b';', b'\t'].into_iter().find(on_every_line).unwrap_or(b',')
}

/// What is wrong with a text. Only the first problems are described; a file of another kind has one on every line.
pub(super) struct Problems<'a> {
    name: &'a str,
    text: &'a str,
    found: Vec<Diagnostic>,
    more: usize,
}

const DESCRIBED: usize = 50;

impl<'a> Problems<'a> {
    pub(super) fn new(name: &'a str, text: &'a str) -> Self {
        Problems { name, text, found: Vec::new(), more: 0 }
    }

    pub(super) fn add(&mut self, span: Range<usize>, message: impl FnOnce() -> String, help: &str) {
        if self.found.len() < DESCRIBED {
            let place = Place::in_text(self.name, self.text, span);
            self.found.push(Diagnostic::error(message()).at(place).help(help));
        } else {
            self.more += 1;
        }
    }

    pub(super) fn result(mut self) -> Result<(), Vec<Diagnostic>> {
        if self.more > 0 {
            let message = format!("and {} more problems", self.more);
            self.found.push(Diagnostic::error(message).at(Place::source(self.name)));
        }
        if self.found.is_empty() { Ok(()) } else { Err(self.found) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, separator: u8) -> Vec<(u64, Vec<String>)> {
        let mut lines = Lines::new(text, separator);
        let mut cells = Vec::new();
        let mut all = Vec::new();
        while let Some(line) = lines.next(&mut cells) {
            all.push((line.number, cells.iter().map(|c| c.text.to_string()).collect()));
        }
        all
    }

    fn owned(lines: &[(u64, &[&str])]) -> Vec<(u64, Vec<String>)> {
        lines.iter().map(|(n, cells)| (*n, cells.iter().map(ToString::to_string).collect())).collect()
    }

    #[test]
    fn bom_crlf_blank_lines_and_empty_ends() {
        let text = "\u{feff}a;b;*\r\n\r\n;;\r\n   \r\nc;;*;;\r\nd";
        let expected: &[(u64, &[&str])] = &[(1, &["a", "b", "*"]), (5, &["c", "", "*"]), (6, &["d"])];
        assert_eq!(lines(text, b';'), owned(expected));
    }

    #[test]
    fn quotes() {
        let text = "\"a;b\";\"say \"\"hi\"\"\";\"\"\n\"two\nlines\";x\n5\" pipe;y\n";
        let expected: &[(u64, &[&str])] =
            &[(1, &["a;b", "say \"hi\"", ""]), (2, &["two\nlines", "x"]), (4, &["5\" pipe", "y"])];
        assert_eq!(lines(text, b';'), owned(expected));
    }

    #[test]
    fn an_open_quote_does_not_swallow_the_file() {
        let text = "\"a;b\nc;d\n";
        let mut lines = Lines::new(text, b';');
        let mut cells = Vec::new();
        assert_eq!(lines.next(&mut cells).map(|l| l.number), Some(1));
        assert!(cells[0].fault.is_some());
        assert_eq!(&text[cells[0].span.clone()], "\"a");
        assert_eq!(lines.next(&mut cells).map(|l| l.number), Some(2));
        assert!(cells.iter().all(|c| c.fault.is_none()));
    }

    #[test]
    fn separators() {
        assert_eq!(separator("a;b,c\n\nd;e\n"), b';');
        assert_eq!(separator("a\tb;c\nd\te\n"), b'\t');
        assert_eq!(separator("a;b\nc\td\n"), b',');
        assert_eq!(separator("\"a;b\",c\n\"d;e\",f\n"), b',');
    }
}
