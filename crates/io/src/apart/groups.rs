//! Groups of a publication as they come, by their names, and the names that stand on either side.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use bosket_model::dissected::{Lists, NamedValues, PublishedGroups};
use bosket_model::words::plural;
use bosket_model::{Diagnostic, Dictionary, Failure, Fault, Kind, Place, Result};

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    numbers: FxHashMap<String, usize>,
    people: Vec<u32>,
    quasi: BTreeSet<String>,
    columns: Vec<Column>,
}

/// How the groups of a publication are numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbered {
    /// In the order in which a document has them.
    AsTheyCome,
    /// In another one: rows of tables stand in an order of their own.
    Somehow,
    /// Behind those of other parts, by numbers without a gap.
    Behind,
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

    /// How many groups are called by other than the numbers that publications give. A name could tell anything.
    fn misnamed(&self, numbered: Numbered) -> usize {
        let lowest =
            self.numbers.keys().filter_map(|name| name.parse::<usize>().ok()).min().unwrap_or(0).max(1);
        let is_small = |name: &str, number: usize| match numbered {
            Numbered::Behind => {
                let found =
                    name.parse::<usize>().ok().filter(|n| (lowest..lowest + self.people.len()).contains(n));
                found.is_some_and(|n| n.to_string() == name)
            }
            Numbered::AsTheyCome => name == (number + 1).to_string(),
            // No two have the same name, so that all numbers up to that of the groups are there.
            Numbered::Somehow => {
                let found = name.parse::<usize>().ok().filter(|n| (1..=self.people.len()).contains(n));
                found.is_some_and(|n| n.to_string() == name)
            }
        };
        self.numbers.iter().filter(|(name, number)| !is_small(name, **number)).count()
    }

    /// What was found. A group that only one side has is a mistake.
    pub(crate) fn finish(self, place: Place, numbered: Numbered) -> Result<PublishedGroups> {
        let misnamed = self.misnamed(numbered);
        if misnamed > 0 {
            let called = if misnamed == 1 { "is called by other" } else { "are called by others" };
            let what =
                format!("{} {called} than 1, 2, 3, … as publications have them", plural(misnamed, "group"));
            let help = "`verify` cannot judge what a name tells, so it must not be handed out; publish again";
            return Err(Failure::new(Fault::Data, Diagnostic::error(what).at(place).help(help)));
        }
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
