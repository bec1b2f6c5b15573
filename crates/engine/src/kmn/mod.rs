//! k^(m,n)-anonymity of tree-structured data.
//!
//! Gkountouna, Terrovitis: Anonymizing collections of tree-structured data. IEEE TKDE 27 (2015).
//!
//! Global recoding: one cut per hierarchy, and rules that take relations apart everywhere (structural disassociation).

mod cost;
mod domain;
mod improve;
mod params;
mod problem;
mod publish;
mod rows;
mod search;
mod set;
mod state;
mod structure;
mod values;
mod violations;

use std::sync::Mutex;

use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Diagnostic, Failure, Fault, Result};

pub use bosket_model::policy::Algorithm;
pub use params::{Disassociation, Params};
pub use problem::{Cost, Shortcuts};

use domain::{Domain, Wishes};
use problem::{Pairs, Problem, Solution};
use rows::Rows;
use search::Stop;
use structure::{How, Rule};
use violations::{Pair, Range};

use crate::asked::foreign;

/// What a run has made.
#[derive(Debug)]
pub struct Release {
    /// The published value trees.
    pub trees: ValueTrees,
    /// The relations taken apart. Private.
    pub rules: Vec<Relation>,
    /// Published labels per declared attribute; none where the attribute is left out.
    pub cut: Vec<(usize, Vec<String>)>,
    /// Which search won, with its cost.
    pub route: String,
    /// The figure that the search compared cuts by.
    pub cost: f64,
    /// RPD of the publication.
    pub rpd: f64,
    /// How many cuts were examined.
    pub examined: u64,
    /// How many different values of published attributes are left out everywhere. Which ones is private.
    pub suppressed: usize,
}

/// A value above another, each with its declared attribute and label.
pub type Relation = ((usize, String), (usize, String));

/// What somebody who knows the whole promise says about a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is kept.
    Kept,
    /// It is not, because of knowledge with these relations; none if taking relations apart would not help.
    Broken(Vec<Relation>),
}

/// Judges a promise that the search knows only a part of.
pub type Accept<'a> = &'a dyn Fn(&ValueTrees) -> Result<Verdict>;

/// Solutions that a search hands on when the first one need not be the last.
const FINALISTS: usize = 4;

/// Anonymizes value trees. `hierarchies` cover every value of every quasi attribute. With `accept`, solutions are offered
/// from the cheapest on until one is accepted. So promises that are not monotone (embedded relations, the guard, diversity)
/// are kept: by taking apart the relations that break them, or else by rejecting cuts. Such a promise is refused without
/// `accept`.
pub fn run(
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    accept: Option<Accept<'_>>,
    observer: &dyn Observer,
) -> Result<Release> {
    if params.beyond && accept.is_none() {
        // The search would publish what nobody has looked at.
        return Err(Failure::defect("a promise beyond what the search counts has nobody to judge it"));
    }
    let domain = domain(trees, hierarchies, params, observer)?;
    let rows = Rows::new(trees, domain.levels.len(), observer)?;
    let range = Range { k: params.k, m: params.m, n: params.n, early_exit: params.shortcuts.early_exit };
    let mut problem = Problem {
        domain,
        rows,
        range,
        cost: params.cost,
        repair: params.disassociate,
        how: match params.disassociation {
            Disassociation::Value => Some(How::Value),
            Disassociation::Subtree => Some(How::Subtree),
            Disassociation::Ancestor => Some(How::Ancestor),
            Disassociation::Cheapest => None,
        },
        suppress: params.suppress,
        max_cuts: params.max_cuts,
        finalists: if accept.is_some() { usize::MAX } else { FINALISTS },
        shortcuts: params.shortcuts,
        memory: params.memory,
        pairs: Pairs::new(params.memory / 4),
        judged: Mutex::default(),
        observer,
    };
    let name = params.algorithm.name().to_owned();
    let (route, found) = match params.algorithm {
        Algorithm::Acs => (name, problem.acs()?),
        Algorithm::Gcs => (name, problem.gcs(params.g)?),
        Algorithm::Ocs => (name, problem.ocs(params.g)?),
        Algorithm::Best => problem.best(params)?,
        other => return Err(foreign(other)),
    };
    match found.stopped {
        Some(Stop::Cuts) if params.algorithm == Algorithm::Acs => {
            return Err(unreachable(
                format!("there are more than {} cuts", params.max_cuts),
                "raise `max_cuts`, or use `gcs` or `best`",
            ));
        }
        Some(Stop::Memory(bytes)) => {
            return Err(unreachable(
                format!("the search takes {} MB, of {} allowed", bytes >> 20, params.memory >> 20),
                "allow it more memory, or use a smaller `g`",
            ));
        }
        _ => {}
    }
    if found.best.is_empty() {
        return Err(unreachable(
            format!("no value can be published with k = {}: nothing would be left", params.k),
            "ask for a smaller k or m, or check the roles",
        ));
    }
    let mut solutions = found.best;
    if params.improve {
        if problem.cost == Cost::RpdA {
            problem.cost = Cost::Rpd;
        }
        solutions.insert(0, improve::improve(&problem, solutions[0].clone())?);
    }
    solutions.dedup_by(|a, b| a.cut == b.cut && a.rules == b.rules);
    let offered = solutions.len();
    for solution in solutions {
        let Some((solution, trees)) = keep(trees, &problem, solution, accept)? else {
            continue;
        };
        return release(&problem, solution, trees, route, found.examined);
    }
    Err(unreachable(
        format!("none of the {offered} solutions found keeps the whole promise"),
        "ask for less (m, n, k, `guard`), or use `best` with a larger `g`",
    ))
}

