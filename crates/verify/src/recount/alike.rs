//! k-anonymity and what classes say about sensitive values counted again: records are written down as texts and compared letter by letter.
//!
//! The text of a vertex is its class, its quasi values and the numbers of its children's texts, ascending; texts that are
//! the same letter by letter have the same number. Two records look alike exactly if theirs have.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Dataset, MISSING, Result};

use super::close::{Again, NOT_ALL};
use super::sample::{Budget, Choices};
use super::secrets::{says_too_much, told};
use super::{Recount, STEPS, disagreement};
use crate::vertex::Diverse;

/// Steps that writing a vertex down takes.
const VERTEX: usize = 40;

/// Records that are drawn where not all can be compared.
const DRAWN: usize = 64;

/// Counts records that look alike again.
pub(super) fn of_records(
    data: &Dataset,
    binding: &Binding,
    claimed: (Option<u32>, Asked<'_>),
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
    (k, mut ask): (Option<u32>, Asked<'_>),
    observer: &dyn Observer,
) -> Result<Recount> {
    let mut written = Written::new(data, binding);
    let mut classes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for record in 0..data.len() {
        observer.go_on()?;
        classes.entry(written.record(record)).or_default().push(record);
    }
    for class in classes.values() {
        observer.go_on()?;
        judge(&mut written, class, (k, &mut ask), observer)?;
    }
    Ok(Recount {
        pieces: classes.len() as u64,
        records: data.len() as u64,
        complete: ask.is_answered(),
        not_covered: if ask.is_answered() { Vec::new() } else { vec![NOT_ALL] },
    })
}

/// Draws records, and looks for those that look like them.
fn some(
    data: &Dataset,
    binding: &Binding,
    (k, mut ask): (Option<u32>, Asked<'_>),
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
    let mut written = Written::new(data, binding);
    let mut recount = Recount::default();
    let mut judged = 0;
    for record in drawn {
        observer.go_on()?;
        let own = written.record(record);
        let candidates = alike.get(&sum(data, binding, record)).map_or(&[][..], Vec::as_slice);
        let cost = VERTEX * data.vertices(record).len();
        let mut class = Vec::new();
        let mut compared = asked_all;
        for &other in candidates {
            if ask.is_nothing() && k.is_some_and(|k| class.len() >= k as usize) {
                break;
            }
            compared = compared && budget.take(cost);
            if !compared {
                break;
            }
            observer.go_on()?;
            class.extend(Some(other).filter(|&other| written.record(other) == own));
        }
        // All of a class are judged; enough of it are enough for k alone, even if not everybody was asked.
        let enough = k.is_some_and(|k| class.len() >= k as usize);
        if compared && (ask.is_nothing() || budget.take(2 * cost * class.len())) {
            judge(&mut written, &class, (k, &mut ask), observer)?;
            judged += 1;
        } else if !enough {
            continue;
        }
        recount.pieces += 1;
        recount.records += 1;
    }
    if !ask.is_nothing() && judged == 0 {
        recount.not_covered.push("what records that look alike say about sensitive values");
    } else if !ask.is_answered() {
        recount.not_covered.push(NOT_ALL);
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

/// What has been written down so far.
pub(super) struct Written<'a> {
    data: &'a Dataset,
    binding: &'a Binding,
    numbers: FxHashMap<String, u32>,
}

impl<'a> Written<'a> {
    pub(super) fn new(data: &'a Dataset, binding: &'a Binding) -> Self {
        Written { data, binding, numbers: FxHashMap::default() }
    }

    /// The number of a record's text.
    pub(super) fn record(&mut self, record: usize) -> u32 {
        self.vertices(record)[0]
    }

    /// The numbers of the texts of all vertices of a record.
    fn vertices(&mut self, record: usize) -> Vec<u32> {
        let vertices = self.data.vertices(record);
        let first = vertices.start;
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); vertices.len()];
        let mut numbers = vec![0; vertices.len()];
        for vertex in vertices.rev() {
            let mut children = std::mem::take(&mut below[vertex - first]);
            children.sort_unstable();
            let text = self.text(vertex, &children);
            let next = self.numbers.len() as u32;
            let number = *self.numbers.entry(text).or_insert(next);
            if let Some(parent) = self.data.parent(vertex) {
                below[parent - first].push(number);
            }
            numbers[vertex - first] = number;
        }
        numbers
    }

    fn text(&self, vertex: usize, children: &[u32]) -> String {
        let Written { data, binding, .. } = self;
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
        text.push(')');
        children.iter().for_each(|number| text += &format!("{number},"));
        text
    }
}

/// What is counted of a sensitive attribute at one place of a class.
#[derive(Default)]
struct AtPlace {
    /// Vertices that stand there.
    vertices: usize,
    /// Per value the vertices that have it, by record.
    having: BTreeMap<String, Vec<usize>>,
}

/// What is asked of sensitive values.
pub(super) enum Asked<'a> {
    /// Nothing.
    Nothing,
    /// That none is too common.
    Diverse(&'a Diverse),
    /// That they are distributed as in all records.
    Close(Box<Again<'a>>),
}

impl Asked<'_> {
    fn is_nothing(&self) -> bool {
        matches!(self, Asked::Nothing)
    }

    /// Whether nothing had to be left out.
    fn is_answered(&self) -> bool {
        !matches!(self, Asked::Close(again) if !again.complete)
    }
}

/// Holds a class to what is claimed.
fn judge(
    written: &mut Written<'_>,
    class: &[usize],
    (k, ask): (Option<u32>, &mut Asked<'_>),
    observer: &dyn Observer,
) -> Result<()> {
    if k.is_some_and(|k| class.len() < k as usize) {
        return Err(disagreement("fewer records look alike than claimed"));
    }
    if ask.is_nothing() {
        return Ok(());
    }
    let (data, binding) = (written.data, written.binding);
    // A place is the texts on the way from the top to a vertex: the place of its parent, and its own text.
    let mut ways: FxHashMap<(usize, u32), usize> = FxHashMap::default();
    let mut places: BTreeMap<(usize, AttributeId), AtPlace> = BTreeMap::new();
    let mut everywhere: BTreeMap<String, usize> = BTreeMap::new();
    for &record in class {
        observer.go_on()?;
        let first = data.vertices(record).start;
        let texts = written.vertices(record);
        let mut stands_at: Vec<usize> = Vec::with_capacity(texts.len());
        for vertex in data.vertices(record) {
            let above = data.parent(vertex).map_or(0, |parent| stands_at[parent - first]);
            let next = ways.len() + 1;
            let place = *ways.entry((above, texts[vertex - first])).or_insert(next);
            stands_at.push(place);
            for &attribute in &data.schema().class(data.class(vertex)).attributes {
                if binding.role(attribute) != Some(Role::Sensitive) {
                    continue;
                }
                let at = places.entry((place, attribute)).or_default();
                at.vertices += 1;
                let code = data.value(vertex, attribute);
                if code != MISSING {
                    let declared = binding.attributes[attribute.index()];
                    let text = data.dictionary(attribute).text(code);
                    let value = match ask {
                        Asked::Diverse(ask) => {
                            told(declared.and_then(|d| ask.buckets.get(d)?.as_deref()), text)
                        }
                        Asked::Close(again) => declared.map_or(text.to_owned(), |d| again.told(d, text)),
                        Asked::Nothing => continue,
                    };
                    *everywhere.entry(value.clone()).or_default() += 1;
                    at.having.entry(value).or_default().push(record);
                }
            }
        }
    }
    let too_much = match ask {
        Asked::Nothing => false,
        Asked::Diverse(ask) => {
            let recurs = |value: &String| everywhere.get(value).is_some_and(|&count| count > 1);
            places.values().any(|place| place.says_too_much(class.len(), ask))
                || ask.distinct_everywhere.iter().any(recurs)
        }
        Asked::Close(again) => places.iter().any(|((_, attribute), place)| {
            let here = place.having.iter().map(|(value, having)| (value.clone(), having.len())).collect();
            again.says_too_much(attribute.index(), &here)
        }),
    };
    if too_much {
        return Err(disagreement("records that look alike say more about a sensitive value than claimed"));
    }
    Ok(())
}

impl AtPlace {
    fn says_too_much(&self, records: usize, ask: &Diverse) -> bool {
        let count = |having: &Vec<usize>| {
            let mut own = having.clone();
            own.dedup();
            (having.len(), own.len())
        };
        let having: Vec<(usize, usize)> = self.having.values().map(count).collect();
        says_too_much(&having, (self.vertices, records), ask)
    }
}
