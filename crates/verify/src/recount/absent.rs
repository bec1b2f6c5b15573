//! Values whose absence is knowledge: those of which every leaf is listed.

use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::policy::{Negative, Role};

use super::record::Reader;
use super::sample::Budget;

/// The items that an attacker may know to be absent from a record; none if finding them out takes too long.
pub(super) fn items(
    data: &Dataset,
    binding: &Binding,
    negative: &[Negative],
    hierarchies: &[Option<Hierarchy>],
    (reader, budget): (&mut Reader<'_>, &mut Budget),
) -> Option<Vec<u32>> {
    let values = negative.iter().filter_map(|negative| match negative {
        Negative::Value(value) => Some(value.as_str()),
        Negative::Pair(..) => None,
    });
    let listed: Vec<&str> = values.collect();
    let mut found = Vec::new();
    for (id, _) in data.schema().attributes() {
        let Some(declared) = binding.attributes[id.index()].filter(|_| binding.role(id) == Some(Role::Quasi))
        else {
            continue;
        };
        let given = |declared: usize| hierarchies.get(declared).and_then(Option::as_ref);
        let hierarchy = given(declared).or_else(|| given(binding.declared[declared].follows?));
        let nodes = hierarchy.map_or(0, Hierarchy::len);
        if !budget.take(nodes * listed.len() + data.dictionary(id).len()) {
            return None;
        }
        let covered = hierarchy.map(|hierarchy| covered(hierarchy, &listed, reader.hidden()));
        for code in 0..data.dictionary(id).len() as u32 {
            let label = data.dictionary(id).text(code);
            let is_listed = match (&covered, hierarchy.and_then(|h| h.node(label))) {
                (Some(covered), Some(node)) => covered[node.index()],
                _ => listed.contains(&label),
            };
            if is_listed {
                found.extend(reader.item(id, code));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// Per node whether all leaves below it are listed: by themselves, or, where the data cannot have had such a value, by a
/// node above them. What is hidden is published as it is, so that a node never stands for it.
fn covered(hierarchy: &Hierarchy, listed: &[&str], hidden: &[String]) -> Vec<bool> {
    let up = |node: NodeId| std::iter::successors(Some(node), |&n| hierarchy.parent(n));
    let mut covered = vec![true; hierarchy.len()];
    let mut stands_for_any = vec![false; hierarchy.len()];
    for leaf in hierarchy.nodes().filter(|&node| hierarchy.is_leaf(node)) {
        let stands_for = |value: &&str| match hierarchy.leaf(value) {
            Some(own) => own == leaf,
            None => hierarchy.node(value).is_some_and(|node| up(leaf).any(|n| n == node)),
        };
        if listed.iter().any(stands_for) {
            up(leaf).for_each(|node| stands_for_any[node.index()] = true);
        } else if !hidden.iter().any(|label| label == hierarchy.label(leaf)) {
            up(leaf).for_each(|node| covered[node.index()] = false);
        }
    }
    covered.iter().zip(stands_for_any).map(|(covered, any)| *covered && any).collect()
}
