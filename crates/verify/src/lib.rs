//! Bosket's verifier: the guarantees written down literally.
//!
//! It reads only the publication and the claim, never trusts the run that made it, and shares no counting code
//! with the algorithms. Yes means: checked for every piece of knowledge in the claim's range. No comes with a
//! [`Witness`].

pub mod anatomized;
mod attackers;
mod buckets;
pub mod claim;
pub mod closeness;
mod columns;
pub mod dissect;
pub mod guess;
pub mod joint;
pub mod knowledge;
mod listed;
pub mod mergeable;
pub mod names;
pub mod partition;
pub mod recount;
pub mod repeated;
pub mod sides;
mod trees;
pub mod truth;
pub mod verification;
pub mod vertex;
pub mod witness;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::masks::is_pseudonym;
use bosket_model::observe::Observer;
use bosket_model::policy::{Missing, Relations, Role, Rows};
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, Result};

pub use anatomized::{Anatomized, JudgedClusters, TwoSides, verify_anatomized};
pub use claim::{Claim, Km, Kmn};
pub use closeness::{Close, Measure};
pub use dissect::{Apart, Delta, Verdict, verify_apart};
pub use recount::Recount;
pub use sides::{JudgedSides, Misplaced, PublishedSide};
pub use verification::{Decision, Verification};
pub use witness::{Sensitive, Value, Witness};

/// The verifier's version, for those who want to know what has looked at a publication.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

use knowledge::{Knowledge, Range, Records, SensitiveValues, View, pair_bit, pair_count};

/// Checks a claim. None means that it holds; else the smallest witness against it. Values are told apart by what is read:
/// `1` and `"1"` are one.
///
/// `hierarchies` (per declared attribute) are only needed by claims that count absent values (see [`Claim::negative`]), which
/// are refused if that of a published quasi attribute is missing, to know the leaves of listed sensitive labels (see
/// [`Claim::sensitive`]), and where distances of sensitive values are measured in them
/// ([`Close::needs_hierarchy`](closeness::Close::needs_hierarchy)).
pub fn verify(
    data: &Dataset,
    binding: &Binding,
    claim: &Claim,
    hierarchies: &[Option<Hierarchy>],
    memory: usize,
    observer: &dyn Observer,
) -> Result<Option<Witness>> {
    let spelled = data.one_spelling();
    let data = spelled.as_ref().unwrap_or(data);
    match claim {
        Claim::Km(claim) => verify_km(data, binding, claim, hierarchies, memory, observer),
        Claim::Kmn(claim) => verify_kmn(data, binding, claim, hierarchies, memory, observer),
        Claim::KAnonymity { k } => {
            let forms = vertex::QuasiForms::new(data, binding, observer)?;
            vertex::smallest_class(data, binding, &forms, *k, observer)
        }
        Claim::LDiversity { k, ask } => {
            let forms = vertex::QuasiForms::new(data, binding, observer)?;
            if let Some(k) = k
                && let Some(witness) = vertex::smallest_class(data, binding, &forms, *k, observer)?
            {
                return Ok(Some(witness));
            }
            vertex::smallest_uniform(data, binding, &forms, ask, observer)
        }
        Claim::Close { k, ask } => {
            let forms = vertex::QuasiForms::new(data, binding, observer)?;
            if let Some(k) = k
                && let Some(witness) = vertex::smallest_class(data, binding, &forms, *k, observer)?
            {
                return Ok(Some(witness));
            }
            Ok(vertex::closeness(data, binding, &forms, (ask, hierarchies), observer)?.witness)
        }
        Claim::Apart(_) | Claim::Anatomized(_) => {
            let what = "a dissected publication has two sides and cannot be read as one record per person";
            let help = "read it as dissected; `verify_apart` or `verify_anatomized` checks it";
            Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)))
        }
    }
}

fn verify_km(
    data: &Dataset,
    binding: &Binding,
    claim: &Km,
    hierarchies: &[Option<Hierarchy>],
    memory: usize,
    observer: &dyn Observer,
) -> Result<Option<Witness>> {
    let claim = &claim.spelled_out(hierarchies);
    let view = View {
        multiset: claim.multiset,
        negative: &claim.negative,
        sensitive: &claim.sensitive,
        hierarchies,
        ..View::default()
    };
    let mut records = Records::read(data, binding, &view, observer)?;
    let sensitive = SensitiveValues::apart(&mut records, binding, &claim.sensitive, observer)?;
    let range = Range { k: claim.k, m: (claim.m as usize).min(records.longest()), n: 0, memory };
    check(&records, range, claim.l.map(|l| (l, sensitive)), binding, observer)
}

