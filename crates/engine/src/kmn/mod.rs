//! k^(m,n)-anonymity of tree-structured data.
//!
//! Gkountouna, Terrovitis: Anonymizing collections of tree-structured data. IEEE TKDE 27 (2015).
//!
//! Global recoding: one cut per hierarchy, and rules that take relations apart everywhere (structural disassociation).

mod cost;
mod distinct;
mod domain;
mod effort;
mod few;
mod glance;
mod improve;
mod localized;
mod losses;
mod outliers;
mod params;
mod parts;
mod problem;
mod publish;
mod published_rows;
mod rows;
mod sample;
mod search;
mod set;
mod silent;
mod state;
mod structure;
mod values;
mod violations;

use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::value_tree::{EMPTY_PLACE, ValueTrees};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};
use rustc_hash::FxHashSet;

pub use bosket_model::policy::Algorithm;
pub use params::{Disassociation, Params};
pub use parts::{Recipe, Tally, recode, recode_rows};
pub use problem::{Cost, Shortcuts};
pub use published_rows::Source;
pub use silent::may_go;

use domain::{Domain, Wishes};
use effort::Effort;
use localized::Finer;
use losses::Scratch;
use problem::{Cuts, Pairs, Problem, Solution, rounded};
use rows::Rows;
use sample::Sample;
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
    /// What a solution that was found sooner was compared with this one by: its cost, or where cells have labels of their own,
    /// half the detail and half the relations that are lost with these. Of several ones the least is published.
    pub compared: f64,
    /// RPD of the publication.
    pub rpd: f64,
    /// How many cuts were examined.
    pub examined: u64,
    /// How many values have labels of their own, finer than the cut.
    pub lowered: usize,
    /// Time was over before the search was.
    pub cut_short: bool,
    /// How many people are published without any of their values. Who they are is private.
    pub emptied: usize,
    /// Cut and rules, to be applied to other parts of the records.
    pub recipe: Recipe,
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

/// What is searched: the records, of which some people may have been emptied.
struct Attempt<'a> {
    trees: &'a ValueTrees,
    /// Per record whether it is emptied; none if nobody is.
    emptied: Option<&'a [bool]>,
    /// Per declared attribute how many values went with them; it may end early.
    lost: Vec<u64>,
    /// How many related pairs did.
    lost_pairs: u64,
}

/// What becomes of a solution.
#[derive(Clone, Copy)]
struct Outcome<'a, P> {
    publish: &'a dyn Fn(&Attempt<'_>, &Domain<'_>, &Solution) -> Result<P>,
    accept: Option<Accept<'a, P>>,
    /// Per declared attribute the home of its rows, if rows are published as they are.
    homes: Option<&'a [usize]>,
    refine: Option<Refine<'a, P>>,
    /// Whether somebody finds too few people by values alone, which is known before anything is published.
    finds: Option<Finds<'a>>,
}

/// Publishes a solution with labels of each cell's own, none if there are none; and who judges that.
type Refine<'a, P> = (
    &'a dyn Fn(&Attempt<'_>, &Domain<'_>, &Solution, Start) -> Result<Option<Finer<P>>>,
    Option<Accept<'a, P>>,
);

/// Says whether somebody finds too few people by the values of a solution alone.
type Finds<'a> = &'a dyn Fn(&Attempt<'_>, &Domain<'_>, &Solution) -> Result<bool>;

/// What is known of a cut that labels are lowered from.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// Somebody waits for it: it is lowered a little in any case.
    is_first: bool,
    /// It keeps the whole promise as it is.
    is_sound: bool,
}

/// Solutions that a search hands on when the first one need not be the last.
const FINALISTS: usize = 4;

