//! A JSON document that need not fit into memory: what is read next, with its place in the document.

use bosket_model::{Place, Result};

use crate::input::Input;
use crate::json::error::{Error, ErrorKind};
use crate::json::parser::Parser;
use crate::json::scan::plain_end;

/// So far before the end of the window a token may depend on what comes next.
const MARGIN: usize = 16;

/// A part of a document.
pub(super) struct Window<'i> {
    input: &'i mut Input,
    /// How much is read at once.
    portion: usize,
    text: String,
    /// How much of the text was taken.
    taken: usize,
    /// The first bytes of a character that is not there as a whole yet.
    tail: Vec<u8>,
    /// Nothing follows: the document is over, or what follows is no text.
    over: bool,
    broken: bool,
    /// Lines before what comes next, and characters before it in its line.
    lines: u64,
    characters: u64,
    /// Brackets that are open, and whether the last was opened just before.
    state: (u32, bool),
}

impl<'i> Window<'i> {
    pub(super) fn new(input: &'i mut Input, portion: usize) -> Self {
        Window {
            input,
            portion,
            text: String::new(),
            taken: 0,
            tail: Vec::new(),
            over: false,
            broken: false,
            lines: 0,
            characters: 0,
            state: (0, false),
        }
    }

    /// What is there of what comes next.
    pub(super) fn rest(&self) -> &str {
        &self.text[self.taken..]
    }

    /// A parser of it.
    pub(super) fn parser(&self) -> Parser<'_> {
        Parser::resumed(self.rest(), self.state)
    }

    /// Reads more of the document; false if there is no more.
    fn grow(&mut self) -> Result<bool> {
        if self.over {
            return Ok(false);
        }
        self.text.drain(..std::mem::take(&mut self.taken));
        // What is long is read in ever larger portions, so that it is not looked at too often.
        let wanted = self.portion.max(self.text.len()).max(4);
        let mut bytes = std::mem::take(&mut self.tail);
        let mut filled = bytes.len();
        bytes.resize(filled + wanted, 0);
        while filled < bytes.len() {
            match self.input.read_some(&mut bytes[filled..]) {
                Ok(0) => {
                    self.over = true;
                    break;
                }
                Ok(more) => filled += more,
                Err(error) => {
                    let line = self.lines + memchr::memchr_iter(b'\n', self.text.as_bytes()).count() as u64;
                    return Err(self.input.failure(&error, Some(line + 1)));
                }
            }
        }
        bytes.truncate(filled);
        match std::str::from_utf8(&bytes) {
            Ok(text) => self.text.push_str(text),
            Err(error) => {
                let good = error.valid_up_to();
                self.text.push_str(std::str::from_utf8(&bytes[..good]).unwrap_or_default());
                if error.error_len().is_some() || self.over {
                    (self.over, self.broken) = (true, true);
                } else {
                    self.tail = bytes.split_off(good);
                }
            }
        }
        Ok(true)
    }

    /// Goes on behind what was read of [`rest`](Self::rest).
    pub(super) fn take(&mut self, bytes: usize, state: (u32, bool)) {
        (self.lines, self.characters) = self.counted(bytes);
        self.taken += bytes;
        self.state = state;
    }

    /// Lines before a place, and characters before it in its line.
    fn counted(&self, at: usize) -> (u64, u64) {
        let before = &self.rest()[..at];
        let lines = memchr::memchr_iter(b'\n', before.as_bytes()).count() as u64;
        match before.rfind('\n') {
            Some(end) => (self.lines + lines, before[end + 1..].chars().count() as u64),
            None => (self.lines, self.characters + before.chars().count() as u64),
        }
    }

    /// Where a byte of [`rest`](Self::rest) stands in the document.
    pub(super) fn locate(&self, place: Place, at: usize) -> Place {
        let (lines, characters) = self.counted(at);
        place.line(lines + 1).column(characters + 1)
    }

    /// What is wrong, where it is not what it seems: a text that is cut off may be no text from there on.
    pub(super) fn meant(&self, error: Error) -> Error {
        let cut = self.broken && error.at == self.rest().len();
        Error { kind: if cut { ErrorKind::NotUtf8 } else { error.kind }, ..error }
    }

    /// Reads until the next element or value is there as a whole, or the document is over.
    pub(super) fn whole(&mut self) -> Result<()> {
        while !is_whole(self.rest().as_bytes()) {
            if !self.grow()? {
                break;
            }
        }
        Ok(())
    }

    /// The next byte that is not blank; none at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            let next = self.rest().bytes().find(|c| !matches!(c, b' ' | b'\n' | b'\t' | b'\r'));
            if next.is_some() || !self.grow()? {
                return Ok(next);
            }
        }
    }

    /// Reads something short, which is tried again with more of the text where it comes near the end of what is there.
    pub(super) fn token<T>(
        &mut self,
        read: impl Fn(&mut Parser<'_>) -> std::result::Result<T, Error>,
    ) -> Result<std::result::Result<T, Error>> {
        loop {
            let mut parser = self.parser();
            let found = read(&mut parser);
            let at = found.as_ref().map_or_else(|error| error.at, |_| parser.position());
            if at + MARGIN > self.rest().len() && !self.over {
                self.grow()?;
                continue;
            }
            let state = parser.state();
            if found.is_ok() {
                self.take(at, state);
            }
            return Ok(found);
        }
    }

    /// What is wrong with the end of a document whose value has been read.
    pub(super) fn finish(&mut self) -> Result<std::result::Result<(), Error>> {
        match self.peek()? {
            None if self.broken => Ok(Err(Error { kind: ErrorKind::NotUtf8, at: self.rest().len() })),
            None => Ok(Ok(())),
            Some(_) => Ok(self.parser().finish()),
        }
    }
}

/// Whether a whole value stands at the start of a text, or the end of what it would stand in; a comma may come before it.
fn is_whole(text: &[u8]) -> bool {
    let blank = |c: u8| matches!(c, b' ' | b'\n' | b'\t' | b'\r');
    let Some(mut at) = text.iter().position(|&c| !blank(c) && c != b',') else { return false };
    let mut depth = 0;
    loop {
        match text.get(at) {
            None => return false,
            Some(b'{' | b'[') => depth += 1,
            Some(b'}' | b']') if depth <= 1 => return true,
            Some(b'}' | b']') => depth -= 1,
            Some(b'"') => {
                at += 1;
                loop {
                    at = plain_end(text, at);
                    match text.get(at) {
                        None => return false,
                        Some(b'"') => break,
                        Some(b'\\') => at += 2,
                        Some(_) => at += 1,
                    }
                    if at > text.len() {
                        return false;
                    }
                }
                if depth == 0 {
                    return true;
                }
            }
            Some(&c) if depth == 0 && (blank(c) || c == b',') => return true,
            Some(_) => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn values_are_whole_when_their_end_is_there() {
        let values = [r#"{"a":[1,"}\"",{}]}"#, r#" ,  ["]\\",2]"#, r#""a\"b""#, "12,", "null]", "]", ", }"];
        for value in values {
            assert!(is_whole(value.as_bytes()), "{value}");
            for cut in 0..value.len() {
                // Blanks and commas are no value, and what is cut may end in one.
                assert!(!is_whole(&value.as_bytes()[..cut]), "{value}: {cut}");
            }
        }
    }
}
