//! RPD: what each record loses at a cut, and what others lose at a cut that differs from it.
//!
//! The loss of a path from a record's root to one of its leaves is 1 / ∏ (depth · width); a record counts the mean over its
//! leaves, a publication the mean over its records. A record's loss depends on the paths of its own rows alone. So of a cut
//! that differs in one node, or in a rule, only the records are looked at that have a row in a group that differs; most
//! steps of a search touch few. Losses are whole numbers, so a sum of differences is the sum.

use std::sync::{Arc, Mutex, PoisonError};

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::cost::Placed;
use super::domain::Domain;
use super::rows::{Group, Rows, STRIDE};
use super::sample::Sample;

/// The fraction that losses are counted in.
const UNIT: f64 = (1u64 << 62) as f64;

/// No record, no group.
const NONE: u32 = u32::MAX;

/// What records are looked at with.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) rows: &'a Rows,
    pub(super) domain: &'a Domain<'a>,
    pub(super) scratch: &'a Scratch,
    /// The records that are looked at; none for all.
    pub(super) sample: Option<&'a Sample>,
    pub(super) observer: &'a dyn Observer,
}

/// Places for a number per row, used again: a large one takes longer to get than to fill in part.
#[derive(Default)]
pub(super) struct Scratch(Mutex<Vec<Vec<u32>>>);

impl Scratch {
    /// One number per row, whatever they are.
    fn take(&self, rows: usize) -> Vec<u32> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        known.unwrap_or_else(|| vec![NONE; rows])
    }

    fn put_back(&self, numbers: Vec<u32>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(numbers);
    }
}

/// About how much memory the losses of a cut take.
pub(super) fn bytes(rows: &Rows, domain: &Domain<'_>) -> usize {
    rows.len() * 4 + domain.records * 8
}

/// What each record loses at a cut with or without rules.
pub(super) struct Losses {
    groups: Vec<Arc<Group>>,
    /// What rules leave above each position of each group; none without rules.
    above: Option<Vec<Vec<u64>>>,
    /// Per row its group.
    group_of: Vec<u32>,
    /// Per record its loss; a record without any value loses all there is.
    own: Vec<u64>,
    total: u128,
    /// How many records are looked at; the others lose nothing here.
    looked: usize,
}

impl Losses {
    pub(super) fn new(groups: &[Arc<Group>], above: Option<&[Vec<u64>]>, look: Look<'_>) -> Result<Self> {
        let mut group_of = vec![NONE; look.rows.len()];
        for (g, group) in groups.iter().enumerate() {
            look.observer.go_on()?;
            for &row in group.rows.iter() {
                if look.sample.is_none_or(|sample| sample.has_row(row)) {
                    group_of[row as usize] = g as u32;
                }
            }
        }
        let mut walk = Walk::new(groups, above, look)?;
        let records = look.domain.records;
        let mut own = vec![0; records];
        for at in 0..records.div_ceil(64) {
            look.observer.go_on()?;
            let looked = look.sample.map_or(u64::MAX, |sample| sample.word(at));
            for record in at * 64..records.min(at * 64 + 64) {
                if looked >> (record % 64) & 1 == 1 {
                    own[record] = walk.loss(record as u32, |row| group_of[row as usize]);
                }
            }
        }
        let total = own.iter().copied().map(u128::from).sum();
        let looked = look.sample.map_or(records, Sample::len);
        let above = above.map(<[_]>::to_vec);
        Ok(Losses { groups: groups.to_vec(), above, group_of, own, total, looked })
    }

    /// RPD here.
    pub(super) fn rpd(&self) -> f64 {
        mean(self.total, self.looked)
    }

    /// RPD of a cut that has some groups with this one in common.
    pub(super) fn rpd_of(
        &self,
        groups: &[Arc<Group>],
        above: Option<&[Vec<u64>]>,
        look: Look<'_>,
    ) -> Result<f64> {
        let Difference { now, groups: differ } = self.difference(groups, above);
        let mut touched = vec![0u64; self.own.len().div_ceil(64)];
        let mut moved = look.scratch.take(look.rows.len());
        for &g in &differ {
            look.observer.go_on()?;
            let mut touch = |row: u32| {
                let record = look.rows.record(row);
                touched[record as usize / 64] |= 1 << (record % 64);
                moved[row as usize] = g as u32;
            };
            match look.sample {
                None => groups[g].rows.iter().for_each(|&row| touch(row)),
                Some(sample) => {
                    groups[g].rows.iter().filter(|&&row| sample.has_row(row)).for_each(|&row| touch(row));
                }
            }
        }
        let mut walk = Walk::new(groups, above, look)?;
        let group_of = |row: u32| match now[self.group_of[row as usize] as usize] {
            NONE => moved[row as usize],
            group => group,
        };
        let mut total = self.total;
        for (at, &word) in touched.iter().enumerate() {
            if at % STRIDE == 0 {
                look.observer.go_on()?;
            }
            let mut rest = word;
            while rest != 0 {
                let record = at as u32 * 64 + rest.trailing_zeros();
                total += u128::from(walk.loss(record, group_of));
                total -= u128::from(self.own[record as usize]);
                rest &= rest - 1;
            }
        }
        look.scratch.put_back(moved);
        Ok(mean(total, self.looked))
    }

