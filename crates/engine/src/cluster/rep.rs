//! The representative of a cluster, and joining two of them: `diversify`.

use bosket_model::observe::Observer;

use super::assign::Solver;
use super::forest::Forest;
use super::interrupted::{Hot, go_on};
use super::params::Matching;
use super::secrets::UNKNOWN;

/// What all members of a cluster have in common: a tree of generalized vertices, each with the vertices it stands for.
#[derive(Clone, Debug)]
pub(super) struct Rep {
    pub(super) class: u32,
    /// The nodes of the quasi values.
    pub(super) values: Vec<u32>,
    /// The vertex of each member.
    pub(super) from: Vec<u32>,
    /// The sensitive labels of each member, one after the other.
    pub(super) labels: Vec<u32>,
    /// The cost of the quasi values of the whole subtree, for one member.
    pub(super) loss: i64,
    /// The cost of giving up the subtree, for one member.
    pub(super) prune: i64,
    /// Children, class by class.
    pub(super) kids: Vec<Rep>,
}

impl Rep {
    /// A record as it is.
    pub(super) fn of_record(forest: &Forest, record: u32) -> Rep {
        Rep::of_vertex(forest, forest.roots[record as usize], 0)
    }

    fn of_vertex(forest: &Forest, vertex: u32, class: u32) -> Rep {
        let kid = |&v: &u32| Rep::of_vertex(forest, v, forest.vertex_class[v as usize]);
        let kids: Vec<Rep> = forest.below(vertex).iter().map(kid).collect();
        Rep {
            class,
            values: forest.values(vertex).to_vec(),
            from: vec![vertex],
            labels: forest.secrets.labels(forest.secret[vertex as usize]).to_vec(),
            loss: 0,
            prune: forest.classes[class as usize].own + kids.iter().map(|k| k.prune).sum::<i64>(),
            kids,
        }
    }

    /// How many members there are.
    pub(super) fn members(&self) -> usize {
        self.from.len()
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let lists = self.values.len() + self.from.len() + self.labels.len();
        size_of::<Rep>() + 4 * lists + self.kids.iter().map(Rep::bytes).sum::<usize>()
    }

    /// What the members have lost by now, given what they had.
    pub(super) fn cost(&self, had: i64) -> i64 {
        let members = self.members() as i64;
        had + members * (self.loss - self.prune)
    }

    /// Works out loss and prune anew, after children were taken away.
    pub(super) fn settle(&mut self, forest: &Forest) {
        let class = &forest.classes[self.class as usize];
        self.kids.iter_mut().for_each(|k| k.settle(forest));
        let own: i64 =
            self.values.iter().zip(&class.quasi).map(|(&n, &(_, d))| forest.domains[d].cost(n)).sum();
        self.loss = own + self.kids.iter().map(|k| k.loss).sum::<i64>();
        self.prune = class.own + self.kids.iter().map(|k| k.prune).sum::<i64>();
    }
}

/// How two trees are joined.
pub(super) struct Joiner<'a> {
    pub(super) forest: &'a Forest,
    pub(super) matching: Matching,
    /// How often a sensitive value may stand at one vertex of a cluster; none if that does not matter.
    pub(super) most: Option<usize>,
    /// Members count while a cluster grows.
    pub(super) weighted: bool,
    pub(super) solver: Solver,
    /// Room for one problem.
    pub(super) matrix: Vec<i64>,
    /// Room for the costs of all children.
    pub(super) costs: Vec<i64>,
    pub(super) observer: &'a dyn Observer,
}

/// Children of two vertices: the positions of the pairs.
pub(super) type Pairs = Vec<(usize, usize)>;

/// Longer than any path.
pub(super) const FAR: i64 = i64::MAX / 4;

/// Children from which on pairing one with all others takes long enough to be asked before.
pub(super) const MANY_KIDS: usize = 16;

impl<'a> Joiner<'a> {
    pub(super) fn new(
        forest: &'a Forest,
        matching: Matching,
        most: Option<usize>,
        weighted: bool,
        observer: &'a dyn Observer,
    ) -> Self {
        Joiner {
            forest,
            matching,
            most,
            weighted,
            solver: Solver::default(),
            matrix: Vec::new(),
            costs: Vec::new(),
            observer,
        }
    }

    /// How much a tree of so many members counts.
    pub(super) fn weight(&self, members: usize) -> i64 {
        if self.weighted { members as i64 } else { 1 }
    }

    /// Whether a sensitive value would stand too often at a vertex.
    pub(super) fn clash(&self, class: u32, a: &[u32], b: &[u32]) -> bool {
        let Some(most) = self.most else {
            return false;
        };
        let attributes = self.forest.classes[class as usize].sensitive;
        if attributes == 0 {
            return false;
        }
        b.iter().enumerate().any(|(i, &label)| {
            let same = |labels: &[u32]| {
                labels.iter().skip(i % attributes).step_by(attributes).filter(|&&l| l == label).count()
            };
            label != UNKNOWN && a.contains(&label) && same(a) + same(b) > most
        })
    }

    /// The cost of the quasi values of two vertices made one, for one member.
    fn own(&self, a: &Rep, b: &Rep) -> i64 {
        let quasi = &self.forest.classes[a.class as usize].quasi;
        let cost = |i: usize| {
            let domain = &self.forest.domains[quasi[i].1];
            domain.cost(domain.lca(a.values[i], b.values[i]))
        };
        (0..quasi.len()).map(cost).sum()
    }

