//! What published groups of values stand for, where the groups were made of the data: `group-2.1` says nothing by itself.
//! Values that fewer than k people have are told by their number alone.

use std::collections::BTreeMap;

use bosket_measure::loss::Side;
use bosket_model::hierarchy::{Build, Hierarchy, HierarchySpec, ROOT_LABEL};
use bosket_model::policy::{AttributePolicy, Policy, Role};
use bosket_model::{AttributeId, Dataset, MISSING};
use serde_json::{Value, json};

/// Per attribute whose groups were made of the data, what its published groups stand for; null where there are none.
pub(crate) fn legend(
    policy: &Policy,
    input: Side<'_>,
    hierarchies: &[Option<Hierarchy>],
    published: Side<'_>,
) -> Value {
    legend_of(policy, hierarchies, |declared| (people(input, declared), people(published, declared)))
}

/// How many people have each value of an attribute.
pub(crate) type People<'a> = BTreeMap<&'a str, usize>;

/// The same where somebody knows how many people have each value, in the input and as published.
pub(crate) fn legend_of<'a>(
    policy: &Policy,
    hierarchies: &[Option<Hierarchy>],
    both: impl Fn(usize) -> (People<'a>, People<'a>),
) -> Value {
    let told: Vec<Value> = (policy.attributes.iter().enumerate().zip(hierarchies))
        .filter_map(|((declared, attribute), hierarchy)| {
            let hierarchy = hierarchy.as_ref().filter(|_| is_grouped(attribute))?;
            let groups = groups(policy, both(declared), hierarchy);
            (!groups.is_empty()).then(|| json!({"path": attribute.path, "groups": groups}))
        })
        .collect();
    if told.is_empty() { Value::Null } else { Value::Array(told) }
}

/// Whether an attribute's groups have no names but numbers. What has a hierarchy without asking for one was grouped so, too.
fn is_grouped(attribute: &AttributePolicy) -> bool {
    let fanout = |spec: &HierarchySpec| matches!(spec, HierarchySpec::Build(Build::Fanout { .. }));
    attribute.role == Role::Quasi && attribute.hierarchy.as_ref().is_none_or(fanout)
}

fn groups(policy: &Policy, (people, labels): (People<'_>, People<'_>), hierarchy: &Hierarchy) -> Vec<Value> {
    let fewest = fewest(policy);
    let inner = hierarchy.nodes().filter(|&node| !hierarchy.is_leaf(node));
    let shown = inner
        .filter(|&node| hierarchy.label(node) != ROOT_LABEL && labels.contains_key(hierarchy.label(node)));
    shown
        .map(|node| {
            let leaves = hierarchy.proper_leaves(node).map(|leaf| hierarchy.label(leaf));
            let of_people = leaves.filter_map(|value| Some((value, *people.get(value)?)));
            let (told, others): (Vec<_>, Vec<_>) = of_people.partition(|(_, people)| *people >= fewest);
            let values: Vec<&str> = told.into_iter().map(|(value, _)| value).collect();
            json!({"label": hierarchy.label(node), "values": values, "others": others.len()})
        })
        .collect()
}

/// How many people a value needs to be named.
fn fewest(policy: &Policy) -> usize {
    let privacy = policy.privacy.as_ref();
    let k = privacy.and_then(|p| p.k).unwrap_or(0) as usize;
    let l = privacy.and_then(|p| p.l).map_or(0, |l| l.ceil() as usize);
    match k.max(l) {
        0 => usize::MAX,
        fewest => fewest,
    }
}

/// The values of a declared attribute, and how many people have each.
fn people(side: Side<'_>, declared: usize) -> People<'_> {
    let data: &Dataset = side.data;
    let columns = data.schema().attributes().map(|(id, _)| id);
    let columns = columns.filter(|id| side.binding.attributes[id.index()] == Some(declared));
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    // Texts are looked at once per value of a column, not once per row.
    let mut by_class: Vec<Vec<(AttributeId, Vec<usize>)>> = vec![Vec::new(); data.schema().classes().count()];
    for id in columns {
        let mut number = |text| {
            let next = numbers.len();
            *numbers.entry(text).or_insert(next)
        };
        let texts = data.dictionary(id).iter().map(|(_, text)| number(text)).collect();
        by_class[data.schema().attribute(id).class.index()].push((id, texts));
    }
    let mut found = vec![(0, usize::MAX); numbers.len()];
    for record in 0..data.len() {
        for vertex in data.vertices(record) {
            for (id, texts) in &by_class[data.class(vertex).index()] {
                let code = data.value(vertex, *id);
                if code == MISSING {
                    continue;
                }
                let (people, last) = &mut found[texts[code as usize]];
                *people += usize::from(*last != record);
                *last = record;
            }
        }
    }
    let shown = numbers.into_iter().map(|(value, number)| (value, found[number].0));
    shown.filter(|(_, people)| *people > 0).collect()
}
