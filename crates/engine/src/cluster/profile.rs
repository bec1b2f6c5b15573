//! A representative, made ready to be compared with many records.
//!
//! Any potentials of its children that are no more than the cost of giving them up bound the cost of every record from
//! below: with them each kind of child has a potential of its own, and a record's bound is a sum of look-ups. What the
//! bound leaves open, the costs of single children mostly decide before the assignment has to be solved.

use std::ops::Range;
use std::rc::Rc;

use super::forest::Forest;
use super::params::Matching;
use super::rep::{FAR, Joiner, Rep, greedy};
use super::rows::{Row, Rows, exact, head};

/// Children of one class.
#[derive(Debug)]
struct Run {
    class: u32,
    /// Positions among the representative's children.
    reps: Range<usize>,
    /// Per secret of the class and child of the representative: 0, or [`FAR`] if they clash.
    clash: Vec<i64>,
}

/// Costs and potentials of a representative.
#[derive(Debug)]
pub(super) struct Profile {
    /// Per quasi attribute of the root and node the cost, for all members and the record.
    roots: Vec<Vec<i64>>,
    rows: Vec<Rc<Row>>,
    /// The cost of giving up each child.
    most: Vec<i64>,
    /// The potentials of the children.
    duals: Vec<i64>,
    base: i64,
    runs: Vec<Run>,
    /// The potential of every kind of child.
    potential: Vec<i64>,
}

impl Profile {
    pub(super) fn new(joiner: &mut Joiner<'_>, rows: &mut Rows, rep: &Rep) -> Self {
        let forest = joiner.forest;
        let weight = joiner.weight(rep.members());
        let class = &forest.classes[rep.class as usize];
        let mut roots = Vec::with_capacity(class.quasi.len());
        for (i, &(_, d)) in class.quasi.iter().enumerate() {
            let mut table = Vec::new();
            forest.domains[d].costs_with(rep.values[i], &mut table);
            table.iter_mut().for_each(|cost| *cost *= weight + 1);
            roots.push(table);
        }
        let rows: Vec<Rc<Row>> = rep.kids.iter().map(|k| rows.row(joiner, k)).collect();
        let most: Vec<i64> = rep.kids.iter().map(|k| weight * k.prune).collect();
        let duals = rows.iter().zip(&most).map(|(row, &most)| row.usual_dual().min(most)).collect();
        let runs = runs(joiner, rep);
        let mut profile = Profile { roots, rows, most, duals, base: 0, runs, potential: Vec::new() };
        profile.spread(forest);
        profile
    }

    /// Takes other potentials of the children, and remembers them for the next ones like them.
    pub(super) fn learn(&self, duals: &[i64]) {
        self.rows.iter().zip(duals).for_each(|(row, &dual)| row.learn_dual(dual));
    }

    /// Takes other potentials of the children.
    pub(super) fn set_duals(&mut self, forest: &Forest, duals: &[i64]) {
        self.duals.clear();
        self.duals.extend(duals.iter().zip(&self.most).map(|(&dual, &most)| dual.min(most)));
        self.spread(forest);
    }

    /// Works out the potentials of all kinds.
    fn spread(&mut self, forest: &Forest) {
        let (kinds, forms) = (&forest.kinds, &forest.forms);
        self.base = self.duals.iter().sum();
        self.potential.clear();
        self.potential.extend(kinds.form.iter().map(|&f| forms.prune[f as usize]));
        let mut reduced: Vec<i64> = Vec::new();
        for run in &self.runs {
            let width = run.reps.len();
            let start = forms.class_start[run.class as usize];
            let mut last = u32::MAX;
            let range = kinds.class_start[run.class as usize]..kinds.class_start[run.class as usize + 1];
            for kind in range.start as usize..range.end as usize {
                let form = kinds.form[kind];
                if form != last {
                    last = form;
                    let at = (form - start) as usize;
                    reduced.clear();
                    reduced.extend(run.reps.clone().map(|i| self.rows[i].cost[at] - self.duals[i]));
                }
                let local = kinds.local[kind] as usize;
                let clash = &run.clash[local * width..(local + 1) * width];
                let least = reduced.iter().zip(clash).map(|(&cost, &far)| cost + far).min().unwrap_or(FAR);
                self.potential[kind] = self.potential[kind].min(least);
            }
        }
    }

