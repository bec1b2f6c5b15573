//! Rows of a publication that say nothing, as cells whose pieces of knowledge can be counted.

use bosket_model::binding::Binding;
use bosket_model::hierarchy::ROOT_LABEL;
use bosket_model::observe::Observer;
use bosket_model::policy::{Role, RootMode};
use bosket_model::{AttributeId, ClassId, Dataset, MISSING, Result};
use rustc_hash::FxHashMap;

use super::localized::knowers;
use super::params::Params;
use crate::local::{self, Cells, Label, NONE, Promise, Taxonomy};

/// Of rows that say nothing, per vertex whether it can go without anybody being found by what is left: fewer than are `gone`. What is
/// counted are the values of all attackers, or of anybody by k, m and n; a promise beyond that has to be looked at by the verifier.
pub fn may_go(
    data: &Dataset,
    binding: &Binding,
    params: &Params,
    mut gone: Vec<bool>,
    observer: &dyn Observer,
) -> Result<Vec<bool>> {
    if !gone.contains(&true) {
        return Ok(gone);
    }
    let mut reader = Reader::new(data, binding, params.root);
    for record in 0..data.len() {
        observer.go_on()?;
        reader.record(record);
    }
    let Reader { cells, row, attribute, .. } = reader;
    let taxonomy = Taxonomy {
        parent: (0..attribute.len() as Label).collect(),
        loss: vec![0.0; attribute.len()],
        attribute,
        hidden: None,
    };
    let promise = Promise::new(knowers(params, binding.declared.len()));
    let above: Vec<u32> =
        (0..data.vertex_count()).map(|v| data.parent(v).map_or(NONE, |above| above as u32)).collect();
    let mut going = local::Going { row: &row, above: &above, gone: &mut gone };
    local::put_back(&cells, &mut going, (&taxonomy, &promise), observer)?;
    Ok(gone)
}

/// Reads a publication cell by cell. Empty places are `*`, as they are for whoever reads it.
struct Reader<'a> {
    data: &'a Dataset,
    root: RootMode,
    /// Per class its places in the policy's order: the declared attribute, that of the data, and whether it is seen to be empty.
    places: Vec<Vec<(usize, Option<AttributeId>, bool)>>,
    numbers: FxHashMap<(usize, &'a str), Label>,
    cells: Cells,
    /// Per cell its vertex.
    row: Vec<u32>,
    /// Per label its attribute.
    attribute: Vec<u32>,
}

impl<'a> Reader<'a> {
    fn new(data: &'a Dataset, binding: &Binding, root: RootMode) -> Self {
        let (schema, of_home) = (data.schema(), binding.places());
        let places = |class: ClassId| {
            let own = binding.in_policy_order(schema, class, Role::Quasi);
            let own = own.into_iter().filter_map(|id| Some((binding.attributes[id.index()]?, Some(id))));
            let mut all: Vec<(usize, Option<AttributeId>)> = own.collect();
            let home = binding.classes[class.index()].filter(|_| binding.is_at_home(schema, class));
            let seen = home.map_or(&[][..], |home| of_home[home].as_slice());
            for &declared in seen {
                if all.iter().all(|(other, _)| *other != declared) {
                    all.push((declared, None));
                }
            }
            all.sort_by_key(|(declared, _)| *declared);
            all.into_iter().map(|(declared, id)| (declared, id, seen.contains(&declared))).collect()
        };
        Reader {
            data,
            root,
            places: schema.classes().map(|(id, _)| places(id)).collect(),
            numbers: FxHashMap::default(),
            cells: Cells { first: vec![0], ..Cells::default() },
            row: Vec::new(),
            attribute: Vec::new(),
        }
    }

    fn record(&mut self, record: usize) {
        let data = self.data;
        let vertices = data.vertices(record);
        let first = vertices.start;
        // Per vertex the last cell that something below it stands under.
        let mut last: Vec<u32> = Vec::with_capacity(vertices.len());
        for vertex in vertices {
            let mut above = data.parent(vertex).map_or(NONE, |parent| last[parent - first]);
            let class = data.class(vertex);
            let is_chain = class != ClassId::ROOT || self.root == RootMode::Chain;
            for at in 0..self.places[class.index()].len() {
                let (declared, id, seen) = self.places[class.index()][at];
                let code = id.map_or(MISSING, |id| data.value(vertex, id));
                let text = match (code, id) {
                    (MISSING, _) if !seen => continue,
                    (MISSING, _) | (_, None) => ROOT_LABEL,
                    (code, Some(id)) => data.dictionary(id).text(code),
                };
                let cell = self.cells.label.len() as u32;
                let label = self.label(declared, text);
                self.cells.label.push(label);
                self.cells.leaf.push(label);
                self.cells.above.push(above);
                self.row.push(vertex as u32);
                if is_chain {
                    above = cell;
                }
            }
            last.push(above);
        }
        self.cells.first.push(self.cells.label.len() as u32);
    }

    fn label(&mut self, declared: usize, text: &'a str) -> Label {
        let next = self.attribute.len() as Label;
        let label = *self.numbers.entry((declared, text)).or_insert(next);
        if label == next {
            self.attribute.push(declared as u32);
        }
        label
    }
}
