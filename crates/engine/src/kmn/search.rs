//! AllCutSearch, GreedyCutSearch, OnlyCutSearch.
//!
//! The search starts with nothing published. A child of a cut publishes one more attribute as its root, or replaces one
//! node by its children. A cut whose values alone are not sound is dropped with all cuts below it; otherwise its
//! relations are repaired.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bosket_model::observe::Observer;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::cost::{Counted, Reuse, relations_lost};
use super::domain::{Domain, Node};
use super::publish::rewrite;
use super::rows::{Group, Rows, Step, split};
use super::structure::{Repair, Repaired, relate};
use super::values::{self, Sets};
use super::violations::{Concerned, Knowledge, Pair, Range, Related, violations};

/// By which figure cuts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// RPD_a, on the synopsis.
    RpdA,
    /// RPD, on the records.
    Rpd,
    /// Half the detail lost per value, half the share of relations lost.
    Lm,
}

/// What a search needs.
pub(super) struct Problem<'a> {
    pub(super) domain: Domain<'a>,
    pub(super) rows: Rows,
    pub(super) range: Range,
    pub(super) cost: Cost,
    /// Cuts may be repaired by taking relations apart.
    pub(super) repair: bool,
    pub(super) max_cuts: u64,
    /// How many of its cheapest solutions a search hands on.
    pub(super) finalists: usize,
    /// What the parent found out about a step is used again; switched off in tests.
    pub(super) remember: bool,
}

/// A sound cut with its rules.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub(super) cut: Vec<Node>,
    pub(super) rules: Vec<Pair>,
    pub(super) cost: f64,
}

impl Solution {
    /// Cheap ones first; of equally cheap ones those with more detail.
    pub(super) fn rank(&self) -> (u64, std::cmp::Reverse<usize>) {
        (rounded(self.cost), std::cmp::Reverse(self.cut.len()))
    }
}

/// A cost without its last bits, which depend on the order of additions. Costs are not negative, so their bits are in
/// their order.
fn rounded(cost: f64) -> u64 {
    cost.to_bits() >> 16
}

/// What a search has found.
#[derive(Default)]
pub(super) struct Found {
    /// The cheapest, ascending; at most as many as the problem asks for.
    pub(super) best: Vec<Solution>,
    pub(super) examined: u64,
    /// The search ended because it had examined as many cuts as allowed.
    pub(super) exhausted: bool,
}

/// The rows of a cut, grouped by their paths.
pub(super) struct Grouped {
    pub(super) groups: Vec<Group>,
}

impl Grouped {
    /// The ancestors that rules leave to each position of each group.
    pub(super) fn rewrite(&self, rules: &[Pair]) -> Vec<Vec<u64>> {
        let rule: FxHashMap<Pair, u32> = rules.iter().enumerate().map(|(i, &p)| (p, i as u32)).collect();
        self.groups.iter().map(|g| rewrite(&g.path, &rule)).collect()
    }
}

impl Grouped {
    /// The pairs that are related somewhere by one set of ancestors and not by the other.
    pub(super) fn difference(&self, a: &[Vec<u64>], b: &[Vec<u64>]) -> BTreeSet<Pair> {
        let mut pairs = BTreeSet::new();
        for (g, group) in self.groups.iter().enumerate() {
            for (j, &node) in group.path.iter().enumerate() {
                let differ = a[g][j] ^ b[g][j];
                pairs.extend((0..j).filter(|i| differ >> i & 1 == 1).map(|i| (group.path[i], node)));
            }
        }
        pairs
    }
}

/// A cut with everything that its children build on.
struct State {
    cut: Vec<Node>,
    groups: Vec<Group>,
    related: Related,
    violations: Vec<Knowledge>,
    rules: Vec<Pair>,
    cost: f64,
    /// Steps whose values are not sound here, nor in any cut below.
    dead: BTreeSet<u64>,
    /// The nodes that have come in with this cut.
    fresh: Vec<Node>,
    /// What the parent found out about its other steps: sound by values, with these violations.
    known: Arc<BTreeMap<u64, Vec<Knowledge>>>,
    /// Its synopsis without rules.
    counted: Option<Counted>,
}

impl State {
    fn accepted(&self, problem: &Problem<'_>) -> bool {
        problem.repair || self.violations.is_empty()
    }

    fn solution(&self) -> Solution {
        Solution { cut: self.cut.clone(), rules: self.rules.clone(), cost: self.cost }
    }
}

/// Steps in the order of nodes; publishing comes before specialising the root.
fn key(step: Step, domain: &Domain<'_>) -> u64 {
    match step {
        Step::Publish(level) => 2 * u64::from(domain.levels[level].root),
        Step::Specialise(node) => 2 * u64::from(node) + 1,
    }
}

