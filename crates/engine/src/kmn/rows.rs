//! Records as rows: every path from a record's root to one of its leaves.
//!
//! Everything that the search asks is a question about paths: which records have this path, which have a above b.
//! A rule of disassociation rewrites paths one by one. So a record is kept as its rows, and a cut groups equal rows.
//!
//! Two records, A1 and A2 below A*, B1 and B2 below B*. The first has B1 and B2 below A1, the second B1 below A1, and A2.
//!
//! ```text
//! row         0       1       2       3
//! items       A1 B1   A1 B2   A1 B1   A2
//! record      0       0       1       1
//! column B    B1      B2      B1      –          made when B is first split by
//!
//! cut         groups: path, rows, records
//! nothing     []        0 1 2 3   0 1
//! A*          [A*]      0 1 2 3   0 1
//! A* B*       [A*]      3         1              [A* B*]   0 1 2   0 1
//! A1 A2 B*    [A1 B*]   0 1 2     0 1            [A2]      3       1
//! ```
//!
//! B* comes into the paths of the rows that have a value of B; A* is replaced only in the groups that hold it. How many
//! records have A1 above B* is read off the one group that has both: two.

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::value_tree::ValueTrees;

use super::domain::{Domain, Node};
use super::few::Few;
use super::problem::Problem;

/// The rows of all records, record after record.
pub(super) struct Rows {
    first: Vec<u32>,
    items: Vec<u32>,
    record: Arc<Vec<u32>>,
    /// Per record its first row, and the end of the last.
    first_row: Vec<u32>,
    /// Per attribute the item of each row, made when it is first asked for: splitting by an attribute then reads one
    /// number per row instead of the whole row.
    columns: Vec<OnceLock<Vec<u32>>>,
}

/// The item of a row that lacks the attribute.
const ABSENT: u32 = u32::MAX;

/// Rows that are gone through before somebody asks whether to go on.
pub(super) const STRIDE: usize = 1 << 12;

impl Rows {
    pub(super) fn new(trees: &ValueTrees, levels: usize, observer: &dyn Observer) -> Result<Self> {
        let columns = (0..levels).map(|_| OnceLock::new()).collect();
        let mut rows =
            Rows { first: vec![0], items: Vec::new(), record: Arc::default(), first_row: vec![0], columns };
        let (mut path, mut record_of) = (Vec::new(), Vec::new());
        for record in 0..trees.len() {
            observer.go_on()?;
            for leaf in trees.nodes(record).filter(|&n| trees.end(n) == n + 1) {
                path.clear();
                let mut at = Some(leaf);
                while let Some(node) = at {
                    path.push(trees.item(node));
                    at = trees.parent(node);
                }
                rows.items.extend(path.iter().rev());
                rows.first.push(rows.items.len() as u32);
                record_of.push(record as u32);
            }
            rows.first_row.push(record_of.len() as u32);
        }
        rows.record = Arc::new(record_of);
        Ok(rows)
    }

    pub(super) fn len(&self) -> usize {
        self.record.len()
    }

    pub(super) fn items(&self, row: u32) -> &[u32] {
        &self.items[self.first[row as usize] as usize..self.first[row as usize + 1] as usize]
    }

    fn column(&self, level: usize, domain: &Domain<'_>, observer: &dyn Observer) -> Result<&[u32]> {
        if let Some(column) = self.columns[level].get() {
            return Ok(column);
        }
        let item = |row| self.items(row).iter().copied().find(|&i| domain.level_of_item(i) == level);
        let mut column = Vec::with_capacity(self.len());
        for row in 0..self.len() as u32 {
            if row.is_multiple_of(STRIDE as u32) {
                observer.go_on()?;
            }
            column.push(item(row).unwrap_or(ABSENT));
        }
        // Another thread may have been faster; its column is the same.
        Ok(self.columns[level].get_or_init(|| column))
    }

    /// How many related pairs all rows have together.
    pub(super) fn pairs(&self) -> u64 {
        self.first.windows(2).map(|w| u64::from(w[1] - w[0])).map(|n| n * n.saturating_sub(1) / 2).sum()
    }

    /// The attribute that the row starts with.
    pub(super) fn level(&self, row: u32, domain: &Domain<'_>) -> usize {
        domain.level_of_item(self.items(row)[0])
    }

    pub(super) fn record(&self, row: u32) -> u32 {
        self.record[row as usize]
    }

    /// The rows of a record.
    pub(super) fn of(&self, record: u32) -> std::ops::Range<u32> {
        self.first_row[record as usize]..self.first_row[record as usize + 1]
    }
}

