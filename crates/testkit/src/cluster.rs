//! Clustering taken literally: every record is compared with every other, tree by tree, each time anew.

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::policy::Role;
use bosket_model::{Dataset, MISSING};

/// How children are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// At the least total cost.
    Lsap,
    /// Each of the smaller side takes its cheapest free partner.
    Grd,
    /// The same by the vertices' own values.
    X,
}

/// Solves an assignment problem: rows, columns, costs row by row; gives the column of each row.
pub type Assign<'a> = &'a dyn Fn(usize, usize, &[i64]) -> Vec<usize>;

/// Records and how they are joined.
pub struct Literal<'a> {
    /// The records.
    pub data: &'a Dataset,
    /// The place of their attributes.
    pub binding: &'a Binding,
    /// Per declared attribute.
    pub hierarchies: &'a [Option<Hierarchy>],
    /// The cost of a value that is given up.
    pub scale: i64,
    /// How children are paired.
    pub how: How,
    /// How often a sensitive value may stand at a vertex of a cluster.
    pub most: Option<usize>,
    /// Members count.
    pub weighted: bool,
    /// For `How::Lsap`; which of several best solutions it finds decides what comes after.
    pub assign: Assign<'a>,
    /// Per declared attribute whether values are missing.
    pub missing: Vec<bool>,
    /// Per class what the sensitive values of a vertex count, see [`lost`].
    pub lost: Vec<i64>,
}

/// Per class how many sensitive values a vertex has on average, times what one that is lost counts.
pub fn lost(data: &Dataset, binding: &Binding, each: f64) -> Vec<i64> {
    let of_class = |class| {
        let vertices: Vec<usize> = (0..data.vertex_count()).filter(|&v| data.class(v) == class).collect();
        let mut there = 0;
        for a in binding.in_policy_order(data.schema(), class, Role::Sensitive) {
            there += vertices.iter().filter(|&&v| data.value(v, a) != MISSING).count();
        }
        (each * there as f64 / vertices.len().max(1) as f64).round() as i64
    };
    data.schema().classes().map(|(id, _)| of_class(id)).collect()
}

/// Per declared attribute whether values are missing in the data.
pub fn missing(data: &Dataset, binding: &Binding) -> Vec<bool> {
    let mut missing = vec![false; binding.declared.len()];
    for (a, attribute) in data.schema().attributes() {
        let own = |v: usize| data.class(v) == attribute.class && data.value(v, a) == MISSING;
        if let Some(declared) = binding.attributes[a.index()] {
            missing[declared] |= (0..data.vertex_count()).any(own);
        }
    }
    missing
}

/// A record or what several have in common.
#[derive(Clone, Debug)]
pub struct Tree {
    class: usize,
    /// Declared attribute and node; none for a missing value.
    values: Vec<(usize, Option<NodeId>)>,
    /// Per sensitive attribute the values of all members.
    secrets: Vec<Vec<Option<String>>>,
    members: usize,
    kids: Vec<Tree>,
}

/// Clusters of records, and those that are in none.
pub type Clusters = (Vec<Vec<u32>>, Vec<u32>);