impl Problem<'_> {
    fn start(&self) -> State {
        let rows = (0..self.rows.len() as u32).collect();
        State {
            cut: Vec::new(),
            groups: vec![Group { path: Vec::new(), rows }],
            related: Related::new(),
            violations: Vec::new(),
            rules: Vec::new(),
            cost: f64::INFINITY,
            dead: BTreeSet::new(),
            fresh: Vec::new(),
            known: Arc::default(),
            counted: None,
        }
    }

    fn steps(&self, state: &State) -> Vec<Step> {
        let mut steps: Vec<Step> = (0..self.domain.levels.len())
            .filter(|&l| !state.cut.iter().any(|&n| self.domain.level_of(n) == l))
            .map(Step::Publish)
            .collect();
        steps.extend(
            state.cut.iter().filter(|&&n| !self.domain.children(n).is_empty()).map(|&n| Step::Specialise(n)),
        );
        steps.sort_by_key(|&s| key(s, &self.domain));
        steps.retain(|&s| !state.dead.contains(&key(s, &self.domain)));
        steps
    }

    fn child_cut(&self, state: &State, step: Step) -> Vec<Node> {
        let mut cut: Vec<Node> = state.cut.iter().copied().filter(|&n| Step::Specialise(n) != step).collect();
        cut.extend(step.new_nodes(&self.domain));
        cut.sort_unstable();
        cut
    }

    /// The child, unless its values are not sound; with the violations that hold its new nodes.
    fn child(&self, state: &State, step: Step) -> Option<(State, Vec<Knowledge>)> {
        let domain = &self.domain;
        let new = step.new_nodes(domain);
        let gone = |node: Node| step == Step::Specialise(node);
        let old: Vec<Node> = state.cut.iter().copied().filter(|&n| !gone(n)).collect();
        let known = state.known.get(&key(step, domain)).filter(|_| self.remember);
        let fresh = known.map(|_| state.fresh.as_slice());
        if !values::sound(domain, &Sets { new: &new, fresh, old: &old }, self.range.k, self.range.m) {
            return None;
        }
        let cut = self.child_cut(state, step);
        let (mut groups, touched) = split(&state.groups, step, &self.rows, domain);
        let (mut related, mut own, mut broken) = (Related::new(), Vec::new(), Vec::new());
        if self.range.n > 0 {
            let is_new = |node: Node| new.binary_search(&node).is_ok();
            related = relate(&groups, None, &self.rows, domain.records, |(a, b)| is_new(a) || is_new(b));
            related.extend(
                state
                    .related
                    .iter()
                    .filter(|((a, b), _)| !gone(*a) && !gone(*b))
                    .map(|(p, s)| (*p, s.clone())),
            );
            own = violations(domain, &cut, &related, self.range, &Concerned::Nodes(&new, fresh));
            // What was violated at the parent and does not hold the node that has gone since is violated still.
            let is_in = |k: &&Knowledge| k.nodes().iter().all(|n| cut.binary_search(n).is_ok());
            own.extend(known.into_iter().flatten().filter(is_in).cloned());
            broken.extend(state.violations.iter().filter(is_in).cloned());
            broken.extend(own.iter().cloned());
            broken.sort();
        }
        groups.extend(
            state.groups.iter().zip(&touched).filter(|(_, touched)| !**touched).map(|(g, _)| g.clone()),
        );
        groups.sort_by(|a, b| a.path.cmp(&b.path));
        let repaired = if broken.is_empty() || !self.repair {
            Repaired::default()
        } else {
            Repair::new(domain, &self.rows, &groups, &cut, self.range, &related).run(broken.clone())
        };
        let above = (!repaired.rules.is_empty()).then_some(repaired.above.as_slice());
        let reuse = match (step, &state.counted) {
            (Step::Specialise(_), Some(counted)) if self.remember => Reuse::Above(counted),
            _ => Reuse::Nothing,
        };
        let (cost, counted) = self.cost(&cut, &groups, above, reuse);
        let state = State {
            cut,
            groups,
            related,
            violations: broken,
            rules: repaired.rules,
            cost,
            dead: state.dead.clone(),
            fresh: new,
            known: Arc::default(),
            counted,
        };
        Some((state, own))
    }

    /// The rows of a cut, grouped.
    pub(super) fn relations(&self, cut: &[Node]) -> Grouped {
        let node_of = self.domain.assign_all(cut);
        let mut by_path: BTreeMap<Vec<Node>, Vec<u32>> = BTreeMap::new();
        for row in 0..self.rows.len() as u32 {
            let path = self.rows.items(row).iter().filter_map(|&i| node_of[i as usize]).collect();
            by_path.entry(path).or_default().push(row);
        }
        Grouped {
            groups: by_path.into_iter().map(|(path, rows)| Group { path, rows: rows.into() }).collect(),
        }
    }

    /// The cost of a cut, and its synopsis without rules if that was needed.
    fn cost(
        &self,
        cut: &[Node],
        groups: &[Group],
        above: Option<&[Vec<u64>]>,
        reuse: Reuse<'_>,
    ) -> (f64, Option<Counted>) {
        let (rows, domain) = (&self.rows, &self.domain);
        if self.cost == Cost::Lm {
            return (0.5 * domain.detail_lost(cut) + 0.5 * relations_lost(groups, above, rows), None);
        }
        let plain = Counted::new(groups, None, rows, domain, reuse);
        let repaired = above.map(|above| {
            let reuse = if self.remember { Reuse::Unrepaired(&plain) } else { Reuse::Nothing };
            Counted::new(groups, Some(above), rows, domain, reuse)
        });
        let counted = repaired.as_ref().unwrap_or(&plain);
        let cost = match self.cost {
            Cost::RpdA => counted.rpd_a(domain),
            _ => counted.rpd(groups, rows, domain),
        };
        (cost, Some(plain))
    }

    /// The synopsis of a cut without rules, if the cost needs one.
    pub(super) fn unrepaired(&self, grouped: &Grouped) -> Option<Counted> {
        let count = || Counted::new(&grouped.groups, None, &self.rows, &self.domain, Reuse::Nothing);
        (self.cost != Cost::Lm).then(count)
    }

    /// The figure that judges a cut with rules: exact RPD, unless the search is about detail.
    pub(super) fn repaired_cost(
        &self,
        cut: &[Node],
        grouped: &Grouped,
        above: &[Vec<u64>],
        plain: Option<&Counted>,
    ) -> f64 {
        match plain {
            None => self.cost(cut, &grouped.groups, Some(above), Reuse::Nothing).0,
            Some(plain) => {
                let reuse = Reuse::Unrepaired(plain);
                let counted = Counted::new(&grouped.groups, Some(above), &self.rows, &self.domain, reuse);
                counted.rpd(&grouped.groups, &self.rows, &self.domain)
            }
        }
    }

    /// The same for a cut that is not grouped yet.
    pub(super) fn judge(&self, cut: &[Node], rules: &[Pair]) -> f64 {
        let grouped = self.relations(cut);
        self.repaired_cost(cut, &grouped, &grouped.rewrite(rules), self.unrepaired(&grouped).as_ref())
    }

    /// Exact RPD of a cut with rules.
    pub(super) fn exact_rpd(&self, cut: &[Node], rules: &[Pair]) -> f64 {
        let grouped = self.relations(cut);
        let above = grouped.rewrite(rules);
        let counted = Counted::new(&grouped.groups, Some(&above), &self.rows, &self.domain, Reuse::Nothing);
        counted.rpd(&grouped.groups, &self.rows, &self.domain)
    }

    /// The relations that rules have left, of pairs that `wanted` accepts.
    pub(super) fn related(
        &self,
        grouped: &Grouped,
        above: &[Vec<u64>],
        wanted: impl Fn(Pair) -> bool,
    ) -> Related {
        relate(&grouped.groups, Some(above), &self.rows, self.domain.records, wanted)
    }

    /// The child of a solution that is cheapest by exact RPD.
    pub(super) fn cheapest_child(&self, solution: &Solution, observer: &dyn Observer) -> Option<Solution> {
        let grouped = self.relations(&solution.cut);
        let related = relate(&grouped.groups, None, &self.rows, self.domain.records, |_| true);
        let cut = solution.cut.clone();
        let violations = violations(&self.domain, &cut, &related, self.range, &Concerned::Nodes(&cut, None));
        let counted = self.unrepaired(&grouped);
        let state = State { cut, groups: grouped.groups, related, violations, counted, ..self.start() };
        let steps = self.steps(&state);
        observer.stage("looking for more detail", steps.len() as u64);
        (steps.par_iter().enumerate())
            .filter_map(|(order, &step)| {
                observer.advance(1);
                let (child, _) = self.child(&state, step)?;
                child.accepted(self).then(|| (child.cost, order, child.solution()))
            })
            .min_by_key(|(_, order, solution)| (solution.rank(), *order))
            .map(|(_, _, solution)| solution)
    }

    /// The beam: of all children of the kept cuts the g cheapest are kept, until there are none.
    pub(super) fn gcs(&self, g: usize, observer: &dyn Observer) -> Found {
        let mut found = Found::default();
        let mut kept = vec![self.start()];
        loop {
            let mut seen: BTreeSet<Vec<Node>> = BTreeSet::new();
            let mut tasks: Vec<(usize, Step)> = Vec::new();
            for (parent, state) in kept.iter().enumerate() {
                for step in self.steps(state) {
                    if seen.insert(self.child_cut(state, step)) {
                        tasks.push((parent, step));
                    }
                }
            }
            if found.examined + tasks.len() as u64 > self.max_cuts {
                found.exhausted = true;
                break;
            }
            observer.stage(&progress(&found), tasks.len() as u64);
            let level = (tasks.par_iter().enumerate())
                .map(|(order, &(parent, step))| {
                    observer.advance(1);
                    LevelResult::one(self, order, parent, step, self.child(&kept[parent], step))
                })
                .reduce(LevelResult::default, |a, b| a.merge(b, g, self.finalists));
            found.examined += tasks.len() as u64;
            found.add(level.best.into_iter().map(|(_, _, solution)| solution), self.finalists);
            if level.kept.is_empty() {
                break;
            }
            let mut dead: Vec<BTreeSet<u64>> = kept.iter().map(|s| s.dead.clone()).collect();
            for (parent, key) in level.dead {
                dead[parent].insert(key);
            }
            let mut known: Vec<BTreeMap<u64, Vec<Knowledge>>> = vec![BTreeMap::new(); kept.len()];
            for (parent, key, violations) in level.known {
                known[parent].insert(key, violations);
            }
            let known: Vec<Arc<_>> = known.into_iter().map(Arc::new).collect();
            kept = (level.kept.into_iter())
                .map(|(_, _, parent, mut state)| {
                    state.dead.clone_from(&dead[parent]);
                    state.known = Arc::clone(&known[parent]);
                    state
                })
                .collect();
        }
        found
    }

    /// Every cut exactly once: expansions in the order of nodes, so that each set of expansions comes about in one way.
    pub(super) fn acs(&self, observer: &dyn Observer) -> Found {
        let mut found = Found::default();
        observer.stage("all cuts", self.max_cuts);
        self.below(&self.start(), 0, &mut found, observer);
        found
    }

    fn below(&self, state: &State, from: u64, found: &mut Found, observer: &dyn Observer) {
        for step in self.steps(state) {
            let key = key(step, &self.domain);
            if key < from {
                continue;
            }
            if found.examined == self.max_cuts {
                found.exhausted = true;
                return;
            }
            found.examined += 1;
            observer.advance(1);
            let Some((child, _)) = self.child(state, step) else {
                continue;
            };
            found.add(child.accepted(self).then(|| child.solution()), self.finalists);
            self.below(&child, key + 1, found, observer);
        }
    }
}

