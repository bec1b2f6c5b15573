//! Leaving out rows of which a look-alike beside them says all.
//!
//! A row is contained in another that has the same values if each of its children is contained in one of the other's.
//! Whatever can be known of the smaller one, with all relations at one place, can then be known of the larger one: no claim
//! depends on it. Rows with something beside their quasi values, or above such a row, are never left out.

use rustc_hash::FxHashMap;

use bosket_model::Result;
use bosket_model::observe::Observer;

/// A row that is going to be published.
#[derive(Debug)]
pub(super) struct OutRow {
    pub(super) home: usize,
    /// The vertex of the input that it comes from.
    pub(super) vertex: usize,
    /// Its quasi values, as published, in the policy's order; items are numbered in that order, too.
    pub(super) items: Vec<u32>,
    /// Whether anything stands beside them.
    pub(super) has_payload: bool,
    /// Whether it is a value that stands apart from its row.
    pub(super) is_part: bool,
    /// Rows below, by their places in the record.
    pub(super) children: Vec<usize>,
}

impl OutRow {
    pub(super) fn new(home: usize, vertex: usize) -> Self {
        OutRow { home, vertex, items: Vec::new(), has_payload: false, is_part: false, children: Vec::new() }
    }

    /// Whether nothing of it is published.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty() && !self.has_payload && self.children.is_empty()
    }
}

/// What rows have in common that say the same: home, items, what is below.
type Look = (usize, Vec<u32>, Vec<u32>);

/// Leaves out rows that are contained in another of the same parent. Children stand after their parents, except for parts
/// of rows, which have no children.
pub(super) fn leave_out_contained(rows: &mut [OutRow], observer: &dyn Observer) -> Result<()> {
    let mut looks: FxHashMap<Look, u32> = FxHashMap::default();
    let mut look: Vec<u32> = vec![0; rows.len()];
    let mut is_told: Vec<bool> = vec![false; rows.len()];
    let parts_first = (0..rows.len()).rev().filter(|&at| rows[at].is_part);
    let order: Vec<usize> =
        parts_first.chain((0..rows.len()).rev().filter(|&at| !rows[at].is_part)).collect();
    for at in order {
        observer.go_on()?;
        let children = std::mem::take(&mut rows[at].children);
        let kept = keep_some(rows, &look, &is_told, children, observer)?;
        let mut below: Vec<u32> = kept.iter().map(|&child| look[child]).collect();
        below.sort_unstable();
        is_told[at] = rows[at].has_payload || kept.iter().any(|&child| is_told[child]);
        rows[at].children = kept;
        let next = looks.len() as u32;
        look[at] = *looks.entry((rows[at].home, rows[at].items.clone(), below)).or_insert(next);
    }
    Ok(())
}

/// The children that stay.
fn keep_some(
    rows: &[OutRow],
    look: &[u32],
    is_told: &[bool],
    children: Vec<usize>,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    if children.len() < 2 {
        return Ok(children);
    }
    let mut alike: FxHashMap<(usize, &[u32]), Vec<usize>> = FxHashMap::default();
    for &child in &children {
        alike.entry((rows[child].home, &rows[child].items)).or_default().push(child);
    }
    let mut stays: FxHashMap<usize, bool> = FxHashMap::default();
    for group in alike.into_values() {
        for (at, &row) in group.iter().enumerate() {
            observer.go_on()?;
            let mut left_out = false;
            if !is_told[row] {
                for (other_at, &other) in group.iter().enumerate() {
                    // Of two that say the same the first stays, unless only one of them may go.
                    let says_the_same = look[other] == look[row];
                    let first = other_at < at || is_told[other];
                    left_out =
                        other != row && if says_the_same { first } else { contains(rows, look, other, row) };
                    if left_out {
                        break;
                    }
                }
            }
            stays.insert(row, !left_out);
        }
    }
    Ok(children.into_iter().filter(|child| stays[child]).collect())
}

/// Whether a row with the same values has everything below it that another one has.
fn contains(rows: &[OutRow], look: &[u32], large: usize, small: usize) -> bool {
    rows[small].children.iter().all(|&child| {
        rows[large].children.iter().any(|&other| {
            look[other] == look[child]
                || (rows[other].home == rows[child].home
                    && rows[other].items == rows[child].items
                    && contains(rows, look, other, child))
        })
    })
}