/// Anonymizes value trees, in which rows that look alike are one. `hierarchies` cover every value of every quasi attribute; where
/// missing values count (`params.counted`), the trees have nodes for empty places. With `accept`, solutions are offered
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
    let publish = |attempt: &Attempt<'_>, domain: &Domain<'_>, solution: &Solution| {
        publish::publish(attempt, domain, solution, observer)
    };
    search_and_publish(
        trees,
        hierarchies,
        params,
        Outcome { publish: &publish, accept, homes: None, refine: None, finds: None },
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
    let refine = |attempt: &Attempt<'_>, domain: &Domain<'_>, solution: &Solution, start: Start| {
        localized::publish_local(source, attempt, domain, solution, params, (start, observer))
    };
    let publish = |attempt: &Attempt<'_>, domain: &Domain<'_>, solution: &Solution| {
        published_rows::publish_rows(source, attempt, domain, solution, observer)
    };
    let refine: Option<Refine<'_, Dataset>> = if params.local { Some((&refine, accept)) } else { None };
    let finds = |attempt: &Attempt<'_>, domain: &Domain<'_>, solution: &Solution| {
        localized::is_found_by_values(source, attempt, domain, solution, params, observer)
    };
    let finds: Option<Finds<'_>> = if params.are_counted_by_pieces() { Some(&finds) } else { None };
    let outcome = Outcome { publish: &publish, accept, homes: Some(&homes), refine, finds };
    search_and_publish(trees, hierarchies, params, outcome, observer)
}

fn search_and_publish<P>(
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    outcome: Outcome<'_, P>,
    observer: &dyn Observer,
) -> Result<Release<P>> {
    if params.beyond && outcome.accept.is_none() {
        // The search would publish what nobody has looked at.
        return Err(Failure::defect("a promise beyond what the search counts has nobody to judge it"));
    }
    let hierarchies = &with_empty_places(trees, hierarchies, params)?;
    let attempt = Attempt::whole(trees);
    let mut problem = attempt.problem(hierarchies, params, &outcome, observer)?;
    let plain = attempt.search(&mut problem, params, &outcome);
    let cut = match &plain {
        Ok((release, cut)) if params.suppress && !release.cut_short => cut.as_slice(),
        Err(failure) if params.suppress && failure.fault == Fault::Unreachable => &[],
        _ => return plain.map(|(release, _)| release),
    };
    let Some(emptied) = outliers::outliers(trees, &problem.domain, cut, problem.range, observer)? else {
        return plain.map(|(release, _)| release);
    };
    drop(problem);
    let without = trees.emptied(&emptied, observer)?;
    let attempt = Attempt::without(trees, &without, &emptied);
    let mut problem = attempt.problem(hierarchies, params, &outcome, observer)?;
    match (plain, attempt.search(&mut problem, params, &outcome)) {
        (Ok((plain, _)), Ok((other, _))) if rounded(plain.cost) <= rounded(other.cost) => Ok(plain),
        (Ok((plain, _)), Err(failure)) if failure.fault == Fault::Unreachable => Ok(plain),
        (_, other) => other.map(|(release, _)| release),
    }
}

/// The hierarchies with a leaf for empty places, where these count.
fn with_empty_places(
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
) -> Result<Vec<Option<Hierarchy>>> {
    // Attributes that share a cut have the same nodes.
    let empty = trees.items().iter().filter(|item| item.label == EMPTY_PLACE);
    let shared: FxHashSet<usize> = empty.map(|item| params.shared[item.declared]).collect();
    let counts = (0..hierarchies.len()).map(|d| params.shared.get(d).is_some_and(|s| shared.contains(s)));
    let one = |(hierarchy, counts): (&Option<Hierarchy>, bool)| match hierarchy {
        Some(hierarchy) if counts && hierarchy.node(EMPTY_PLACE).is_some() => {
            let what = "a hierarchy has the text that stands for empty places while records are worked on";
            let help = "it holds a code point that is not for text: take it out of the hierarchy";
            Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)))
        }
        Some(hierarchy) if counts => Ok(Some(hierarchy.with_last_leaf(EMPTY_PLACE))),
        other => Ok(other.clone()),
    };
    hierarchies.iter().zip(counts).map(one).collect()
}

/// A release with the nodes of its cut.
type Found<P> = (Release<P>, Vec<domain::Node>);

/// What solutions are compared by: of equally good ones that stays which was found first.
fn compared<P>((release, _): &Found<P>) -> u64 {
    rounded(release.compared.max(0.0))
}

