//! Guesses the keys of tables in CSV or Parquet files from names and values.
//!
//! A column may be a key if no value comes twice and none is missing; the best is called like its table, or `id`. A
//! column may refer to such a key if it is called like it or like its table, and all its values occur there. Where no
//! column is a key, several together may be one, if another table has columns of the same names and all their values
//! occur. People who are named in rows, but have no table with one row each, are grouped by what names them.

use std::path::Path;

use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use rustc_hash::FxHashSet;

use super::backend::{At, Backend, Column, ColumnKind, reading};
use super::catalogue::{Catalogue, Listed, Reference, why};
use super::content;
use super::csv::CsvTables;
use super::files::Files;
use super::keys::Keys;
use super::names::{IDS, UNSUITABLE, is_part_of_a_key, names_a_person, plain, rank, singular};
use super::parquet::ParquetTables;
use crate::frames::{FrameTables, Frames};

/// Whether a folder holds a file that is a table by its name.
pub(super) fn has_tables(folder: &Path) -> bool {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names.any(|file| stem(&file, Format::Csv).is_some() || stem(&file, Format::Parquet).is_some())
}

/// The files of a folder that are tables by their content, though their names do not say it: cells separated as in those
/// that are called tables, or as in each other.
fn tables_by_content<'a>(folder: &Path, all: &'a [String], named: &[(String, String)]) -> Vec<&'a String> {
    let separators = |file: &str| content::separator_of_table(&folder.join(file));
    let usual: Vec<u8> = named.iter().filter_map(|(file, _)| separators(file)).collect();
    let is_named = |file: &String| named.iter().any(|(name, _)| name == file);
    let others = all.iter().filter(|file| !is_named(file) && any_stem(file).is_some());
    let found: Vec<(&String, u8)> = others.filter_map(|file| Some((file, separators(file)?))).collect();
    let alike = |separator: u8| match named.is_empty() {
        true => found.iter().all(|(_, other)| *other == separator),
        false => usual.contains(&separator),
    };
    found.iter().filter(|(_, separator)| alike(*separator)).map(|(file, _)| *file).collect()
}

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
        .filter_map(|entry| entry.ok().filter(|e| !e.path().is_dir())?.file_name().into_string().ok())
        .filter(|file| !file.starts_with('.'))
        .collect();
    all.sort();
    let refuse = |fault, what: &str, help: &str| {
        Err(Failure::new(fault, Diagnostic::error(what).at(Place::source(name.as_str())).help(help)))
    };
    let given = format.and_then(Format::from_name);
    let parquet = named_tables(&all, |file| stem(file, Format::Parquet));
    let csv = named_tables(&all, |file| stem(file, Format::Csv));
    let looks = given.is_none() && parquet.is_empty();
    let by_content = if looks { tables_by_content(folder, &all, &csv) } else { Vec::new() };
    let csv = named_tables(&all, |file| {
        let any = given == Some(Format::Csv) || by_content.iter().any(|found| found.as_str() == file);
        stem(file, Format::Csv).or_else(|| any_stem(file).filter(|_| any))
    });
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
            let help = "name a file, or a folder of tables in CSV or Parquet; --format csv reads files with any ending";
            return refuse(Fault::Data, "the folder holds no table", help);
        }
    };
    let place = Files::Paths(folder.to_owned());
    let mut backend: Box<dyn Backend> = match format {
        Format::Parquet => Box::new(ParquetTables::new(place)),
        _ => Box::new(CsvTables::new(place, separator)?),
    };
    let mut catalogue =
        reading(&mut *backend, observer, |backend, observer| guess(folder, &files, backend, observer))?;
    catalogue.aside = all.into_iter().filter(|file| files.iter().all(|(f, _)| f != file)).collect();
    Ok((format, catalogue))
}

/// A single file whose rows are grouped by the people that a column of it names; none if its name would be no table's.
pub(super) fn rows_of_people(
    path: &Path,
    (format, separator): (Format, Option<&str>),
    person: &str,
    observer: &dyn Observer,
) -> Result<Option<Catalogue>> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let Some(file) = path.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
    let name = stem(file, format).or_else(|| any_stem(file)).unwrap_or(file);
    // Paths of attributes begin with it.
    if !name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
        return Ok(None);
    }
    let place = Files::Paths(folder.to_owned());
    let mut backend: Box<dyn Backend> = match format {
        Format::Parquet => Box::new(ParquetTables::new(place)),
        _ => Box::new(CsvTables::new(place, separator)?),
    };
    let files = [(file.to_owned(), name.to_owned())];
    let mut catalogue =
        reading(&mut *backend, observer, |backend, observer| guess(folder, &files, backend, observer))?;
    for table in &mut catalogue.tables {
        table.person = vec![person.to_owned()];
        table.key.retain(|column| column != person);
    }
    Ok(Some(catalogue))
}

