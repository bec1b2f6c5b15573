//! Guesses the keys of tables in CSV or Parquet files from names and values.
//!
//! A column may be a key if no value comes twice and none is missing; the best is called like its table, or `id`. A
//! column may refer to such a key if it is called like it or like its table, and all its values occur there.

use std::path::Path;

use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use rustc_hash::FxHashSet;

use super::backend::{At, Backend, Column};
use super::catalogue::{Catalogue, Listed, Reference};
use super::csv::CsvTables;
use super::files::Files;
use super::keys::Keys;
use super::parquet::ParquetTables;

/// The tables in a folder's files, and the format of these.
pub(super) fn folder(
    folder: &Path,
    format: Option<&str>,
    separator: Option<&str>,
    observer: &dyn Observer,
) -> Result<(Format, Catalogue)> {
    let name = folder.display().to_string();
    let entries = std::fs::read_dir(folder).map_err(|e| crate::fault::reading(&name, &e))?;
    let mut all: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|file| !file.starts_with('.'))
        .collect();
    all.sort();
    let of = |format: Format| -> Vec<String> {
        all.iter().filter(|file| stem(file, format).is_some()).cloned().collect()
    };
    let refuse = |fault, what: &str, help: &str| {
        Err(Failure::new(fault, Diagnostic::error(what).at(Place::source(name.as_str())).help(help)))
    };
    let (csv, parquet) = (of(Format::Csv), of(Format::Parquet));
    let given = format.and_then(Format::from_name);
    let (format, files) = match (given, csv.is_empty(), parquet.is_empty()) {
        (Some(Format::Parquet), _, false) | (None, true, false) => (Format::Parquet, parquet),
        (Some(Format::Csv), false, _) | (None, false, true) => (Format::Csv, csv),
        (None, false, false) => {
            let help = "say which are meant with --format";
            return refuse(Fault::Usage, "the folder holds tables in CSV and in Parquet", help);
        }
        (Some(Format::Parquet), ..) => {
            return refuse(Fault::Data, "the folder holds no Parquet file", "name another folder");
        }
        (Some(Format::Csv), ..) => {
            return refuse(Fault::Data, "the folder holds no CSV file", "name another folder");
        }
        _ => {
            let help = "name a file, or a folder of tables in CSV or Parquet";
            return refuse(Fault::Data, "the folder holds no table", help);
        }
    };
    let place = Files::Paths(folder.to_owned());
    let catalogue = match format {
        Format::Parquet => guess(folder, &files, format, &mut ParquetTables::new(place), observer)?,
        _ => guess(folder, &files, format, &mut CsvTables::new(place, separator)?, observer)?,
    };
    Ok((format, catalogue))
}

fn guess(
    folder: &Path,
    files: &[String],
    format: Format,
    backend: &mut dyn Backend,
    observer: &dyn Observer,
) -> Result<Catalogue> {
    let mut tables = Vec::new();
    for file in files {
        let name = stem(file, format).unwrap_or(file);
        let at = At { name, path: Some(file) };
        let columns = backend.describe(&at)?;
        let (rows, unique) = unique(backend, &at, &columns, observer)?;
        // That all values differ may be chance; a name must say it too.
        let named = unique.iter().filter(|&&i| rank(&columns[i].name, name) < UNSUITABLE);
        let best = named.min_by_key(|&&i| (rank(&columns[i].name, name), i));
        tables.push(Guessed { name, file, rows, key: best.copied(), columns });
    }
    let mut listed = Vec::new();
    for table in &tables {
        listed.push(Listed {
            name: table.name.to_owned(),
            path: Some(folder.join(table.file).to_string_lossy().into_owned()),
            key: table.key.map(|i| table.columns[i].name.clone()).into_iter().collect(),
            references: table.references(&tables, backend, observer)?,
            rows: table.rows,
        });
    }
    Ok(Catalogue { tables: listed, guessed: true })
}

/// The name of a file of this format without its endings.
fn stem(file: &str, format: Format) -> Option<&str> {
    if format == Format::Parquet {
        return file.strip_suffix(".parquet").or_else(|| file.strip_suffix(".pq"));
    }
    let plain = file.strip_suffix(".gz").or_else(|| file.strip_suffix(".zst")).unwrap_or(file);
    plain.strip_suffix(".csv").or_else(|| plain.strip_suffix(".tsv"))
}

struct Guessed<'a> {
    name: &'a str,
    file: &'a str,
    rows: u64,
    key: Option<usize>,
    columns: Vec<Column>,
}

