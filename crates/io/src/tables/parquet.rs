//! Linked tables in Parquet files, one file per table.

use std::io::Write;

use bosket_model::observe::{Limits, Observer};
use bosket_model::{Diagnostic, Failure, Fault, Kind, Place, Result};
use parquet::basic::Repetition;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::Type;

use super::backend::{At, Backend, BadRow, Beside, Column, ColumnKind, Row, Take};
use super::emit::Outflow;
use super::files::Files;
use super::published::{Origin, Published, Table, Typed};
use super::shape::Shape;
use crate::input::Input;
use crate::output::Output;
use crate::parquet::chunks::{Chunks, failure, open};
use crate::parquet::decode::{Scratch, Wrong};
use crate::parquet::fitting::Fitting;
use crate::parquet::leaf::{self, Levels};
use crate::parquet::scalar::Scalar;
use crate::parquet::writer::{self, Full, Observed, Writer, flat_schema};

/// Rows that are read at once.
const BATCH: usize = 4096;

/// What is wrong with a column that is no single value, and what to do.
const UNREADABLE: (&str, &str) =
    ("has a type that a table cannot have", "leave it out, or convert it to text");

/// Tables in Parquet files. A row's columns are single values; a gap is missing.
#[derive(Debug)]
pub(crate) struct ParquetTables {
    files: Files,
    /// They are a publication, of which every byte has to be accounted for.
    published: bool,
    /// How long a row may be, and how much a file may hold that is far smaller itself.
    limit: u64,
}

impl ParquetTables {
    pub(crate) fn new(files: Files) -> Self {
        ParquetTables { files, published: false, limit: Limits::RECORD }
    }

    fn open(&self, table: &At<'_>) -> Result<(SerializedFileReader<Chunks>, Input)> {
        let mut input = self.files.open(table.path.unwrap_or(table.name), self.limit)?;
        if self.published {
            input = input.published();
        }
        let file = open(&mut input)?;
        input.nothing_outside()?;
        Ok((file, input))
    }
}

/// The columns that rows have at their top, with the number of the first value in each.
fn columns(root: &Type) -> Vec<(Column, usize)> {
    let mut first = 0;
    let mut found = Vec::new();
    for field in root.get_fields() {
        let foreign = |name: &str| (String::new(), ColumnKind::Foreign(name.to_owned()));
        let repeated = field.get_basic_info().repetition() == Repetition::REPEATED;
        let (declared, form) = match field.is_primitive().then(|| Scalar::of(field)) {
            _ if repeated => foreign("LIST"),
            None => foreign("LIST or STRUCT"),
            Some(Err(name)) => foreign(&name),
            Some(Ok(scalar)) => {
                let form = match scalar.kind() {
                    Kind::Text => ColumnKind::Text,
                    Kind::Number => ColumnKind::Number,
                    Kind::Bool => ColumnKind::Bool,
                };
                (scalar.words(), form)
            }
        };
        found.push((Column { name: field.name().to_owned(), declared, form }, first));
        first += leaves(field);
    }
    found
}

fn leaves(field: &Type) -> usize {
    if field.is_primitive() { 1 } else { field.get_fields().iter().map(|f| leaves(f)).sum() }
}

/// The cells of a column in some rows.
#[derive(Debug, Default)]
struct Cells {
    text: String,
    /// What each value is and where it ends, or what is wrong with it.
    values: Vec<(Result<Kind, Wrong>, usize)>,
    levels: Levels,
    scratch: Scratch,
    /// The next value.
    next: usize,
}

impl Cells {
    fn fill(
        &mut self,
        reader: &mut parquet::column::reader::ColumnReader,
        rows: usize,
        scalar: &Scalar,
    ) -> parquet::errors::Result<()> {
        let Cells { text, values, levels, scratch, next } = self;
        text.clear();
        values.clear();
        *next = 0;
        leaf::read(reader, rows, levels, &mut |raw| {
            let kind = scalar.decode(raw, scratch).map(|(kind, value)| {
                text.push_str(value);
                kind
            });
            values.push((kind, text.len()));
        })
    }

    /// The next cell.
    fn push(&mut self, row: &mut Row, at: usize, there: i16) -> Result<(), Wrong> {
        if self.levels.definition[at] != there {
            row.push_missing();
            return Ok(());
        }
        let start = if self.next == 0 { 0 } else { self.values[self.next - 1].1 };
        let (kind, end) = self.values[self.next];
        self.next += 1;
        match kind {
            Ok(kind) => row.push(kind, &self.text[start..end]),
            Err(_) => row.push_missing(),
        }
        kind.map(|_| ())
    }
}