/// The tables that frames are.
pub(super) fn frames(frames: &Frames, observer: &dyn Observer) -> Result<Catalogue> {
    let files: Vec<(String, String)> =
        frames.names().into_iter().map(|name| (format!("{name}.parquet"), name)).collect();
    reading(&mut FrameTables(frames.clone()), observer, |backend, observer| {
        guess(Path::new(""), &files, backend, observer)
    })
}

/// The files that are tables, with the names of these. Of two files with one name the second keeps its ending.
fn named_tables<'a>(files: &'a [String], stem: impl Fn(&'a str) -> Option<&'a str>) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for file in files {
        let Some(stem) = stem(file) else { continue };
        let taken = found.iter().any(|(_, name)| name == stem);
        found.push((file.clone(), if taken { file } else { stem }.to_owned()));
    }
    found
}

/// Most columns that are tried together as a key.
const TOGETHER: usize = 6;

/// A table whose keys nobody has declared.
pub(super) struct Guessed<'a> {
    at: At<'a>,
    rows: u64,
    columns: Vec<String>,
    /// By place.
    key: Vec<usize>,
    /// Columns in which no value comes twice.
    unique: Vec<usize>,
}

fn guess(
    folder: &Path,
    files: &[(String, String)],
    backend: &mut dyn Backend,
    observer: &dyn Observer,
) -> Result<Catalogue> {
    let (mut tables, mut failures) = (Vec::new(), Vec::new());
    for (file, name) in files {
        match Guessed::new(At { name, path: Some(file) }, backend, observer) {
            Ok(table) => tables.push(table),
            Err(failure) if failure.fault == Fault::Interrupted => return Err(failure),
            Err(failure) => failures.push((file, name, failure)),
        }
    }
    if tables.is_empty()
        && let Some((_, _, failure)) = failures.pop()
    {
        return Err(failure);
    }
    let mut references: Vec<Vec<Reference>> = Vec::new();
    let others: Vec<&Guessed<'_>> = tables.iter().collect();
    for table in &tables {
        references.push(table.references(&others, backend, observer)?);
    }
    let all: Vec<&Reference> = references.iter().flatten().collect();
    let mut listed: Vec<Listed> = Vec::new();
    for (table, own) in tables.iter().zip(&references) {
        let (key, unnamed) = table.names(&all);
        listed.push(Listed {
            name: table.at.name.to_owned(),
            path: table.at.path.map(|file| folder.join(file).to_string_lossy().into_owned()),
            unnamed,
            columns: table.columns.clone(),
            person: Vec::new(),
            references: own.clone(),
            rows: table.rows,
            key,
            ..Listed::default()
        });
    }
    group(&mut listed);
    for (file, name, failure) in failures {
        listed.push(Listed {
            name: name.clone(),
            path: Some(folder.join(file).to_string_lossy().into_owned()),
            unreadable: Some(why(&failure)),
            ..Listed::default()
        });
    }
    Ok(Catalogue { tables: listed, guessed: true, aside: Vec::new() })
}

/// Finds the column that names people who have no table with one row each.
pub(super) fn group(tables: &mut [Listed]) {
    let names = |t: &Listed| -> Vec<String> {
        let refers =
            |c: &String| t.references.iter().any(|r| r.columns.as_slice() == std::slice::from_ref(c));
        let free = |c: &&String| names_a_person(c) && t.key.as_slice() != [(*c).clone()] && !refers(c);
        t.columns.iter().filter(free).cloned().collect()
    };
    let keyed = |name: &str| {
        let key = |t: &Listed| t.key.len() == 1 && plain(&t.key[0]) == plain(name);
        tables.iter().any(key)
    };
    let mut found: Vec<String> = tables.iter().flat_map(&names).filter(|c| !keyed(c)).collect();
    found.sort();
    let count = |name: &String| found.iter().filter(|f| *f == name).count();
    let Some(column) = found.iter().max_by_key(|c| count(c)).cloned() else { return };
    for table in tables.iter_mut().filter(|t| t.columns.contains(&column)) {
        table.person = vec![column.clone()];
    }
}

