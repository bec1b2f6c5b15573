//! Records with several buckets: those with the most frequent ones first, each into the next group where it fits.
//!
//! Who has one and the same value t times needs a group t times as large. Such people come first, together with others who
//! need as much, and people with rare values fill their groups up; the rest is shared out among groups of its own.

use std::collections::VecDeque;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::attempt::Tried;
use super::place::Open;
use super::rows::Rows;

/// How many groups are tried for a record.
const TRIES: usize = 4096;

/// How many of those that are behind.
const BEHIND: usize = 64;

/// Groups of at least `size` records, and those left over.
pub(super) fn spread(rows: &Rows, size: usize, ties: &[u64], observer: &dyn Observer) -> Result<Tried> {
    let frequency = |r: u32| rows.of(r).iter().map(|&id| rows.counts[id as usize]).max().unwrap_or(0);
    let first = |r: u32| rows.of(r).iter().copied().max_by_key(|&id| rows.counts[id as usize]).unwrap_or(0);
    let mut order: Vec<(u32, u32, u64, u32)> =
        (0..rows.len() as u32).map(|r| (u32::MAX - frequency(r), first(r), ties[r as usize], r)).collect();
    order.sort_unstable();
    let order = order.into_iter().map(|(.., record)| (rows.times(record), record));
    let (mut several, single): (Vec<_>, Vec<_>) = order.partition(|(times, _)| *times > 1);
    several.sort_by_key(|(times, _)| std::cmp::Reverse(*times));
    let mut single: Vec<u32> = single.into_iter().map(|(_, record)| record).collect();
    let mut done = Tried::default();
    for alike in several.chunk_by(|a, b| a.0 == b.0) {
        let needed = alike[0].0 * size;
        let mut open = vec![Open::default(); alike.len().div_ceil(needed)];
        share(rows, alike.iter().map(|(_, record)| *record), &mut open, &mut done.left, observer)?;
        for group in &mut open {
            observer.go_on()?;
            fill(rows, group, needed, &mut single);
        }
        done.close(open, needed);
    }
    let mut open = vec![Open::default(); (single.len() / size).max(1)];
    share(rows, single.into_iter(), &mut open, &mut done.left, observer)?;
    done.close(open, size);
    Ok(done)
}

impl Tried {
    /// Keeps the groups that are large enough.
    fn close(&mut self, open: Vec<Open>, needed: usize) {
        for group in open {
            if group.records.len() >= needed {
                self.groups.push(group.records);
            } else {
                self.left.extend(group.records);
            }
        }
    }
}

/// Puts each record into the next group where it fits. Groups that were passed over are behind, and tried first from then
/// on: all would be as large as the others in the end.
fn share(
    rows: &Rows,
    records: impl Iterator<Item = u32>,
    open: &mut [Open],
    left: &mut Vec<u32>,
    observer: &dyn Observer,
) -> Result<()> {
    let mut behind: VecDeque<usize> = VecDeque::new();
    let mut at = 0;
    for record in records {
        observer.go_on()?;
        if let Some(found) = behind.iter().take(BEHIND).position(|&g| open[g].fits(rows, record)) {
            if let Some(group) = behind.remove(found) {
                open[group].add(rows, record);
            }
            continue;
        }
        let next = |i: usize| (at + i) % open.len();
        match (0..open.len().min(TRIES)).find(|&i| open[next(i)].fits(rows, record)) {
            Some(passed) => {
                behind.extend((0..passed).map(next));
                let group = next(passed);
                open[group].add(rows, record);
                at = (group + 1) % open.len();
            }
            None => left.push(record),
        }
    }
    Ok(())
}

/// Fills a group up with records from the end, where the rare values are.
fn fill(rows: &Rows, group: &mut Open, needed: usize, from: &mut Vec<u32>) {
    let mut at = from.len();
    let end = at.saturating_sub(TRIES);
    while group.records.len() < needed && at > end {
        at -= 1;
        if group.fits(rows, from[at]) {
            group.add(rows, from.remove(at));
        }
    }
}
