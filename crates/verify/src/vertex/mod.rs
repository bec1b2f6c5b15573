//! k-anonymity, l-diversity, t-closeness and β-likeness of vertex trees.

mod closeness;
mod diversity;
mod isomorphism;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{Dataset, MISSING, Result};

pub use closeness::{Closeness, closeness};
pub use diversity::{Diverse, smallest_uniform};
pub use isomorphism::QuasiForms;

use crate::witness::{Value, Witness};

/// The smallest class of QI-isomorphic records that has fewer than k members.
pub fn smallest_class(
    data: &Dataset,
    binding: &Binding,
    forms: &QuasiForms,
    k: u32,
    observer: &dyn Observer,
) -> Result<Option<Witness>> {
    let mut smallest: Option<Witness> = None;
    for class in forms.classes.iter().filter(|class| class.len() < k as usize) {
        observer.go_on()?;
        let witness = class_witness(data, binding, class);
        if smallest.as_ref().is_none_or(|s| Witness::order(&witness, s).is_lt()) {
            smallest = Some(witness);
        }
    }
    Ok(smallest)
}

/// A class as a witness: everything quasi that its records have in common, with their numbers.
pub(crate) fn class_witness(data: &Dataset, binding: &Binding, class: &[u32]) -> Witness {
    let mut witness = Witness { support: class.len(), records: class.to_vec(), ..Witness::default() };
    let vertices = data.vertices(class[0] as usize);
    // The value that the children of a vertex are related to: its last one, or its parent's.
    let mut last: Vec<Option<usize>> = Vec::new();
    for v in vertices.clone() {
        let mut above = data.parent(v).and_then(|p| last[p - vertices.start]);
        for a in binding.in_policy_order(data.schema(), data.class(v), Role::Quasi) {
            let code = data.value(v, a);
            if code == MISSING {
                continue;
            }
            let at = witness.values.len();
            witness.values.push(Value {
                path: data.schema().attribute(a).path.clone(),
                value: data.dictionary(a).text(code).to_owned(),
                ..Value::default()
            });
            witness.relations.extend(above.map(|above| (above, at)));
            above = Some(at);
        }
        last.push(above);
    }
    witness
}
