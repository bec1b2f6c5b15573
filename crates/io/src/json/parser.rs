//! A strict JSON reader that hands out one token at a time.
//!
//! It keeps no tree and copies nothing but strings with escapes; numbers are handed out as they are written.
//! Nesting is counted, so a caller that recurses never goes deeper than [`MAX_DEPTH`].

use super::error::{Error, ErrorKind, MAX_DEPTH};
use super::scan::plain_end;

/// The start of a value, or all of a scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(&'t str),
    /// A string without its quotes and escapes.
    Text(&'t str),
    /// `{`: keys follow, see [`Parser::key`].
    Object,
    /// `[`: elements follow, see [`Parser::element`].
    Array,
}

/// The next key of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'t> {
    /// The object ended.
    End,
    /// The guess was right.
    Guessed,
    /// Another key.
    Other(&'t str),
}

/// Where a string's text is.
enum StringAt {
    Here(usize, usize),
    Scratch,
}

/// A position in a JSON text. After [`Token::Object`] call [`key`](Self::key) and
/// [`value`](Self::value) in turns until there is no key; after [`Token::Array`] likewise with
/// [`element`](Self::element).
#[derive(Debug)]
pub struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    /// A bracket was just opened: no comma is due.
    fresh: bool,
    scratch: String,
    /// The first value that was passed over.
    passed: Option<usize>,
}

/// The bytes as text.
pub fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|e| Error { kind: ErrorKind::NotUtf8, at: e.valid_up_to() })
}

impl<'a> Parser<'a> {
    /// At the start of a text.
    pub fn new(text: &'a str) -> Self {
        Parser { text, at: 0, depth: 0, fresh: false, scratch: String::new(), passed: None }
    }

    /// In the middle of a text whose start is gone: so many brackets are open, and whether the last was opened just before.
    pub(crate) fn resumed(text: &'a str, (depth, fresh): (u32, bool)) -> Self {
        Parser { depth, fresh, ..Self::new(text) }
    }

    /// What [`resumed`](Self::resumed) has to be told to go on from here.
    pub(crate) fn state(&self) -> (u32, bool) {
        (self.depth, self.fresh)
    }

    /// The next byte that is not blank.
    #[inline]
    pub fn position(&mut self) -> usize {
        self.blanks();
        self.at
    }

    /// Whether this text comes next.
    #[inline]
    pub fn next_is(&mut self, text: &str) -> bool {
        self.blanks();
        self.text.as_bytes()[self.at..].starts_with(text.as_bytes())
    }

    /// Goes back to a value seen before, whose enclosing brackets are still open.
    pub fn rewind(&mut self, position: usize, depth: u32) {
        (self.at, self.depth, self.fresh) = (position, depth, false);
    }

