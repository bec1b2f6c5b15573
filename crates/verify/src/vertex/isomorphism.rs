//! Which records cannot be told apart by their quasi values.
//!
//! Two vertices are alike if they have the same class, the same quasi values and, as a multiset, alike children.
//! Going through a record from its last vertex to its first, children come before their parents, so each vertex's
//! form is its own values and the sorted numbers of its children's forms.

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Dataset, Result};

/// The form of every vertex: equal numbers mean QI-isomorphic subtrees.
pub struct QuasiForms {
    /// Per vertex.
    pub of: Vec<u32>,
    /// The records (from 0) of each class of QI-isomorphic records, by their first record.
    pub classes: Vec<Vec<u32>>,
}

impl QuasiForms {
    /// The forms of all vertices.
    pub fn new(data: &Dataset, binding: &Binding, observer: &dyn Observer) -> Result<Self> {
        let schema = data.schema();
        let quasi: Vec<Vec<AttributeId>> =
            schema.classes().map(|(id, _)| binding.in_policy_order(schema, id, Role::Quasi)).collect();
        let mut of = vec![0u32; data.vertex_count()];
        let mut known: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut classes: Vec<Vec<u32>> = Vec::new();
        let mut class_of: FxHashMap<u32, usize> = FxHashMap::default();
        let mut children: Vec<Vec<u32>> = Vec::new();
        let mut key = Vec::new();
        for record in 0..data.len() {
            observer.go_on()?;
            let vertices = data.vertices(record);
            let first = vertices.start;
            children.iter_mut().for_each(Vec::clear);
            if children.len() < vertices.len() {
                children.resize(vertices.len(), Vec::new());
            }
            for v in vertices.rev() {
                let class = data.class(v);
                key.clear();
                key.push(class.0);
                key.extend(quasi[class.index()].iter().map(|&a| data.value(v, a)));
                let below = &mut children[v - first];
                below.sort_unstable();
                key.extend_from_slice(below);
                let next = known.len() as u32;
                let form = match known.get(&key) {
                    Some(&form) => form,
                    None => *known.entry(key.clone()).or_insert(next),
                };
                of[v] = form;
                if let Some(parent) = data.parent(v) {
                    children[parent - first].push(form);
                }
            }
            let class = *class_of.entry(of[first]).or_insert_with(|| {
                classes.push(Vec::new());
                classes.len() - 1
            });
            classes[class].push(record as u32);
        }
        Ok(QuasiForms { of, classes })
    }
}
