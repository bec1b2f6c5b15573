//! `bitmap`: the single-table baseline. Every vertex that occurs is a column of one wide table, and a cluster keeps the
//! columns that all its members have. Hierarchies serve only the values of the record itself.
//!
//! In incomplete data nothing follows from a column that a record does not have. In complete data it is known to be
//! absent; where members differ, both kinds of knowledge are lost.

use rustc_hash::FxHashMap;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::miracle::Stream;
use crate::cluster::Clustering;
use crate::cluster::forest::Forest;
use crate::cluster::params::Absent;
use crate::cluster::rep::Rep;
use crate::cluster::search::Search;

/// The columns of all records: per record its columns with their vertices, in the order of columns.
struct Columns {
    of_record: Vec<Vec<(u32, u32)>>,
    /// Per column the cost of giving it up.
    own: Vec<i64>,
    /// Per column the one above it; none below the root.
    above: Vec<Option<u32>>,
}

impl Columns {
    fn new(forest: &Forest, observer: &dyn Observer) -> Result<Self> {
        let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut columns = Columns { of_record: Vec::new(), own: Vec::new(), above: Vec::new() };
        for &root in &forest.roots {
            observer.go_on()?;
            let mut own = Vec::new();
            columns.walk(forest, root, None, &mut numbers, &mut own);
            own.sort_unstable();
            columns.of_record.push(own);
        }
        Ok(columns)
    }

    fn walk(
        &mut self,
        forest: &Forest,
        vertex: u32,
        above: Option<u32>,
        numbers: &mut FxHashMap<Vec<u32>, u32>,
        own: &mut Vec<(u32, u32)>,
    ) {
        let mut seen: Vec<Vec<u32>> = Vec::new();
        for &kid in forest.below(vertex) {
            let class = forest.vertex_class[kid as usize];
            let mut key = vec![above.map_or(u32::MAX, |a| a), class];
            key.extend_from_slice(forest.values(kid));
            // The second of equal siblings is another column.
            let again = seen.iter().filter(|s| **s == key).count() as u32;
            seen.push(key.clone());
            key.push(again);
            let next = self.own.len() as u32;
            let column = *numbers.entry(key).or_insert_with(|| {
                self.own.push(forest.classes[class as usize].own);
                self.above.push(above);
                next
            });
            own.push((column, kid));
            self.walk(forest, kid, Some(column), numbers, own);
        }
    }
}

/// A cluster as a row of the wide table.
struct Row {
    members: Vec<u32>,
    labels: Vec<u32>,
    /// Nodes of the record's own values.
    values: Vec<u32>,
    /// Columns that all members have.
    ones: Vec<u32>,
    /// Columns in which members differ.
    stars: Vec<u32>,
}

/// Puts records into clusters. What fits nowhere is left over.
pub(crate) fn bitmap(
    search: &Search<'_>,
    stream: Stream,
    absent: Absent,
    observer: &dyn Observer,
) -> Result<Clustering> {
    let forest = search.forest();
    let table = Table { search, columns: Columns::new(forest, observer)?, absent };
    observer.stage("clustering", forest.len() as u64);
    let mut open: Vec<Row> = Vec::new();
    let mut full: Vec<Row> = Vec::new();
    let mut found = Clustering::default();
    for record in 0..forest.len() as u32 {
        observer.go_on()?;
        observer.advance(1);
        let row = table.row(record);
        match table.nearest(&row, &open) {
            Some((distance, at)) if distance <= stream.th || open.len() >= stream.climit => {
                let merged = table.merge(&open[at], &row);
                open[at] = merged;
                if open[at].members.len() >= stream.size {
                    full.push(open.remove(at));
                }
            }
            _ if open.len() < stream.climit => open.push(row),
            _ => found.left.push(record),
        }
    }
    while !open.is_empty() {
        let mut row = open.remove(0);
        while row.members.len() < stream.size {
            observer.go_on()?;
            let Some((_, at)) = table.nearest(&row, &open) else { break };
            row = table.merge(&row, &open.remove(at));
        }
        if row.members.len() >= stream.size { full.push(row) } else { found.left.extend(row.members) }
    }
    for row in full {
        observer.go_on()?;
        let rep = table.rep(&row);
        found.add(forest, row.members, rep);
    }
    found.left.sort_unstable();
    Ok(found)
}

struct Table<'s, 'a> {
    search: &'s Search<'a>,
    columns: Columns,
    absent: Absent,
}

impl Table<'_, '_> {
    fn row(&self, record: u32) -> Row {
        let forest = self.search.forest();
        let root = forest.roots[record as usize];
        Row {
            members: vec![record],
            labels: forest.secrets.labels(forest.secret[root as usize]).to_vec(),
            values: forest.values(root).to_vec(),
            ones: self.columns.of_record[record as usize].iter().map(|c| c.0).collect(),
            stars: Vec::new(),
        }
    }

