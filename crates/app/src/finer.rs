//! What would be known if a publication said one thing more: one label of one attribute is split into those below it, the
//! rest stays, and the verifier looks.

use bosket_measure::loss::Side;
use bosket_measure::paired;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::{Policy, Role};
use bosket_model::{AttributeId, Builder, Dataset, Dictionary, Failure, Kind, MISSING, Result};
use bosket_report::advice::{Forced, Known};
use bosket_verify::{Claim, Witness};

/// A publication and what it was made of, as far as splitting a label needs it.
#[derive(Clone, Copy)]
pub(crate) struct Finer<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) claim: &'a Claim,
    pub(crate) input: Side<'a>,
    pub(crate) published: Side<'a>,
    pub(crate) hierarchies: &'a [Option<Hierarchy>],
    /// Bytes for counting.
    pub(crate) memory: usize,
    /// Labels may be named.
    pub(crate) show_values: bool,
}

/// The label that is split.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// Its attribute, among those of the policy.
    pub(crate) declared: usize,
    /// Its place in the hierarchy.
    pub(crate) node: NodeId,
}

impl Finer<'_> {
    /// The input with the coarsest label that each value is published as, but for the label that is split. What is not
    /// published says as little as `*`.
    pub(crate) fn by_cut(&self, step: Step) -> Dataset {
        let Side { data, binding } = self.input;
        data.recoded(|id| {
            let own = binding.attributes[id.index()].filter(|&d| binding.declared[d].role == Role::Quasi)?;
            let hierarchy = self.hierarchies.get(own)?.as_ref()?;
            let shown = shown(self.published, own, hierarchy);
            let split = (own == step.declared).then_some(step.node);
            Some(relabelled(data, id, hierarchy, &shown, split))
        })
    }

    /// The published records, each with the step as its own input record has it; pairs are (input, published). For labels
    /// that differ from value to value, which no cut describes.
    pub(crate) fn by_record(
        &self,
        step: Step,
        pairs: &[(u32, u32)],
        observer: &dyn Observer,
    ) -> Result<Option<Dataset>> {
        let Some(Some(hierarchy)) = self.hierarchies.get(step.declared) else { return Ok(None) };
        let Side { data, binding } = self.published;
        let is_own = |id: AttributeId| binding.attributes[id.index()] == Some(step.declared);
        let label = hierarchy.label(step.node);
        let of_input: Vec<AttributeId> = (self.input.data.schema().attributes().map(|(id, _)| id))
            .filter(|id| self.input.binding.attributes[id.index()] == Some(step.declared))
            .collect();
        // Where each published row comes from.
        let from = paired(self.input, self.published, self.hierarchies, pairs, observer)?;
        let below = |vertex: usize| {
            let row = from[vertex]?;
            let class = self.input.data.class(row);
            let own = |id: &&AttributeId| self.input.data.schema().attribute(**id).class == class;
            let id = *of_input.iter().find(own)?;
            let code = self.input.data.value(row, id);
            let leaf = (code != MISSING).then(|| self.input.data.dictionary(id).text(code))?;
            child_towards(hierarchy, step.node, hierarchy.leaf(leaf)?)
        };
        changed(data, |vertex, id, text| {
            let node = (is_own(id) && text == label).then(|| below(vertex))??;
            Some(hierarchy.label(node))
        })
        .map(Some)
    }

    /// What would break the promise in such records.
    pub(crate) fn witness(
        &self,
        data: &Dataset,
        binding: &Binding,
        observer: &dyn Observer,
    ) -> Result<Option<Witness>> {
        let binding = binding.without_companions();
        bosket_verify::verify(data, &binding, self.claim, self.hierarchies, self.memory, observer)
    }

    /// Whether a witness knows something that only the step told.
    pub(crate) fn is_of(&self, step: Step, witness: &Witness) -> bool {
        let Some(Some(hierarchy)) = self.hierarchies.get(step.declared) else { return false };
        let path = &self.input.binding.declared[step.declared].path;
        witness.values.iter().filter(|value| value.path == *path).any(|value| {
            let node = hierarchy.node(&value.value);
            node.is_some_and(|node| hierarchy.parent(node) == Some(step.node))
        })
    }

    /// A witness by its attributes and levels, the attribute in question first.
    pub(crate) fn told(&self, declared: usize, witness: &Witness) -> Forced {
        let of_path = |path: &str| self.input.binding.declared.iter().position(|d| d.path == path);
        let mut known: Vec<(bool, Known)> = (witness.values.iter())
            .map(|value| {
                let own = of_path(&value.path);
                let hierarchy = own.and_then(|i| self.hierarchies.get(i)?.as_ref());
                let level = hierarchy.and_then(|h| {
                    let node = h.node(&value.value)?;
                    let inner = h.nodes().filter(|&n| !h.is_leaf(n)).map(|n| h.depth(n)).max().unwrap_or(0);
                    (!h.is_leaf(node)).then(|| (h.depth(node), inner))
                });
                let label = self.show_values.then(|| value.value.clone());
                (
                    own != Some(declared),
                    Known { path: value.path.clone(), level, absent: value.absent, label },
                )
            })
            .collect();
        known.sort_by_key(|(other, _)| *other);
        let fewest = self.policy.privacy.as_ref().and_then(|p| p.k).filter(|_| witness.sensitive.is_none());
        Forced::Knowledge {
            known: known.into_iter().map(|(_, known)| known).collect(),
            related: !witness.relations.is_empty(),
            fewest,
        }
    }
}

