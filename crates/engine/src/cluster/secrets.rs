//! Sensitive values as they are compared: by text, or by bucket.

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result};

use super::params::Params;

/// No value is known.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// Distinct combinations of a vertex's sensitive values; 0 is that of a vertex without any.
#[derive(Debug)]
pub(super) struct Secrets {
    /// Per class its sensitive attributes.
    of_class: Vec<Vec<AttributeId>>,
    /// Per attribute and code the label.
    labels: Vec<Vec<u32>>,
    /// Whether a label may stand only once in a class, by number.
    listed: Vec<bool>,
    combinations: Vec<u32>,
    start: Vec<u32>,
}

impl Secrets {
    pub(super) fn new(data: &Dataset, binding: &Binding, params: &Params) -> Result<Self> {
        let schema = data.schema();
        let mut secrets = Secrets {
            of_class: vec![Vec::new(); schema.classes().len()],
            labels: vec![Vec::new(); schema.attributes().len()],
            listed: Vec::new(),
            combinations: Vec::new(),
            start: vec![0, 0],
        };
        let Some((buckets, listed)) = params.secrets() else {
            return Ok(secrets);
        };
        let mut known: FxHashMap<String, u32> = FxHashMap::default();
        let mut problems = Vec::new();
        for (class, _) in schema.classes() {
            secrets.of_class[class.index()] = binding.in_policy_order(schema, class, Role::Sensitive);
        }
        for (id, attribute) in schema.attributes() {
            if binding.role(id) != Some(Role::Sensitive) {
                continue;
            }
            let bounds = binding.attributes[id.index()].and_then(|d| buckets.get(d)?.as_deref());
            let mut unreadable = 0;
            for (_, text) in data.dictionary(id).iter() {
                let label = label(bounds, text);
                unreadable += usize::from(label.is_none());
                let next = known.len() as u32;
                let number = *known.entry(label.unwrap_or_default()).or_insert_with_key(|label| {
                    secrets.listed.push(listed.contains(label));
                    next
                });
                secrets.labels[id.index()].push(number);
            }
            if unreadable > 0 {
                problems.push(
                    Diagnostic::error(format!(
                        "{unreadable} distinct values are not numbers and fit no bucket"
                    ))
                    .at(Place::default().path(&attribute.path))
                    .help("take `buckets` out of the policy, or make the values numbers"),
                );
            }
        }
        if problems.is_empty() { Ok(secrets) } else { Err(Failure::all(Fault::Data, problems)) }
    }

    /// Per code of an attribute the label.
    pub(super) fn labels_of(&self, attribute: AttributeId) -> &[u32] {
        &self.labels[attribute.index()]
    }

    /// How many sensitive attributes a class has.
    pub(super) fn attributes(&self, class: ClassId) -> usize {
        self.of_class[class.index()].len()
    }

    /// Numbers the secrets of all vertices; gives each vertex's.
    pub(super) fn of_vertices(&mut self, data: &Dataset, observer: &dyn Observer) -> Result<Vec<u32>> {
        let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::from_iter([(Vec::new(), 0)]);
        (0..data.vertex_count())
            .map(|v| {
                observer.go_on()?;
                let next = numbers.len() as u32;
                Ok(*numbers.entry(self.of_vertex(data, v)).or_insert_with_key(|labels| {
                    self.combinations.extend_from_slice(labels);
                    self.start.push(self.combinations.len() as u32);
                    next
                }))
            })
            .collect()
    }

    /// The labels of a vertex, one per sensitive attribute.
    pub(super) fn of_vertex(&self, data: &Dataset, vertex: usize) -> Vec<u32> {
        let of_class = &self.of_class[data.class(vertex).index()];
        let label = |&a: &AttributeId| match data.value(vertex, a) {
            MISSING => UNKNOWN,
            code => self.labels[a.index()][code as usize],
        };
        of_class.iter().map(label).collect()
    }

    /// The labels of a secret, one per sensitive attribute.
    #[inline]
    pub(super) fn labels(&self, secret: u32) -> &[u32] {
        let s = secret as usize;
        &self.combinations[self.start[s] as usize..self.start[s + 1] as usize]
    }

    /// Whether a label may stand only once in a class.
    pub(super) fn is_listed(&self, label: u32) -> bool {
        label != UNKNOWN && self.listed[label as usize]
    }

    /// Whether any label may stand only once.
    pub(super) fn lists_any(&self) -> bool {
        self.listed.contains(&true)
    }
}

/// A value as it is compared; none if there are bounds and it is no number.
fn label(bounds: Option<&[f64]>, text: &str) -> Option<String> {
    let Some(bounds) = bounds else {
        return Some(text.to_owned());
    };
    let number: f64 = text.trim().parse().ok().filter(|n: &f64| n.is_finite())?;
    let at = bounds.partition_point(|&b| b <= number);
    Some(match (at.checked_sub(1).map(|i| bounds[i]), bounds.get(at)) {
        (None, Some(first)) => format!("< {first}"),
        (Some(last), None) => format!(">= {last}"),
        (Some(from), Some(to)) => format!("[{from},{to})"),
        (None, None) => String::new(),
    })
}