impl<'a> Guessed<'a> {
    pub(super) fn new(at: At<'a>, backend: &mut dyn Backend, observer: &dyn Observer) -> Result<Self> {
        let columns = backend.describe(&at)?;
        let (rows, unique) = unique(backend, &at, &columns, observer)?;
        let columns: Vec<String> = columns.into_iter().map(|c| c.name).collect();
        let mut table = Guessed { at, rows, columns, key: Vec::new(), unique };
        // That all values differ may be chance; a name must say it too.
        let rank = |i: usize| rank(&table.columns[i], table.at.name);
        let named = table.unique.iter().filter(|&&i| rank(i) < UNSUITABLE);
        let best = named.min_by_key(|&&i| (rank(i), i)).copied();
        table.key = match best {
            Some(best) => vec![best],
            None => table.together(backend, observer)?,
        };
        Ok(table)
    }

    /// A table whose key is declared.
    pub(super) fn declared(at: At<'a>, rows: u64, key: &[String], backend: &mut dyn Backend) -> Result<Self> {
        let columns: Vec<String> = backend.describe(&at)?.into_iter().map(|c| c.name).collect();
        let key = key.iter().filter_map(|name| columns.iter().position(|c| c == name)).collect();
        Ok(Guessed { at, rows, columns, key, unique: Vec::new() })
    }

    /// The columns that are its key, and further ones in which no value comes twice.
    pub(super) fn names(&self, references: &[&Reference]) -> (Vec<String>, Vec<String>) {
        let named = |places: &[usize]| places.iter().map(|&i| self.columns[i].clone()).collect::<Vec<_>>();
        // The columns of a key are no attributes: what nobody refers to needs none of several columns.
        let used = references.iter().any(|r| r.table == self.at.name && r.key.len() > 1);
        let key = if self.key.len() > 1 && !used { Vec::new() } else { named(&self.key) };
        let unnamed: Vec<usize> = self.unique.iter().copied().filter(|i| !self.key.contains(i)).collect();
        (key, named(&unnamed))
    }

    /// The fewest columns that are a key together; none if no few are.
    fn together(&self, backend: &mut dyn Backend, observer: &dyn Observer) -> Result<Vec<usize>> {
        let parts: Vec<usize> =
            (0..self.columns.len()).filter(|&i| is_part_of_a_key(&self.columns[i])).collect();
        if parts.len() < 2 || parts.len() > TOGETHER || self.rows < 2 {
            return Ok(Vec::new());
        }
        let mut sets: Vec<u32> = (0..1 << parts.len()).filter(|s: &u32| s.count_ones() > 1).collect();
        sets.sort_by_key(|s| (s.count_ones(), *s));
        for set in sets {
            let wanted: Vec<usize> =
                (0..parts.len()).filter(|i| set & 1 << i != 0).map(|i| parts[i]).collect();
            let cells: Vec<usize> = (0..wanted.len()).collect();
            let mut keys = Keys::default();
            let mut unique = true;
            backend.read(&self.at, &wanted, &[], observer, &mut |_, row| {
                unique &= row.is_ok_and(|row| keys.insert(row, &cells) == Some(true));
                unique
            })?;
            if unique {
                return Ok(wanted);
            }
        }
        Ok(Vec::new())
    }

    /// Whether a column is called like the key of another table, or like the table.
    fn may_refer(&self, column: usize, other: &Guessed<'_>) -> bool {
        let [key] = other.key.as_slice() else { return false };
        let (name, key, table) =
            (plain(&self.columns[column]), plain(&other.columns[*key]), singular(other.at.name));
        let of_table = IDS.iter().any(|id| name == format!("{table}{id}") || name == format!("{id}{table}"));
        name == table || of_table || (name == key && !IDS.contains(&key.as_str()))
    }

    /// The columns that are called like those of another table's key. Of two tables with the same key the narrower
    /// refers to the wider.
    fn same_key(&self, other: &Guessed<'_>) -> Option<Vec<usize>> {
        let place = |&key: &usize| self.columns.iter().position(|c| *c == other.columns[key]);
        let found: Vec<usize> = other.key.iter().map(place).collect::<Option<_>>()?;
        let mut own: Vec<usize> = found.clone();
        own.sort_unstable();
        let width = |t: &Guessed<'_>| (t.columns.len(), std::cmp::Reverse(t.at.name.to_owned()));
        let narrower = own != self.key || width(self) < width(other);
        (other.key.len() > 1 && narrower).then_some(found)
    }