impl Literal<'_> {
    fn record(&self, record: u32) -> Tree {
        self.vertex(self.data.vertices(record as usize).start)
    }

    fn vertex(&self, v: usize) -> Tree {
        let schema = self.data.schema();
        let class = self.data.class(v);
        let text = |a| match self.data.value(v, a) {
            MISSING => None,
            code => Some(self.data.dictionary(a).text(code).to_owned()),
        };
        let quasi = self.binding.in_policy_order(schema, class, Role::Quasi).into_iter().map(|a| {
            let declared = self.binding.attributes[a.index()].expect("declared");
            (declared, text(a).map(|t| self.hierarchy(declared).leaf(&t).expect("a leaf")))
        });
        let secrets = self.binding.in_policy_order(schema, class, Role::Sensitive).into_iter();
        let below = (v + 1..self.data.vertex_count()).take_while(|&w| self.data.parent(w).is_some());
        let mut kids: Vec<usize> = below.filter(|&w| self.data.parent(w) == Some(v)).collect();
        kids.sort_by_key(|&w| self.data.class(w));
        Tree {
            class: class.index(),
            values: quasi.collect(),
            secrets: secrets.map(|a| vec![text(a)]).collect(),
            members: 1,
            kids: kids.into_iter().map(|w| self.vertex(w)).collect(),
        }
    }

    fn hierarchy(&self, declared: usize) -> &Hierarchy {
        self.hierarchies[declared].as_ref().expect("a hierarchy")
    }

    fn lm(&self, declared: usize, node: Option<NodeId>) -> i64 {
        let Some(node) = node else { return 0 };
        let hierarchy = self.hierarchy(declared);
        let all = hierarchy.leaf_count() + usize::from(self.missing[declared]);
        let own = if node == NodeId::ROOT { all } else { hierarchy.leaves(node).len() };
        let share = if all > 1 { (own - 1) as f64 / (all - 1) as f64 } else { 0.0 };
        (share * self.scale as f64).round() as i64
    }

    fn lca(&self, declared: usize, a: Option<NodeId>, b: Option<NodeId>) -> Option<NodeId> {
        match (a, b) {
            (None, None) => None,
            (Some(a), Some(b)) => Some(self.hierarchy(declared).lca(a, b)),
            _ => Some(NodeId::ROOT),
        }
    }

    fn weight(&self, tree: &Tree) -> i64 {
        if self.weighted { tree.members as i64 } else { 1 }
    }

    fn clash(&self, a: &Tree, b: &Tree) -> bool {
        let Some(most) = self.most else { return false };
        (a.secrets.iter().zip(&b.secrets)).any(|(a, b)| {
            let all: Vec<&String> = a.iter().chain(b).flatten().collect();
            let often = |value: &String| all.iter().filter(|v| **v == value).count() > most;
            a.iter().flatten().any(|v| b.iter().flatten().any(|w| v == w) && often(v))
        })
    }

    /// What giving up a tree costs one member.
    pub fn prune(&self, tree: &Tree) -> i64 {
        self.alone(tree) + tree.kids.iter().map(|k| self.prune(k)).sum::<i64>()
    }

    fn alone(&self, tree: &Tree) -> i64 {
        (tree.values.len() as i64 * self.scale + self.lost[tree.class]).max(1)
    }

    fn own(&self, a: &Tree, b: &Tree) -> i64 {
        let pairs = a.values.iter().zip(&b.values);
        pairs.map(|(x, y)| self.lm(x.0, self.lca(x.0, x.1, y.1))).sum()
    }

    /// What joining two trees costs.
    pub fn cost(&self, a: &Tree, b: &Tree) -> i64 {
        let (wa, wb) = (self.weight(a), self.weight(b));
        if self.clash(a, b) {
            return wa * self.prune(a) + wb * self.prune(b);
        }
        let mut cost = (wa + wb) * self.own(a, b);
        let pairs = self.pairs(a, b);
        for (i, kid) in a.kids.iter().enumerate() {
            cost += match pairs.iter().find(|p| p.0 == i) {
                Some(&(_, j)) => self.cost(kid, &b.kids[j]),
                None => wa * self.prune(kid),
            };
        }
        for (j, kid) in b.kids.iter().enumerate() {
            if !pairs.iter().any(|p| p.1 == j) {
                cost += wb * self.prune(kid);
            }
        }
        cost
    }

    fn pairs(&self, a: &Tree, b: &Tree) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        let classes = self.data.schema().classes().len();
        for class in 0..classes {
            let of = |tree: &Tree| -> Vec<usize> {
                (0..tree.kids.len()).filter(|&i| tree.kids[i].class == class).collect()
            };
            let (of_a, of_b) = (of(a), of(b));
            let swapped = of_a.len() > of_b.len();
            let (rows, columns) = if swapped { (&of_b, &of_a) } else { (&of_a, &of_b) };
            let pair =
                |r: usize, c: usize| if swapped { (columns[c], rows[r]) } else { (rows[r], columns[c]) };
            let mut matrix = Vec::new();
            for r in 0..rows.len() {
                for c in 0..columns.len() {
                    let (i, j) = pair(r, c);
                    let (x, y) = (&a.kids[i], &b.kids[j]);
                    let alone =
                        if swapped { self.weight(x) * self.prune(x) } else { self.weight(y) * self.prune(y) };
                    matrix.push(match self.how {
                        How::Lsap => self.cost(x, y) - alone,
                        How::Grd => self.cost(x, y),
                        How::X if self.clash(x, y) => (self.weight(x) + self.weight(y)) * self.alone(x),
                        How::X => (self.weight(x) + self.weight(y)) * self.own(x, y),
                    });
                }
            }
            let chosen = match self.how {
                How::Lsap if !rows.is_empty() => (self.assign)(rows.len(), columns.len(), &matrix),
                _ => {
                    let mut free: Vec<usize> = (0..columns.len()).collect();
                    (0..rows.len())
                        .map(|r| {
                            let costs = &matrix[r * columns.len()..];
                            let at = (0..free.len()).min_by_key(|&f| costs[free[f]]).expect("a free one");
                            free.remove(at)
                        })
                        .collect()
                }
            };
            pairs.extend(chosen.into_iter().enumerate().map(|(r, c)| pair(r, c)));
        }
        pairs.sort_unstable();
        pairs
    }

    /// Two trees made one; none if their roots clash.
    pub fn join(&self, a: &Tree, b: &Tree) -> Option<Tree> {
        if self.clash(a, b) {
            return None;
        }
        let pairs = self.pairs(a, b);
        Some(Tree {
            class: a.class,
            values: (a.values.iter().zip(&b.values)).map(|(x, y)| (x.0, self.lca(x.0, x.1, y.1))).collect(),
            secrets: (a.secrets.iter().zip(&b.secrets))
                .map(|(x, y)| [x.clone(), y.clone()].concat())
                .collect(),
            members: a.members + b.members,
            kids: pairs.iter().filter_map(|&(i, j)| self.join(&a.kids[i], &b.kids[j])).collect(),
        })
    }

    fn loss(&self, tree: &Tree) -> i64 {
        let own: i64 = tree.values.iter().map(|v| self.lm(v.0, v.1)).sum();
        own + tree.kids.iter().map(|k| self.loss(k)).sum::<i64>()
    }

    fn whole(&self, members: &[u32]) -> Option<Tree> {
        let mut trees = members.iter().map(|&r| self.record(r));
        let first = trees.next()?;
        trees.try_fold(first, |a, b| self.join(&a, &b))
    }

    /// What the members of a cluster lose together, joined in this order.
    fn cluster_cost(&self, members: &[u32]) -> i64 {
        let tree = self.whole(members).expect("they fit");
        let had: i64 = members.iter().map(|&r| self.prune(&self.record(r))).sum();
        had + members.len() as i64 * (self.loss(&tree) - self.prune(&tree))
    }

    fn grow(&self, pool: &[u32], seed: u32, size: usize) -> Option<Vec<u32>> {
        let mut members = vec![seed];
        let mut tree = self.record(seed);
        while members.len() < size {
            let open = pool.iter().copied().filter(|r| !members.contains(r));
            let fitting = open.map(|r| (r, self.record(r))).filter(|(_, t)| !self.clash(&tree, t));
            let (record, nearest) = fitting.min_by_key(|(_, t)| self.cost(&tree, t))?;
            tree = self.join(&tree, &nearest)?;
            members.push(record);
        }
        Some(members)
    }

    /// Clusters one after the other.
    pub fn ctoff(&self, size: usize) -> Clusters {
        let mut pool: Vec<u32> = (0..self.data.len() as u32).collect();
        let (mut clusters, mut left) = (Vec::new(), Vec::new());
        while pool.len() >= size {
            let seed = pool[0];
            let members = self.grow(&pool, seed, size);
            let gone = members.clone().unwrap_or_else(|| vec![seed]);
            pool.retain(|r| !gone.contains(r));
            match members {
                Some(members) => clusters.push(members),
                None => left.push(seed),
            }
        }
        left.extend(pool);
        left.sort_unstable();
        (clusters, left)
    }

    /// Clusters in passes with a rising limit of costs.
    pub fn clustree(&self, size: usize, s: f64, m: f64) -> Clusters {
        let mut pool: Vec<u32> = (0..self.data.len() as u32).collect();
        let (mut clusters, mut left) = (Vec::new(), Vec::new());
        let mut costs: Vec<f64> = Vec::new();
        let mut chi = 0.0;
        loop {
            for seed in 0..self.data.len() as u32 {
                if pool.len() < size || !pool.contains(&seed) {
                    continue;
                }
                let Some(members) = self.grow(&pool, seed, size) else {
                    if chi == f64::INFINITY {
                        left.push(seed);
                        pool.retain(|&r| r != seed);
                    }
                    continue;
                };
                let cost = self.cluster_cost(&members) as f64;
                let n = costs.len() as f64;
                let mean = costs.iter().sum::<f64>() / n;
                let deviation = (costs.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / n).sqrt();
                if costs.len() > 1 && chi != f64::INFINITY && cost > mean + chi * deviation {
                    continue;
                }
                costs.push(cost);
                pool.retain(|r| !members.contains(r));
                clusters.push(members);
            }
            if pool.len() < size || chi == f64::INFINITY {
                break;
            }
            chi += s;
            if chi >= m {
                chi = f64::INFINITY;
            }
        }
        left.extend(pool);
        left.sort_unstable();
        (clusters, left)
    }

    /// Records stream into at most `climit` open clusters.
    pub fn miracle(&self, size: usize, climit: usize, th: f64) -> Clusters {
        let (mut done, mut left): Clusters = Default::default();
        let mut open: Vec<(Vec<u32>, Tree)> = Vec::new();
        for record in 0..self.data.len() as u32 {
            let tree = self.record(record);
            match self.nearest(&tree, &open) {
                Some((distance, at)) if distance <= th || open.len() >= climit => {
                    let joined = self.join(&open[at].1, &tree).expect("it fits");
                    open[at].0.push(record);
                    open[at].1 = joined;
                    if open[at].0.len() == size {
                        done.push(open.remove(at).0);
                    }
                }
                _ if open.len() < climit => open.push((vec![record], tree)),
                _ => left.push(record),
            }
        }
        while !open.is_empty() {
            let (mut members, mut tree) = open.remove(0);
            while members.len() < size {
                let Some((_, at)) = self.nearest_of(&tree, &open) else { break };
                let (more, other) = open.remove(at);
                tree = self.join(&tree, &other).expect("it fits");
                members.extend(more);
            }
            if members.len() >= size { done.push(members) } else { left.extend(members) }
        }
        left.sort_unstable();
        (done, left)
    }

    fn nearest(&self, tree: &Tree, open: &[(Vec<u32>, Tree)]) -> Option<(f64, usize)> {
        self.least(open.iter().map(|o| (&o.1, tree)))
    }

    fn nearest_of(&self, tree: &Tree, open: &[(Vec<u32>, Tree)]) -> Option<(f64, usize)> {
        self.least(open.iter().map(|o| (tree, &o.1)))
    }

    fn least<'t>(&self, pairs: impl Iterator<Item = (&'t Tree, &'t Tree)>) -> Option<(f64, usize)> {
        let fitting = pairs.enumerate().filter(|(_, (a, b))| !self.clash(a, b));
        let distance = |a: &Tree, b: &Tree| {
            let values = self.weight(a) * self.prune(a) + self.weight(b) * self.prune(b);
            self.cost(a, b) as f64 / values as f64
        };
        fitting.map(|(at, (a, b))| (distance(a, b), at)).min_by(|x, y| x.0.total_cmp(&y.0))
    }
}
