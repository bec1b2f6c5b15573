//! k^m- and k^(m,n)-anonymity: every piece of knowledge in the claim's range that matches any record must match
//! at least k.
//!
//! Knowledge is a set V of 1..m items of a record and a set R of 0..n related pairs out of V. What is wanted is the
//! smallest witness by |R|, |V| and items, so knowledge is counted by |V|, and of more values only with fewer relations than
//! a violation found has. Where a cell for every combination fits into memory (`dense`) all relations are counted in one
//! go; else each level of |V| and |R| is counted in tables of keys (`level`), parted by the smallest items of V.
//!
//! # An example
//!
//! Three records over the items 0 to 3, which are the values of some attributes; in brackets what is related:
//!
//! ```text
//! record 0   0 1 2   (0–1)
//! record 1   0 1 2   (0–1, 1–2)
//! record 2   0 2 3
//! ```
//!
//! With k = 2, m = 2 and n = 1 one value is counted first: 0 is in three records, 1 in two, 2 in three, 3 in one. So {3} is a
//! violation without any relation, and nothing of more values can be smaller: counting stops. Without record 2's item 3,
//! one value is fine, and of two values {0, 1}, {0, 2} and {1, 2} are in two or three records each. With one relation
//! known, 0–1 fits two records, but 1–2 only record 1: the violation is ({1, 2}, {1–2}). With a larger
//! m, knowledge of three values would now only be looked at without relations, since no other could be smaller. The files of this folder go on with these
//! three records.

mod absence;
mod cells;
mod classes;
mod dense;
mod diverse;
mod guard;
mod kernel;
mod level;
mod parts;
mod read;
mod records;
mod sets;
mod table;

use std::cell::OnceCell;

use bosket_model::observe::Observer;
use bosket_model::{Failure, Result};

pub(crate) use classes::Numbering;
pub use diverse::{SensitiveValues, smallest_uniform};
pub use read::View;
pub use records::{Known, Pairs, Records, pair_bit, pair_count};

use dense::{Dense, Ordered};
use level::Level;
use parts::Postings;

/// The attacker's strength and the means of the verifier.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Fewest records that knowledge may match.
    pub k: u32,
    /// Most known values.
    pub m: usize,
    /// Most known relations.
    pub n: usize,
    /// Bytes that all counters together may take.
    pub memory: usize,
}

/// Knowledge that matches too few records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knowledge {
    /// Items, ascending.
    pub items: Vec<u32>,
    /// Known relations, as a mask over [`pair_bit`]; past these, pairs known to be unrelated.
    pub relations: u64,
    /// The records it matches, from 0.
    pub records: Vec<u32>,
}

/// The most values that can be known together with relations: what is known of their pairs must fit into a mask beside one
/// item.
pub fn largest_m(records: &Records) -> usize {
    let mask_bits = 63 - item_bits(records.item_count()) as usize;
    let planes = if records.is_signed() { 2 } else { 1 };
    (1..).take_while(|&m| planes * pair_count(m) <= mask_bits).last().unwrap_or(1)
}

fn item_bits(items: usize) -> u32 {
    usize::BITS - items.saturating_sub(1).leading_zeros()
}

/// The smallest knowledge, by |R|, |V| and item order, that matches at least one but fewer than k records.
pub fn smallest_violation(
    records: &Records,
    range: Range,
    observer: &dyn Observer,
) -> Result<Option<Knowledge>> {
    if range.k <= 1 {
        return Ok(None);
    }
    let ordered = Ordered::new(records);
    let postings = OnceCell::new();
    let mut smallest = None;
    let mut most = Some(range.n);
    for v in 1..=range.m {
        // Knowledge of more values is smaller than what was found only if it has fewer relations.
        let Some(r) = most.map(|most| most.min(pair_count(v))) else {
            break;
        };
        let found = match Dense::new(&ordered, range, (v, r), observer)? {
            Some(dense) => dense.violations(observer)?.smallest(),
            None => {
                let postings = match postings.get() {
                    Some(postings) => postings,
                    None => {
                        let made = Postings::new(records, observer)?;
                        postings.get_or_init(|| made)
                    }
                };
                by_levels(records, postings, range, (v, r), observer)?
            }
        };
        if let Some((r, items, relations)) = found {
            smallest = Some((items, relations));
            most = r.checked_sub(1);
        }
    }
    let Some((items, relations)) = smallest else {
        return Ok(None);
    };
    let matching = matching(records, &items, relations, observer)?;
    if matching.is_empty() || matching.len() >= range.k as usize {
        return Err(Failure::defect("a witness was found that does not stand up to being counted again"));
    }
    Ok(Some(Knowledge { items, relations, records: matching }))
}

/// The smallest violation of v values and up to r relations, counted level by level.
fn by_levels(
    records: &Records,
    postings: &Postings,
    range: Range,
    (v, most): (usize, usize),
    observer: &dyn Observer,
) -> Result<Option<(usize, Vec<u32>, u64)>> {
    for r in 0..=most {
        let stage = format!("knowledge of {v} values and {r} relations");
        observer.stage(&stage, records.item_count() as u64);
        let level = Level { records, postings, range, v, r };
        if let Some((items, relations)) = level.smallest_violation(observer)? {
            return Ok(Some((r, items, relations)));
        }
    }
    Ok(None)
}

/// The records that match some knowledge, found by asking each.
fn matching(records: &Records, items: &[u32], relations: u64, observer: &dyn Observer) -> Result<Vec<u32>> {
    let mut sets = Vec::new();
    let mut found = Vec::new();
    for record in 0..records.len() {
        observer.go_on()?;
        let own = records.items(record);
        let positions: Option<Vec<u32>> =
            items.iter().map(|i| own.binary_search(i).ok().map(|p| p as u32)).collect();
        if let Some(positions) = positions {
            records.relation_sets(record, &positions, &mut sets, observer)?;
            if sets.iter().any(|set| set & relations == relations) {
                found.push(record as u32);
            }
        }
    }
    Ok(found)
}

/// All subsets of `set` with `r` elements, each joined with `taken`.
fn push_subsets(set: u64, r: usize, taken: u64, out: &mut Vec<u64>) {
    if r == 0 {
        out.push(taken);
        return;
    }
    let mut rest = set;
    while rest.count_ones() as usize >= r {
        let lowest = rest & rest.wrapping_neg();
        rest ^= lowest;
        push_subsets(rest, r - 1, taken | lowest, out);
    }
}
