//! Records with several buckets: those with the most frequent ones first, each into the next group where it fits.

use super::place::Open;
use super::rows::Rows;

/// How many groups are tried for a record.
const TRIES: usize = 4096;

/// Groups of at least `size` records, and those left over.
pub(super) fn spread(rows: &Rows, size: usize, ties: &[u64]) -> (Vec<Vec<u32>>, Vec<u32>) {
    let frequency = |r: u32| rows.of(r).iter().map(|&id| rows.counts[id as usize]).max().unwrap_or(0);
    let first = |r: u32| rows.of(r).iter().copied().max_by_key(|&id| rows.counts[id as usize]).unwrap_or(0);
    let mut order: Vec<(u32, u32, u64, u32)> =
        (0..rows.len() as u32).map(|r| (u32::MAX - frequency(r), first(r), ties[r as usize], r)).collect();
    order.sort_unstable();
    let mut open: Vec<Open> = vec![Open::default(); (rows.len() / size).max(1)];
    let mut left = Vec::new();
    let mut at = 0;
    for (.., record) in order {
        // One and the same value several times needs a larger group than these.
        let tries = if rows.times(record) > 1 { 0 } else { open.len().min(TRIES) };
        let found = (0..tries).map(|i| (at + i) % open.len()).find(|&g| open[g].fits(rows, record));
        match found {
            Some(group) => {
                open[group].add(rows, record);
                // The next record starts behind it, which keeps the groups even.
                at = if found == Some(at) { (at + 1) % open.len() } else { at };
            }
            None => left.push(record),
        }
    }
    let mut groups = Vec::new();
    for group in open {
        if group.records.len() >= size {
            groups.push(group.records);
        } else {
            left.extend(group.records);
        }
    }
    (groups, left)
}