/// Rows that are equal at a cut.
#[derive(Debug)]
pub(super) struct Group {
    /// The nodes of the cut on the way down; empty if nothing of the rows is published.
    pub(super) path: Path,
    /// The rows, ascending.
    pub(super) rows: Few<FEW>,
    /// Their records, ascending, each once; of many rows made when first asked for, since many groups are never asked.
    records: OnceLock<Few<FEW>>,
    /// Per row its record, where it may be asked for.
    record_of: Option<Arc<Vec<u32>>>,
    /// How the group falls apart by the changes that were asked for. Most groups of a cut are groups of the next one too,
    /// and the same changes are tried there again.
    splits: Mutex<Vec<(Arc<Change>, Parts)>>,
}

/// Nodes on the way down: few records are deeper than seven levels.
type Path = Few<7>;

/// Rows of a group that need no room of their own.
const FEW: usize = 5;

/// What a group falls apart into.
#[derive(Clone, Debug)]
enum Parts {
    /// It stays as it is.
    None,
    One(Arc<Group>),
    Several(Arc<[Arc<Group>]>),
}

impl Deref for Parts {
    type Target = [Arc<Group>];

    fn deref(&self) -> &[Arc<Group>] {
        match self {
            Parts::None => &[],
            Parts::One(part) => std::slice::from_ref(part),
            Parts::Several(parts) => parts,
        }
    }
}

impl Group {
    pub(super) fn new(path: Vec<Node>, group_rows: Vec<u32>, rows: &Rows) -> Self {
        Group::of(path.into(), group_rows.into(), rows)
    }

    fn of(path: Path, group_rows: Few<FEW>, rows: &Rows) -> Self {
        let (records, mut record_of) = (OnceLock::new(), None);
        if group_rows.len() <= FEW {
            let mut last = None;
            let own = group_rows.iter().map(|&row| rows.record(row));
            records.get_or_init(|| Few::here(own.filter(|&record| last.replace(record) != Some(record))));
        } else {
            record_of = Some(Arc::clone(&rows.record));
        }
        Group { path, rows: group_rows, records, record_of, splits: Mutex::default() }
    }

    /// The records of its rows, ascending, each once.
    pub(super) fn records(&self) -> &[u32] {
        self.records.get_or_init(|| {
            let Some(record_of) = &self.record_of else { return Vec::new().into() };
            let mut records = Vec::with_capacity(self.rows.len());
            for &row in self.rows.iter() {
                let record = record_of[row as usize];
                if records.last() != Some(&record) {
                    records.push(record);
                }
            }
            records.into()
        })
    }
}

/// How one attribute's part of a cut changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) level: usize,
    /// The node that is replaced; none if the attribute was not published.
    pub(super) old: Option<Node>,
    /// What comes into the cut; values below none of these are left out.
    pub(super) new: Vec<Node>,
}

/// The groups after some changes, by their paths.
pub(super) fn split(
    groups: &[Arc<Group>],
    changes: &[Change],
    rows: &Rows,
    domain: &Domain<'_>,
    memo: bool,
    observer: &dyn Observer,
) -> Result<Vec<Arc<Group>>> {
    let mut all = groups.to_vec();
    for change in changes {
        let splitter = Splitter::new(change, rows, domain, observer)?;
        let (mut same, mut parts) = (Vec::with_capacity(all.len()), Vec::new());
        let mut shorter = false;
        for group in all {
            let own = splitter.split(&group, memo)?;
            if own.is_empty() {
                same.push(group);
            } else {
                shorter |= own.iter().any(|part| part.path.len() < group.path.len());
                parts.extend(own.iter().cloned());
            }
        }
        parts.sort_by(|a, b| a.path.cmp(&b.path));
        all = merge(same, parts);
        if shorter {
            all = unite(all, rows, observer)?;
        }
    }
    Ok(all)
}

/// A part of a group.
pub(super) struct Part {
    pub(super) group: Arc<Group>,
    /// The number of the whole group, and the position of the node that was replaced.
    pub(super) from: (u32, u32),
}

/// The parts of some groups after a change, by their paths. A group is given by its number and the position of the node that
/// is replaced.
pub(super) fn split_some(
    groups: &[Arc<Group>],
    some: &[(u32, u32)],
    change: &Change,
    problem: &Problem<'_>,
) -> Result<Vec<Part>> {
    let splitter = Splitter::new(change, &problem.rows, &problem.domain, problem.observer)?;
    let mut parts = Vec::new();
    for &from in some {
        let own = splitter.split(&groups[from.0 as usize], problem.shortcuts.memo)?;
        parts.extend(own.iter().map(|group| Part { group: Arc::clone(group), from }));
    }
    parts.sort_by(|a, b| a.group.path.cmp(&b.group.path));
    Ok(parts)
}

