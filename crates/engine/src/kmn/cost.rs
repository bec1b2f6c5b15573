//! The loss of a repaired cut: RPD_a on the synopsis, RPD on the records.
//!
//! A row of which nothing is published counts as a path of one value that says nothing, as if its first attribute were
//! published as `*`. Without that, leaving out shallow attributes would lower the mean over paths, and a publication
//! would look the better the more of it is missing.

use rustc_hash::FxHashMap;

use super::domain::{Domain, Node};
use super::rows::{Group, Rows};

/// All paths of a cut laid over each other.
struct Synopsis {
    parent: Vec<u32>,
    item: Vec<Node>,
    depth: Vec<u32>,
    known: FxHashMap<(u32, Node), u32>,
}

const ROOT: u32 = u32::MAX;

impl Synopsis {
    fn new() -> Self {
        Synopsis { parent: Vec::new(), item: Vec::new(), depth: Vec::new(), known: FxHashMap::default() }
    }

    fn child(&mut self, parent: u32, item: Node) -> u32 {
        *self.known.entry((parent, item)).or_insert_with(|| {
            let depth = if parent == ROOT { 1 } else { self.depth[parent as usize] + 1 };
            self.parent.push(parent);
            self.item.push(item);
            self.depth.push(depth);
            self.item.len() as u32 - 1
        })
    }

    fn len(&self) -> usize {
        self.item.len()
    }
}

/// What stands for the attribute of a row of which nothing is published.
fn left_out(level: usize) -> Node {
    Node::MAX - level as Node
}

fn factor(domain: &Domain<'_>, item: Node, depth: u32) -> f64 {
    if item > Node::MAX - domain.levels.len() as Node { 1.0 } else { domain.factor(item, depth as usize) }
}

/// The synopsis nodes that the positions of a group's path end at.
fn place(synopsis: &mut Synopsis, path: &[Node], above: Option<&[u64]>, out: &mut Vec<u32>) {
    out.clear();
    for (j, &item) in path.iter().enumerate() {
        let node = match above {
            None => synopsis.child(out.last().copied().unwrap_or(ROOT), item),
            Some(above) => {
                let mut parent = ROOT;
                for (i, &node) in path[..j].iter().enumerate() {
                    if above[j] >> i & 1 == 1 {
                        parent = synopsis.child(parent, node);
                    }
                }
                synopsis.child(parent, item)
            }
        };
        out.push(node);
    }
}

/// A synopsis with the records of each node counted.
pub(super) struct Counted {
    synopsis: Synopsis,
    support: Vec<u32>,
    /// Per group the nodes of its positions, group after group.
    nodes: Vec<u32>,
    first: Vec<usize>,
}

