//! `csv`: one table, one record per row.

use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::{
    AttributeId, Builder, ClassId, Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result,
};

use crate::fault;
use crate::format::{Format, Layout};
use crate::input::Input;
use crate::problems::{Problems, too_large};
use crate::rows::Rows;
use crate::sorted::Sorted;

/// Separators that are recognised by themselves.
const USUAL: [u8; 3] = [b',', b';', b'\t'];

/// A table with a header row. All cells are text; an empty cell is missing; blank lines are skipped.
#[derive(Debug)]
pub struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv", "tsv"]
    }

    fn has_types(&self) -> bool {
        false
    }

    fn read(&self, input: &mut Input, layout: &Layout) -> Result<(Dataset, Layout)> {
        let separator =
            separator(layout.separator.as_deref())?.unwrap_or_else(|| sniff_separator(input.head()));
        let mut table = Table {
            problems: Problems::new(input.name()),
            builder: Builder::new(),
            columns: Vec::new(),
            rows: 0,
        };
        let mut rows = Rows::new(input, separator);
        let mut header = true;
        while let Some((line, row)) = rows.advance()? {
            let header = std::mem::take(&mut header);
            table.rows += u64::from(!header);
            let goes_on = match row {
                Ok(()) if header => table.header(&rows, line),
                Ok(()) => table.row(&rows, line),
                Err(mistake) => {
                    let (message, help) = mistake.describe();
                    let record = (!header).then_some(table.rows);
                    table.problems.push(|place| {
                        let place = Place { record, ..place.line(line) };
                        Diagnostic::error(message).at(place).help(help)
                    });
                    !header
                }
            };
            if !goes_on {
                break;
            }
        }
        let data = table.problems.check(table.builder.finish())?;
        let separator = Some(char::from(separator).to_string());
        Ok((data, Layout { separator, ..layout.clone() }))
    }

    fn write(
        &self,
        data: &Dataset,
        layout: &Layout,
        out: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<()> {
        let header = header_text(data, layout)?;
        let mut sorted = row_texts(data, layout, observer)?;
        sorted.sort(observer)?;
        for row in std::iter::once(header.as_slice()).chain(sorted.iter()) {
            observer.go_on()?;
            out.write_all(row).map_err(fault::from_write)?;
        }
        Ok(())
    }
}

/// The first row of a table, unless the records are none of one.
pub(crate) fn header_text(data: &Dataset, layout: &Layout) -> Result<Vec<u8>> {
    let separator = separator(layout.separator.as_deref())?.unwrap_or(b',');
    let schema = data.schema();
    let lists = schema.classes().skip(1).map(|(_, c)| (&c.path, "a list"));
    let objects = schema.attributes().filter(|(_, a)| a.class == ClassId::ROOT && a.name.len() != 1);
    let nested = lists.chain(objects.map(|(_, a)| (&a.path, "inside an object")));
    let problems: Vec<Diagnostic> = nested
        .map(|(path, what)| {
            let what = format!("nested records cannot be written as one table: this is {what}");
            Diagnostic::error(what).at(Place::default().path(path.as_str())).help("publish as ndjson")
        })
        .collect();
    if !problems.is_empty() {
        return Err(Failure::all(Fault::Data, problems));
    }
    let mut header = Vec::new();
    push_row(&mut header, separator, schema.attributes().map(|(_, a)| a.name[0].as_str()));
    Ok(header)
}

/// The other rows, in the order of the records.
pub(crate) fn row_texts(data: &Dataset, layout: &Layout, observer: &dyn Observer) -> Result<Sorted> {
    let separator = separator(layout.separator.as_deref())?.unwrap_or(b',');
    let schema = data.schema();
    let mut sorted = Sorted::default();
    for record in 0..data.len() {
        observer.go_on()?;
        let vertex = data.vertices(record).start;
        sorted.push(|text| {
            let cells = schema.attributes().map(|(id, _)| match data.value(vertex, id) {
                MISSING => "",
                code => data.dictionary(id).text(code),
            });
            push_row(text, separator, cells);
        });
    }
    Ok(sorted)
}

struct Table {
    problems: Problems,
    builder: Builder,
    columns: Vec<(AttributeId, String)>,
    rows: u64,
}