impl Found {
    /// Takes solutions in; of equal ones the first stays ahead.
    pub(super) fn add(&mut self, solutions: impl IntoIterator<Item = Solution>, finalists: usize) {
        self.best.extend(solutions);
        self.best.sort_by_key(Solution::rank);
        self.best.truncate(finalists);
    }
}

fn progress(found: &Found) -> String {
    match found.best.first() {
        None => "searching cuts".to_owned(),
        Some(best) => format!("searching cuts: {} examined, best cost {:.3e}", found.examined, best.cost),
    }
}

/// What the children of one level have given so far; merging is independent of the order.
#[derive(Default)]
struct LevelResult {
    /// Cost, order, parent, state: the cheapest, ascending.
    kept: Vec<(f64, usize, usize, State)>,
    best: Vec<(f64, usize, Solution)>,
    dead: Vec<(usize, u64)>,
    known: Vec<(usize, u64, Vec<Knowledge>)>,
}

impl LevelResult {
    fn one(
        problem: &Problem<'_>,
        order: usize,
        parent: usize,
        step: Step,
        child: Option<(State, Vec<Knowledge>)>,
    ) -> Self {
        let key = key(step, &problem.domain);
        match child {
            None => LevelResult { dead: vec![(parent, key)], ..Self::default() },
            Some((state, violations)) => LevelResult {
                best: state
                    .accepted(problem)
                    .then(|| (state.cost, order, state.solution()))
                    .into_iter()
                    .collect(),
                kept: vec![(state.cost, order, parent, state)],
                dead: Vec::new(),
                known: vec![(parent, key, violations)],
            },
        }
    }

    fn merge(mut self, other: LevelResult, g: usize, finalists: usize) -> Self {
        self.dead.extend(other.dead);
        self.known.extend(other.known);
        self.kept.extend(other.kept);
        self.kept.sort_by_key(|&(cost, order, ..)| (rounded(cost), order));
        self.kept.truncate(g);
        self.best.extend(other.best);
        self.best.sort_by_key(|(_, order, solution)| (solution.rank(), *order));
        self.best.truncate(finalists);
        self
    }
}
