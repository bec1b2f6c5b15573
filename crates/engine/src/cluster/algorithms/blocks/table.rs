//! A flat table, and groups of its rows.
//!
//! Leaves are numbered depth first, or by their numbers, so what several rows have in common in an attribute is decided by the
//! first and the last leaf among them, be it a node or a range.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::guarded::{Guard, Guarded};
use crate::cluster::domain::Domain;
use crate::cluster::forest::Forest;

/// Attributes with more values have no table of costs.
const MOST_LISTED: usize = 600;

/// The first and the last leaf, per attribute.
pub(super) type Bounds = Vec<(u32, u32)>;

/// Rows that are going to look alike.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) rows: Vec<u32>,
    pub(super) bounds: Bounds,
    /// The cost of what they have in common, for one row.
    pub(super) cost: i64,
}

impl Group {
    /// The cost for all rows.
    pub(super) fn whole(&self) -> i64 {
        self.cost * self.rows.len() as i64
    }
}

/// The cost for all rows of several groups.
pub(super) fn whole(groups: &[Group]) -> i64 {
    groups.iter().map(Group::whole).sum()
}

/// What publishing everything between two leaves costs.
struct Costs<'a> {
    domain: &'a Domain,
    /// By both leaves; empty if there are too many.
    listed: Vec<i32>,
    /// How many leaves there are.
    width: usize,
}

impl<'a> Costs<'a> {
    fn new(domain: &'a Domain) -> Self {
        let mut listed = Vec::new();
        if domain.len() <= MOST_LISTED && domain.full <= i64::from(i32::MAX) {
            let mut row = Vec::new();
            for leaf in 0..domain.len() as u32 {
                domain.costs_with(leaf, &mut row);
                listed.extend(row.iter().map(|&cost| cost as i32));
            }
        }
        Costs { domain, listed, width: domain.len() }
    }

    #[inline(always)]
    fn between(&self, first: u32, last: u32) -> i64 {
        match self.listed.get(first as usize * self.width + last as usize) {
            Some(&cost) => i64::from(cost),
            None => self.domain.cost(self.domain.lca(first, last)),
        }
    }
}

/// A flat table.
pub(super) struct Table<'a> {
    costs: Vec<Costs<'a>>,
    /// Row by row, per attribute the leaf twice: a row is a group of one.
    bounds: Vec<(u32, u32)>,
    pub(super) rows: usize,
    /// Fewest rows of a group.
    pub(super) size: usize,
    /// What a row more than `size` is reckoned at while groups grow: those rows could have made others cheaper.
    pub(super) surplus: i64,
    /// What is asked of sensitive values; none if they do not matter.
    pub(super) guarded: Option<Guarded<'a>>,
    pub(super) observer: &'a dyn Observer,
}

impl<'a> Table<'a> {
    pub(super) fn new(
        forest: &'a Forest,
        size: usize,
        guard: Option<Guard<'a>>,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let domains = forest.classes[0].quasi.iter().map(|&(_, d)| &forest.domains[d]);
        let full: i64 = domains.clone().map(|d| d.full).sum();
        let mut bounds = Vec::new();
        for row in 0..forest.len() as u32 {
            observer.go_on()?;
            bounds.extend(forest.root_values(row).iter().map(|&v| (v, v)));
        }
        Ok(Table {
            costs: domains.map(Costs::new).collect(),
            bounds,
            rows: forest.len(),
            size,
            surplus: full / 8,
            guarded: guard.map(|guard| Guarded::new(forest, guard)),
            observer,
        })
    }

    pub(super) fn attributes(&self) -> usize {
        self.costs.len()
    }

    pub(super) fn domain(&self, attribute: usize) -> &Domain {
        self.costs[attribute].domain
    }

    pub(super) fn row(&self, row: u32) -> &[(u32, u32)] {
        let width = self.costs.len();
        &self.bounds[row as usize * width..(row as usize + 1) * width]
    }

    pub(super) fn bounds(&self, rows: &[u32]) -> Bounds {
        let mut bounds = self.row(rows[0]).to_vec();
        rows[1..].iter().for_each(|&r| widen(&mut bounds, self.row(r)));
        bounds
    }

    pub(super) fn group(&self, rows: Vec<u32>) -> Group {
        let bounds = self.bounds(&rows);
        Group { cost: self.cost(&bounds), bounds, rows }
    }

    pub(super) fn cost(&self, bounds: &[(u32, u32)]) -> i64 {
        self.costs.iter().zip(bounds).map(|(c, &(first, last))| c.between(first, last)).sum()
    }

    /// The cost of an attribute alone.
    pub(super) fn cost_at(&self, attribute: usize, bounds: &[(u32, u32)]) -> i64 {
        self.costs[attribute].between(bounds[attribute].0, bounds[attribute].1)
    }

    /// The cost of what two groups would share, for one row; stops where it is more than `most`.
    #[inline]
    pub(super) fn together(&self, a: &[(u32, u32)], b: &[(u32, u32)], most: i64) -> i64 {
        let mut cost = 0;
        for ((costs, a), b) in self.costs.iter().zip(a).zip(b) {
            cost += costs.between(a.0.min(b.0), a.1.max(b.1));
            if cost > most {
                break;
            }
        }
        cost
    }

    /// What a row adds to a group's cost if that is less than `most`.
    #[inline]
    pub(super) fn rise(&self, group: &Group, row: u32, most: i64) -> Option<i64> {
        let (its, before) = (group.rows.len() as i64, group.whole());
        let limit = (most + before) / (its + 1);
        let rise = (its + 1) * self.together(&group.bounds, self.row(row), limit) - before;
        (rise < most).then_some(rise)
    }

    pub(super) fn take(&self, group: &mut Group, row: u32) {
        group.rows.push(row);
        widen(&mut group.bounds, self.row(row));
        group.cost = self.cost(&group.bounds);
    }

    /// Rows by what they hold, equal ones next to each other.
    pub(super) fn sorted(&self, rows: &[u32]) -> Vec<u32> {
        let mut rows = rows.to_vec();
        rows.sort_by(|&a, &b| self.row(a).cmp(self.row(b)).then(a.cmp(&b)));
        rows
    }
}

/// Makes room for others in what a group has in common.
pub(super) fn widen(bounds: &mut [(u32, u32)], other: &[(u32, u32)]) {
    for (own, other) in bounds.iter_mut().zip(other) {
        *own = (own.0.min(other.0), own.1.max(other.1));
    }
}
