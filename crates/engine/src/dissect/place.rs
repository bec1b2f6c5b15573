//! Records that are left over, put into groups where they keep the property.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::attempt::Tried;
use super::rows::Rows;

/// A group and the buckets that are taken in it, sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    pub(super) records: Vec<u32>,
    buckets: Vec<u32>,
}

impl Open {
    pub(super) fn new(rows: &Rows, records: Vec<u32>) -> Self {
        let mut buckets: Vec<u32> = records.iter().flat_map(|&r| rows.of(r)).copied().collect();
        buckets.sort_unstable();
        Open { records, buckets }
    }

    pub(super) fn fits(&self, rows: &Rows, record: u32) -> bool {
        rows.of(record).iter().all(|id| self.buckets.binary_search(id).is_err())
    }

    pub(super) fn add(&mut self, rows: &Rows, record: u32) {
        self.records.push(record);
        self.take(rows.of(record));
    }

    fn take(&mut self, buckets: &[u32]) {
        self.buckets.extend_from_slice(buckets);
        self.buckets.sort_unstable();
    }

    fn is_apart(&self, other: &Open) -> bool {
        self.buckets.iter().all(|id| other.buckets.binary_search(id).is_err())
    }

    fn unite(&mut self, other: Open) {
        self.records.extend(other.records);
        self.take(&other.buckets);
    }
}

/// How many groups are tried for a record.
const TRIES: usize = 4096;

/// Puts records into groups; what fits nowhere comes back. A record that has one value several times takes groups
/// together until the value's share is small enough.
pub(super) fn place(
    rows: &Rows,
    size: usize,
    tried: Tried,
    keeps: &dyn Fn(&[u32]) -> bool,
    observer: &dyn Observer,
) -> Result<Tried> {
    let Tried { groups, left } = tried;
    if left.is_empty() {
        return Ok(Tried { groups, left });
    }
    let mut open: Vec<Open> = Vec::with_capacity(groups.len());
    for group in groups {
        observer.go_on()?;
        open.push(Open::new(rows, group));
    }
    let mut out = Vec::new();
    let mut at = 0;
    for record in left {
        observer.go_on()?;
        if open.is_empty() {
            out.push(record);
            continue;
        }
        let tries = open.len().min(TRIES);
        let candidate = (0..tries).map(|i| (at + i) % open.len()).find(|&g| open[g].fits(rows, record));
        let Some(mut group) = candidate else {
            out.push(record);
            continue;
        };
        let needed = rows.times(record) * size;
        let mut others = Vec::new();
        let mut reached = open[group].clone();
        reached.add(rows, record);
        for other in (0..open.len()).filter(|&g| g != group).take(TRIES) {
            if reached.records.len() >= needed {
                break;
            }
            if reached.is_apart(&open[other]) {
                reached.unite(open[other].clone());
                others.push(other);
            }
        }
        if reached.records.len() < needed || !keeps(&reached.records) {
            out.push(record);
            continue;
        }
        open[group] = reached;
        for other in others.into_iter().rev() {
            open.swap_remove(other);
            // The last group has moved into the gap.
            group = if group == open.len() { other } else { group };
        }
        at = (group + 1) % open.len();
    }
    Ok(Tried { groups: open.into_iter().map(|g| g.records).collect(), left: out })
}
