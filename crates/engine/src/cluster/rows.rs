//! What it costs to join the vertices of a representative with every shape: one row of costs per vertex.
//!
//! Representatives of different clusters have many subtrees in common, so rows are kept and found again by what the
//! subtree is. Where a shape has many children, or sensitive values below it may clash, the row holds a lower bound and the
//! exact cost of a form is worked out on demand.
//!
//! A cluster of one, somebody who takes math and reads x there, is to meet people who take math, take art, or take math and
//! read x. Courses and books have two values each below `*`, so a value that becomes `*` costs 1, as one that is given up.
//!
//! ```text
//! shapes of courses         math   art   math(x)       of books   x
//! prune                     1      1     2                        1
//! row of the vertex math(x) 1      3     0
//! row of its book                                                 0
//! ```
//!
//! With math, x finds no partner and the member gives it up: 1. With art, the member and the newcomer both lose the course,
//! 2, and x goes again: 3. With math(x) nothing is lost. What the newcomer keeps for himself is counted where he has more:
//! a member without book that meets math(x) would cost the newcomer's x. Members count while clusters grow: with four of
//! them the row would be 4, 9, 0.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::forest::{Forest, Kid};
use super::interrupted::{Hot, go_on};
use super::params::Matching;
use super::rep::{FAR, Joiner, MANY_KIDS, Rep, greedy};

/// Bytes that rows take at most, however much there is.
const MOST_BYTES: usize = 160 << 20;

/// Bytes of a cost that is worked out later.
const LATER: usize = 24;

/// Problems up to this size are solved at once; larger ones are bounded first.
const SMALL: usize = 2;

/// The costs of one subtree of a representative with all shapes of its class. Sensitive values are not looked at: what
/// clashes only costs more.
#[derive(Debug)]
pub(super) struct Costs {
    /// Exact or a lower bound.
    pub(super) all: Vec<i64>,
    exact: Vec<bool>,
    /// Whether all of them are exact.
    pub(super) is_exact: bool,
}

impl Costs {
    fn bytes(&self) -> usize {
        size_of::<Costs>() + 9 * self.all.len()
    }
}

/// A subtree of a representative: its costs, and what is needed to work out those that are not exact.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) costs: Rc<Costs>,
    /// By form, which tells the sensitive values as well.
    later: RefCell<FxHashMap<u32, i64>>,
    /// Bytes that all rows together have taken since they were made.
    grown: Rc<Cell<usize>>,
    kids: Vec<Rc<Row>>,
    /// The subtree that the row was made for, if costs are still to be worked out. Others that have the row may have
    /// their children in another order than `kids`.
    made_for: Option<Rep>,
    /// Potentials that the subtree had in assignments: their sum and number.
    dual: Cell<(i64, i64)>,
}

impl Row {
    /// The potential that the subtree usually has.
    pub(super) fn usual_dual(&self) -> i64 {
        let (sum, count) = self.dual.get();
        if count == 0 { 0 } else { sum / count }
    }

    /// About how many bytes it takes, its costs included, which others may have too.
    pub(super) fn bytes(&self) -> usize {
        self.own_bytes() + self.costs.bytes()
    }

    fn own_bytes(&self) -> usize {
        let rep = self.made_for.as_ref().map_or(0, Rep::bytes);
        size_of::<Row>() + LATER * self.later.borrow().len() + 8 * self.kids.len() + rep
    }

    pub(super) fn learn_dual(&self, dual: i64) {
        let (sum, count) = self.dual.get();
        self.dual.set((sum + dual, count + 1));
    }
}

/// All rows.
#[derive(Debug)]
pub(super) struct Rows {
    numbers: FxHashMap<Vec<u32>, u32>,
    rows: FxHashMap<u32, Rc<Row>>,
    /// The same for all subtrees that differ in nothing but sensitive values.
    costs: FxHashMap<u32, Rc<Costs>>,
    bytes: usize,
    grown: Rc<Cell<usize>>,
    room: usize,
}

impl Rows {
    /// Rows that take no more than so many bytes, but for those in use.
    pub(super) fn new(room: usize) -> Self {
        Rows {
            numbers: FxHashMap::default(),
            rows: FxHashMap::default(),
            costs: FxHashMap::default(),
            bytes: 0,
            grown: Rc::default(),
            room: room.min(MOST_BYTES),
        }
    }

