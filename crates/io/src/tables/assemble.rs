//! Joins the rows of linked tables to records.
//!
//! Tables are read parents first, each once. Of a row only its parent's number and its values' codes are kept; when
//! all tables are read, rows are put in the order of their parents by counting, and records are built one after the
//! other. What waits is smaller than the records it becomes, and the keys are gone by then.

use bosket_model::observe::Observer;
use bosket_model::policy::Source;
use bosket_model::{
    AttributeId, Builder, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result,
};

use super::backend::{At, Backend, Beside, Column, Row};
use super::columns::{Mode, Reading, plan};
use super::keys::{Keys, Lost};
use super::lookup::LookupTable;
use super::repeating::{Contradicting, Repeating, SecondWays};
use super::shape::Shape;
use super::surrogates::RowsFound;
use super::trouble::{RowTrouble, Trouble};
use crate::problems::too_large;

/// The parent of a row that was moved.
const ELSEWHERE: u32 = u32::MAX;

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
    let tables: Vec<At<'_>> =
        source.tables.iter().map(|t| At { name: &t.name, path: t.path.as_deref() }).collect();
    backend.seal(&tables, beside, observer)?;
    assemble(backend, source, shape, Mode::Publication, observer)
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
    let mut readings = Vec::new();
    for node in 0..shape.nodes.len() {
        readings.push(plan(backend, source, shape, node, mode, &mut trouble)?);
    }
    trouble.check()?;
    let readings: Vec<Reading> = readings.into_iter().flatten().collect();
    let (builder, attributes) = classes(shape, &readings);
    let mut assembler = Assembler {
        shape,
        readings: &readings,
        builder,
        attributes,
        keys: (0..readings.len()).map(|_| Keys::default()).collect(),
        stages: Vec::new(),
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
    let rows: Vec<usize> = assembler.stages.iter().map(|s| s.parent.len()).collect();
    let (repeating, contradicting) = assembler.second.settle(shape, &readings, &rows, mode);
    let place = |node: usize| backend.place(&table_at(source, shape, node));
    let data = assembler.build(people, &place(shape.grouped().unwrap_or(0)), observer)?;
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

fn table_at<'a>(source: &'a Source, shape: &'a Shape, node: usize) -> At<'a> {
    let path = shape.nodes[node].table.and_then(|t| source.tables[t].path.as_deref());
    At { name: &shape.nodes[node].name, path }
}

/// The classes of all tables with their attributes, which do not depend on the rows.
fn classes(shape: &Shape, readings: &[Reading]) -> (Builder, Vec<(ClassId, Vec<AttributeId>)>) {
    let mut builder = Builder::new();
    let mut found: Vec<(ClassId, Vec<AttributeId>)> = Vec::new();
    for (node, reading) in shape.nodes.iter().zip(readings) {
        let class = match node.parent {
            None => ClassId::ROOT,
            Some(parent) => builder.class(found[parent].0, std::slice::from_ref(&node.name)),
        };
        let attributes = reading
            .attributes
            .iter()
            .map(|a| {
                let id = builder.attribute(class, std::slice::from_ref(&a.name));
                builder.rename(id, &format!("{}.{}", node.name, a.name));
                id
            })
            .collect();
        found.push((class, attributes));
    }
    (builder, found)
}

/// The rows of a table until all tables are read.
#[derive(Debug, Default)]
struct Stage {
    /// The number of the parent row.
    parent: Vec<u32>,
    /// One code per row and attribute that has values.
    codes: Vec<u32>,
    /// Rows that stand below another ancestor than their parent: row, ancestor's table, its row.
    moved: Vec<(u32, usize, u32)>,
}

struct Assembler<'a> {
    shape: &'a Shape,
    readings: &'a [Reading],
    builder: Builder,
    /// Per table its class and attributes.
    attributes: Vec<(ClassId, Vec<AttributeId>)>,
    keys: Vec<Keys>,
    stages: Vec<Stage>,
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
        self.stages.push(Stage::default());
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
            let stage = &self.stages[node];
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
        let stage = &mut self.stages[node];
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
        for (attribute, &id) in reading.attributes.iter().zip(&self.attributes[node].1) {
            let Some(cell) = attribute.cell else { continue };
            let code = row.cell(cell).map_or(MISSING, |(kind, text)| self.builder.code(id, kind, text));
            stage.codes.push(code);
        }
    }

    fn build(mut self, people: usize, source: &str, observer: &dyn Observer) -> Result<Dataset> {
        let records = self.shape.nodes[0].table.map_or(people, |_| self.stages[0].parent.len());
        if records == 0 {
            let what = Diagnostic::error("the table holds no record").at(Place::source(source));
            let what = what.help("check that it is the right table, and complete");
            return Err(Failure::new(Fault::Data, what));
        }
        let rows: Vec<usize> = self
            .stages
            .iter()
            .enumerate()
            .map(|(i, s)| if i == 0 { records } else { s.parent.len() })
            .collect();
        let mut below: Vec<Vec<Below>> = self.shape.nodes.iter().map(|_| Vec::new()).collect();
        for node in 0..self.shape.nodes.len() {
            let stage = &mut self.stages[node];
            let parent = std::mem::take(&mut stage.parent);
            let moved = std::mem::take(&mut stage.moved);
            if let Some(above) = self.shape.nodes[node].parent {
                below[above].push(Below::new(node, rows[above], &parent));
            }
            drop(parent);
            for ancestor in self.shape.beyond(node) {
                if moved.iter().any(|(_, a, _)| *a == ancestor) {
                    let mut all = vec![ELSEWHERE; rows[node]];
                    for &(row, _, above) in moved.iter().filter(|(_, a, _)| *a == ancestor) {
                        all[row as usize] = above;
                    }
                    below[ancestor].push(Below::new(node, rows[ancestor], &all));
                }
            }
        }
        let mut writer = Writer {
            shape: self.shape,
            readings: self.readings,
            home: self.attributes,
            stages: self.stages,
            below,
            builder: std::mem::take(&mut self.builder),
            places: Vec::new(),
        };
        let root = writer.place(0, ClassId::ROOT);
        for record in 0..records as u32 {
            observer.go_on()?;
            writer.builder.begin_record();
            writer.vertex(root, record);
            if writer.builder.end_record().is_err() {
                let what = too_large(Place::source(source));
                return Err(Failure::new(Fault::Data, what));
            }
        }
        Ok(writer.builder.finish())
    }
}

