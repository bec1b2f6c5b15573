//! Publications in several files: a folder of parts that is one publication.
//!
//! Parts that follow the parts of an input would tell who came from which of them. So a publication in parts is one sorted
//! file that was cut: records are ordered by their content across all files, every part but the last has the same number of
//! them, and the files are called `part-00000`, `part-00001`, … That way neither names nor places of cuts say anything, and
//! whoever reads the folder can check it.

use std::path::{Path, PathBuf};

use bosket_model::observe::Observer;
use bosket_model::words::plural;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

use crate::fault;
use crate::form::{self, There};
use crate::format::{Format, Layout, Loaded, by_extension, by_name};
use crate::input::Input;
use crate::parquet;
use crate::problems::Problems;
use crate::stop::watched;

/// The formats that a publication in parts may have.
pub const FORMATS_IN_PARTS: [&str; 2] = ["parquet", "ndjson"];

/// What a part is called.
pub fn part_name(number: usize, format: &str) -> String {
    format!("part-{number:05}.{format}")
}

/// What is known about a part: how many records it has, and where it belongs in the order of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartFacts {
    /// How many records it has.
    pub records: u64,
    /// The content of its first record; of its last.
    pub first: Vec<u8>,
    /// The content of its last record.
    pub last: Vec<u8>,
    /// Whether its records are in the order of their content.
    pub sorted: bool,
    /// What its columns are.
    pub columns: String,
}

impl PartFacts {
    /// A part without records.
    pub fn new(columns: &str) -> Self {
        let (first, last) = (Vec::new(), Vec::new());
        PartFacts { records: 0, first, last, sorted: true, columns: columns.to_owned() }
    }

    /// Adds its next record.
    pub fn add(&mut self, content: &[u8]) {
        if self.records == 0 {
            self.first.extend_from_slice(content);
        } else {
            self.sorted &= self.last.as_slice() <= content;
        }
        self.records += 1;
        self.last.clear();
        self.last.extend_from_slice(content);
    }
}

/// Refuses parts that are not one sorted file that was cut into equal parts.
pub fn refuse_disorder(folder: &Path, format: &str, parts: &[PartFacts]) -> Result<()> {
    let mut problems = Problems::new(&folder.to_string_lossy());
    let Some(first) = parts.first() else {
        return Err(nothing(folder, format));
    };
    for (number, part) in parts.iter().enumerate() {
        let mut refuse = |what: &str, help: &str| {
            let what = format!("{} {what}", part_name(number, format));
            problems.push(|place| Diagnostic::error(what).at(place).help(help));
        };
        let last = number + 1 == parts.len();
        let before = number.checked_sub(1).map(|at| &parts[at]);
        if part.columns != first.columns {
            refuse("has other columns than the first part", "hand the parts out as they were written");
        }
        if part.records == 0 {
            refuse("holds no record", "hand the parts out as they were written");
        } else if !part.sorted || before.is_some_and(|before| before.last > part.first) {
            refuse(
                "is not in the order of the published content, across all parts",
                "parts that follow the input tell who came from where: publish again",
            );
        }
        if part.records > first.records || (!last && part.records != first.records) {
            refuse(
                "has another number of records than the first part",
                "only the last may have fewer: where parts end may tell something",
            );
        }
    }
    problems.settle()
}

/// The parts of a publication, in their order; refuses whatever else lies in the folder but its certificate.
pub fn part_files(folder: &Path, format: &str, beside: &[String]) -> Result<Vec<PathBuf>> {
    let name = folder.to_string_lossy();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| fault::reading(&name, &e))? {
        let entry = entry.map_err(|e| fault::reading(&name, &e))?;
        let plain = entry.file_type().is_ok_and(|kind| kind.is_file());
        found.push((entry.file_name().to_string_lossy().into_owned(), plain));
    }
    found.sort_unstable();
    found.retain(|(file, plain)| !(*plain && beside.contains(file)));
    let mut problems = Problems::new(&name);
    let count = found.iter().filter(|(file, plain)| *plain && number(file, format).is_some()).count();
    for (file, plain) in &found {
        if !plain || number(file, format).is_none_or(|at| at >= count) {
            problems.push(|place| {
                let what = format!("`{file}` lies in the folder and is no part of the publication");
                let help = "take it out: parts are called part-00000, part-00001, … without a gap";
                Diagnostic::error(what).at(place).help(help)
            });
        }
    }
    problems.settle()?;
    if count == 0 {
        return Err(nothing(folder, format));
    }
    Ok((0..count).map(|at| folder.join(part_name(at, format))).collect())
}

