//! Joins the rows of linked tables to records.
//!
//! Tables are read parents first, each once. Of a row only its parent's number and its values' codes are kept; when
//! all tables are read, rows are put in the order of their parents by counting, and records are built one after the
//! other. What waits is smaller than the records it becomes, and the keys are gone by then.

use bosket_model::observe::Observer;
use bosket_model::policy::Source;
use bosket_model::{Dataset, Failure, Fault, MISSING, Result};

use super::backend::{At, Backend, Beside, Column, Row};
use super::build::{ELSEWHERE, Staged};
use super::columns::{Mode, Reading, plan};
use super::keys::{Keys, Lost};
use super::lookup::LookupTable;
use super::repeating::{Contradicting, Repeating, SecondWays};
use super::shape::Shape;
use super::surrogates::RowsFound;
use super::trouble::{RowTrouble, Trouble};
use crate::problems::too_large;

/// Records of linked tables.
pub(crate) struct Assembled {
    pub(crate) data: Dataset,
    /// The columns that each table has, lookups done.
    pub(crate) columns: Vec<Vec<Column>>,
    /// References that name in every row the person that it belongs to: table and column.
    pub(crate) repeating: Repeating,
    /// References to the person that do not, with the rows in which they name nobody or somebody else.
    pub(crate) contradicting: Contradicting,
}

/// The records of a publication that holds nothing else but what may stand beside them.
pub(crate) fn assemble_sealed(
    backend: &mut dyn Backend,
    source: &Source,
    shape: &Shape,
    beside: &Beside,
    observer: &dyn Observer,
) -> Result<Assembled> {
    seal_tables(backend, source, beside, observer)?;
    assemble(backend, source, shape, Mode::Publication, observer)
}

/// Refuses what a publication of these tables must not hold.
pub(super) fn seal_tables(
    backend: &mut dyn Backend,
    source: &Source,
    beside: &Beside,
    observer: &dyn Observer,
) -> Result<()> {
    let tables: Vec<At<'_>> =
        source.tables.iter().map(|t| At { name: &t.name, path: t.path.as_deref() }).collect();
    backend.seal(&tables, beside, observer)
}

/// How each table is read.
pub(super) fn plans(
    backend: &mut dyn Backend,
    source: &Source,
    shape: &Shape,
    mode: Mode,
) -> Result<Vec<Reading>> {
    let mut trouble = Trouble::default();
    let mut readings = Vec::new();
    for node in 0..shape.nodes.len() {
        readings.push(plan(backend, source, shape, node, mode, &mut trouble)?);
    }
    trouble.check()?;
    Ok(readings.into_iter().flatten().collect())
}

/// The records of linked tables.
pub(crate) fn assemble(
    backend: &mut dyn Backend,
    source: &Source,
    shape: &Shape,
    mode: Mode,
    observer: &dyn Observer,
) -> Result<Assembled> {
    let mut trouble = Trouble::default();
    let readings = plans(backend, source, shape, mode)?;
    let mut assembler = Assembler {
        shape,
        readings: &readings,
        staged: Staged::new(shape, &readings),
        keys: (0..readings.len()).map(|_| Keys::default()).collect(),
        second: SecondWays::new(&readings),
        found: (mode == Mode::Publication).then(|| RowsFound::new(readings.len())),
    };
    for node in 0..readings.len() {
        assembler.read(backend, source, node, mode, observer, &mut trouble)?;
    }
    trouble.check()?;
    // People who are only named in rows are as many as their names.
    let people = assembler.keys.first().map_or(0, Keys::len);
    drop(std::mem::take(&mut assembler.keys));
    let found = assembler.found.take();
    let rows: Vec<usize> = assembler.staged.stages.iter().map(|s| s.parent.len()).collect();
    let (repeating, contradicting) = assembler.second.settle(shape, &readings, &rows, mode);
    let place = |node: usize| backend.place(&table_at(source, shape, node));
    let records = shape.nodes[0].table.map_or(people, |_| rows[0]);
    let own = place(shape.grouped().unwrap_or(0));
    let data = assembler.staged.build((shape, &readings), records, &own, observer)?;
    if let Some(found) = found {
        let shape = shape.clone().repeating(repeating.clone());
        let wrong = found.compare(&data, &shape, &readings, &place, observer)?;
        if !wrong.is_empty() {
            return Err(Failure::all(Fault::Data, wrong));
        }
    }
    let columns = readings.into_iter().map(|r| r.columns).collect();
    Ok(Assembled { data, columns, repeating, contradicting })
}

pub(super) fn table_at<'a>(source: &'a Source, shape: &'a Shape, node: usize) -> At<'a> {
    let path = shape.nodes[node].table.and_then(|t| source.tables[t].path.as_deref());
    At { name: &shape.nodes[node].name, path }
}

struct Assembler<'a> {
    shape: &'a Shape,
    readings: &'a [Reading],
    staged: Staged,
    keys: Vec<Keys>,
    /// Other references to the person than those that join tables.
    second: SecondWays,
    /// The rows of a publication as they are found.
    found: Option<RowsFound>,
}

