//! What is told about a publication that was read again in batches: by the values that there are, since nobody has all records.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::Result;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::partition::Survey;
use bosket_model::policy::{Policy, Role};
use serde_json::Value;

use super::{AttributeValues, ambiguous, refuse_empty};
use crate::legend::{People, legend_of};

/// What was read again.
pub(super) struct Again {
    pub(super) survey: Survey,
    pub(super) binding: Binding,
}

impl Again {
    /// Refuses a publication of which nobody could verify anything.
    pub(super) fn new(policy: &Policy, survey: Survey) -> Result<Self> {
        let binding = Binding::new(survey.frame.schema(), &policy.attributes, policy.undeclared, "it")?;
        refuse_empty(&survey.frame, &binding)?;
        Ok(Again { survey, binding })
    }

    /// Refuses what was not read as it was written. Record by record they cannot be compared; as often as it was written, each value
    /// must have been read.
    pub(super) fn refuse_other(&self, (survey, binding): (&Survey, &Binding)) -> Result<()> {
        let same = told(survey, binding) == told(&self.survey, &self.binding);
        if survey.records == self.survey.records && same { Ok(()) } else { Err(ambiguous()) }
    }

    /// Per quasi attribute of the data, its values in the input and in the publication.
    pub(super) fn attributes(&self, (input, binding): (&Survey, &Binding)) -> Vec<AttributeValues> {
        let own = |survey: &Survey, binding: &Binding, declared: usize| -> Vec<usize> {
            let own = survey.frame.schema().attributes().map(|(id, _)| id);
            let own = own.filter(|id| binding.attributes[id.index()] == Some(declared));
            own.map(|id| id.index()).collect()
        };
        let declared = binding.declared.iter().enumerate().filter(|(_, d)| d.role == Role::Quasi);
        let counted = declared.map(|(i, d)| {
            let values = own(input, binding, i).into_iter().map(|id| input.counts[id].len()).sum();
            let there = own(&self.survey, &self.binding, i);
            let ids = self.survey.frame.schema().attributes().filter(|(id, _)| there.contains(&id.index()));
            let published: BTreeSet<&str> = ids
                .flat_map(|(id, _)| self.survey.frame.dictionary(id).iter().map(|(_, text)| text))
                .collect();
            AttributeValues { path: d.path.clone(), values, published: published.len() }
        });
        counted.filter(|a| a.values > 0).collect()
    }

    /// What published groups stand for.
    pub(super) fn legend(
        &self,
        policy: &Policy,
        (input, binding): (&Survey, &Binding),
        hierarchies: &[Option<Hierarchy>],
    ) -> Value {
        surveyed_legend(policy, (input, binding), (&self.survey, &self.binding), hierarchies)
    }
}

/// What published groups stand for, by what values the input and the publication have.
pub(crate) fn surveyed_legend(
    policy: &Policy,
    (input, binding): (&Survey, &Binding),
    (published, its): (&Survey, &Binding),
    hierarchies: &[Option<Hierarchy>],
) -> Value {
    legend_of(policy, hierarchies, |declared| {
        (people(input, binding, declared), people(published, its, declared))
    })
}

/// How many records have each value, and how often it occurs.
fn told(survey: &Survey, binding: &Binding) -> BTreeMap<(Option<usize>, String), (u64, u64)> {
    let mut values: BTreeMap<(Option<usize>, String), (u64, u64)> = BTreeMap::new();
    for (id, _) in survey.frame.schema().attributes() {
        for ((_, text), own) in survey.frame.dictionary(id).iter().zip(&survey.counts[id.index()]) {
            let key = (binding.attributes[id.index()], text.to_owned());
            let sum = values.entry(key).or_default();
            *sum = (sum.0 + own.0, sum.1 + own.1);
        }
    }
    values.retain(|_, own| *own != (0, 0));
    values
}

/// How many people have each value of an attribute.
fn people<'a>(survey: &'a Survey, binding: &Binding, declared: usize) -> People<'a> {
    let mut all = People::new();
    for (id, _) in survey.frame.schema().attributes() {
        if binding.attributes[id.index()] == Some(declared) {
            for ((_, text), own) in survey.frame.dictionary(id).iter().zip(&survey.counts[id.index()]) {
                *all.entry(text).or_insert(0) += own.0 as usize;
            }
        }
    }
    all.retain(|_, people| *people > 0);
    all
}
