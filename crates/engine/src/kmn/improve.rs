//! A last look at a solution: rules that are not needed any more, detail that still fits.
//!
//! A rule that was needed when it was found may have become needless by later ones. And the search may have left cuts
//! below its best one that are cheaper by the figure that judges. Every change is accepted only if the guarantee still holds
//! and that figure falls, so this ends.

use bosket_model::Result;

use super::problem::{Cost, Problem, Solution};
use super::structure::Rule;
use super::violations::Concerned;

/// Rules tried per pass; with more, the ones found last are tried, which were needed least.
const TRIED: usize = 200;

/// A solution at most as costly by the figure that judges, which becomes its cost.
pub(super) fn improve(problem: &Problem<'_>, solution: Solution) -> Result<Solution> {
    let mut best = Solution { cost: problem.judge(&solution.cut, &solution.rules)?, ..solution };
    loop {
        let before = best.rank();
        best = climb(problem, best)?;
        best = take_back(problem, best)?;
        if best.rank() >= before {
            return Ok(best);
        }
    }
}

/// Goes down to the cheapest child as long as that is cheaper.
fn climb(problem: &Problem<'_>, mut best: Solution) -> Result<Solution> {
    loop {
        if problem.is_over() {
            return Ok(best);
        }
        problem.spend_on(best.cut.len(), problem.domain.steps(&best.cut).into_iter());
        let Some(child) = problem.cheapest_child(&best)? else { return Ok(best) };
        // Children may have been compared by a sample.
        let child = Solution { cost: problem.judge(&child.cut, &child.rules)?, ..child };
        if child.rank() >= best.rank() {
            return Ok(best);
        }
        best = child;
    }
}

/// Takes back rules one by one, the last first.
fn take_back(problem: &Problem<'_>, mut best: Solution) -> Result<Solution> {
    if best.rules.is_empty() {
        return Ok(best);
    }
    let grouped = problem.relations(&best.cut)?;
    let mut above = grouped.rewrite(&best.rules, &problem.domain, problem.observer)?;
    let mut related = problem.related(&grouped, &above, |_| true)?;
    let count = |above: &[Vec<u64>]| match problem.cost {
        Cost::Lm => Ok(None),
        _ => problem.losses(&grouped.groups, Some(above), Cost::Rpd).map(Some),
    };
    let mut losses = count(&above)?;
    let tried: Vec<Rule> = best.rules.iter().rev().take(TRIED).copied().collect();
    problem.observer.stage("taking back rules", tried.len() as u64);
    for rule in tried {
        if problem.is_over() {
            break;
        }
        problem.effort.spend(grouped.groups.len() as u64);
        problem.observer.go_on()?;
        problem.observer.advance(1);
        let fewer: Vec<Rule> = best.rules.iter().copied().filter(|&r| r != rule).collect();
        let without = grouped.rewrite_with((&fewer, &above), rule.pair, &problem.domain);
        // Only knowledge with a relation that comes back or goes can match too few records now.
        let changed = grouped.difference(&above, &without);
        let mut now = related.clone();
        now.retain(|pair, _| !changed.contains(pair));
        now.extend(problem.related(&grouped, &without, |pair| changed.contains(&pair))?);
        let values = problem.domain.with_absences(&best.cut);
        if !problem.violations(&values, &now, &Concerned::Pairs(&changed))?.is_empty() {
            continue;
        }
        let cost = problem.repaired_cost(&best.cut, &grouped, Some(&without), losses.as_ref())?;
        if cost < best.cost {
            losses = count(&without)?;
            (best.rules, best.cost, above, related) = (fewer, cost, without, now);
        }
    }
    Ok(best)
}
