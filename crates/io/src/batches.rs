//! Records in batches, so that no more than one is in memory: lines and rows of texts, parts of Parquet files, linked tables.

use std::io::Cursor;

use bosket_model::observe::{Limits, Observer};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::format::{self, Format, Layout, Loaded};
use crate::input::Input;
use crate::parquet;
use crate::source::{Opened, SourceForm, Whereabouts};
use crate::stop::watched;

/// How much is read at once.
#[derive(Clone, Copy, Debug)]
pub struct BatchSize {
    /// Most records.
    pub records: usize,
    /// Bytes of text from which on a batch is full.
    pub bytes: usize,
}

/// Records of a batch at most, unless told otherwise.
const RECORDS: usize = 100_000;

/// A text takes about so many times its bytes in memory while its sides are taken apart; a compressed one so many more.
const GROWTH: u64 = 8;
const PACKED: u64 = 8;

impl BatchSize {
    /// As many records as somebody asks for, or as there is room for.
    pub(crate) fn of(limits: Limits) -> Self {
        let memory = limits.memory.unwrap_or(usize::MAX);
        match limits.chunk {
            Some(records) => BatchSize { records: records.get(), bytes: usize::MAX },
            None => BatchSize { records: RECORDS, bytes: (memory / 128).clamp(1 << 16, 16 << 20) },
        }
    }
}

/// Whether a text of so many bytes, compressed or not, fits into memory.
pub(crate) fn fits((weight, packed): (u64, bool), limits: Limits) -> bool {
    let grown = weight.saturating_mul(GROWTH).saturating_mul(if packed { PACKED } else { 1 });
    limits.memory.is_none_or(|memory| grown <= memory as u64)
}

/// Takes one batch after the other.
pub type TakeBatch<'a> = &'a mut dyn FnMut(Opened) -> Result<()>;

/// The formats that can be read in batches.
const FORMATS: [&str; 4] = ["ndjson", "transactions", "csv", "parquet"];

impl Whereabouts {
    /// Why it cannot be read in batches; none if it can.
    pub fn unbatched(&self) -> Option<String> {
        match self {
            Whereabouts::Tables(tables) if tables.are_frames() => {
                Some("frames are in memory already".to_owned())
            }
            Whereabouts::Tables(_) => None,
            Whereabouts::Frame { .. } => Some("a frame is in memory already".to_owned()),
            Whereabouts::Document { gather: Some(_), .. } => {
                Some("the documents of one person are gathered from all of them".to_owned())
            }
            Whereabouts::Document { path, .. } if path.as_os_str() == "-" => {
                Some("standard input can be read only once".to_owned())
            }
            Whereabouts::Document { format: Some(name), .. } if !FORMATS.contains(name) => {
                Some(format!("{name} is read as a whole"))
            }
            Whereabouts::Document { format: None, .. } => Some("its format is not named".to_owned()),
            Whereabouts::Document { .. } => None,
        }
    }

    /// Bytes of the files or tables that hold the records, and whether they are compressed.
    pub fn weight(&self) -> (u64, bool) {
        if let Whereabouts::Tables(tables) = self
            && let Some(bytes) = tables.weight()
        {
            return (bytes, false);
        }
        let paths = self.paths();
        let of = |path: &std::path::PathBuf| {
            path.metadata().ok().filter(std::fs::Metadata::is_file).map_or(0, |m| m.len())
        };
        let packed = |path: &std::path::PathBuf| {
            path.extension().is_some_and(|e| e == "gz" || e == "zst" || e == "parquet" || e == "pq")
        };
        (paths.iter().map(of).sum(), paths.iter().any(packed))
    }

    /// Whether all records fit into memory.
    pub(crate) fn fits(&self, limits: Limits) -> bool {
        limits.memory.is_none() || fits(self.weight(), limits)
    }

    /// Reads all records batch by batch, or says what is wrong with the first batch that cannot be read. What comes back
    /// is how they were written down.
    pub fn batches(
        self,
        size: BatchSize,
        observer: &dyn Observer,
        take: TakeBatch<'_>,
    ) -> Result<SourceForm> {
        if let Some(why) = self.unbatched() {
            let what = format!("the records cannot be read in parts: {why}");
            let what = Diagnostic::error(what).at(Place::source(self.name()));
            return Err(Failure::new(Fault::Data, what.help("allow more memory, so that all records fit")));
        }
        if let Whereabouts::Tables(tables) = self {
            return tables.batches(size, observer, take);
        }
        let Whereabouts::Document { path, format: Some(name), layout, published, kinds, .. } = self else {
            return Err(Failure::defect("records that cannot be read in parts"));
        };
        let format = format::by_name(name)?;
        let input = Input::open_records(&path)?;
        let input = if published { input.published() } else { input };
        let name = path.display().to_string();
        let layout = read_batches(input, format, &layout, size, observer, &mut |mut loaded| {
            loaded.data = kinds.split(loaded.data, &name)?;
            take(loaded.into())
        })?;
        Ok(SourceForm::Document { format, layout: Box::new(layout) })
    }
}