/// Whether all these cells hold a number as publications write it; an empty one is somebody else's problem.
fn is_number(row: &Row, cells: &[usize], number: usize) -> bool {
    let number = number.to_string();
    cells.iter().all(|&c| row.cell(c).is_none_or(|(_, text)| text == number))
}

/// The rows of a table, grouped by the row they stand below.
struct Below {
    node: usize,
    /// Where each group starts, and where the last ends.
    start: Vec<u32>,
    rows: Vec<u32>,
}

impl Below {
    fn new(node: usize, above: usize, parents: &[u32]) -> Self {
        let mut start = vec![0u32; above + 1];
        for &parent in parents.iter().filter(|&&p| p != ELSEWHERE) {
            start[parent as usize] += 1;
        }
        let mut sum = 0;
        for count in &mut start {
            sum += *count;
            *count = sum;
        }
        let mut rows = vec![0; sum as usize];
        // From the last row to the first, so that each group keeps their order.
        for (row, &parent) in parents.iter().enumerate().rev() {
            if parent != ELSEWHERE {
                let at = &mut start[parent as usize];
                *at -= 1;
                rows[*at as usize] = row as u32;
            }
        }
        Below { node, start, rows }
    }

    fn of(&self, parent: u32) -> std::ops::Range<usize> {
        self.start[parent as usize] as usize..self.start[parent as usize + 1] as usize
    }
}

/// A class that rows of a table become vertices of.
struct Placed {
    node: usize,
    class: ClassId,
    /// Its attributes that have values, with the same in the table's own class.
    attributes: Vec<(AttributeId, AttributeId)>,
    /// Where the rows of each table below go.
    below: Vec<Option<usize>>,
}

struct Writer<'a> {
    shape: &'a Shape,
    readings: &'a [Reading],
    home: Vec<(ClassId, Vec<AttributeId>)>,
    stages: Vec<Stage>,
    below: Vec<Vec<Below>>,
    builder: Builder,
    places: Vec<Placed>,
}

impl Writer<'_> {
    /// The place of a table's rows in a class.
    fn place(&mut self, node: usize, class: ClassId) -> usize {
        let mut attributes = Vec::new();
        for (attribute, &own) in self.readings[node].attributes.iter().zip(&self.home[node].1) {
            if attribute.cell.is_some() {
                let id = self.builder.attribute(class, std::slice::from_ref(&attribute.name));
                attributes.push((id, own));
            }
        }
        self.places.push(Placed { node, class, attributes, below: vec![None; self.shape.nodes.len()] });
        self.places.len() - 1
    }

    fn child_place(&mut self, place: usize, node: usize) -> usize {
        if let Some(known) = self.places[place].below[node] {
            return known;
        }
        let above = self.places[place].node;
        let name = if self.shape.nodes[node].parent == Some(above) {
            vec![self.shape.nodes[node].name.clone()]
        } else {
            let names: Vec<&str> = self.readings[above].attributes.iter().map(|a| a.name.as_str()).collect();
            self.shape.moved_name(node, above, &names)
        };
        let class = self.builder.class(self.places[place].class, &name);
        let new = self.place(node, class);
        self.places[place].below[node] = Some(new);
        new
    }

    /// Writes what a row holds and what is below it into the open vertex.
    fn vertex(&mut self, place: usize, row: u32) {
        let node = self.places[place].node;
        let width = self.places[place].attributes.len();
        for i in 0..width {
            let code = self.stages[node].codes[row as usize * width + i];
            if code == MISSING {
                continue;
            }
            let (id, own) = self.places[place].attributes[i];
            let code = if id == own { code } else { self.builder.same_code(own, code, id) };
            self.builder.set_code(id, code);
        }
        for i in 0..self.below[node].len() {
            let child = self.below[node][i].node;
            for at in self.below[node][i].of(row) {
                let row = self.below[node][i].rows[at];
                let place = self.child_place(place, child);
                self.builder.open(self.places[place].class);
                self.vertex(place, row);
                self.builder.close();
            }
        }
    }
}
