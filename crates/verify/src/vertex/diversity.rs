//! l-diversity: what a class of QI-isomorphic records says about sensitive values.
//!
//! Vertices of a class that are alike and have alike parents up to the root cannot be told apart: they are one
//! **place**. A missing sensitive value fills a place but is no value of its own: nothing is said about anyone.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Diversity, Role, Siblings};
use bosket_model::{AttributeId, Dataset, Failure, Fault, MISSING, Result};

use super::{QuasiForms, class_witness};
use crate::buckets;
use crate::witness::{Sensitive, Witness};

/// What l-diversity asks for.
#[derive(Clone, Debug)]
pub struct Diverse {
    /// No more than one in l.
    pub l: f64,
    /// How diversity is measured.
    pub diversity: Diversity,
    /// How alike siblings are judged.
    pub siblings: Siblings,
    /// Values that may stand only once in a class.
    pub distinct_everywhere: Vec<String>,
    /// Per declared attribute, the bounds between buckets of a numeric sensitive value.
    pub buckets: Vec<Option<Vec<f64>>>,
}

/// The smallest class that says too much about a sensitive value.
pub fn smallest_uniform(
    data: &Dataset,
    binding: &Binding,
    forms: &QuasiForms,
    ask: &Diverse,
    observer: &dyn Observer,
) -> Result<Option<Witness>> {
    let labels = Labels::new(data, binding, ask)?;
    let mut smallest: Option<Witness> = None;
    for class in &forms.classes {
        observer.go_on()?;
        let Some(sensitive) = too_common(data, forms, class, ask, (&labels, observer))? else {
            continue;
        };
        let mut witness = class_witness(data, binding, class);
        witness.sensitive = Some(sensitive);
        if smallest.as_ref().is_none_or(|s| Witness::order(&witness, s).is_lt()) {
            smallest = Some(witness);
        }
    }
    Ok(smallest)
}

/// The sensitive values of the data as they are compared: by text, or by bucket.
struct Labels {
    /// Per class of the schema its sensitive attributes.
    attributes: Vec<Vec<AttributeId>>,
    /// Per attribute and code the label.
    of: Vec<Vec<u32>>,
    texts: Vec<String>,
    paths: Vec<String>,
}

impl Labels {
    fn new(data: &Dataset, binding: &Binding, ask: &Diverse) -> Result<Self> {
        let schema = data.schema();
        let mut known: FxHashMap<String, u32> = FxHashMap::default();
        let mut problems = Vec::new();
        let mut labels = Labels {
            attributes: (schema.classes())
                .map(|(id, _)| binding.in_policy_order(schema, id, Role::Sensitive))
                .collect(),
            of: Vec::new(),
            texts: Vec::new(),
            paths: schema.attributes().map(|(_, a)| a.path.clone()).collect(),
        };
        for (id, attribute) in schema.attributes() {
            let mut of = Vec::new();
            if binding.role(id) == Some(Role::Sensitive) {
                let bounds = binding.attributes[id.index()].and_then(|d| ask.buckets[d].as_deref());
                let mut unreadable = 0;
                for (_, text) in data.dictionary(id).iter() {
                    let label = buckets::label(bounds, text);
                    unreadable += usize::from(label.is_none());
                    let label = label.unwrap_or_default();
                    let next = labels.texts.len() as u32;
                    of.push(*known.entry(label).or_insert_with_key(|label| {
                        labels.texts.push(label.clone());
                        next
                    }));
                }
                if unreadable > 0 {
                    problems.push(buckets::unreadable(unreadable, &attribute.path));
                }
            }
            labels.of.push(of);
        }
        if problems.is_empty() { Ok(labels) } else { Err(Failure::all(Fault::Data, problems)) }
    }
}

/// What is counted of one sensitive attribute at one place of a class.
#[derive(Default)]
struct Tally {
    places: usize,
    values: BTreeMap<u32, Count>,
}

/// How many places a label fills, in how many records, and the last record that had it.
type Count = (usize, usize, Option<u32>);

