//! Clusters with their sides apart: the quasi side is what local recoding makes of the input without its sensitive values,
//! and every sensitive value of a group is one of the input's, as often. A mapping says which records are in a group;
//! without one they are those that could be.

use std::collections::BTreeMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, MISSING, Result};

use super::counts::invented;
use super::local::VertexTrees;
use super::matching::{edges, lonely, unmatched};
use super::{Comparison, MOST_MATCHED, Recoding, Side, Untruth, too_many};
use crate::anatomized::TwoSides;

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

/// Per group the input records that are in it, or could be.
type Records = Vec<Vec<usize>>;

/// Compares an anatomized publication with its input. No untruth means that it is true.
pub fn compare_anatomized(c: &Grouped<'_>, observer: &dyn Observer) -> Result<Vec<Untruth>> {
    let TwoSides { people, binding, .. } = c.published;
    if c.mapping.is_none() && c.input.data.len() > MOST_MATCHED {
        return Err(too_many("local recoding is"));
    }
    if people.len() > c.input.data.len() {
        return Ok(vec![Untruth::new(format!(
            "{} records are published, but the input has only {}",
            people.len(),
            c.input.data.len()
        ))]);
    }
    let known = without_sensitive(c.input.binding);
    let comparison = Comparison {
        published: Side { data: people, binding },
        input: Side { data: c.input.data, binding: &known },
        hierarchies: c.hierarchies,
        recoding: Recoding::LocalTrees,
        suppress: false,
        mapping: None,
        sensitive: &[],
    };
    let trees = match VertexTrees::new(&comparison, observer)? {
        Ok(trees) => trees,
        Err(untruths) => return Ok(untruths),
    };
    let (mut untruths, records) = match c.mapping {
        Some(mapping) => by_mapping(c, mapping, &trees, observer)?,
        None => by_looks(c, &trees, observer)?,
    };
    untruths.extend(values(c, &records, observer)?);
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

fn astray(mut records: Vec<u32>, what: &str) -> Option<Untruth> {
    records.sort_unstable();
    (!records.is_empty()).then(|| Untruth::new(what).records(records))
}

/// Every group must consist of what becomes of the records that the mapping puts there.
fn by_mapping(
    c: &Grouped<'_>,
    mapping: &[u32],
    trees: &VertexTrees<'_>,
    observer: &dyn Observer,
) -> Result<(Vec<Untruth>, Records)> {
    let mut inputs: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (record, &group) in mapping.iter().enumerate().filter(|(r, g)| **g > 0 && *r < c.input.data.len()) {
        inputs.entry(group).or_default().push(record);
    }
    let (mut records, mut unfit, mut differing) = (Vec::new(), Vec::new(), 0);
    observer.stage("comparing groups with input records", c.published.people.len() as u64);
    for (group, members) in c.published.members().iter().enumerate() {
        let own = inputs.remove(&c.published.number(group).saturating_add(1)).unwrap_or_default();
        differing += usize::from(own.len() != members.len());
        let fits = |p: usize, i: usize| Ok(trees.fit(members[p] as usize, own[i]));
        let left = unmatched(members.len(), own.len(), fits, observer)?;
        unfit.extend(left.into_iter().map(|p| members[p as usize]));
        records.push(own);
    }
    differing += inputs.len();
    let number = format!("{differing} groups have not as many records as the mapping puts there");
    let what = "these records are not what the declared operations make of the records of their group";
    let untruths = (differing > 0).then(|| Untruth::new(number)).into_iter().chain(astray(unfit, what));
    Ok((untruths.collect(), records))
}

/// Every published record needs an input record of its own; in a group may be whoever fits somebody there.
fn by_looks(
    c: &Grouped<'_>,
    trees: &VertexTrees<'_>,
    observer: &dyn Observer,
) -> Result<(Vec<Untruth>, Records)> {
    let (people, inputs) = (c.published.people.len(), c.input.data.len());
    observer.stage("matching published with input records", people as u64);
    let edges = edges(people, inputs, |p, i| Ok(trees.fit(p, i)), observer)?;
    let candidates = |members: &Vec<u32>| -> Result<Vec<usize>> {
        let fits = |i: usize| members.iter().any(|&p| edges[p as usize][i / 64] >> (i % 64) & 1 == 1);
        let mut found = Vec::new();
        for i in 0..inputs {
            observer.go_on()?;
            found.extend(Some(i).filter(|&i| fits(i)));
        }
        Ok(found)
    };
    let records = c.published.members().iter().map(candidates).collect::<Result<_>>()?;
    let what = "these records cannot all come from input records of their own";
    Ok((astray(lonely(&edges, inputs, observer)?, what).into_iter().collect(), records))
}

/// Every published value must be one of the records of its group, as often, and all of them together the input's.
fn values(c: &Grouped<'_>, records: &Records, observer: &dyn Observer) -> Result<Vec<Untruth>> {
    let Grouped { published, input, .. } = *c;
    let mut untruths = Vec::new();
    for sensitive in published.sensitive {
        let schema = input.data.schema();
        let bound = |id: AttributeId| input.binding.attributes[id.index()] == Some(sensitive.declared);
        let own: Vec<AttributeId> = schema.attributes().map(|(id, _)| id).filter(|&id| bound(id)).collect();
        let of_record = |record: usize| {
            let places = input.data.vertices(record).flat_map(|v| own.iter().map(move |&a| (v, a)));
            let places = places.filter(|&(v, a)| input.data.class(v) == schema.attribute(a).class);
            let codes = places.map(|(v, a)| (a, input.data.value(v, a)));
            codes.filter(|c| c.1 != MISSING).map(|(a, code)| input.data.dictionary(a).text(code))
        };
        let texts = |group: usize| sensitive.codes.of(group).iter().map(|&code| sensitive.values.text(code));
        let groups = 0..published.names.len();
        let surplus = |group: usize| {
            let private = records[group].iter().flat_map(|&record| of_record(record));
            invented(texts(group), private, observer)
        };
        let astray: usize = groups.clone().map(surplus).sum::<Result<usize>>()?;
        let everything = (0..input.data.len()).flat_map(of_record);
        let beyond = invented(groups.flat_map(texts), everything, observer)?;
        for (count, of) in [(astray, "the records of their group"), (beyond, "the input")] {
            if count > 0 {
                let what = format!("{count} of the published values are not in {of}, or not as often");
                untruths.push(Untruth::new(what).path(&sensitive.path));
            }
        }
    }
    Ok(untruths)
}
