//! Bosket's verifier: the guarantees written down literally.
//!
//! It reads only the publication and the claim, never trusts the run that made it, and shares no counting code
//! with the algorithms. Yes means: checked for every piece of knowledge in the claim's range. No comes with a
//! [`Witness`].

pub mod claim;
pub mod knowledge;
pub mod truth;
pub mod vertex;
pub mod witness;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Payload, Relations, Role, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

pub use claim::Claim;
pub use witness::{Sensitive, Value, Witness};

use knowledge::{Inferred, Knowledge, Range, Records, SensitiveValues, pair_bit};

/// Checks a claim. None means that it holds; else the smallest witness against it.
pub fn verify(
    data: &Dataset,
    binding: &Binding,
    claim: &Claim,
    memory: usize,
    observer: &dyn Observer,
) -> Result<Option<Witness>> {
    match claim {
        Claim::Km { k, m } => {
            let trees = ValueTrees::new(data, binding, RootMode::Separate, Payload::Drop);
            let records = Records::new(&trees, false, Relations::Pair, Inferred::default());
            let range = Range { k: *k, m: (*m as usize).min(longest(&trees)), n: 0, memory };
            Ok(knowledge::smallest_violation(&records, range, observer)
                .map(|found| witness(&trees, binding, &found)))
        }
        Claim::Kmn { k, m, n, relations, root, guard, l } => {
            let trees = ValueTrees::new(data, binding, *root, Payload::Drop);
            let m = (*m as usize).min(longest(&trees));
            // Nobody can know more relations than pairs.
            let n = (*n as usize).min(m * m.saturating_sub(1) / 2);
            let largest = knowledge::largest_m(trees.items().len());
            if n > 0 && m > largest {
                return Err(Failure::new(
                    Fault::Policy,
                    Diagnostic::error(format!(
                        "knowledge of {m} values with relations is too large to be counted"
                    ))
                    .help(format!(
                        "with the {} values of this publication m can be at most {largest}",
                        trees.items().len()
                    )),
                ));
            }
            let inferred = if *guard { Inferred::new(&trees, binding, *root) } else { Inferred::default() };
            let records = Records::new(&trees, n > 0, *relations, inferred);
            let range = Range { k: *k, m, n, memory };
            if let Some(found) = knowledge::smallest_violation(&records, range, observer) {
                return Ok(Some(witness(&trees, binding, &found)));
            }
            let Some(l) = *l else {
                return Ok(None);
            };
            let sensitive = SensitiveValues::new(data, binding);
            let uniform = knowledge::smallest_uniform(&records, &sensitive, (m, n), l, observer);
            Ok(uniform.map(|(found, sensitive)| Witness {
                sensitive: Some(sensitive),
                ..witness(&trees, binding, &found)
            }))
        }
        Claim::KAnonymity { k } => {
            let forms = vertex::Forms::new(data, binding);
            Ok(vertex::smallest_class(data, binding, &forms, *k))
        }
        Claim::LDiversity { k, ask } => {
            let forms = vertex::Forms::new(data, binding);
            if let Some(witness) = k.and_then(|k| vertex::smallest_class(data, binding, &forms, k)) {
                return Ok(Some(witness));
            }
            vertex::smallest_uniform(data, binding, &forms, ask).map_err(|d| Failure::all(Fault::Data, d))
        }
    }
}

/// The most values that anybody can know of a record: those of the largest.
fn longest(trees: &ValueTrees) -> usize {
    (0..trees.len()).map(|r| trees.nodes(r).len()).max().unwrap_or(0).max(1)
}

/// Knowledge with paths and labels instead of numbers.
fn witness(trees: &ValueTrees, binding: &Binding, found: &Knowledge) -> Witness {
    let values: Vec<Value> = (found.items.iter())
        .map(|&i| {
            let item = &trees.items()[i as usize];
            Value { path: binding.declared[item.declared].path.clone(), value: item.label.clone() }
        })
        .collect();
    // The embedding fixes which of two related attributes is above: its class lies above, or it comes first.
    let rank = |i: usize| {
        let declared = trees.items()[found.items[i] as usize].declared;
        (binding.homes[binding.declared[declared].home].depth, declared)
    };
    let mut relations = Vec::new();
    for j in 1..values.len() {
        for i in 0..j {
            if found.relations >> pair_bit(i, j) & 1 == 1 {
                relations.push(if rank(i) < rank(j) { (i, j) } else { (j, i) });
            }
        }
    }
    relations.sort_unstable();
    Witness {
        values,
        relations,
        support: found.records.len(),
        records: found.records.clone(),
        sensitive: None,
    }
}

/// Attributes that the policy removes but the publication still has.
pub fn left_over(data: &Dataset, binding: &Binding) -> Vec<String> {
    (data.schema().attributes())
        .filter(|(id, _)| {
            matches!(binding.role(*id), None | Some(Role::Identifying)) && !data.dictionary(*id).is_empty()
        })
        .map(|(_, a)| a.path.clone())
        .collect()
}
