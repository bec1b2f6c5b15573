//! One try at groups with a given distance.

use bosket_model::Result;
use bosket_model::hierarchy::NodeId;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::column::{Column, Level};
use super::deal::deal;
use super::degree::{Degrees, degrees};
use super::even::even;
use super::place::place;
use super::repair::repair;
use super::rows::Rows;
use super::spread::spread;

/// So many records that fit nowhere are tried once more, or one in fifty: twice as many as may be left out.
const REPAIRED: usize = 16;

/// Below no node: people without value.
pub(super) const NOWHERE: u32 = u32::MAX;

/// What is asked of the groups.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    /// Per attribute which values may not meet.
    pub(super) levels: Vec<Level>,
    /// Per attribute the distance, and whether for every pair.
    pub(super) delta: Vec<u32>,
    pub(super) pairwise: bool,
    pub(super) way: Way,
}

/// How a group of people with one value each is kept from staying below one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It is not: what does not hold is taken apart again.
    Hope,
    /// By taking another bucket than the largest.
    Swap,
    /// By making groups fewer, and up to nearly twice as large.
    Even,
}

/// Groups of records, and records that fit nowhere.
#[derive(Debug, Default)]
pub(super) struct Tried {
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) left: Vec<u32>,
}

impl Attempt {
    /// Whether everything but `few` records may be grouped at all: no bucket, and no node that a whole group may not stay
    /// below, holds too many.
    pub(super) fn is_eligible(&self, rows: &Rows, columns: &[Column<'_>], size: usize, few: usize) -> bool {
        let groups = rows.len().saturating_sub(few) / size;
        if rows.counts.iter().any(|&count| count as usize > groups + few) {
            return false;
        }
        match (self.way, rows.is_simple()) {
            (Way::Swap, true) => {}
            (way, simple) => return simple || way == Way::Swap,
        }
        self.above(rows, columns, 0).is_none_or(|above| {
            let mut inside: FxHashMap<u32, usize> = FxHashMap::default();
            for (over, &count) in above.iter().zip(&rows.counts) {
                *inside.entry(over.unwrap_or(NOWHERE)).or_default() += count as usize;
            }
            let without = inside.remove(&NOWHERE).unwrap_or(0);
            // Of two people of whom one has no value, nothing is asked.
            let elsewhere = rows.len() - if size == 2 { 0 } else { without };
            inside.values().all(|&count| elsewhere - count >= groups)
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

    /// With `few`, an attempt that is far from leaving out no more than that ends early.
    pub(super) fn try_groups(
        &self,
        rows: &Rows,
        columns: &[Column<'_>],
        size: usize,
        ties: &[u64],
        few: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<Tried> {
        let Tried { groups, mut left } = if rows.is_simple() {
            match self.above(rows, columns, 0) {
                Some(above) if self.way == Way::Even => even(rows, size, ties, &above, observer)?,
                above => {
                    let above = above.filter(|_| self.way == Way::Swap);
                    deal(rows, size, ties, above.as_deref(), observer)?
                }
            }
        } else {
            spread(rows, size, ties, observer)?
        };
        let mut kept = Vec::with_capacity(groups.len());
        for group in groups {
            observer.go_on()?;
            if self.holds(columns, &group) {
                kept.push(group);
            } else {
                left.extend(group);
            }
        }
        // Groups that take thousands of others in grow and grow, and checking them takes longer each time.
        if few.is_some_and(|few| rows.is_simple() && left.len() > 4 * (few + size)) {
            return Ok(Tried { groups: Vec::new(), left });
        }
        // What fits nowhere is not squeezed in.
        let keeps = |group: &[u32]| self.holds(columns, group);
        let tried = place(rows, size, Tried { groups: kept, left }, &keeps, observer)?;
        // People with one value each are grouped as well as can be already.
        if (rows.is_simple() && !rows.has_missing()) || tried.left.len() > REPAIRED.max(rows.len() / 50) {
            return Ok(tried);
        }
        repair(rows, size, tried, ties, &keeps, observer)
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
