//! Records as texts that hold their values in the order of the columns, and from such texts into the columns.

use std::borrow::Cow;

use bosket_model::AttributeId;

use super::plan::Field;
use super::writer::Column;
use crate::bottom_up::Texts;

/// What stands before an element of a list, and after the last. Neither is 0 or 1, which others put between texts.
const ELEMENT: u8 = 3;
const END: u8 = 2;

/// Appends what stands at a place of a vertex; `value` appends a value, or that there is none.
pub(super) fn push(texts: &mut Texts, field: &Field, value: &dyn Fn(AttributeId, &mut Vec<u8>)) {
    match field {
        Field::Nothing => {}
        Field::Value(attribute) => value(*attribute, &mut texts.buffer),
        Field::Struct(fields) => fields.iter().for_each(|(_, f)| push(texts, f, value)),
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

/// How values stand in texts.
pub(super) trait Spelling {
    /// Takes the next value from a text; none if it says that there is none.
    fn value<'t>(&'t self, attribute: AttributeId, text: &mut &'t [u8]) -> Option<Cow<'t, str>>;
}

/// Takes the texts of records apart and fills columns with their values.
pub(super) struct Filler<'a> {
    pub(super) classes: &'a [Field],
    pub(super) spelling: &'a dyn Spelling,
    pub(super) columns: &'a mut [Column],
}

impl<'a> Filler<'a> {
    /// Fills the columns from the text of a record.
    pub(super) fn record(&mut self, mut text: &'a [u8]) {
        let level = Level { definition: -1, repetition: 0, lists: 0 };
        self.fill(&self.classes[0], &mut text, &mut 0, level);
    }

    /// Fills the columns of a field from its text; what is around it is defined at `level`.
    fn fill(&mut self, field: &Field, text: &mut &'a [u8], column: &mut usize, level: Level) {
        match field {
            Field::Value(attribute) => {
                let to = &mut self.columns[*column];
                match self.spelling.value(*attribute, text) {
                    Some(value) => to.push(level.definition + 1, level.repetition, &value),
                    None => to.push_missing(level.definition, level.repetition),
                }
                *column += 1;
            }
            Field::Nothing => {
                self.columns[*column].push_missing(level.definition, level.repetition);
                *column += 1;
            }
            Field::Struct(fields) => {
                let level = Level { definition: level.definition + 1, ..level };
                for (_, field) in fields {
                    self.fill(field, text, column, level);
                }
            }
            Field::List(class) => self.list(&self.classes[class.index()], text, column, level),
        }
    }

    fn list(&mut self, element: &Field, text: &mut &'a [u8], column: &mut usize, level: Level) {
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
                self.columns[*column].push_missing(level.definition, level.repetition);
                *column += 1;
            }
            Field::Struct(fields) => fields.iter().for_each(|(_, f)| self.gap(f, column, level)),
            Field::List(class) => self.gap(&self.classes[class.index()], column, level),
        }
    }
}
