//! Kernels of kernels: what is merged from many parts has more records than it needs.

use bosket_model::dictionary::MISSING;
use bosket_model::observe::Observer;
use bosket_model::partition::Joined;
use bosket_model::partition::bytes::damaged;
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Failure, Result};
use rustc_hash::{FxHashMap, FxHashSet};

use super::filter::{Filter, Range};
use super::kernel::{Kernel, Taken};
use super::sets::Sets;

impl Kernel {
    /// The records of a kernel that are a kernel of it; `trees` reads whole records.
    pub fn pruned(
        self,
        range: Range,
        labels: &[u32],
        memory: usize,
        trees: &dyn Fn(&Dataset) -> Result<ValueTrees>,
        observer: &dyn Observer,
    ) -> Result<Kernel> {
        let keep = match &self.records {
            Taken::Records(data) => Filter::new(range, labels, memory).take(&trees(data)?, observer)?,
            Taken::Sets { first, items } => {
                if items.iter().any(|&item| item as usize >= labels.len()) {
                    return Err(damaged());
                }
                let sets = Sets::new(first.clone(), items.clone());
                Filter::new(range, labels, memory).take_sets(&sets, observer)?
            }
        };
        self.subset(&keep, observer)
    }

    /// Some of the records, by part and place.
    pub fn only(self, ids: &FxHashSet<(u32, u32)>, observer: &dyn Observer) -> Result<Kernel> {
        let keep: Vec<bool> = self.ids.iter().map(|id| ids.contains(id)).collect();
        self.subset(&keep, observer)
    }

    /// All records of both, one that looks the same as often as it is in the one that has more of it. Parts and places of the
    /// other's records may be those of other times: nobody is told by them.
    pub fn with(self, more: &Kernel, observer: &dyn Observer) -> Result<Kernel> {
        let (Taken::Records(own), Taken::Records(theirs)) = (&self.records, &more.records) else {
            return Err(damaged());
        };
        let mut joined = Joined::over(own);
        joined.add(own, |_| true, |_| true, observer)?;
        joined.add(theirs, |_| true, |_| true, observer)?;
        let all = joined.finish();
        let mut there: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
        for record in 0..own.len() {
            *there.entry(content(&all, record)).or_default() += 1;
        }
        let mut keep = vec![true; own.len()];
        for record in own.len()..all.len() {
            observer.go_on()?;
            let left = there.entry(content(&all, record)).or_default();
            keep.push(*left == 0);
            *left = left.saturating_sub(1);
        }
        let ids = self.ids.iter().chain(&more.ids).copied().collect();
        Kernel { ids, records: Taken::Records(all) }.subset(&keep, observer)
    }

    fn subset(self, keep: &[bool], observer: &dyn Observer) -> Result<Kernel> {
        if keep.len() != self.ids.len() {
            return Err(Failure::defect("a kernel has other records than were judged"));
        }
        let ids = self.ids.iter().zip(keep).filter(|(_, keep)| **keep).map(|(id, _)| *id).collect();
        let records = match &self.records {
            Taken::Records(data) => {
                let mut joined = Joined::over(data);
                joined.add(data, |record| keep[record], |_| true, observer)?;
                Taken::Records(joined.finish())
            }
            Taken::Sets { first, items } => {
                let (mut starts, mut all) = (vec![0], Vec::new());
                for (bounds, _) in first.windows(2).zip(keep).filter(|(_, keep)| **keep) {
                    all.extend_from_slice(&items[bounds[0] as usize..bounds[1] as usize]);
                    starts.push(all.len() as u32);
                }
                Taken::Sets { first: starts, items: all }
            }
        };
        Ok(Kernel { ids, records })
    }
}

/// What a record looks like, as numbers that are the same for records that look the same.
fn content(data: &Dataset, record: usize) -> Vec<u32> {
    let vertices = data.vertices(record);
    let mut content = Vec::new();
    for vertex in vertices.clone() {
        content.push(data.class(vertex).index() as u32);
        content.push(data.parent(vertex).map_or(u32::MAX, |parent| (parent - vertices.start) as u32));
        // Attributes that came later have no slot in vertices that were there before.
        let values = data.values(vertex);
        let values = &values[..values.iter().rposition(|&code| code != MISSING).map_or(0, |last| last + 1)];
        content.push(values.len() as u32);
        content.extend_from_slice(values);
    }
    content
}