fn verify_kmn(
    data: &Dataset,
    binding: &Binding,
    claim: &Kmn,
    hierarchies: &[Option<Hierarchy>],
    memory: usize,
    observer: &dyn Observer,
) -> Result<Option<Witness>> {
    for reading in claim.readings() {
        let found = match &reading.knower {
            Some(knower) => attackers::smallest(data, binding, (&reading, knower), memory, observer)?,
            None => verify_reading(data, binding, &reading, hierarchies, memory, observer)?,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Checks one claim of those that it is made of.
fn verify_reading(
    data: &Dataset,
    binding: &Binding,
    claim: &Kmn,
    hierarchies: &[Option<Hierarchy>],
    memory: usize,
    observer: &dyn Observer,
) -> Result<Option<Witness>> {
    let view = View { negative: &claim.negative, hierarchies, ..view_of(claim) };
    let records = Records::read(data, binding, &view, observer)?;
    let m = (claim.m as usize).min(records.longest());
    // Nobody can know more relations than pairs.
    let n = (claim.n as usize).min(pair_count(m));
    let largest = knowledge::largest_m(&records);
    if n > 0 && m > largest {
        return Err(too_large(m, largest, records.item_count()));
    }
    let sensitive = match claim.l {
        None => None,
        Some(l) => Some((l, SensitiveValues::new(data, binding, &claim.buckets, observer)?)),
    };
    check(&records, Range { k: claim.k, m, n, memory }, sensitive, binding, observer)
}

fn too_large(m: usize, largest: usize, items: usize) -> Failure {
    let what = format!("knowledge of {m} values with relations is too large to be counted");
    let help = format!("with the {items} values of this publication m can be at most {largest}");
    Failure::new(Fault::Policy, Diagnostic::error(what).help(help))
}

/// What can be known of trees by a claim, but for absent values.
fn view_of(claim: &Kmn) -> View<'static> {
    View {
        root: claim.root,
        relations: (claim.n > 0 && claim.m > 1).then_some(claim.relations),
        united: claim.rows == Rows::United,
        guard: claim.guard,
        missing: claim.missing == Missing::Counted,
        // That entries stand in one section takes a place that carries two relations: where each stands for itself, or
        // rows are united, it says no more than that the entries are there.
        sections: claim.relations == Relations::Embedded
            && claim.n > 1
            && claim.m > 2
            && claim.rows != Rows::United,
        ..View::default()
    }
}

/// Looks for knowledge that fits too few records, then for knowledge that says too much about a sensitive value.
fn check(
    records: &Records,
    range: Range,
    sensitive: Option<(f64, SensitiveValues)>,
    binding: &Binding,
    observer: &dyn Observer,
) -> Result<Option<Witness>> {
    if let Some(found) = knowledge::smallest_violation(records, range, observer)? {
        return Ok(Some(witness(records, binding, &found)));
    }
    let Some((l, values)) = sensitive else {
        return Ok(None);
    };
    let uniform = knowledge::smallest_uniform(records, &values, range, l, observer)?;
    Ok(uniform.map(|(found, sensitive)| Witness {
        sensitive: Some(sensitive),
        ..witness(records, binding, &found)
    }))
}

/// Knowledge with paths and labels instead of numbers.
fn witness(records: &Records, binding: &Binding, found: &Knowledge) -> Witness {
    let binding = &columns::with_sections(binding);
    let known = |i: usize| records.known(found.items[i]);
    let values: Vec<Value> = (0..found.items.len())
        .map(known)
        .map(|known| Value {
            path: binding.declared[known.declared].path.clone(),
            value: known.label.clone(),
            count: known.count,
            absent: known.absent,
        })
        .collect();
    // The embedding fixes which of two related attributes is above: its class lies above, or it comes first.
    let rank = |i: usize| {
        let declared = known(i).declared;
        (binding.homes[binding.declared[declared].home].depth, declared)
    };
    let pairs = |mask: u64| {
        let mut pairs = Vec::new();
        for j in 1..values.len() {
            for i in (0..j).filter(|&i| mask != 0 && mask >> pair_bit(i, j) & 1 == 1) {
                pairs.push(if rank(i) < rank(j) { (i, j) } else { (j, i) });
            }
        }
        pairs.sort_unstable();
        pairs
    };
    let unrelated = found.relations.checked_shr(pair_count(values.len()) as u32).unwrap_or(0);
    Witness {
        relations: pairs(found.relations),
        unrelated: pairs(unrelated),
        support: found.records.len(),
        records: found.records.clone(),
        values,
        ..Witness::default()
    }
}

/// Attributes that the policy removes but the publication still has. A key says who somebody is as well as a name does: it
/// has no values here, since linked tables are joined by surrogates that are not read and trees need none.
pub fn left_over(data: &Dataset, binding: &Binding) -> Vec<String> {
    let schema = data.schema();
    // A name that the policy does not know says something even if nothing stands under it.
    let pseudonym =
        |id: AttributeId| binding.attributes[id.index()].is_some_and(|d| binding.declared[d].pseudonym);
    let removed = |id: AttributeId| match binding.role(id) {
        None => true,
        // Whatever is no pseudonym may be what it was to hide.
        Some(_) if pseudonym(id) => data.dictionary(id).iter().any(|(_, text)| !is_pseudonym(text)),
        Some(Role::Identifying | Role::Drop | Role::Key) => !data.dictionary(id).is_empty(),
        Some(_) => false,
    };
    let attributes = schema.attributes().filter(|(id, _)| removed(*id)).map(|(_, a)| a.path.clone());
    let nameless = |id: ClassId| {
        let class = schema.class(id);
        binding.classes[id.index()].is_none() && class.attributes.is_empty() && class.children.is_empty()
    };
    let empty: Vec<ClassId> = schema.classes().map(|(id, _)| id).filter(|&id| nameless(id)).collect();
    let there = |id: &ClassId| (0..data.vertex_count()).any(|vertex| data.class(vertex) == *id);
    let classes = empty.iter().filter(|id| there(id)).map(|&id| schema.class(id).path.clone());
    attributes.chain(classes).collect()
}
