//! Opening files, plain or compressed, with progress.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bosket_model::observe::Limits;
use bosket_model::words::plural;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::compressed::{BesideText, Compression, Members};
use crate::fault;
use crate::problems::Problems;
use crate::stop::{Stop, bytes};

/// How much of the text is looked at to recognise its format.
const HEAD: u64 = 1 << 16;
const BUFFER: usize = 1 << 17;
pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A compressed file rarely holds more than so many times its size.
const RATIO: u64 = 200;
/// What the smallest file may hold, as a part of the longest record.
const PART: u64 = 8;

/// How far an input has been read; may be watched from another thread.
#[derive(Clone, Debug)]
pub struct Progress {
    read: Arc<AtomicU64>,
    total: Option<u64>,
}

impl Progress {
    /// Bytes read from the file so far, compressed if the file is.
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
    /// The size of the file, if it is one.
    pub fn total(&self) -> Option<u64> {
        self.total
    }
}

/// A text to be read: decompressed, without byte order mark.
pub struct Input {
    name: String,
    reader: Box<dyn BufRead + Send>,
    head: Vec<u8>,
    compression: Option<Compression>,
    /// What the compressed file has beside the text.
    beside: BesideText,
    progress: Progress,
    bytes: u64,
    lines: u64,
    /// Whether a byte order mark of UTF-8 was taken off.
    marked: bool,
    /// The file itself, for formats that are not read from start to end.
    file: Option<File>,
    warnings: Vec<Diagnostic>,
    /// What stands in a publication beside what the policy speaks of; none if this is no publication.
    outside: Option<Problems>,
    /// The files of a folder, in place of a text.
    files: Option<Vec<PathBuf>>,
    limit: Limit,
    stop: Stop,
}

/// How long lines may be, and how much a file may hold that is far smaller itself.
#[derive(Clone, Debug)]
struct Limit {
    bytes: Arc<AtomicU64>,
    /// A compressed file holds more.
    burst: Arc<AtomicBool>,
}

impl Default for Limit {
    fn default() -> Self {
        Limit { bytes: Arc::new(AtomicU64::new(Limits::RECORD)), burst: Arc::default() }
    }
}

impl Limit {
    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// What any compressed file may hold. Less than the longest record: whoever reads a bomb holds it several times.
    fn unpacked(&self) -> u64 {
        self.bytes() / PART
    }

    fn failure(&self, what: &str, place: Place) -> Failure {
        Self::more_than(what, self.bytes(), place)
    }

    fn more_than(what: &str, most: u64, place: Place) -> Failure {
        let what = format!("{what} {}", bytes(most));
        let help = "check that it is the right file; --limit-record allows more";
        Failure::new(Fault::Data, Diagnostic::error(what).at(place).help(help))
    }
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").field("name", &self.name).field("compression", &self.compression).finish()
    }
}

struct Counter<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// What is read until somebody says stop. Few compressed bytes may be many, so that it stands behind the decompression.
struct Stoppable<R> {
    inner: R,
    stop: Stop,
}

impl<R: Read> Read for Stoppable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stop.check()?;
        self.inner.read(buffer)
    }
}

/// What is decompressed until it is far more than anybody writes into so small a file.
struct Unpacked<R> {
    inner: R,
    packed: Arc<AtomicU64>,
    unpacked: u64,
    limit: Limit,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.unpacked += read as u64;
        let most = self.packed.load(Ordering::Relaxed).saturating_mul(RATIO).max(self.limit.unpacked());
        if self.unpacked > most {
            self.limit.burst.store(true, Ordering::Relaxed);
            return Err(io::Error::other("a compressed file holds too much"));
        }
        Ok(read)
    }
}

/// Whether a text is in UTF-16 and not XML, which says itself how it is to be read.
fn is_utf_16(head: &[u8]) -> bool {
    let (mark, text) = head.split_at(head.len().min(2));
    let unit = |pair: &[u8]| match mark {
        b"\xFF\xFE" => u16::from_le_bytes([pair[0], pair[1]]),
        _ => u16::from_be_bytes([pair[0], pair[1]]),
    };
    let first = text.chunks_exact(2).map(unit).find(|&u| !matches!(u, 0x9 | 0xA | 0xD | 0x20));
    matches!(mark, b"\xFF\xFE" | b"\xFE\xFF") && first != Some(u16::from(b'<'))
}