impl Backend for ParquetTables {
    fn place(&self, table: &At<'_>) -> String {
        self.files.place(table.path.unwrap_or(table.name))
    }

    fn describe(&mut self, table: &At<'_>) -> Result<Vec<Column>> {
        let (file, input) = self.open(table)?;
        let found: Vec<Column> =
            columns(file.metadata().file_metadata().schema()).into_iter().map(|(c, _)| c).collect();
        let twice = |i: &usize| found[..*i].iter().any(|c| c.name == found[*i].name);
        if let Some(i) = (0..found.len()).find(twice) {
            let what = Diagnostic::error(format!("column {} has the name of another column", i + 1));
            let what = what.at(Place::source(input.name())).help("give every column a name of its own");
            return Err(Failure::new(Fault::Data, what));
        }
        Ok(found)
    }

    fn read(
        &mut self,
        table: &At<'_>,
        wanted: &[usize],
        _: &[usize],
        observer: &dyn Observer,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let (file, input) = self.open(table)?;
        let total = file.metadata().file_metadata().num_rows();
        observer.stage(&format!("reading {}", table.name), u64::try_from(total).unwrap_or(0));
        each_row(&file, input.name(), wanted, observer, take)
    }

    fn limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    fn seal(&mut self, tables: &[At<'_>], beside: &Beside, _: &dyn Observer) -> Result<()> {
        self.published = true;
        self.files.refuse_others(tables, &beside.files)
    }
}

/// Hands out the rows of a file with some of its columns.
fn each_row(
    file: &SerializedFileReader<Chunks>,
    name: &str,
    wanted: &[usize],
    observer: &dyn Observer,
    take: &mut Take<'_>,
) -> Result<()> {
    let found = columns(file.metadata().file_metadata().schema());
    let fields = file.metadata().file_metadata().schema().get_fields();
    let mut scalars = Vec::new();
    for &column in wanted {
        let scalar = fields.get(column).filter(|f| f.is_primitive()).and_then(|f| Scalar::of(f).ok());
        scalars.push(scalar.map(|s| (s, i16::from(fields[column].is_optional()))));
    }
    let mut cells: Vec<Cells> = wanted.iter().map(|_| Cells::default()).collect();
    let mut row = Row::default();
    let mut number = 0;
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).map_err(|e| failure(name, &e))?;
        let mut readers = Vec::new();
        for &column in wanted {
            readers.push(group.get_column_reader(found[column].1).map_err(|e| failure(name, &e))?);
        }
        let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        while left > 0 {
            observer.go_on()?;
            let count = left.min(BATCH);
            for ((cells, reader), scalar) in cells.iter_mut().zip(&mut readers).zip(&scalars) {
                if let Some((scalar, _)) = scalar {
                    cells.fill(reader, count, scalar).map_err(|e| failure(name, &e))?;
                }
            }
            for at in 0..count {
                number += 1;
                row.clear();
                let (mut bad, mut foreign) = (None, None);
                for (i, cells) in cells.iter_mut().enumerate() {
                    match &scalars[i] {
                        Some((_, there)) => {
                            if let Err(wrong) = cells.push(&mut row, at, *there) {
                                bad.get_or_insert((i, wrong));
                            }
                        }
                        None => {
                            row.push_missing();
                            foreign.get_or_insert(i);
                        }
                    }
                }
                let bad = bad.map(|(i, wrong)| (i, wrong.describe())).or(foreign.map(|i| (i, UNREADABLE)));
                let cells = bad.map_or(Ok(&mut row), |(i, (message, help))| {
                    let message = format!("column `{}` {message}", found[wanted[i]].0.name);
                    Err(BadRow { message, help })
                });
                if !take(number, cells) {
                    return Ok(());
                }
            }
            left -= count;
            observer.advance(count as u64);
        }
    }
    Ok(())
}

