//! A last look at a solution: rules that are not needed any more, detail that still fits.
//!
//! A rule that was needed when it was found may have become needless by later ones. And the search may have left cuts
//! below its best one that are cheaper by exact RPD. Every change is accepted only if the guarantee still holds and RPD
//! falls, so this ends.

use bosket_model::observe::Observer;

use super::cost::Counted;
use super::search::{Problem, Solution};
use super::structure::Pair;

/// Rules tried per pass; with more, the ones found last are tried, which were needed least.
const TRIED: usize = 200;

/// A solution at most as costly, by exact RPD, which becomes its cost.
pub(super) fn improve(problem: &Problem<'_>, solution: Solution, observer: &dyn Observer) -> Solution {
    let mut best = Solution { cost: problem.exact_rpd(&solution.cut, &solution.rules), ..solution };
    loop {
        let before = best.cost;
        best = climb(problem, best, observer);
        best = take_back(problem, best, observer);
        if best.cost >= before {
            return best;
        }
    }
}

/// Goes down to the cheapest child as long as that is cheaper.
fn climb(problem: &Problem<'_>, mut best: Solution, observer: &dyn Observer) -> Solution {
    loop {
        match problem.cheapest_child(&best, observer) {
            Some(child) if child.cost < best.cost => best = child,
            _ => return best,
        }
    }
}

/// Takes back rules one by one, the last first.
fn take_back(problem: &Problem<'_>, mut best: Solution, observer: &dyn Observer) -> Solution {
    if best.rules.is_empty() {
        return best;
    }
    let state = problem.relations(&best.cut);
    let tried: Vec<Pair> = best.rules.iter().rev().take(TRIED).copied().collect();
    observer.stage("taking back rules", tried.len() as u64);
    for rule in tried {
        observer.advance(1);
        let fewer: Vec<Pair> = best.rules.iter().copied().filter(|&r| r != rule).collect();
        let above = state.rewrite(&fewer);
        if !problem.is_sound(&best.cut, &state, &above) {
            continue;
        }
        let counted = Counted::new(&state.groups, Some(&above), &problem.rows, &problem.domain);
        let cost = counted.rpd(&state.groups, &problem.rows, &problem.domain);
        if cost < best.cost {
            best.rules = fewer;
            best.cost = cost;
        }
    }
    best
}