    /// Both lists are in the order of paths, so equal groups are met side by side.
    fn difference(&self, groups: &[Arc<Group>], above: Option<&[Vec<u64>]>) -> Difference {
        let mut now = vec![NONE; self.groups.len()];
        let mut differ = Vec::new();
        let mut old = 0;
        for (g, group) in groups.iter().enumerate() {
            while old < self.groups.len() && self.groups[old].path < group.path {
                old += 1;
            }
            let is_same = old < self.groups.len() && Arc::ptr_eq(&self.groups[old], group);
            if is_same {
                now[old] = g as u32;
            }
            let mask =
                |all: Option<&[Vec<u64>]>, at: usize, j: usize| all.map_or((1 << j) - 1, |all| all[at][j]);
            let is_changed = |j: usize| mask(self.above.as_deref(), old, j) != mask(above, g, j);
            let has_rules = self.above.is_some() || above.is_some();
            if !is_same || (has_rules && (0..group.path.len()).any(is_changed)) {
                differ.push(g);
            }
        }
        Difference { now, groups: differ }
    }
}

/// How groups differ from others.
struct Difference {
    /// Per group of before its number now, if it is still there.
    now: Vec<u32>,
    /// The groups that were not there before, or had other values above their own.
    groups: Vec<usize>,
}

fn mean(total: u128, records: usize) -> f64 {
    total as f64 / UNIT / records as f64
}

/// Looks at records one by one.
struct Walk<'a> {
    placed: Placed,
    rows: &'a Rows,
    domain: &'a Domain<'a>,
    /// Per node the loss of a path that ends there.
    value: Vec<u64>,
    has_children: Vec<bool>,
    ends: Ends,
    /// Stamps of the record that has a node, and of the record in which it has something below.
    has: Vec<u32>,
    inner: Vec<u32>,
    own: Vec<u32>,
}

impl<'a> Walk<'a> {
    fn new(groups: &[Arc<Group>], above: Option<&[Vec<u64>]>, look: Look<'a>) -> Result<Self> {
        let Look { rows, domain, observer, .. } = look;
        let placed = Placed::new(groups, above, domain, observer)?;
        let nodes = placed.len();
        let mut value = vec![1.0; nodes];
        let mut has_children = vec![false; nodes];
        // Parents are numbered before their children.
        for node in 0..nodes as u32 {
            let above = placed.parent(node).map_or(1.0, |parent| value[parent as usize]);
            value[node as usize] = above / placed.factor(node, domain);
            placed.parent(node).into_iter().for_each(|parent| has_children[parent as usize] = true);
        }
        let value = value.iter().map(|v| (v * UNIT) as u64).collect();
        let ends = Ends::new(&placed, groups, observer)?;
        let (has, inner) = (vec![NONE; nodes], vec![NONE; nodes]);
        Ok(Walk { placed, rows, domain, value, has_children, ends, has, inner, own: Vec::new() })
    }

    /// What a record loses whose rows are in some groups.
    fn loss(&mut self, record: u32, group_of: impl Fn(u32) -> u32) -> u64 {
        self.own.clear();
        let mut some_inner = false;
        for row in self.rows.of(record) {
            let ends = self.ends.of(group_of(row) as usize);
            // The nodes of what is left out come first, by level.
            let left_out = if ends.is_empty() { [self.rows.level(row, self.domain) as u32] } else { [NONE] };
            for &node in if ends.is_empty() { &left_out } else { ends } {
                if self.has[node as usize] == record {
                    continue;
                }
                self.has[node as usize] = record;
                self.own.push(node);
                some_inner |= self.has_children[node as usize];
            }
        }
        if some_inner {
            for &node in &self.own {
                let mut above = self.placed.parent(node);
                while let Some(node) = above.filter(|&node| self.inner[node as usize] != record) {
                    self.inner[node as usize] = record;
                    above = self.placed.parent(node);
                }
            }
            self.own.retain(|&node| self.inner[node as usize] != record);
        }
        if self.own.is_empty() {
            return UNIT as u64;
        }
        let sum: u128 = self.own.iter().map(|&node| u128::from(self.value[node as usize])).sum();
        // Most sums are small, and small ones are divided much faster.
        match u64::try_from(sum) {
            Ok(sum) => sum / self.own.len() as u64,
            Err(_) => (sum / self.own.len() as u128) as u64,
        }
    }
}

/// Per group the nodes that rows end in: those of its nodes that are above none of its others.
struct Ends {
    first: Vec<usize>,
    nodes: Vec<u32>,
}

impl Ends {
    fn new(placed: &Placed, groups: &[Arc<Group>], observer: &dyn Observer) -> Result<Self> {
        let mut ends = Ends { first: vec![0], nodes: Vec::new() };
        for g in 0..groups.len() {
            observer.go_on()?;
            let own = placed.of(g);
            let is_end = |node: &&u32| !own.iter().any(|other| placed.parent(*other) == Some(**node));
            ends.nodes.extend(own.iter().filter(is_end));
            ends.first.push(ends.nodes.len());
        }
        Ok(ends)
    }

    fn of(&self, group: usize) -> &[u32] {
        &self.nodes[self.first[group]..self.first[group + 1]]
    }
}
