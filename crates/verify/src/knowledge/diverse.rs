//! l-diversity of knowledge: among the records that match any knowledge, the empty one included, no sensitive value is in
//! more than a 1/l share.
//!
//! Each piece of knowledge has a count of its records and one of each sensitive value among them. Levels are counted one
//! by one, parted by the smallest items of the knowledge until a part fits into memory.
//!
//! Take the three records of [`knowledge`](super), and let records 0 and 1 have the sensitive value x and record 2 have y, with
//! l = 1.5. Nothing known fits all three; x is in two of them, and 2 · 1.5 is not more than 3. Then one value:
//!
//! ```text
//! known   records   x   y    2/3 of the records
//! 0       3         2   1    2: fine
//! 1       2         2   –    1.3: x is in too many
//! 2       3         2   1    2: fine
//! 3       1         –   1    0.7: y is in too many
//! ```
//!
//! The smallest knowledge that says too much is {1}, and x is what it says. A `Tally` has a count of records per key, and one
//! per key and value: for the part of item 1 the key is empty, with 2 records and (x, 2).

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{Dataset, Failure, Fault, MISSING, Result};

use super::parts::{Postings, by_next_item};
use super::records::{Records, pair_count};
use super::{Knowledge, Range, item_bits, matching, push_subsets};
use crate::buckets;
use crate::witness::Sensitive;

/// Bytes that a counted key takes in a hash map, growth included.
const KEY_BYTES: usize = 64;

/// The sensitive values of each record.
pub struct SensitiveValues {
    /// Per record the numbers of its distinct values, ascending.
    of: Vec<Vec<u32>>,
    /// Path and text of each value.
    names: Vec<(String, String)>,
}

impl SensitiveValues {
    /// The sensitive values of a publication, told apart by attribute and text, or by bucket where an attribute has
    /// bounds.
    pub fn new(
        data: &Dataset,
        binding: &Binding,
        bounds: &[Option<Vec<f64>>],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut labels: Vec<Vec<(usize, String)>> = Vec::new();
        let mut problems = Vec::new();
        for (id, attribute) in data.schema().attributes() {
            let declared =
                binding.attributes[id.index()].filter(|_| binding.role(id) == Some(Role::Sensitive));
            let own = declared.map_or(Vec::new(), |declared| {
                let bounds = bounds.get(declared).and_then(Option::as_deref);
                let texts = data.dictionary(id).iter().map(|(_, text)| buckets::label(bounds, text));
                let found: Vec<Option<String>> = texts.collect();
                let unreadable = found.iter().filter(|label| label.is_none()).count();
                if unreadable > 0 {
                    problems.push(buckets::unreadable(unreadable, &attribute.path));
                }
                found.into_iter().map(|label| (declared, label.unwrap_or_default())).collect()
            });
            labels.push(own);
        }
        if !problems.is_empty() {
            return Err(Failure::all(Fault::Data, problems));
        }
        let mut distinct: Vec<&(usize, String)> = labels.iter().flatten().collect();
        distinct.sort();
        distinct.dedup();
        let number = |label: &(usize, String)| distinct.partition_point(|&d| d < label) as u32;
        let numbers: Vec<Vec<u32>> = labels.iter().map(|own| own.iter().map(number).collect()).collect();
        let by_class: Vec<_> = (data.schema().classes())
            .map(|(id, _)| binding.in_policy_order(data.schema(), id, Role::Sensitive))
            .collect();
        let of_record = |record: usize| -> Result<Vec<u32>> {
            observer.go_on()?;
            let mut own = Vec::new();
            for v in data.vertices(record) {
                let codes = by_class[data.class(v).index()].iter().map(|&a| (a, data.value(v, a)));
                own.extend(codes.filter(|(_, c)| *c != MISSING).map(|(a, c)| numbers[a.index()][c as usize]));
            }
            own.sort_unstable();
            own.dedup();
            Ok(own)
        };
        Ok(SensitiveValues {
            of: (0..data.len()).map(of_record).collect::<Result<_>>()?,
            names: distinct
                .iter()
                .map(|(d, text)| (binding.declared[*d].path.clone(), text.clone()))
                .collect(),
        })
    }