/// The same records with other labels in some places: asked for a vertex, an attribute and the text there, `label` gives the
/// new one, or none where it stays.
fn changed<'l>(
    data: &Dataset,
    label: impl Fn(usize, AttributeId, &str) -> Option<&'l str>,
) -> Result<Dataset> {
    let schema = data.schema();
    let mut builder = Builder::like(data);
    for (id, _) in schema.attributes() {
        builder.adopt(id, data.dictionary(id).clone());
    }
    for record in 0..data.len() {
        builder.begin_record();
        let root = data.vertices(record).start;
        let mut open = vec![root];
        for vertex in data.vertices(record) {
            if vertex != root {
                while open.last().is_some_and(|&last| Some(last) != data.parent(vertex)) {
                    open.pop();
                    builder.close();
                }
                builder.open(data.class(vertex));
                open.push(vertex);
            }
            for (&id, &code) in schema.class(data.class(vertex)).attributes.iter().zip(data.values(vertex)) {
                if code == MISSING {
                    continue;
                }
                match label(vertex, id, data.dictionary(id).text(code)) {
                    Some(label) => builder.set(id, Kind::Text, label),
                    None => builder.set_code(id, code),
                }
            }
        }
        builder.end_record().map_err(|_| Failure::defect("a record with other labels is larger"))?;
    }
    Ok(builder.finish())
}

/// The nodes of a hierarchy that are published.
fn shown(published: Side<'_>, declared: usize, hierarchy: &Hierarchy) -> Vec<bool> {
    let mut shown = vec![false; hierarchy.len()];
    let ids = published.data.schema().attributes().map(|(id, _)| id);
    for id in ids.filter(|id| published.binding.attributes[id.index()] == Some(declared)) {
        for (_, text) in published.data.dictionary(id).iter() {
            hierarchy.node(text).into_iter().for_each(|node| shown[node.index()] = true);
        }
    }
    shown
}

/// The node below another one on the way to a leaf.
fn child_towards(hierarchy: &Hierarchy, above: NodeId, leaf: NodeId) -> Option<NodeId> {
    let mut at = leaf;
    loop {
        let parent = hierarchy.parent(at)?;
        if parent == above {
            return Some(at);
        }
        at = parent;
    }
}

fn relabelled(
    data: &Dataset,
    id: AttributeId,
    hierarchy: &Hierarchy,
    shown: &[bool],
    split: Option<NodeId>,
) -> (Dictionary, Vec<u32>) {
    let mut labels = Dictionary::default();
    let codes = data.dictionary(id).iter().map(|(_, text)| {
        let leaf = hierarchy.leaf(text)?;
        let upwards = std::iter::successors(Some(leaf), |&node| hierarchy.parent(node));
        let label = upwards.filter(|node| shown[node.index()]).last();
        let split = split.filter(|&node| label.unwrap_or(NodeId::ROOT) == node);
        let finer = split.and_then(|node| child_towards(hierarchy, node, leaf));
        finer.or(label).map(|node| hierarchy.label(node))
    });
    let codes: Vec<Option<&str>> = codes.collect();
    let codes = codes.into_iter().map(|label| label.map_or(MISSING, |l| labels.intern(Kind::Text, l)));
    let codes = codes.collect();
    (labels, codes)
}
