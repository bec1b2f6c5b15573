//! GreedyCutSearch: a beam over cuts. Relations are taken apart where they give people away.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bosket_model::Result;
use rayon::prelude::*;

use super::bounds::Open;
use super::leap::Leap;
use super::{Finalists, Stop, keep_cheapest};
use crate::kmn::domain::{Node, Step};
use crate::kmn::glance::{Broken, Glance};
use crate::kmn::problem::{Cost, Problem, Solution, rounded};
use crate::kmn::state::{Child, Recalled, State};
use crate::kmn::violations::Knowledge;

/// What whoever watches is told.
pub(super) const SEARCHING: &str = "searching cuts";
/// Steps of a level, whatever it takes.
const LEVEL: u64 = 1000;

impl Problem<'_> {
    /// The beam: of all children of the kept cuts the g cheapest are kept, until there are none.
    pub(crate) fn gcs(&self, g: usize) -> Result<Finalists> {
        self.observer.stage(SEARCHING, self.beam_steps());
        self.beam(g)
    }

    /// How far a beam may go, for whoever watches; most end earlier.
    pub(super) fn beam_steps(&self) -> u64 {
        (self.domain.inner_nodes() + self.domain.levels.len()) as u64 * LEVEL
    }

    /// The same as a part of a longer search, which tells the stage.
    pub(super) fn beam(&self, g: usize) -> Result<Finalists> {
        let observer = self.observer;
        let mut left = self.beam_steps();
        let found = self.levels(g, &mut left);
        observer.advance(left);
        found
    }

    /// Goes down level by level; `left` are the steps that are not told yet.
    fn levels(&self, g: usize, left: &mut u64) -> Result<Finalists> {
        let observer = self.observer;
        let mut found = Finalists::default();
        let mut kept = match self.leap()? {
            Leap::Done(found) => return Ok(found),
            Leap::Nowhere => vec![self.start()],
            Leap::To(state, examined) => {
                found.examined = examined;
                found.add([state.solution()], self.finalists);
                vec![*state]
            }
        };
        loop {
            let mut seen: BTreeSet<Vec<Node>> = BTreeSet::new();
            let mut tasks: Vec<(usize, Step)> = Vec::new();
            for (parent, state) in kept.iter().enumerate() {
                observer.go_on()?;
                self.remember_dead(state);
                for step in self.steps(state) {
                    if seen.insert(self.child_cut(state, step)) {
                        tasks.push((parent, step));
                    }
                }
            }
            if found.examined + tasks.len() as u64 > self.max_cuts {
                found.stopped = Some(Stop::Cuts);
                break;
            }
            if (self.has_first || !found.best.is_empty()) && self.is_over() {
                found.stopped = Some(self.why_over());
                break;
            }
            for (parent, state) in kept.iter().enumerate() {
                let own = tasks.iter().filter(|(of, _)| *of == parent).map(|&(_, step)| step);
                self.spend_on(state.cut.len(), own);
            }
            let steps = LEVEL.min(*left);
            *left -= steps;
            let told = |task: usize| steps * task as u64 / tasks.len().max(1) as u64;
            let has_solution = self.has_first || !found.best.is_empty();
            let by_bounds = self.cost == Cost::Sampled && self.repair;
            let level = (tasks.par_iter().enumerate())
                .map(|(order, &(parent, step))| {
                    observer.go_on()?;
                    observer.advance(told(order + 1) - told(order));
                    // What is left of the level is given up; the next one is not begun.
                    if has_solution && observer.out_of_time() {
                        return Ok(LevelResult::default());
                    }
                    Ok(match self.recall(&kept[parent], step)? {
                        Some(recalled) => LevelResult::known(self, order, parent, step, recalled),
                        None if by_bounds => self.bounded(order, parent, step, &kept[parent])?,
                        None => {
                            LevelResult::one(self, order, parent, step, self.glance(&kept[parent], step)?)
                        }
                    })
                })
                .try_reduce(LevelResult::default, |a, b| Ok(a.merge(b, g, self.finalists)))?;
            let level = self.within_bounds(level, g, &kept)?;
            found.examined += tasks.len() as u64;
            found.violated |= level.violated;
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
            let next: Result<Vec<State>> = (level.kept.into_par_iter())
                .filter_map(|(_, order, parent, state)| {
                    let again = || self.child(&kept[parent], tasks[order].1).transpose();
                    let state = state.map(Ok).or_else(|| Some(again()?.map(|child| child.state)))?;
                    Some(state.map(|mut state| {
                        state.dead.clone_from(&dead[parent]);
                        state.known = Arc::clone(&known[parent]);
                        state
                    }))
                })
                .collect();
            kept = next?;
            let bytes = kept.iter().map(|state| self.bytes_of(state)).sum();
            if bytes > self.memory {
                found.stopped = Some(Stop::Memory(bytes));
                break;
            }
        }
        Ok(found)
    }
}

