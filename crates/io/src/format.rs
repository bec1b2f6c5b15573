//! The formats, and how to tell which one a file has.

use std::io::Write;
use std::path::Path;

use bosket_model::diag::nearest;
use bosket_model::observe::Observer;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

use crate::fhir::{Fhir, Forms, Version};
use crate::homes::Homes;
use crate::input::Input;
use crate::json::{Json, Ndjson, Types, is_document};
use crate::parquet::{self, Columns, Parquet};
use crate::stop::watched;
use crate::table::Csv;
use crate::transactions::Transactions;
use crate::xml::{Outline, Xml};

/// What a format leaves open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Where the records are in a JSON document: `entry[]`, `a.b[]`, `x[].y[]`; by default the document is an
    /// array of records. In an XML document: `db/patient`.
    pub record: Option<String>,
    /// What separates the cells of a table or the items of a transaction.
    pub separator: Option<String>,
    /// What an XML document looks like around and inside its records; found when it is read.
    pub outline: Outline,
    /// The columns of a Parquet file; found when it is read.
    pub columns: Box<Columns>,
    /// How FHIR bundles write things down; found when they are read.
    pub fhir: Box<Forms>,
    /// Which attributes of JSON had types of MongoDB; found when it is read.
    pub extended: Box<Types>,
    /// Where the policy has its classes.
    pub homes: Box<Homes>,
    /// Files that may lie in the folder of a publication in parts: its certificate, and signatures of it.
    pub beside: Vec<String>,
}

/// Where the records of a document probably are: what repeats outermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuessedRecords {
    /// Its path.
    pub record: String,
    /// What else repeats.
    pub others: Vec<String>,
}

impl GuessedRecords {
    /// The first of these paths, if there is any.
    pub(crate) fn of(mut paths: Vec<String>) -> Option<Self> {
        if paths.is_empty() {
            return None;
        }
        let record = paths.remove(0);
        Some(GuessedRecords { record, others: paths })
    }
}

/// A way to write records down.
pub trait Format: Sync + std::fmt::Debug {
    /// What policies call it.
    fn name(&self) -> &'static str;

    /// How names of such files end, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// Whether it tells numbers and truth values from text.
    fn has_types(&self) -> bool {
        true
    }

    /// Whether a folder of files is read like one file with all their records.
    fn reads_folders(&self) -> bool {
        false
    }

    /// How names of such files end in a folder.
    fn extensions_in_folders(&self) -> &'static [&'static str] {
        self.extensions()
    }

    /// Reads all records, or says everything that is wrong with them. The layout that comes back has filled in
    /// what was found out, so that the publication can be written the same way.
    fn read(&self, input: &mut Input, layout: &Layout) -> Result<(Dataset, Layout)>;

    /// Where the records of a document probably are, if it leaves that open.
    fn guess_records(&self, _: &mut Input) -> Result<Option<GuessedRecords>> {
        Ok(None)
    }

    /// Writes all records. They and their siblings are ordered by what is written, never by how they came.
    fn write(
        &self,
        data: &Dataset,
        layout: &Layout,
        out: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<()>;
}

/// All formats.
pub static FORMATS: &[&dyn Format] =
    &[&Ndjson, &Json, &Xml, &Csv, &Parquet, &Transactions, &Fhir(Version::R4), &Fhir(Version::Stu3)];

/// The format with this name.
pub fn by_name(name: &str) -> Result<&'static dyn Format> {
    if let Some(format) = FORMATS.iter().find(|f| f.name() == name) {
        return Ok(*format);
    }
    let names: Vec<&str> = FORMATS.iter().map(|f| f.name()).collect();
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the formats are {}", names.join(", ")),
    };
    let what = Diagnostic::error(format!("there is no format `{name}`")).help(help);
    Err(Failure::new(Fault::Policy, what))
}

/// The format of a file, by its name (without `.gz` or `.zst`), else by its first bytes. Which form of JSON a file has only
/// its content says.
pub fn sniff(path: &Path, head: &[u8]) -> Option<&'static dyn Format> {
    let named = by_extension(path);
    let is_json = named.is_some_and(|f| [Json.name(), Ndjson.name()].contains(&f.name()));
    let by_form = if is_json { form_of_json(head) } else { None };
    by_form.or(named).or_else(|| by_content(head))
}

/// The form of JSON that a text has, as far as its first lines tell.
fn form_of_json(head: &[u8]) -> Option<&'static dyn Format> {
    let mut lines = head.split(|&c| c == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let first = lines.next()?;
    match first {
        // An array, or an object over several lines.
        [b'[', ..] | b"{" => Some(&Json),
        [b'{', ..] if lines.next()?.starts_with(b"{") && is_document(first) => Some(&Ndjson),
        _ => None,
    }
}