    /// The cost of the record's own values.
    #[inline]
    fn root(&self, forest: &Forest, record: u32) -> i64 {
        let values = forest.values(forest.roots[record as usize]);
        self.roots.iter().zip(values).map(|(table, &node)| table[node as usize]).sum()
    }

    /// No record costs less than this; without children it is the cost.
    #[inline]
    pub(super) fn bound(&self, forest: &Forest, record: u32) -> i64 {
        let kinds = forest.kid_kinds(record);
        let below: i64 = kinds.iter().map(|&kind| self.potential[kind as usize]).sum();
        self.base + self.root(forest, record) + below
    }

    /// The cost of joining a record, whose root must not clash; none if it is more than `limit`. The children's potentials
    /// go to `duals`.
    pub(super) fn cost(
        &self,
        joiner: &mut Joiner<'_>,
        rep: &Rep,
        record: u32,
        limit: i64,
        mut duals: Option<&mut Vec<i64>>,
    ) -> Option<i64> {
        let forest = joiner.forest;
        if let Some(duals) = &mut duals {
            duals.clear();
            // Children that the record has nothing like go whatever it costs.
            duals.extend_from_slice(&self.most);
        }
        let mut costs = std::mem::take(&mut joiner.costs);
        costs.clear();
        let total = self.run_all(joiner, rep, record, limit, duals, &mut costs);
        joiner.costs = costs;
        debug_assert!(total.is_none_or(|t| t >= self.bound(forest, record)));
        total.filter(|&t| t <= limit)
    }

    fn run_all(
        &self,
        joiner: &mut Joiner<'_>,
        rep: &Rep,
        record: u32,
        limit: i64,
        mut duals: Option<&mut Vec<i64>>,
        costs: &mut Vec<i64>,
    ) -> Option<i64> {
        let forest = joiner.forest;
        let forms = &forest.forms;
        let kinds = &forest.kinds;
        let mine = forest.kid_kinds(record);
        let slack = limit - self.bound(forest, record);
        let mut over = 0;
        let mut total = self.root(forest, record);
        // Children of classes that the representative has none of.
        total += mine.iter().map(|&k| forms.prune[kinds.form[k as usize] as usize]).sum::<i64>();
        let mut from = 0;
        let mut parts: Vec<(usize, Range<usize>)> = Vec::with_capacity(self.runs.len());
        for (at, run) in self.runs.iter().enumerate() {
            let width = run.reps.len();
            let range = kinds.class_start[run.class as usize]..kinds.class_start[run.class as usize + 1];
            from += mine[from..].iter().take_while(|&&k| k < range.start).count();
            let own = from..from + mine[from..].iter().take_while(|&&k| k < range.end).count();
            from = own.end;
            let start = forms.class_start[run.class as usize];
            for (i, r) in run.reps.clone().enumerate() {
                let mut least = self.most[r];
                let row = &self.rows[r].cost;
                for &kind in &mine[own.clone()] {
                    let form = kinds.form[kind as usize];
                    let clash = run.clash[kinds.local[kind as usize] as usize * width + i];
                    let apart = self.most[r] + forms.prune[form as usize];
                    let cost = if clash > 0 { apart } else { row[(form - start) as usize] };
                    costs.push(cost);
                    least = least.min(cost - self.potential[kind as usize]);
                }
                over += least - self.duals[r];
                if over > slack {
                    return None;
                }
            }
            parts.push((at, own));
        }
        let mut at = 0;
        let last = parts.len().saturating_sub(1);
        for (number, (run, own)) in parts.into_iter().enumerate() {
            let run = &self.runs[run];
            // What later classes save is not known yet.
            let limit = if number == last { limit - total } else { FAR };
            let (n, m) = (run.reps.len(), own.len());
            let matrix = &mut costs[at..at + n * m];
            at += n * m;
            let paired = self.pair(joiner, rep, run, &mine[own], matrix, limit, duals.as_deref_mut());
            total += paired?;
        }
        Some(total)
    }