    /// The number of everything about a subtree that its costs depend on, with the sensitive values below it or without.
    fn number(&mut self, joiner: &Joiner<'_>, rep: &Rep, secrets: bool) -> u32 {
        let mut kids: Vec<Vec<u32>> = Vec::with_capacity(rep.kids.len());
        for kid in &rep.kids {
            let mut key = vec![self.number(joiner, kid, secrets)];
            let sensitive = joiner.forest.classes[kid.class as usize].sensitive;
            if secrets && joiner.most.is_some() {
                for i in 0..sensitive {
                    let from = key.len();
                    key.extend(kid.labels.iter().skip(i).step_by(sensitive));
                    key[from..].sort_unstable();
                }
            }
            kids.push(key);
        }
        if joiner.matching == Matching::Lsap {
            kids.sort_unstable();
        }
        let mut key = vec![rep.class, rep.members() as u32];
        key.extend_from_slice(&rep.values);
        kids.iter().for_each(|k| key.extend_from_slice(k));
        let next = self.numbers.len() as u32;
        *self.numbers.entry(key).or_insert(next)
    }

    /// The row of a subtree.
    pub(super) fn row(&mut self, joiner: &mut Joiner<'_>, rep: &Rep) -> Hot<Rc<Row>> {
        let number = self.number(joiner, rep, true);
        if let Some(row) = self.rows.get(&number) {
            return Ok(Rc::clone(row));
        }
        let kids = rep.kids.iter().map(|k| self.row(joiner, k)).collect::<Hot<Vec<Rc<Row>>>>()?;
        let costs = self.costs(joiner, rep, &kids)?;
        let made_for = (!costs.is_exact).then(|| rep.clone());
        let (later, dual, grown) = (RefCell::default(), Cell::default(), Rc::clone(&self.grown));
        let row = Rc::new(Row { costs, later, grown, kids, made_for, dual });
        // The number's own key is about as long as the subtree has children.
        self.make_room(row.own_bytes() + 64 + 8 * rep.kids.len());
        // Its number may be gone by now: the rows of its children may have taken the room as well.
        let number = self.number(joiner, rep, true);
        self.rows.insert(number, Rc::clone(&row));
        Ok(row)
    }

    /// The costs of a subtree, whose children have these rows.
    fn costs(&mut self, joiner: &mut Joiner<'_>, rep: &Rep, kids: &[Rc<Row>]) -> Hot<Rc<Costs>> {
        let number = self.number(joiner, rep, false);
        if let Some(costs) = self.costs.get(&number) {
            return Ok(Rc::clone(costs));
        }
        let costs = Rc::new(make(joiner, rep, kids)?);
        self.make_room(costs.bytes());
        let number = self.number(joiner, rep, false);
        self.costs.insert(number, Rc::clone(&costs));
        Ok(costs)
    }

    /// Takes so many bytes. If there is no room, rows in use live on; the others are made again when they are needed.
    fn make_room(&mut self, bytes: usize) {
        if self.bytes + self.grown.get() + bytes > self.room {
            self.rows.clear();
            self.costs.clear();
            self.numbers.clear();
            self.bytes = 0;
            self.grown.set(0);
        }
        self.bytes += bytes;
    }
}

/// Works out the costs of a subtree, whose children have these rows.
fn make(joiner: &mut Joiner<'_>, rep: &Rep, kids: &[Rc<Row>]) -> Hot<Costs> {
    let forest = joiner.forest;
    let class = &forest.classes[rep.class as usize];
    let weight = joiner.weight(rep.members()) + 1;
    let mut tables: Vec<Vec<i64>> = vec![Vec::new(); class.quasi.len()];
    for (i, table) in tables.iter_mut().enumerate() {
        forest.domains[class.quasi[i].1].costs_with(rep.values[i], table);
    }
    let forms = &forest.forms;
    let shapes = &forms.shapes.first[rep.class as usize];
    let mut costs = Costs {
        all: Vec::with_capacity(shapes.len()),
        exact: Vec::with_capacity(shapes.len()),
        is_exact: true,
    };
    for &form in shapes {
        go_on(joiner.observer)?;
        let values = forms.values(form);
        let own: i64 = values.iter().zip(&tables).map(|(&n, table)| table[n as usize]).sum();
        let (below, exact) = children(joiner, rep, kids, forms.kids(form))?;
        costs.all.push(weight * own + below);
        costs.exact.push(exact);
        costs.is_exact &= exact;
    }
    Ok(costs)
}

/// The cost of joining a subtree with a form.
pub(super) fn exact(joiner: &mut Joiner<'_>, row: &Row, form: u32) -> Hot<i64> {
    let forest = joiner.forest;
    let class = forest.forms.class[form as usize];
    let at = forest.forms.shapes.of_form[form as usize] as usize;
    let Some(rep) = row.made_for.as_ref().filter(|_| !row.costs.exact[at]) else {
        return Ok(row.costs.all[at]);
    };
    if let Some(&known) = row.later.borrow().get(&form) {
        return Ok(known);
    }
    let class = &forest.classes[class as usize];
    let values = forest.forms.values(form);
    let own: i64 = (0..values.len())
        .map(|i| {
            let domain = &forest.domains[class.quasi[i].1];
            domain.cost(domain.lca(rep.values[i], values[i]))
        })
        .sum();
    let mut cost = (joiner.weight(rep.members()) + 1) * own;
    for (run, kids) in runs(forest, rep, forest.forms.kids(form)) {
        cost += solve(joiner, &rep.kids[run.clone()], &row.kids[run], kids, true)?;
    }
    row.later.borrow_mut().insert(form, cost);
    row.grown.set(row.grown.get() + LATER);
    Ok(cost)
}

