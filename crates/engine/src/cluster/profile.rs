//! A representative, made ready to be compared with many records.
//!
//! Any potentials of its children that are no more than the cost of giving them up bound the cost of every record from
//! below: with them each kind of child has a potential of its own, and a record's bound is a sum of look-ups. What the
//! bound leaves open, the costs of single children mostly decide before the assignment has to be solved.

use std::ops::Range;
use std::rc::Rc;

use bosket_model::observe::Observer;

use super::forest::Forest;
use super::interrupted::{Hot, go_on};
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
    /// Children in the order in which they are looked at: those first that often find no good partner.
    order: Vec<usize>,
    /// The potential of every kind of child.
    potential: Vec<i64>,
    /// The same in half the room, rounded down to what fits.
    short: Vec<i32>,
    /// The bits that rounding takes away.
    shift: u32,
}

impl Profile {
    pub(super) fn new(joiner: &mut Joiner<'_>, rows: &mut Rows, rep: &Rep) -> Hot<Self> {
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
        let rows = rep.kids.iter().map(|k| rows.row(joiner, k)).collect::<Hot<Vec<Rc<Row>>>>()?;
        let most: Vec<i64> = rep.kids.iter().map(|k| weight * k.prune).collect();
        let duals = rows.iter().zip(&most).map(|(row, &most)| row.usual_dual().min(most)).collect();
        let runs = runs(joiner, rep);
        let order = (0..rep.kids.len()).collect();
        let mut profile = Profile {
            roots,
            rows,
            most,
            duals,
            base: 0,
            runs,
            order,
            potential: Vec::new(),
            short: Vec::new(),
            shift: 0,
        };
        profile.spread(forest, joiner.observer)?;
        Ok(profile)
    }

