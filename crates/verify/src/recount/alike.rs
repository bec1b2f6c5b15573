//! k-anonymity and l-diversity counted again: records are written down as texts and compared letter by letter.
//!
//! The text of a vertex is its class, its quasi values and the texts of its children in their order as texts: two records
//! look alike exactly if they have the same text.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Diversity, Role, Siblings};
use bosket_model::{AttributeId, Dataset, MISSING, Result};

use super::sample::{Budget, Choices};
use super::secrets::told;
use super::{Recount, STEPS, disagreement, is_over, is_uniform};
use crate::vertex::Diverse;

/// Steps that writing a vertex down takes.
const VERTEX: usize = 40;

/// Records that are drawn where not all can be compared.
const DRAWN: usize = 64;

/// Counts records that look alike again.
pub(super) fn of_records(
    data: &Dataset,
    binding: &Binding,
    claimed: (Option<u32>, Option<&Diverse>),
    observer: &dyn Observer,
) -> Result<Recount> {
    if (data.vertex_count() * VERTEX) as u64 <= STEPS {
        return all(data, binding, claimed, observer);
    }
    some(data, binding, claimed, observer)
}

fn all(
    data: &Dataset,
    binding: &Binding,
    (k, ask): (Option<u32>, Option<&Diverse>),
    observer: &dyn Observer,
) -> Result<Recount> {
    let mut classes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for record in 0..data.len() {
        observer.go_on()?;
        classes.entry(text(data, binding, record)).or_default().push(record);
    }
    for class in classes.values() {
        observer.go_on()?;
        judge(data, binding, class, (k, ask), observer)?;
    }
    Ok(Recount {
        pieces: classes.len() as u64,
        records: data.len() as u64,
        complete: true,
        not_covered: Vec::new(),
    })
}

/// Draws records, and looks for those that look like them.
fn some(
    data: &Dataset,
    binding: &Binding,
    (k, ask): (Option<u32>, Option<&Diverse>),
    observer: &dyn Observer,
) -> Result<Recount> {
    let drawn = Choices::new(data.len()).some_of(data.len(), DRAWN);
    let mut alike: FxHashMap<u64, Vec<usize>> =
        drawn.iter().map(|&record| (sum(data, binding, record), Vec::new())).collect();
    let mut budget = Budget::new();
    let mut asked_all = true;
    for record in 0..data.len() {
        observer.go_on()?;
        asked_all = budget.take(data.vertices(record).len().div_ceil(2));
        if !asked_all {
            break;
        }
        if let Some(own) = alike.get_mut(&sum(data, binding, record)) {
            own.push(record);
        }
    }
    let mut recount = Recount::default();
    let mut judged = 0;
    for record in drawn {
        observer.go_on()?;
        let own = text(data, binding, record);
        let candidates = alike.get(&sum(data, binding, record)).map_or(&[][..], Vec::as_slice);
        let cost = VERTEX * data.vertices(record).len();
        let mut class = Vec::new();
        let mut compared = asked_all;
        for &other in candidates {
            if ask.is_none() && k.is_some_and(|k| class.len() >= k as usize) {
                break;
            }
            compared = compared && budget.take(cost);
            if !compared {
                break;
            }
            observer.go_on()?;
            class.extend(Some(other).filter(|&other| text(data, binding, other) == own));
        }
        // All of a class are judged; enough of it are enough for k alone, even if not everybody was asked.
        let enough = k.is_some_and(|k| class.len() >= k as usize);
        if compared && (ask.is_none() || budget.take(2 * cost * class.len())) {
            judge(data, binding, &class, (k, ask), observer)?;
            judged += 1;
        } else if !enough {
            continue;
        }
        recount.pieces += 1;
        recount.records += 1;
    }
    if ask.is_some() && judged == 0 {
        recount.not_covered.push("what records that look alike say about sensitive values");
    }
    Ok(recount)
}

