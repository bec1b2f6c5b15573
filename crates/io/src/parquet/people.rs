//! People whose group is not known yet: each as a text of its own, and the file that such texts become.
//!
//! A text holds the values in the order of the columns, as texts between marks. No text has the bytes 0 and 1, so that
//! these can stand between texts.

use std::borrow::Cow;
use std::io::Write;

use bosket_model::observe::{Observer, Quiet};
use bosket_model::schema::Schema;
use bosket_model::{AttributeId, Dataset, MISSING, Result};

use super::Columns;
pub(crate) use super::escaped::{push_escaped, unescaped};
use super::fill::{Filler, Spelling, push};
use super::plan::{Field, Plan, classes};
use super::scalar::Scalar;
use super::writer::{Full, Writer, failure};
use crate::bottom_up::{Texts, each_record_text};
use crate::sorted::Sorted;

/// What says that there is no value, and what stands before and after one that is there.
const GAP: u8 = 2;
const VALUE: u8 = 3;
const END: u8 = 2;

/// Values that stand as their texts.
pub(super) struct Spelt;

impl Spelling for Spelt {
    fn value<'t>(&'t self, _: AttributeId, text: &mut &'t [u8]) -> Option<Cow<'t, str>> {
        let (&mark, rest) = text.split_first()?;
        if mark != VALUE {
            *text = rest;
            return None;
        }
        let end = memchr::memchr(END, rest).unwrap_or(rest.len());
        *text = rest.get(end + 1..).unwrap_or_default();
        Some(unescaped(&rest[..end]))
    }
}

/// The columns that people are published in.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(super) plan: Plan,
}

impl Sheet {
    /// Columns for records of a schema, of the types that they have in their source.
    pub(crate) fn new(schema: &Schema, source: &Columns) -> Result<Self> {
        let mut classes = classes(schema, source)?;
        if matches!(classes[0], Field::Nothing) {
            classes[0] = Field::Struct(Vec::new());
        }
        let known = |path: &str| source.scalar(path).cloned().unwrap_or_else(Scalar::text);
        // Without values a type that is never written becomes another.
        let types = schema.attributes().map(|(_, a)| known(&a.path).holding(std::iter::empty())).collect();
        Ok(Sheet { plan: Plan { classes, values: Vec::new(), types } })
    }

    /// The texts of records, in their order.
    pub(crate) fn texts(&mut self, data: &Dataset) -> Result<Sorted> {
        let mut sorted = Sorted::default();
        self.each_text(data, &mut |text| {
            sorted.push(|out| out.extend_from_slice(text));
            Ok(())
        })?;
        Ok(sorted)
    }

    /// Makes columns text whose type cannot hold all values.
    pub(super) fn fit(&mut self, data: &Dataset) {
        for (id, _) in data.schema().attributes() {
            let (dictionary, scalar) = (data.dictionary(id), &mut self.plan.types[id.index()]);
            // Files may hold numbers that are too large for the type they declare.
            if !scalar.fits(dictionary.iter()) {
                *scalar = Scalar::text();
            }
        }
    }

    /// Whether all columns hold their values in their own types.
    pub(crate) fn holds(&mut self, data: &Dataset) -> bool {
        let before = self.plan.types.clone();
        self.fit(data);
        before == self.plan.types
    }

    /// The same one by one.
    pub(super) fn each_text(
        &mut self,
        data: &Dataset,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.fit(data);
        // Parts are small: whoever reads them asks whether to go on.
        spelt_texts(&self.plan.classes, data, &Quiet, take)
    }

    /// Begins the file, with a column for the groups before the others.
    pub(crate) fn begin<W: Write + Send>(&self, group: &str, to: W) -> Result<Rows<'_, W>> {
        let number = Scalar::whole();
        let begin = || {
            let schema = self.plan.schema_after(vec![number.column(group)?])?;
            let columns = std::iter::once(number.clone()).chain(self.plan.columns()).collect();
            Writer::new(schema, columns, Full::ONE, to)
        };
        Ok(Rows { sheet: self, writer: begin().map_err(failure)? })
    }
}

/// The texts of records, in their order: sorted by their bytes they are sorted by what is published.
pub(super) fn spelt_texts(
    classes: &[Field],
    data: &Dataset,
    observer: &dyn Observer,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let write = |texts: &mut Texts, _: usize, vertex: usize| {
        push(texts, &classes[data.class(vertex).index()], &|attribute, out| {
            let slot = data.schema().attribute(attribute).slot as usize;
            match data.values(vertex).get(slot).copied().unwrap_or(MISSING) {
                MISSING => out.push(GAP),
                code => {
                    out.push(VALUE);
                    push_escaped(out, data.dictionary(attribute).text(code));
                    out.push(END);
                }
            }
        });
        Ok(())
    };
    each_record_text(data, observer, write, take)
}

/// The file of the people while it is written.
pub(crate) struct Rows<'s, W: Write + Send> {
    sheet: &'s Sheet,
    writer: Writer<W>,
}

impl<W: Write + Send> Rows<'_, W> {
    /// Adds a person of a group by its text.
    pub(crate) fn person(&mut self, group: u64, text: &[u8]) -> Result<()> {
        if let Some((number, columns)) = self.writer.columns.split_first_mut() {
            number.push(1, 0, &group.to_string());
            Filler { classes: &self.sheet.plan.classes, spelling: &Spelt, columns }.record(text);
        }
        self.writer.record_done().map_err(failure)
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<W> {
        self.writer.finish().map_err(failure)
    }
}
