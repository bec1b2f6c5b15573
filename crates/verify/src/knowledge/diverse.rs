//! l-diversity of knowledge: among the records that match any knowledge, the empty one included, no sensitive value is in
//! more than a 1/l share.
//!
//! Written down plainly: each piece of knowledge has a count of its records and of each sensitive value among them. Parted by
//! the smallest item like the other counts, but not bounded in memory beyond that.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{Dataset, MISSING};

use super::records::Records;
use super::{Knowledge, matching, push_subsets};
use crate::witness::Sensitive;

/// The sensitive values of each record.
pub struct SensitiveValues {
    /// Per record the numbers of its distinct values, ascending.
    of: Vec<Vec<u32>>,
    /// Path and text of each value.
    names: Vec<(String, String)>,
}

impl SensitiveValues {
    /// The sensitive values of a publication, told apart by attribute and text.
    pub fn new(data: &Dataset, binding: &Binding) -> Self {
        let mut known: FxHashMap<(usize, String), u32> = FxHashMap::default();
        let mut values = SensitiveValues { of: Vec::new(), names: Vec::new() };
        let by_class: Vec<_> = (data.schema().classes())
            .map(|(id, _)| binding.in_policy_order(data.schema(), id, Role::Sensitive))
            .collect();
        for record in 0..data.len() {
            let mut own = Vec::new();
            for v in data.vertices(record) {
                for &a in &by_class[data.class(v).index()] {
                    let code = data.value(v, a);
                    let Some(declared) = binding.attributes[a.index()].filter(|_| code != MISSING) else {
                        continue;
                    };
                    let text = data.dictionary(a).text(code);
                    let next = values.names.len() as u32;
                    own.push(*known.entry((declared, text.to_owned())).or_insert_with(|| {
                        values.names.push((binding.declared[declared].path.clone(), text.to_owned()));
                        next
                    }));
                }
            }
            own.sort_unstable();
            own.dedup();
            values.of.push(own);
        }
        values
    }
}

/// Records of some knowledge, and of each sensitive value among them.
#[derive(Default)]
struct Tally {
    records: u32,
    values: FxHashMap<u32, u32>,
}

impl Tally {
    fn add(&mut self, values: &[u32]) {
        self.records += 1;
        values.iter().for_each(|&v| *self.values.entry(v).or_default() += 1);
    }

    /// The most common value, if its share is over 1/l; ties go to the smaller number.
    fn worst(&self, l: f64) -> Option<(u32, u32)> {
        let most = self.values.iter().map(|(&value, &count)| (count, std::cmp::Reverse(value))).max();
        let (count, value) = most?;
        (f64::from(count) * l > f64::from(self.records) * (1.0 + 1e-12)).then_some((value.0, count))
    }
}

/// The smallest knowledge of up to `m` values and `n` relations that says too much about a sensitive value.
pub fn smallest_uniform(
    records: &Records,
    sensitive: &SensitiveValues,
    (m, n): (usize, usize),
    l: f64,
    observer: &dyn Observer,
) -> Option<(Knowledge, Sensitive)> {
    let found = |items: Vec<u32>, relations: u64, (value, count): (u32, u32)| {
        let records = matching(records, &items, relations);
        let (path, text) = &sensitive.names[value as usize];
        let share = f64::from(count) / records.len() as f64;
        let sensitive = Sensitive { path: path.clone(), value: text.clone(), share };
        (Knowledge { items, relations, records }, sensitive)
    };
    let mut all = Tally::default();
    sensitive.of.iter().for_each(|values| all.add(values));
    if let Some(worst) = all.worst(l) {
        return Some(found(Vec::new(), 0, worst));
    }
    let mut holders: Vec<Vec<(u32, u32)>> = vec![Vec::new(); records.item_count()];
    for record in 0..records.len() {
        for (position, &item) in records.items(record).iter().enumerate() {
            holders[item as usize].push((record as u32, position as u32));
        }
    }
    for r in 0..=n {
        for v in 1..=m {
            if r > v * (v - 1) / 2 {
                continue;
            }
            observer.stage(
                &format!("sensitive values, knowledge of {v} values and {r} relations"),
                holders.len() as u64,
            );
            let smallest = holders.par_iter().enumerate().find_map_first(|(first, holders)| {
                observer.advance(1);
                let mut tallies: FxHashMap<(Vec<u32>, u64), Tally> = FxHashMap::default();
                for &(record, position) in holders {
                    let mut chosen = vec![position];
                    each(records, record as usize, v, r, &mut chosen, &mut |items, relations| {
                        let tally = tallies.entry((items, relations)).or_default();
                        tally.add(&sensitive.of[record as usize]);
                    });
                }
                debug_assert!(tallies.keys().all(|(items, _)| items[0] as usize == first));
                let worst =
                    tallies.iter().filter_map(|(key, tally)| tally.worst(l).map(|worst| (key, worst)));
                worst.min().map(|(key, worst)| (key.clone(), worst))
            });
            if let Some(((items, relations), worst)) = smallest {
                return Some(found(items, relations, worst));
            }
        }
    }
    None
}

/// All knowledge of a record with the chosen positions and more after them.
fn each(
    records: &Records,
    record: usize,
    v: usize,
    r: usize,
    chosen: &mut Vec<u32>,
    then: &mut dyn FnMut(Vec<u32>, u64),
) {
    if chosen.len() == v {
        let mut sets = Vec::new();
        records.relation_sets(record, chosen, &mut sets);
        let mut subsets = Vec::new();
        sets.iter().for_each(|&set| push_subsets(set, r, 0, &mut subsets));
        subsets.sort_unstable();
        subsets.dedup();
        let items: Vec<u32> = chosen.iter().map(|&p| records.items(record)[p as usize]).collect();
        subsets.into_iter().for_each(|subset| then(items.clone(), subset));
        return;
    }
    for next in chosen[chosen.len() - 1] + 1..records.items(record).len() as u32 {
        chosen.push(next);
        each(records, record, v, r, chosen, then);
        chosen.pop();
    }
}