    /// What columns refer to in the other tables, by their names and by all their values.
    pub(super) fn references(
        &self,
        all: &[&Guessed<'_>],
        backend: &mut dyn Backend,
        observer: &dyn Observer,
    ) -> Result<Vec<Reference>> {
        let mut found = Vec::new();
        for other in all.iter().filter(|o| o.at.name != self.at.name) {
            let single = (0..self.columns.len()).filter(|&c| self.may_refer(c, other)).map(|c| vec![c]);
            for columns in single.chain(self.same_key(other)) {
                if self.all_occur(&columns, other, backend, observer)? {
                    found.push(Reference {
                        columns: columns.iter().map(|&c| self.columns[c].clone()).collect(),
                        table: other.at.name.to_owned(),
                        key: other.key.iter().map(|&k| other.columns[k].clone()).collect(),
                        ..Reference::default()
                    });
                }
            }
        }
        Ok(found)
    }

    /// Whether all values of some columns are keys of another table.
    fn all_occur(
        &self,
        columns: &[usize],
        other: &Guessed<'_>,
        backend: &mut dyn Backend,
        observer: &dyn Observer,
    ) -> Result<bool> {
        let mut keys = Keys::default();
        let cells: Vec<usize> = (0..columns.len()).collect();
        backend.read(&other.at, &other.key, &[], observer, &mut |_, row| {
            if let Ok(row) = row {
                keys.find_or_insert(row, &cells);
            }
            true
        })?;
        let (mut some, mut all) = (false, true);
        backend.read(&self.at, columns, &[], observer, &mut |_, row| {
            if let Ok(row) = row
                && cells.iter().all(|&c| row.cell(c).is_some())
            {
                some = true;
                all &= keys.get(row, &cells).is_ok();
            }
            all
        })?;
        Ok(some && all)
    }
}

/// How many rows there are, and the columns in which no value comes twice, is missing or is a measure.
fn unique(
    backend: &mut dyn Backend,
    at: &At<'_>,
    columns: &[Column],
    observer: &dyn Observer,
) -> Result<(u64, Vec<usize>)> {
    // What no attribute can hold is no key either, and would make every row unreadable.
    let readable = |i: &usize| !matches!(columns[*i].form, ColumnKind::Foreign(_));
    let wanted: Vec<usize> = (0..columns.len()).filter(readable).collect();
    let mut seen: Vec<Option<FxHashSet<Vec<u8>>>> =
        wanted.iter().map(|_| Some(FxHashSet::default())).collect();
    let mut rows = 0;
    backend.read(at, &wanted, &[], observer, &mut |_, row| {
        rows += 1;
        if let Ok(row) = row {
            for (i, seen) in seen.iter_mut().enumerate() {
                let fits = |s: &mut FxHashSet<Vec<u8>>| {
                    let new = |(_, text): (_, &str)| !is_measure(text) && s.insert(text.as_bytes().to_vec());
                    row.cell(i).is_some_and(new)
                };
                if !seen.as_mut().is_none_or(fits) {
                    *seen = None;
                }
            }
        }
        true
    })?;
    // A single row says nothing about what is unique.
    let unique = wanted.iter().zip(&seen).filter(|(_, seen)| seen.is_some() && rows > 1);
    Ok((rows, unique.map(|(&i, _)| i).collect()))
}

/// Whether a value is a number with decimals, which names nothing.
fn is_measure(text: &str) -> bool {
    text.contains('.') && text.parse::<f64>().is_ok()
}

/// The name of a file of this format without its endings.
fn stem(file: &str, format: Format) -> Option<&str> {
    if format == Format::Parquet {
        return without(file, ".parquet").or_else(|| without(file, ".pq"));
    }
    let plain = unpacked(file);
    without(plain, ".csv").or_else(|| without(plain, ".tsv"))
}

/// Endings of files that hold no table whatever they are said to hold: other formats, and what comes with data.
const OTHERS: [&str; 19] = [
    "parquet", "pq", "json", "ndjson", "jsonl", "xml", "xsd", "db", "sqlite", "sqlite3", "sql", "toml",
    "yaml", "yml", "md", "html", "pdf", "zip", "tar",
];

/// The name of any file that may hold a table without its endings.
fn any_stem(file: &str) -> Option<&str> {
    let plain = unpacked(file);
    let (stem, ending) = plain.rsplit_once('.').unwrap_or((plain, ""));
    (!stem.is_empty() && !OTHERS.iter().any(|other| ending.eq_ignore_ascii_case(other))).then_some(stem)
}

fn unpacked(file: &str) -> &str {
    without(file, ".gz").or_else(|| without(file, ".zst")).unwrap_or(file)
}

/// A name without its ending, in small letters or capitals.
fn without<'a>(file: &'a str, ending: &str) -> Option<&'a str> {
    let (stem, found) = file.split_at_checked(file.len().checked_sub(ending.len())?)?;
    found.eq_ignore_ascii_case(ending).then_some(stem)
}
