//! Whom a run is about: people who meet `source.where`, and of these a sample.
//!
//! The same people are chosen whenever the same data is read, in whatever order and by however many threads. The seed is
//! public with the policy: a sample keeps nothing secret.

use std::cmp::Ordering;

use sha2::{Digest, Sha256};

use crate::binding::Binding;
use crate::calendar::Civil;
use crate::dataset::{Builder, Dataset};
use crate::diag::{Diagnostic, Failure, Fault, Place, Result};
use crate::dictionary::MISSING;
use crate::policy::{Condition, Operand, Policy, Selection};
use crate::schema::{AttributeId, ClassId};
use crate::words::{count, plural};

/// The people of the data that the policy is about.
pub fn select(data: Dataset, policy: &Policy, name: &str) -> Result<Dataset> {
    let Some(source) = &policy.source else { return Ok(data) };
    let data = meeting(data, &source.selection, policy, name)?;
    match source.selection.sample {
        Some(share) => Ok(sampled(&data, share, policy.seed)),
        None => Ok(data),
    }
}

/// Those who meet the condition.
fn meeting(data: Dataset, selection: &Selection, policy: &Policy, name: &str) -> Result<Dataset> {
    let Some(condition) = &selection.condition else { return Ok(data) };
    let binding = Binding::of_input(data.schema(), &policy.attributes, policy.undeclared, name)?;
    let known = Known::new(&data, &binding, condition, name)?;
    let keep: Vec<bool> =
        (0..data.len()).map(|record| known.meets(condition, data.vertices(record).start)).collect();
    if !keep.contains(&true) {
        let what = "nobody meets `source.where`";
        let help = format!("the data has {}; check names and values", plural(data.len(), "record"));
        return Err(Failure::new(Fault::Data, Diagnostic::error(what).at(Place::source(name)).help(help)));
    }
    Ok(data.subset(&keep))
}

/// The values that a condition asks for.
struct Known<'d> {
    data: &'d Dataset,
    attributes: Vec<(&'d str, AttributeId)>,
}

impl<'d> Known<'d> {
    fn new(data: &'d Dataset, binding: &'d Binding, condition: &Condition, name: &str) -> Result<Self> {
        let mut known = Known { data, attributes: Vec::new() };
        let mut problems = Vec::new();
        for path in condition.paths() {
            let own = |declared: Option<usize>| declared.is_some_and(|d| binding.declared[d].path == path);
            let found = data.schema().attributes().find(|(id, attribute)| {
                attribute.class == ClassId::ROOT && own(binding.attributes[id.index()])
            });
            match found {
                Some((id, _)) => {
                    let declared = binding.attributes[id.index()].expect("bound just now");
                    known.attributes.push((&binding.declared[declared].path, id));
                }
                None => {
                    let what = format!("`source.where` asks for `{path}`, which the data does not have");
                    problems.push(Diagnostic::error(what).at(Place::source(name)));
                }
            }
        }
        if problems.is_empty() {
            problems = known.unfit(condition, name);
        }
        if problems.is_empty() { Ok(known) } else { Err(Failure::all(Fault::Data, problems)) }
    }

    fn id(&self, path: &str) -> AttributeId {
        self.attributes.iter().find(|(known, _)| *known == path).map(|(_, id)| *id).expect("looked up before")
    }

    /// Values that cannot be compared as the condition asks: guessing would choose the wrong people.
    fn unfit(&self, condition: &Condition, name: &str) -> Vec<Diagnostic> {
        match condition {
            Condition::And(a, b) | Condition::Or(a, b) => [self.unfit(a, name), self.unfit(b, name)].concat(),
            Condition::Not(a) => self.unfit(a, name),
            Condition::Missing(_) => Vec::new(),
            Condition::Compare { path, with, .. } => {
                let values = self.data.dictionary(self.id(path));
                let unfit = values.iter().filter(|(_, text)| compared(text, with).is_none()).count();
                let (as_what, help) = match with {
                    Operand::Number(_) => ("a number", "compare with a text in 'quotes'"),
                    _ => ("a day YYYY-MM-DD", "compare with a text in 'quotes', which goes by letters"),
                };
                let what = format!(
                    "`source.where` compares `{path}` with {as_what}, but {} of its {} different values are none",
                    count(unfit),
                    count(values.len())
                );
                let told = Diagnostic::error(what).at(Place::source(name)).help(help);
                (unfit > 0).then_some(told).into_iter().collect()
            }
        }
    }