    /// About how many bytes it keeps, those of its rows included: as long as it is there, they are.
    pub(super) fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().map(|row| row.bytes()).sum();
        let tables: usize = self.roots.iter().map(|table| 8 * table.len()).sum();
        let clashes: usize = self.runs.iter().map(|run| 8 * run.clash.len()).sum();
        size_of::<Profile>() + rows + tables + clashes + 32 * self.most.len() + 12 * self.potential.len()
    }

    /// Remembers the potentials of the children for the next ones like them.
    pub(super) fn learn(&self, duals: &[i64]) {
        self.rows.iter().zip(duals).for_each(|(row, &dual)| row.learn_dual(dual));
    }

    /// The potentials of the children.
    pub(super) fn duals(&self) -> &[i64] {
        &self.duals
    }

    /// The cost of giving up each child.
    pub(super) fn most(&self) -> &[i64] {
        &self.most
    }

    /// How many children there are of the class that begins at this one.
    pub(super) fn width(&self, first: usize) -> usize {
        self.runs.iter().find(|run| run.reps.start == first).map_or(0, |run| run.reps.len())
    }

    /// Appends what pairing each child of a kind's class with it costs, and gives the first of these children.
    pub(super) fn costs_of(&self, forest: &Forest, kind: u32, costs: &mut Vec<i64>) -> usize {
        let form = forest.kinds.form[kind as usize];
        let class = forest.forms.class[form as usize];
        let Some(run) = self.runs.iter().find(|run| run.class == class) else {
            return self.duals.len();
        };
        let at = forest.forms.shapes.of_form[form as usize] as usize;
        let local = forest.kinds.local[kind as usize] as usize * run.reps.len();
        let clash = &run.clash[local..local + run.reps.len()];
        costs.extend(run.reps.clone().zip(clash).map(|(i, far)| self.rows[i].costs.all[at] + far));
        run.reps.start
    }

    /// Takes other potentials of the children, and the order to look at them.
    pub(super) fn set_duals(
        &mut self,
        forest: &Forest,
        (duals, taken): (&[i64], &[i64]),
        observer: &dyn Observer,
    ) -> Hot<()> {
        self.order.sort_by_key(|&i| taken[i]);
        self.duals.clear();
        self.duals.extend(duals.iter().zip(&self.most).map(|(&dual, &most)| dual.min(most)));
        self.spread(forest, observer)
    }

    /// Works out the potentials of all kinds.
    fn spread(&mut self, forest: &Forest, observer: &dyn Observer) -> Hot<()> {
        let (kinds, forms) = (&forest.kinds, &forest.forms);
        self.base = self.duals.iter().sum();
        self.potential.clear();
        self.potential.extend(kinds.form.iter().map(|&f| forms.prune[f as usize]));
        let mut reduced: Vec<i64> = Vec::new();
        for run in &self.runs {
            let width = run.reps.len();
            let mut last = u32::MAX;
            let range = kinds.class_start[run.class as usize]..kinds.class_start[run.class as usize + 1];
            for kind in range.start as usize..range.end as usize {
                let form = kinds.form[kind];
                if form != last {
                    go_on(observer)?;
                    last = form;
                    let at = forms.shapes.of_form[form as usize] as usize;
                    reduced.clear();
                    reduced.extend(run.reps.clone().map(|i| self.rows[i].costs.all[at] - self.duals[i]));
                }
                let local = kinds.local[kind] as usize;
                let clash = &run.clash[local * width..(local + 1) * width];
                let least = reduced.iter().zip(clash).map(|(&cost, &far)| cost + far).min().unwrap_or(FAR);
                self.potential[kind] = self.potential[kind].min(least);
            }
        }
        let most = self.potential.iter().map(|p| p.unsigned_abs()).max().unwrap_or(0);
        self.shift = (u64::BITS - most.leading_zeros()).saturating_sub(i32::BITS - 1);
        self.short.clear();
        self.short.extend(self.potential.iter().map(|&p| (p >> self.shift) as i32));
        Ok(())
    }

    /// The cost of the record's own values.
    #[inline]
    pub(super) fn root(&self, forest: &Forest, record: u32) -> i64 {
        let values = forest.root_values(record);
        self.roots.iter().zip(values).map(|(table, &node)| table[node as usize]).sum()
    }

    /// No record costs less than this; without children it is the cost.
    #[inline]
    pub(super) fn bound(&self, forest: &Forest, record: u32) -> i64 {
        self.bounds(forest).of(record)
    }

    /// The bounds of all records, for several threads.
    pub(super) fn bounds<'p>(&'p self, forest: &'p Forest) -> Bounds<'p> {
        let (short, shift) = (self.short.as_slice(), self.shift);
        Bounds { forest, roots: &self.roots, base: self.base, short, shift }
    }

    /// The cost of joining a record, whose root must not clash; none if it is more than `limit`.
    pub(super) fn cost(
        &self,
        joiner: &mut Joiner<'_>,
        rep: &Rep,
        record: u32,
        limit: i64,
    ) -> Hot<Option<i64>> {
        let forest = joiner.forest;
        let mut costs = std::mem::take(&mut joiner.costs);
        costs.clear();
        let total = self.run_all(joiner, rep, record, limit, &mut costs)?;
        joiner.costs = costs;
        debug_assert!(total.is_none_or(|t| t >= self.bound(forest, record)));
        Ok(total.filter(|&t| t <= limit))
    }

    fn run_all(
        &self,
        joiner: &mut Joiner<'_>,
        rep: &Rep,
        record: u32,
        limit: i64,
        costs: &mut Vec<i64>,
    ) -> Hot<Option<i64>> {
        let forest = joiner.forest;
        let forms = &forest.forms;
        let kinds = &forest.kinds;
        let (mine, kid_forms) = (forest.kid_kinds(record), forest.kid_forms(record));
        let potentials: i64 = mine.iter().map(|&kind| self.potential[kind as usize]).sum();
        let slack = limit - self.base - self.root(forest, record) - potentials;
        let mut over = 0;
        let mut total = self.root(forest, record);
        // Children of classes that the representative has none of.
        total += mine.iter().map(|&k| forms.prune[kinds.form[k as usize] as usize]).sum::<i64>();
        let mut from = 0;
        let mut parts: Vec<(Range<usize>, usize)> = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            let range = kinds.class_start[run.class as usize]..kinds.class_start[run.class as usize + 1];
            from += mine[from..].iter().take_while(|&&k| k < range.start).count();
            let own = from..from + mine[from..].iter().take_while(|&&k| k < range.end).count();
            from = own.end;
            let room = run.reps.len() * own.len();
            parts.push((own, costs.len()));
            costs.resize(costs.len() + room, 0);
        }
        for &r in &self.order {
            let at = self.runs.partition_point(|run| run.reps.end <= r);
            let (run, (own, room)) = (&self.runs[at], &parts[at]);
            let (i, width) = (r - run.reps.start, run.reps.len());
            let mut least = self.most[r];
            let row = &self.rows[r].costs.all;
            let room = &mut costs[room + i * own.len()..room + (i + 1) * own.len()];
            for (cell, &kind) in room.iter_mut().zip(&mine[own.clone()]) {
                let form = kinds.form[kind as usize];
                let clash = run.clash[kinds.local[kind as usize] as usize * width + i];
                let apart = self.most[r] + forms.prune[form as usize];
                let shape = forms.shapes.of_form[form as usize] as usize;
                *cell = if clash > 0 { apart } else { row[shape] };
                least = least.min(*cell - self.potential[kind as usize]);
            }
            over += least - self.duals[r];
            if over > slack {
                return Ok(None);
            }
        }
        let last = parts.len().saturating_sub(1);
        for (at, (own, room)) in parts.into_iter().enumerate() {
            let run = &self.runs[at];
            // What later classes save is not known yet.
            let limit = if at == last { limit - total } else { FAR };
            let matrix = &mut costs[room..room + run.reps.len() * own.len()];
            let kids = (&mine[own.clone()], &kid_forms[own]);
            match self.pair(joiner, rep, run, kids, matrix, limit)? {
                Some(paired) => total += paired,
                None => return Ok(None),
            }
        }
        Ok(Some(total))
    }

    /// What pairing children of one class adds to giving up the record's; none if the least is more than `limit`.
    fn pair(
        &self,
        joiner: &mut Joiner<'_>,
        rep: &Rep,
        run: &Run,
        (mine, kid_forms): (&[u32], &[u32]),
        costs: &mut [i64],
        limit: i64,
    ) -> Hot<Option<i64>> {
        let forest = joiner.forest;
        let kinds = &forest.kinds;
        let (n, m) = (run.reps.len(), mine.len());
        let given_up: i64 = self.most[run.reps.clone()].iter().sum();
        if m == 0 {
            return Ok(Some(given_up));
        }
        for (i, r) in run.reps.clone().enumerate().filter(|(_, r)| !self.rows[*r].costs.is_exact) {
            for (j, &kind) in mine.iter().enumerate() {
                if run.clash[kinds.local[kind as usize] as usize * n + i] == 0 {
                    costs[i * m + j] = exact(joiner, &self.rows[r], kid_forms[j])?;
                }
            }
        }
        let alone = |j: usize| forest.forms.prune[kinds.form[mine[j] as usize] as usize];
        if joiner.matching == Matching::Lsap {
            // What every pair saves; whoever has no partner saves nothing.
            let size = n.max(m);
            let mut matrix = std::mem::take(&mut joiner.matrix);
            matrix.clear();
            matrix.resize(size * size, 0);
            for (i, r) in run.reps.clone().enumerate() {
                for j in 0..m {
                    matrix[i * size + j] = costs[i * m + j] - self.most[r] - alone(j);
                }
            }
            let mut columns: Vec<i64> = Vec::with_capacity(size);
            columns
                .extend(mine.iter().enumerate().map(|(j, &kind)| self.potential[kind as usize] - alone(j)));
            columns.resize(size, 0);
            let saved =
                joiner.solver.solve_from(size, &matrix, &columns, limit - given_up, joiner.observer)?;
            joiner.matrix = matrix;
            return Ok(saved.map(|saved| given_up + saved));
        }
        // Rows are the smaller side.
        let swapped = n > m;
        let (rows, columns) = if swapped { (m, n) } else { (n, m) };
        let place = |at: usize| if swapped { (at % n, at / n) } else { (at / m, at % m) };
        let seen: Vec<i64> = (0..rows * columns)
            .map(|at| {
                let (i, j) = place(at);
                let kind = mine[j] as usize;
                let secret = kinds.secrets[run.class as usize][kinds.local[kind] as usize];
                match joiner.matching {
                    Matching::X => head(joiner, &rep.kids[run.reps.start + i], kinds.form[kind], secret),
                    _ => costs[i * m + j],
                }
            })
            .collect();
        let chosen = greedy(rows, columns, &seen);
        let saved = chosen.iter().enumerate().map(|(row, &column)| {
            let (i, j) = place(row * columns + column);
            costs[i * m + j] - self.most[run.reps.start + i] - alone(j)
        });
        Ok(Some(given_up + saved.sum::<i64>()))
    }
}

/// Lower bounds of records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'p> {
    forest: &'p Forest,
    roots: &'p [Vec<i64>],
    base: i64,
    short: &'p [i32],
    shift: u32,
}

impl Bounds<'_> {
    #[inline]
    pub(super) fn of(&self, record: u32) -> i64 {
        let values = self.forest.root_values(record);
        let root: i64 = self.roots.iter().zip(values).map(|(table, &node)| table[node as usize]).sum();
        let range = self.forest.kid_range(record);
        let kinds = &self.forest.kinds;
        let below: i64 = match kinds.short.get(range.clone()) {
            Some(short) => short.iter().map(|&kind| i64::from(self.short[usize::from(kind)])).sum(),
            None => kinds.of_kid[range].iter().map(|&kind| i64::from(self.short[kind as usize])).sum(),
        };
        self.base + root + (below << self.shift)
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
