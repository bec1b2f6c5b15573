//! Records with one bucket each, dealt out evenly: where most values lie below one node, groups have to be fewer and larger.

use std::cmp::Reverse;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::attempt::{NOWHERE, Tried};
use super::rows::Rows;

/// As many groups as there can be if each reaches beyond every node of `above`, and the records left over.
///
/// Records are laid out node by node, the largest first, and dealt to the groups in turn. So a bucket with no more records
/// than there are groups meets itself nowhere, and what lies outside the largest node, one run of at least as many
/// records as groups, reaches them all. The other nodes own no group either: the largest has a record there, or no
/// node has two. People without value lie below no node; where there are some, this may fall short.
pub(super) fn even(
    rows: &Rows,
    size: usize,
    ties: &[u64],
    above: &[Option<u32>],
    observer: &dyn Observer,
) -> Result<Tried> {
    let bucket = |record: u32| rows.of(record)[0];
    let mut inside = std::collections::BTreeMap::<u32, usize>::new();
    for (over, &count) in above.iter().zip(&rows.counts) {
        *inside.entry(over.unwrap_or(NOWHERE)).or_default() += count as usize;
    }
    let without = inside.remove(&NOWHERE).unwrap_or(0);
    let largest = inside.values().copied().max().unwrap_or(0);
    let groups = (rows.len() - without - largest).min(rows.len() / size);
    let node = |record: u32| {
        let over = above[bucket(record) as usize].unwrap_or(NOWHERE);
        (Reverse(inside.get(&over).copied().unwrap_or(0)), over)
    };
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    order.sort_by_cached_key(|&r| (node(r), bucket(r), ties[r as usize], r));
    // More people would be two groups.
    let over = order.len().saturating_sub(groups * (2 * size - 1));
    let mut left: Vec<u32> = order.drain(..over).collect();
    let mut dealt: Vec<Vec<u32>> = vec![Vec::new(); groups];
    for (at, record) in order.into_iter().enumerate() {
        observer.go_on()?;
        let group = &mut dealt[at % groups];
        if group.last().is_some_and(|&last| bucket(last) == bucket(record)) {
            left.push(record);
        } else {
            group.push(record);
        }
    }
    let (dealt, small): (Vec<_>, Vec<_>) = dealt.into_iter().partition(|g| g.len() >= size);
    left.extend(small.into_iter().flatten());
    Ok(Tried { groups: dealt, left })
}
