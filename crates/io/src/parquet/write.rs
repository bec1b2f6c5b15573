//! Writes records into columns.
//!
//! A record is written as numbers first: the ranks of its values, and what stands in its lists, sorted. Sorting these
//! orders the records by their published content; columns are filled in that order.

use std::io::Write;

use bosket_model::{AttributeId, Dataset, Result};

use super::Columns;
use super::plan::{Field, Plan, plan};
use super::writer::{Writer, failure};
use crate::bottom_up::{Texts, write_records};

/// What stands before an element of a list, and after the last.
const ELEMENT: u8 = 1;
const END: u8 = 0;

/// Writes all records.
pub(super) fn write(data: &Dataset, source: &Columns, out: &mut dyn Write) -> Result<()> {
    let plan = plan(data, source)?;
    let ranks = ranks(data, &plan);
    let sorted = write_records(data, |texts, _, vertex| {
        let class = data.class(vertex);
        push(texts, &plan.classes[class.index()], &|attribute: AttributeId| {
            let slot = data.schema().attribute(attribute).slot as usize;
            let code = data.values(vertex).get(slot);
            code.and_then(|&c| ranks[attribute.index()].get(c as usize)).copied().unwrap_or(0)
        });
        Ok(())
    })?;
    drop(ranks);
    let schema = plan.schema().map_err(failure)?;
    let writer = Writer::new(schema, plan.columns()).map_err(failure)?;
    let mut filler = Filler { data, plan: &plan, writer };
    for record in sorted.iter() {
        let (mut text, mut column) = (record, 0);
        filler.fill(
            &plan.classes[0],
            &mut text,
            &mut column,
            Level { definition: -1, repetition: 0, lists: 0 },
        );
        filler.writer.record_done().map_err(failure)?;
    }
    let bytes = filler.writer.finish().map_err(failure)?;
    out.write_all(&bytes).map_err(crate::fault::from_write)
}

/// Per attribute and code its rank among the values that occur, from 1.
fn ranks(data: &Dataset, plan: &Plan) -> Vec<Vec<u32>> {
    let rank = |(id, _): (AttributeId, _)| {
        let mut ranks = vec![0; data.dictionary(id).len()];
        for (rank, &code) in plan.values[id.index()].iter().enumerate() {
            ranks[code as usize] = rank as u32 + 1;
        }
        ranks
    };
    data.schema().attributes().map(rank).collect()
}

fn push(texts: &mut Texts, field: &Field, rank: &dyn Fn(AttributeId) -> u32) {
    match field {
        Field::Nothing => {}
        Field::Value(attribute) => texts.buffer.extend_from_slice(&rank(*attribute).to_be_bytes()),
        Field::Struct(fields) => fields.iter().for_each(|(_, f)| push(texts, f, rank)),
        Field::List(class) => {
            for i in 0..texts.below(*class).len() {
                let (_, start, end) = texts.below(*class)[i];
                texts.buffer.push(ELEMENT);
                texts.buffer.extend_from_within(start..end);
            }
            texts.buffer.push(END);
        }
    }
}

/// How deep a value is defined, and where lists begin and go on.
#[derive(Clone, Copy)]
struct Level {
    definition: i16,
    repetition: i16,
    /// The lists around it.
    lists: i16,
}

struct Filler<'a> {
    data: &'a Dataset,
    plan: &'a Plan,
    writer: Writer,
}

impl Filler<'_> {
    /// Fills the columns of a field from its text; what is around it is defined at `level`.
    fn fill(&mut self, field: &Field, text: &mut &[u8], column: &mut usize, level: Level) {
        let plan = self.plan;
        match field {
            Field::Value(attribute) => {
                let rank = u32::from_be_bytes([text[0], text[1], text[2], text[3]]);
                *text = &text[4..];
                let to = &mut self.writer.columns[*column];
                if rank == 0 {
                    to.push_missing(level.definition, level.repetition);
                } else {
                    let code = plan.values[attribute.index()][rank as usize - 1];
                    let value = self.data.dictionary(*attribute).text(code);
                    to.push(level.definition + 1, level.repetition, value);
                }
                *column += 1;
            }
            Field::Nothing => {
                self.writer.columns[*column].push_missing(level.definition, level.repetition);
                *column += 1;
            }
            Field::Struct(fields) => {
                let level = Level { definition: level.definition + 1, ..level };
                for (_, field) in fields {
                    self.fill(field, text, column, level);
                }
            }
            Field::List(class) => self.list(&plan.classes[class.index()], text, column, level),
        }
    }

    fn list(&mut self, element: &Field, text: &mut &[u8], column: &mut usize, level: Level) {
        let first = *column;
        let mut inner =
            Level { definition: level.definition + 2, lists: level.lists + 1, repetition: level.repetition };
        while text[0] == ELEMENT {
            *text = &text[1..];
            *column = first;
            self.fill(element, text, column, inner);
            inner.repetition = inner.lists;
        }
        *text = &text[1..];
        if *column == first {
            self.gap(element, column, level);
        }
    }

    /// Fills the columns of a list without elements.
    fn gap(&mut self, field: &Field, column: &mut usize, level: Level) {
        match field {
            Field::Value(_) | Field::Nothing => {
                self.writer.columns[*column].push_missing(level.definition, level.repetition);
                *column += 1;
            }
            Field::Struct(fields) => fields.iter().for_each(|(_, f)| self.gap(f, column, level)),
            Field::List(class) => self.gap(&self.plan.classes[class.index()], column, level),
        }
    }
}
