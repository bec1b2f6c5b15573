//! Kernels of kernels: what is merged from many parts has more records than it needs.

use bosket_model::observe::Observer;
use bosket_model::partition::Joined;
use bosket_model::partition::bytes::damaged;
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Failure, Result};

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

#[cfg(test)]
mod tests {
    use super::super::filter::NO_LABEL;
    use super::*;
    use bosket_model::observe::Quiet;

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
