//! Takes records apart into rows of linked tables.
//!
//! A record is written as numbers first: the table of each vertex, the ranks of its values, then what is below it,
//! sorted. Sorting these orders the records by their published content; rows are numbered and written in that order.

use bosket_model::observe::Observer;
use bosket_model::{ClassId, Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Result};

use super::backend::Column;
use super::published::{Needs, Table, tables};
use super::shape::{Fate, Shape};
use crate::sorted::sort_by;

/// Ends a vertex; tables and ranks are numbered from 1.
pub(super) const END: u32 = 0;

/// Per table and attribute its values, sorted.
type Values<'d> = Vec<Vec<Vec<(&'d str, Kind)>>>;

/// Records ready to be written as rows.
#[derive(Debug)]
pub(crate) struct Rows<'d> {
    pub(crate) tables: Vec<Table>,
    pub(super) shape: Shape,
    pub(super) values: Values<'d>,
    pub(super) words: Vec<u32>,
    pub(super) records: Vec<(usize, usize)>,
}

/// Brings records into the order in which they are published.
pub(crate) fn disassemble<'d>(
    data: &'d Dataset,
    shape: &Shape,
    columns: &[Vec<Column>],
    observer: &dyn Observer,
) -> Result<Rows<'d>> {
    let classes = classes(data, shape)?;
    let needs = needs(data, shape, &classes);
    let tables = tables(shape, columns, &needs)?;
    let slots = slots(data, shape, &classes, &tables)?;
    let values = sorted_values(data, &classes, &slots, &tables, observer)?;
    let ranks = ranks(data, &classes, &slots, &values);
    let mut rows = Rows { tables, shape: shape.clone(), values, words: Vec::new(), records: Vec::new() };
    let widths: Vec<usize> = rows.tables.iter().map(|t| t.values.len()).collect();
    let ranked = Ranked { data, classes: &classes, slots: &slots, ranks: &ranks, widths: &widths };
    let mut encoder = Encoder::new(data, ranked);
    for record in 0..data.len() {
        observer.go_on()?;
        let start = rows.words.len();
        encoder.record(record, &mut rows.words);
        rows.records.push((start, rows.words.len()));
    }
    let words = &rows.words;
    sort_by(&mut rows.records, observer, |a, b| words[a.0..a.1].cmp(&words[b.0..b.1]))?;
    Ok(rows)
}

/// The table that each class's vertices are rows of.
pub(super) fn classes(data: &Dataset, shape: &Shape) -> Result<Vec<usize>> {
    let mut found: Vec<usize> = Vec::new();
    for (_, class) in data.schema().classes() {
        let node = match class.parent {
            None => Some(0),
            Some(parent) => shape.class(found[parent.index()], &class.name),
        };
        found.push(node.ok_or_else(|| unwritable(&class.path))?);
    }
    Ok(found)
}

fn unwritable(path: &str) -> Failure {
    let what = format!("`{path}` has no place in the tables of the publication");
    Failure::new(Fault::Data, Diagnostic::error(what).help("check that policy and data belong together"))
}

pub(super) fn needs(data: &Dataset, shape: &Shape, classes: &[usize]) -> Vec<Needs> {
    let mut needs: Vec<Needs> = shape.nodes.iter().map(|_| Needs::default()).collect();
    let mut occurs = vec![false; classes.len()];
    for vertex in 0..data.vertex_count() {
        occurs[data.class(vertex).index()] = true;
    }
    for (id, class) in data.schema().classes().filter(|(id, _)| occurs[id.index()]) {
        let node = classes[id.index()];
        let above = class.parent.map(|p| classes[p.index()]);
        if above != shape.nodes[node].parent {
            needs[node].moved.extend(above);
        }
    }
    needs.iter_mut().enumerate().for_each(|(node, need)| need.nearest_first(shape, node));
    if let Some(node) = shape.grouped() {
        needs[node].placeholders = (0..data.len()).any(|record| {
            let root = data.vertices(record).start;
            !data
                .vertices(record)
                .any(|v| data.parent(v) == Some(root) && classes[data.class(v).index()] == node)
        });
    }
    needs
}

/// Per class and attribute its place among the values of its table.
pub(super) fn slots(
    data: &Dataset,
    shape: &Shape,
    classes: &[usize],
    tables: &[Table],
) -> Result<Vec<Vec<Option<usize>>>> {
    let schema = data.schema();
    let mut all = Vec::new();
    for (id, class) in schema.classes() {
        let node = classes[id.index()];
        let mut slots = Vec::new();
        for &attribute in &class.attributes {
            let [name] = schema.attribute(attribute).name.as_slice() else {
                return Err(unwritable(&schema.attribute(attribute).path));
            };
            let slot = tables[node].values.iter().position(|v| v == name);
            let published = matches!(shape.fate(&shape.nodes[node].name, name), Fate::Published { .. });
            if slot.is_none() && published {
                return Err(unwritable(&schema.attribute(attribute).path));
            }
            slots.push(slot);
        }
        all.push(slots);
    }
    Ok(all)
}

