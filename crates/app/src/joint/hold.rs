//! Attributes that a new release shows no finer than earlier ones do.
//!
//! An attribute is held at the coarsest labels that the earlier releases show of it: as these cover all its values, whatever
//! a search then makes of it lies at or above every earlier label that it is comparable with, and adds nothing. Where one of
//! them is `*`, or they do not cover all values, nothing of the attribute is published.

use bosket_model::hierarchy::{Hierarchy, NodeId, TreeBuilder};
use bosket_model::{AttributeId, Dataset, Dictionary, Kind, MISSING};

use super::labels;
use crate::load::Bound;

/// The private records with some attributes held, and the hierarchies that cover them.
pub(super) struct HeldInput {
    pub(super) data: Dataset,
    pub(super) hierarchies: Vec<Option<Hierarchy>>,
}

/// Holds attributes at the labels of earlier releases.
pub(super) fn hold<'e>(
    input: &Bound,
    hierarchies: &[Option<Hierarchy>],
    held: &[bool],
    earlier: impl Iterator<Item = &'e Bound> + Clone,
) -> HeldInput {
    let tops: Vec<Option<Vec<NodeId>>> = (held.iter().zip(hierarchies).enumerate())
        .map(|(declared, (held, hierarchy))| {
            let shown = earlier.clone().flat_map(|release| labels(release, declared));
            hierarchy.as_ref().filter(|_| *held).map(|hierarchy| tops(hierarchy, shown))
        })
        .collect();
    let mut bounded = hierarchies.to_vec();
    let mut covering: Vec<Option<Vec<NodeId>>> = vec![None; held.len()];
    for (declared, tops) in tops.into_iter().enumerate() {
        let (Some(tops), Some(hierarchy)) = (tops, &hierarchies[declared]) else { continue };
        let columns = columns(input, declared);
        let values = bosket_io::hierarchies::domain(&input.data, &columns);
        let covers = |text: &str| {
            let leaf = hierarchy.leaf(text);
            leaf.is_some_and(|leaf| tops.iter().any(|&top| hierarchy.is_ancestor_or_self(top, leaf)))
        };
        // Ranges of numbers are no nodes.
        let usable = hierarchy.numbers().is_none() && !tops.contains(&NodeId::ROOT);
        let all = usable && values.into_iter().all(covers);
        if all {
            bounded[declared] = Some(down_to(hierarchy, &tops));
        }
        covering[declared] = Some(if all { tops } else { Vec::new() });
    }
    let data = input.data.recoded(|id| {
        let declared = input.binding.attributes[id.index()]?;
        let tops = covering[declared].as_ref()?;
        let hierarchy = hierarchies[declared].as_ref()?;
        let mut values = Dictionary::default();
        let codes = (input.data.dictionary(id).iter())
            .map(|(_, text)| {
                let leaf = hierarchy.leaf(text)?;
                let top = tops.iter().find(|&&top| hierarchy.is_ancestor_or_self(top, leaf))?;
                Some(values.intern(Kind::Text, hierarchy.label(*top)))
            })
            .map(|code| code.unwrap_or(MISSING))
            .collect();
        Some((values, codes))
    });
    HeldInput { data, hierarchies: bounded }
}

fn columns(input: &Bound, declared: usize) -> Vec<AttributeId> {
    let own = input.data.schema().attributes().map(|(id, _)| id);
    own.filter(|id| input.binding.attributes[id.index()] == Some(declared)).collect()
}

/// The labels that lie below no other; the root where one is in no hierarchy.
fn tops<'l>(hierarchy: &Hierarchy, shown: impl Iterator<Item = &'l str>) -> Vec<NodeId> {
    let mut nodes: Vec<NodeId> = shown.map(|label| hierarchy.node(label).unwrap_or(NodeId::ROOT)).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let is_below = |&node: &NodeId| {
        nodes.iter().any(|&above| above != node && hierarchy.is_ancestor_or_self(above, node))
    };
    nodes.iter().copied().filter(|node| !is_below(node)).collect()
}

/// The hierarchy without what lies below some of its nodes.
fn down_to(hierarchy: &Hierarchy, tops: &[NodeId]) -> Hierarchy {
    let mut builder = TreeBuilder::new();
    for &top in tops {
        let mut path: Vec<NodeId> =
            std::iter::successors(Some(top), |&node| hierarchy.parent(node)).collect();
        path.reverse();
        let mut at = TreeBuilder::ROOT;
        for node in path.into_iter().skip(1) {
            at = builder.place(at, hierarchy.label(node));
        }
    }
    builder.finish()
}
