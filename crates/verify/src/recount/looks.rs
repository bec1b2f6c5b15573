//! Records that look alike and come in parts, with their sensitive values, counted again over all of them.
//!
//! What is published of a vertex and of all below it is written down as a text; the SHA-256 of that is its **look**. In a first
//! pass those looks of records are drawn that are smallest, which neither the parts nor their order can change. In a second one
//! everybody who has one of them is counted, with all sensitive values and the places where these stand.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader as Bytes, Writer, damaged};
use bosket_model::policy::Role;
use bosket_model::{Dataset, MISSING, Result};

use super::secrets::{says_too_much, told};
use super::{Recount, disagreement};
use crate::vertex::Diverse;

/// What is published of a vertex and of all below it, or of all vertices on the way to one.
type Look = [u8; 32];

/// By value the vertices that have it, and their records.
type Having = BTreeMap<String, (u64, u64)>;

/// Looks that are drawn of all parts together, at most.
const MOST: usize = 4096;

/// Looks of records: the smallest ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Looks {
    drawn: BTreeSet<Look>,
    /// Whether there are others.
    others: bool,
}

impl Looks {
    /// Draws from the records of a part.
    pub(super) fn of(data: &Dataset, binding: &Binding, observer: &dyn Observer) -> Result<Self> {
        let mut looks = Looks::default();
        for record in 0..data.len() {
            observer.go_on()?;
            looks.drawn.insert(look_of_each(data, binding, record)[0]);
            looks.prune();
        }
        Ok(looks)
    }

    /// Both together.
    pub(super) fn merge(mut self, other: Looks) -> Self {
        self.drawn.extend(other.drawn);
        self.others |= other.others;
        self.prune();
        self
    }

    fn prune(&mut self) {
        while self.drawn.len() > MOST {
            self.drawn.pop_last();
            self.others = true;
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.number(u64::from(self.others));
        out.length(self.drawn.len());
        self.drawn.iter().for_each(|look| out.bytes(look));
    }

    pub(super) fn read(from: &mut Bytes<'_>) -> Result<Self> {
        let others = from.number()?;
        let drawn = (0..from.length()?).map(|_| look(from)).collect::<Result<_>>()?;
        if others > 1 {
            return Err(damaged());
        }
        Ok(Looks { drawn, others: others == 1 })
    }
}

/// Everybody who has a drawn look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    classes: BTreeMap<Look, Class>,
}

/// Those who have one look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Class {
    records: u64,
    /// Vertices by the looks on the way to them.
    vertices: BTreeMap<Look, u64>,
    /// What is found there of a sensitive attribute, by its number in the policy: per value the vertices and the records that
    /// have it.
    having: BTreeMap<(Look, u32), Having>,
}

impl Seen {
    /// Counts a part.
    pub(super) fn of(
        looks: &Looks,
        data: &Dataset,
        binding: &Binding,
        ask: Option<&Diverse>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut seen = Seen::default();
        for record in 0..data.len() {
            observer.go_on()?;
            let own = look_of_each(data, binding, record);
            if looks.drawn.contains(&own[0]) {
                let class = seen.classes.entry(own[0]).or_default();
                class.records += 1;
                if let Some(ask) = ask {
                    class.count(data, binding, (record, &own), ask);
                }
            }
        }
        Ok(seen)
    }

    /// Both together.
    pub(super) fn merge(mut self, other: Seen) -> Self {
        for (look, class) in other.classes {
            self.classes.entry(look).or_default().add(class);
        }
        self
    }

    /// Holds everybody who was drawn to what is claimed of so many records.
    pub(super) fn judged(
        &self,
        looks: &Looks,
        (k, ask): (Option<u32>, Option<&Diverse>),
        records: u64,
    ) -> Result<Recount> {
        let seen = self.classes.values().map(|class| class.records).sum::<u64>();
        if !self.classes.keys().eq(&looks.drawn) || (!looks.others && seen != records) {
            return Err(disagreement("not all records were counted a second time"));
        }
        let too_few = |class: &Class| k.is_some_and(|k| class.records < u64::from(k));
        if self.classes.values().any(too_few) {
            return Err(disagreement("fewer records look alike than claimed"));
        }
        if self.classes.values().any(|class| ask.is_some_and(|ask| class.says_too_much(ask))) {
            let what = "records that look alike say more about a sensitive value than claimed";
            return Err(disagreement(what));
        }
        let (pieces, complete) = (self.classes.len() as u64, !looks.others);
        Ok(Recount { pieces, records: seen, complete, not_covered: Vec::new() })
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.length(self.classes.len());
        for (look, class) in &self.classes {
            out.bytes(look);
            class.write(out);
        }
    }

    pub(super) fn read(from: &mut Bytes<'_>) -> Result<Self> {
        let one = |from: &mut Bytes<'_>| Ok((look(from)?, Class::read(from)?));
        let classes = (0..from.length()?).map(|_| one(from)).collect::<Result<_>>()?;
        Ok(Seen { classes })
    }
}

