//! Second references to the person: `payment.customer_id`, where payments hang below rentals, which have a customer too.
//!
//! Both ways should lead to the same person. Where they do not, the data contradicts itself, and rows are counted for the
//! person whom they hang below.

use std::path::Path;

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::policy::{Format, Table};
use bosket_model::words::plural;

use super::backend::{At, Backend, reading};
use super::catalogue::{Catalogue, Linked, Reference};
use super::keys::Keys;
use super::survey::open;
use crate::frames::{FrameTables, Frames};

/// The rows of a table by their keys, each with the person it belongs to.
struct Owned {
    keys: Keys,
    person: Vec<u32>,
}

/// A second reference to the person that leads elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The columns, as `table.column`.
    pub columns: Vec<String>,
    /// In how many rows, in words.
    pub note: String,
}

/// Second references to the person that lead to somebody else, or nowhere, in some rows.
pub fn contradictions(
    at: &Path,
    format: Format,
    separator: Option<&str>,
    catalogue: &Catalogue,
    linked: &Linked,
    observer: &dyn Observer,
) -> Result<Vec<Contradiction>> {
    let Some(person) = linked.tables.first().filter(|t| t.person.is_empty()) else { return Ok(Vec::new()) };
    if linked.tables.iter().skip(1).all(|t| second(catalogue, person, t).is_empty()) {
        return Ok(Vec::new());
    }
    let mut backend = open(at, format, separator, observer)?;
    contradictions_in(&mut *backend, catalogue, person, linked, observer)
}

/// The same of frames.
pub fn contradictions_of_frames(
    frames: &Frames,
    catalogue: &Catalogue,
    linked: &Linked,
    observer: &dyn Observer,
) -> Result<Vec<Contradiction>> {
    let Some(person) = linked.tables.first().filter(|t| t.person.is_empty()) else { return Ok(Vec::new()) };
    contradictions_in(&mut FrameTables(frames.clone()), catalogue, person, linked, observer)
}

fn contradictions_in(
    backend: &mut dyn Backend,
    catalogue: &Catalogue,
    person: &Table,
    linked: &Linked,
    observer: &dyn Observer,
) -> Result<Vec<Contradiction>> {
    reading(backend, observer, |backend, observer| {
        let mut notes = Vec::new();
        let mut known: Vec<Owned> = Vec::new();
        for table in &linked.tables {
            let parent = linked.tables.iter().position(|t| Some(&t.name) == table.parent.as_ref());
            let others = if parent.is_some() { second(catalogue, person, table) } else { Vec::new() };
            let (owned, astray) = owners(backend, table, parent, &others, &mut known, observer)?;
            known.push(owned);
            for (reference, rows) in others.iter().zip(astray).filter(|(_, rows)| *rows > 0) {
                let columns = reference.columns.iter().map(|c| format!("{}.{c}", table.name)).collect();
                let note = format!(
                    "in {} of `{}` {} does not name the row of `{}` above; they count for the one above, and it is published \
                     empty",
                    plural(rows, "row"),
                    table.name,
                    reference.columns.join(", "),
                    person.name
                );
                notes.push(Contradiction { columns, note });
            }
        }
        Ok(notes)
    })
}

/// The references of a table to the person that it does not hang below another by.
fn second<'c>(catalogue: &'c Catalogue, person: &Table, table: &Table) -> Vec<&'c Reference> {
    let listed = catalogue.tables.iter().filter(|t| t.name == table.name);
    let to_person = |r: &&Reference| r.table == person.name && r.key == person.key;
    listed.flat_map(|t| &t.references).filter(to_person).filter(|r| r.columns != table.foreign_key).collect()
}

/// Whom the rows of a table belong to, and in how many of them each other reference names somebody else.
fn owners(
    backend: &mut dyn Backend,
    table: &Table,
    parent: Option<usize>,
    others: &[&Reference],
    known: &mut [Owned],
    observer: &dyn Observer,
) -> Result<(Owned, Vec<usize>)> {
    let at = At { name: &table.name, path: table.path.as_deref() };
    let columns = backend.describe(&at)?;
    let mut wanted: Vec<usize> = Vec::new();
    let mut cells = |names: &[String]| -> Vec<usize> {
        let place = |name: &String| columns.iter().position(|c| c.name == *name);
        names
            .iter()
            .filter_map(place)
            .map(|column| {
                wanted.push(column);
                wanted.len() - 1
            })
            .collect()
    };
    let (key, link) = (cells(&table.key), cells(&table.foreign_key));
    let second: Vec<Vec<usize>> = others.iter().map(|r| cells(&r.columns)).collect();
    let mut owned = Owned { keys: Keys::default(), person: Vec::new() };
    let mut astray = vec![0; others.len()];
    backend.read(&at, &wanted, &[], observer, &mut |_, row| {
        let Ok(row) = row else { return true };
        let above = match parent {
            None => Some(owned.person.len() as u32),
            Some(parent) => {
                let above = &mut known[parent];
                above.keys.get(row, &link).ok().and_then(|place| above.person.get(place as usize).copied())
            }
        };
        for (cells, astray) in second.iter().zip(&mut astray) {
            let named = known[0].keys.get(row, cells).ok();
            *astray += usize::from(above.is_some() && named != above);
        }
        // Who has no key has nobody below.
        if !key.is_empty() && owned.keys.insert(row, &key) == Some(true) {
            owned.person.push(above.unwrap_or(u32::MAX));
        }
        true
    })?;
    Ok((owned, astray))
}
