//! Frames: records or tables in memory that somebody hands over, and that stand where a policy names its source.
//!
//! They are coded when they are handed over ([`parquet::frame`](crate::parquet) does it as a Parquet file would be read),
//! so that nothing of theirs is kept beyond the codes. A frame is taken by whoever reads it; tables can be read again.

use std::sync::{Arc, Mutex, PoisonError};

use bosket_model::diag::nearest;
use bosket_model::observe::Observer;
use bosket_model::policy::{Format as PolicyFormat, Source};
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result};

use crate::parquet::Columns;
use crate::tables::backend::{At, Backend, Beside, Column, ColumnKind, Row, Take};

/// Rows between two signs of progress.
const STEP: usize = 1 << 14;

/// A frame that was coded.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What messages call it; of linked ones the name of the table.
    pub name: String,
    /// Its rows, one record each.
    pub data: Dataset,
    /// The types of its columns.
    pub columns: Columns,
    pub(crate) cells: Vec<Cells>,
}

/// A column at the top of a frame.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    pub(crate) column: Column,
    /// Where its values are; none of lists and structs.
    pub(crate) attribute: Option<AttributeId>,
}

/// The frames of a call.
#[derive(Clone, Debug)]
pub struct Frames {
    frames: Arc<Mutex<Vec<Frame>>>,
    linked: bool,
}

impl Frames {
    /// One frame of records.
    pub fn one(frame: Frame) -> Self {
        Frames { frames: Arc::new(Mutex::new(vec![frame])), linked: false }
    }

    /// Several that keys link.
    pub fn linked(frames: Vec<Frame>) -> Self {
        Frames { frames: Arc::new(Mutex::new(frames)), linked: true }
    }

    /// Whether they are tables that keys link.
    pub fn are_linked(&self) -> bool {
        self.linked
    }

    /// The names of the tables.
    pub fn names(&self) -> Vec<String> {
        self.with(|frames| frames.iter().map(|f| f.name.clone()).collect())
    }

    /// The same for one more reading, in memory of its own.
    pub(crate) fn again(&self) -> Self {
        Frames { frames: Arc::new(Mutex::new(self.with(|frames| frames.clone()))), linked: self.linked }
    }

    /// The only frame, for whoever reads it first.
    pub fn take(&self) -> Result<Frame> {
        self.with(Vec::pop).ok_or_else(|| Failure::defect("a frame was read twice"))
    }

    fn with<T>(&self, run: impl FnOnce(&mut Vec<Frame>) -> T) -> T {
        run(&mut self.frames.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Refuses frames that cannot stand for a source: in number or in its format.
    pub(crate) fn check(&self, source: &Source, policy: &str) -> Result<()> {
        let refuse = |what: String, help: &str| {
            let place = Place::source(policy).path("source");
            Err(Failure::new(Fault::Policy, Diagnostic::error(what).at(place).help(help)))
        };
        match (self.linked, source.tables.is_empty()) {
            (false, false) => {
                let help = "hand over a dict with a frame per table";
                return refuse("the policy links tables, and one frame was given".to_owned(), help);
            }
            (true, true) => {
                let help = "say with [[source.table]] how they are linked, or hand over one frame";
                return refuse("several frames were given, and the policy links no tables".to_owned(), help);
            }
            _ => {}
        }
        let fit = match source.format {
            PolicyFormat::Parquet | PolicyFormat::Csv => true,
            PolicyFormat::Json | PolicyFormat::Ndjson => !self.linked,
            _ => false,
        };
        if fit {
            return Ok(());
        }
        let what = format!("a frame cannot stand for a source in the format \"{}\"", source.format);
        refuse(what, "name the file instead of a frame, or choose the format parquet, csv, json or ndjson")
    }
}

/// Frames as linked tables.
#[derive(Debug)]
pub(crate) struct FrameTables(pub(crate) Frames);

impl FrameTables {
    fn with<T>(&self, name: &str, run: impl FnOnce(&Frame) -> Result<T>) -> Result<T> {
        self.0.with(|frames| match frames.iter().find(|f| f.name == name) {
            Some(frame) => run(frame),
            None => {
                let names: Vec<&str> = frames.iter().map(|f| f.name.as_str()).collect();
                let help = match nearest(name, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the frames are {}", names.join(", ")),
                };
                let what = Diagnostic::error(format!("there is no frame for the table `{name}`"));
                Err(Failure::new(Fault::Policy, what.help(help)))
            }
        })
    }
}

impl Backend for FrameTables {
    fn place(&self, table: &At<'_>) -> String {
        table.name.to_owned()
    }

    fn describe(&mut self, table: &At<'_>) -> Result<Vec<Column>> {
        self.with(table.name, |frame| Ok(frame.cells.iter().map(|c| c.column.clone()).collect()))
    }

    fn read(
        &mut self,
        table: &At<'_>,
        wanted: &[usize],
        _: &[usize],
        observer: &dyn Observer,
        take: &mut Take<'_>,
    ) -> Result<()> {
        self.with(table.name, |frame| {
            let data = &frame.data;
            observer.stage(&format!("reading {}", table.name), data.len() as u64);
            let attributes: Vec<Option<AttributeId>> =
                wanted.iter().map(|&i| frame.cells[i].attribute).collect();
            let mut row = Row::default();
            for record in 0..data.len() {
                if record.is_multiple_of(STEP) {
                    observer.go_on()?;
                    observer.advance(STEP.min(data.len() - record) as u64);
                }
                row.clear();
                let vertex = data.vertices(record).start;
                for attribute in &attributes {
                    row.push_cell(attribute.and_then(|id| {
                        let code = data.value(vertex, id);
                        let dictionary = data.dictionary(id);
                        (code != MISSING).then(|| (dictionary.kind(code), dictionary.text(code)))
                    }));
                }
                if !take(record as u64 + 1, Ok(&mut row)) {
                    return Ok(());
                }
            }
            Ok(())
        })
    }

    fn seal(&mut self, _: &[At<'_>], _: &Beside, _: &dyn Observer) -> Result<()> {
        Err(Failure::defect("frames were read as a publication"))
    }
}

/// How values of a kind come.
pub(crate) fn column_kind(kind: Kind) -> ColumnKind {
    match kind {
        Kind::Text => ColumnKind::Text,
        Kind::Number => ColumnKind::Number,
        Kind::Bool => ColumnKind::Bool,
    }
}