fn number(file: &str, format: &str) -> Option<usize> {
    let digits = file.strip_prefix("part-")?.strip_suffix(format)?.strip_suffix('.')?;
    let number = digits.parse().ok()?;
    (part_name(number, format) == file).then_some(number)
}

fn nothing(folder: &Path, format: &str) -> Failure {
    let what = format!("the folder holds no part of a publication, such as {}", part_name(0, format));
    let place = Place::source(folder.to_string_lossy());
    Failure::new(Fault::Data, Diagnostic::error(what).at(place).help("name the folder that was published"))
}

/// Reads a publication in parts; every file in the folder is looked at.
pub(crate) fn open(
    folder: &Path,
    format: Option<&str>,
    layout: &Layout,
    observer: &dyn Observer,
) -> Result<Loaded> {
    let format = in_parts(folder, format)?;
    let files = part_files(folder, format.name(), &layout.beside)?;
    let mut input = Input::of_files(folder, files)?.published();
    let progress = input.progress();
    observer.reading(input.name(), progress.total());
    let stop = input.stop().clone();
    watched(
        observer,
        &stop,
        || observer.position(progress.read()),
        || {
            let (data, layout, facts) = read(format, &mut input, layout)?;
            input.nothing_outside()?;
            refuse_disorder(folder, format.name(), &facts)?;
            observer.decided(&format!("{} in the order of their content", plural(facts.len(), "part")));
            Ok(Loaded { data, format, layout, warnings: Vec::new() })
        },
    )
}

/// One part alone, as a publication.
#[derive(Debug)]
pub struct Part {
    /// Its records.
    pub data: Dataset,
    /// Where it belongs.
    pub facts: PartFacts,
    path: PathBuf,
    format: &'static dyn Format,
    layout: Layout,
}

impl Part {
    /// Where it leaves the one form; none if it does not.
    pub fn form(&self) -> Result<Option<Diagnostic>> {
        let quiet = &bosket_model::observe::Quiet;
        form::of_parts(&[There::file(&self.path)], (self.format, &self.layout), &self.data, quiet)
    }
}

/// Reads one part alone, as a publication, and says where it belongs.
pub fn read_part(path: &Path, layout: &Layout) -> Result<Part> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let format = by_extension(path).map(Format::name);
    let format = in_parts(path, format)?;
    let mut input = Input::of_files(folder, vec![path.to_owned()])?.published();
    let (data, layout, mut facts) = read(format, &mut input, layout)?;
    input.nothing_outside()?;
    let facts = facts.pop().ok_or_else(|| nothing(folder, format.name()))?;
    Ok(Part { data, facts, path: path.to_owned(), format, layout })
}

fn in_parts(at: &Path, format: Option<&str>) -> Result<&'static dyn Format> {
    let found = match format {
        Some(name) => Some(by_name(name)?),
        None => FORMATS_IN_PARTS
            .iter()
            .map(|name| by_name(name))
            .find_map(|found| found.ok().filter(|found| at.join(part_name(0, found.name())).is_file())),
    };
    found.filter(|found| FORMATS_IN_PARTS.contains(&found.name())).ok_or_else(|| {
        let what = "a publication in this format is a file, not a folder";
        let help = "name the file; only Parquet and NDJSON are published in parts";
        Failure::new(Fault::Data, Diagnostic::error(what).at(Place::source(at.to_string_lossy())).help(help))
    })
}

fn read(
    format: &'static dyn Format,
    input: &mut Input,
    layout: &Layout,
) -> Result<(Dataset, Layout, Vec<PartFacts>)> {
    if format.name() == "parquet" {
        let (data, columns, facts) = parquet::parts::read(input)?;
        return Ok((data, Layout { columns: Box::new(columns), ..layout.clone() }, facts));
    }
    let mut facts = Vec::new();
    for file in input.files().unwrap_or_default() {
        let mut part = input.part(&file)?;
        let (mut line, mut found) = (Vec::new(), PartFacts::new(""));
        while part.read_line(&mut line)? {
            if !line.trim_ascii().is_empty() {
                found.add(&line);
            }
        }
        facts.push(found);
    }
    let (data, layout) = format.read(input, layout)?;
    Ok((data, layout, facts))
}
