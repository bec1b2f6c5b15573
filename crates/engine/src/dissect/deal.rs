//! Records with one bucket each: groups take one from each of the largest buckets.
//!
//! If no bucket has more than one in N of the records, fewer than N are left over, each in another bucket: taking from
//! the largest keeps the buckets even.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::attempt::Tried;
use super::rows::Rows;

/// Groups of `size` records, and those left over. Within a bucket the records come by `ties`. With `above` (per bucket
/// what must not be common to a whole group), a group that would stay below one node swaps its smallest bucket.
pub(super) fn deal(
    rows: &Rows,
    size: usize,
    ties: &[u64],
    above: Option<&[Option<u32>]>,
    observer: &dyn Observer,
) -> Result<Tried> {
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    let bucket = |record: u32| rows.of(record)[0];
    order.sort_unstable_by_key(|&r| (bucket(r), ties[r as usize], r));
    // Per bucket where its next record is.
    let mut next = vec![0usize; rows.counts.len()];
    let mut start = 0;
    for (id, &count) in rows.counts.iter().enumerate() {
        next[id] = start;
        start += count as usize;
    }
    let present = rows.counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let mut heap: BinaryHeap<(u32, Reverse<u32>)> =
        present.map(|(id, &count)| (count, Reverse(id as u32))).collect();
    let mut groups = Vec::new();
    let (mut taken, mut aside) = (Vec::new(), Vec::new());
    while heap.len() >= size {
        observer.go_on()?;
        taken.clear();
        taken.extend((0..size).filter_map(|_| heap.pop()));
        if let Some(above) = above {
            let over = |t: &(u32, Reverse<u32>)| above[t.1.0 as usize];
            let common = taken.iter().find_map(over);
            let stays = |t: &(u32, Reverse<u32>)| over(t).is_none() || over(t) == common;
            if taken.iter().all(stays) {
                let other = loop {
                    match heap.pop() {
                        Some(t) if stays(&t) => aside.push(t),
                        found => break found,
                    }
                };
                heap.extend(aside.drain(..));
                let Some(other) = other else {
                    heap.append(&mut taken.drain(..).collect());
                    break;
                };
                heap.extend(taken.pop());
                taken.push(other);
            }
        }
        let mut group = Vec::with_capacity(size);
        for &(count, Reverse(id)) in &taken {
            group.push(order[next[id as usize]]);
            next[id as usize] += 1;
            if count > 1 {
                heap.push((count - 1, Reverse(id)));
            }
        }
        groups.push(group);
    }
    let mut left: Vec<u32> = Vec::new();
    for (count, Reverse(id)) in heap.into_sorted_vec() {
        left.extend_from_slice(&order[next[id as usize]..next[id as usize] + count as usize]);
    }
    Ok(Tried { groups, left })
}
