//! Linked tables in CSV files, one file per table.

use bosket_model::observe::{Limits, Observer};
use bosket_model::{Diagnostic, Failure, Fault, Kind, Place, Result};

use super::backend::{At, Backend, BadRow, Beside, Column, ColumnKind, Row, Take};
use super::files::Files;
use crate::input::Input;
use crate::rows::Rows;
use crate::table::{separator, sniff_separator};

/// Rows between two signs of progress.
const STEP: u64 = 1 << 14;

/// Tables in CSV files. All cells are text; an empty cell is missing.
#[derive(Debug)]
pub(crate) struct CsvTables {
    files: Files,
    separator: Option<u8>,
    /// They are a publication, of which every byte has to be accounted for.
    published: bool,
    /// How long a row may be, and how much a file may hold that is far smaller itself.
    limit: u64,
    /// The tables whose header has been read.
    open: Vec<(String, Open)>,
    /// What the tables' cells were found to be separated by.
    found: Vec<(String, u8)>,
}

#[derive(Debug)]
struct Open {
    input: Input,
    separator: u8,
    lines: u64,
    columns: Vec<Column>,
}

impl CsvTables {
    pub(crate) fn new(files: Files, named: Option<&str>) -> Result<Self> {
        Ok(CsvTables {
            files,
            separator: separator(named)?,
            published: false,
            limit: Limits::RECORD,
            open: Vec::new(),
            found: Vec::new(),
        })
    }

    /// What the cells of a table that has been read are separated by.
    pub(crate) fn separator(&self, table: &str) -> u8 {
        self.found.iter().find(|(name, _)| name == table).map_or(b',', |(_, separator)| *separator)
    }
}

fn header(input: &mut Input, separator: u8) -> Result<(Vec<Column>, u64)> {
    let name = input.name().to_owned();
    let mut rows = Rows::new(input, separator);
    let problem = |message: String, line, help: &str| {
        let place = Place::source(name.as_str()).line(line);
        Diagnostic::error(message).at(place).help(help)
    };
    let (line, row) = rows.advance()?.ok_or_else(|| {
        let what = Diagnostic::error("the file holds no table").at(Place::source(name.as_str()));
        Failure::new(Fault::Data, what.help("check that it is the right file, and complete"))
    })?;
    if let Err(mistake) = row {
        let (message, help) = mistake.describe();
        return Err(Failure::new(Fault::Data, problem(message.to_owned(), line, help)));
    }
    let mut columns: Vec<Column> = Vec::new();
    let mut problems = Vec::new();
    for (i, cell) in rows.cells().enumerate() {
        let mut refuse = |what: &str, help: &str| {
            problems.push(problem(format!("column {} of the header {what}", i + 1), line, help));
        };
        match std::str::from_utf8(cell) {
            Err(_) => refuse("is not valid UTF-8", "convert the file to UTF-8"),
            Ok(name) if name.trim().is_empty() => refuse("has no name", "name every column"),
            Ok(name) if columns.iter().any(|c| c.name == name) => {
                refuse("has the name of another column", "give every column a name of its own");
            }
            Ok(name) => {
                columns.push(Column {
                    name: name.to_owned(),
                    declared: String::new(),
                    form: ColumnKind::Text,
                });
            }
        }
    }
    if problems.is_empty() { Ok((columns, rows.lines())) } else { Err(Failure::all(Fault::Data, problems)) }
}

impl Backend for CsvTables {
    fn place(&self, table: &At<'_>) -> String {
        self.files.place(table.path.unwrap_or(table.name))
    }

    fn has_lines(&self) -> bool {
        true
    }

    fn describe(&mut self, table: &At<'_>) -> Result<Vec<Column>> {
        let mut input = self.files.open(table.path.unwrap_or(table.name), self.limit)?;
        if self.published {
            input = input.published();
        }
        let separator = self.separator.unwrap_or_else(|| sniff_separator(input.head()));
        let (columns, lines) = header(&mut input, separator)?;
        let place = self.place(table);
        self.open.retain(|(p, _)| *p != place);
        self.found.retain(|(name, _)| name != table.name);
        self.found.push((table.name.to_owned(), separator));
        self.open.push((place, Open { input, separator, lines, columns: columns.clone() }));
        Ok(columns)
    }

    fn read(
        &mut self,
        table: &At<'_>,
        wanted: &[usize],
        _: &[usize],
        observer: &dyn Observer,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let place = self.place(table);
        let Some(i) = self.open.iter().position(|(p, _)| *p == place) else {
            self.describe(table)?;
            return self.read(table, wanted, &[], observer, take);
        };
        let (_, Open { mut input, separator, lines, columns }) = self.open.swap_remove(i);
        let progress = input.progress();
        observer.stage(&format!("reading {}", table.name), progress.total().unwrap_or(0));
        let mut rows = Rows::after(&mut input, separator, lines);
        let mut row = Row::default();
        let (mut count, mut told) = (0u64, 0);
        while let Some((line, found)) = rows.advance()? {
            observer.go_on()?;
            let cells = match found {
                Err(mistake) => {
                    let (message, help) = mistake.describe();
                    Err(BadRow { message: message.to_owned(), help })
                }
                Ok(()) => fill(&mut row, &rows, wanted, &columns),
            };
            if !take(line, cells.map(|()| &mut row)) {
                break;
            }
            count += 1;
            if count.is_multiple_of(STEP) {
                let read = progress.read();
                observer.advance(read - told);
                told = read;
            }
        }
        input.nothing_outside()
    }

    fn limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    fn seal(&mut self, tables: &[At<'_>], beside: &Beside, _: &dyn Observer) -> Result<()> {
        self.published = true;
        self.files.refuse_others(tables, &beside.files)
    }
}

fn fill(row: &mut Row, rows: &Rows<'_>, wanted: &[usize], columns: &[Column]) -> Result<(), BadRow> {
    row.clear();
    if rows.cells().len() != columns.len() {
        let message = format!("the row has {} cells, the header {}", rows.cells().len(), columns.len());
        let help = "give every row one cell per column; quote cells that contain the separator";
        return Err(BadRow { message, help });
    }
    for &i in wanted {
        match std::str::from_utf8(rows.cell(i)) {
            Ok("") => row.push_missing(),
            Ok(text) => row.push(Kind::Text, text),
            Err(_) => {
                let message = format!("column `{}` is not valid UTF-8", columns[i].name);
                return Err(BadRow { message, help: "convert the file to UTF-8" });
            }
        }
    }
    Ok(())
}
