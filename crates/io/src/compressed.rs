//! Compressed files, decompressed and compressed; and what stands in one beside the text.
//!
//! Compressors keep a place for a name, a time, a comment, and for further pieces after the first. Private data may have
//! all of them, a publication none.

use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::bufread::GzDecoder;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// The compression that the first four bytes of a file tell.
    pub(crate) fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1F, 0x8B, ..] => Some(Compression::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD] => Some(Compression::Zstd),
            // A skippable frame, as parallel compressors write them.
            [0x50..=0x5F, 0x2A, 0x4D, 0x18] => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// The compression that the name of a file asks for.
    pub(crate) fn by_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "gz" => Some(Compression::Gzip),
            "zst" => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }
}

/// What was found beside the text so far; complete when the text is read to its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct BesideText(Arc<Found>);

#[derive(Debug, Default)]
struct Found {
    /// The header says something: a name, a comment, a time.
    header: AtomicBool,
    /// Something follows the first member or frame.
    more: AtomicBool,
}

impl BesideText {
    /// What was found, in words.
    pub(crate) fn words(&self) -> Vec<&'static str> {
        let all = [
            (&self.0.header, "its header has a name, a time, a comment or an extra field"),
            (
                &self.0.more,
                "something follows its first part: it has several members or frames, or skippable ones",
            ),
        ];
        all.into_iter().filter(|(found, _)| found.load(Ordering::Relaxed)).map(|(_, words)| words).collect()
    }

    /// Looks at the first four bytes of a file.
    pub(crate) fn magic(&self, magic: &[u8]) {
        // The flags of gzip say which fields follow.
        if matches!(magic, [0x1F, 0x8B, _, flags] if *flags != 0) {
            self.0.header.store(true, Ordering::Relaxed);
        }
    }
}

enum Decoder<R: BufRead> {
    Gzip(Box<GzDecoder<R>>),
    Zstd(zstd::Decoder<'static, R>),
}

/// The text of all members or frames of a file, one after the other.
pub(crate) struct Members<R: BufRead> {
    compression: Compression,
    /// None at the end.
    decoder: Option<Decoder<R>>,
    beside: BesideText,
}

impl<R: BufRead> Decoder<R> {
    fn new(compression: Compression, from: R) -> io::Result<Self> {
        Ok(match compression {
            Compression::Gzip => Decoder::Gzip(Box::new(GzDecoder::new(from))),
            Compression::Zstd => Decoder::Zstd(zstd::Decoder::with_buffer(from)?.single_frame()),
        })
    }

    fn into_inner(self) -> R {
        match self {
            Decoder::Gzip(gzip) => gzip.into_inner(),
            Decoder::Zstd(zstd) => zstd.finish(),
        }
    }
}

impl<R: BufRead> Members<R> {
    pub(crate) fn new(compression: Compression, from: R, beside: BesideText) -> io::Result<Self> {
        Ok(Members { compression, decoder: Some(Decoder::new(compression, from)?), beside })
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = match &mut self.decoder {
                None => return Ok(0),
                Some(Decoder::Zstd(zstd)) => zstd.read(buffer)?,
                Some(Decoder::Gzip(gzip)) => {
                    let read = gzip.read(buffer)?;
                    if gzip.header().is_some_and(|h| h.mtime() != 0) {
                        self.beside.0.header.store(true, Ordering::Relaxed);
                    }
                    read
                }
            };
            if read > 0 {
                return Ok(read);
            }
            let Some(mut from) = self.decoder.take().map(Decoder::into_inner) else { return Ok(0) };
            if from.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.beside.0.more.store(true, Ordering::Relaxed);
            self.decoder = Some(Decoder::new(self.compression, from)?);
        }
    }
}

/// Compresses what is written, or not. The same text has the same bytes, however it comes.
pub(crate) enum Encoder<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Encoder<W> {
    pub(crate) fn begin(compression: Option<Compression>, to: W) -> io::Result<Self> {
        Ok(match compression {
            None => Encoder::Plain(to),
            // The header's time and name stay empty: same content, same bytes.
            Some(Compression::Gzip) => {
                Encoder::Gzip(flate2::write::GzEncoder::new(to, flate2::Compression::default()))
            }
            Some(Compression::Zstd) => {
                let mut encoder = zstd::Encoder::new(to, 0)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
        })
    }

    pub(crate) fn get_mut(&mut self) -> &mut W {
        match self {
            Encoder::Plain(to) => to,
            Encoder::Gzip(gzip) => gzip.get_mut(),
            Encoder::Zstd(zstd) => zstd.get_mut(),
        }
    }

    /// Completes what is compressed, and gives back where it went.
    pub(crate) fn close(self) -> io::Result<W> {
        match self {
            Encoder::Plain(to) => Ok(to),
            Encoder::Gzip(gzip) => gzip.finish(),
            Encoder::Zstd(zstd) => zstd.finish(),
        }
    }
}

impl<W: Write + std::fmt::Debug> std::fmt::Debug for Encoder<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Encoder::Plain(to) => to.fmt(f),
            Encoder::Gzip(gzip) => gzip.get_ref().fmt(f),
            Encoder::Zstd(zstd) => zstd.get_ref().fmt(f),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Encoder::Plain(to) => to.write(bytes),
            Encoder::Gzip(gzip) => gzip.write(bytes),
            Encoder::Zstd(zstd) => zstd.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Encoder::Plain(to) => to.flush(),
            Encoder::Gzip(gzip) => gzip.flush(),
            Encoder::Zstd(zstd) => zstd.flush(),
        }
    }
}
