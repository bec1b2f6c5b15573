//! Files of two columns: groups, and values that belong to them.

use std::io::Write;

use bosket_model::{ClassId, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result};

use super::each_part;
use super::scalar::Scalar;
use super::writer::{Full, Writer, failure, flat_schema};
use crate::input::Input;

/// Such a file while it is written.
pub(crate) struct Pairs<W: Write + Send>(Writer<W>);

impl<W: Write + Send> Pairs<W> {
    /// Begins a file with columns of these names; values are of a type that holds them all.
    pub(crate) fn begin(names: [&str; 2], value: Scalar, to: W) -> Result<Self> {
        let columns = vec![Scalar::whole(), value];
        let schema = flat_schema(&names, &columns);
        schema.and_then(|schema| Writer::new(schema, columns, Full::ONE, to)).map(Pairs).map_err(failure)
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, group: u64, value: &str) -> Result<()> {
        if let [first, second] = self.0.columns.as_mut_slice() {
            first.push(1, 0, &group.to_string());
            second.push(1, 0, value);
        }
        self.0.record_done().map_err(failure)
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<W> {
        self.0.finish().map_err(failure)
    }
}

/// A group and a value of a row, where they are there.
pub(crate) type Row<'r> = (Option<&'r str>, Option<(Kind, &'r str)>);

/// Hands out the rows of such a file. There must be no other column: it could say more than the groups do.
pub(crate) fn each_pair(input: &mut Input, names: [&str; 2], take: &mut dyn FnMut(Row<'_>)) -> Result<()> {
    let place = Place::source(input.name());
    each_part(input, &mut |data, _| {
        let schema = data.schema();
        let find = |name: &str| {
            let own = |a: &bosket_model::schema::Attribute| a.class == ClassId::ROOT && a.name == [name];
            schema.attributes().find(|(_, a)| own(a)).map(|(id, _)| id)
        };
        let (Some(group), Some(value), 2) = (find(names[0]), find(names[1]), schema.attributes().len())
        else {
            let what =
                format!("a sensitive table has not just the columns `{}` and `{}`", names[0], names[1]);
            let help = "check that policy and publication belong together, and that it is complete";
            return Err(Failure::new(Fault::Data, Diagnostic::error(what).at(place.clone()).help(help)));
        };
        for record in 0..data.len() {
            let cell = |id| {
                let dictionary = data.dictionary(id);
                let code = data.value(data.vertices(record).start, id);
                (code != MISSING).then(|| (dictionary.kind(code), dictionary.text(code)))
            };
            take((cell(group).map(|(_, name)| name), cell(value)));
        }
        Ok(())
    })
}