/// What decides about a value: the places it fills, or the records that have it.
fn counted(value: &Count, ask: &Diverse) -> usize {
    match ask.siblings {
        Siblings::Pooled => value.0,
        Siblings::Each => value.1,
    }
}

/// The most over-represented sensitive value of a class, if there is one.
fn too_common(
    data: &Dataset,
    forms: &QuasiForms,
    class: &[u32],
    ask: &Diverse,
    (labels, observer): (&Labels, &dyn Observer),
) -> Result<Option<Sensitive>> {
    // A place is the path of forms from the root; numbered per class in order of appearance.
    let mut place_of: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut tallies: BTreeMap<(u32, AttributeId), Tally> = BTreeMap::default();
    let mut everywhere: BTreeMap<u32, (usize, AttributeId)> = BTreeMap::default();
    let mut places: Vec<u32> = Vec::new();
    for &record in class {
        observer.go_on()?;
        let vertices = data.vertices(record as usize);
        places.clear();
        for v in vertices.clone() {
            let above = data.parent(v).map_or(u32::MAX, |p| places[p - vertices.start]);
            let next = place_of.len() as u32;
            let place = *place_of.entry((above, forms.of[v])).or_insert(next);
            places.push(place);
            for &a in &labels.attributes[data.class(v).index()] {
                let tally = tallies.entry((place, a)).or_default();
                tally.places += 1;
                let code = data.value(v, a);
                if code == MISSING {
                    continue;
                }
                let label = labels.of[a.index()][code as usize];
                let value = tally.values.entry(label).or_default();
                value.0 += 1;
                value.1 += usize::from(value.2.replace(record) != Some(record));
                everywhere.entry(label).or_insert((0, a)).0 += 1;
            }
        }
    }
    let found = |a: AttributeId, label: u32, share: f64| {
        Sensitive::common(labels.paths[a.index()].clone(), labels.texts[label as usize].clone(), share)
    };
    for (&(_, a), tally) in &tallies {
        let (over, share) = worst(tally, class.len(), ask);
        if over {
            let text = |label: u32| labels.texts[label as usize].as_str();
            let most = tally.values.iter().max_by_key(|(label, v)| (counted(v, ask), Reverse(text(**label))));
            return Ok(most.map(|(&label, _)| found(a, label, share)));
        }
    }
    let listed = (everywhere.into_iter()).find(|&(label, (count, _))| {
        count > 1 && ask.distinct_everywhere.contains(&labels.texts[label as usize])
    });
    Ok(listed.map(|(label, (count, a))| found(a, label, count as f64 / class.len() as f64)))
}

/// Whether a place says too much, and the largest share there. Shares are compared as `count · l > places`,
/// with room for the rounding of a fractional l only.
fn worst(tally: &Tally, records: usize, ask: &Diverse) -> (bool, f64) {
    let count = tally.values.values().map(|v| counted(v, ask)).max().unwrap_or(0);
    let over = |count: usize, of: usize| count as f64 * ask.l > of as f64 * (1.0 + 1e-12);
    let of = match ask.siblings {
        Siblings::Pooled => tally.places,
        Siblings::Each => records,
    };
    let share = count as f64 / of as f64;
    match ask.diversity {
        Diversity::Frequency => (over(count, of), share),
        Diversity::Entropy => {
            let low = !tally.values.is_empty() && entropy(tally) < ask.l.ln() - 1e-9;
            (low || (ask.siblings == Siblings::Each && over(count, of)), share)
        }
    }
}

/// Entropy of the values at a place. A missing value could be anything, so each is a value of its own.
fn entropy(tally: &Tally) -> f64 {
    let all = tally.places as f64;
    let filled: usize = tally.values.values().map(|v| v.0).sum();
    let missing = (tally.places - filled) as f64;
    let known: f64 = tally.values.values().map(|v| v.0 as f64 / all).map(|p| -p * p.ln()).sum();
    known + missing / all * all.ln()
}