#[cfg(test)]
mod tests {
    use super::super::filter::NO_LABEL;
    use super::*;
    use bosket_model::observe::Quiet;
    use bosket_model::{Builder, ClassId, Kind};

    /// Records of one value each, or of none.
    fn records(values: &[&str]) -> Dataset {
        let mut builder = Builder::new();
        let attribute = builder.attribute(ClassId::ROOT, &["v".to_owned()]);
        for value in values {
            builder.begin_record();
            if !value.is_empty() {
                builder.set(attribute, Kind::Text, value);
            }
            builder.end_record().expect("one value");
        }
        builder.finish()
    }

    #[test]
    fn records_that_look_the_same_are_there_as_often_as_in_the_one_that_has_more() {
        let kernel = |part: u32, values: &[&str]| {
            let mut kernel = Kernel::of_records(&records(&["a", "b", "c"]));
            let taken = vec![true; values.len()];
            kernel.push_taken(part, &records(values), &taken, &Quiet).expect("taken");
            kernel
        };
        // The same places, by which nobody is told.
        let both = kernel(0, &["a", "", "a", "b"]).with(&kernel(0, &["c", "b", "a", "b", ""]), &Quiet);
        let both = both.expect("joined");
        let data = both.records().expect("records");
        let id = data.schema().attributes().next().expect("one").0;
        let text = |record: usize| match data.value(data.vertices(record).start, id) {
            MISSING => "",
            code => data.dictionary(id).text(code),
        };
        let texts: Vec<&str> = (0..data.len()).map(text).collect();
        assert_eq!(texts, ["a", "", "a", "b", "c", "b"]);
        assert_eq!(both.len(), 6);
    }

    #[test]
    fn a_kernel_of_a_kernel_has_every_set_as_often_up_to_k() {
        let mut whole = Kernel::of_sets();
        let sets: Vec<Vec<u32>> =
            (0..400u32).map(|i| vec![i % 3, 3 + i % 5, 8 + (i * i) % 7, 15 + i / 90]).collect();
        for (at, set) in sets.iter().enumerate() {
            whole.push_set((at as u32 % 4, at as u32), set.iter().copied());
        }
        // Some items share a label, one is not published.
        let labels: Vec<u32> = (0..20).map(|item| if item == 14 { NO_LABEL } else { item / 2 }).collect();
        let range = Range { k: 6, m: 3, n: 0, embedded: false };
        let none = |_: &Dataset| -> Result<ValueTrees> { unreachable!("sets need no trees") };
        let pruned = whole.clone().pruned(range, &labels, 1 << 20, &none, &Quiet).expect("pruned");
        assert!(pruned.len() < whole.len(), "{} of {}", pruned.len(), whole.len());
        let support = |kernel: &Kernel| {
            let mut counts: std::collections::BTreeMap<Vec<u32>, u32> = std::collections::BTreeMap::new();
            for set in kernel.sets().expect("sets") {
                let label = |&item: &u32| labels[item as usize];
                let mut own: Vec<u32> = set.iter().map(label).filter(|&l| l != NO_LABEL).collect();
                own.sort_unstable();
                own.dedup();
                each_set(&own, 3, &mut |set| {
                    *counts.entry(set.to_vec()).or_default() += 1;
                    true
                });
            }
            counts
        };
        let (all, few) = (support(&whole), support(&pruned));
        assert!(all.len() > 100);
        for (set, times) in all {
            assert!(few.get(&set).copied().unwrap_or(0) >= times.min(6), "{set:?}");
        }
    }

    /// Calls `look` with all sets of one to `most` labels until it says false.
    fn each_set(labels: &[u32], most: usize, look: &mut dyn FnMut(&[u32]) -> bool) {
        fn deeper(
            labels: &[u32],
            left: usize,
            set: &mut Vec<u32>,
            look: &mut dyn FnMut(&[u32]) -> bool,
        ) -> bool {
            for (at, &label) in labels.iter().enumerate() {
                set.push(label);
                let go_on = look(set) && (left == 1 || deeper(&labels[at + 1..], left - 1, set, look));
                set.pop();
                if !go_on {
                    return false;
                }
            }
            true
        }
        if most > 0 {
            deeper(labels, most, &mut Vec::new(), look);
        }
    }
}
