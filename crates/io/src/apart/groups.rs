//! Groups of a publication as they come, by their names, and the names that stand on either side.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use bosket_model::dissected::{Lists, NamedValues, PublishedGroups};
use bosket_model::{Diagnostic, Dictionary, Failure, Fault, Kind, Place, Result};

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    numbers: FxHashMap<String, usize>,
    people: Vec<u32>,
    quasi: BTreeSet<String>,
    columns: Vec<Column>,
}

/// What stands under one name on the sensitive side.
#[derive(Debug, Default)]
struct Column {
    name: String,
    values: Dictionary,
    /// The group and code of each value.
    codes: Vec<(u32, u32)>,
}

impl Groups {
    /// The number of a group.
    pub(crate) fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.people.push(0);
        self.numbers.insert(name.to_owned(), self.people.len() - 1);
        self.people.len() - 1
    }

    /// One more person of a group.
    pub(crate) fn person(&mut self, group: usize) {
        self.people[group] += 1;
    }

    /// An attribute has a value on the quasi side.
    pub(crate) fn on_quasi_side(&mut self, path: &str) {
        if !self.quasi.contains(path) {
            self.quasi.insert(path.to_owned());
        }
    }

    /// Whether an attribute has been found there.
    pub(crate) fn is_on_quasi_side(&self, path: &str) -> bool {
        self.quasi.contains(path)
    }

    /// A name stands on the sensitive side; gives its number there.
    pub(crate) fn on_sensitive_side(&mut self, name: &str) -> usize {
        self.columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
            self.columns.push(Column { name: name.to_owned(), ..Column::default() });
            self.columns.len() - 1
        })
    }

    /// A value on the sensitive side, under which of its names.
    pub(crate) fn value(&mut self, group: usize, column: usize, kind: Kind, text: &str) {
        let column = &mut self.columns[column];
        let code = column.values.intern(kind, text);
        column.codes.push((group as u32, code));
    }

    /// What was found. A group that only one side has is a mistake.
    pub(crate) fn finish(self, place: Place) -> Result<PublishedGroups> {
        let Groups { numbers, people, quasi, columns } = self;
        let orphans = people.iter().filter(|p| **p == 0).count();
        if orphans > 0 {
            let what = format!("{orphans} groups have sensitive values and no people");
            let help = "check that the publication is complete";
            return Err(Failure::new(Fault::Data, Diagnostic::error(what).at(place).help(help)));
        }
        let by_group = |mut column: Column| {
            column.codes.sort_unstable();
            let mut lists = Lists::default();
            let mut at = 0;
            for group in 0..people.len() as u32 {
                let end = at + column.codes[at..].iter().take_while(|c| c.0 == group).count();
                // Numbered when they were read.
                let kept = lists.push(column.codes[at..end].iter().map(|c| c.1));
                debug_assert!(kept);
                at = end;
            }
            NamedValues { name: column.name, values: column.values, codes: lists }
        };
        let sensitive = columns.into_iter().map(by_group).collect();
        let mut names = vec![String::new(); people.len()];
        numbers.into_iter().for_each(|(name, number)| names[number] = name);
        Ok(PublishedGroups { names, people, quasi: quasi.into_iter().collect(), sensitive })
    }
}