/// A number that records have in common if they look alike, and hardly any others: whoever has another one need not be
/// written down.
fn sum(data: &Dataset, binding: &Binding, record: usize) -> u64 {
    let of_vertex = |vertex: usize| {
        let class = data.class(vertex);
        let attributes = &data.schema().class(class).attributes;
        let quasi = attributes.iter().filter(|a| binding.role(**a) == Some(Role::Quasi));
        let mixed = |sum: u64, value: u32| {
            (sum ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
        };
        quasi.map(|&a| data.value(vertex, a)).fold(u64::from(class.0) + 1, mixed)
    };
    data.vertices(record).map(of_vertex).fold(0, u64::wrapping_add)
}

/// A record as a text.
pub(super) fn text(data: &Dataset, binding: &Binding, record: usize) -> String {
    texts(data, binding, record).swap_remove(0)
}

/// All vertices of a record as texts.
fn texts(data: &Dataset, binding: &Binding, record: usize) -> Vec<String> {
    let vertices = data.vertices(record);
    let first = vertices.start;
    let mut below: Vec<Vec<String>> = vec![Vec::new(); vertices.len()];
    let mut texts = vec![String::new(); vertices.len()];
    for vertex in vertices.rev() {
        let class = data.class(vertex);
        let mut text = format!("{}(", class.0);
        for &attribute in &data.schema().class(class).attributes {
            let code = data.value(vertex, attribute);
            if binding.role(attribute) == Some(Role::Quasi) && code != MISSING {
                let dictionary = data.dictionary(attribute);
                let value = dictionary.text(code);
                // With its length before it no value can be taken for something else.
                text += &format!("{}={}:{value}", attribute.0, value.len());
            }
        }
        let mut children = std::mem::take(&mut below[vertex - first]);
        children.sort_unstable();
        text += &format!("){}", children.concat());
        text.push('.');
        if let Some(parent) = data.parent(vertex) {
            below[parent - first].push(text.clone());
        }
        texts[vertex - first] = text;
    }
    texts
}

/// What is counted of a sensitive attribute at one place of a class.
#[derive(Default)]
struct AtPlace {
    /// Vertices that stand there.
    vertices: usize,
    /// Per value the vertices that have it, by record.
    having: BTreeMap<String, Vec<usize>>,
}

/// Holds a class to what is claimed.
fn judge(
    data: &Dataset,
    binding: &Binding,
    class: &[usize],
    (k, ask): (Option<u32>, Option<&Diverse>),
    observer: &dyn Observer,
) -> Result<()> {
    if k.is_some_and(|k| class.len() < k as usize) {
        return Err(disagreement("fewer records look alike than claimed"));
    }
    let Some(ask) = ask else {
        return Ok(());
    };
    // A place is the texts on the way from the top to a vertex.
    let mut places: BTreeMap<(Vec<String>, AttributeId), AtPlace> = BTreeMap::new();
    let mut everywhere: BTreeMap<String, usize> = BTreeMap::new();
    for &record in class {
        observer.go_on()?;
        let first = data.vertices(record).start;
        let texts = texts(data, binding, record);
        for vertex in data.vertices(record) {
            let up = std::iter::successors(Some(vertex), |&v| data.parent(v));
            let place: Vec<String> = up.map(|v| texts[v - first].clone()).collect();
            for &attribute in &data.schema().class(data.class(vertex)).attributes {
                if binding.role(attribute) != Some(Role::Sensitive) {
                    continue;
                }
                let at = places.entry((place.clone(), attribute)).or_default();
                at.vertices += 1;
                let code = data.value(vertex, attribute);
                if code != MISSING {
                    let bounds =
                        binding.attributes[attribute.index()].and_then(|d| ask.buckets.get(d)?.as_deref());
                    let value = told(bounds, data.dictionary(attribute).text(code));
                    *everywhere.entry(value.clone()).or_default() += 1;
                    at.having.entry(value).or_default().push(record);
                }
            }
        }
    }
    let recurs = |value: &String| everywhere.get(value).is_some_and(|&count| count > 1);
    if places.values().any(|place| place.says_too_much(class.len(), ask))
        || ask.distinct_everywhere.iter().any(recurs)
    {
        return Err(disagreement("records that look alike say more about a sensitive value than claimed"));
    }
    Ok(())
}

impl AtPlace {
    fn says_too_much(&self, records: usize, ask: &Diverse) -> bool {
        let too_many = |having: &Vec<usize>| match ask.siblings {
            Siblings::Pooled => is_over(having.len(), self.vertices, ask.l),
            Siblings::Each => {
                let mut own = having.clone();
                own.dedup();
                is_over(own.len(), records, ask.l)
            }
        };
        let too_common = self.having.values().any(too_many);
        match ask.diversity {
            Diversity::Frequency => too_common,
            Diversity::Entropy => {
                let filled: usize = self.having.values().map(Vec::len).sum();
                let missing = std::iter::repeat_n(1, self.vertices - filled);
                let counts: Vec<usize> = self.having.values().map(Vec::len).chain(missing).collect();
                let low = !self.having.is_empty() && is_uniform(&counts, ask.l);
                low || (ask.siblings == Siblings::Each && too_common)
            }
        }
    }
}