/// What the children of one level have given so far; merging is independent of the order.
#[derive(Default)]
pub(super) struct LevelResult {
    /// Cost, order, parent, state unless it was recalled or glanced at: the cheapest, ascending.
    pub(super) kept: Vec<(f64, usize, usize, Option<State>)>,
    pub(super) best: Vec<(f64, usize, Solution)>,
    pub(super) dead: Vec<(usize, u64)>,
    pub(super) known: Vec<(usize, u64, Vec<Knowledge>)>,
    pub(super) violated: bool,
    /// Children that are not repaired yet.
    pub(super) open: Vec<Open>,
}

impl LevelResult {
    pub(super) fn one(
        problem: &Problem<'_>,
        order: usize,
        parent: usize,
        step: Step,
        glance: Glance,
    ) -> Self {
        let key = problem.domain.key(step);
        let mut result = LevelResult::default();
        let Child { state, violations } = match glance {
            Glance::Dead => {
                result.dead.push((parent, key));
                return result;
            }
            Glance::Plain(solution) => {
                result.known.push((parent, key, Vec::new()));
                result.kept.push((solution.cost, order, parent, None));
                result.best.push((solution.cost, order, solution));
                return result;
            }
            Glance::Violated(Broken { cost, violations }) => {
                result.violated = true;
                result.known.push((parent, key, violations));
                result.kept.push((cost, order, parent, None));
                return result;
            }
            Glance::Open(broken) => return LevelResult::open(order, parent, step, broken),
            Glance::Whole(child) => *child,
        };
        result.known.push((parent, key, violations));
        result.violated = state.is_violated();
        if state.accepted(problem) {
            result.best.push((state.cost, order, state.solution()));
        }
        result.kept.push((state.cost, order, parent, Some(state)));
        result
    }

    fn known(problem: &Problem<'_>, order: usize, parent: usize, step: Step, recalled: Recalled) -> Self {
        let mut result = LevelResult::default();
        match recalled {
            Recalled::Dead => result.dead.push((parent, problem.domain.key(step))),
            Recalled::Judged { accepted, violated, solution } => {
                result.violated = violated;
                result.kept.push((solution.cost, order, parent, None));
                result.best.extend(accepted.then_some((solution.cost, order, solution)));
            }
        }
        result
    }

    pub(super) fn merge(mut self, other: LevelResult, g: usize, finalists: usize) -> Self {
        self.violated |= other.violated;
        self.dead.extend(other.dead);
        self.known.extend(other.known);
        self.open.extend(other.open);
        self.kept.extend(other.kept);
        self.kept.sort_by_key(|&(cost, order, ..)| (rounded(cost), order));
        self.kept.truncate(g);
        self.best.extend(other.best);
        self.best.sort_by_key(|(_, order, solution)| (solution.rank(), *order));
        keep_cheapest(&mut self.best, finalists, |(_, _, solution)| solution);
        self
    }
}