    fn meets(&self, condition: &Condition, root: usize) -> bool {
        match condition {
            Condition::And(a, b) => self.meets(a, root) && self.meets(b, root),
            Condition::Or(a, b) => self.meets(a, root) || self.meets(b, root),
            Condition::Not(a) => !self.meets(a, root),
            Condition::Missing(path) => self.data.value(root, self.id(path)) == MISSING,
            Condition::Compare { path, comparison, with } => {
                let id = self.id(path);
                let code = self.data.value(root, id);
                code != MISSING
                    && compared(self.data.dictionary(id).text(code), with)
                        .is_some_and(|order| comparison.holds(order))
            }
        }
    }
}

/// A value beside what it is compared with; none if it cannot be.
fn compared(text: &str, with: &Operand) -> Option<Ordering> {
    match with {
        Operand::Text(with) => Some(text.cmp(with)),
        Operand::Number(with) => text.trim().parse::<f64>().ok().filter(|n| n.is_finite())?.partial_cmp(with),
        Operand::Day(with) => Some(day(text)?.cmp(with)),
    }
}

/// The day of a date, with or without a time behind it.
fn day(text: &str) -> Option<Civil> {
    let (day, time) = text.split_at_checked(10)?;
    Civil::parse(day).filter(|_| time.is_empty() || time.starts_with(['T', ' ']))
}

/// A share of the people, rounded to whole ones: those with the lowest numbers that seed and record give.
fn sampled(data: &Dataset, share: f64, seed: u64) -> Dataset {
    let digests = Digests::new(data);
    let mut drawn: Vec<([u8; 32], usize)> = (0..data.len())
        .map(|record| {
            let mut hash = Sha256::new();
            hash.update(b"bosket sample");
            hash.update(seed.to_be_bytes());
            hash.update(digests.of(record));
            (hash.finalize().into(), record)
        })
        .collect();
    drawn.sort_unstable();
    let wanted = (share * data.len() as f64).round() as usize;
    let mut keep = vec![false; data.len()];
    drawn.iter().take(wanted.max(1)).for_each(|(_, record)| keep[*record] = true);
    data.subset(&keep)
}

/// What each record says, as a number: the same whatever the order of records, attributes and siblings.
#[derive(Debug)]
pub struct Digests<'d> {
    data: &'d Dataset,
    /// Per class its attributes with their paths, in the order of these.
    attributes: Vec<Vec<(AttributeId, &'d str)>>,
}

impl<'d> Digests<'d> {
    /// Those of a dataset.
    pub fn new(data: &'d Dataset) -> Self {
        Self::about(data, |_| true)
    }

    /// The same about some of the attributes.
    pub fn about(data: &'d Dataset, counts: impl Fn(AttributeId) -> bool) -> Self {
        let schema = data.schema();
        let of_class = |class: ClassId| {
            let ids = schema.class(class).attributes.iter().filter(|id| counts(**id));
            let mut own: Vec<(AttributeId, &str)> =
                ids.map(|&id| (id, schema.attribute(id).path.as_str())).collect();
            own.sort_by_key(|(_, path)| *path);
            own
        };
        Digests { data, attributes: schema.classes().map(|(id, _)| of_class(id)).collect() }
    }