    /// The cost of joining two trees; where their roots clash, that of giving both up.
    pub(super) fn cost(&mut self, a: &Rep, b: &Rep) -> Hot<i64> {
        let (wa, wb) = (self.weight(a.members()), self.weight(b.members()));
        if self.clash(a.class, &a.labels, &b.labels) {
            return Ok(wa * a.prune + wb * b.prune);
        }
        let mut cost = (wa + wb) * self.own(a, b);
        if a.kids.is_empty() && b.kids.is_empty() {
            return Ok(cost);
        }
        for (ka, kb) in runs(a, b) {
            let (pairs, costs) = self.pair(ka, kb)?;
            cost +=
                ka.iter().map(|k| wa * k.prune).sum::<i64>() + kb.iter().map(|k| wb * k.prune).sum::<i64>();
            for (&(i, j), paired) in pairs.iter().zip(costs) {
                cost += paired - wa * ka[i].prune - wb * kb[j].prune;
            }
        }
        Ok(cost)
    }

    /// Pairs the children of one class, with the cost of each pair. Each child of the smaller side has a partner.
    fn pair(&mut self, a: &[Rep], b: &[Rep]) -> Hot<(Pairs, Vec<i64>)> {
        let swapped = a.len() > b.len();
        let (rows, columns) = if swapped { (b, a) } else { (a, b) };
        let (n, m) = (rows.len(), columns.len());
        if n == 0 {
            return Ok((Vec::new(), Vec::new()));
        }
        let mut matrix = Vec::with_capacity(n * m);
        for row in rows {
            if m >= MANY_KIDS {
                go_on(self.observer)?;
            }
            for column in columns {
                let (x, y) = if swapped { (column, row) } else { (row, column) };
                matrix.push(match self.matching {
                    Matching::X => self.head(x, y),
                    _ => self.cost(x, y)?,
                });
            }
        }
        let chosen: Vec<usize> = match self.matching {
            Matching::Lsap => {
                let weight = self.weight(columns[0].members());
                for (at, cost) in matrix.iter_mut().enumerate() {
                    *cost -= weight * columns[at % m].prune;
                }
                let mut solver = std::mem::take(&mut self.solver);
                solver.solve(n, m, &matrix, FAR, self.observer)?;
                let chosen = (0..n).map(|row| solver.column_of(row)).collect();
                for (at, cost) in matrix.iter_mut().enumerate() {
                    *cost += weight * columns[at % m].prune;
                }
                self.solver = solver;
                chosen
            }
            Matching::Grd | Matching::X => greedy(n, m, &matrix),
        };
        let costs: Hot<Vec<i64>> = (chosen.iter().enumerate())
            .map(|(row, &column)| match self.matching {
                Matching::X if swapped => self.cost(&columns[column], &rows[row]),
                Matching::X => self.cost(&rows[row], &columns[column]),
                _ => Ok(matrix[row * m + column]),
            })
            .collect();
        let pairs = chosen.into_iter().enumerate().map(|(r, c)| if swapped { (c, r) } else { (r, c) });
        Ok((pairs.collect(), costs?))
    }

    /// The cost of two vertices by their own values alone.
    pub(super) fn head(&self, a: &Rep, b: &Rep) -> i64 {
        let both = self.weight(a.members()) + self.weight(b.members());
        if self.clash(a.class, &a.labels, &b.labels) {
            return both * self.forest.classes[a.class as usize].own;
        }
        both * self.own(a, b)
    }

    /// Joins two trees; none if their roots clash. Children keep the order they have in `a`.
    pub(super) fn join(&mut self, a: &Rep, b: &Rep) -> Hot<Option<Rep>> {
        if self.clash(a.class, &a.labels, &b.labels) {
            return Ok(None);
        }
        let mut kids = Vec::new();
        for (ka, kb) in runs(a, b) {
            let (mut pairs, _) = self.pair(ka, kb)?;
            pairs.sort_unstable();
            for (i, j) in pairs {
                kids.extend(self.join(&ka[i], &kb[j])?);
            }
        }
        let class = &self.forest.classes[a.class as usize];
        let domains = &self.forest.domains;
        let values: Vec<u32> =
            (0..class.quasi.len()).map(|i| domains[class.quasi[i].1].lca(a.values[i], b.values[i])).collect();
        let own: i64 = values.iter().zip(&class.quasi).map(|(&n, &(_, d))| domains[d].cost(n)).sum();
        Ok(Some(Rep {
            class: a.class,
            values,
            from: [a.from.as_slice(), &b.from].concat(),
            labels: [a.labels.as_slice(), &b.labels].concat(),
            loss: own + kids.iter().map(|k| k.loss).sum::<i64>(),
            prune: class.own + kids.iter().map(|k| k.prune).sum::<i64>(),
            kids,
        }))
    }
}

/// The children of two vertices, class by class; classes that only one of them has come with nothing on the other side.
fn runs<'r>(a: &'r Rep, b: &'r Rep) -> impl Iterator<Item = (&'r [Rep], &'r [Rep])> {
    let (mut a, mut b) = (a.kids.as_slice(), b.kids.as_slice());
    std::iter::from_fn(move || {
        let class = a.first().into_iter().chain(b.first()).map(|k| k.class).min()?;
        let (own_a, rest_a) = a.split_at(a.partition_point(|k| k.class <= class));
        let (own_b, rest_b) = b.split_at(b.partition_point(|k| k.class <= class));
        (a, b) = (rest_a, rest_b);
        Some((own_a, own_b))
    })
}

/// Each row takes its cheapest free column, in order.
pub(super) fn greedy(rows: usize, columns: usize, cost: &[i64]) -> Vec<usize> {
    let mut free = vec![true; columns];
    (0..rows)
        .map(|row| {
            let costs = &cost[row * columns..(row + 1) * columns];
            let open = (0..columns).filter(|&c| free[c]);
            let column = open.min_by_key(|&c| costs[c]).expect("there are as many columns as rows");
            free[column] = false;
            column
        })
        .collect()
}