/// Supports that are known already.
#[derive(Clone, Copy)]
pub(super) enum Reuse<'a> {
    /// None.
    Nothing,
    /// Those of the cut above, of which one node was specialised: a path without the new nodes has the same records.
    Above(&'a Counted),
    /// Those of the same cut without rules: a node made of all groups of an unrepaired one has the same records.
    Unrepaired(&'a Counted),
}

impl Counted {
    pub(super) fn new(
        groups: &[Group],
        above: Option<&[Vec<u64>]>,
        rows: &Rows,
        domain: &Domain<'_>,
        reuse: Reuse<'_>,
    ) -> Self {
        let mut synopsis = Synopsis::new();
        let (mut nodes, mut first, mut placed) = (Vec::new(), vec![0], Vec::new());
        for level in 0..domain.levels.len() {
            synopsis.child(ROOT, left_out(level));
        }
        for (g, group) in groups.iter().enumerate() {
            place(&mut synopsis, &group.path, above.map(|a| a[g].as_slice()), &mut placed);
            nodes.extend_from_slice(&placed);
            first.push(nodes.len());
        }
        let mut counted = Counted { support: vec![0; synopsis.len()], synopsis, nodes, first };
        counted.count(groups, rows, domain, reuse);
        match reuse {
            Reuse::Above(base) | Reuse::Unrepaired(base) => {
                let levels = domain.levels.len();
                counted.support[..levels].copy_from_slice(&base.support[..levels]);
            }
            Reuse::Nothing => counted.count_left_out(groups, rows, domain),
        }
        counted
    }

    fn count(&mut self, groups: &[Group], rows: &Rows, domain: &Domain<'_>, reuse: Reuse<'_>) {
        // Node after node, so that one stamp per record tells whether it was counted.
        let mut by_node: Vec<(u32, u32, u32)> = Vec::with_capacity(self.nodes.len());
        for g in 0..groups.len() {
            let own = self.nodes[self.first[g]..self.first[g + 1]].iter().enumerate();
            by_node.extend(own.map(|(j, &n)| (n, g as u32, j as u32)));
        }
        by_node.sort_unstable();
        let bases = self.bases(reuse);
        let mut groups_at = Vec::new();
        if let Reuse::Unrepaired(base) = reuse {
            groups_at = vec![0u32; base.synopsis.len()];
            base.nodes.iter().for_each(|&n| groups_at[n as usize] += 1);
        }
        let mut stamp = vec![ROOT; domain.records];
        for run in by_node.chunk_by(|a, b| a.0 == b.0) {
            let node = run[0].0;
            let known = match reuse {
                Reuse::Nothing => None,
                Reuse::Above(base) => bases[node as usize].map(|b| base.support[b as usize]),
                Reuse::Unrepaired(base) => {
                    let of = |&(_, g, j): &(u32, u32, u32)| base.nodes[base.first[g as usize] + j as usize];
                    let same = of(&run[0]);
                    let all =
                        run.len() == groups_at[same as usize] as usize && run.iter().all(|c| of(c) == same);
                    all.then(|| base.support[same as usize])
                }
            };
            self.support[node as usize] = known.unwrap_or_else(|| {
                let mut support = 0;
                for &(_, g, _) in run {
                    for &row in groups[g as usize].rows.iter() {
                        let record = rows.record(row) as usize;
                        if stamp[record] != node {
                            stamp[record] = node;
                            support += 1;
                        }
                    }
                }
                support
            });
        }
    }

    /// Per node the one with the same path in the synopsis above.
    fn bases(&self, reuse: Reuse<'_>) -> Vec<Option<u32>> {
        let Reuse::Above(base) = reuse else {
            return Vec::new();
        };
        let mut bases: Vec<Option<u32>> = Vec::with_capacity(self.synopsis.len());
        for node in 0..self.synopsis.len() {
            let parent = match self.synopsis.parent[node] {
                ROOT => Some(ROOT),
                parent => bases[parent as usize],
            };
            bases.push(parent.and_then(|p| base.synopsis.known.get(&(p, self.synopsis.item[node])).copied()));
        }
        bases
    }

    fn count_left_out(&mut self, groups: &[Group], rows: &Rows, domain: &Domain<'_>) {
        // Rows of one record follow each other, so its last stamp per attribute tells enough.
        let mut last = vec![ROOT; domain.levels.len()];
        for &row in groups.iter().filter(|g| g.path.is_empty()).flat_map(|g| g.rows.iter()) {
            let level = rows.level(row, domain);
            if last[level] != rows.record(row) {
                last[level] = rows.record(row);
                self.support[level] += 1;
            }
        }
    }

    /// RPD_a: Σ support / ∏ (depth · width) per path from the root to a leaf, mean over the leaves, divided by the nodes.
    pub(super) fn rpd_a(&self, domain: &Domain<'_>) -> f64 {
        let n = self.synopsis.len();
        let mut leaf: Vec<bool> = self.support.iter().map(|&s| s > 0).collect();
        let nodes = leaf.iter().filter(|l| **l).count();
        let mut sum = vec![0.0; n];
        let mut product = vec![1.0; n];
        // Parents are numbered before their children.
        for node in 0..n {
            let (above_sum, above_product) = match self.synopsis.parent[node] {
                ROOT => (0.0, 1.0),
                parent => {
                    leaf[parent as usize] = false;
                    (sum[parent as usize], product[parent as usize])
                }
            };
            sum[node] = above_sum + f64::from(self.support[node]);
            product[node] =
                above_product * factor(domain, self.synopsis.item[node], self.synopsis.depth[node]);
        }
        let leaves = leaf.iter().filter(|l| **l).count();
        let total: f64 = (0..n).filter(|&i| leaf[i]).map(|i| sum[i] / product[i]).sum();
        total / leaves as f64 / nodes as f64
    }

    /// RPD: 1 / ∏ (depth · width) per path from a record's root to one of its leaves; mean over the leaves of a
    /// record, then over the records. A record without any value counts 1, the worst there is.
    pub(super) fn rpd(&self, groups: &[Group], rows: &Rows, domain: &Domain<'_>) -> f64 {
        let n = self.synopsis.len();
        let mut value = vec![1.0; n];
        for node in 0..n {
            let above = match self.synopsis.parent[node] {
                ROOT => 1.0,
                parent => value[parent as usize],
            };
            value[node] = above / factor(domain, self.synopsis.item[node], self.synopsis.depth[node]);
        }
        let mut group_of = vec![ROOT; rows.len()];
        for (g, group) in groups.iter().enumerate() {
            for &row in group.rows.iter() {
                group_of[row as usize] = g as u32;
            }
        }
        // How many records have a node as one of so many leaves: added up in the order of nodes, the sum does not depend
        // on the order of records, not even in its last bit.
        let mut as_leaf: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        // Stamps of the record that has a node, and of the record in which it has something below.
        let mut has = vec![ROOT; n];
        let mut inner = vec![ROOT; n];
        let mut own: Vec<u32> = Vec::new();
        let mut row = 0;
        let mut seen = 0;
        while row < rows.len() {
            let record = rows.record(row as u32);
            own.clear();
            while row < rows.len() && rows.record(row as u32) == record {
                let g = group_of[row] as usize;
                // The nodes of what is left out come first, by level.
                let left_out = [rows.level(row as u32, domain) as u32];
                let placed = &self.nodes[self.first[g]..self.first[g + 1]];
                for &node in if placed.is_empty() { &left_out } else { placed } {
                    if has[node as usize] != record {
                        has[node as usize] = record;
                        own.push(node);
                        if let Some(below) = inner.get_mut(self.synopsis.parent[node as usize] as usize) {
                            *below = record;
                        }
                    }
                }
                row += 1;
            }
            own.retain(|&n| inner[n as usize] != record);
            for &node in &own {
                *as_leaf.entry((node, own.len() as u32)).or_default() += 1;
            }
            seen += 1;
        }
        let mut as_leaf: Vec<((u32, u32), u32)> = as_leaf.into_iter().collect();
        as_leaf.sort_unstable();
        let total: f64 = (as_leaf.iter())
            .map(|&((node, leaves), records)| value[node as usize] * f64::from(records) / f64::from(leaves))
            .sum();
        (total + (domain.records - seen) as f64) / domain.records as f64
    }
}

/// The share of related pairs of the input that a cut and its rules take away, counted per row.
pub(super) fn relations_lost(groups: &[Group], above: Option<&[Vec<u64>]>, rows: &Rows) -> f64 {
    let kept: u64 = (groups.iter().enumerate())
        .map(|(g, group)| {
            let pairs: u64 = match above {
                None => (group.path.len() * group.path.len().saturating_sub(1) / 2) as u64,
                Some(above) => {
                    above[g][..group.path.len()].iter().map(|mask| u64::from(mask.count_ones())).sum()
                }
            };
            pairs * group.rows.len() as u64
        })
        .sum();
    if rows.pairs() == 0 { 0.0 } else { 1.0 - kept as f64 / rows.pairs() as f64 }
}
