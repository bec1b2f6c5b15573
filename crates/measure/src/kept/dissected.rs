//! Dissection changes no value: records and sensitive values are published, or suppressed together.

use std::collections::BTreeSet;

use bosket_model::Result;
use bosket_model::dissected::SensitiveValues;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;

use super::tally::{Tally, path_of};
use super::{AttributeKept, ClassKept, Fate, Kept, Lost};
use crate::loss::Side;

/// What is published of people that were taken apart.
#[derive(Clone, Copy, Debug)]
pub struct TakenApart<'a> {
    /// How many there are.
    pub people: u64,
    /// The values of their groups.
    pub sensitive: &'a [SensitiveValues],
}

impl Kept {
    /// Of people whose sensitive values are known one by one.
    pub fn of_people(people: u64, sensitive: &[SensitiveValues], published: TakenApart<'_>) -> Self {
        let own = sensitive.iter().map(|s| {
            let having = s.codes.iter().filter(|codes| !codes.is_empty()).count();
            (s.path.clone(), String::new(), s.codes.total() as u64, having as u64)
        });
        Self::taken_apart(people, own, published)
    }

    /// Of records.
    pub fn of_dissected(input: Side<'_>, published: TakenApart<'_>, observer: &dyn Observer) -> Result<Self> {
        let tally = Tally::of_input(input, observer)?;
        let binding = input.binding;
        let own = binding.declared.iter().zip(&tally.values).filter(|(a, _)| a.role == Role::Sensitive);
        let own = own.map(|(a, n)| (a.path.clone(), path_of(binding, a.home), n.all, n.people));
        Ok(Self::taken_apart(input.data.len() as u64, own, published))
    }

    /// Of people of whom nobody has all: per sensitive attribute its path, its values and how many people have any; and how many
    /// people and values of each path are published.
    pub fn of_counts(
        people: u64,
        attributes: impl Iterator<Item = (String, u64, u64)>,
        published: (u64, &dyn Fn(&str) -> u64),
    ) -> Self {
        let own = attributes.map(|(path, values, having)| (path, String::new(), values, having));
        Self::apart(people, own, published)
    }

    fn taken_apart(
        people: u64,
        attributes: impl Iterator<Item = (String, String, u64, u64)>,
        published: TakenApart<'_>,
    ) -> Self {
        let out = |path: &str| {
            let own = published.sensitive.iter().filter(|s| s.path == path);
            own.map(|s| s.codes.total() as u64).sum::<u64>()
        };
        Self::apart(people, attributes, (published.people, &out))
    }

    fn apart(
        people: u64,
        attributes: impl Iterator<Item = (String, String, u64, u64)>,
        (published, out): (u64, &dyn Fn(&str) -> u64),
    ) -> Self {
        let fate = |input: u64, published: u64, people: u64| {
            let lost = Lost { suppressed: input.saturating_sub(published), ..Lost::default() };
            Fate { input, published, people, lost: Some(lost), ..Fate::default() }
        };
        let attribute = |(path, class, values, having): (String, String, u64, u64)| AttributeKept {
            values: fate(values, out(&path), having),
            role: Role::Sensitive,
            masked: None,
            says_nothing: BTreeSet::new(),
            path,
            class,
        };
        Kept {
            classes: vec![ClassKept { path: String::new(), rows: fate(people, published, people) }],
            attributes: attributes.filter(|a| a.2 > 0).map(attribute).collect(),
        }
    }
}