/// Reads the records of a text batch by batch.
pub(crate) fn read_batches(
    mut input: Input,
    format: &'static dyn Format,
    layout: &Layout,
    size: BatchSize,
    observer: &dyn Observer,
    take: &mut dyn FnMut(Loaded) -> Result<()>,
) -> Result<Layout> {
    input.limit(observer.limits().record);
    let progress = input.progress();
    observer.reading(input.name(), progress.total());
    if format.name() == "parquet" {
        return parquet_batches(input, format, layout, size, observer, take);
    }
    let mut found: Option<Layout> = None;
    let mut take = |loaded: Loaded| {
        if !loaded.layout.extended.is_empty() {
            let what = "values with types of MongoDB are not read in parts";
            let help = "allow more memory, so that all records fit";
            return Err(Failure::new(Fault::Data, Diagnostic::error(what).help(help)));
        }
        observer.position(progress.read());
        found.get_or_insert_with(|| loaded.layout.clone());
        take(loaded)
    };
    let files = match input.files() {
        None => vec![None],
        Some(_) => {
            if !format.reads_folders() {
                return Err(input.is_a_folder());
            }
            input.keep_files(format.extensions_in_folders());
            input.files().unwrap_or_default().into_iter().map(Some).collect()
        }
    };
    for file in files {
        let mut part = file.map(|file| input.part(&file)).transpose()?;
        let from = part.as_mut().unwrap_or(&mut input);
        lines(from, format, layout, size, observer, &mut take)?;
        from.nothing_outside()?;
    }
    input.nothing_outside()?;
    found.ok_or_else(|| no_record(&input))
}

fn no_record(input: &Input) -> Failure {
    let what = Diagnostic::error("the file holds no record").at(Place::source(input.name()));
    Failure::new(Fault::Data, what.help("check that it is the right file, and complete"))
}

/// Hands out the lines of a text, or the rows of a table with its header.
fn lines(
    from: &mut Input,
    format: &'static dyn Format,
    layout: &Layout,
    size: BatchSize,
    observer: &dyn Observer,
    take: &mut dyn FnMut(Loaded) -> Result<()>,
) -> Result<()> {
    let is_table = format.name() == "csv";
    let mut layout = layout.clone();
    let (mut header, mut text, mut line) = (Vec::new(), Vec::new(), Vec::new());
    let (mut number, mut first, mut records) = (0u64, 1u64, 0);
    // Whether the text so far ends within quotes.
    let mut quoted = false;
    loop {
        if number.is_multiple_of(1024) {
            observer.go_on()?;
        }
        let more = from.read_raw_line(&mut line)?;
        if more {
            number += 1;
            if is_table {
                quoted ^= line.iter().filter(|&&c| c == b'"').count() % 2 == 1;
                from.refuse_longer(text.len() - text.len().min(size.bytes))?;
            }
            let blank = is_table && line.trim_ascii().is_empty() && !quoted;
            if is_table && header.is_empty() && (quoted || !blank) {
                text.extend_from_slice(&line);
                if !quoted {
                    // A header without rows says how the table is written.
                    header = std::mem::take(&mut text);
                    first = number + 1;
                }
                continue;
            }
            text.extend_from_slice(&line);
            records += usize::from(!quoted);
        }
        let full = !quoted && (records >= size.records || text.len() >= size.bytes);
        if (more && !full) || (!more && text.is_empty()) {
            if more { continue } else { return Ok(()) }
        }
        let name = match first {
            1 => from.name().to_owned(),
            _ => format!("{} (lines counted from line {first} on)", from.name()),
        };
        let mut bytes = header.clone();
        bytes.append(&mut text);
        let mut part = Input::new(&name, Cursor::new(bytes), None)?;
        part.limit(observer.limits().record);
        let mut part = if from.is_published() { part.published() } else { part };
        let stop = part.stop().clone();
        let read = || {
            let (data, layout) = format.read(&mut part, &layout)?;
            part.nothing_outside()?;
            Ok(Loaded { data, format, layout, warnings: part.warnings() })
        };
        let loaded = watched(observer, &stop, || (), read)?;
        if is_table {
            layout.separator.clone_from(&loaded.layout.separator);
        }
        take(loaded)?;
        (first, records) = (number + 1, 0);
        if !more {
            return Ok(());
        }
    }
}

fn parquet_batches(
    mut input: Input,
    format: &'static dyn Format,
    layout: &Layout,
    size: BatchSize,
    observer: &dyn Observer,
    take: &mut dyn FnMut(Loaded) -> Result<()>,
) -> Result<Layout> {
    let progress = input.progress();
    let mut found = None;
    parquet::parts_of(&mut input, size, &mut |data, columns| {
        observer.go_on()?;
        observer.position(progress.read());
        let layout = Layout { columns: Box::new(columns.clone()), ..layout.clone() };
        found.get_or_insert_with(|| layout.clone());
        take(Loaded { data, format, layout, warnings: Vec::new() })
    })?;
    found.ok_or_else(|| no_record(&input))
}
