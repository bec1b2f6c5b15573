//! Looks through tables that no policy describes before they are linked, so that a guess is not refused by the rows.
//!
//! Catalogues and names say how tables could be linked; only rows say whether each of them belongs to somebody. A foreign
//! key that is empty in some rows links the others only, and a table with a row that cannot be read is better left out
//! than the end of everything.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::words::plural;
use bosket_model::{Fault, Result};

use super::backend::{At, Backend, ColumnKind, reading};
use super::catalogue::{Catalogue, Linked, why};
use super::csv::CsvTables;
use super::facts::Counting;
use super::keys::{Keys, Lost};
use super::parquet::ParquetTables;
use super::postgres::PgTables;
use super::sqlite::SqliteTables;
use super::{Store, Tables};
use crate::frames::{FrameTables, Frames};

/// The keys of a table's rows by its name and columns; none if they do not name rows.
type Known = BTreeMap<(String, Vec<String>), Option<Keys>>;

/// Finds out how many rows no foreign key leads anywhere from, and which tables cannot be read.
pub fn survey(
    at: &Path,
    format: Format,
    separator: Option<&str>,
    catalogue: &mut Catalogue,
    observer: &dyn Observer,
) -> Result<()> {
    survey_in(&mut *open(at, format, separator, observer)?, format, catalogue, observer)
}

/// The same of frames.
pub fn survey_frames(frames: &Frames, catalogue: &mut Catalogue, observer: &dyn Observer) -> Result<()> {
    survey_in(&mut FrameTables(frames.clone()), Format::Parquet, catalogue, observer)
}

fn survey_in(
    backend: &mut dyn Backend,
    format: Format,
    catalogue: &mut Catalogue,
    observer: &dyn Observer,
) -> Result<()> {
    reading(backend, observer, |backend, observer| {
        let mut known = Known::new();
        for table in 0..catalogue.tables.len() {
            if catalogue.tables[table].unreadable.is_some() {
                continue;
            }
            match look_through(backend, catalogue, table, &mut known, observer) {
                // A server that has refused one question answers no other in the same snapshot.
                Err(failure) if failure.fault == Fault::Interrupted || format == Format::Postgres => {
                    return Err(failure);
                }
                Err(failure) => {
                    catalogue.tables[table].unreadable = Some(why(&failure));
                }
                Ok(()) => {}
            }
        }
        Ok(())
    })
}

/// Opens tables that no policy describes.
pub(super) fn open(
    at: &Path,
    format: Format,
    separator: Option<&str>,
    observer: &dyn Observer,
) -> Result<Box<dyn Backend>> {
    Ok(match Tables::look(at, format, separator, &Linked::default())?.store {
        Store::Csv(files) => Box::new(CsvTables::new(files, separator)?),
        Store::Parquet(files) => Box::new(ParquetTables::new(files)),
        Store::Sqlite(path) => Box::new(SqliteTables::open(&path)?),
        Store::Frames(frames) => Box::new(FrameTables(frames)),
        Store::Postgres { url, schema, .. } => Box::new(PgTables::open(&url, schema.as_deref(), observer)?),
    })
}

fn look_through(
    backend: &mut dyn Backend,
    catalogue: &mut Catalogue,
    table: usize,
    known: &mut Known,
    observer: &dyn Observer,
) -> Result<()> {
    let listed = catalogue.tables[table].clone();
    for reference in &listed.references {
        let target = catalogue.tables.iter().find(|t| t.name == reference.table && t.unreadable.is_none());
        let target = target.map(|t| At { name: &t.name, path: t.path.as_deref() });
        let name = (reference.table.clone(), reference.key.clone());
        if let Entry::Vacant(unknown) = known.entry(name) {
            let keys = target.map(|at| keys(backend, &at, &reference.key, observer)).transpose()?.flatten();
            unknown.insert(keys);
        }
    }
    let at = At { name: &listed.name, path: listed.path.as_deref() };
    let columns = backend.describe(&at)?;
    let wanted: Vec<usize> =
        (0..columns.len()).filter(|&i| !matches!(columns[i].form, ColumnKind::Foreign(_))).collect();
    let cells = |names: &[String]| -> Option<Vec<usize>> {
        names.iter().map(|name| wanted.iter().position(|&i| columns[i].name == *name)).collect()
    };
    let links: Vec<Option<Vec<usize>>> = listed.references.iter().map(|r| cells(&r.columns)).collect();
    let person = cells(&listed.person).unwrap_or_default();
    let mut astray = vec![(0u64, 0u64); links.len()];
    let mut met: Vec<(Keys, u64)> = links.iter().map(|_| (Keys::default(), 0)).collect();
    let mut facts: Vec<Counting> = wanted.iter().map(|&i| Counting::new(&columns[i].name)).collect();
    let (mut bad, mut nobody) = (None, 0usize);
    let lines = backend.has_lines();
    backend.read(&at, &wanted, &[], observer, &mut |number, row| {
        let row = match row {
            Ok(row) => row,
            Err(found) => {
                let place = if lines { "line" } else { "row" };
                bad = Some(format!("{place} {number}: {}", found.message));
                return false;
            }
        };
        facts.iter_mut().enumerate().for_each(|(cell, counting)| counting.row(row, cell));
        for (link, (keys, repeated)) in links.iter().zip(&mut met) {
            let twice = link.as_ref().is_some_and(|link| keys.insert(row, link) == Some(false));
            *repeated += u64::from(twice);
        }
        nobody += usize::from(person.iter().any(|&c| row.cell(c).is_none()));
        for ((reference, link), astray) in listed.references.iter().zip(&links).zip(&mut astray) {
            let keys = known.get_mut(&(reference.table.clone(), reference.key.clone()));
            let found = match (keys, link) {
                (Some(Some(keys)), Some(link)) => keys.get(row, link),
                _ => Err(Lost::Unknown),
            };
            astray.0 += u64::from(found.is_err());
            astray.1 += u64::from(found == Err(Lost::Unknown));
        }
        true
    })?;
    let listed = &mut catalogue.tables[table];
    if nobody > 0 {
        bad.get_or_insert(format!(
            "{} {} nobody in `{}`",
            plural(nobody, "row"),
            if nobody == 1 { "names" } else { "name" },
            listed.person.join(", ")
        ));
    }
    listed.unreadable = bad;
    listed.facts = facts.into_iter().map(Counting::finish).collect();
    for ((reference, astray), (_, repeated)) in listed.references.iter_mut().zip(astray).zip(met) {
        (reference.astray, reference.unknown) = astray;
        reference.repeated = Some(repeated);
    }
    Ok(())
}

/// The keys of all rows; none if two rows have the same, or one has none.
fn keys(
    backend: &mut dyn Backend,
    at: &At<'_>,
    columns: &[String],
    observer: &dyn Observer,
) -> Result<Option<Keys>> {
    let described = backend.describe(at)?;
    let places = columns.iter().map(|name| described.iter().position(|c| c.name == *name));
    let Some(wanted) = places.collect::<Option<Vec<usize>>>() else { return Ok(None) };
    let cells: Vec<usize> = (0..wanted.len()).collect();
    let (mut keys, mut names_rows) = (Keys::default(), true);
    backend.read(at, &wanted, &[], observer, &mut |_, row| {
        names_rows = row.is_ok_and(|row| keys.insert(row, &cells) == Some(true));
        names_rows
    })?;
    Ok(names_rows.then_some(keys))
}
