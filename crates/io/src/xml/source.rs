//! The text of a document in UTF-8, as a stream that knows lines and columns.

use std::io::{self, BufRead, Read};

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use super::encoding::{Decoder, detect};
use crate::input::Input;

/// How many bytes are read at once.
const CHUNK: usize = 1 << 16;

/// A place in the text, in characters from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Position {
    const START: Position = Position { line: 1, column: 1 };

    /// The place after these bytes.
    #[must_use]
    pub(super) fn after(self, bytes: &[u8]) -> Position {
        let lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
        let rest = memchr::memrchr(b'\n', bytes).map_or(bytes, |i| &bytes[i + 1..]);
        // Every byte but the later ones of a character.
        let characters = rest.iter().filter(|&&b| b & 0xC0 != 0x80).count() as u64;
        let column = if lines > 0 { 1 } else { self.column };
        Position { line: self.line + lines, column: column + characters }
    }

    pub(super) fn in_place(self, place: Place) -> Place {
        place.line(self.line).column(self.column)
    }
}

/// Where the event that is read now starts.
#[derive(Clone, Copy)]
enum Mark {
    InChunk(usize),
    Before(Position),
}

pub(super) struct Source<'i> {
    input: &'i mut Input,
    decoder: Decoder,
    encoding: &'static str,
    raw: Vec<u8>,
    chunk: Vec<u8>,
    at: usize,
    /// Where the chunk starts.
    start: Position,
    mark: Mark,
    /// Malformed bytes follow the chunk.
    malformed: bool,
    ended: bool,
    failure: Option<Failure>,
}

impl<'i> Source<'i> {
    pub(super) fn new(input: &'i mut Input) -> Result<Self> {
        let place = Place::source(input.name());
        let found = detect(input.head(), input.is_marked(), place)?;
        let source = Source {
            input,
            decoder: found.decoder,
            encoding: found.name,
            raw: vec![0; CHUNK],
            chunk: Vec::new(),
            at: 0,
            start: Position::START,
            mark: Mark::InChunk(0),
            malformed: false,
            ended: false,
            failure: None,
        };
        // The mark was seen at the start of the text, which is in memory.
        source.input.read_some(&mut [0; 2][..found.mark]).map_err(|e| source.input.failure(&e, None))?;
        Ok(source)
    }

    /// Notes that an event starts here.
    #[inline]
    pub(super) fn mark(&mut self) {
        self.mark = Mark::InChunk(self.at);
    }

    /// Where the noted event starts.
    pub(super) fn marked(&self) -> Position {
        match self.mark {
            Mark::InChunk(at) => self.start.after(&self.chunk[..at]),
            Mark::Before(position) => position,
        }
    }

    /// What was wrong when reading failed.
    pub(super) fn failure(&mut self, place: Place) -> Failure {
        if let Some(failure) = self.failure.take() {
            return failure;
        }
        let place = self.start.after(&self.chunk[..self.at]).in_place(place);
        Failure::new(Fault::Data, not_text(place, self.encoding))
    }

    fn refill(&mut self) -> io::Result<()> {
        if let Mark::InChunk(at) = self.mark {
            self.mark = Mark::Before(self.start.after(&self.chunk[..at]));
        }
        self.start = self.start.after(&self.chunk);
        self.chunk.clear();
        self.at = 0;
        while self.chunk.is_empty() && !self.ended && !self.malformed {
            let read = match self.input.read_some(&mut self.raw) {
                Ok(read) => read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => {
                    self.failure = Some(self.input.failure(&e, Some(self.start.line)));
                    return Err(e);
                }
            };
            self.ended = read == 0;
            if let Decoder::Utf8 = self.decoder {
                std::mem::swap(&mut self.raw, &mut self.chunk);
                self.chunk.truncate(read);
                self.raw.resize(CHUNK, 0);
            } else {
                let decoded = self.decoder.decode(&self.raw[..read], self.ended, &mut self.chunk);
                self.malformed = decoded.is_err();
            }
        }
        if self.chunk.is_empty() && self.malformed {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(())
    }
}

/// Bytes that are not what the document's encoding asks for.
pub(super) fn not_text(place: Place, encoding: &str) -> Diagnostic {
    Diagnostic::error(format!("not valid {encoding}"))
        .at(place)
        .help("convert the file to UTF-8, or correct the encoding in its XML declaration")
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let read = available.len().min(buffer.len());
        buffer[..read].copy_from_slice(&available[..read]);
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Source<'_> {
    #[inline]
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.chunk.len() {
            self.refill()?;
        }
        Ok(&self.chunk[self.at..])
    }

    #[inline]
    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
    }
}