    /// The row that costs least per value to be merged with, with that cost.
    fn nearest(&self, row: &Row, others: &[Row]) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for (at, other) in others.iter().enumerate() {
            if self.search.joiner.clash(0, &other.labels, &row.labels) {
                continue;
            }
            let distance = self.distance(other, row);
            if best.is_none_or(|(nearest, _)| distance < nearest) {
                best = Some((distance, at));
            }
        }
        best
    }

    fn distance(&self, a: &Row, b: &Row) -> f64 {
        let forest = self.search.forest();
        let (wa, wb) = (a.members.len() as i64, b.members.len() as i64);
        let quasi = &forest.classes[0].quasi;
        let (mut cost, mut all) = (0, (wa + wb) * forest.classes[0].own);
        for (i, &(_, d)) in quasi.iter().enumerate() {
            let domain = &forest.domains[d];
            cost += (wa + wb) * domain.cost(domain.lca(a.values[i], b.values[i]));
        }
        let complete = self.absent == Absent::No;
        let mut columns: Vec<u32> = a.ones.iter().chain(&b.ones).copied().collect();
        if complete {
            columns.extend(a.stars.iter().chain(&b.stars));
        }
        columns.sort_unstable();
        columns.dedup();
        let has = |list: &[u32], column: u32| list.binary_search(&column).is_ok();
        for column in columns {
            let own = self.columns.own[column as usize];
            let (in_a, in_b) = (has(&a.ones, column), has(&b.ones, column));
            if complete {
                let (lost_a, lost_b) = (has(&a.stars, column), has(&b.stars, column));
                all += own * (wa + wb);
                if in_a != in_b || lost_a || lost_b {
                    cost += own * (if lost_a { 0 } else { wa } + if lost_b { 0 } else { wb });
                }
            } else {
                all += own * (if in_a { wa } else { 0 } + if in_b { wb } else { 0 });
                cost += if in_a && in_b { 0 } else { own * if in_a { wa } else { wb } };
            }
        }
        cost as f64 / all as f64
    }

    fn merge(&self, a: &Row, b: &Row) -> Row {
        let forest = self.search.forest();
        let quasi = &forest.classes[0].quasi;
        let both = |x: &[u32], y: &[u32]| [x, y].concat();
        let mut stars = both(&a.stars, &b.stars);
        stars.extend(a.ones.iter().filter(|c| b.ones.binary_search(c).is_err()));
        stars.extend(b.ones.iter().filter(|c| a.ones.binary_search(c).is_err()));
        stars.sort_unstable();
        stars.dedup();
        Row {
            members: both(&a.members, &b.members),
            labels: both(&a.labels, &b.labels),
            values: (0..quasi.len())
                .map(|i| forest.domains[quasi[i].1].lca(a.values[i], b.values[i]))
                .collect(),
            ones: a.ones.iter().copied().filter(|c| b.ones.binary_search(c).is_ok()).collect(),
            stars,
        }
    }

    /// The row as a tree.
    fn rep(&self, row: &Row) -> Rep {
        let forest = self.search.forest();
        let vertices = |column: Option<u32>| -> Vec<u32> {
            let of = |&r: &u32| match column {
                None => forest.roots[r as usize],
                Some(column) => {
                    let own = &self.columns.of_record[r as usize];
                    own[own.partition_point(|c| c.0 < column)].1
                }
            };
            row.members.iter().map(of).collect()
        };
        let mut rep = self.vertex(row, None, row.values.clone(), vertices(None), &vertices);
        rep.settle(forest);
        rep
    }

    fn vertex(
        &self,
        row: &Row,
        column: Option<u32>,
        values: Vec<u32>,
        from: Vec<u32>,
        vertices: &dyn Fn(Option<u32>) -> Vec<u32>,
    ) -> Rep {
        let forest = self.search.forest();
        let below = row.ones.iter().copied().filter(|&c| self.columns.above[c as usize] == column);
        let mut kids: Vec<Rep> = below
            .map(|c| {
                let own = vertices(Some(c));
                self.vertex(row, Some(c), forest.values(own[0]).to_vec(), own, vertices)
            })
            .collect();
        kids.sort_by_key(|k| k.class);
        let labels = from.iter().flat_map(|&v| forest.secrets.labels(forest.secret[v as usize]));
        Rep {
            class: forest.vertex_class[from[0] as usize],
            values,
            labels: labels.copied().collect(),
            from,
            loss: 0,
            prune: 0,
            kids,
        }
    }
}