    /// How many brackets are open.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Reads a scalar or an opening bracket.
    #[inline]
    pub fn value(&mut self) -> Result<Token<'_>, Error> {
        self.blanks();
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                let found = self.string()?;
                Ok(Token::Text(self.found(found)))
            }
            Some(b'{') => self.enter().map(|()| Token::Object),
            Some(b'[') => self.enter().map(|()| Token::Array),
            Some(b'-' | b'0'..=b'9') => self.number().map(Token::Number),
            Some(b'n') => self.word("null", Token::Null),
            Some(b't') => self.word("true", Token::Bool(true)),
            Some(b'f') => self.word("false", Token::Bool(false)),
            Some(b'N' | b'I') => self.fail(ErrorKind::NotANumber),
            Some(_) => self.fail(ErrorKind::Unexpected("a value")),
            None => self.fail(ErrorKind::Truncated),
        }
    }

    /// The next key of the open object, up to and with its colon; none where the object ends.
    pub fn key(&mut self) -> Result<Option<&str>, Error> {
        Ok(match self.key_or("")? {
            Key::Other(key) => Some(key),
            Key::End | Key::Guessed => None,
        })
    }

    /// Like [`key`](Self::key), but first compares the text with a guess: a key with its quotes, in which nothing
    /// needs an escape; or `""` without quotes for no guess.
    #[inline]
    pub fn key_or(&mut self, guess: &str) -> Result<Key<'_>, Error> {
        if !self.more(b'}')? {
            return Ok(Key::End);
        }
        if !guess.is_empty() && self.text.as_bytes()[self.at..].starts_with(guess.as_bytes()) {
            self.at += guess.len();
            self.colon()?;
            return Ok(Key::Guessed);
        }
        if self.peek() != Some(b'"') {
            return self.fail(ErrorKind::Unexpected("a key in double quotes"));
        }
        self.at += 1;
        let found = self.string()?;
        self.colon()?;
        Ok(Key::Other(self.found(found)))
    }

    /// Whether the open array has another element, which [`value`](Self::value) then reads.
    #[inline]
    pub fn element(&mut self) -> Result<bool, Error> {
        self.more(b']')
    }

    /// Skips a value that nobody reads, and remembers the first such.
    pub(crate) fn pass_over(&mut self) -> Result<(), Error> {
        let at = self.position();
        self.passed.get_or_insert(at);
        self.skip()
    }

    /// Where the first value stands that was passed over.
    pub(crate) fn passed(&self) -> Option<usize> {
        self.passed
    }

    /// Reads a whole value and forgets it.
    pub fn skip(&mut self) -> Result<(), Error> {
        match self.value()? {
            Token::Object => {
                while self.key()?.is_some() {
                    self.skip()?;
                }
            }
            Token::Array => {
                while self.element()? {
                    self.skip()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that nothing follows.
    pub fn finish(mut self) -> Result<(), Error> {
        self.blanks();
        if self.at == self.text.len() { Ok(()) } else { self.fail(ErrorKind::TrailingText) }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fail<T>(&self, kind: ErrorKind) -> Result<T, Error> {
        Err(Error { kind, at: self.at })
    }

    /// Fails with `kind`, or with [`ErrorKind::Truncated`] at the end of the text.
    fn fail_here<T>(&self, kind: ErrorKind) -> Result<T, Error> {
        self.fail(if self.at == self.text.len() { ErrorKind::Truncated } else { kind })
    }

    #[inline]
    fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn enter(&mut self) -> Result<(), Error> {
        if self.depth == MAX_DEPTH {
            return self.fail(ErrorKind::TooDeep);
        }
        self.at += 1;
        self.depth += 1;
        self.fresh = true;
        Ok(())
    }

    #[inline]
    fn more(&mut self, close: u8) -> Result<bool, Error> {
        self.blanks();
        let fresh = std::mem::replace(&mut self.fresh, false);
        match self.peek() {
            None => self.fail(ErrorKind::Truncated),
            Some(c) if c == close => {
                self.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            Some(_) if fresh => Ok(true),
            Some(b',') => {
                let comma = self.at;
                self.at += 1;
                self.blanks();
                if self.peek() == Some(close) {
                    return Err(Error { kind: ErrorKind::TrailingComma, at: comma });
                }
                Ok(true)
            }
            Some(_) => self.fail(ErrorKind::Unexpected("a comma or a closing bracket")),
        }
    }

    #[inline]
    fn colon(&mut self) -> Result<(), Error> {
        self.blanks();
        if self.peek() != Some(b':') {
            return self.fail_here(ErrorKind::Unexpected("a colon"));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &'static str, token: Token<'static>) -> Result<Token<'static>, Error> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(token);
        }
        if word.as_bytes().starts_with(rest) {
            self.at = self.text.len();
        }
        self.fail_here(ErrorKind::Unexpected("a value"))
    }

    fn number(&mut self) -> Result<&'a str, Error> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => {
                self.at += 1;
                if let Some(b'0'..=b'9') = self.peek() {
                    return Err(Error { kind: ErrorKind::LeadingZero, at: start });
                }
            }
            Some(b'I' | b'N') => return self.fail(ErrorKind::NotANumber),
            _ => self.digits()?,
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let raw = &self.text[start..self.at];
        let fits = if integer {
            raw.len() <= 18 || raw.parse::<i64>().is_ok() || raw.parse::<u64>().is_ok()
        } else {
            raw.parse::<f64>().is_ok_and(f64::is_finite)
        };
        if fits { Ok(raw) } else { Err(Error { kind: ErrorKind::NumberTooLarge, at: start }) }
    }

    fn digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { self.fail_here(ErrorKind::Unexpected("a digit")) } else { Ok(()) }
    }

    #[inline]
    fn found(&self, found: StringAt) -> &str {
        match found {
            StringAt::Here(start, end) => &self.text[start..end],
            StringAt::Scratch => &self.scratch,
        }
    }

    /// Reads the rest of a string after its opening quote.
    #[inline]
    fn string(&mut self) -> Result<StringAt, Error> {
        let start = self.at;
        self.at = plain_end(self.text.as_bytes(), start);
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(StringAt::Here(start, self.at - 1));
        }
        self.string_with_escapes(start)
    }

    #[cold]
    fn string_with_escapes(&mut self, mut start: usize) -> Result<StringAt, Error> {
        self.scratch.clear();
        loop {
            self.scratch.push_str(&self.text[start..self.at]);
            match self.peek() {
                None => return self.fail(ErrorKind::Truncated),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(StringAt::Scratch);
                }
                Some(b'\\') => {
                    let c = self.escape()?;
                    self.scratch.push(c);
                }
                Some(_) => return self.fail(ErrorKind::ControlCharacter),
            }
            start = self.at;
            self.at = plain_end(self.text.as_bytes(), start);
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        let start = self.at;
        let error = |kind| Err(Error { kind, at: start });
        self.at += 1;
        let c = match self.peek() {
            None => return self.fail(ErrorKind::Truncated),
            Some(c @ (b'"' | b'\\' | b'/')) => c as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let first = self.hex()?;
                if !(0xD800..0xE000).contains(&first) {
                    return Ok(char::from_u32(first).expect("not a surrogate"));
                }
                if first >= 0xDC00 || !self.text.as_bytes()[self.at..].starts_with(b"\\u") {
                    return error(ErrorKind::LoneSurrogate);
                }
                self.at += 2;
                let second = self.hex()?;
                if !(0xDC00..0xE000).contains(&second) {
                    return error(ErrorKind::LoneSurrogate);
                }
                let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).expect("a pair gives a character"));
            }
            Some(_) => return error(ErrorKind::BadEscape),
        };
        self.at += 1;
        Ok(c)
    }

    fn hex(&mut self) -> Result<u32, Error> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|c| (c as char).to_digit(16)) else {
                return self.fail_here(ErrorKind::BadEscape);
            };
            code = code << 4 | digit;
            self.at += 1;
        }
        Ok(code)
    }
}