    /// What pairing children of one class adds to giving up the record's; none if the least is more than `limit`.
    fn pair(
        &self,
        joiner: &mut Joiner<'_>,
        rep: &Rep,
        run: &Run,
        mine: &[u32],
        costs: &mut [i64],
        limit: i64,
        duals: Option<&mut Vec<i64>>,
    ) -> Option<i64> {
        let forest = joiner.forest;
        let kinds = &forest.kinds;
        let (n, m) = (run.reps.len(), mine.len());
        let given_up: i64 = self.most[run.reps.clone()].iter().sum();
        if m == 0 {
            return Some(given_up);
        }
        for (i, r) in run.reps.clone().enumerate() {
            for (j, &kind) in mine.iter().enumerate() {
                if run.clash[kinds.local[kind as usize] as usize * n + i] == 0 {
                    costs[i * m + j] = exact(joiner, &rep.kids[r], &self.rows[r], kinds.form[kind as usize]);
                }
            }
        }
        let alone = |j: usize| forest.forms.prune[kinds.form[mine[j] as usize] as usize];
        // Rows are the smaller side; what a column costs alone is saved where it is taken.
        let swapped = n > m;
        let (rows, columns) = if swapped { (m, n) } else { (n, m) };
        let mut matrix = std::mem::take(&mut joiner.matrix);
        matrix.clear();
        for at in 0..rows * columns {
            let (i, j) = if swapped { (at % n, at / n) } else { (at / m, at % m) };
            matrix.push(costs[i * m + j]);
        }
        let column_alone = |c: usize| if swapped { self.most[run.reps.start + c] } else { alone(c) };
        // The record's children are counted as given up already.
        let before = if swapped { given_up - (0..m).map(alone).sum::<i64>() } else { 0 };
        let total = match joiner.matching {
            Matching::Lsap => {
                matrix.iter_mut().enumerate().for_each(|(at, cost)| *cost -= column_alone(at % columns));
                let solved = joiner.solver.solve(rows, columns, &matrix, limit - before);
                if let (Some(duals), Some(_)) = (duals, solved) {
                    for (i, r) in run.reps.clone().enumerate() {
                        duals[r] = match swapped {
                            true => self.most[r] + joiner.solver.column_dual(i),
                            false => joiner.solver.row_dual(i).min(self.most[r]),
                        };
                    }
                }
                solved.map(|least| least + before)
            }
            Matching::Grd | Matching::X => {
                let chosen = if joiner.matching == Matching::Grd {
                    greedy(rows, columns, &matrix)
                } else {
                    let heads = (0..rows * columns).map(|at| {
                        let (i, j) = if swapped { (at % n, at / n) } else { (at / m, at % m) };
                        let kind = mine[j] as usize;
                        let secret = kinds.secrets[run.class as usize][kinds.local[kind] as usize];
                        head(joiner, &rep.kids[run.reps.start + i], kinds.form[kind], secret)
                    });
                    greedy(rows, columns, &heads.collect::<Vec<_>>())
                };
                let paired =
                    chosen.iter().enumerate().map(|(r, &c)| matrix[r * columns + c] - column_alone(c));
                Some(before + paired.sum::<i64>())
            }
        };
        joiner.matrix = matrix;
        total
    }
}

/// The representative's children by class, with the secrets they clash with.
fn runs(joiner: &Joiner<'_>, rep: &Rep) -> Vec<Run> {
    let forest = joiner.forest;
    let mut runs = Vec::new();
    let mut at = 0;
    while at < rep.kids.len() {
        let class = rep.kids[at].class;
        let end = at + rep.kids[at..].iter().take_while(|k| k.class == class).count();
        let width = end - at;
        let mut clash = vec![0; width * forest.kinds.secrets[class as usize].len()];
        let sensitive = forest.classes[class as usize].sensitive;
        for (i, kid) in rep.kids[at..end].iter().enumerate() {
            let Some(most) = joiner.most.filter(|_| sensitive > 0) else { break };
            for (p, &label) in kid.labels.iter().enumerate() {
                let attribute = p % sensitive;
                let same = kid.labels.iter().skip(attribute).step_by(sensitive).filter(|&&l| l == label);
                if most == 1 || same.count() >= most {
                    for &local in forest.kinds.having(class, attribute, label) {
                        clash[local as usize * width + i] = FAR;
                    }
                }
            }
        }
        runs.push(Run { class, reps: at..end, clash });
        at = end;
    }
    runs
}