/// Refuses what a run would give up on before it searches.
pub fn refuse_unfit(
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    observer: &dyn Observer,
) -> Result<()> {
    domain(trees, hierarchies, params, observer).map(|_| ())
}

/// The hierarchies laid over the records, unless they do not fit.
fn domain<'h>(
    trees: &ValueTrees,
    hierarchies: &'h [Option<Hierarchy>],
    params: &Params,
    observer: &dyn Observer,
) -> Result<Domain<'h>> {
    let mut longest = 0;
    for record in 0..trees.len() {
        observer.go_on()?;
        longest = trees.nodes(record).map(|n| depth(trees, n)).fold(longest, usize::max);
    }
    if longest > DEEPEST {
        return Err(unreachable(
            format!("a path has {longest} quasi values below each other; at most {DEEPEST} can be handled"),
            "give fewer attributes of nested classes the role quasi",
        ));
    }
    let wishes = Wishes { weights: &params.weights, shared: &params.shared, negative: &params.negative };
    let domain = Domain::new(trees, hierarchies, &wishes, observer)?;
    if let Some((a, b)) = domain.mismatch() {
        let what = format!("attributes {} and {} share a cut, but their hierarchies differ", a + 1, b + 1);
        let help = "give both the same file, or `shared = false`";
        return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)));
    }
    Ok(domain)
}

/// The publication of a solution, with more relations taken apart as long as the promise asks for it; none if that does not
/// help.
fn keep(
    trees: &ValueTrees,
    problem: &Problem<'_>,
    mut solution: Solution,
    accept: Option<Accept<'_>>,
) -> Result<Option<(Solution, ValueTrees)>> {
    loop {
        let released = publish::publish(trees, &problem.domain, &solution, problem.observer)?;
        let broken = match accept.map_or(Ok(Verdict::Kept), |accept| accept(&released))? {
            Verdict::Kept => return Ok(Some((solution, released))),
            Verdict::Broken(relations) => relations,
        };
        let node = |(declared, label): &(usize, String)| {
            let named = |&&n: &&domain::Node| {
                problem.domain.levels[problem.domain.level_of(n)].declared == *declared
                    && problem.domain.label(n) == label
            };
            solution.cut.iter().find(named).copied()
        };
        let pairs: Vec<Pair> = broken.iter().filter_map(|(a, b)| Some((node(a)?, node(b)?))).collect();
        let Some(pair) = problem.weakest(&solution, &pairs)?.filter(|_| problem.repair) else {
            return Ok(None);
        };
        problem.observer.advance(1);
        solution.rules.push(Rule { pair, how: problem.how.unwrap_or(How::Value) });
    }
}

/// Ancestors are bits of a word, with one place left for what hangs below a path.
const DEEPEST: usize = 62;

fn depth(trees: &ValueTrees, node: usize) -> usize {
    std::iter::successors(Some(node), |&n| trees.parent(n)).count()
}

fn unreachable(what: String, help: &str) -> Failure {
    Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help))
}

fn release(
    problem: &Problem<'_>,
    solution: Solution,
    trees: ValueTrees,
    route: String,
    examined: u64,
) -> Result<Release> {
    let domain = &problem.domain;
    let named =
        |node: domain::Node| (domain.levels[domain.level_of(node)].declared, domain.label(node).to_owned());
    let mut cut: Vec<(usize, Vec<String>)> = domain.levels.iter().map(|l| (l.declared, Vec::new())).collect();
    for &node in &solution.cut {
        cut[domain.level_of(node)].1.push(domain.label(node).to_owned());
    }
    let published = |item: u32| !cut[domain.level_of_item(item)].1.is_empty();
    let above = domain.assign_all(&solution.cut);
    let left_out = |&item: &u32| above[item as usize].is_none() && published(item);
    Ok(Release {
        trees,
        rules: solution.rules.iter().map(|rule| (named(rule.pair.0), named(rule.pair.1))).collect(),
        suppressed: (0..domain.item_count() as u32).filter(left_out).count(),
        cut,
        cost: solution.cost,
        rpd: problem.exact_rpd(&solution.cut, &solution.rules)?,
        route,
        examined,
    })
}