    /// What a record says.
    pub fn of(&self, record: usize) -> [u8; 32] {
        let data = self.data;
        let vertices = data.vertices(record);
        let first = vertices.start;
        // Children come behind their parents: seen from the end, all below a vertex is known before it.
        let mut below: Vec<Vec<[u8; 32]>> = vec![Vec::new(); vertices.len()];
        let mut last = [0; 32];
        for vertex in vertices.rev() {
            let mut hash = Sha256::new();
            let class = data.class(vertex);
            part(&mut hash, data.schema().class(class).path.as_bytes());
            for &(id, path) in &self.attributes[class.index()] {
                let code = data.value(vertex, id);
                if code != MISSING {
                    part(&mut hash, path.as_bytes());
                    part(&mut hash, data.dictionary(id).text(code).as_bytes());
                }
            }
            part(&mut hash, b"");
            let mut children = std::mem::take(&mut below[vertex - first]);
            children.sort_unstable();
            children.iter().for_each(|child| hash.update(child));
            last = hash.finalize().into();
            if let Some(parent) = data.parent(vertex) {
                below[parent - first].push(last);
            }
        }
        last
    }
}

/// With its length in front, so that no two lists of parts are the same bytes.
fn part(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_be_bytes());
    hash.update(bytes);
}

impl Dataset {
    /// The records that are kept, with the values that they have and no others.
    pub fn subset(&self, keep: &[bool]) -> Dataset {
        let kept: Vec<u32> = (0..self.len() as u32).filter(|&record| keep[record as usize]).collect();
        self.picked(&kept)
    }

    /// The records that are kept; `set` writes each value, told by its record, attribute and code.
    pub(crate) fn copied(
        &self,
        keep: &[bool],
        set: impl FnMut(&mut Builder, usize, AttributeId, u32),
    ) -> Dataset {
        self.copied_of((0..self.len()).filter(|&record| keep[record]), |_| true, set)
    }

    /// Some records, in the order in which they are asked for, with the values that they have and no others.
    pub fn picked(&self, records: &[u32]) -> Dataset {
        self.numbered_anew(records.iter().map(|&record| record as usize), |_| true)
    }

    /// All records without some vertices; whatever hangs below one of these has to be among them.
    pub fn without_vertices(&self, gone: &[bool]) -> Dataset {
        self.numbered_anew(0..self.len(), |vertex| !gone[vertex])
    }

    /// Some vertices of some records, with the values that they have and no others.
    fn numbered_anew(&self, records: impl Iterator<Item = usize>, stays: impl Fn(usize) -> bool) -> Dataset {
        let mut codes: Vec<Vec<u32>> =
            self.schema().attributes().map(|(id, _)| vec![MISSING; self.dictionary(id).len()]).collect();
        self.copied_of(records, stays, |builder, _, id, code| {
            let new = &mut codes[id.index()][code as usize];
            if *new == MISSING {
                let dictionary = self.dictionary(id);
                *new = builder.code(id, dictionary.kind(code), dictionary.text(code));
            }
            builder.set_code(id, *new);
        })
    }

    fn copied_of(
        &self,
        records: impl Iterator<Item = usize>,
        stays: impl Fn(usize) -> bool,
        mut set: impl FnMut(&mut Builder, usize, AttributeId, u32),
    ) -> Dataset {
        let mut builder = Builder::like(self);
        for record in records {
            let mut open: Vec<usize> = Vec::new();
            for vertex in self.vertices(record).filter(|&vertex| stays(vertex)) {
                match self.parent(vertex) {
                    None => builder.begin_record(),
                    Some(parent) => {
                        while open.last().is_some_and(|&above| above != parent) {
                            open.pop();
                            builder.close();
                        }
                        builder.open(self.class(vertex));
                    }
                }
                open.push(vertex);
                for &id in &self.schema().class(self.class(vertex)).attributes {
                    let code = self.value(vertex, id);
                    if code != MISSING {
                        set(&mut builder, record, id, code);
                    }
                }
            }
            builder.end_record().expect("it was a record before");
        }
        builder.finish()
    }
}