fn sorted_values<'d>(
    data: &'d Dataset,
    classes: &[usize],
    slots: &[Vec<Option<usize>>],
    tables: &[Table],
    observer: &dyn Observer,
) -> Result<Values<'d>> {
    let mut values: Values<'d> = tables.iter().map(|t| vec![Vec::new(); t.values.len()]).collect();
    for (id, class) in data.schema().classes() {
        for (&attribute, slot) in class.attributes.iter().zip(&slots[id.index()]) {
            if let Some(slot) = slot {
                let all = &mut values[classes[id.index()]][*slot];
                all.extend(data.dictionary(attribute).iter().map(|(kind, text)| (text, kind)));
            }
        }
    }
    for all in values.iter_mut().flatten() {
        sort_by(all, observer, Ord::cmp)?;
        all.dedup();
    }
    Ok(values)
}

/// Per attribute of the data the rank of each code, from 1.
fn ranks(
    data: &Dataset,
    classes: &[usize],
    slots: &[Vec<Option<usize>>],
    values: &[Vec<Vec<(&str, Kind)>>],
) -> Vec<Vec<u32>> {
    let mut ranks = vec![Vec::new(); data.schema().attributes().len()];
    for (id, class) in data.schema().classes() {
        for (&attribute, slot) in class.attributes.iter().zip(&slots[id.index()]) {
            let Some(slot) = slot else { continue };
            let sorted = &values[classes[id.index()]][*slot];
            let rank = |(kind, text): (Kind, &str)| sorted.partition_point(|v| *v < (text, kind)) as u32 + 1;
            ranks[attribute.index()] = data.dictionary(attribute).iter().map(rank).collect();
        }
    }
    ranks
}

/// No vertex.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Link {
    child: u32,
    next: u32,
    start: usize,
    end: usize,
}

/// How vertices are written down: whatever the units are, their order is that of what is published.
pub(super) trait Spelling {
    type Unit: Copy + Ord;

    /// Writes the table and the values of a vertex; what is below it follows, in order.
    fn vertex(&self, vertex: usize, out: &mut Vec<Self::Unit>);

    /// Ends it.
    fn end(&self, out: &mut Vec<Self::Unit>);
}

/// Values as their ranks among all.
struct Ranked<'a> {
    data: &'a Dataset,
    classes: &'a [usize],
    slots: &'a [Vec<Option<usize>>],
    ranks: &'a [Vec<u32>],
    /// Values per table.
    widths: &'a [usize],
}

impl Spelling for Ranked<'_> {
    type Unit = u32;

    fn vertex(&self, vertex: usize, out: &mut Vec<u32>) {
        let class: ClassId = self.data.class(vertex);
        out.push(self.classes[class.index()] as u32 + 1);
        let attributes = &self.data.schema().class(class).attributes;
        let slots = &self.slots[class.index()];
        let values = self.data.values(vertex);
        let start = out.len();
        out.resize(start + self.widths[self.classes[class.index()]], 0);
        for ((code, slot), attribute) in values.iter().zip(slots).zip(attributes) {
            if let Some(slot) = slot.filter(|_| *code != MISSING) {
                out[start + slot] = self.ranks[attribute.index()][*code as usize];
            }
        }
    }

    fn end(&self, out: &mut Vec<u32>) {
        out.push(END);
    }
}

/// Writes records down.
pub(super) struct Encoder<'a, S: Spelling> {
    data: &'a Dataset,
    spelling: S,
    /// The vertices of a record, from the last to the first.
    buffer: Vec<S::Unit>,
    links: Vec<Link>,
    children: Vec<(usize, usize)>,
}

impl<'a, S: Spelling> Encoder<'a, S> {
    pub(super) fn new(data: &'a Dataset, spelling: S) -> Self {
        Encoder { data, spelling, buffer: Vec::new(), links: Vec::new(), children: Vec::new() }
    }

    pub(super) fn record(&mut self, record: usize, out: &mut Vec<S::Unit>) {
        let vertices = self.data.vertices(record);
        let first = vertices.start;
        self.buffer.clear();
        self.links.clear();
        self.links.resize(vertices.len(), Link { child: NONE, next: NONE, start: 0, end: 0 });
        // Backwards in preorder: when a vertex comes, all vertices below it are written.
        for vertex in vertices.rev() {
            let here = vertex - first;
            self.collect_children(here);
            let start = self.buffer.len();
            self.vertex(vertex);
            (self.links[here].start, self.links[here].end) = (start, self.buffer.len());
            if let Some(parent) = self.data.parent(vertex) {
                let child = std::mem::replace(&mut self.links[parent - first].child, here as u32);
                self.links[here].next = child;
            }
        }
        out.extend_from_slice(&self.buffer[self.links[0].start..self.links[0].end]);
    }

    fn collect_children(&mut self, here: usize) {
        self.children.clear();
        let mut child = self.links[here].child;
        while child != NONE {
            let link = self.links[child as usize];
            self.children.push((link.start, link.end));
            child = link.next;
        }
        let buffer = &self.buffer;
        self.children.sort_unstable_by(|a, b| buffer[a.0..a.1].cmp(&buffer[b.0..b.1]));
    }

    fn vertex(&mut self, vertex: usize) {
        self.spelling.vertex(vertex, &mut self.buffer);
        for i in 0..self.children.len() {
            let (start, end) = self.children[i];
            self.buffer.extend_from_within(start..end);
        }
        self.spelling.end(&mut self.buffer);
    }
}
