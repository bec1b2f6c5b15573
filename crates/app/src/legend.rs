//! What published groups of values stand for, where the groups were made of the data: `group-2.1` says nothing by itself.
//! Values that fewer than k people have are told by their number alone.

use std::collections::BTreeMap;

use bosket_measure::loss::Side;
use bosket_model::hierarchy::{Build, Hierarchy, HierarchySpec, ROOT_LABEL};
use bosket_model::policy::{AttributePolicy, Policy, Role};
use bosket_model::{Dataset, MISSING};
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
    let mut by_class: Vec<Vec<(usize, Vec<usize>)>> = vec![Vec::new(); data.schema().classes().count()];
    for id in columns {
        let mut number = |text| {
            let next = numbers.len();
            *numbers.entry(text).or_insert(next)
        };
        let texts = data.dictionary(id).iter().map(|(_, text)| number(text)).collect();
        let attribute = data.schema().attribute(id);
        by_class[attribute.class.index()].push((attribute.slot as usize, texts));
    }
    let mut found = vec![(0, usize::MAX); numbers.len()];
    let mut count = |record: usize, texts: &[usize], code: u32| {
        if code != MISSING {
            let (people, last) = &mut found[texts[code as usize]];
            *people += usize::from(*last != record);
            *last = record;
        }
    };
    let set = data.sets().filter(|sets| side.binding.attributes[sets.attribute().index()] == Some(declared));
    for record in 0..data.len() {
        if let Some(set) = set {
            let class = data.schema().attribute(set.attribute()).class.index();
            let texts = &by_class[class][0].1;
            set.codes(record).iter().for_each(|&code| count(record, texts, code));
            continue;
        }
        for vertex in data.vertices(record) {
            let values = data.values(vertex);
            for (slot, texts) in &by_class[data.class(vertex).index()] {
                count(record, texts, values.get(*slot).copied().unwrap_or(MISSING));
            }
        }
    }
    let shown = numbers.into_iter().map(|(value, number)| (value, found[number].0));
    shown.filter(|(_, people)| *people > 0).collect()
}