/// Groups with the parts of some of them in their place; all are in the order of their paths.
pub(super) fn replace(groups: &[Arc<Group>], gone: &[(u32, u32)], parts: &[Arc<Group>]) -> Vec<Arc<Group>> {
    let mut same = Vec::with_capacity(groups.len());
    let mut from = 0;
    for &(group, _) in gone {
        same.extend_from_slice(&groups[from..group as usize]);
        from = group as usize + 1;
    }
    same.extend_from_slice(&groups[from..]);
    merge(same, parts.to_vec())
}

/// Two lists of groups in the order of their paths as one. The second is short, so its places are looked up.
fn merge(many: Vec<Arc<Group>>, few: Vec<Arc<Group>>) -> Vec<Arc<Group>> {
    let mut all = Vec::with_capacity(many.len() + few.len());
    let mut many = many.into_iter();
    for group in few {
        let place = many.as_slice().partition_point(|other| other.path <= group.path);
        all.extend(many.by_ref().take(place));
        all.push(group);
    }
    all.extend(many);
    all
}

/// Groups whose paths have become equal, because what told them apart is left out, are one.
fn unite(groups: Vec<Arc<Group>>, rows: &Rows, observer: &dyn Observer) -> Result<Vec<Arc<Group>>> {
    if groups.windows(2).all(|w| w[0].path != w[1].path) {
        return Ok(groups);
    }
    (groups.chunk_by(|a, b| a.path == b.path))
        .map(|same| match same {
            [one] => Ok(Arc::clone(one)),
            _ => {
                observer.go_on()?;
                let mut all: Vec<u32> = same.iter().flat_map(|g| g.rows.iter().copied()).collect();
                all.sort_unstable();
                Ok(Arc::new(Group::of(same[0].path.clone(), all.into(), rows)))
            }
        })
        .collect()
}

struct Splitter<'a> {
    change: Arc<Change>,
    rows: &'a Rows,
    domain: &'a Domain<'a>,
    column: &'a [u32],
    /// Per item which of the new nodes is above it; their number if none is.
    part_of: Vec<u32>,
    observer: &'a dyn Observer,
}

impl<'a> Splitter<'a> {
    fn new(
        change: &Change,
        rows: &'a Rows,
        domain: &'a Domain<'a>,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let nodes = &change.new;
        let part_of = (domain.assign(change.level, nodes).iter())
            .map(|node| node.map_or(nodes.len(), |n| nodes.partition_point(|&m| m < n)) as u32)
            .collect();
        let column = rows.column(change.level, domain, observer)?;
        Ok(Splitter { change: Arc::new(change.clone()), rows, domain, column, part_of, observer })
    }

    /// The parts of a group; none if it stays as it is.
    fn split(&self, group: &Group, memo: bool) -> Result<Parts> {
        if self.change.old.is_some_and(|old| !group.path.contains(&old)) {
            return Ok(Parts::None);
        }
        if !memo {
            return self.parts(group);
        }
        let known = |splits: &[(Arc<Change>, Parts)]| {
            splits.iter().find(|(change, _)| *change == self.change).map(|(_, parts)| parts.clone())
        };
        if let Some(parts) = known(&group.splits.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(parts);
        }
        let parts = self.parts(group)?;
        let mut splits = group.splits.lock().unwrap_or_else(PoisonError::into_inner);
        if known(&splits).is_none() {
            splits.reserve_exact(1);
            splits.push((Arc::clone(&self.change), parts.clone()));
        }
        Ok(parts)
    }

    /// The number of the part that a row belongs to.
    fn part_of(&self, row: u32) -> u32 {
        let without = self.change.new.len() as u32;
        self.part_of.get(self.column[row as usize] as usize).copied().unwrap_or(without)
    }

    fn parts(&self, group: &Group) -> Result<Parts> {
        let nodes = &self.change.new;
        if group.rows.len() <= FEW {
            return Ok(self.few_parts(group));
        }
        // Parts are counted first: lists that grow are copied again and again.
        let mut part_of: Vec<u32> = Vec::with_capacity(group.rows.len());
        let mut sizes = vec![0usize; nodes.len() + 1];
        for some in group.rows.chunks(STRIDE) {
            self.observer.go_on()?;
            for &row in some {
                let part = self.part_of(row);
                sizes[part as usize] += 1;
                part_of.push(part);
            }
        }
        // A group without the attribute stays as it is.
        if self.change.old.is_none() && sizes[nodes.len()] == group.rows.len() {
            return Ok(Parts::None);
        }
        let mut parts: Vec<Vec<u32>> = sizes.into_iter().map(Vec::with_capacity).collect();
        for (&row, &part) in group.rows.iter().zip(&part_of) {
            parts[part as usize].push(row);
        }
        let parts = parts.into_iter().enumerate().filter(|(_, own)| !own.is_empty());
        Ok(Parts::Several(parts.map(|(part, own)| self.part(group, part, own.into())).collect()))
    }