/// How names of documents end that a folder may hold, without what says that they are compressed.
const DOCUMENTS: [&str; 4] = ["json", "ndjson", "jsonl", "xml"];

/// Whether a file is called like one with such an ending, compressed or not.
pub(crate) fn ends_in(path: &Path, endings: &[&str]) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    let ending = plain.rsplit_once('.').map_or("", |(_, ending)| ending);
    endings.contains(&ending) && !name.starts_with('.')
}

/// The files of a folder that are documents by their names, in the order of these.
pub(crate) fn document_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if ends_in(&path, &DOCUMENTS) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl Input {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Self::new("-", io::stdin(), None);
        }
        Self::open_as(path, &path.to_string_lossy())
    }

    /// Opens a file that messages call by another name.
    pub(crate) fn open_as(path: &Path, name: &str) -> Result<Self> {
        let file = File::open(path).map_err(|e| fault::reading(name, &e))?;
        let found = file.metadata().map_err(|e| fault::reading(name, &e))?;
        if found.is_dir() {
            return Err(fault::reading(name, &ErrorKind::IsADirectory.into()));
        }
        let again = file.try_clone().ok().filter(|_| found.is_file());
        let mut input = Self::new(name, file, found.is_file().then_some(found.len()))?;
        input.file = again.filter(|_| input.compression.is_none());
        Ok(input)
    }

    /// The same, or a folder, whose files some formats read as one.
    pub fn open_records(path: &Path) -> Result<Self> {
        if !path.is_dir() {
            return Self::open(path);
        }
        let name = path.to_string_lossy();
        let files = document_files(path).map_err(|e| fault::reading(&name, &e))?;
        Self::of_files(path, files)
    }

    /// Files of a folder that are read as one.
    pub(crate) fn of_files(folder: &Path, files: Vec<PathBuf>) -> Result<Self> {
        let total = files.iter().filter_map(|f| f.metadata().ok()).map(|m| m.len()).sum();
        let mut input = Self::new(&folder.to_string_lossy(), io::empty(), Some(total))?;
        input.files = Some(files);
        Ok(input)
    }

    /// The files, by name, if this is a folder.
    pub(crate) fn files(&self) -> Option<Vec<PathBuf>> {
        self.files.clone()
    }

    /// Keeps only the files of a folder with these endings, and says how many are left aside.
    pub(crate) fn keep_files(&mut self, endings: &[&str]) {
        let Some(files) = &mut self.files else { return };
        let all = files.len();
        files.retain(|file| ends_in(file, endings));
        let (aside, kept) = (all - files.len(), endings.join(", ."));
        if aside > 0 {
            let what = format!(
                "{} of the folder left aside, which end in something else than .{kept}",
                plural(aside, "document")
            );
            self.warn(Diagnostic::warning(what).at(Place::source(self.name.as_str())));
        }
    }

    /// Opens one of the files; what is read of it counts for the whole.
    pub(crate) fn part(&self, path: &Path) -> Result<Self> {
        let name = path.to_string_lossy();
        let file = File::open(path).map_err(|e| fault::reading(&name, &e))?;
        let mut part = Self::counted(&name, file, self.progress(), self.stop.clone())?;
        part.limit(self.limit.bytes());
        Ok(if self.is_published() { part.published() } else { part })
    }

    /// What a format says that reads no folders.
    pub(crate) fn is_a_folder(&self) -> Failure {
        fault::reading(&self.name, &ErrorKind::IsADirectory.into())
    }

    /// Reads from anything; `total` is its size in bytes, if known.
    pub fn new(name: &str, source: impl Read + Send + 'static, total: Option<u64>) -> Result<Self> {
        let progress = Progress { read: Arc::new(AtomicU64::new(0)), total };
        Self::counted(name, source, progress, Stop::default())
    }

    /// The same with the file that it is read from, for formats that are not read from start to end.
    pub(crate) fn with_file(self, file: Option<File>) -> Self {
        Input { file: file.filter(|_| self.compression.is_none()), ..self }
    }

    fn counted(
        name: &str,
        source: impl Read + Send + 'static,
        progress: Progress,
        stop: Stop,
    ) -> Result<Self> {
        let count = Arc::clone(&progress.read);
        let mut input = Input {
            name: name.to_owned(),
            reader: Box::new(io::empty()),
            head: Vec::new(),
            compression: None,
            beside: BesideText::default(),
            progress,
            bytes: 0,
            lines: 0,
            marked: false,
            file: None,
            warnings: Vec::new(),
            outside: None,
            files: None,
            limit: Limit::default(),
            stop,
        };
        input.start(Counter { inner: source, count }).map_err(|e| input.failure(&e, None))?;
        if is_utf_16(&input.head) {
            let what = Diagnostic::error("the text is in UTF-16").at(Place::source(name));
            return Err(Failure::new(Fault::Data, what.help("convert the file to UTF-8")));
        }
        Ok(input)
    }

    fn start(&mut self, mut source: impl Read + Send + 'static) -> io::Result<()> {
        let mut magic = Vec::new();
        source.by_ref().take(4).read_to_end(&mut magic)?;
        self.compression = Compression::of(&magic);
        self.beside.magic(&magic);
        let raw = Cursor::new(magic).chain(source);
        let mut reader: Box<dyn BufRead + Send> = match self.compression {
            None => self.stoppable(raw),
            Some(compression) => {
                let raw = BufReader::with_capacity(BUFFER, raw);
                self.stoppable(self.unpacked(Members::new(compression, raw, self.beside.clone())?))
            }
        };
        reader.by_ref().take(HEAD).read_to_end(&mut self.head)?;
        if self.head.starts_with(BOM) {
            self.head.drain(..BOM.len());
            self.marked = true;
        }
        self.reader = Box::new(Cursor::new(self.head.clone()).chain(reader));
        Ok(())
    }

    fn stoppable(&self, inner: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
        Box::new(BufReader::with_capacity(BUFFER, Stoppable { inner, stop: self.stop.clone() }))
    }

    fn unpacked<R>(&self, inner: R) -> Unpacked<R> {
        let packed = Arc::clone(&self.progress.read);
        Unpacked { inner, packed, unpacked: 0, limit: self.limit.clone() }
    }

    /// Sets how long lines may be, and how much a file may hold that is far smaller itself.
    pub(crate) fn limit(&mut self, bytes: u64) {
        self.limit.bytes.store(bytes, Ordering::Relaxed);
    }

    /// What makes the reading end.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The file's name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How far the reading is.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// The first bytes of the text.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether the text started with a byte order mark of UTF-8, which is not part of it any more.
    pub(crate) fn is_marked(&self) -> bool {
        self.marked
    }

    /// Notes something that should be known about how the text was read.
    pub(crate) fn warn(&mut self, warning: Diagnostic) {
        self.warnings.push(warning);
    }

    pub(crate) fn warnings(self) -> Vec<Diagnostic> {
        self.warnings
    }

    /// This is a publication: every byte of it has to be accounted for, and whatever is no part of a record is refused.
    pub fn published(mut self) -> Self {
        self.outside = Some(Problems::new(&self.name));
        self
    }

    /// Whether this is a publication.
    pub(crate) fn is_published(&self) -> bool {
        self.outside.is_some()
    }

    /// Notes something that stands beside what the policy speaks of; private data may have it, a publication not.
    pub(crate) fn outside(&mut self, what: impl FnOnce(Place) -> Diagnostic) {
        if let Some(outside) = &mut self.outside {
            outside.push(what);
        }
    }

    /// Refuses a publication in which something stands outside.
    pub(crate) fn nothing_outside(&mut self) -> Result<()> {
        if let (true, Some(compression)) = (self.is_published(), self.compression) {
            // What follows the text is found at its end, which not every reader asks for.
            io::copy(&mut self.reader, &mut io::sink()).map_err(|e| self.failure(&e, None))?;
            for words in self.beside.words() {
                self.outside(|place| {
                    let what = format!("the {} file holds more than the text: {words}", compression.name());
                    Diagnostic::error(what).at(place).help("compress it again, without name and time")
                });
            }
        }
        self.outside.take().map_or(Ok(()), Problems::settle)
    }

    /// The file itself and the count of what is read from it, if it is one and not compressed.
    pub(crate) fn whole_file(&self) -> Option<(&File, &Arc<AtomicU64>)> {
        self.file.as_ref().map(|file| (file, &self.progress.read))
    }

    /// Reads some bytes; none at the end of the text. What an error means, [`failure`](Self::failure) knows.
    pub(crate) fn read_some(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(into)?;
        self.bytes += read as u64;
        Ok(read)
    }

    /// Reads a line without its end (`\n` or `\r\n`) into `line`; false at the end of the text.
    pub fn read_line(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        let read = self.read_raw_line(line)?;
        if line.last() == Some(&b'\n') {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
        }
        Ok(read)
    }

    /// Reads a line with its end.
    pub(crate) fn read_raw_line(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        line.clear();
        let most = self.limit.bytes();
        match self.reader.by_ref().take(most.saturating_add(1)).read_until(b'\n', line) {
            Ok(0) => Ok(false),
            Ok(read) if read as u64 > most => {
                let place = Place::source(self.name.as_str()).line(self.lines + 1);
                Err(self.limit.failure("a line is longer than", place))
            }
            Ok(read) => {
                self.bytes += read as u64;
                self.lines += 1;
                Ok(true)
            }
            Err(e) => {
                self.bytes += line.len() as u64;
                Err(self.failure(&e, Some(self.lines + 1)))
            }
        }
    }

    /// Refuses a row of several lines that is longer than a line may be.
    pub(crate) fn refuse_longer(&self, length: usize) -> Result<()> {
        if length as u64 <= self.limit.bytes() {
            return Ok(());
        }
        let place = Place::source(self.name.as_str()).line(self.lines);
        Err(self.limit.failure("a row is longer than", place))
    }

    /// Reads everything that is left, which is no more than so many bytes.
    pub(crate) fn read_at_most(&mut self, most: u64) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let read = self.reader.by_ref().take(most.saturating_add(1)).read_to_end(&mut text);
        self.bytes += text.len() as u64;
        read.map_err(|e| self.failure(&e, None))?;
        if text.len() as u64 > most {
            let what = format!("the file is larger than {}", bytes(most));
            let what = Diagnostic::error(what).at(Place::source(self.name.as_str()));
            return Err(Failure::new(Fault::Data, what.help("check that it is the right file")));
        }
        Ok(text)
    }

    /// Reads everything that is left.
    pub fn read_all(&mut self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let read = self.reader.read_to_end(&mut text);
        self.bytes += text.len() as u64;
        match read {
            Ok(_) => Ok(text),
            Err(e) => {
                let lines = memchr::memchr_iter(b'\n', &text).count() as u64;
                Err(self.failure(&e, Some(self.lines + lines + 1)))
            }
        }
    }

    /// What a failed reading means: compressed data that is damaged is the data's fault.
    pub(crate) fn failure(&self, error: &io::Error, line: Option<u64>) -> Failure {
        if self.stop.is_set() {
            return Failure::interrupted();
        }
        if self.limit.burst.load(Ordering::Relaxed) {
            let what = format!("the file holds more than {RATIO} times its own size, and more than");
            return Limit::more_than(&what, self.limit.unpacked(), Place::source(self.name.as_str()));
        }
        let name = match self.compression {
            // Zstandard's own errors have no kind.
            Some(Compression::Zstd) if error.raw_os_error().is_some() => {
                return fault::reading(&self.name, error);
            }
            Some(compression) => compression.name(),
            None => return fault::reading(&self.name, error),
        };
        let how = match error.kind() {
            ErrorKind::UnexpectedEof => "is cut off",
            _ if error.raw_os_error().is_none() => "is damaged",
            _ => return fault::reading(&self.name, error),
        };
        let text = if self.bytes == 0 {
            format!("the {name} data {how} near its start")
        } else {
            format!("the {name} data {how} after about {} bytes of text", self.bytes)
        };
        let mut place = Place::source(self.name.as_str());
        place.line = line;
        Failure::new(Fault::Data, Diagnostic::error(text).at(place).help("copy or compress the file again"))
    }
}
