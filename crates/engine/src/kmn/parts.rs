//! What was found on a kernel, applied to the records part by part.

use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader, Writer, damaged};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Result};

use super::params::Params;
use super::problem::Solution;
use super::publish::publish;
use super::published_rows::{Source, publish_rows};
use super::structure::{How, Rule};
use super::{Attempt, Outcome, with_empty_places};

const WHAT: [u8; 4] = *b"BkKn";
const VERSION: u8 = 1;

/// A cut and its rules, by numbers that are the same for all parts over one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    cut: Vec<u32>,
    /// Upper value, lower value, and how they are parted.
    rules: Vec<(u32, u32, u8)>,
    cost: f64,
}

/// What the records of some parts lose, to be added up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    records: u64,
    lost: f64,
}

impl Tally {
    /// Both together.
    #[must_use]
    pub fn merge(self, other: Tally) -> Tally {
        Tally { records: self.records + other.records, lost: self.lost + other.lost }
    }

    /// RPD of all of them.
    pub fn rpd(&self) -> f64 {
        if self.records == 0 { 0.0 } else { figure(self.lost / self.records as f64) }
    }
}

impl Recipe {
    pub(super) fn of(solution: &Solution) -> Self {
        let how = |how: How| match how {
            How::Value => 0,
            How::Subtree => 1,
            How::Ancestor => 2,
        };
        Recipe {
            cut: solution.cut.clone(),
            rules: solution.rules.iter().map(|r| (r.pair.0, r.pair.1, how(r.how))).collect(),
            cost: solution.cost,
        }
    }

    /// Whether relations are taken apart.
    pub fn takes_apart(&self) -> bool {
        !self.rules.is_empty()
    }

    fn solution(&self, nodes: u32) -> Result<Solution> {
        let rule = |&(above, below, how): &(u32, u32, u8)| {
            let how = match how {
                0 => How::Value,
                1 => How::Subtree,
                2 => How::Ancestor,
                _ => return Err(damaged()),
            };
            Ok(Rule { pair: (above, below), how })
        };
        let rules: Vec<Rule> = self.rules.iter().map(rule).collect::<Result<_>>()?;
        let named = rules.iter().flat_map(|rule| [rule.pair.0, rule.pair.1]);
        if self.cut.iter().copied().chain(named).any(|node| node >= nodes) {
            return Err(damaged());
        }
        Ok(Solution { cut: self.cut.clone(), rules, cost: self.cost })
    }

    /// The recipe as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.numbers(self.cut.iter().map(|&node| u64::from(node)));
        out.length(self.rules.len());
        for &(above, below, how) in &self.rules {
            [u64::from(above), u64::from(below), u64::from(how)].into_iter().for_each(|n| out.number(n));
        }
        out.number(self.cost.to_bits());
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let cut = from.numbers()?.into_iter().map(|n| u32::try_from(n).map_err(|_| damaged()));
        let cut = cut.collect::<Result<_>>()?;
        let rules = (0..from.length()?).map(|_| {
            let how = |n: u32| u8::try_from(n).map_err(|_| damaged());
            Ok((from.small()?, from.small()?, how(from.small()?)?))
        });
        let rules = rules.collect::<Result<_>>()?;
        let cost = f64::from_bits(from.number()?);
        from.end()?;
        Ok(Recipe { cut, rules, cost })
    }
}

/// What a recipe makes of a part of the records, in which rows that look alike are one.
pub fn recode(
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    recipe: &Recipe,
    observer: &dyn Observer,
) -> Result<(ValueTrees, Tally)> {
    let hierarchies = &with_empty_places(trees, hierarchies, params)?;
    let attempt = Attempt::whole(trees);
    let none = |_: &Attempt<'_>, _: &super::Domain<'_>, _: &Solution| Ok(());
    let outcome = Outcome { publish: &none, accept: None, homes: None, refine: None, finds: None };
    let problem = attempt.problem(hierarchies, &of_part(params), &outcome, observer)?;
    let solution = recipe.solution(problem.domain.len())?;
    let made = publish(&attempt, &problem.domain, &solution, observer)?;
    let lost = problem.exact_rpd(&solution.cut, &solution.rules)? * trees.len() as f64;
    Ok((made, Tally { records: trees.len() as u64, lost: if trees.is_empty() { 0.0 } else { lost } }))
}

/// The same where rows are published as they are.
pub fn recode_rows(
    source: &Source<'_>,
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    recipe: &Recipe,
    observer: &dyn Observer,
) -> Result<(Dataset, Tally)> {
    let hierarchies = &with_empty_places(trees, hierarchies, params)?;
    let attempt = Attempt::whole(trees);
    let homes: Vec<usize> = source.binding.declared.iter().map(|declared| declared.home).collect();
    let none = |_: &Attempt<'_>, _: &super::Domain<'_>, _: &Solution| Ok(());
    let outcome = Outcome { publish: &none, accept: None, homes: Some(&homes), refine: None, finds: None };
    let problem = attempt.problem(hierarchies, &of_part(params), &outcome, observer)?;
    let solution = recipe.solution(problem.domain.len())?;
    let made = publish_rows(source, &attempt, &problem.domain, &solution, observer)?;
    let lost = problem.exact_rpd(&solution.cut, &solution.rules)? * trees.len() as f64;
    Ok((made, Tally { records: trees.len() as u64, lost: if trees.is_empty() { 0.0 } else { lost } }))
}

/// A figure to be told: without its last digits, which depend on the order of additions, and so on how records are parted.
pub(super) fn figure(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// A part is no kernel: what it loses is its own.
fn of_part(params: &Params) -> Params {
    Params { all: None, ..params.clone() }
}
