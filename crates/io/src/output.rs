//! Where a publication goes: an atomic file, a device or standard output; compressed if its name says so.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use bosket_model::Result;

use crate::atomic::{self, AtomicFile, Create};
use crate::fault;

/// Makes a folder and those above it, where they are not there yet.
pub fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|e| fault::writing(&path.to_string_lossy(), &e))
}

/// The uncompressed end.
#[derive(Debug)]
enum Sink {
    File(AtomicFile),
    /// Standard output, or something that exists and is no file: a pipe, `/dev/null`. Never replaced.
    Stream(Stream),
}

#[derive(Debug)]
struct Stream {
    name: String,
    inner: StreamKind,
}

#[derive(Debug)]
enum StreamKind {
    Stdout(BufWriter<Stdout>),
    Device(BufWriter<File>),
}

impl Stream {
    fn writer(&mut self) -> &mut dyn Write {
        match &mut self.inner {
            StreamKind::Stdout(out) => out,
            StreamKind::Device(file) => file,
        }
    }
    fn named<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|e| io::Error::new(e.kind(), fault::writing(&self.name, &e)))
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::File(file) => file.write(bytes),
            Sink::Stream(stream) => {
                let result = stream.writer().write(bytes);
                stream.named(result)
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::File(file) => file.flush(),
            Sink::Stream(stream) => {
                let result = stream.writer().flush();
                stream.named(result)
            }
        }
    }
}

/// A place to write to. Nothing is there until [`Output::finish`], except on a stream.
#[derive(Debug)]
pub struct Output {
    encoder: Encoder,
}

enum Encoder {
    Plain(Sink),
    Gzip(flate2::write::GzEncoder<Sink>),
    Zstd(zstd::Encoder<'static, Sink>),
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Encoder::Plain(sink) => sink.fmt(f),
            Encoder::Gzip(gzip) => gzip.get_ref().fmt(f),
            Encoder::Zstd(zstd) => zstd.get_ref().fmt(f),
        }
    }
}

impl Output {
    /// Starts writing to a file, or to standard output for `-`. Names that end in `.gz` or `.zst` are compressed.
    pub fn create(path: &Path, create: Create) -> Result<Self> {
        let name = path.to_string_lossy();
        let failure = |e: io::Error| fault::writing(&name, &e);
        if path == Path::new("-") {
            let inner = StreamKind::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()));
            let stream = Stream { name: "-".into(), inner };
            return Ok(Output { encoder: Encoder::Plain(Sink::Stream(stream)) });
        }
        let sink = match fs::metadata(path) {
            Ok(found) if !found.is_file() && !found.is_dir() => {
                let file = OpenOptions::new().write(true).open(path).map_err(failure)?;
                let inner = StreamKind::Device(BufWriter::new(file));
                Sink::Stream(Stream { name: name.clone().into_owned(), inner })
            }
            _ => Sink::File(AtomicFile::create(path, create)?),
        };
        let extension = path.extension().map(|e| e.to_ascii_lowercase());
        let encoder = match extension.as_deref().and_then(|e| e.to_str()) {
            // The header's time and name stay empty: same content, same bytes.
            Some("gz") => Encoder::Gzip(flate2::write::GzEncoder::new(sink, flate2::Compression::default())),
            Some("zst") => {
                let mut encoder = zstd::Encoder::new(sink, 0).map_err(failure)?;
                encoder.include_checksum(true).map_err(failure)?;
                Encoder::Zstd(encoder)
            }
            _ => Encoder::Plain(sink),
        };
        Ok(Output { encoder })
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> Result<()> {
        finish_all(vec![self])
    }

    fn close(self) -> Result<Sink> {
        let mut sink = match self.encoder {
            Encoder::Plain(sink) => Ok(sink),
            Encoder::Gzip(gzip) => gzip.finish(),
            Encoder::Zstd(zstd) => zstd.finish(),
        }
        .map_err(fault::from_write)?;
        sink.flush().map_err(fault::from_write)?;
        Ok(sink)
    }
}

/// Completes all outputs before any of them gets its name.
pub fn finish_all(outputs: Vec<Output>) -> Result<()> {
    finish_with(outputs, Vec::new())
}

/// The same, with files that were written by other means.
pub(crate) fn finish_with(outputs: Vec<Output>, mut files: Vec<AtomicFile>) -> Result<()> {
    files.splice(0..0, close_all(outputs)?);
    atomic::commit_all(files)
}

/// Completes all outputs; what is left to do is to give the files their names.
pub(crate) fn complete_all(outputs: Vec<Output>) -> Result<Vec<AtomicFile>> {
    let mut files = close_all(outputs)?;
    atomic::complete_all(&mut files)?;
    Ok(files)
}

fn close_all(outputs: Vec<Output>) -> Result<Vec<AtomicFile>> {
    let mut files = Vec::new();
    for output in outputs {
        if let Sink::File(file) = output.close()? {
            files.push(file);
        }
    }
    Ok(files)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encoder {
            Encoder::Plain(sink) => sink.write(bytes),
            Encoder::Gzip(gzip) => gzip.write(bytes),
            Encoder::Zstd(zstd) => zstd.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Plain(sink) => sink.flush(),
            Encoder::Gzip(gzip) => gzip.flush(),
            Encoder::Zstd(zstd) => zstd.flush(),
        }
    }
}
