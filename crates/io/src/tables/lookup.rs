//! Tables that say what a column of another stands for.

use bosket_model::observe::Observer;
use bosket_model::policy::Lookup;
use bosket_model::{Dictionary, MISSING, Result};

use super::backend::{At, Backend, Column, ColumnKind, Row};
use super::columns::{position, unrepresentable};
use super::keys::{Keys, Lost};
use super::trouble::Trouble;

/// A lookup table in memory.
#[derive(Debug)]
pub(crate) struct LookupTable {
    keys: Keys,
    values: Vec<Dictionary>,
    /// One code per row and value column.
    codes: Vec<u32>,
}

/// A lookup table before it is read.
#[derive(Debug)]
pub(crate) struct Described {
    /// The columns of its key, by place.
    key: Vec<usize>,
    /// The columns that take the place of those looked up, by place.
    values: Vec<usize>,
    /// These under their new names.
    pub(crate) columns: Vec<Column>,
}

/// Finds the columns of a lookup table. None if some are not there; `trouble` has been told.
pub(crate) fn describe(
    backend: &mut dyn Backend,
    lookup: &Lookup,
    trouble: &mut Trouble,
) -> Result<Option<Described>> {
    let at = At { name: &lookup.name, path: lookup.path.as_deref() };
    let columns = backend.describe(&at)?;
    let place = backend.place(&at);
    let mut find = |name: &String| position(&columns, name, &place, trouble);
    let key: Option<Vec<usize>> = lookup.key.iter().map(&mut find).collect();
    let values: Option<Vec<usize>> = lookup.values.iter().map(find).collect();
    let (Some(key), Some(values)) = (key, values) else {
        return Ok(None);
    };
    let renamed = |(&i, name): (&usize, &String)| Column { name: name.clone(), ..columns[i].clone() };
    let columns = values.iter().zip(&lookup.names).map(renamed).collect();
    Ok(Some(Described { key, values, columns }))
}

impl LookupTable {
    /// Reads a lookup table.
    pub(crate) fn read(
        backend: &mut dyn Backend,
        lookup: &Lookup,
        Described { key, values, columns }: &Described,
        observer: &dyn Observer,
        trouble: &mut Trouble,
    ) -> Result<Self> {
        let at = At { name: &lookup.name, path: lookup.path.as_deref() };
        let mut found = LookupTable {
            keys: Keys::default(),
            values: values.iter().map(|_| Dictionary::default()).collect(),
            codes: Vec::new(),
        };
        let mut problems = trouble.rows(&*backend, &at);
        for column in columns {
            if let ColumnKind::Foreign(name) = &column.form {
                problems.push(|place| unrepresentable(place, &lookup.name, &column.name, name));
            }
        }
        let wanted: Vec<usize> = key.iter().chain(values).copied().collect();
        let key_cells: Vec<usize> = (0..key.len()).collect();
        backend.read(&at, &wanted, key, observer, &mut |number, row| {
            let row = match row {
                Ok(row) => row,
                Err(bad) => return problems.bad(number, bad),
            };
            match found.keys.insert(row, &key_cells) {
                Some(true) => {}
                Some(false) => problems.duplicate(number, &lookup.name),
                None => problems.keyless(number, &lookup.name),
            }
            if found.codes.len() < found.keys.len() * values.len() {
                for (i, values) in found.values.iter_mut().enumerate() {
                    let cell = row.cell(key_cells.len() + i);
                    found.codes.push(cell.map_or(MISSING, |(kind, text)| values.intern(kind, text)));
                }
            }
            true
        })?;
        trouble.close(problems);
        Ok(found)
    }

    /// Adds what the cells refer to: nothing where they are empty.
    pub(crate) fn push(&mut self, row: &mut Row, cells: &[usize]) -> Result<(), Lost> {
        let place = match self.keys.get(row, cells) {
            Ok(place) => Some(place as usize),
            Err(Lost::Missing) => None,
            Err(Lost::Unknown) => return Err(Lost::Unknown),
        };
        for (i, values) in self.values.iter().enumerate() {
            let code = place.map_or(MISSING, |place| self.codes[place * self.values.len() + i]);
            let cell = (code != MISSING).then(|| (values.kind(code), values.text(code)));
            row.push_cell(cell);
        }
        Ok(())
    }
}