    /// Takes listed items out of what can be known of records and makes them sensitive values.
    pub fn apart(
        records: &mut Records,
        binding: &Binding,
        listed: &[String],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut names: Vec<(usize, &str)> = (records.known.iter())
            .filter(|known| !known.absent && listed.contains(&known.label))
            .map(|known| (known.declared, known.label.as_str()))
            .collect();
        names.sort_unstable();
        names.dedup();
        let number: Vec<Option<u32>> = (records.known.iter())
            .map(|known| {
                let at = names.binary_search(&(known.declared, known.label.as_str()));
                at.ok().filter(|_| !known.absent).map(|at| at as u32)
            })
            .collect();
        let path = |declared: usize| binding.declared[declared].path.clone();
        let names = names.iter().map(|&(declared, label)| (path(declared), label.to_owned())).collect();
        let of = (0..records.len())
            .map(|record| {
                observer.go_on()?;
                Ok(records.items(record).iter().filter_map(|&item| number[item as usize]).collect())
            })
            .collect::<Result<_>>()?;
        records.retain(|item| number[item as usize].is_none());
        Ok(SensitiveValues { of, names })
    }
}

/// Records of some knowledge, and of each sensitive value among them, by key.
#[derive(Default)]
struct Tally {
    records: FxHashMap<u64, u32>,
    values: FxHashMap<(u64, u32), u32>,
}

impl Tally {
    fn add(&mut self, key: u64, values: &[u32]) {
        *self.records.entry(key).or_default() += 1;
        values.iter().for_each(|&value| *self.values.entry((key, value)).or_default() += 1);
    }

    /// The smallest key of which a value has a share over 1/l, and its most common value (ties go to the smaller number).
    /// Shares are compared as `count · l > records`, with room for the rounding of a fractional l only.
    fn worst(&self, l: f64) -> Option<(u64, u32, u32)> {
        let over = |key: &u64, count: u32| {
            f64::from(count) * l > f64::from(self.records.get(key).copied().unwrap_or(0)) * (1.0 + 1e-12)
        };
        let found = self.values.iter().filter(|((key, _), count)| over(key, **count));
        let found = found.map(|(&(key, value), &count)| (key, std::cmp::Reverse(count), value)).min();
        found.map(|(key, count, value)| (key, value, count.0))
    }
}

/// The smallest knowledge in the range that says too much about a sensitive value.
pub fn smallest_uniform(
    records: &Records,
    sensitive: &SensitiveValues,
    range: Range,
    l: f64,
    observer: &dyn Observer,
) -> Result<Option<(Knowledge, Sensitive)>> {
    let found = |items: Vec<u32>, relations: u64, value: u32, count: u32| {
        let records = matching(records, &items, relations, observer)?;
        let (path, text) = &sensitive.names[value as usize];
        let share = f64::from(count) / records.len() as f64;
        let sensitive = Sensitive::common(path.clone(), text.clone(), share);
        Ok(Some((Knowledge { items, relations, records }, sensitive)))
    };
    let mut all = Tally::default();
    for values in &sensitive.of {
        observer.go_on()?;
        all.add(0, values);
    }
    if let Some((_, value, count)) = all.worst(l) {
        return found(Vec::new(), 0, value, count);
    }
    let postings = Postings::new(records, observer)?;
    for r in 0..=range.n {
        for v in (1..=range.m).filter(|&v| r <= pair_count(v)) {
            let stage = format!("sensitive values, knowledge of {v} values and {r} relations");
            observer.stage(&stage, records.item_count() as u64);
            let level = Level {
                records,
                sensitive,
                v,
                r,
                l,
                bytes: range.memory / rayon::current_num_threads(),
                observer,
            };
            let smallest = (0..records.item_count()).into_par_iter().find_map_first(|item| {
                observer.advance(1);
                level.smallest_uniform(&mut vec![item as u32], postings.of(item)).transpose()
            });
            if let Some((items, relations, value, count)) = smallest.transpose()? {
                return found(items, relations, value, count);
            }
        }
    }
    Ok(None)
}

/// A piece of knowledge that says too much: items, relations, the value and its count.
type Uniform = (Vec<u32>, u64, u32, u32);