/// The cost of pairing a representative's children of one class with a form's; without secrets a lower bound, as if
/// nothing clashed.
fn solve(joiner: &mut Joiner<'_>, reps: &[Rep], rows: &[Rc<Row>], kids: &[Kid], secrets: bool) -> Hot<i64> {
    let forest = joiner.forest;
    let prune = &forest.forms.prune;
    let given_up: i64 = kids.iter().map(|k| prune[k.form as usize]).sum();
    let Some(first) = reps.first() else {
        return Ok(given_up);
    };
    let weight = joiner.weight(first.members());
    if kids.is_empty() {
        return Ok(reps.iter().map(|r| weight * r.prune).sum());
    }
    let swapped = reps.len() > kids.len();
    let (n, m) = if swapped { (kids.len(), reps.len()) } else { (reps.len(), kids.len()) };
    let mut matrix = std::mem::take(&mut joiner.matrix);
    matrix.clear();
    for row in 0..n {
        if m >= MANY_KIDS {
            go_on(joiner.observer)?;
        }
        for column in 0..m {
            let (i, j) = if swapped { (column, row) } else { (row, column) };
            if !secrets {
                let shape = forest.forms.shapes.of_form[kids[j].form as usize];
                matrix.push(rows[i].costs.all[shape as usize]);
                continue;
            }
            let secret = forest.secrets.labels(kids[j].secret);
            matrix.push(if joiner.clash(first.class, &reps[i].labels, secret) {
                weight * reps[i].prune + prune[kids[j].form as usize]
            } else {
                exact(joiner, &rows[i], kids[j].form)?
            });
        }
    }
    let alone = |column: usize| {
        if swapped { weight * reps[column].prune } else { prune[kids[column].form as usize] }
    };
    let all: i64 = (0..m).map(alone).sum();
    let total = match joiner.matching {
        Matching::Lsap => {
            for costs in matrix.chunks_exact_mut(m) {
                costs.iter_mut().enumerate().for_each(|(column, cost)| *cost -= alone(column));
            }
            all + joiner.solver.solve(n, m, &matrix, FAR, joiner.observer)?.unwrap_or(FAR)
        }
        Matching::Grd | Matching::X => {
            let chosen = match joiner.matching {
                Matching::Grd => greedy(n, m, &matrix),
                _ => {
                    let heads: Vec<i64> = (0..n * m)
                        .map(|at| {
                            let (i, j) = if swapped { (at % m, at / m) } else { (at / m, at % m) };
                            head(joiner, &reps[i], kids[j].form, kids[j].secret)
                        })
                        .collect();
                    greedy(n, m, &heads)
                }
            };
            let paired = chosen.iter().enumerate().map(|(row, &c)| matrix[row * m + c] - alone(c));
            all + paired.sum::<i64>()
        }
    };
    joiner.matrix = matrix;
    Ok(total)
}

/// The cost of two vertices by their own values alone.
pub(super) fn head(joiner: &Joiner<'_>, rep: &Rep, form: u32, secret: u32) -> i64 {
    let forest = joiner.forest;
    let class = &forest.classes[rep.class as usize];
    let weight = joiner.weight(rep.members()) + 1;
    if joiner.clash(rep.class, &rep.labels, forest.secrets.labels(secret)) {
        return weight * class.own;
    }
    let values = forest.forms.values(form);
    let cost = |i: usize| {
        let domain = &forest.domains[class.quasi[i].1];
        domain.cost(domain.lca(rep.values[i], values[i]))
    };
    weight * (0..values.len()).map(cost).sum::<i64>()
}

/// Children of a representative's vertex, by their positions, with those of a form, class by class.
fn runs<'k>(
    forest: &Forest,
    rep: &Rep,
    kids: &'k [Kid],
) -> impl Iterator<Item = (std::ops::Range<usize>, &'k [Kid])> {
    let (mut at, mut rest) = (0, kids);
    std::iter::from_fn(move || {
        let class_of = |k: &Kid| forest.forms.class[k.form as usize];
        let class =
            (rep.kids.get(at).map(|k| k.class)).into_iter().chain(rest.first().map(class_of)).min()?;
        let end = at + rep.kids[at..].iter().take_while(|k| k.class == class).count();
        let own = rest.iter().take_while(|k| class_of(k) == class).count();
        let (run, others) = rest.split_at(own);
        rest = others;
        let range = at..end;
        at = end;
        Some((range, run))
    })
}