    /// The same of few rows.
    fn few_parts(&self, group: &Group) -> Parts {
        let part_of = Few::<FEW>::here(group.rows.iter().map(|&row| self.part_of(row)));
        let without = self.change.new.len() as u32;
        if self.change.old.is_none() && part_of.iter().all(|&part| part == without) {
            return Parts::None;
        }
        let of = |part: u32| {
            let own = group.rows.iter().zip(part_of.iter()).filter(|(_, own)| **own == part);
            self.part(group, part as usize, Few::here(own.map(|(&row, _)| row)))
        };
        match &*part_of {
            [first, rest @ ..] if rest.iter().all(|part| part == first) => Parts::One(of(*first)),
            _ => {
                let mut all = part_of.to_vec();
                all.sort_unstable();
                all.dedup();
                Parts::Several(all.into_iter().map(of).collect())
            }
        }
    }

    /// Some rows of a group that are below one of the new nodes, or below none.
    fn part(&self, group: &Group, part: usize, own: Few<FEW>) -> Arc<Group> {
        let path = self.path(&group.path, self.change.new.get(part).copied(), self.rows.items(own[0]));
        Arc::new(Group::of(path, own, self.rows))
    }

    /// The path with the new node in it, or without the old one.
    fn path(&self, path: &Path, node: Option<Node>, items: &[u32]) -> Path {
        let Some(old) = self.change.old else {
            let mut path = path.to_vec();
            if let Some(node) = node {
                // The row tells which published attributes stand above the new one.
                let before = items.iter().take_while(|&&i| self.domain.level_of_item(i) != self.change.level);
                let published =
                    |i: u32| path.iter().any(|&n| self.domain.level_of(n) == self.domain.level_of_item(i));
                path.insert(before.filter(|&&i| published(i)).count(), node);
            }
            return path.into();
        };
        let nodes = path.iter().filter_map(|&n| if n == old { node } else { Some(n) });
        match path {
            Few::Here(..) => Few::here(nodes),
            Few::There(_) => nodes.collect::<Vec<Node>>().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;
    use bosket_testkit::fixtures::{bound, hierarchy, value_trees};
    use bosket_testkit::trees;

    use super::*;
    use crate::kmn::domain::Wishes;

    #[test]
    fn the_example_of_the_head() {
        let path = |path: &str| path.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let data = trees::dataset(&[vec![path("A1 B1"), path("A1 B2")], vec![path("A1 B1"), path("A2")]]);
        let attributes = &trees::ATTRIBUTES[..trees::ATTRIBUTES.rfind("[[").expect("three attributes")];
        let values = value_trees(&data, &bound(&data, attributes).1);
        let hierarchies = ["A1;*\nA2;*\n", "B1;*\nB2;*\n"].map(|text| Some(hierarchy(text)));
        let wishes =
            Wishes { weights: &[1.0; 2], shared: &[0, 1], negative: &[], homes: None, lost: &[], all: None };
        let domain = Domain::new(&values, &hierarchies, &wishes, &Quiet).expect("nobody interrupts");
        let rows = Rows::new(&values, 2, &Quiet).expect("nobody interrupts");
        assert_eq!(
            (rows.first.as_slice(), rows.record.as_slice()),
            (&[0, 2, 4, 6, 7][..], &[0, 0, 1, 1][..])
        );
        let (a, b) = (domain.levels[0].root, domain.levels[1].root);
        let all = vec![Arc::new(Group::new(Vec::new(), vec![0, 1, 2, 3], &rows))];
        let next = |groups: &[Arc<Group>], level, old, new: &[Node]| {
            let changes = [Change { level, old, new: new.to_vec() }];
            split(groups, &changes, &rows, &domain, true, &Quiet).expect("nobody interrupts")
        };
        let seen = |groups: &[Arc<Group>]| -> Vec<(Vec<Node>, Vec<u32>, Vec<u32>)> {
            groups.iter().map(|g| (g.path.to_vec(), g.rows.to_vec(), g.records().to_vec())).collect()
        };
        let with_a = next(&all, 0, None, &[a]);
        assert_eq!(seen(&with_a), [(vec![a], vec![0, 1, 2, 3], vec![0, 1])]);
        let with_b = next(&with_a, 1, None, &[b]);
        assert_eq!(seen(&with_b), [(vec![a], vec![3], vec![1]), (vec![a, b], vec![0, 1, 2], vec![0, 1])]);
        let finer = next(&with_b, 0, Some(a), &[a + 1, a + 2]);
        assert_eq!(
            seen(&finer),
            [(vec![a + 1, b], vec![0, 1, 2], vec![0, 1]), (vec![a + 2], vec![3], vec![1])]
        );
    }
}