/// Knowledge of exactly v values and r relations.
struct Level<'a> {
    records: &'a Records,
    sensitive: &'a SensitiveValues,
    v: usize,
    r: usize,
    l: f64,
    bytes: usize,
    observer: &'a dyn Observer,
}

impl Level<'_> {
    /// Bits of an item and of a set of relations in a key.
    fn bits(&self) -> (u32, u32) {
        let planes = if self.records.is_signed() { 2 } else { 1 };
        let mask = if self.r == 0 { 0 } else { planes * pair_count(self.v) as u32 };
        (item_bits(self.records.item_count()), mask)
    }

    /// The smallest knowledge of a part that says too much.
    fn smallest_uniform(&self, prefix: &mut Vec<u32>, entries: &[u32]) -> Result<Option<Uniform>> {
        let left = self.v - prefix.len();
        if left > 1 && !self.fits(prefix.len(), entries) {
            let means = (self.bytes, self.observer);
            return by_next_item(self.records, prefix, entries, means, |prefix, entries| {
                self.smallest_uniform(prefix, entries)
            });
        }
        let mut tally = Tally::default();
        let mut each = Each { level: self, sets: Vec::new(), subsets: Vec::new(), tally: &mut tally };
        for entry in entries.chunks_exact(prefix.len() + 1) {
            each.complete(entry[0] as usize, &mut entry[1..].to_vec(), 0, left)?;
        }
        let (item_bits, mask_bits) = self.bits();
        Ok(tally.worst(self.l).map(|(key, value, count)| {
            let packed = key >> mask_bits;
            let last = (0..left as u32).rev().map(|i| (packed >> (i * item_bits)) & ((1 << item_bits) - 1));
            let items = prefix.iter().copied().chain(last.map(|item| item as u32)).collect();
            (items, key & ((1 << mask_bits) - 1), value, count)
        }))
    }

    /// Whether all knowledge that completes a prefix can be counted in one go.
    fn fits(&self, p: usize, entries: &[u32]) -> bool {
        let (item_bits, mask_bits) = self.bits();
        let left = self.v - p;
        if left as u32 * item_bits + mask_bits > 63 {
            return false;
        }
        let choose =
            |n: usize, k: usize| (0..k).fold(1usize, |all, i| all.saturating_mul(n - i.min(n)) / (i + 1));
        let subsets = choose(pair_count(self.v), self.r);
        let keys = entries.chunks_exact(p + 1).map(|e| {
            let after = self.records.items(e[0] as usize).len() - e[p] as usize - 1;
            choose(after, left).saturating_mul(subsets * (1 + self.sensitive.of[e[0] as usize].len()))
        });
        keys.fold(0usize, usize::saturating_add).saturating_mul(KEY_BYTES) <= self.bytes
    }
}

/// Goes through the knowledge of a record.
struct Each<'a> {
    level: &'a Level<'a>,
    sets: Vec<u64>,
    subsets: Vec<u64>,
    tally: &'a mut Tally,
}

impl Each<'_> {
    /// All knowledge with the chosen positions and `left` more after them; `packed` are the items chosen last.
    fn complete(&mut self, record: usize, chosen: &mut Vec<u32>, packed: u64, left: usize) -> Result<()> {
        let level = self.level;
        level.observer.go_on()?;
        let (item_bits, mask_bits) = level.bits();
        let values = &level.sensitive.of[record];
        if left > 0 {
            let items = level.records.items(record);
            for next in chosen[chosen.len() - 1] as usize + 1..items.len() {
                chosen.push(next as u32);
                self.complete(record, chosen, packed << item_bits | u64::from(items[next]), left - 1)?;
                chosen.pop();
            }
            return Ok(());
        }
        if level.r == 0 {
            self.tally.add(packed, values);
            return Ok(());
        }
        level.records.relation_sets(record, chosen, &mut self.sets, level.observer)?;
        self.subsets.clear();
        for &set in &self.sets {
            push_subsets(set, level.r, 0, &mut self.subsets);
        }
        self.subsets.sort_unstable();
        self.subsets.dedup();
        for &subset in &self.subsets {
            self.tally.add(packed << mask_bits | subset, values);
        }
        Ok(())
    }
}