impl Class {
    /// Counts the sensitive values of a record, whose vertices have these looks.
    fn count(&mut self, data: &Dataset, binding: &Binding, (record, looks): (usize, &[Look]), ask: &Diverse) {
        let first = data.vertices(record).start;
        let mut ways: Vec<Look> = Vec::with_capacity(looks.len());
        let mut own: BTreeSet<(Look, u32, String)> = BTreeSet::new();
        for vertex in data.vertices(record) {
            let above = data.parent(vertex).map_or([0; 32], |parent| ways[parent - first]);
            let way: Look = Sha256::digest([above, looks[vertex - first]].concat()).into();
            ways.push(way);
            *self.vertices.entry(way).or_default() += 1;
            let attributes = data.schema().class(data.class(vertex)).attributes.iter();
            for &attribute in attributes.filter(|&&id| binding.role(id) == Some(Role::Sensitive)) {
                let code = data.value(vertex, attribute);
                let Some(declared) = binding.attributes[attribute.index()].filter(|_| code != MISSING) else {
                    continue;
                };
                let bounds = ask.buckets.get(declared).and_then(Option::as_deref);
                let value = told(bounds, data.dictionary(attribute).text(code));
                let at = self.having.entry((way, declared as u32)).or_default();
                let (vertices, records) = at.entry(value.clone()).or_default();
                *vertices += 1;
                *records += u64::from(own.insert((way, declared as u32, value)));
            }
        }
    }

    fn add(&mut self, other: Class) {
        self.records += other.records;
        other.vertices.into_iter().for_each(|(way, n)| *self.vertices.entry(way).or_default() += n);
        for (place, values) in other.having {
            let at = self.having.entry(place).or_default();
            for (value, (vertices, records)) in values {
                let own = at.entry(value).or_default();
                *own = (own.0 + vertices, own.1 + records);
            }
        }
    }

    fn says_too_much(&self, ask: &Diverse) -> bool {
        let at_place = |((way, _), values): (&(Look, u32), &Having)| {
            let vertices = self.vertices.get(way).copied().unwrap_or(0) as usize;
            let having = values.values().map(|&(vertices, records)| (vertices as usize, records as usize));
            says_too_much(&having.collect::<Vec<_>>(), (vertices, self.records as usize), ask)
        };
        let recurs = |listed: &String| {
            let places = self.having.values().filter_map(|values| values.get(listed));
            places.map(|(vertices, _)| vertices).sum::<u64>() > 1
        };
        self.having.iter().any(at_place) || ask.distinct_everywhere.iter().any(recurs)
    }

    fn write(&self, out: &mut Writer) {
        out.number(self.records);
        out.length(self.vertices.len());
        for (way, &number) in &self.vertices {
            out.bytes(way);
            out.number(number);
        }
        out.length(self.having.len());
        for ((way, declared), values) in &self.having {
            out.bytes(way);
            out.number(u64::from(*declared));
            out.length(values.len());
            for (value, &(vertices, records)) in values {
                out.text(value);
                out.number(vertices);
                out.number(records);
            }
        }
    }

    fn read(from: &mut Bytes<'_>) -> Result<Self> {
        let mut class = Class { records: from.number()?, ..Class::default() };
        for _ in 0..from.length()? {
            class.vertices.insert(look(from)?, from.number()?);
        }
        for _ in 0..from.length()? {
            let place = (look(from)?, from.small()?);
            let value =
                |from: &mut Bytes<'_>| Ok((from.text()?.to_owned(), (from.number()?, from.number()?)));
            let values = (0..from.length()?).map(|_| value(from)).collect::<Result<_>>()?;
            class.having.insert(place, values);
        }
        Ok(class)
    }
}

fn look(from: &mut Bytes<'_>) -> Result<Look> {
    from.bytes()?.try_into().map_err(|_| damaged())
}

/// The looks of a record's vertices, its own first.
fn look_of_each(data: &Dataset, binding: &Binding, record: usize) -> Vec<Look> {
    let vertices = data.vertices(record);
    let first = vertices.start;
    let mut below: Vec<Vec<Look>> = vec![Vec::new(); vertices.len()];
    let mut looks = vec![[0; 32]; vertices.len()];
    // Children come behind their parents.
    for vertex in vertices.rev() {
        let mut children = std::mem::take(&mut below[vertex - first]);
        children.sort_unstable();
        let mut hash = Sha256::new();
        hash.update(text(data, binding, vertex));
        children.iter().for_each(|child| hash.update(child));
        looks[vertex - first] = hash.finalize().into();
        if let Some(parent) = data.parent(vertex) {
            below[parent - first].push(looks[vertex - first]);
        }
    }
    looks
}

/// The class of a vertex and its quasi values, in the order of the policy. With their lengths before them no two can be taken
/// for something else.
fn text(data: &Dataset, binding: &Binding, vertex: usize) -> String {
    let class = data.schema().class(data.class(vertex));
    let known = class.attributes.iter().filter_map(|&attribute| {
        let code = data.value(vertex, attribute);
        let quasi = binding.role(attribute) == Some(Role::Quasi) && code != MISSING;
        let declared = binding.attributes[attribute.index()].filter(|_| quasi)?;
        Some((declared, data.dictionary(attribute).text(code)))
    });
    let mut known: Vec<(usize, &str)> = known.collect();
    known.sort_unstable();
    let mut text = format!("{}:{}(", class.path.len(), class.path);
    for (declared, value) in known {
        text += &format!("{declared}={}:{value}", value.len());
    }
    text + ")"
}
