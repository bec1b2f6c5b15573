//! One try at groups with a given distance.

use bosket_model::hierarchy::NodeId;
use rustc_hash::FxHashMap;

use super::column::{Column, Level};
use super::deal::deal;
use super::degree::{Degrees, degrees};
use super::place::place;
use super::rows::Rows;
use super::spread::spread;

/// What is asked of the groups.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    /// Per attribute which values may not meet.
    pub(super) levels: Vec<Level>,
    /// Per attribute the distance, and whether for every pair.
    pub(super) delta: Vec<u32>,
    pub(super) pairwise: bool,
}

/// Groups of records, and records that fit nowhere.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) left: Vec<u32>,
}

impl Ask {
    /// Whether everything but a few records may be grouped at all: no bucket, and no node that a whole group may not stay
    /// below, holds too many.
    pub(super) fn is_eligible(&self, rows: &Rows, columns: &[Column<'_>], size: usize) -> bool {
        if rows.too_frequent(size).next().is_some() {
            return false;
        }
        let groups = rows.len() / size;
        (0..columns.len()).filter_map(|a| self.above(rows, columns, a)).all(|above| {
            let mut inside: FxHashMap<u32, usize> = FxHashMap::default();
            for (id, over) in above.iter().enumerate() {
                if let Some(over) = over {
                    *inside.entry(*over).or_default() += rows.counts[id] as usize;
                }
            }
            let total: usize = inside.values().sum();
            inside.values().all(|&count| total - count >= groups)
        })
    }

    /// Per bucket of an attribute the node that a group must reach beyond, none for people without value; nothing if
    /// distinct buckets see to that.
    fn above(&self, rows: &Rows, columns: &[Column<'_>], a: usize) -> Option<Vec<Option<u32>>> {
        let (column, delta) = (&columns[a], self.delta[a]);
        let hierarchy = column.hierarchy?;
        if delta == 0 || self.pairwise || delta > column.shallowest {
            return None;
        }
        let depth = column.shallowest - delta + 1;
        let (of_code, _) = column.buckets(self.levels[a]);
        let (over_code, _) = column.buckets(Level::Depth(depth));
        let mut above = vec![None; rows.counts.len()];
        for (bucket, over) in of_code.iter().zip(over_code) {
            above[rows.id(a, *bucket) as usize] = Some(over);
        }
        debug_assert!(above.iter().flatten().all(|&n| hierarchy.depth(NodeId(n)) <= depth));
        Some(above)
    }

    pub(super) fn try_groups(&self, rows: &Rows, columns: &[Column<'_>], size: usize, ties: &[u64]) -> Tried {
        let (groups, mut left) = if rows.is_simple() {
            deal(rows, size, ties, self.above(rows, columns, 0).as_deref())
        } else {
            spread(rows, size, ties)
        };
        let mut kept = Vec::with_capacity(groups.len());
        for group in groups {
            if self.holds(columns, &group) {
                kept.push(group);
            } else {
                left.extend(group);
            }
        }
        // What fits nowhere is not squeezed in.
        let (groups, left) = place(rows, size, kept, left, &|group| self.holds(columns, group));
        Tried { groups, left }
    }

    fn holds(&self, columns: &[Column<'_>], group: &[u32]) -> bool {
        columns.iter().zip(&self.delta).all(|(column, &delta)| {
            let found = group_degrees(column, group);
            let degree = if self.pairwise { found.pairwise } else { found.set_wise };
            delta == 0 || degree.is_none_or(|d| d >= delta)
        })
    }
}

/// The degrees of a group in one attribute.
pub(super) fn group_degrees(column: &Column<'_>, group: &[u32]) -> Degrees {
    let Some(hierarchy) = column.hierarchy else {
        return Degrees::default();
    };
    let people: Vec<Vec<NodeId>> = group
        .iter()
        .map(|&r| column.values.codes.of(r as usize).iter().map(|&c| column.nodes[c as usize]).collect())
        .collect();
    degrees(hierarchy, &people.iter().map(Vec::as_slice).collect::<Vec<_>>())
}
