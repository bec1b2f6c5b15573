//! Writes records into columns.
//!
//! A record is written as numbers first: the ranks of its values, and what stands in its lists, sorted. Sorting these
//! orders the records by their published content; columns are filled in that order.

use std::borrow::Cow;
use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::{AttributeId, Dataset, Result};

use super::Columns;
use super::fill::{Filler, Spelling, push};
use super::plan::{Plan, plan};
use super::writer::{Full, Observed, Writer, failure};
use crate::bottom_up::write_records;

/// Writes all records.
pub(super) fn write(
    data: &Dataset,
    source: &Columns,
    out: &mut (dyn Write + Send),
    observer: &dyn Observer,
) -> Result<()> {
    let plan = plan(data, source, observer)?;
    let ranks = ranks(data, &plan);
    let sorted = write_records(data, observer, |texts, _, vertex| {
        let class = data.class(vertex);
        push(texts, &plan.classes[class.index()], &|attribute: AttributeId, out: &mut Vec<u8>| {
            let slot = data.schema().attribute(attribute).slot as usize;
            let code = data.values(vertex).get(slot);
            let rank = code.and_then(|&c| ranks[attribute.index()].get(c as usize)).copied();
            out.extend_from_slice(&rank.unwrap_or(0).to_be_bytes());
        });
        Ok(())
    })?;
    drop(ranks);
    let schema = plan.schema().map_err(failure)?;
    let out = Observed { out, observer };
    let mut writer = Writer::new(schema, plan.columns(), Full::ONE, out).map_err(failure)?;
    let spelling = Ranks { data, plan: &plan };
    for record in sorted.iter() {
        observer.go_on()?;
        Filler { classes: &plan.classes, spelling: &spelling, columns: &mut writer.columns }.record(record);
        writer.record_done().map_err(failure)?;
    }
    writer.finish().map(|_| ()).map_err(failure)
}

/// Values that stand as their ranks.
struct Ranks<'a> {
    data: &'a Dataset,
    plan: &'a Plan,
}

impl Spelling for Ranks<'_> {
    fn value<'t>(&'t self, attribute: AttributeId, text: &mut &'t [u8]) -> Option<Cow<'t, str>> {
        let (rank, rest) = text.split_at(4);
        *text = rest;
        let rank = rank.try_into().map_or(0, u32::from_be_bytes) as usize;
        let code = rank.checked_sub(1).map(|at| self.plan.values[attribute.index()][at]);
        code.map(|code| Cow::Borrowed(self.data.dictionary(attribute).text(code)))
    }
}

/// Per attribute and code its rank among the values that occur, from 1. A column has one type: a number and its text are
/// published alike, and have one rank.
fn ranks(data: &Dataset, plan: &Plan) -> Vec<Vec<u32>> {
    let rank = |(id, _): (AttributeId, _)| {
        let dictionary = data.dictionary(id);
        let mut ranks = vec![0; dictionary.len()];
        let (mut rank, mut last) = (0, None);
        for (at, &code) in plan.values[id.index()].iter().enumerate() {
            if last.replace(dictionary.text(code)) != Some(dictionary.text(code)) {
                rank = at as u32 + 1;
            }
            ranks[code as usize] = rank;
        }
        ranks
    };
    data.schema().attributes().map(rank).collect()
}
