//! Values of records as they are read, before they are numbered by how rare they are.

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::ROOT_LABEL;
use bosket_model::observe::Observer;
use bosket_model::policy::{Missing, Payload, Privacy, Role, Shape};
use bosket_model::value_tree::{Item, TreeView, ValueTrees};
use bosket_model::{Dataset, MISSING, Result};

use super::records::Value;

/// A value's node: value, preorder, end.
pub(super) type Node = (u32, u32, u32);

/// What stands nowhere in a record: it is related to nothing.
pub(super) const NO_NODE: u32 = u32::MAX;

/// Values, and per record its nodes.
pub(super) struct Raw {
    pub(super) trees: ValueTrees,
    pub(super) values: Vec<Value>,
    pub(super) records: Vec<Vec<Node>>,
    /// Per record the sensitive items that the policy lists, by number; empty if there are none at all.
    pub(super) sensitive: Vec<Vec<u32>>,
}

impl Raw {
    pub(super) fn read(
        data: &Dataset,
        binding: &Binding,
        privacy: &Privacy,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let trees = read_trees(data, binding, privacy, observer)?;
        let mut values: Vec<Value> = Vec::new();
        let mut records: Vec<Vec<Node>> = Vec::with_capacity(trees.len());
        if counts_matter(privacy) {
            (values, records) = read_counts(data, binding, &trees, observer)?;
        } else {
            values.extend(trees.items().iter().zip(0..).map(|(item, order)| Value {
                declared: item.declared,
                label: item.label.clone(),
                item: order,
                count: None,
                order,
            }));
            for record in 0..trees.len() {
                observer.go_on()?;
                let own = trees.nodes(record).map(|n| (trees.item(n), n as u32, trees.end(n) as u32));
                records.push(own.collect());
            }
        }
        let mut raw = Raw { trees, values, records, sensitive: Vec::new() };
        raw.hide(privacy, observer)?;
        Ok(raw)
    }

    /// Takes the items out that the policy lists as sensitive.
    fn hide(&mut self, privacy: &Privacy, observer: &dyn Observer) -> Result<()> {
        let hidden = |value: &&Value| is_hidden(privacy, &value.label);
        let mut names: Vec<&str> = self.values.iter().filter(hidden).map(|v| v.label.as_str()).collect();
        if names.is_empty() {
            return Ok(());
        }
        names.sort_unstable();
        names.dedup();
        let number: Vec<Option<u32>> = (self.values.iter())
            .map(|v| names.binary_search(&v.label.as_str()).ok().map(|at| at as u32))
            .collect();
        for own in &mut self.records {
            observer.go_on()?;
            let mut secret: Vec<u32> = own.iter().filter_map(|n| number[n.0 as usize]).collect();
            secret.sort_unstable();
            secret.dedup();
            self.sensitive.push(secret);
            own.retain(|n| number[n.0 as usize].is_none());
        }
        Ok(())
    }
}

/// Whether it is known how often a record has a value.
pub(super) fn counts_matter(privacy: &Privacy) -> bool {
    privacy.multiset && privacy.model.shape() == Shape::Set
}

/// Whether an item is sensitive, so that nobody knows it.
pub(super) fn is_hidden(privacy: &Privacy, label: &String) -> bool {
    privacy.model.shape() == Shape::Set && privacy.sensitive.contains(label)
}

/// Per record its quasi values as items, as often as it has them, ascending.
pub(super) fn occurrences(
    data: &Dataset,
    binding: &Binding,
    items: &[Item],
    observer: &dyn Observer,
) -> Result<Vec<Vec<u32>>> {
    let schema = data.schema();
    let codes: Vec<Vec<u32>> = (schema.attributes())
        .map(|(id, _)| {
            let declared = binding.attributes[id.index()].filter(|_| binding.role(id) == Some(Role::Quasi));
            declared.map_or(Vec::new(), |declared| {
                let find = |(kind, text): (_, &str)| {
                    items.partition_point(|i| (i.declared, i.label.as_str(), i.kind) < (declared, text, kind))
                };
                data.dictionary(id).iter().map(|value| find(value) as u32).collect()
            })
        })
        .collect();
    let quasi: Vec<_> =
        schema.classes().map(|(id, _)| binding.in_policy_order(schema, id, Role::Quasi)).collect();
    let of = |record: usize| {
        observer.go_on()?;
        let mut own = Vec::new();
        for v in data.vertices(record) {
            let present = quasi[data.class(v).index()].iter().map(|&a| (a, data.value(v, a)));
            own.extend(present.filter(|p| p.1 != MISSING).map(|(a, code)| codes[a.index()][code as usize]));
        }
        own.sort_unstable();
        Ok(own)
    };
    (0..data.len()).map(of).collect()
}

/// The trees of values, as the policy reads rows.
pub(super) fn read_trees(
    data: &Dataset,
    binding: &Binding,
    privacy: &Privacy,
    observer: &dyn Observer,
) -> Result<ValueTrees> {
    let view = TreeView {
        root: privacy.root,
        united: privacy.united || !privacy.model.counts_relations(),
        payload: Payload::Drop,
        // An empty place fits whatever is known there, as one that says so does.
        missing: (privacy.missing == Missing::Counted).then_some(ROOT_LABEL),
    };
    ValueTrees::viewed(data, binding, &view, observer)
}

/// Values together with how often a record has them.
fn read_counts(
    data: &Dataset,
    binding: &Binding,
    trees: &ValueTrees,
    observer: &dyn Observer,
) -> Result<(Vec<Value>, Vec<Vec<Node>>)> {
    let items = trees.items();
    let all = occurrences(data, binding, items, observer)?;
    let counted: Vec<Vec<(u32, u32)>> = (all.iter())
        .map(|own| own.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect())
        .collect();
    let mut pairs: Vec<(u32, u32)> = counted.iter().flatten().copied().collect();
    pairs.sort_unstable();
    pairs.dedup();
    let number: FxHashMap<(u32, u32), u32> = pairs.iter().copied().zip(0..).collect();
    let values = (pairs.iter().zip(0..))
        .map(|(&(item, count), order)| Value {
            declared: items[item as usize].declared,
            label: items[item as usize].label.clone(),
            item,
            count: Some(count),
            order,
        })
        .collect();
    let raw = counted.iter().map(|own| own.iter().map(|pair| (number[pair], 0, 0)).collect()).collect();
    Ok((values, raw))
}