/// The cost of pairing all children of a vertex with those of a form, and whether it is exact.
fn children(joiner: &mut Joiner<'_>, rep: &Rep, rows: &[Rc<Row>], kids: &[Kid]) -> Hot<(i64, bool)> {
    if rep.kids.is_empty() && kids.is_empty() {
        return Ok((0, true));
    }
    let (mut cost, mut all_exact) = (0, true);
    for (run, kids) in runs(joiner.forest, rep, kids) {
        let (reps, rows) = (&rep.kids[run.clone()], &rows[run]);
        let pairs = reps.len().min(kids.len());
        let may_clash =
            |r: &Rep| joiner.most.is_some() && joiner.forest.classes[r.class as usize].has_secrets;
        let apart = pairs == 0 || !reps.first().is_some_and(may_clash);
        if pairs <= SMALL && (apart || joiner.matching == Matching::Lsap) {
            cost += solve(joiner, reps, rows, kids, apart)?;
            all_exact &= apart;
        } else {
            cost += bound(joiner, reps, rows, kids);
            all_exact = false;
        }
    }
    Ok((cost, all_exact))
}

/// Each child on its own, from both sides: no pairing costs less.
fn bound(joiner: &Joiner<'_>, reps: &[Rep], rows: &[Rc<Row>], kids: &[Kid]) -> i64 {
    let forms = &joiner.forest.forms;
    let weight = joiner.weight(reps[0].members());
    let mut least: Vec<i64> = reps.iter().map(|r| weight * r.prune).collect();
    let mut by_kids = 0;
    for kid in kids {
        let at = forms.shapes.of_form[kid.form as usize] as usize;
        let mut own = forms.prune[kid.form as usize];
        for (least, row) in least.iter_mut().zip(rows) {
            own = own.min(row.costs.all[at]);
            *least = (*least).min(row.costs.all[at]);
        }
        by_kids += own;
    }
    by_kids.max(least.iter().sum())
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;
    use bosket_model::policy::Role;
    use bosket_testkit::fixtures::{bound, hierarchy};
    use bosket_testkit::vertices::{self, BOOKS, PERSON, TAKES, Vertex};

    use super::*;
    use crate::cluster::cells::Facts;
    use crate::cluster::{Algorithm, Lm, Params, SCALE};

    fn vertex(class: usize, value: Option<&str>, children: Vec<Vertex>) -> Vertex {
        Vertex { class, values: [value.map(str::to_owned), None, None, None], children }
    }

    #[test]
    fn the_example_of_the_head() {
        let book = || vec![vertex(BOOKS, Some("x"), Vec::new())];
        let takes = |course, books| vec![vertex(TAKES, Some(course), books)];
        let courses = [takes("math", book()), takes("art", Vec::new()), takes("math", Vec::new())];
        let people: Vec<Vertex> = courses.into_iter().map(|below| vertex(PERSON, None, below)).collect();
        let data = vertices::dataset(&people);
        let mut roles = [[Role::Insensitive; 4]; 4];
        (roles[TAKES][0], roles[BOOKS][0]) = (Role::Quasi, Role::Quasi);
        let (_, binding) = bound(&data, &vertices::policy(&roles));
        let mut hierarchies = vec![None; 16];
        hierarchies[4 * TAKES] = Some(hierarchy("math;*\nart;*\n"));
        hierarchies[4 * BOOKS] = Some(hierarchy("x;*\ny;*\n"));
        let params = Params::plain(Algorithm::Ctoff, 2, None);
        let facts = Facts::count(&data, &binding, &Quiet).expect("nobody interrupts");
        let forest =
            Forest::new(&data, &binding, &hierarchies, &params, (&facts, &Lm), &Quiet).expect("good");
        let mut joiner = Joiner::new(&forest, Matching::Lsap, None, true, &Quiet);
        let mut rows = Rows::new(usize::MAX);
        let one = Rep::of_record(&forest, 0);
        // In which order forms are numbered does not matter: the costs tell which is which.
        let mut costs = |rep: &Rep| {
            let row = rows.row(&mut joiner, rep).expect("nobody interrupts");
            let mut costs: Vec<i64> = row.costs.all.iter().map(|cost| cost / SCALE).collect();
            costs.sort_unstable();
            costs
        };
        assert_eq!((costs(&one.kids[0]), costs(&one.kids[0].kids[0])), (vec![0, 1, 3], vec![0]));
        let mut four = one.kids[0].clone();
        four.from = vec![four.from[0]; 4];
        four.kids[0].from = vec![four.kids[0].from[0]; 4];
        assert_eq!(costs(&four), [0, 4, 9]);
    }
}