/// What came of the solutions of a search.
struct Offered<P> {
    /// The cheapest that keeps the whole promise.
    kept: Option<Found<P>>,
    /// How many there were before it that do not.
    rejected: usize,
    /// How many cuts were examined.
    examined: u64,
    /// Time was over before all was done.
    cut_short: bool,
}

impl<'a> Attempt<'a> {
    /// The records as they are.
    fn whole(trees: &'a ValueTrees) -> Self {
        Attempt { trees, emptied: None, lost: Vec::new(), lost_pairs: 0 }
    }

    /// Some people of `before` emptied, who are `without` any value.
    fn without(before: &ValueTrees, without: &'a ValueTrees, emptied: &'a [bool]) -> Self {
        let mut lost = Vec::new();
        let mut lost_pairs = 0;
        for record in (0..before.len()).filter(|&record| emptied[record]) {
            for node in before.nodes(record) {
                let item = &before.items()[before.item(node) as usize];
                lost.resize(lost.len().max(item.declared + 1), 0);
                lost[item.declared] += u64::from(item.label != EMPTY_PLACE);
                if before.end(node) == node + 1 {
                    let length = depth(before, node) as u64;
                    lost_pairs += length * (length - 1) / 2;
                }
            }
        }
        Attempt { trees: without, emptied: Some(emptied), lost, lost_pairs }
    }