impl Table {
    fn header(&mut self, rows: &Rows<'_>, line: u64) -> bool {
        for (i, name) in rows.cells().enumerate() {
            let mut refuse = |what: &str, help: &str| {
                self.problems.push(|place| {
                    let message = format!("column {} of the header {what}", i + 1);
                    Diagnostic::error(message).at(place.line(line)).help(help)
                });
            };
            match std::str::from_utf8(name) {
                Err(_) => refuse("is not valid UTF-8", "convert the file to UTF-8"),
                Ok(name) if name.trim().is_empty() => refuse("has no name", "name every column"),
                Ok(name) if self.columns.iter().any(|(_, n)| n == name) => {
                    refuse("has the name of another column", "give every column a name of its own");
                }
                Ok(name) => {
                    let attribute = self.builder.attribute(ClassId::ROOT, &[name.to_owned()]);
                    self.columns.push((attribute, name.to_owned()));
                }
            }
        }
        self.problems.is_empty()
    }

    /// Takes a row; false if no more can be taken.
    fn row(&mut self, rows: &Rows<'_>, line: u64) -> bool {
        let record = self.rows;
        if rows.cells().len() != self.columns.len() {
            let message =
                format!("the row has {} cells, the header {}", rows.cells().len(), self.columns.len());
            self.problems.push(|place| {
                let what = Diagnostic::error(message).at(place.line(line).record(record));
                what.help("give every row one cell per column; quote cells that contain the separator")
            });
            return true;
        }
        self.builder.begin_record();
        for (cell, (attribute, name)) in rows.cells().zip(&self.columns) {
            match std::str::from_utf8(cell) {
                Ok("") => {}
                Ok(text) => self.builder.set(*attribute, Kind::Text, text),
                Err(_) => {
                    self.problems.push(|place| {
                        let place = place.line(line).record(record).path(name.as_str());
                        Diagnostic::error("not valid UTF-8").at(place).help("convert the file to UTF-8")
                    });
                    self.builder.abort_record();
                    return true;
                }
            }
        }
        if self.builder.end_record().is_err() {
            self.problems.push(|place| too_large(place.line(line)));
            return false;
        }
        true
    }
}

/// The separator that a layout or policy names.
pub(crate) fn separator(named: Option<&str>) -> Result<Option<u8>> {
    match named.map(str::as_bytes) {
        None => Ok(None),
        Some(&[c]) if c.is_ascii() && !matches!(c, b'"' | b'\n' | b'\r' | 0) => Ok(Some(c)),
        Some(_) => {
            let what = Diagnostic::error("the separator of a table must be one character");
            Err(Failure::new(Fault::Policy, what.help("the usual ones are `,`, `;` and tab")))
        }
    }
}

/// The usual separator that the header has most of, outside quotes.
pub(crate) fn sniff_separator(head: &[u8]) -> u8 {
    let mut counts = [0; USUAL.len()];
    let mut quoted = false;
    for &c in head {
        match c {
            b'"' => quoted = !quoted,
            b'\n' if !quoted && counts != [0; USUAL.len()] => break,
            _ if quoted => {}
            _ => {
                if let Some(i) = USUAL.iter().position(|&s| s == c) {
                    counts[i] += 1;
                }
            }
        }
    }
    let most = (0..USUAL.len()).rev().max_by_key(|&i| counts[i]).unwrap_or(0);
    USUAL[most]
}

/// Adds a row; cells are quoted where they must be.
pub(crate) fn push_row<'a>(out: &mut Vec<u8>, separator: u8, cells: impl Iterator<Item = &'a str>) {
    let start = out.len();
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.push(separator);
        }
        let special = |c: u8| c == separator || matches!(c, b'"' | b'\n' | b'\r' | 0);
        // At the start of the file a byte order mark would be taken off.
        if cell.bytes().any(special) || cell.starts_with('\u{feff}') {
            out.push(b'"');
            out.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
            out.push(b'"');
        } else {
            out.extend_from_slice(cell.as_bytes());
        }
    }
    // An empty line would be skipped.
    if out.len() == start {
        out.extend_from_slice(b"\"\"");
    }
    out.push(b'\n');
}
