//! Writes rows into tables, reads them again and compares, before the tables are put in place.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{Diagnostic, Kind, Place as Where, Result};

use super::backend::{At, Backend, Column, Row};
use super::emit::Outflow;
use super::postgres;
use super::published::{Published, Table, Typed};
use super::target::{Details, Place, Target};
use super::trouble::Trouble;
use super::unknown;
use crate::Create;
use crate::convert::lossy;
use crate::convert::same::plural;
use crate::parquet::scalar::Scalar;

/// Where tables are written to.
#[derive(Clone, Copy, Debug)]
pub struct Destination<'a> {
    /// What they are kept in.
    pub format: Format,
    /// The folder, the database's file, or its address.
    pub path: &'a Path,
    /// The schema of a server's database.
    pub schema: &'a str,
    /// What separates the cells of CSV files.
    pub separator: u8,
}

/// Hands out all rows of a table.
pub(super) fn read_rows(
    backend: &mut dyn Backend,
    at: &At<'_>,
    columns: &[Column],
    key: &[String],
    observer: &dyn Observer,
    take: &mut dyn FnMut(&Row) -> Result<()>,
) -> Result<()> {
    let wanted: Vec<usize> = (0..columns.len()).collect();
    let order: Vec<usize> = key.iter().filter_map(|k| columns.iter().position(|c| c.name == *k)).collect();
    let mut trouble = Trouble::default();
    let mut problems = trouble.rows(&*backend, at);
    let mut stopped = None;
    backend.read(at, &wanted, &order, observer, &mut |number, row| match row {
        Ok(row) => {
            stopped = take(row).err();
            stopped.is_none()
        }
        Err(bad) => problems.bad(number, bad),
    })?;
    if let Some(failure) = stopped {
        return Err(failure);
    }
    trouble.close(problems);
    trouble.check()
}

/// What the rows of a table add up to, in whatever order they come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    rows: u64,
    all: u64,
    /// Per column its gaps and its values.
    columns: Vec<(u64, u64)>,
}

impl Sum {
    fn add(&mut self, row: &Row) {
        self.rows += 1;
        self.columns.resize(row.len(), (0, 0));
        let mut whole = DefaultHasher::new();
        for (cell, sum) in row.iter().zip(&mut self.columns) {
            let text = cell.map(|(_, text)| text);
            text.hash(&mut whole);
            let mut one = DefaultHasher::new();
            text.hash(&mut one);
            sum.0 += u64::from(text.is_none());
            sum.1 = sum.1.wrapping_add(one.finish());
        }
        self.all = self.all.wrapping_add(whole.finish());
    }
}

/// The types that the values of a column could have in Parquet, best first.
#[derive(Debug)]
struct Candidates(Vec<Scalar>, bool);

impl Candidates {
    fn new(column: &Published) -> Self {
        let declared = match &column.typed {
            Typed::As(words) => Scalar::from_words(words),
            _ => None,
        };
        Candidates(declared.into_iter().chain(Scalar::candidates()).collect(), false)
    }

    fn see(&mut self, kind: Kind, text: &str) {
        self.1 = true;
        self.0.retain(|scalar| scalar.fits(std::iter::once((kind, text))));
    }

    fn best(self) -> Scalar {
        let Candidates(fit, seen) = self;
        fit.into_iter().next().filter(|_| seen).unwrap_or_else(Scalar::text)
    }
}

/// Writes, reads again, compares, and only then puts in place. Says how many rows there were.
pub(super) fn transfer(
    flow: &dyn Outflow,
    names: &[&str],
    to: &Destination<'_>,
    inputs: &[PathBuf],
    database: Option<&postgres::Origin>,
    create: Create,
    observer: &dyn Observer,
) -> Result<usize> {
    let mut before: Vec<Sum> = vec![Sum::default(); names.len()];
    let mut types: Vec<Vec<Candidates>> =
        flow.tables().iter().map(|t| t.columns.iter().map(Candidates::new).collect()).collect();
    flow.each(&mut |node, row| {
        observer.go_on()?;
        before[node].add(row);
        if to.format == Format::Parquet {
            for (cell, column) in row.iter().zip(&mut types[node]) {
                if let Some((kind, text)) = cell {
                    column.see(kind, text);
                }
            }
        }
        Ok(())
    })?;
    let ending = match to.format {
        Format::Csv if to.separator == b'\t' => ".tsv",
        Format::Csv => ".csv",
        Format::Parquet => ".parquet",
        Format::Sqlite | Format::Postgres => "",
        other => return Err(unknown(other, "")),
    };
    let files: Vec<String> = names.iter().map(|name| format!("{name}{ending}")).collect();
    let place = Place {
        format: to.format,
        path: to.path,
        url: to.path.to_str().unwrap_or_default(),
        schema: to.schema,
        tables: names.iter().copied().zip(files.iter().cloned()).collect(),
        inputs,
        database,
    };
    let mut target = Target::begin(&place, create)?;
    let details = Details {
        separators: vec![to.separator; names.len()],
        types: types.into_iter().map(|t| t.into_iter().map(Candidates::best).collect()).collect(),
    };
    let named: Vec<Option<&str>> = names.iter().copied().map(Some).collect();
    let order: Vec<Option<usize>> = (0..names.len()).map(Some).collect();
    target.write(flow, &named, &order, details, observer)?;
    let separator = char::from(to.separator).to_string();
    let after = target.reading(Some(&separator), observer, |backend, observer| {
        let mut sums = Vec::new();
        for (name, file) in names.iter().zip(&files) {
            let at = At { name, path: Some(file) };
            let columns = backend.describe(&at)?;
            let mut sum = Sum::default();
            read_rows(backend, &at, &columns, &[], observer, &mut |row| {
                sum.add(row);
                Ok(())
            })?;
            sums.push(sum);
        }
        Ok(sums)
    })?;
    let problems = differences(flow.tables(), names, &before, &after);
    if !problems.is_empty() {
        return Err(lossy(problems, to.format.name()));
    }
    target.finish(Vec::new(), None, observer)?;
    Ok(before.iter().map(|s| s.rows as usize).sum())
}

fn differences(tables: &[Table], names: &[&str], before: &[Sum], after: &[Sum]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (node, name) in names.iter().enumerate() {
        let (was, is) = (&before[node], &after[node]);
        if was.rows != is.rows {
            let what = format!("{} rows were written, {} are read again", was.rows, is.rows);
            found.push(Diagnostic::error(what).at(Where::default().path(*name)));
            continue;
        }
        let some = found.len();
        for ((column, was), is) in tables[node].columns.iter().zip(&was.columns).zip(&is.columns) {
            let what = match was.0.cmp(&is.0) {
                _ if was == is => continue,
                std::cmp::Ordering::Less => {
                    format!("{} would be missing", plural((is.0 - was.0) as i64, "empty text"))
                }
                _ => "some values would be others".to_owned(),
            };
            let path = format!("{name}.{}", column.name);
            found.push(Diagnostic::error(what).at(Where::default().path(path)));
        }
        if was != is && found.len() == some {
            found.push(Diagnostic::error("the rows would be others").at(Where::default().path(*name)));
        }
    }
    found
}
