//! Takes what is written again, and compares it with what is there, byte by byte, up to the first difference.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::compressed::{BesideText, Compression, Encoder, Members};
use crate::fault;
use crate::hidden::{Held, Hidden};
use crate::input::Input;

/// How much is compared at once.
const BUFFER: usize = 1 << 17;

/// Bytes that are there.
#[derive(Clone, Debug)]
pub struct There {
    /// What messages call them.
    pub(crate) name: String,
    bytes: Hidden,
}

impl There {
    /// The bytes of a file.
    pub(crate) fn file(path: &Path) -> Self {
        There { name: path.display().to_string(), bytes: Hidden::File(path.to_owned()) }
    }

    /// Bytes that were kept, since they can be read only once.
    pub(crate) fn kept(name: &str, held: Held) -> Self {
        There { name: name.to_owned(), bytes: Hidden::Memory(held) }
    }

    /// What is complete and has no name yet.
    pub(crate) fn hidden(name: &str, bytes: Hidden) -> Self {
        There { name: name.to_owned(), bytes }
    }

    fn open(&self) -> Result<Box<dyn Read + Send>> {
        Ok(match &self.bytes {
            Hidden::File(path) => Box::new(opened(path, &self.name)?),
            Hidden::Memory(held) => Box::new(Cursor::new(held.clone())),
        })
    }

    /// Opens them as somebody opens them who finds them in their place.
    pub(crate) fn input(&self) -> Result<Input> {
        self.bytes.open(&self.name)
    }

    /// How many bytes they are once they are unpacked.
    pub(crate) fn text_size(&self) -> Result<usize> {
        let failure = |e: io::Error| fault::reading(&self.name, &e);
        let mut text: Box<dyn Read> = match self.compression()? {
            None => self.open()?,
            Some(compression) => {
                let raw = BufReader::with_capacity(BUFFER, self.open()?);
                Box::new(Members::new(compression, raw, BesideText::default()).map_err(failure)?)
            }
        };
        io::copy(&mut text, &mut io::sink()).map(|size| size as usize).map_err(failure)
    }

    fn compression(&self) -> Result<Option<Compression>> {
        let mut magic = Vec::new();
        let read = self.open()?.take(4).read_to_end(&mut magic);
        read.map_err(|e| fault::reading(&self.name, &e))?;
        Ok(Compression::of(&magic))
    }
}

fn opened(path: &PathBuf, name: &str) -> Result<File> {
    File::open(path).map_err(|e| fault::reading(name, &e))
}

/// Where two texts differ for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Difference {
    /// Bytes before it.
    byte: u64,
    /// Line ends before it.
    lines: u64,
    /// One of the two ends here.
    ends: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// What is there has more.
    More,
    /// What is there has less.
    Less,
}

/// Bytes that are compared with what comes.
struct Bytes {
    expected: Box<dyn Read + Send>,
    name: String,
    buffer: Vec<u8>,
    byte: u64,
    lines: u64,
    differs: Option<Difference>,
}

impl Bytes {
    fn new(name: &str, expected: Box<dyn Read + Send>) -> Self {
        let expected = Box::new(BufReader::with_capacity(BUFFER, expected));
        Bytes { expected, name: name.to_owned(), buffer: Vec::new(), byte: 0, lines: 0, differs: None }
    }

    /// Compares the next bytes; false at the first that differ.
    fn take(&mut self, bytes: &[u8]) -> io::Result<bool> {
        if self.differs.is_some() {
            return Ok(false);
        }
        self.buffer.clear();
        self.expected.by_ref().take(bytes.len() as u64).read_to_end(&mut self.buffer)?;
        let same = if self.buffer == bytes {
            bytes.len()
        } else {
            self.buffer.iter().zip(bytes).take_while(|(a, b)| a == b).count()
        };
        self.byte += same as u64;
        self.lines += memchr::memchr_iter(b'\n', &bytes[..same]).count() as u64;
        if same < bytes.len() {
            let ends = (same == self.buffer.len()).then_some(End::Less);
            self.differs = Some(Difference { byte: self.byte, lines: self.lines, ends });
        }
        Ok(self.differs.is_none())
    }

    /// Everything has come: nothing may be left.
    fn end(&mut self) -> io::Result<()> {
        let mut one = [0];
        if self.differs.is_none() && self.expected.read(&mut one)? > 0 {
            let ends = Some(End::More);
            self.differs = Some(Difference { byte: self.byte, lines: self.lines, ends });
        }
        Ok(())
    }
}

/// A place to write to where bytes are already. It refuses what they are not.
pub(crate) struct Compare {
    text: Bytes,
    /// The same compressed, where it is.
    packed: Option<(Compression, Encoder<Packed>)>,
    is_text: bool,
}

