//! `lra`: local recoding. Similar transactions together in parts, each with a cut of its own.
//!
//! What is frequent within a part is frequent in the whole, so parts that are anonymous by themselves are so together.

use std::cmp::Ordering;

use rayon::prelude::*;

use bosket_model::Result;
use bosket_model::observe::{Observer, Silenced};

use crate::km::cuts::cut::Cut;
use crate::km::params::Params;
use crate::km::recoding::{Recoding, most};
use crate::km::run::global;
use crate::km::transactions::Transactions;

/// One cut per part of similar records.
pub(crate) fn lra(data: &Transactions, params: &Params, observer: &dyn Observer) -> Result<Recoding> {
    let parts = parts(data, params, observer)?;
    observer.stage("parts", parts.len() as u64);
    let own: Result<Vec<Recoding>> = parts
        .par_iter()
        .map(|records| {
            let part = data.part(records, observer)?;
            let found = global(&part, params, Cut::bottom(&part), &Silenced(observer))?;
            observer.advance(1);
            Ok(found)
        })
        .collect();
    let mut found = Recoding { most: most(data), part_of: vec![0; data.len()], ..Recoding::default() };
    for (number, (records, own)) in parts.iter().zip(own?).enumerate() {
        records.iter().for_each(|&r| found.part_of[r as usize] = number as u32);
        found.parts.extend(own.parts);
        found.dropped.extend(own.dropped);
        found.loss += own.loss;
        found.repaired += own.repaired;
        found.cut_short |= own.cut_short;
        // The parts are gone through one after the other where memory is short, so the largest tree counts.
        found.count_tree = found.count_tree.max(own.count_tree);
    }
    Ok(found)
}

/// The parts, as records in their order.
fn parts(data: &Transactions, params: &Params, observer: &dyn Observer) -> Result<Vec<Vec<u32>>> {
    let k = params.k as usize;
    let mut order: Vec<u32> = (0..data.len() as u32).collect();
    // Equal transactions are alike; which of them comes first changes nothing but must not depend on threads.
    order.par_sort_by(|&a, &b| gray(data.items(a), data.items(b)).then(a.cmp(&b)));
    observer.go_on()?;
    let borders = borders(data, &order, params, observer)?;
    let mut found: Vec<Vec<u32>> = Vec::new();
    let mut from = 0;
    for to in borders.into_iter().chain([order.len()]) {
        match found.last_mut() {
            // What is too small joins its neighbour.
            Some(last) if to - from < k || last.len() < k => {
                last.extend_from_slice(&order[from..to]);
            }
            _ => found.push(order[from..to].to_vec()),
        }
        from = to;
    }
    Ok(found)
}

/// Compares sets as Gray codes, the bit of the first item being the highest. Where they first differ, a one is the higher
/// code after an even number of ones and the lower after an odd one.
fn gray(a: &[u32], b: &[u32]) -> Ordering {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    // The one with the smaller next item has a one there, the other a zero.
    let a_has_it = match (a.get(same), b.get(same)) {
        (None, None) => return Ordering::Equal,
        (Some(a), Some(b)) => a < b,
        (a, _) => a.is_some(),
    };
    if a_has_it == (same % 2 == 0) { Ordering::Greater } else { Ordering::Less }
}

/// Where the parts end: about equal numbers of m-combinations, moved to the largest Hamming distance nearby.
fn borders(
    data: &Transactions,
    order: &[u32],
    params: &Params,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    let Params { parts, flex, .. } = *params;
    let size = params.m.min(data.longest()).max(1);
    let mut sums: Vec<u128> = Vec::with_capacity(order.len() + 1);
    let mut sum = 0u128;
    sums.push(0);
    for &record in order {
        observer.go_on()?;
        sum = sum.saturating_add(choose(data.items(record).len(), size));
        sums.push(sum);
    }
    let mut borders: Vec<usize> = Vec::new();
    for part in 1..parts as u128 {
        observer.go_on()?;
        let share = (sum / parts as u128).saturating_mul(part);
        let about = sums.partition_point(|&s| s < share);
        let from = about.saturating_sub(flex).max(borders.last().map_or(1, |b| b + 1));
        let to = (about + flex).min(order.len().saturating_sub(1));
        let gap = |at: usize| hamming(data.items(order[at - 1]), data.items(order[at]));
        let best = (from..=to)
            .max_by_key(|&at| (gap(at), std::cmp::Reverse(at.abs_diff(about)), std::cmp::Reverse(at)));
        borders.extend(best);
    }
    Ok(borders)
}

/// In how many items two sets differ.
fn hamming(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                (i, j, both) = (i + 1, j + 1, both + 1);
            }
        }
    }
    a.len() + b.len() - 2 * both
}

/// How many sets of `size` out of `n`, as far as it fits.
fn choose(n: usize, size: usize) -> u128 {
    if n < size {
        return 0;
    }
    (0..size as u128).fold(1, |product: u128, i| product.saturating_mul(n as u128 - i) / (i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code's place in the sequence of Gray codes over `bits` items.
    fn place(set: &[u32], bits: u32) -> u32 {
        let mut number = 0;
        let mut last = 0;
        for item in 0..bits {
            last ^= u32::from(set.contains(&item));
            number = number << 1 | last;
        }
        number
    }

    #[test]
    fn sets_sort_as_gray_codes() {
        let sets: Vec<Vec<u32>> = (0..32u32).map(|s| (0..5).filter(|i| s >> i & 1 == 1).collect()).collect();
        for a in &sets {
            for b in &sets {
                assert_eq!(gray(a, b), place(a, 5).cmp(&place(b, 5)), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn combinations() {
        assert_eq!((choose(5, 2), choose(2, 3), choose(164, 3), choose(7, 7)), (10, 0, 721_764, 1));
        assert_eq!(hamming(&[1, 2, 5], &[2, 3]), 3);
    }
}
