//! The published cells, each with the value that it stands for.
//!
//! Where rows stand for themselves a cell is a value of a published row, and stands for the value of the row that it comes
//! from. Of sets and united rows one label stands for all values of its record that it covers, and each of these is a cell.

use std::ops::Range;

use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::{Policy, Role, Rows, Shape};
use bosket_model::{AttributeId, Kind, MISSING, Result};
use rustc_hash::FxHashMap;

use crate::loss::Side;
use crate::paired::{Leaves, below_values, leaves_of_label, paired};

/// A label of an attribute, as it is published.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) text: String,
    /// The leaves that it covers, by their positions.
    pub(super) leaves: Range<u32>,
    /// Its place in the hierarchy; none for a range of numbers.
    pub(super) node: Option<NodeId>,
}

impl Label {
    /// Whether it may stand for more than one value.
    pub(super) fn is_general(&self) -> bool {
        self.leaves.len() > 1
    }
}

/// A published value of a quasi attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// The published vertex.
    pub(super) vertex: usize,
    /// The place of its record among the published ones.
    pub(super) record: u32,
    /// Its label, among those of the attribute.
    pub(super) label: u32,
    /// The position of the leaf that it stands for; none where the input has nothing there.
    pub(super) origin: Option<u32>,
}

/// All cells of an attribute.
#[derive(Clone, Debug, Default)]
pub(super) struct Attribute {
    /// Its place in the policy.
    pub(super) declared: usize,
    /// What it is published as.
    pub(super) labels: Vec<Label>,
    pub(super) cells: Vec<Cell>,
    /// Per leaf position how many cells stand for it.
    pub(super) common: Vec<u64>,
    /// How many cells stand for nothing.
    pub(super) missing: u64,
}

/// What is looked at.
#[derive(Clone, Copy)]
pub struct Behind<'a> {
    /// The policy that the publication was made by.
    pub policy: &'a Policy,
    /// The private records.
    pub input: Side<'a>,
    /// What is published of them.
    pub published: Side<'a>,
    /// Per declared attribute, with a leaf for every value of the input.
    pub hierarchies: &'a [Option<Hierarchy>],
    /// Pairs (input record, published record).
    pub mapping: &'a [(u32, u32)],
}

/// Whether an attribute of the data is one that is generalized.
pub(super) fn is_quasi(side: Side<'_>, id: AttributeId) -> Option<usize> {
    let declared = side.binding.attributes[id.index()]?;
    let own = &side.binding.declared[declared];
    (own.role == Role::Quasi && own.follows.is_none()).then_some(declared)
}

/// The cells of all attributes that have a hierarchy and are published, in the policy's order.
pub(super) fn cells(of: &Behind<'_>, observer: &dyn Observer) -> Result<Vec<Attribute>> {
    let labels = Labels::new(of);
    let leaves = below_values(of.input, of.hierarchies, |h, text| h.leaf(text).map(|leaf| h.leaves(leaf)));
    let mut reader = Reader { of, labels, leaves, all: attributes(of) };
    let united = of.policy.rows() == Rows::United;
    let is_set = of.policy.need_privacy()?.model.shape() == Shape::Set;
    if united || is_set {
        reader.by_labels(observer)?
    } else {
        reader.by_rows(observer)?
    }
    let Reader { labels, mut all, .. } = reader;
    for (own, labels) in all.iter_mut().zip(labels.of) {
        own.labels = labels;
        for cell in &own.cells {
            *cell.origin.map_or(&mut own.missing, |leaf| &mut own.common[leaf as usize]) += 1;
        }
    }
    all.retain(|own| !own.cells.is_empty());
    Ok(all)
}

/// One per declared attribute, without cells.
fn attributes(of: &Behind<'_>) -> Vec<Attribute> {
    let leaves = of.hierarchies.iter().map(|h| h.as_ref().map_or(0, Hierarchy::leaf_count));
    let own = leaves.enumerate().map(|(declared, leaves)| Attribute {
        declared,
        common: vec![0; leaves],
        ..Attribute::default()
    });
    own.collect()
}

/// The labels of the publication.
struct Labels {
    /// Per declared attribute.
    of: Vec<Vec<Label>>,
    /// Per attribute of the publication and code the label; none where no hierarchy has it.
    code: Vec<Vec<Option<u32>>>,
}

