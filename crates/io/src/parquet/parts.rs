//! Publications in several files: their records as texts that sort as one file with all of them would be sorted, the files
//! that such texts become, and how these are read again.

use std::io::Write;

use bosket_model::{Builder, Dataset, Diagnostic, Failure, Fault, Place, Result};
use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::Columns;
use super::chunks::{damaged, failure as unreadable, open};
use super::fill::Filler;
use super::people::{Sheet, Spelt};
use super::plan::{Field, Plan};
use super::read::read_files;
use super::scalar::Scalar;
use super::shape::Shape;
use super::writer::{Full, Writer, failure};
use crate::form::{Compare, There};
use crate::input::Input;
use crate::parts::PartFacts;

/// The columns that all parts of a publication have.
#[derive(Debug)]
pub struct PartSheet {
    sheet: Sheet,
    columns: Columns,
    /// Path of each attribute, by its number.
    paths: Vec<String>,
}

impl PartSheet {
    /// The columns of published records whose source had these.
    pub fn new(data: &Dataset, source: &Columns) -> Result<Self> {
        let sheet = Sheet::new(data.schema(), source)?;
        let bare = sheet.plan.classes.iter().any(|class| matches!(class, Field::Nothing));
        if bare || matches!(&sheet.plan.classes[0], Field::Struct(fields) if fields.is_empty()) {
            let what =
                Diagnostic::error("a class has no attribute that is published, which parts cannot express");
            return Err(Failure::new(Fault::Data, what.help("leave the class out of the source")));
        }
        let paths = data.schema().attributes().map(|(_, a)| a.path.clone()).collect();
        Ok(PartSheet { sheet, columns: source.clone(), paths })
    }

    /// The texts of records, in their order: whoever sorts them by their bytes has the order of a publication. Columns whose
    /// type cannot hold a value become text, which [`spelled`](Self::spelled) tells.
    pub fn texts(&mut self, data: &Dataset, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.sheet.texts(data)?.iter().try_for_each(take)
    }

    /// Makes columns text whose type cannot hold all values.
    pub fn fit(&mut self, data: &Dataset) {
        self.sheet.fit(data);
    }

    /// Paths of the columns that became text, because values were published that their own type does not hold.
    pub fn spelled(&self) -> Vec<String> {
        let types = self.paths.iter().zip(&self.sheet.plan.types);
        let own = |path: &str| self.columns.scalar(path).is_none_or(|own| *own == Scalar::text());
        types
            .filter(|(path, now)| **now == Scalar::text() && !own(path))
            .map(|(path, _)| path.clone())
            .collect()
    }

    /// Makes columns text that values of other parts do not fit into.
    pub fn spell(&mut self, paths: &[String]) {
        for (path, scalar) in self.paths.iter().zip(&mut self.sheet.plan.types) {
            if paths.contains(path) {
                *scalar = Scalar::text();
            }
        }
    }

    /// The columns as a file without rows.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.begin(Vec::new())?.finish()
    }

    /// The columns of such a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let name = "columns";
        let file =
            SerializedFileReader::new(Bytes::copy_from_slice(bytes)).map_err(|e| unreadable(name, &e))?;
        let (mut builder, mut shape) = (Builder::new(), Shape::default());
        shape.record(file.metadata().file_metadata().schema(), &mut builder, name);
        if !shape.problems.is_empty() {
            return Err(damaged(name, "these are no columns of a publication"));
        }
        let columns = Columns::of(builder.schema(), &shape.leaves);
        PartSheet::new(&builder.finish(), &columns)
    }

    /// Begins a file.
    pub fn begin<W: Write + Send>(&self, to: W) -> Result<PartRows<'_, W>> {
        PartRows::begin(&self.sheet.plan, to)
    }
}

/// A file of records while it is written.
pub struct PartRows<'s, W: Write + Send> {
    plan: &'s Plan,
    writer: Writer<W>,
}

impl<W: Write + Send> std::fmt::Debug for PartRows<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartRows").field("plan", self.plan).finish_non_exhaustive()
    }
}

impl<'s, W: Write + Send> PartRows<'s, W> {
    pub(super) fn begin(plan: &'s Plan, to: W) -> Result<Self> {
        let begin = || Writer::new(plan.schema()?, plan.columns(), Full::ONE, to);
        Ok(PartRows { plan, writer: begin().map_err(failure)? })
    }

    /// Adds a record by its text.
    pub fn record(&mut self, text: &[u8]) -> Result<()> {
        let classes = &self.plan.classes;
        Filler { classes, spelling: &Spelt, columns: &mut self.writer.columns }.record(text);
        self.writer.record_done().map_err(failure)
    }

    /// Completes the file.
    pub fn finish(self) -> Result<W> {
        self.writer.finish().map_err(failure)
    }
}

/// All records of the parts of a publication, its columns, and what is known about each part.
pub(crate) fn read(input: &mut Input) -> Result<(Dataset, Columns, Vec<PartFacts>)> {
    let files = input.files().unwrap_or_default();
    let (data, columns, counts) = read_files(files.iter().map(|file| input.part(file)))?;
    let mut facts = Vec::with_capacity(counts.len());
    let mut sheet = Sheet::new(data.schema(), &columns)?;
    let shape = format!("{columns:?}");
    let (mut part, mut left) = (0, counts.first().copied().unwrap_or(0));
    facts.push(PartFacts::new(&shape));
    sheet.each_text(&data, &mut |text| {
        while left == 0 && part + 1 < counts.len() {
            part += 1;
            left = counts[part];
            facts.push(PartFacts::new(&shape));
        }
        left = left.saturating_sub(1);
        if let Some(facts) = facts.last_mut() {
            facts.add(text);
        }
        input.stop().go_on()
    })?;
    facts.resize_with(counts.len(), || PartFacts::new(&shape));
    Ok((data, columns, facts))
}

/// Where parts are laid out in another way than they would be; none if they are not.
pub(crate) fn of_parts(parts: &[There], columns: &Columns, data: &Dataset) -> Result<Option<Diagnostic>> {
    let mut sheet = Sheet::new(data.schema(), columns)?;
    let texts = sheet.texts(data)?;
    let mut texts = texts.iter();
    for part in parts {
        let count = records_of(part)?;
        let own: Vec<&[u8]> = texts.by_ref().take(count).collect();
        let differs = Compare::begin(part, false)?.with(|out| {
            let mut rows = PartRows::begin(&sheet.plan, out)?;
            own.into_iter().try_for_each(|text| rows.record(text))?;
            rows.finish().map(|_| ())
        })?;
        if differs.is_some() {
            return Ok(differs);
        }
    }
    Ok(None)
}

/// How many records a part has.
fn records_of(part: &There) -> Result<usize> {
    let mut input = part.input()?;
    let file = open(&mut input)?;
    Ok(usize::try_from(file.metadata().file_metadata().num_rows()).unwrap_or(0))
}

/// Refuses a part whose columns are not those of the first.
pub(super) fn other_columns(name: &str) -> Failure {
    let what = Diagnostic::error("this part has other columns than the first").at(Place::source(name));
    Failure::new(Fault::Data, what.help("hand the parts out as they were written"))
}