/// How many rows there are, and the columns in which no value comes twice or is missing.
fn unique(
    backend: &mut dyn Backend,
    at: &At<'_>,
    columns: &[Column],
    observer: &dyn Observer,
) -> Result<(u64, Vec<usize>)> {
    let wanted: Vec<usize> = (0..columns.len()).collect();
    let mut seen: Vec<Option<FxHashSet<Vec<u8>>>> =
        wanted.iter().map(|_| Some(FxHashSet::default())).collect();
    let mut rows = 0;
    backend.read(at, &wanted, &[], observer, &mut |_, row| {
        rows += 1;
        if let Ok(row) = row {
            for (i, seen) in seen.iter_mut().enumerate() {
                let new = seen
                    .as_mut()
                    .is_none_or(|s| row.cell(i).is_some_and(|(_, text)| s.insert(text.as_bytes().to_vec())));
                if !new {
                    *seen = None;
                }
            }
        }
        true
    })?;
    // A single row says nothing about what is unique.
    let unique = |i: &usize| seen[*i].is_some() && rows > 1;
    Ok((rows, wanted.into_iter().filter(unique).collect()))
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A name of a table in the singular, as columns that refer to it have it.
fn singular(table: &str) -> String {
    let plain = plain(table);
    let cut = |ending: &str, instead: &str| plain.strip_suffix(ending).map(|s| format!("{s}{instead}"));
    cut("ies", "y").or_else(|| cut("ses", "s")).or_else(|| cut("s", "")).unwrap_or(plain.clone())
}

const IDS: [&str; 6] = ["id", "key", "no", "nr", "number", "code"];

/// A name that no key would have.
const UNSUITABLE: u32 = 3;

/// How well a name suits the key of a table; less is better.
fn rank(column: &str, table: &str) -> u32 {
    let (column, one, many) = (plain(column), singular(table), plain(table));
    let called =
        |name: &str| IDS.iter().any(|id| column == format!("{name}{id}") || column == format!("{id}{name}"));
    if called(&one) || called(&many) {
        0
    } else if column == "id" || column == "key" {
        1
    } else if IDS.iter().any(|id| column.ends_with(id)) {
        2
    } else {
        UNSUITABLE
    }
}

impl Guessed<'_> {
    /// Whether a column is called like the key of another table, or like the table.
    fn may_refer(&self, column: usize, other: &Guessed<'_>) -> bool {
        let Some(key) = other.key else { return false };
        let (name, key, table) =
            (plain(&self.columns[column].name), plain(&other.columns[key].name), singular(other.name));
        let of_table = IDS.iter().any(|id| name == format!("{table}{id}") || name == format!("{id}{table}"));
        name == table || of_table || (name == key && !IDS.contains(&key.as_str()))
    }

    fn references(
        &self,
        all: &[Guessed<'_>],
        backend: &mut dyn Backend,
        observer: &dyn Observer,
    ) -> Result<Vec<Reference>> {
        let mut found = Vec::new();
        for other in all.iter().filter(|o| o.name != self.name) {
            for column in (0..self.columns.len()).filter(|&c| self.may_refer(c, other)) {
                let Some(key) = other.key else { continue };
                if self.all_occur(column, other, key, backend, observer)? {
                    found.push(Reference {
                        columns: vec![self.columns[column].name.clone()],
                        table: other.name.to_owned(),
                        key: vec![other.columns[key].name.clone()],
                    });
                }
            }
        }
        Ok(found)
    }

    /// Whether all values of a column are keys of another table.
    fn all_occur(
        &self,
        column: usize,
        other: &Guessed<'_>,
        key: usize,
        backend: &mut dyn Backend,
        observer: &dyn Observer,
    ) -> Result<bool> {
        let mut keys = Keys::default();
        let at = At { name: other.name, path: Some(other.file) };
        backend.read(&at, &[key], &[], observer, &mut |_, row| {
            if let Ok(row) = row {
                keys.find_or_insert(row, &[0]);
            }
            true
        })?;
        let (mut some, mut all) = (false, true);
        let at = At { name: self.name, path: Some(self.file) };
        backend.read(&at, &[column], &[], observer, &mut |_, row| {
            if let Ok(row) = row
                && row.cell(0).is_some()
            {
                some = true;
                all &= keys.get(row, &[0]).is_ok();
            }
            all
        })?;
        Ok(some && all)
    }
}
