//! Builds records from rows whose parents are known.

use bosket_model::observe::Observer;
use bosket_model::{
    AttributeId, Builder, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result,
};

use super::columns::Reading;
use super::shape::Shape;
use crate::problems::too_large;

/// The parent of a row that was moved.
pub(super) const ELSEWHERE: u32 = u32::MAX;

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
pub(super) struct Stage {
    /// The number of the parent row.
    pub(super) parent: Vec<u32>,
    /// One code per row and attribute that has values.
    pub(super) codes: Vec<u32>,
    /// Rows that stand below another ancestor than their parent: row, ancestor's table, its row.
    pub(super) moved: Vec<(u32, usize, u32)>,
}

/// The rows of all tables on their way to become records.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) builder: Builder,
    /// Per table its class and attributes.
    pub(super) attributes: Vec<(ClassId, Vec<AttributeId>)>,
    pub(super) stages: Vec<Stage>,
}

impl Staged {
    pub(super) fn new(shape: &Shape, readings: &[Reading]) -> Self {
        let (builder, attributes) = classes(shape, readings);
        Staged { builder, attributes, stages: readings.iter().map(|_| Stage::default()).collect() }
    }

    /// The records of these rows, in their order; messages call the place `source`.
    pub(super) fn build(
        mut self,
        (shape, readings): (&Shape, &[Reading]),
        records: usize,
        source: &str,
        observer: &dyn Observer,
    ) -> Result<Dataset> {
        if records == 0 {
            return Err(no_record(source));
        }
        let rows: Vec<usize> = self
            .stages
            .iter()
            .enumerate()
            .map(|(i, s)| if i == 0 { records } else { s.parent.len() })
            .collect();
        let mut below: Vec<Vec<Below>> = shape.nodes.iter().map(|_| Vec::new()).collect();
        for node in 0..shape.nodes.len() {
            let stage = &mut self.stages[node];
            let parent = std::mem::take(&mut stage.parent);
            let moved = std::mem::take(&mut stage.moved);
            if let Some(above) = shape.nodes[node].parent {
                below[above].push(Below::new(node, rows[above], &parent));
            }
            drop(parent);
            for ancestor in shape.beyond(node) {
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
            shape,
            readings,
            home: self.attributes,
            stages: self.stages,
            below,
            builder: self.builder,
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

/// Nobody has a row.
pub(super) fn no_record(source: &str) -> Failure {
    let what = Diagnostic::error("the table holds no record").at(Place::source(source));
    Failure::new(Fault::Data, what.help("check that it is the right table, and complete"))
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
