//! k^(m,n)-anonymity of tree-structured data.
//!
//! Gkountouna, Terrovitis: Anonymizing collections of tree-structured data. IEEE TKDE 27 (2015).
//!
//! Global recoding: one cut per hierarchy, and rules that take relations apart everywhere (structural disassociation).

mod cost;
mod distinct;
mod domain;
mod improve;
mod localized;
mod params;
mod problem;
mod publish;
mod published_rows;
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
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

pub use bosket_model::policy::Algorithm;
pub use params::{Disassociation, Params};
pub use problem::{Cost, Shortcuts};
pub use published_rows::Source;

use domain::{Domain, Wishes};
use problem::{Pairs, Problem, Solution};
use rows::Rows;
use search::Stop;
use structure::{How, Rule};
use violations::{Pair, Range};

use crate::asked::foreign;

/// What a run has made.
#[derive(Debug)]
pub struct Release<P = ValueTrees> {
    /// What is published: value trees, or records with their rows.
    pub published: P,
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
    /// Time was over before the search was.
    pub cut_short: bool,
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
pub type Accept<'a, P = ValueTrees> = &'a dyn Fn(&P) -> Result<Verdict>;

/// What becomes of a solution.
#[derive(Clone, Copy)]
struct Outcome<'a, P> {
    publish: &'a dyn Fn(&Domain<'_>, &Solution) -> Result<P>,
    accept: Option<Accept<'a, P>>,
    /// Per declared attribute the home of its rows, if rows are published as they are.
    homes: Option<&'a [usize]>,
    refine: Option<Refine<'a, P>>,
}

/// Publishes a solution with labels of each cell's own, none if there are none; and who judges that.
type Refine<'a, P> = (&'a dyn Fn(&Domain<'_>, &Solution) -> Result<Option<P>>, Option<Accept<'a, P>>);

/// Solutions that a search hands on when the first one need not be the last.
const FINALISTS: usize = 4;

/// Anonymizes value trees, in which rows that look alike are one. `hierarchies` cover every value of every quasi attribute. With `accept`, solutions are offered
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
    let publish =
        |domain: &Domain<'_>, solution: &Solution| publish::publish(trees, domain, solution, observer);
    search_and_publish(
        trees,
        hierarchies,
        params,
        Outcome { publish: &publish, accept, homes: None, refine: None },
        observer,
    )
}

/// The same for records whose rows are published as they are; `trees` are their value trees.
pub fn run_rows(
    source: &Source<'_>,
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    accept: Option<Accept<'_, Dataset>>,
    observer: &dyn Observer,
) -> Result<Release<Dataset>> {
    let homes: Vec<usize> = source.binding.declared.iter().map(|declared| declared.home).collect();
    let refine = |domain: &Domain<'_>, solution: &Solution| {
        localized::publish_local(source, trees, domain, solution, params, observer)
    };
    let publish = |domain: &Domain<'_>, solution: &Solution| {
        published_rows::publish_rows(source, trees, domain, solution, observer)
    };
    let refine: Option<Refine<'_, Dataset>> = if params.local { Some((&refine, accept)) } else { None };
    let accept = accept.filter(|_| params.beyond);
    let outcome = Outcome { publish: &publish, accept, homes: Some(&homes), refine };
    search_and_publish(trees, hierarchies, params, outcome, observer)
}

fn search_and_publish<P>(
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    outcome: Outcome<'_, P>,
    observer: &dyn Observer,
) -> Result<Release<P>> {
    let accept = outcome.accept;
    if params.beyond && accept.is_none() {
        // The search would publish what nobody has looked at.
        return Err(Failure::defect("a promise beyond what the search counts has nobody to judge it"));
    }
    let domain = domain(trees, hierarchies, params, outcome.homes, observer)?;
    let rows = Rows::new(trees, domain.levels.len(), observer)?;
    let range = Range { k: params.k, m: params.m, n: params.n, early_exit: params.shortcuts.early_exit };
    let mut problem = Problem {
        domain,
        rows,
        range,
        cost: params.cost,
        repair: params.disassociate,
        how: match params.disassociation {
            // Rows that are published as they are lose values one by one.
            _ if outcome.homes.is_some() => Some(How::Value),
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
    let mut cut_short = found.stopped == Some(Stop::Time);
    if params.improve && !cut_short {
        if problem.cost == Cost::RpdA {
            problem.cost = Cost::Rpd;
        }
        solutions.insert(0, improve::improve(&problem, solutions[0].clone())?);
        cut_short = observer.out_of_time();
    }
    solutions.dedup_by(|a, b| a.cut == b.cut && a.rules == b.rules);
    let offered = solutions.len();
    for solution in solutions {
        let Some((solution, mut published)) = keep(&problem, solution, &outcome)? else {
            continue;
        };
        if let Some((refine, judge)) = outcome.refine
            && let Some(finer) = refine(&problem.domain, &solution)?
        {
            let kept = judge.map_or(Ok(Verdict::Kept), |judge| judge(&finer))?;
            // Promises beyond what is counted here may not survive it; those of the cut do.
            if kept == Verdict::Kept {
                published = finer;
            }
        }
        return Ok(Release { cut_short, ..release(&problem, solution, published, route, found.examined)? });
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
    domain(trees, hierarchies, params, None, observer).map(|_| ())
}

/// The hierarchies laid over the records, unless they do not fit.
fn domain<'h>(
    trees: &ValueTrees,
    hierarchies: &'h [Option<Hierarchy>],
    params: &Params,
    homes: Option<&[usize]>,
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
    let wishes =
        Wishes { weights: &params.weights, shared: &params.shared, negative: &params.negative, homes };
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
fn keep<P>(
    problem: &Problem<'_>,
    mut solution: Solution,
    outcome: &Outcome<'_, P>,
) -> Result<Option<(Solution, P)>> {
    let lowest = |node: &mut domain::Node| *node = problem.domain.lowest(*node);
    solution.cut.iter_mut().for_each(lowest);
    for rule in &mut solution.rules {
        lowest(&mut rule.pair.0);
        lowest(&mut rule.pair.1);
    }
    loop {
        let released = (outcome.publish)(&problem.domain, &solution)?;
        let broken = match outcome.accept.map_or(Ok(Verdict::Kept), |accept| accept(&released))? {
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

fn release<P>(
    problem: &Problem<'_>,
    solution: Solution,
    published: P,
    route: String,
    examined: u64,
) -> Result<Release<P>> {
    let domain = &problem.domain;
    let named =
        |node: domain::Node| (domain.levels[domain.level_of(node)].declared, domain.label(node).to_owned());
    let mut cut: Vec<(usize, Vec<String>)> = domain.levels.iter().map(|l| (l.declared, Vec::new())).collect();
    for &node in &solution.cut {
        cut[domain.level_of(node)].1.push(domain.label(node).to_owned());
    }
    let is_published = |item: u32| !cut[domain.level_of_item(item)].1.is_empty();
    let above = domain.assign_all(&solution.cut);
    let left_out = |&item: &u32| above[item as usize].is_none() && is_published(item);
    Ok(Release {
        rules: solution.rules.iter().map(|rule| (named(rule.pair.0), named(rule.pair.1))).collect(),
        suppressed: (0..domain.item_count() as u32).filter(left_out).count(),
        cut,
        published,
        cut_short: false,
        cost: solution.cost,
        rpd: problem.exact_rpd(&solution.cut, &solution.rules)?,
        route,
        examined,
    })
}