/// The compressed end.
struct Packed(Bytes);

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A difference is told when everything has come: the text comes first.
        self.0.take(bytes).map(|_| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Compare {
    /// Begins to compare with what is there. Of a text the line of a difference is told.
    pub(crate) fn begin(there: &There, is_text: bool) -> Result<Self> {
        let failure = |e: io::Error| fault::reading(&there.name, &e);
        let Some(compression) = there.compression()? else {
            return Ok(Compare { text: Bytes::new(&there.name, there.open()?), packed: None, is_text });
        };
        let raw = BufReader::with_capacity(BUFFER, there.open()?);
        let text = Members::new(compression, raw, BesideText::default()).map_err(failure)?;
        let packed = Packed(Bytes::new(&there.name, there.open()?));
        let encoder = Encoder::begin(Some(compression), packed).map_err(failure)?;
        Ok(Compare {
            text: Bytes::new(&there.name, Box::new(text)),
            packed: Some((compression, encoder)),
            is_text,
        })
    }

    /// Has something written, and says where it is another than what is there; none if it is the same.
    pub(crate) fn with(mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<Option<Diagnostic>> {
        match write(&mut self) {
            // Whoever writes is told that nobody takes more.
            Err(failure) if self.text.differs.is_none() => Err(failure),
            _ => self.finish(),
        }
    }

    fn finish(mut self) -> Result<Option<Diagnostic>> {
        let name = self.text.name.clone();
        let failure = |e: io::Error| fault::reading(&name, &e);
        self.text.end().map_err(failure)?;
        if let Some(differs) = self.text.differs {
            return Ok(Some(self.told(differs)));
        }
        let Some((compression, encoder)) = self.packed else { return Ok(None) };
        let Packed(mut packed) = encoder.close().map_err(failure)?;
        packed.end().map_err(failure)?;
        let what =
            format!("the text is in the one form, but {} is not used as Bosket does", compression.name());
        let help =
            "unpack the file and check the text, or publish it again; with `--foreign` this is not looked at";
        Ok(packed.differs.map(|_| Diagnostic::error(what).at(Place::source(name)).help(help)))
    }

    fn told(&self, differs: Difference) -> Diagnostic {
        let how = match differs.ends {
            Some(End::More) => "it goes on where it would end",
            Some(End::Less) => "it ends where it would go on",
            None => "it is written another way",
        };
        let mut place = Place::source(&self.text.name);
        let mut what = format!("this is not the form in which Bosket publishes: {how}");
        if self.is_text {
            place = place.line(differs.lines + 1);
        }
        what.push_str(&format!(", from byte {} on", differs.byte + 1));
        Diagnostic::error(what).at(place).help(HELP)
    }
}

/// What to do with a publication that says the same in another form.
pub const HELP: &str = "how a file is written can tell what its values do not: publish it again, or check \
                               it as a foreign publication with `--foreign`";

impl Write for Compare {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.text.take(bytes)? {
            return Err(io::Error::other(Failure::new(Fault::Data, Diagnostic::error("it is another"))));
        }
        if let Some((_, encoder)) = &mut self.packed {
            encoder.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(there: &[u8], writes: &[&[u8]]) -> Option<Diagnostic> {
        let mut held = Held::default();
        held.push(there);
        let compare = Compare::begin(&There::kept("it", held), true).expect("it can be read");
        let write = |out: &mut Compare| {
            writes.iter().try_for_each(|bytes| out.write_all(bytes).map_err(fault::from_write))
        };
        compare.with(write).expect("it can be compared")
    }

    #[test]
    fn the_first_difference_is_told() {
        assert_eq!(compared(b"a\nb\n", &[b"a\n", b"b", b"\n"]), None);
        for (there, line, byte) in [
            (&b"a\nc\n"[..], 2, 3),
            (b"a\nb\n\n", 3, 5),
            (b"a\nb", 2, 4),
            (b"", 1, 1),
            (b"\xEF\xBB\xBFa\nb\n", 1, 1),
        ] {
            let told = compared(there, &[b"a\n", b"b\n"]).expect("another");
            assert_eq!(told.place.line, Some(line), "{told}");
            assert!(told.message.ends_with(&format!("from byte {byte} on")), "{told}");
        }
    }

    #[test]
    fn how_it_is_compressed_belongs_to_the_form() {
        let text = "the same text again and again\n".repeat(1000);
        for compression in [Compression::Gzip, Compression::Zstd] {
            let mut encoder = Encoder::begin(Some(compression), Vec::new()).expect("an encoder");
            encoder.write_all(text.as_bytes()).expect("written");
            let own = encoder.close().expect("closed");
            // The same bytes, however they come.
            for size in [1, 7, 30_000] {
                let writes: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
                assert_eq!(compared(&own, &writes), None, "{compression:?} in pieces of {size}");
            }
            let other = match compression {
                Compression::Gzip => {
                    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
                    out.write_all(text.as_bytes()).expect("written");
                    out.finish().expect("closed")
                }
                Compression::Zstd => zstd::encode_all(text.as_bytes(), 19).expect("packed"),
            };
            let told = compared(&other, &[text.as_bytes()]).expect("another");
            assert!(told.message.contains(compression.name()), "{told}");
        }
    }
}
