//! What an attacker learns about sensitive values from the records that match.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Policy, Role};
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result};

use super::count::{Kinds, List, STRIDE};
use super::records::Records;
use super::worst::{Strength, up_to};

/// Sensitive values as they are compared: by attribute and text, or by bucket where the policy gives bounds.
pub(super) struct Labels {
    /// Per class of the schema its sensitive attributes.
    pub(super) attributes: Vec<Vec<AttributeId>>,
    /// Per attribute and code the number of the value.
    pub(super) of: Vec<Vec<u32>>,
}

impl Labels {
    pub(super) fn new(data: &Dataset, binding: &Binding, policy: &Policy) -> Result<Self> {
        let schema = data.schema();
        let mut known: FxHashMap<(usize, String), u32> = FxHashMap::default();
        let mut problems = Vec::new();
        let mut of = Vec::new();
        for (id, attribute) in schema.attributes() {
            let declared =
                binding.attributes[id.index()].filter(|_| binding.role(id) == Some(Role::Sensitive));
            let mut own = Vec::new();
            let mut unreadable = 0;
            for (_, text) in data.dictionary(id).iter().filter(|_| declared.is_some()) {
                let bounds = declared.and_then(|d| policy.attributes[d].buckets.as_deref());
                let label = match bounds {
                    None => Some(text.to_owned()),
                    Some(bounds) => bucket(bounds, text),
                };
                unreadable += usize::from(label.is_none());
                let next = known.len() as u32;
                let key = (declared.unwrap_or(0), label.unwrap_or_default());
                own.push(*known.entry(key).or_insert(next));
            }
            if unreadable > 0 {
                let what = format!("{unreadable} distinct values are not numbers and fit no bucket");
                let what = Diagnostic::error(what).at(Place::default().path(&attribute.path));
                problems.push(what.help("take `buckets` out of the policy, or make the values numbers"));
            }
            of.push(own);
        }
        if !problems.is_empty() {
            return Err(Failure::all(Fault::Data, problems));
        }
        let attributes =
            schema.classes().map(|(id, _)| binding.in_policy_order(schema, id, Role::Sensitive)).collect();
        Ok(Labels { attributes, of })
    }

    /// Per record its distinct sensitive values.
    pub(super) fn by_record(&self, data: &Dataset, observer: &dyn Observer) -> Result<Vec<Vec<u32>>> {
        let of_record = |record: usize| {
            observer.go_on()?;
            let mut own = Vec::new();
            for v in data.vertices(record) {
                let codes = self.attributes[data.class(v).index()].iter().map(|&a| (a, data.value(v, a)));
                own.extend(codes.filter(|c| c.1 != MISSING).map(|(a, c)| self.of[a.index()][c as usize]));
            }
            own.sort_unstable();
            own.dedup();
            Ok(own)
        };
        (0..data.len()).map(of_record).collect()
    }
}

/// Which of the ranges between bounds a number is in.
pub(super) fn bucket(bounds: &[f64], text: &str) -> Option<String> {
    let number: f64 = text.trim().parse().ok().filter(|n: &f64| n.is_finite())?;
    Some(bounds.partition_point(|&b| b <= number).to_string())
}

/// Per person the highest share of any sensitive value among the records that match any of their knowledge, the empty
/// one included.
pub(super) fn confidence(
    records: &Records,
    secrets: &[Vec<u32>],
    people: &[u32],
    strength: Strength,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let values = secrets.iter().flatten().max().map_or(0, |&v| v as usize + 1);
    let mut nothing = Watch::new(records, secrets, strength, (values, observer));
    let everybody: Vec<u32> = (0..records.len() as u32).collect();
    nothing.look(everybody.into_iter());
    let least = nothing.best;
    (people.par_iter())
        .map_init(
            || Watch::new(records, secrets, strength, (values, observer)),
            |watch, &person| {
                watch.best = least;
                for &item in records.items(person as usize) {
                    let mut list = List::default();
                    list.start(records, item);
                    watch.grow(person, &list)?;
                }
                Ok(watch.best)
            },
        )
        .collect()
}

struct Watch<'a> {
    records: &'a Records,
    secrets: &'a [Vec<u32>],
    strength: Strength,
    counts: Vec<u32>,
    touched: Vec<u32>,
    kinds: Kinds,
    kind_of: Vec<usize>,
    best: f64,
    observer: &'a dyn Observer,
}

impl<'a> Watch<'a> {
    fn new(
        records: &'a Records,
        secrets: &'a [Vec<u32>],
        strength: Strength,
        (values, observer): (usize, &'a dyn Observer),
    ) -> Self {
        Watch {
            records,
            secrets,
            strength,
            counts: vec![0; values],
            touched: Vec::new(),
            kinds: Kinds::default(),
            kind_of: Vec::new(),
            best: 0.0,
            observer,
        }
    }

    /// Takes the most common value of some records in.
    fn look(&mut self, matching: impl Iterator<Item = u32>) {
        let mut all = 0u32;
        let mut most = 0;
        for record in matching {
            all += 1;
            for &value in &self.secrets[record as usize] {
                let count = &mut self.counts[value as usize];
                if *count == 0 {
                    self.touched.push(value);
                }
                *count += 1;
                most = most.max(*count);
            }
        }
        self.touched.drain(..).for_each(|value| self.counts[value as usize] = 0);
        self.best = self.best.max(f64::from(most) / f64::from(all.max(1)));
    }

    fn grow(&mut self, person: u32, list: &List) -> Result<()> {
        if self.strength.values == 0 || self.best >= 1.0 {
            return Ok(());
        }
        self.observer.go_on()?;
        self.look(list.records.iter().copied());
        if self.strength.relations > 0 && list.size > 1 {
            self.relate(person, list)?;
        }
        // Alone already: nothing changes with more knowledge.
        if list.size == self.strength.values || list.len() == 1 {
            return Ok(());
        }
        let own = list.records.binary_search(&person).unwrap_or(0);
        let items = self.records.items(person as usize);
        let mut longer = List::default();
        for &item in &items[list.last(own) + 1..] {
            list.with(self.records, item, self.strength.relations > 0, &mut longer);
            self.grow(person, &longer)?;
        }
        Ok(())
    }

    fn relate(&mut self, person: u32, list: &List) -> Result<()> {
        self.kinds.clear();
        self.kind_of.clear();
        let mut own = 0;
        for entry in 0..list.len() {
            if entry.is_multiple_of(STRIDE) {
                self.observer.go_on()?;
            }
            let record = list.records[entry];
            let kind = self.kinds.add(self.records, record as usize, list.at(entry), list.masks[entry]);
            self.kind_of.push(kind);
            if record == person {
                own = kind;
            }
        }
        let mut known = Vec::new();
        self.kinds.sets_of(own).iter().for_each(|&set| up_to(set, self.strength.relations, &mut known));
        known.sort_unstable();
        known.dedup();
        for relations in known.into_iter().filter(|&r| r != 0) {
            self.observer.go_on()?;
            let fits: Vec<bool> = (0..self.kinds.len())
                .map(|k| self.kinds.sets_of(k).iter().any(|s| s & relations == relations))
                .collect();
            let matching: Vec<u32> = (list.records.iter().zip(&self.kind_of))
                .filter(|(_, kind)| fits[**kind])
                .map(|(&record, _)| record)
                .collect();
            self.look(matching.into_iter());
        }
        Ok(())
    }
}
