//! The loss of a repaired cut: the synopsis, RPD_a on it, and the share of relations. RPD is counted in `losses`.
//!
//! A row of which nothing is published counts as a path of one value that says nothing, as if its first attribute were
//! published as `*`. Without that, leaving out shallow attributes would lower the mean over paths, and a publication
//! would look the better the more of it is missing.

use std::sync::{Arc, OnceLock};

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::domain::{Domain, Node};
use super::rows::{Group, Part, Rows, STRIDE};
use super::set::Distinct;

/// All paths of a cut laid over each other.
#[derive(Default)]
struct Synopsis {
    parent: Vec<u32>,
    item: Vec<Node>,
    depth: Vec<u32>,
    /// Nodes by parent and item, made when first asked for.
    known: OnceLock<FxHashMap<(u32, Node), u32>>,
}

const ROOT: u32 = u32::MAX;

impl Synopsis {
    fn add(&mut self, parent: u32, item: Node) -> u32 {
        let depth = if parent == ROOT { 1 } else { self.depth[parent as usize] + 1 };
        self.parent.push(parent);
        self.item.push(item);
        self.depth.push(depth);
        self.item.len() as u32 - 1
    }

    fn known(&self) -> &FxHashMap<(u32, Node), u32> {
        self.known.get_or_init(|| {
            let all = self.parent.iter().zip(&self.item).enumerate();
            all.map(|(node, (&parent, &item))| ((parent, item), node as u32)).collect()
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

/// The synopsis of groups as they are, and the nodes that the positions of their paths end at. Groups are sorted by path, so
/// each shares the beginning of its path with the one before.
fn place(synopsis: &mut Synopsis, groups: &[Arc<Group>], observer: &dyn Observer) -> Result<Vec<u32>> {
    let mut nodes: Vec<u32> = Vec::new();
    let mut before: &[Node] = &[];
    for group in groups {
        observer.go_on()?;
        let path = &group.path;
        let shared = path.iter().zip(before).take_while(|(a, b)| a == b).count();
        let first = nodes.len() - before.len();
        nodes.extend_from_within(first..first + shared);
        for j in shared..path.len() {
            let parent = if j == 0 { ROOT } else { nodes[nodes.len() - 1] };
            nodes.push(synopsis.add(parent, path[j]));
        }
        before = path;
    }
    Ok(nodes)
}

/// The same after rules; `above` are the positions left above each.
fn place_repaired(
    synopsis: &mut Synopsis,
    groups: &[Arc<Group>],
    above: &[Vec<u64>],
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let mut known: FxHashMap<(u32, Node), u32> = FxHashMap::default();
    let mut nodes: Vec<u32> = Vec::new();
    let mut before: (&[Node], &[u64]) = (&[], &[]);
    for (group, above) in groups.iter().zip(above) {
        observer.go_on()?;
        let path = &group.path;
        // Where the beginning of a path is that of the one before, with the same left above, its nodes are the same.
        let alike = path.iter().zip(before.0).zip(above.iter().zip(before.1));
        let shared = alike.take_while(|((a, b), (c, d))| a == b && c == d).count();
        let first = nodes.len();
        nodes.extend_from_within(first - before.0.len()..first - before.0.len() + shared);
        before = (path, above);
        for (j, &item) in path.iter().enumerate().skip(shared) {
            // The lowest position above is the parent: it has all the others above it.
            let parent = match above[j] {
                0 => ROOT,
                mask => nodes[first + mask.ilog2() as usize],
            };
            nodes.push(*known.entry((parent, item)).or_insert_with(|| synopsis.add(parent, item)));
        }
    }
    Ok(nodes)
}

/// The paths of groups laid over each other.
pub(super) struct Placed {
    synopsis: Synopsis,
    /// Per group the nodes of its positions, group after group.
    nodes: Vec<u32>,
    first: Vec<usize>,
}

impl Placed {
    pub(super) fn new(
        groups: &[Arc<Group>],
        above: Option<&[Vec<u64>]>,
        domain: &Domain<'_>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut synopsis = Synopsis::default();
        for level in 0..domain.levels.len() {
            synopsis.add(ROOT, left_out(level));
        }
        let nodes = match above {
            None => place(&mut synopsis, groups, observer)?,
            Some(above) => place_repaired(&mut synopsis, groups, above, observer)?,
        };
        let mut first = vec![0];
        first.extend(groups.iter().scan(0, |end, g| {
            *end += g.path.len();
            Some(*end)
        }));
        Ok(Placed { synopsis, nodes, first })
    }

    /// How many nodes there are. Those of what is left out come first, by level.
    pub(super) fn len(&self) -> usize {
        self.synopsis.len()
    }

    /// The node above a node; none for the first of a path.
    pub(super) fn parent(&self, node: u32) -> Option<u32> {
        Some(self.synopsis.parent[node as usize]).filter(|&parent| parent != ROOT)
    }

    /// The factor of each node in the loss of a path.
    pub(super) fn factor(&self, node: u32, domain: &Domain<'_>) -> f64 {
        factor(domain, self.synopsis.item[node as usize], self.synopsis.depth[node as usize])
    }

    /// The nodes that a group's positions stand at.
    pub(super) fn of(&self, group: usize) -> &[u32] {
        &self.nodes[self.first[group]..self.first[group + 1]]
    }
}

/// The same with the records of each node counted.
pub(super) struct Counted {
    placed: Placed,
    support: Vec<u32>,
    /// Made when first asked for.
    paths: OnceLock<Paths>,
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
        groups: &[Arc<Group>],
        above: Option<&[Vec<u64>]>,
        rows: &Rows,
        domain: &Domain<'_>,
        reuse: Reuse<'_>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let placed = Placed::new(groups, above, domain, observer)?;
        let mut counted = Counted { support: vec![0; placed.len()], placed, paths: OnceLock::new() };
        counted.count(groups, domain, reuse, observer)?;
        match reuse {
            Reuse::Above(base) | Reuse::Unrepaired(base) => {
                let levels = domain.levels.len();
                counted.support[..levels].copy_from_slice(&base.support[..levels]);
            }
            Reuse::Nothing => counted.count_left_out(groups, rows, domain, observer)?,
        }
        Ok(counted)
    }

    fn count(
        &mut self,
        groups: &[Arc<Group>],
        domain: &Domain<'_>,
        reuse: Reuse<'_>,
        observer: &dyn Observer,
    ) -> Result<()> {
        // Positions by their nodes: their group, and their place in it.
        let mut from = vec![0u32; self.placed.synopsis.len() + 1];
        self.placed.nodes.iter().for_each(|&n| from[n as usize + 1] += 1);
        (1..from.len()).for_each(|n| from[n] += from[n - 1]);
        let mut next = from.clone();
        let mut by_node = vec![(0u32, 0u32); self.placed.nodes.len()];
        for g in 0..groups.len() {
            for (j, &n) in
                self.placed.nodes[self.placed.first[g]..self.placed.first[g + 1]].iter().enumerate()
            {
                by_node[next[n as usize] as usize] = (g as u32, j as u32);
                next[n as usize] += 1;
            }
        }
        let bases = self.bases(reuse);
        let mut groups_at = Vec::new();
        if let Reuse::Unrepaired(base) = reuse {
            groups_at = vec![0u32; base.placed.synopsis.len()];
            base.placed.nodes.iter().for_each(|&n| groups_at[n as usize] += 1);
        }
        let mut distinct = Distinct::new(domain.records);
        for node in domain.levels.len()..self.placed.synopsis.len() {
            observer.go_on()?;
            let run = &by_node[from[node] as usize..from[node + 1] as usize];
            let known = match reuse {
                Reuse::Nothing => None,
                Reuse::Above(base) => bases[node].map(|b| base.support[b as usize]),
                Reuse::Unrepaired(base) => {
                    let of =
                        |&(g, j): &(u32, u32)| base.placed.nodes[base.placed.first[g as usize] + j as usize];
                    let same = of(&run[0]);
                    let all =
                        run.len() == groups_at[same as usize] as usize && run.iter().all(|c| of(c) == same);
                    all.then(|| base.support[same as usize])
                }
            };
            self.support[node] = known.unwrap_or_else(|| match run {
                [(g, _)] => groups[*g as usize].records().len() as u32,
                _ => distinct.count(run.iter().map(|&(g, _)| groups[g as usize].records())),
            });
        }
        Ok(())
    }

    /// Per node the one with the same path in the synopsis above.
    fn bases(&self, reuse: Reuse<'_>) -> Vec<Option<u32>> {
        let Reuse::Above(base) = reuse else {
            return Vec::new();
        };
        let mut bases: Vec<Option<u32>> = Vec::with_capacity(self.placed.synopsis.len());
        for node in 0..self.placed.synopsis.len() {
            let parent = match self.placed.synopsis.parent[node] {
                ROOT => Some(ROOT),
                parent => bases[parent as usize],
            };
            bases.push(parent.and_then(|p| {
                base.placed.synopsis.known().get(&(p, self.placed.synopsis.item[node])).copied()
            }));
        }
        bases
    }

    fn count_left_out(
        &mut self,
        groups: &[Arc<Group>],
        rows: &Rows,
        domain: &Domain<'_>,
        observer: &dyn Observer,
    ) -> Result<()> {
        // Rows of one record follow each other, so its last stamp per attribute tells enough.
        let mut last = vec![ROOT; domain.levels.len()];
        let left_out = groups.iter().filter(|g| g.path.is_empty());
        for some in left_out.flat_map(|g| g.rows.chunks(STRIDE)) {
            observer.go_on()?;
            for &row in some {
                let level = rows.level(row, domain);
                if last[level] != rows.record(row) {
                    last[level] = rows.record(row);
                    self.support[level] += 1;
                }
            }
        }
        Ok(())
    }

    /// RPD_a: Σ support / ∏ (depth · width) per path from the root to a leaf, mean over the leaves, divided by the nodes.
    pub(super) fn rpd_a(&self, domain: &Domain<'_>) -> f64 {
        self.paths(domain).sums.rpd_a()
    }

    fn paths(&self, domain: &Domain<'_>) -> &Paths {
        self.paths.get_or_init(|| {
            let synopsis = &self.placed.synopsis;
            let n = synopsis.len();
            let mut paths = Paths {
                sum: vec![0.0; n],
                product: vec![1.0; n],
                leaf: self.support.iter().map(|&s| s > 0).collect(),
                sums: Sums::default(),
            };
            paths.sums.nodes = paths.leaf.iter().filter(|l| **l).count();
            // Parents are numbered before their children.
            for node in 0..n {
                let (above_sum, above_product) = match synopsis.parent[node] {
                    ROOT => (0.0, 1.0),
                    parent => {
                        paths.leaf[parent as usize] = false;
                        (paths.sum[parent as usize], paths.product[parent as usize])
                    }
                };
                paths.sum[node] = above_sum + f64::from(self.support[node]);
                paths.product[node] =
                    above_product * factor(domain, synopsis.item[node], synopsis.depth[node]);
            }
            paths.sums.leaves = paths.leaf.iter().filter(|l| **l).count();
            paths.sums.total =
                (0..n).filter(|&i| paths.leaf[i]).map(|i| paths.sum[i] / paths.product[i]).sum();
            paths
        })
    }

    /// RPD_a of the cut below that has some parts in place of their groups. Above the node that was replaced, paths have the
    /// records they had.
    pub(super) fn rpd_a_with(
        &self,
        parts: &[Part],
        domain: &Domain<'_>,
        observer: &dyn Observer,
    ) -> Result<f64> {
        let paths = self.paths(domain);
        let mut sums = paths.sums;
        let mut gone: Vec<(u32, u32)> = parts.iter().map(|part| part.from).collect();
        gone.sort_unstable();
        gone.dedup();
        let mut before: &[u32] = &[];
        for (g, at) in gone {
            let nodes = self.placed.of(g as usize);
            for (j, &node) in nodes.iter().enumerate().skip(at as usize) {
                // Groups with the same beginning follow each other.
                if before.get(j) != Some(&node) {
                    let node = node as usize;
                    sums.nodes -= 1;
                    if paths.leaf[node] {
                        sums.leaves -= 1;
                        sums.total -= paths.sum[node] / paths.product[node];
                    }
                }
            }
            before = nodes;
        }
        let mut distinct = Distinct::new(domain.records);
        // Per position of the path before what was added up above it.
        let mut so_far: Vec<(f64, f64)> = Vec::new();
        let mut before: &[Node] = &[];
        for (i, Part { group, from: (g, at) }) in parts.iter().enumerate() {
            observer.go_on()?;
            let (path, at) = (&group.path, *at as usize);
            let shared = path.iter().zip(before).take_while(|(a, b)| a == b).count();
            so_far.resize(path.len() + 1, (0.0, 1.0));
            if shared <= at {
                so_far[at] = match at {
                    0 => (0.0, 1.0),
                    _ => {
                        let above = self.placed.of(*g as usize)[at - 1] as usize;
                        (paths.sum[above], paths.product[above])
                    }
                };
            }
            for j in shared.max(at)..path.len() {
                let alike =
                    parts[i..].iter().take_while(|other| other.group.path.get(..=j) == Some(&path[..=j]));
                let alike = &parts[i..i + alike.count()];
                let support = match alike {
                    [one] => one.group.records().len() as u32,
                    _ => distinct.count(alike.iter().map(|part| part.group.records())),
                };
                let (sum, product) = so_far[j];
                let (sum, product) = (sum + f64::from(support), product * domain.factor(path[j], j + 1));
                so_far[j + 1] = (sum, product);
                sums.nodes += 1;
                // Paths are different, so that of several alike some go on.
                if j + 1 == path.len() && alike.len() == 1 {
                    sums.leaves += 1;
                    sums.total += sum / product;
                }
            }
            before = path;
        }
        Ok(sums.rpd_a())
    }
}

/// What is added up along the paths of a synopsis.
struct Paths {
    /// Per node the supports from the root to it, and their factors.
    sum: Vec<f64>,
    product: Vec<f64>,
    leaf: Vec<bool>,
    sums: Sums,
}

#[derive(Clone, Copy, Default)]
struct Sums {
    total: f64,
    leaves: usize,
    nodes: usize,
}

impl Sums {
    fn rpd_a(&self) -> f64 {
        self.total / self.leaves as f64 / self.nodes as f64
    }
}

/// The share of related pairs of the input that a cut and its rules take away, counted per row.
pub(super) fn relations_lost(groups: &[Arc<Group>], above: Option<&[Vec<u64>]>, pairs: u64) -> f64 {
    let kept: u64 = (groups.iter().enumerate())
        .map(|(g, group)| {
            let related: u64 = match above {
                None => (group.path.len() * group.path.len().saturating_sub(1) / 2) as u64,
                Some(above) => {
                    above[g][..group.path.len()].iter().map(|mask| u64::from(mask.count_ones())).sum()
                }
            };
            related * group.rows.len() as u64
        })
        .sum();
    if pairs == 0 { 0.0 } else { 1.0 - kept as f64 / pairs as f64 }
}
