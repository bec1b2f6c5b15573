//! The records as sets of buckets: two that share one may not meet in a group.

use bosket_model::Result;
use bosket_model::dissected::Lists;
use bosket_model::observe::Observer;

use super::column::{Column, Level};

/// Per record the buckets of its values, over all attributes.
pub(super) struct Rows {
    lists: Lists,
    /// How many records are in each bucket.
    pub(super) counts: Vec<u32>,
    /// Where the buckets of each attribute start; the last of an attribute is that of people without value.
    offsets: Vec<u32>,
    /// Per record how often it has its most frequent value, where that is more than once.
    several: Vec<(u32, u32)>,
}

impl Rows {
    pub(super) fn new(
        records: usize,
        columns: &[Column<'_>],
        levels: &[Level],
        may_lack: bool,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut offsets = Vec::new();
        let mut buckets = Vec::new();
        let same: Vec<Vec<u32>> = columns.iter().map(|c| c.buckets(Level::Values).0).collect();
        let mut next = 0;
        for (column, &level) in columns.iter().zip(levels) {
            let (of, count) = column.buckets(level);
            offsets.push(next);
            next += count as u32 + 1;
            buckets.push(of);
        }
        offsets.push(next);
        let mut rows =
            Rows { lists: Lists::default(), counts: vec![0; next as usize], offsets, several: Vec::new() };
        let (mut ids, mut codes) = (Vec::new(), Vec::new());
        for record in 0..records {
            observer.go_on()?;
            ids.clear();
            let mut most = 1;
            for (a, column) in columns.iter().enumerate() {
                let own = column.values.codes.of(record);
                if own.is_empty() && !may_lack {
                    ids.push(rows.offsets[a + 1] - 1);
                }
                ids.extend(own.iter().map(|&code| rows.offsets[a] + buckets[a][code as usize]));
                if own.len() > 1 {
                    codes.clear();
                    codes.extend(own.iter().map(|&code| same[a][code as usize]));
                    codes.sort_unstable();
                    let runs = codes.chunk_by(|a, b| a == b).map(<[u32]>::len);
                    most = most.max(runs.max().unwrap_or(1));
                }
            }
            ids.sort_unstable();
            ids.dedup();
            ids.iter().for_each(|&id| rows.counts[id as usize] += 1);
            if most > 1 {
                rows.several.push((record as u32, most as u32));
            }
            // As many as there are codes, which were numbered already.
            let kept = rows.lists.push(ids.iter().copied());
            debug_assert!(kept);
        }
        Ok(rows)
    }

    pub(super) fn len(&self) -> usize {
        self.lists.len()
    }

    pub(super) fn of(&self, record: u32) -> &[u32] {
        self.lists.of(record as usize)
    }

    /// How often a record has one and the same value.
    pub(super) fn times(&self, record: u32) -> usize {
        self.several.binary_search_by_key(&record, |&(r, _)| r).map_or(1, |at| self.several[at].1 as usize)
    }

    /// Whether every record is in one bucket, with one value.
    pub(super) fn is_simple(&self) -> bool {
        self.several.is_empty() && (0..self.lists.len()).all(|record| self.lists.of(record).len() == 1)
    }

    /// Whether anybody has no value of an attribute.
    pub(super) fn has_missing(&self) -> bool {
        self.offsets.iter().skip(1).any(|&end| self.counts[end as usize - 1] > 0)
    }

    /// A bucket of an attribute.
    pub(super) fn id(&self, attribute: usize, bucket: u32) -> u32 {
        self.offsets[attribute] + bucket
    }

    /// The attribute of a bucket, and its number there; none for that of people without value.
    pub(super) fn bucket(&self, id: u32) -> (usize, Option<u32>) {
        let attribute = self.offsets.partition_point(|&o| o <= id) - 1;
        let missing = id + 1 == self.offsets[attribute + 1];
        (attribute, (!missing).then(|| id - self.offsets[attribute]))
    }

    /// The buckets that more than one in `size` of the records are in.
    pub(super) fn too_frequent(&self, size: usize) -> impl Iterator<Item = u32> {
        let all = self.len() as u64;
        let over = move |&(_, count): &(usize, &u32)| u64::from(*count) * size as u64 > all;
        self.counts.iter().enumerate().filter(over).map(|(id, _)| id as u32)
    }
}