    fn problem<'h, P>(
        &self,
        hierarchies: &'h [Option<Hierarchy>],
        params: &Params,
        outcome: &Outcome<'_, P>,
        observer: &'h dyn Observer,
    ) -> Result<Problem<'h>> {
        let trees = self.trees;
        let domain = domain(trees, hierarchies, params, (outcome.homes, &self.lost), observer)?;
        let rows = Rows::new(trees, domain.levels.len(), observer)?;
        // Where all solutions are offered one by one, each has to be judged anyway.
        let most = if params.beyond { usize::MAX } else { params.sample };
        let sample = match params.algorithm {
            Algorithm::Best if params.cost != Cost::Lm => Sample::new(&rows, domain.records, most, observer)?,
            _ => None,
        };
        let range = Range { k: params.k, m: params.m, n: params.n, early_exit: params.shortcuts.early_exit };
        Ok(Problem {
            domain,
            input_pairs: rows.pairs() + self.lost_pairs,
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
            max_cuts: params.max_cuts,
            has_first: false,
            finalists: if params.beyond { usize::MAX } else { FINALISTS },
            shortcuts: params.shortcuts,
            memory: params.memory,
            effort: Effort::new(params.effort),
            pairs: Pairs::new(params.memory / 4),
            judged: Cuts::new(params.memory / 8),
            sample,
            scratch: Scratch::default(),
            observer,
        })
    }

    /// The cheapest solution that keeps the whole promise.
    fn search<P>(
        &self,
        problem: &mut Problem<'_>,
        params: &Params,
        outcome: &Outcome<'_, P>,
    ) -> Result<Found<P>> {
        // A row from which something is parted has an empty place then, which the search does not count.
        let parts = params.disassociate && (!params.counted || outcome.accept.is_some());
        let params = &Params { disassociate: parts, ..params.clone() };
        problem.repair = parts;
        // Whoever has little time has something to show at once, and never less later.
        let mut first = match problem.observer.hurries() {
            true => self.first(problem, outcome, params)?,
            false => None,
        };
        problem.has_first = first.is_some();
        let Offered { mut kept, mut rejected, mut examined, mut cut_short } =
            self.offer(problem, params, outcome)?;
        let is_spent = problem.effort.is_spent();
        if is_spent {
            problem.observer.decided("the effort is spent: the search ends with the cheapest cut so far");
        }
        if is_spent && first.is_none() {
            // A beam that ends at the top may have published less than all attributes at once would. Labels are lowered once.
            let cheaper = |of: &Solution| {
                kept.as_ref().is_none_or(|(release, _)| rounded(of.cost) < rounded(release.cost))
            };
            let all = problem.first_solution(outcome.refine.is_none())?.filter(cheaper);
            first =
                all.map(|all| self.finished(problem, (all, true), outcome, params)).transpose()?.flatten();
        }
        if rejected > 0 && parts && params.counted && !params.beyond {
            // Somebody is found by such places: cuts that need no parting are left.
            problem.repair = false;
            problem.cost = params.cost;
            problem.effort = Effort::new(params.effort);
            let whole = &Params { disassociate: false, ..params.clone() };
            match self.offer(problem, whole, outcome) {
                Ok(other) => {
                    rejected += other.rejected;
                    examined += other.examined;
                    cut_short |= other.cut_short;
                    kept = [kept, other.kept].into_iter().flatten().min_by_key(compared);
                }
                Err(failure) if failure.fault == Fault::Unreachable && kept.is_some() => {}
                Err(failure) => return Err(failure),
            }
        }
        if kept.is_none() && outcome.refine.is_some() && !params.knowers.is_empty() && !params.beyond {
            // Even the widest labels of what is known at once tell too much: cuts that keep the promise as they are.
            problem.finalists = usize::MAX;
            problem.effort = Effort::new(u64::MAX);
            let judged = &Params { beyond: true, ..params.clone() };
            let other = self.offer(problem, judged, outcome)?;
            rejected += other.rejected;
            examined += other.examined;
            cut_short |= other.cut_short;
            kept = other.kept;
        }
        let best = [first, kept].into_iter().flatten().min_by_key(compared);
        let route =
            |route: String| if is_spent { format!("{route}, to the end of its effort") } else { route };
        let best = best.map(|(release, cut)| {
            (Release { examined, cut_short, route: route(release.route), ..release }, cut)
        });
        best.ok_or_else(|| {
            unreachable(
                format!("none of the {rejected} solutions found keeps the whole promise"),
                "ask for less (m, n, k, `guard`), or use `best` with a larger `g`",
            )
        })
    }

    fn offer<P>(
        &self,
        problem: &mut Problem<'_>,
        params: &Params,
        outcome: &Outcome<'_, P>,
    ) -> Result<Offered<P>> {
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
        let mut cut_short = found.stopped == Some(Stop::Time);
        if found.best.is_empty() && !problem.has_first {
            return Err(unreachable(
                format!("no value can be published with k = {}: nothing would be left", params.k),
                "ask for a smaller k or m, or check the roles",
            ));
        }
        let mut solutions = found.best;
        if params.improve
            && !cut_short
            && !problem.effort.is_spent()
            && let Some(best) = solutions.first().cloned()
        {
            if problem.cost == Cost::RpdA {
                problem.cost = Cost::Rpd;
            }
            solutions.insert(0, improve::improve(problem, best)?);
            cut_short = problem.observer.out_of_time();
        }
        solutions.dedup_by(|a, b| a.cut == b.cut && a.rules == b.rules);
        let mut rejected = 0;
        let mut kept: Vec<Found<P>> = Vec::new();
        // What is accepted may have cost more relations than the next one: with little time to search, all are looked at. Where
        // labels are lowered afterwards, that would take the time of the first.
        let all = problem.observer.hurries() && outcome.refine.is_none();
        for solution in solutions {
            match self.finished(problem, (solution, false), outcome, params)? {
                None => rejected += 1,
                Some(found) => kept.push(found),
            }
            if !kept.is_empty() && !all {
                break;
            }
        }
        let mut kept = kept.into_iter().min_by_key(compared);
        // Labels that were not looked at in time could have been finer.
        cut_short |= outcome.refine.is_some() && problem.observer.out_of_time();
        if let Some((release, _)) = &mut kept {
            release.route = route;
        }
        Ok(Offered { kept, rejected, examined: found.examined, cut_short })
    }

    /// A solution that is there before the search begins.
    fn first<P>(
        &self,
        problem: &mut Problem<'_>,
        outcome: &Outcome<'_, P>,
        params: &Params,
    ) -> Result<Option<Found<P>>> {
        // Labels that are lowered one by one need no finer cut to begin with.
        let Some(solution) = problem.first_solution(outcome.refine.is_none())? else { return Ok(None) };
        self.finished(problem, (solution, true), outcome, params)
    }

    /// A solution as it is published, with labels of each cell's own where these are asked for; none if it does not keep the
    /// whole promise.
    fn finished<P>(
        &self,
        problem: &Problem<'_>,
        (solution, first): (Solution, bool),
        outcome: &Outcome<'_, P>,
        params: &Params,
    ) -> Result<Option<Found<P>>> {
        // What the search counts, it need not be told. With attackers it counts less than they know, and the labels of each
        // cell make up for that.
        let by_attackers = outcome.refine.is_some() && !params.knowers.is_empty() && !params.beyond;
        let is_counted = !params.beyond && (solution.rules.is_empty() || !params.counted);
        if let Some(finds) = outcome.finds.filter(|_| params.beyond)
            && finds(self, &problem.domain, &solution)?
        {
            return Ok(None);
        }
        let judge = Outcome { accept: outcome.accept.filter(|_| !is_counted && !by_attackers), ..*outcome };
        let Some((solution, mut published)) = keep(problem, self, solution, &judge)? else {
            return Ok(None);
        };
        let (mut lowered, mut gained) = (0, 0.0);
        if let Some((refine, judge)) = outcome.refine {
            let start = Start { is_first: first, is_sound: !by_attackers };
            let finer = refine(self, &problem.domain, &solution, start)?;
            // Promises beyond what is counted there may not survive it; those of the cut do, but for what attackers know.
            let is_kept = |finer: &Finer<P>| match judge {
                Some(judge) => Ok(judge(&finer.published)? == Verdict::Kept),
                None => Ok::<bool, Failure>(!by_attackers),
            };
            match finer.map(|finer| Ok::<_, Failure>((is_kept(&finer)?, finer))).transpose()? {
                Some((true, finer)) => {
                    (published, lowered, gained) = (finer.published, finer.lowered, finer.gained)
                }
                _ if by_attackers => return Ok(None),
                _ => {}
            }
        }
        let compared = match outcome.refine {
            Some(_) => problem.local_cost(&solution, gained)?,
            None => problem.judge(&solution.cut, &solution.rules)?,
        };
        let cut = solution.cut.clone();
        let release = release(problem, solution, published, "all at once".to_owned(), 0)?;
        let emptied = self.emptied.map_or(0, |emptied| emptied.iter().filter(|gone| **gone).count());
        Ok(Some((Release { emptied, lowered, compared, ..release }, cut)))
    }
}