impl Assembler<'_> {
    fn read(
        &mut self,
        backend: &mut dyn Backend,
        source: &Source,
        node: usize,
        mode: Mode,
        observer: &dyn Observer,
        trouble: &mut Trouble,
    ) -> Result<()> {
        if self.shape.nodes[node].table.is_none() {
            return Ok(());
        }
        let reading = &self.readings[node];
        let at = table_at(source, self.shape, node);
        let mut problems = trouble.rows(&*backend, &at);
        let mut lookups = Vec::new();
        for step in &reading.steps {
            let lookup = &source.lookups[step.lookup];
            lookups.push(LookupTable::read(backend, lookup, &step.table, observer, trouble)?);
        }
        let mut too_many = false;
        backend.read(&at, &reading.wanted, &reading.order, observer, &mut |number, row| {
            let row = match row {
                Ok(row) => row,
                Err(bad) => return problems.bad(number, bad),
            };
            for (step, found) in reading.steps.iter().zip(&mut lookups) {
                if found.push(row, &step.cells).is_err() {
                    problems.not_found(number, at.name, &source.lookups[step.lookup].name);
                    return true;
                }
            }
            if let Some(found) = &mut self.found {
                found.push(node, row, reading);
            }
            self.take(node, number, row, mode, &mut problems);
            let stage = &self.staged.stages[node];
            too_many = stage.codes.len().max(stage.parent.len()) >= u32::MAX as usize - 1;
            !too_many
        })?;
        if too_many {
            problems.push(too_large);
        }
        trouble.close(problems);
        Ok(())
    }

    fn take(&mut self, node: usize, number: u64, row: &Row, mode: Mode, problems: &mut RowTrouble) {
        let reading = &self.readings[node];
        let name = &self.shape.nodes[node].name;
        let grouped = self.shape.grouped() == Some(node);
        let publication = mode == Mode::Publication;
        if !reading.key.is_empty() {
            // In a publication, a person of whom nothing else is left has a row that is no vertex.
            if grouped && publication && reading.key.iter().all(|&c| row.cell(c).is_none()) {
                match self.keys[0].find_or_insert(row, &reading.link) {
                    None => problems.orphan(number, name, "person", true),
                    Some(person) if !is_number(row, &reading.link, person as usize + 1) => {
                        problems.no_surrogate(number, name);
                    }
                    Some(_) => {}
                }
                return;
            }
            if publication && !is_number(row, &reading.key, self.keys[node].len() + 1) {
                problems.no_surrogate(number, name);
            }
            match self.keys[node].insert(row, &reading.key) {
                Some(true) => {}
                Some(false) => return problems.duplicate(number, name),
                None => return problems.keyless(number, name),
            }
        }
        for (column, _) in reading.empty.iter().filter(|(_, cell)| row.cell(*cell).is_some()) {
            problems.not_empty(number, name, column);
        }
        let stage = &mut self.staged.stages[node];
        let parent = match self.shape.nodes[node].parent {
            None => 0,
            Some(parent) => {
                let keys = &mut self.keys[parent];
                let found = if grouped {
                    keys.find_or_insert(row, &reading.link).ok_or(Lost::Missing)
                } else {
                    keys.get(row, &reading.link)
                };
                let elsewhere: Vec<&(usize, Vec<usize>)> =
                    reading.moved.iter().filter(|(_, c)| c.iter().any(|&c| row.cell(c).is_some())).collect();
                if grouped && publication {
                    let person = found.as_ref().map_or(0, |&person| person as usize + 1);
                    if !is_number(row, &reading.link, person) {
                        problems.no_surrogate(number, name);
                    }
                }
                let linked = reading.link.iter().any(|&c| row.cell(c).is_some());
                match (found, elsewhere.as_slice()) {
                    (Ok(parent), []) => parent,
                    (_, [_, ..]) if linked => {
                        problems.two_places(number, name);
                        0
                    }
                    (_, [(ancestor, cells)]) => match self.keys[*ancestor].get(row, cells) {
                        Ok(above) => {
                            stage.moved.push((stage.parent.len() as u32, *ancestor, above));
                            ELSEWHERE
                        }
                        Err(_) => {
                            problems.orphan(number, name, &self.shape.nodes[*ancestor].name, false);
                            0
                        }
                    },
                    (_, [_, ..]) => {
                        problems.two_places(number, name);
                        0
                    }
                    (Err(lost), []) => {
                        problems.orphan(number, name, &self.shape.nodes[parent].name, lost == Lost::Missing);
                        0
                    }
                }
            }
        };
        stage.parent.push(parent);
        match mode {
            Mode::Input => {
                let above = self.shape.nodes[node].parent;
                self.second.row(node, above, parent, row, reading, &mut self.keys[0]);
            }
            Mode::Publication => self.second.published_row(node, row, reading),
            Mode::Look | Mode::Whole => {}
        }
        for (attribute, &id) in reading.attributes.iter().zip(&self.staged.attributes[node].1) {
            let Some(cell) = attribute.cell else { continue };
            let code =
                row.cell(cell).map_or(MISSING, |(kind, text)| self.staged.builder.code(id, kind, text));
            stage.codes.push(code);
        }
    }
}

/// Whether all these cells hold a number as publications write it; an empty one is somebody else's problem.
pub(super) fn is_number(row: &Row, cells: &[usize], number: usize) -> bool {
    let number = number.to_string();
    cells.iter().all(|&c| row.cell(c).is_none_or(|(_, text)| text == number))
}