impl Labels {
    fn new(told: &Behind<'_>) -> Self {
        let Side { data, .. } = told.published;
        let mut of: Vec<Vec<Label>> = vec![Vec::new(); told.hierarchies.len()];
        let mut code = Vec::new();
        let mut known: FxHashMap<(usize, String), u32> = FxHashMap::default();
        for (id, _) in data.schema().attributes() {
            let own = is_quasi(told.published, id);
            let hierarchy = own.and_then(|own| Some((own, told.hierarchies.get(own)?.as_ref()?)));
            let number = |(_, text): (Kind, &str)| {
                let (own, hierarchy) = hierarchy?;
                let leaves = leaves_of_label(hierarchy, text)?;
                let labels = &mut of[own];
                let at = *known.entry((own, text.to_owned())).or_insert_with(|| {
                    labels.push(Label { text: text.to_owned(), leaves, node: hierarchy.node(text) });
                    labels.len() as u32 - 1
                });
                Some(at)
            };
            code.push(data.dictionary(id).iter().map(number).collect());
        }
        Labels { of, code }
    }
}

struct Reader<'a> {
    of: &'a Behind<'a>,
    labels: Labels,
    /// Of the input.
    leaves: Leaves,
    all: Vec<Attribute>,
}

impl Reader<'_> {
    /// The quasi values of a vertex of the input: attribute of the policy and position of the leaf.
    fn values(&self, vertex: usize) -> impl Iterator<Item = (usize, u32)> {
        let Side { data, .. } = self.of.input;
        let own = data.schema().class(data.class(vertex)).attributes.iter();
        own.filter_map(move |&id| {
            let declared = is_quasi(self.of.input, id)?;
            let code = data.value(vertex, id);
            let leaf = (code != MISSING).then(|| self.leaves[id.index()][code as usize].as_ref())??;
            Some((declared, leaf.start))
        })
    }

    /// The labels of a published vertex: attribute of the policy and label.
    fn shown(&self, vertex: usize) -> impl Iterator<Item = (usize, u32)> {
        let Side { data, .. } = self.of.published;
        let own = data.schema().class(data.class(vertex)).attributes.iter();
        own.filter_map(move |&id| {
            let declared = is_quasi(self.of.published, id)?;
            let code = data.value(vertex, id);
            let label = (code != MISSING).then(|| self.labels.code[id.index()][code as usize])??;
            Some((declared, label))
        })
    }

    fn by_rows(&mut self, observer: &dyn Observer) -> Result<()> {
        let Behind { input, published, hierarchies, mapping, .. } = *self.of;
        let from = paired(input, published, hierarchies, mapping, observer)?;
        for record in 0..published.data.len() {
            observer.go_on()?;
            for vertex in published.data.vertices(record) {
                let Some(origin) = from[vertex] else { continue };
                let values: Vec<(usize, u32)> = self.values(origin).collect();
                let shown: Vec<(usize, u32)> = self.shown(vertex).collect();
                for (declared, label) in shown {
                    let origin = values.iter().find(|value| value.0 == declared).map(|value| value.1);
                    self.all[declared].cells.push(Cell { vertex, record: record as u32, label, origin });
                }
            }
        }
        Ok(())
    }

    fn by_labels(&mut self, observer: &dyn Observer) -> Result<()> {
        let Behind { input, published, mapping, .. } = *self.of;
        for &(from, to) in mapping {
            observer.go_on()?;
            let mut shown: Vec<(usize, u32, usize)> = Vec::new();
            for vertex in published.data.vertices(to as usize) {
                shown.extend(self.shown(vertex).map(|(declared, label)| (declared, label, vertex)));
            }
            for vertex in input.data.vertices(from as usize) {
                let values: Vec<(usize, u32)> = self.values(vertex).collect();
                for (declared, leaf) in values {
                    let label = |label: u32| &self.labels.of[declared][label as usize];
                    let covering = shown
                        .iter()
                        .filter(|(own, at, _)| *own == declared && label(*at).leaves.contains(&leaf));
                    if let Some(&(_, at, vertex)) = covering.min_by_key(|(_, at, _)| label(*at).leaves.len())
                    {
                        let cell = Cell { vertex, record: to, label: at, origin: Some(leaf) };
                        self.all[declared].cells.push(cell);
                    }
                }
            }
        }
        Ok(())
    }
}