/// Refuses what a run would give up on before it searches.
pub fn refuse_unfit(
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    observer: &dyn Observer,
) -> Result<()> {
    let hierarchies = &with_empty_places(trees, hierarchies, params)?;
    domain(trees, hierarchies, params, (None, &[]), observer).map(|_| ())
}

/// The hierarchies laid over the records, unless they do not fit.
fn domain<'h>(
    trees: &ValueTrees,
    hierarchies: &'h [Option<Hierarchy>],
    params: &Params,
    (homes, lost): (Option<&[usize]>, &[u64]),
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
    let (weights, shared) = (&params.weights, &params.shared);
    let wishes =
        Wishes { weights, shared, negative: &params.negative, homes, lost, all: params.all.as_ref() };
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
    attempt: &Attempt<'_>,
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
        let released = (outcome.publish)(attempt, &problem.domain, &solution)?;
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
    for &node in solution.cut.iter().filter(|&&node| !domain.is_empty_place(node)) {
        cut[domain.level_of(node)].1.push(domain.label(node).to_owned());
    }
    Ok(Release {
        recipe: Recipe::of(&solution),
        rules: solution.rules.iter().map(|rule| (named(rule.pair.0), named(rule.pair.1))).collect(),
        emptied: 0,
        cut,
        published,
        cut_short: false,
        lowered: 0,
        cost: solution.cost,
        rpd: parts::figure(problem.exact_rpd(&solution.cut, &solution.rules)?),
        compared: solution.cost,
        route,
        examined,
    })
}
