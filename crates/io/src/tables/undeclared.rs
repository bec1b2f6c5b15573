//! Keys that a database does not declare.
//!
//! Many databases declare none: they were made from files, or their keys live in the program that fills them. Tables that
//! no declared key joins are looked at as files are, by names and values. What is declared is never doubted.

use std::collections::BTreeSet;
use std::path::Path;

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::policy::Format;

use super::backend::{At, Backend, reading};
use super::catalogue::{Catalogue, Listed, Reference};
use super::guess::{Guessed, group};
use super::survey::open;

/// Guesses keys between tables of a database that no declared key joins.
pub fn complete(at: &Path, format: Format, catalogue: &mut Catalogue, observer: &dyn Observer) -> Result<()> {
    let declared = catalogue.tables.iter().any(|t| !t.references.is_empty());
    let parts = parts(&catalogue.tables);
    let is_free = |t: &Listed| t.unreadable.is_none() && !t.derived;
    let free: Vec<usize> = (0..catalogue.tables.len()).filter(|&i| is_free(&catalogue.tables[i])).collect();
    if !matches!(format, Format::Sqlite | Format::Postgres)
        || free.iter().map(|&i| parts[i]).collect::<BTreeSet<_>>().len() < 2
    {
        return Ok(());
    }
    let found = reading(&mut *open(at, format, None, observer)?, observer, |backend, observer| {
        guess(catalogue, &free, &parts, backend, observer)
    })?;
    for (i, (key, unnamed, references)) in free.into_iter().zip(found) {
        let table = &mut catalogue.tables[i];
        (table.key, table.unnamed) = (key, unnamed);
        table.references.extend(references);
    }
    if !declared {
        catalogue.guessed = true;
        group(&mut catalogue.tables);
    }
    Ok(())
}

/// A table's key, further columns in which no value comes twice, and what other columns refer to.
type Found = (Vec<String>, Vec<String>, Vec<Reference>);

fn guess(
    catalogue: &Catalogue,
    free: &[usize],
    parts: &[usize],
    backend: &mut dyn Backend,
    observer: &dyn Observer,
) -> Result<Vec<Found>> {
    let mut tables = Vec::new();
    for &i in free {
        let Listed { name, path, key, rows, .. } = &catalogue.tables[i];
        let at = At { name, path: path.as_deref() };
        tables.push(match key.is_empty() {
            true => Guessed::new(at, backend, observer)?,
            false => Guessed::declared(at, *rows, key, backend)?,
        });
    }
    let mut references = Vec::new();
    for (table, &i) in tables.iter().zip(free) {
        // Another schema may well hold a copy of the same tables: a publication, say.
        let schema = |table: usize| catalogue.tables[table].name.rsplit_once('.').map(|(schema, _)| schema);
        let apart = tables.iter().zip(free).filter(|(_, other)| parts[**other] != parts[i]);
        let apart = apart.filter(|(_, other)| schema(**other) == schema(i));
        let apart: Vec<&Guessed<'_>> = apart.map(|(other, _)| other).collect();
        references.push(table.references(&apart, backend, observer)?);
    }
    let all: Vec<&Reference> =
        references.iter().flatten().chain(catalogue.tables.iter().flat_map(|t| &t.references)).collect();
    let keys = tables.iter().zip(free).map(|(table, &i)| match &catalogue.tables[i].key {
        declared if !declared.is_empty() => (declared.clone(), Vec::new()),
        _ => table.names(&all),
    });
    let keys: Vec<_> = keys.collect();
    let found = keys.into_iter().zip(references);
    Ok(found
        .map(|((key, unnamed), own)| {
            (key, unnamed, own.into_iter().map(|r| Reference { assumed: true, ..r }).collect())
        })
        .collect())
}

/// Per table a number that all tables have that declared keys join to it.
fn parts(tables: &[Listed]) -> Vec<usize> {
    let mut part: Vec<usize> = (0..tables.len()).collect();
    for (i, table) in tables.iter().enumerate() {
        for reference in &table.references {
            let Some(other) = tables.iter().position(|t| t.name == reference.table) else { continue };
            let (from, to) = (part[other], part[i]);
            part.iter_mut().filter(|p| **p == from).for_each(|p| *p = to);
        }
    }
    part
}