/// The format that a document without a telling name or policy has, with what may be found out about where its records are;
/// none for a folder and where the records need no place.
pub fn guess_records(
    path: &Path,
    format: Option<&str>,
    observer: &dyn Observer,
) -> Result<Option<GuessedRecords>> {
    let mut input = Input::open_records(path)?;
    let format = match format {
        Some(name) => Some(by_name(name)?),
        None => sniff(path, input.head()),
    };
    let Some(format) = format.filter(|_| input.files().is_none()) else { return Ok(None) };
    input.limit(observer.limits().record);
    let stop = input.stop().clone();
    watched(observer, &stop, || (), || format.guess_records(&mut input))
}

/// The format that the name of a file says it has.
pub fn by_extension(path: &Path) -> Option<&'static dyn Format> {
    let extension = |p: &Path| p.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    let stem = match extension(path).as_deref() {
        Some("gz" | "zst") => path.with_extension(""),
        _ => path.to_owned(),
    };
    let extension = extension(&stem)?;
    FORMATS.iter().find(|f| f.extensions().contains(&extension.as_str())).copied()
}

fn by_content(head: &[u8]) -> Option<&'static dyn Format> {
    if head.starts_with(parquet::MAGIC) {
        return Some(&Parquet);
    }
    // Of all formats only XML comes in UTF-16.
    if matches!(head, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [b'<', 0, ..] | [0, b'<', ..]) {
        return Some(&Xml);
    }
    let start = head.iter().position(|c| !c.is_ascii_whitespace())?;
    let line = head[start..].split(|&c| c == b'\n').next().unwrap_or_default();
    match head[start] {
        b'[' => Some(&Json),
        // A document over several lines has no complete object on its first.
        b'{' if line.trim_ascii_end().ends_with(b"}") => Some(&Ndjson),
        b'{' => Some(&Json),
        b'<' => Some(&Xml),
        _ if line.iter().any(|c| matches!(c, 0..=8)) => None,
        _ if line.iter().any(|c| matches!(c, b',' | b';' | b'\t')) => Some(&Csv),
        _ => Some(&Transactions),
    }
}

/// A dataset, and how it was written down.
#[derive(Debug)]
pub struct Loaded {
    /// The records.
    pub data: Dataset,
    /// The format they had.
    pub format: &'static dyn Format,
    /// The layout they had.
    pub layout: Layout,
    /// What should be known about how they were read.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a dataset in the named format, or in the one it seems to have.
pub fn read(mut input: Input, format: Option<&str>, layout: &Layout) -> Result<Loaded> {
    let format = match format {
        Some(name) => by_name(name)?,
        None if input.files().is_some() => of_folder(&input).ok_or_else(|| input.is_a_folder())?,
        None => sniff(Path::new(input.name()), input.head()).ok_or_else(|| unrecognised(&input))?,
    };
    if input.files().is_some() && !format.reads_folders() {
        return Err(input.is_a_folder());
    }
    input.keep_files(format.extensions_in_folders());
    let (data, layout) = format.read(&mut input, layout)?;
    input.nothing_outside()?;
    Ok(Loaded { data, format, layout, warnings: input.warnings() })
}

/// The same, and tells somebody how far it is, who may lose patience.
pub fn read_observed(
    mut input: Input,
    format: Option<&str>,
    layout: &Layout,
    observer: &dyn Observer,
) -> Result<Loaded> {
    let progress = input.progress();
    observer.reading(input.name(), progress.total());
    input.limit(observer.limits().record);
    let stop = input.stop().clone();
    watched(observer, &stop, || observer.position(progress.read()), || read(input, format, layout))
}

/// The format of which a folder has most documents.
fn of_folder(input: &Input) -> Option<&'static dyn Format> {
    let files = input.files().unwrap_or_default();
    let of = |format: &dyn Format| {
        files.iter().filter(|f| by_extension(f).is_some_and(|own| own.name() == format.name())).count()
    };
    let formats = FORMATS.iter().filter(|f| f.reads_folders());
    let most = formats.rev().max_by_key(|format| of(**format)).copied();
    most.filter(|format| of(*format) > 0)
}

fn unrecognised(input: &Input) -> Failure {
    let names: Vec<&str> = FORMATS.iter().map(|f| f.name()).collect();
    let (text, help) = if input.head().is_empty() {
        ("the file holds no record", "check that it is the right file, and complete".to_owned())
    } else {
        ("cannot tell which format the file has", format!("say it: {}", names.join(", ")))
    };
    Failure::new(Fault::Data, Diagnostic::error(text).at(Place::source(input.name())).help(help))
}