/// Writes the rows of a file again as one of so many files would be written.
pub(crate) fn write_again(
    input: &mut Input,
    files: usize,
    out: &mut (dyn Write + Send),
    observer: &dyn Observer,
) -> Result<()> {
    let file = open(input)?;
    let schema = file.metadata().file_metadata().schema_descr().root_schema_ptr();
    let fields = schema.get_fields();
    let scalars: std::result::Result<Vec<Scalar>, _> = fields.iter().map(|f| Scalar::of(f)).collect();
    let names: Vec<&str> = fields.iter().map(|f| f.name()).collect();
    let scalars = scalars.map_err(|_| unwritable(input.name()))?;
    let begin = || {
        let schema = flat_schema(&names, &scalars)?;
        Writer::new(schema, scalars.clone(), Full::among(files), Observed { out, observer })
    };
    let mut writer = begin().map_err(writer::failure)?;
    let wanted: Vec<usize> = (0..fields.len()).collect();
    let mut done = Ok(());
    each_row(&file, input.name(), &wanted, observer, &mut |_, row| {
        done = row.map_err(|_| unwritable(input.name())).and_then(|row| {
            for (column, cell) in writer.columns.iter_mut().zip(row.iter()) {
                match cell {
                    Some((_, text)) => column.push(1, 0, text),
                    None => column.push_missing(0, 0),
                }
            }
            writer.record_done().map_err(writer::failure)
        });
        done.is_ok()
    })?;
    done?;
    writer.finish().map(|_| ()).map_err(writer::failure)
}

fn unwritable(name: &str) -> Failure {
    let what = Diagnostic::error("a column has a type that a published table does not have");
    Failure::new(Fault::Data, what.at(Place::source(name)).help("publish it again"))
}

/// Writes files, one per table that has one.
pub(super) fn write(
    rows: &dyn Outflow,
    outputs: Vec<Option<&mut Output>>,
    types: Vec<Vec<Scalar>>,
    observer: &dyn Observer,
) -> Result<()> {
    let mut files = Vec::new();
    let full = Full::among(outputs.iter().flatten().count());
    for ((table, output), columns) in rows.tables().iter().zip(outputs).zip(types) {
        let named: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
        let begin = |output| {
            let schema = flat_schema(&named, &columns)?;
            Writer::new(schema, columns.clone(), full, Observed { out: output, observer })
        };
        files.push(output.map(begin).transpose().map_err(writer::failure)?);
    }
    rows.each(&mut |node, row| {
        let Some(file) = &mut files[node] else { return Ok(()) };
        for (column, cell) in file.columns.iter_mut().zip(row.iter()) {
            match cell {
                Some((_, text)) => column.push(1, 0, text),
                None => column.push_missing(0, 0),
            }
        }
        file.record_done().map_err(writer::failure)
    })?;
    files.into_iter().flatten().try_for_each(|file| file.finish().map(|_| ()).map_err(writer::failure))
}

/// Per table and column of a publication its type. The rows are gone through as often as it takes.
pub(super) fn types(rows: &dyn Outflow, shape: &Shape, observer: &dyn Observer) -> Result<Vec<Vec<Scalar>>> {
    let tables = rows.tables();
    let fitting = |column: &Published| match (&column.typed, column.origin) {
        (_, Origin::Parent(_)) | (Typed::Text | Typed::Number, _) => None,
        (Typed::As(words), _) => Some(Fitting::new(Scalar::from_words(words))),
    };
    let mut found: Vec<Vec<Option<Fitting>>> =
        tables.iter().map(|table| table.columns.iter().map(fitting).collect()).collect();
    while found.iter().flatten().flatten().any(Fitting::is_open) {
        rows.each(&mut |node, row| {
            observer.go_on()?;
            for (fitting, cell) in found[node].iter_mut().zip(row.iter()) {
                if let (Some(fitting), Some((kind, text))) = (fitting, cell) {
                    fitting.add(kind, text);
                }
            }
            Ok(())
        })?;
        found.iter_mut().flatten().flatten().for_each(Fitting::pass_done);
    }
    let of = |node: usize| {
        let columns = 0..tables[node].columns.len();
        columns.map(|column| scalar(tables, shape, &found, (node, column))).collect()
    };
    Ok((0..tables.len()).map(of).collect())
}

/// The type of a published column: that of the source where it is published as it is.
fn scalar(
    tables: &[Table],
    shape: &Shape,
    found: &[Vec<Option<Fitting>>],
    (node, column): (usize, usize),
) -> Scalar {
    let published = &tables[node].columns[column];
    match (&published.typed, published.origin, &found[node][column]) {
        (_, Origin::Parent(at), _) => match shape.nodes[node].parent {
            Some(parent) => scalar(tables, shape, found, (parent, at)),
            None => Scalar::text(),
        },
        (Typed::Number, ..) => Scalar::whole(),
        (_, _, Some(fitting)) => fitting.scalar(),
        _ => Scalar::text(),
    }
}
