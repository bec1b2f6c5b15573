//! The form of tables, file by file. What their rows are and in which order they stand has been looked at when they were read:
//! what is left is how they are spelt.

use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use super::{Compare, There};
use crate::fault;
use crate::input::Input;
use crate::rows::Rows;
use crate::table::{push_row, separator, sniff_separator};
use crate::tables::TablesForm;

/// Where linked tables leave the one form. A database is looked at when it is read.
pub(super) fn of_tables(form: &TablesForm, observer: &dyn Observer) -> Result<Option<Diagnostic>> {
    let files: Vec<_> = form.inputs().iter().filter(|path| path.is_file()).collect();
    for path in &files {
        let (open, there) = (|| Input::open(path), There::file(path));
        let differs = match form.format() {
            Format::Csv => check_rows(open()?, &there, form.named_separator(), observer)?,
            Format::Parquet => check_columns(open()?, &there, files.len(), observer)?,
            _ => None,
        };
        if differs.is_some() {
            return Ok(differs);
        }
    }
    Ok(None)
}

/// Where the rows of a CSV file are written in another way than they would be.
pub(crate) fn check_rows(
    mut input: Input,
    there: &There,
    named: Option<&str>,
    observer: &dyn Observer,
) -> Result<Option<Diagnostic>> {
    let separator = separator(named)?.unwrap_or_else(|| sniff_separator(input.head()));
    input.limit(observer.limits().record);
    Compare::begin(there, true)?.with(|out| {
        let mut rows = Rows::new(&mut input, separator);
        let mut text = Vec::new();
        while let Some((line, row)) = rows.advance()? {
            if line % 1024 == 1 {
                observer.go_on()?;
            }
            text.clear();
            let cells: Option<Vec<&str>> = match row {
                Ok(()) => rows.cells().map(|cell| std::str::from_utf8(cell).ok()).collect(),
                Err(_) => None,
            };
            let cells = cells.ok_or_else(|| unreadable(&there.name, line))?;
            push_row(&mut text, separator, cells.into_iter());
            std::io::Write::write_all(out, &text).map_err(fault::from_write)?;
        }
        Ok(())
    })
}

fn unreadable(name: &str, line: u64) -> Failure {
    let what = Diagnostic::error("this is no row of a table").at(Place::source(name).line(line));
    Failure::new(Fault::Data, what.help("check that the file is complete"))
}

/// Where the columns of a Parquet file are laid out in another way than those of one of so many files would be.
pub(crate) fn check_columns(
    mut input: Input,
    there: &There,
    files: usize,
    observer: &dyn Observer,
) -> Result<Option<Diagnostic>> {
    input.limit(observer.limits().record);
    Compare::begin(there, false)?
        .with(|out| crate::tables::write_columns_again(&mut input, files, out, observer))
}
