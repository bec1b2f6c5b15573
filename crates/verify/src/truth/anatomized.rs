//! Clusters with their sides apart: the quasi side is what local recoding makes of the input without its sensitive values,
//! and every sensitive value is one of the input's, as often. A mapping says who is in which group; then both are asked
//! group by group.

use std::collections::BTreeMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{MISSING, Result};

use super::local::{self, Trees};
use super::matching::unmatched;
use super::{Comparison, MOST_MATCHED, Recoding, Side, Untruth, too_many};
use crate::anatomized::TwoSides;
use crate::dissect::invented;

/// Everything the check needs.
#[derive(Clone, Copy)]
pub struct Grouped<'a> {
    /// What was published.
    pub published: TwoSides<'a>,
    /// What it was made from.
    pub input: Side<'a>,
    /// Per declared attribute its hierarchy, with a leaf for every value of the input.
    pub hierarchies: &'a [Option<Hierarchy>],
    /// Per input record the number of its group, from 1; 0 for none. None if nobody knows.
    pub mapping: Option<&'a [u32]>,
}

/// Compares an anatomized publication with its input. No untruth means that it is true.
pub fn compare_anatomized(c: &Grouped<'_>, observer: &dyn Observer) -> Result<Vec<Untruth>> {
    let TwoSides { people, binding, .. } = c.published;
    if c.mapping.is_none() && c.input.data.len() > MOST_MATCHED {
        return Err(too_many("local recoding is"));
    }
    let known = without_sensitive(c.input.binding);
    let sides = Comparison {
        published: Side { data: people, binding },
        input: Side { data: c.input.data, binding: &known },
        hierarchies: c.hierarchies,
        recoding: Recoding::LocalTrees,
        suppress: false,
        mapping: None,
    };
    let mut untruths = match c.mapping {
        None if people.len() > c.input.data.len() => vec![Untruth::new(format!(
            "{} records are published, but the input has only {}",
            people.len(),
            c.input.data.len()
        ))],
        None => local::compare(&sides, observer),
        Some(mapping) => match Trees::new(&sides) {
            Err(untruths) => untruths,
            Ok(trees) => by_group(c, mapping, &trees, observer),
        },
    };
    untruths.extend(values(c));
    Ok(untruths)
}

/// Sensitive values are compared by themselves.
fn without_sensitive(binding: &Binding) -> Binding {
    let mut known = binding.clone();
    for declared in &mut known.attributes {
        *declared = declared.filter(|&d| binding.declared[d].role != Role::Sensitive);
    }
    known
}

/// The group that a mapping means by a number, or none.
fn numbers(published: &TwoSides<'_>) -> Vec<u32> {
    (0..published.names.len()).map(|group| published.number(group) + 1).collect()
}

/// Every group must consist of what becomes of the records that the mapping puts there.
fn by_group(c: &Grouped<'_>, mapping: &[u32], trees: &Trees<'_>, observer: &dyn Observer) -> Vec<Untruth> {
    let numbers = numbers(&c.published);
    let mut inputs: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (record, &group) in mapping.iter().enumerate().filter(|(r, g)| **g > 0 && *r < c.input.data.len()) {
        inputs.entry(group).or_default().push(record);
    }
    let mut astray = Vec::new();
    let mut differing = 0;
    observer.stage("comparing groups with input records", numbers.len() as u64);
    for (members, &number) in c.published.members().iter().zip(&numbers) {
        let own = inputs.remove(&number).unwrap_or_default();
        differing += usize::from(own.len() != members.len());
        let lonely =
            unmatched(members.len(), own.len(), |p, i| trees.fit(members[p] as usize, own[i]), observer);
        astray.extend(lonely.into_iter().map(|p| members[p as usize]));
    }
    differing += inputs.len();
    astray.sort_unstable();
    let mut untruths = Vec::new();
    if differing > 0 {
        let what = format!("{differing} groups have not as many records as the mapping puts there");
        untruths.push(Untruth::new(what));
    }
    if !astray.is_empty() {
        let what = "these records are not what the declared operations make of the records of their group";
        untruths.push(Untruth::new(what).records(astray));
    }
    untruths
}

/// Every published value must be in the input, as often; with a mapping, in its group.
fn values(c: &Grouped<'_>) -> Vec<Untruth> {
    let Grouped { published, input, mapping, .. } = *c;
    let numbers = numbers(&published);
    let of_group = |group: usize| if mapping.is_some() { numbers[group] } else { 0 };
    let of_record = |record: usize| match mapping {
        None => Some(0),
        Some(mapping) => mapping.get(record).copied().filter(|&group| group > 0),
    };
    let (data, schema) = (input.data, input.data.schema());
    let mut untruths = Vec::new();
    for sensitive in published.sensitive {
        let told = (0..published.names.len()).flat_map(|group| {
            let codes = sensitive.codes.of(group).iter();
            codes.map(move |&code| (of_group(group), sensitive.values.text(code)))
        });
        let mut private = Vec::new();
        for (record, group) in (0..data.len()).filter_map(|r| Some((r, of_record(r)?))) {
            for vertex in data.vertices(record) {
                for &attribute in &schema.class(data.class(vertex)).attributes {
                    let own = input.binding.attributes[attribute.index()] == Some(sensitive.declared);
                    let code = data.value(vertex, attribute);
                    if own && code != MISSING {
                        private.push((group, data.dictionary(attribute).text(code)));
                    }
                }
            }
        }
        let count = invented(told.collect(), private);
        if count > 0 {
            let whose = if mapping.is_some() { "the records of their group" } else { "the input" };
            let what = format!("{count} of the published values are not in {whose}, or not as often");
            untruths.push(Untruth::new(what).path(&sensitive.path));
        }
    }
    untruths
}
