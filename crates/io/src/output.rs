//! Where a publication goes: an atomic file, a device or standard output; compressed if its name says so.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use bosket_model::observe::Observer;
use bosket_model::{Failure, Fingerprint, Result};
use sha2::{Digest, Sha256};

use crate::atomic::{self, AtomicFile, Create};
use crate::compressed::{Compression, Encoder};
use crate::fault;
use crate::fingerprint::{Certify, hex};
use crate::hidden::{Held, Hidden};

/// Makes a folder and those above it, where they are not there yet.
pub fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|e| fault::writing(&path.to_string_lossy(), &e))
}

/// The uncompressed end.
#[derive(Debug)]
struct Sink {
    to: To,
    /// Of a published file, its name and the hash of what has been written.
    published: Option<(String, Sha256)>,
}

#[derive(Debug)]
enum To {
    File(AtomicFile),
    /// Standard output, or something that exists and is no file: a pipe, `/dev/null`. Never replaced.
    Stream(Stream),
    /// The same, which gets nothing before everything is complete; until then it can be read.
    Held(Stream, Held),
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
        let written = match &mut self.to {
            To::File(file) => file.write(bytes),
            To::Stream(stream) => {
                let result = stream.writer().write(bytes);
                stream.named(result)
            }
            To::Held(_, held) => {
                held.push(bytes);
                Ok(bytes.len())
            }
        }?;
        if let Some((_, hash)) = &mut self.published {
            hash.update(&bytes[..written]);
        }
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::File(file) => file.flush(),
            To::Stream(stream) => {
                let result = stream.writer().flush();
                stream.named(result)
            }
            To::Held(..) => Ok(()),
        }
    }
}

impl Sink {
    /// Sends what was held back.
    fn release(&mut self) -> Result<()> {
        if let To::Held(stream, held) = &mut self.to {
            let sent = held.copy_to(stream.writer());
            stream.named(sent).map_err(fault::from_write)?;
        }
        Ok(())
    }

    /// What it has taken, if that can be read.
    fn hidden(&self) -> Option<Hidden> {
        match &self.to {
            To::File(file) => Some(Hidden::File(file.hidden().to_owned())),
            To::Held(_, held) => Some(Hidden::Memory(held.clone())),
            To::Stream(_) => None,
        }
    }
}

/// A place to write to. Nothing is there until [`Output::finish`], except on a stream.
#[derive(Debug)]
pub struct Output {
    encoder: Encoder<Sink>,
}

impl Output {
    /// Starts writing to a file, or to standard output for `-`. Names that end in `.gz` or `.zst` are compressed.
    pub fn create(path: &Path, create: Create) -> Result<Self> {
        Self::begin(path, create, To::Stream)
    }

    fn begin(path: &Path, create: Create, to_stream: impl Fn(Stream) -> To) -> Result<Self> {
        let name = path.to_string_lossy();
        let failure = |e: io::Error| fault::writing(&name, &e);
        if path == Path::new("-") {
            let inner = StreamKind::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()));
            let stream = Stream { name: "-".into(), inner };
            let sink = Sink { to: to_stream(stream), published: None };
            return Ok(Output { encoder: Encoder::Plain(sink) });
        }
        let to = match fs::metadata(path) {
            Ok(found) if !found.is_file() && !found.is_dir() => {
                let file = OpenOptions::new().write(true).open(path).map_err(failure)?;
                let inner = StreamKind::Device(BufWriter::new(file));
                to_stream(Stream { name: name.clone().into_owned(), inner })
            }
            _ => To::File(AtomicFile::create(path, create)?),
        };
        let sink = Sink { to, published: None };
        Ok(Output { encoder: Encoder::begin(Compression::by_name(path), sink).map_err(failure)? })
    }

    /// The same for what is read again before it is finished: a stream gets nothing until then.
    pub(crate) fn create_hidden(path: &Path, create: Create) -> Result<Self> {
        Self::begin(path, create, |stream| To::Held(stream, Held::default()))
    }

    fn sink(&mut self) -> &mut Sink {
        self.encoder.get_mut()
    }

    /// Counts it to the publication, under this name: it gets a fingerprint.
    pub fn published(mut self, name: &str) -> Self {
        self.sink().published = Some((name.to_owned(), Sha256::new()));
        self
    }

    /// Completes what is written, so that it can be read again. Nothing more can be written.
    pub(crate) fn completed(self) -> Result<Self> {
        Ok(Output { encoder: Encoder::Plain(self.close()?) })
    }

    /// What has been completed, as it will lie there or be sent.
    pub(crate) fn hidden(&mut self) -> Result<Hidden> {
        self.sink().hidden().ok_or_else(|| Failure::defect("what went to a stream is read again"))
    }

    /// Counts what has been completed to the publication, where anybody asks for fingerprints.
    pub(crate) fn completed_as(
        mut self,
        certify: &Certify<'_>,
        name: &str,
        observer: &dyn Observer,
    ) -> Result<Self> {
        if certify.is_some() {
            let hash = self.hidden()?.hash(name, observer)?;
            self.sink().published = Some((name.to_owned(), hash));
        }
        Ok(self)
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> Result<()> {
        finish_all(vec![self])
    }

    fn close(self) -> Result<Sink> {
        let mut sink = self.encoder.close().map_err(fault::from_write)?;
        sink.flush().map_err(fault::from_write)?;
        Ok(sink)
    }
}

/// Completes all outputs before any of them gets its name.
pub fn finish_all(outputs: Vec<Output>) -> Result<()> {
    atomic::commit_all(Closed::all(outputs)?.files)
}

/// The same, with files that were written by other means.
pub(crate) fn finish_with(outputs: Vec<Output>, mut files: Vec<AtomicFile>) -> Result<()> {
    files.splice(0..0, Closed::all(outputs)?.files);
    atomic::commit_all(files)
}

/// Completes all outputs and makes the certificate of those that are published; then all get their names.
pub(crate) fn finish_certified(outputs: Vec<Output>, certify: Certify<'_>) -> Result<()> {
    atomic::commit_all(Closed::all(outputs)?.certified(certify)?)
}

/// Outputs that are complete and have no names yet.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    pub(crate) files: Vec<AtomicFile>,
    pub(crate) fingerprints: Vec<Fingerprint>,
}

impl Closed {
    pub(crate) fn all(outputs: Vec<Output>) -> Result<Self> {
        let mut closed = Closed::default();
        for output in outputs {
            let mut sink = output.close()?;
            sink.release()?;
            let Sink { to, published } = sink;
            if let To::File(file) = to {
                closed.files.push(file);
            }
            if let Some((name, hash)) = published {
                closed.fingerprints.push(Fingerprint { name, sha256: hex(hash) });
            }
        }
        Ok(closed)
    }

    /// Adds the certificate as the last: where it is, there is what it certifies.
    pub(crate) fn certified(mut self, certify: Certify<'_>) -> Result<Vec<AtomicFile>> {
        if let Some(certify) = certify {
            let certificate = certify(&self.fingerprints)?;
            self.files.append(&mut Closed::all(vec![certificate])?.files);
        }
        Ok(self.files)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush()
    }
}
