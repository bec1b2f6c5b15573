//! How many records look alike.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::coded::{Coded, Held};

/// Sizes of classes of records that look alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// How many classes there are.
    pub classes: usize,
    /// How many records.
    pub records: usize,
    /// The fewest that look alike.
    pub smallest: usize,
    /// Half of the classes are no larger.
    pub median: usize,
    /// The most that look alike.
    pub largest: usize,
    /// The squares of all sizes, summed up.
    pub squares: u64,
}

impl Sizes {
    pub(super) fn new(records: &Coded, observer: &dyn Observer) -> Result<Self> {
        let mut known: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
        let mut counts: Vec<usize> = Vec::new();
        let mut class_of: FxHashMap<usize, usize> = FxHashMap::default();
        for record in 0..records.records() {
            observer.go_on()?;
            let range = records.record(record);
            let mut below: Vec<Vec<usize>> = vec![Vec::new(); range.len()];
            let mut root = 0;
            for v in range.clone().rev() {
                let mut kids = std::mem::take(&mut below[v - range.start]);
                kids.sort_unstable();
                let mut key = vec![records.home(v)];
                for (declared, held) in records.values(v) {
                    key.push(*declared);
                    key.extend(held.map_or([usize::MAX; 2], Held::key));
                }
                key.extend(kids);
                let next = known.len();
                let form = *known.entry(key).or_insert(next);
                match records.parent(v) {
                    Some(parent) => below[parent - range.start].push(form),
                    None => root = form,
                }
            }
            let class = *class_of.entry(root).or_insert_with(|| {
                counts.push(0);
                counts.len() - 1
            });
            counts[class] += 1;
        }
        counts.sort_unstable();
        Ok(Sizes {
            classes: counts.len(),
            records: records.records(),
            smallest: counts.first().copied().unwrap_or(0),
            median: counts.get(counts.len().saturating_sub(1) / 2).copied().unwrap_or(0),
            largest: counts.last().copied().unwrap_or(0),
            squares: counts.iter().map(|c| (c * c) as u64).sum(),
        })
    }

    /// Records per class.
    pub fn mean(&self) -> f64 {
        self.records as f64 / self.classes.max(1) as f64
    }
}
