//! Everything that is wrong with linked tables, at once.

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use super::backend::{At, Backend, BadRow};
use crate::problems::Problems;

/// What has been found so far: columns that are not there, rows that do not fit.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    policy: Vec<Diagnostic>,
    data: Vec<Diagnostic>,
}

impl Trouble {
    /// The policy does not fit the tables.
    pub(crate) fn unfit(&mut self, diagnostic: Diagnostic) {
        self.policy.push(diagnostic);
    }

    /// Begins to collect what is wrong with a table's rows.
    pub(crate) fn rows(&self, backend: &dyn Backend, table: &At<'_>) -> RowTrouble {
        RowTrouble { problems: Problems::new(&backend.place(table)), lines: backend.has_lines() }
    }

    /// Ends it.
    pub(crate) fn close(&mut self, rows: RowTrouble) {
        if !rows.problems.is_empty() {
            self.data.extend(rows.problems.failure().diagnostics);
        }
    }

    /// Gives up if anything is wrong.
    pub(crate) fn check(&mut self) -> Result<()> {
        let fault = if self.policy.is_empty() { Fault::Data } else { Fault::Policy };
        let mut all = std::mem::take(&mut self.policy);
        all.append(&mut self.data);
        if all.is_empty() { Ok(()) } else { Err(Failure::all(fault, all)) }
    }
}

/// What is wrong with the rows of one table.
#[derive(Debug)]
pub(crate) struct RowTrouble {
    problems: Problems,
    lines: bool,
}

impl RowTrouble {
    pub(crate) fn push(&mut self, diagnostic: impl FnOnce(Place) -> Diagnostic) {
        self.problems.push(diagnostic);
    }

    /// A problem that rows share: the first is named, the others are counted.
    fn like(&mut self, number: u64, group: &str, message: &str, help: String) {
        let lines = self.lines;
        self.problems.push_like(Some(group.to_owned()), |place| {
            let (place, message) = if lines {
                (place.line(number), message.to_owned())
            } else {
                (place, format!("row {number}: {message}"))
            };
            Diagnostic::error(message).at(place).help(help)
        });
    }

    /// A row that the backend could not read. More rows are wanted.
    pub(crate) fn bad(&mut self, number: u64, bad: BadRow) -> bool {
        let group = bad.message.clone();
        self.like(number, &group, &bad.message, bad.help.to_owned());
        true
    }

    pub(crate) fn duplicate(&mut self, number: u64, table: &str) {
        let message = format!("another row of `{table}` has the same key");
        let help = "make the key unique, name more columns as the key, or say with `person` that one person has \
                    several rows";
        self.like(number, "duplicate", &message, help.to_owned());
    }

    pub(crate) fn keyless(&mut self, number: u64, table: &str) {
        let message = format!("a row of `{table}` has no key");
        self.like(number, "keyless", &message, "fill the key columns, or name others as the key".to_owned());
    }

    pub(crate) fn orphan(&mut self, number: u64, table: &str, parent: &str, empty: bool) {
        let message = if empty {
            format!("a row of `{table}` belongs to nobody: its foreign key is empty")
        } else {
            format!("a row of `{table}` belongs to nobody: no row of `{parent}` has its foreign key")
        };
        let help = format!("add the row of `{parent}`, or take such rows of `{table}` out");
        self.like(number, if empty { "empty" } else { "orphan" }, &message, help);
    }

    pub(crate) fn not_found(&mut self, number: u64, table: &str, lookup: &str) {
        let message = format!("a row of `{table}` refers to a row that `{lookup}` does not have");
        self.like(number, lookup, &message, format!("add the row to `{lookup}`, or empty the column"));
    }

    pub(crate) fn not_empty(&mut self, number: u64, table: &str, column: &str) {
        let message = format!("`{table}.{column}` refers to something, which a publication must not tell");
        self.like(number, column, &message, "publish the column empty".to_owned());
    }

    pub(crate) fn no_surrogate(&mut self, number: u64, table: &str) {
        let message = format!(
            "a key in `{table}` is no surrogate: a publication numbers its rows 1, 2, 3, …, in their order"
        );
        let help = "keys of the data must not be handed out; publish again with `anonymize`";
        self.like(number, "surrogate", &message, help.to_owned());
    }

    pub(crate) fn two_places(&mut self, number: u64, table: &str) {
        let message = format!("a row of `{table}` belongs to two rows at once");
        self.like(
            number,
            "two places",
            &message,
            "fill the foreign key or the added columns, not both".into(),
        );
    }
}
