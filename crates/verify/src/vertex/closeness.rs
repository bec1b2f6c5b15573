//! t-closeness and β-likeness of vertex trees: every place of every class against the whole publication.
//!
//! Places are those of l-diversity: vertices of a class that are alike and have alike parents up to the root cannot be told
//! apart and are judged together. The whole is all vertices of the publication that have the attribute, whatever they look
//! like.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Dataset, MISSING, Result};

use super::{QuasiForms, class_witness};
use crate::closeness::{Close, Counts, Whole};
use crate::witness::{Sensitive, Witness};

/// What was found out about the distributions of sensitive values.
#[derive(Clone, Debug, Default)]
pub struct Closeness {
    /// The smallest class that says too much.
    pub witness: Option<Witness>,
    /// Per sensitive attribute, by its path, how far the farthest class is from the whole publication.
    pub farthest: Vec<(String, f64)>,
}

/// Compares every class with the whole publication. `hierarchies` (per declared attribute) are needed where distances are
/// measured in them.
pub fn closeness(
    data: &Dataset,
    binding: &Binding,
    forms: &QuasiForms,
    (ask, hierarchies): (&Close, &[Option<Hierarchy>]),
    observer: &dyn Observer,
) -> Result<Closeness> {
    let schema = data.schema();
    let mut wholes: BTreeMap<AttributeId, Whole<'_>> = BTreeMap::new();
    for (id, attribute) in schema.attributes() {
        if let (Some(Role::Sensitive), Some(declared)) = (binding.role(id), binding.attributes[id.index()]) {
            let values = data.dictionary(id).iter().map(|(_, text)| text);
            wholes.insert(id, Whole::new(ask, (declared, &attribute.path), values, hierarchies)?);
        }
    }
    let own: Vec<Vec<AttributeId>> =
        schema.classes().map(|(id, _)| binding.in_policy_order(schema, id, Role::Sensitive)).collect();
    for v in 0..data.vertex_count() {
        observer.go_on()?;
        for a in &own[data.class(v).index()] {
            let code = data.value(v, *a);
            if let Some(whole) = wholes.get_mut(a).filter(|_| code != MISSING) {
                whole.count(code);
            }
        }
    }
    let mut found = Closeness::default();
    let mut farthest: BTreeMap<AttributeId, f64> = wholes.keys().map(|&a| (a, 0.0)).collect();
    for class in &forms.classes {
        let mut worst: Option<Sensitive> = None;
        for ((_, a), counts) in places(data, forms, class, (&own, &wholes), observer)? {
            observer.go_on()?;
            let (distance, sensitive) = wholes[&a].judge(&counts);
            let most = farthest.entry(a).or_default();
            *most = most.max(distance);
            worst = worst.or(sensitive);
        }
        let Some(sensitive) = worst else { continue };
        let witness = Witness { sensitive: Some(sensitive), ..class_witness(data, binding, class) };
        if found.witness.as_ref().is_none_or(|s| Witness::order(&witness, s).is_lt()) {
            found.witness = Some(witness);
        }
    }
    found.farthest = farthest.into_iter().map(|(a, most)| (schema.attribute(a).path.clone(), most)).collect();
    Ok(found)
}

/// Per place of a class and sensitive attribute how often each value stands there.
type Places = BTreeMap<(u32, AttributeId), Counts>;

fn places(
    data: &Dataset,
    forms: &QuasiForms,
    class: &[u32],
    (own, wholes): (&[Vec<AttributeId>], &BTreeMap<AttributeId, Whole<'_>>),
    observer: &dyn Observer,
) -> Result<Places> {
    // A place is the path of forms from the root; numbered in order of appearance.
    let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut found = Places::new();
    let mut at: Vec<u32> = Vec::new();
    for &record in class {
        observer.go_on()?;
        let vertices = data.vertices(record as usize);
        at.clear();
        for v in vertices.clone() {
            let above = data.parent(v).map_or(u32::MAX, |p| at[p - vertices.start]);
            let next = numbers.len() as u32;
            let place = *numbers.entry((above, forms.of[v])).or_insert(next);
            at.push(place);
            for &a in &own[data.class(v).index()] {
                let Some(whole) = wholes.get(&a) else { continue };
                let counts = found.entry((place, a)).or_default();
                let code = data.value(v, a);
                if code != MISSING {
                    *counts.entry(whole.label(code)).or_default() += 1;
                }
            }
        }
    }
    Ok(found)
}
