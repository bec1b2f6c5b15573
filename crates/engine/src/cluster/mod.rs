//! Multirelational k-anonymity and hierarchical l-diversity by clustering.
//!
//! Nergiz, Clifton, Nergiz: Multirelational k-anonymity. IEEE TKDE 21 (2009). Ozalp, Gursoy, Nergiz, Saygin:
//! Privacy-preserving publishing of hierarchical data. ACM TOPS 19 (2016).
//!
//! A record is a tree of vertices. Records are put into clusters, and the members of a cluster are made to look alike:
//! values are generalized, subtrees that have no partner are pruned, records that fit nowhere are suppressed. For
//! diversity, vertices with the same sensitive value are never laid over each other more often than l allows.
//!
//! The flow: `forest` lays the records out and interns their subtrees (`shapes` without what is sensitive); `rep` holds what a cluster's members have in common
//! and joins two of them (`diversify`); `rows`, `profile`, `search` and `cheapest` find the cheapest record to join without comparing
//! all; the `algorithms` make clusters; `leftovers`, `reform` and `improve` touch them up; `diverse` judges them; `publish`
//! writes them back. Many records are put into `cells` of like ones first, each of which is clustered for itself.

mod algorithms;
mod assign;
pub mod cells;
mod cheapest;
mod classes;
mod close;
mod cost;
mod diverse;
mod domain;
mod exclude;
mod forest;
mod guess;
mod improve;
mod interrupted;
mod kinds;
mod leftovers;
mod nearing;
mod params;
mod profile;
mod publish;
mod reform;
mod rep;
mod rows;
mod search;
mod secrets;
mod shapes;
mod tune;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

pub use assign::Solver;
pub use bosket_model::policy::Algorithm;
pub use classes::run_on_classes;
pub use cost::{Cost, Height, Lm, SCALE};
pub use interrupted::Interrupted;
pub use params::{Absent, Cells, Close, Diverse, Matching, Measure, Params};

use algorithms::blocks::Guard;
use algorithms::miracle::Stream;
use algorithms::{bitmap, blocks, clustree, ctoff, dmiracle, miracle, miraclex};
use cells::Facts;
use diverse::{Judge, distinct_everywhere};
use exclude::Labels;
use forest::Forest;
use rep::{Joiner, Rep};
use search::Search;
use secrets::Secrets;

use publish::Published;

use crate::asked::foreign;
use crate::params::Input;

/// What a run has made.
#[derive(Debug)]
pub struct Release {
    /// The published records, cluster by cluster.
    pub data: Dataset,
    /// Per published record the input record it stems from.
    pub records: Vec<u32>,
    /// Input records by cluster, as they were put together.
    pub clusters: Vec<Vec<u32>>,
    /// Input records that are not published.
    pub suppressed: Vec<u32>,
    /// Vertices of published records that are not published themselves.
    pub pruned: u64,
    /// LM of the publication, over the values that there were.
    pub lm: f64,
    /// What the search has minimised, in values; there a missing value is one that can be given up.
    pub cost: f64,
    /// In how many cells records were clustered.
    pub cells: usize,
    /// The time was over before the search was.
    pub cut_short: bool,
}

/// Records that are going to look alike.
#[derive(Clone, Debug)]
struct Cluster {
    members: Vec<u32>,
    rep: Rep,
    /// The cost of giving up all members.
    had: i64,
}

impl Cluster {
    fn of(forest: &Forest, record: u32) -> Self {
        let had = forest.prune[record as usize];
        Cluster { members: vec![record], rep: Rep::of_record(forest, record), had }
    }

    fn add(&mut self, forest: &Forest, record: u32, rep: Rep) {
        self.members.push(record);
        self.had += forest.prune[record as usize];
        self.rep = rep;
    }

    fn merge(&mut self, other: Cluster, rep: Rep) {
        self.members.extend(other.members);
        self.had += other.had;
        self.rep = rep;
    }

    /// What its members have lost.
    fn cost(&self) -> i64 {
        self.rep.cost(self.had)
    }
}

/// Clusters, and the records that are in none.
#[derive(Debug, Default)]
struct Clustering {
    clusters: Vec<Cluster>,
    left: Vec<u32>,
    /// The time was over before the search was.
    cut_short: bool,
}

impl Clustering {
    fn add(&mut self, forest: &Forest, members: Vec<u32>, rep: Rep) {
        let had = members.iter().map(|&r| forest.prune[r as usize]).sum();
        self.clusters.push(Cluster { members, rep, had });
    }
}

/// Anonymizes vertex trees at the usual cost. `hierarchies` cover every value of the quasi attributes; companions of
/// quasi attributes are not bound.
pub fn run(
    data: &Dataset,
    binding: &Binding,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    observer: &dyn Observer,
) -> Result<Release> {
    run_at(data, binding, hierarchies, params, &Lm, observer)
}

/// The same with a cost of one's own.
pub fn run_at(
    data: &Dataset,
    binding: &Binding,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    cost: &dyn Cost,
    observer: &dyn Observer,
) -> Result<Release> {
    let facts = Facts::count(data, binding, observer)?;
    let cells = facts.cells(params);
    if cells > 1 {
        refuse_unfit(data, binding, hierarchies, params)?;
        let input = Input { data, binding, hierarchies };
        return cells::run(input, params, (&facts, cost), cells, observer);
    }
    let forest = Forest::new(data, binding, hierarchies, params, (&facts, cost), observer)?;
    refuse_few(data, params)?;
    refuse_nested(data, binding, params)?;
    Labels::new(data, binding, &forest.secrets).refuse_excluding(params)?;
    let input = Input { data, binding, hierarchies };
    let mut found = best(input, (&forest, params), observer)?;
    cover(input, (&forest, params), &mut found, observer)?;
    let Clustering { clusters, left, cut_short } = found;
    if clusters.is_empty() {
        return Err(nothing_fits(params));
    }
    let published = publish::publish(data, binding, hierarchies, &forest, &clusters, observer)?;
    Ok(released(input, &forest, published, (clusters, left), cut_short))
}

/// Raises what labels would tell. Where closeness to all records is asked for, which labels that look alike may change, nothing is
/// raised.
fn cover(
    Input { hierarchies, .. }: Input<'_>,
    (forest, params): (&Forest, &Params),
    found: &mut Clustering,
    observer: &dyn Observer,
) -> Result<()> {
    let Some(guess) = params.guess.filter(|_| params.close.is_none()) else { return Ok(()) };
    guess::cover(&mut found.clusters, forest, hierarchies, guess, observer)?;
    // Vertices that look alike by now may share what they did not share before.
    keep_promises(forest, params, found, observer)?;
    found.left.sort_unstable();
    Ok(())
}

/// A release of clusters that were published, and of those who are in none.
fn released(
    Input { data, binding, .. }: Input<'_>,
    forest: &Forest,
    Published { data: published, records, tally, .. }: Published,
    (clusters, left): (Vec<Cluster>, Vec<u32>),
    cut_short: bool,
) -> Release {
    let tally = tally.merge(publish::given_up(data, binding, forest, &left));
    Release {
        data: published,
        records,
        clusters: clusters.into_iter().map(|c| c.members).collect(),
        suppressed: left,
        pruned: tally.pruned(),
        lm: tally.lm(forest.lost),
        cost: tally.cost as f64 / SCALE as f64,
        cells: 1,
        cut_short,
    }
}

fn nothing_fits(params: &Params) -> Failure {
    let (what, help) = match &params.close {
        Some(ask) => {
            let (name, number) = ask.measure.named();
            let help = format!("ask for a larger {name}, or let classes be merged (no `suppress_violators`)");
            (format!("no class is as close to all records as {name} = {number} asks"), help)
        }
        None => (
            "no two records can be published together: too many share their sensitive values".to_owned(),
            "ask for a smaller l".to_owned(),
        ),
    };
    Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help))
}

/// Clusters of an algorithm, or those of a simpler one where they lose less.
fn best(
    input: Input<'_>,
    (forest, params): (&Forest, &Params),
    observer: &dyn Observer,
) -> Result<Clustering> {
    let Input { data, binding, hierarchies } = input;
    let mut found = settled(input, forest, params, observer)?;
    // A limit that rises from pass to pass costs now and then more than it saves; `ctoff` takes a fraction of the time.
    if params.algorithm == Algorithm::Clustree && params.leftovers && !found.cut_short {
        let lm =
            |found: &Clustering| publish::lm(data, binding, hierarchies, forest, &found.clusters, observer);
        let plain = Params { algorithm: Algorithm::Ctoff, ..params.clone() };
        let plain = settled(input, forest, &plain, observer)?;
        let (ours, its) = (lm(&found)?, lm(&plain)?);
        let cut_short = plain.cut_short;
        if its < ours || (its <= ours && plain.left.len() < found.left.len()) {
            found = plain;
        }
        found.cut_short = cut_short;
    }
    Ok(found)
}

/// Clusters that keep the whole promise, and the records that are in none.
fn settled(
    input: Input<'_>,
    forest: &Forest,
    params: &Params,
    observer: &dyn Observer,
) -> Result<Clustering> {
    let found = cluster(input, forest, params, observer)?;
    settle(input, forest, params, found, observer)
}

/// What is left of clusters when the whole promise is asked for.
fn settle(
    input: Input<'_>,
    forest: &Forest,
    params: &Params,
    mut found: Clustering,
    observer: &dyn Observer,
) -> Result<Clustering> {
    if let Some(ask) = &params.close {
        found = nearing::settle(input, (forest, params, ask), found, observer)?;
    }
    keep_promises(forest, params, &mut found, observer)?;
    found.left.sort_unstable();
    Ok(found)
}

/// Takes away from clusters what says too much, and clusters of which nothing would be left.
fn keep_promises(
    forest: &Forest,
    params: &Params,
    found: &mut Clustering,
    observer: &dyn Observer,
) -> Result<()> {
    if let Some(ask) = &params.diverse {
        let judge = Judge { forest, ask, observer };
        // What is taken away for one promise may make vertices look different, which the other depends on.
        let mut changed = true;
        while changed {
            let mut kept = Vec::new();
            for mut cluster in std::mem::take(&mut found.clusters) {
                observer.go_on()?;
                let good = match params.suppress_violators {
                    true => judge.is_diverse(&cluster.rep),
                    false => judge.enforce(&mut cluster.rep)?,
                };
                if good { kept.push(cluster) } else { found.left.extend(cluster.members) }
            }
            let repeating;
            (found.clusters, repeating, changed) = distinct_everywhere(forest, kept, observer)?;
            found.left.extend(repeating);
        }
    }
    Ok(())
}

/// Refuses what a run would give up on before it searches.
pub fn refuse_unfit(
    data: &Dataset,
    binding: &Binding,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
) -> Result<()> {
    let secrets = Secrets::new(data, binding, params)?;
    forest::columns(data, binding, hierarchies)?;
    refuse_few(data, params)?;
    refuse_nested(data, binding, params)?;
    if let Some(ask) = &params.close {
        close::Spaces::new(data, binding, hierarchies, &secrets, ask)?;
    }
    Labels::new(data, binding, &secrets).refuse_excluding(params)
}

/// What a run is going to lose for sure, before it searches: values of which there are too many.
pub fn foreseen(data: &Dataset, binding: &Binding, params: &Params) -> Result<Vec<Diagnostic>> {
    let secrets = Secrets::new(data, binding, params)?;
    Ok(Labels::new(data, binding, &secrets).too_frequent(params))
}

fn refuse_few(data: &Dataset, params: &Params) -> Result<()> {
    if data.len() >= params.size() {
        return Ok(());
    }
    let what = format!("clusters of {} cannot be made of {} records", params.size(), data.len());
    Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help("ask for a smaller k or l")))
}

/// Refuses records with something below them where the algorithm takes rows of one table.
fn refuse_nested(data: &Dataset, binding: &Binding, params: &Params) -> Result<()> {
    let algorithm = params.algorithm;
    let kept = |v: usize| binding.classes[data.class(v).index()].is_some();
    let nested = || (0..data.vertex_count()).any(|v| data.parent(v).is_some() && kept(v));
    if !algorithm.needs_flat() || !nested() {
        return Ok(());
    }
    let what = format!("algorithm `{algorithm}` is for flat tables, but records have something below them");
    Err(Failure::new(Fault::Policy, Diagnostic::error(what).help("use ctoff or clustree")))
}

/// Bytes that are left beside the records; a run that has not even these ends before it searches.
fn room(forest: &Forest, params: &Params) -> Result<usize> {
    let records = forest.bytes();
    if let Some(room) = params.memory.checked_sub(records) {
        return Ok(room);
    }
    let what = format!(
        "the records take {} MB to search, of {} allowed",
        records.div_ceil(1 << 20),
        params.memory >> 20
    );
    Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help("allow it more memory")))
}

fn cluster(
    input: Input<'_>,
    forest: &Forest,
    params: &Params,
    observer: &dyn Observer,
) -> Result<Clustering> {
    let size = params.size();
    // How often a value may stand at one vertex of a cluster of this size.
    let most = params.diverse.as_ref().map(|d| ((size as f64 / d.l) + 1e-9).floor() as usize);
    // These judge whole clusters by themselves.
    let judges = matches!(params.algorithm, Algorithm::Dmiracle | Algorithm::Blocks);
    let regardless = params.suppress_violators || judges;
    let most = most.filter(|_| !regardless);
    let joiner = Joiner::new(forest, params.matching, most, params.weighted, observer);
    let mut search = Search::new(joiner, room(forest, params)?)?;
    let stream = Stream { size, climit: params.climit, th: params.th };
    let mut found = match params.algorithm {
        Algorithm::Ctoff => ctoff::ctoff(&mut search, size, observer)?,
        Algorithm::Clustree => clustree::clustree(&mut search, size, (params.s, params.m), observer)?,
        Algorithm::Miracle => miracle::miracle(&mut search, stream, observer)?,
        Algorithm::Miraclex => miraclex::miraclex(&mut search, stream, observer)?,
        Algorithm::Dmiracle => match &params.diverse {
            Some(ask) if !params.suppress_violators => {
                let stream = Stream { size: (params.k as usize).max(2), ..stream };
                dmiracle::dmiracle(&mut search, stream, &Judge { forest, ask, observer }, observer)?
            }
            // Merged until close later on.
            _ if params.close.is_some() => {
                let stream = Stream { size: (params.k as usize).max(2), ..stream };
                miracle::miracle(&mut search, stream, observer)?
            }
            _ => miracle::miracle(&mut search, stream, observer)?,
        },
        Algorithm::Blocks => {
            let guards = !params.suppress_violators;
            let whole = match params.close.as_ref().filter(|_| guards) {
                Some(ask) => Some(close::of_rows(forest, nearing::spaces(input, forest, ask)?, ask.measure)),
                None => None,
            };
            let diverse = params.diverse.as_ref().filter(|_| guards).map(Guard::Diverse);
            let guard = diverse.or(whole.as_ref().map(Guard::Close));
            blocks::blocks(&mut search, size, guard, observer)?
        }
        Algorithm::Bitmap => bitmap::bitmap(&search, stream, params.absent, observer)?,
        other => return Err(foreign(other)),
    };
    if matches!(params.algorithm, Algorithm::Ctoff | Algorithm::Clustree) && params.leftovers {
        leftovers::place(&mut search, &mut found)?;
        reform::reform(&mut search, size, &mut found)?;
    }
    // Moves know how often a value may stand in a cluster of the least size; `blocks` has moved rows within what it may be.
    let moves = params.algorithm != Algorithm::Blocks || (params.diverse.is_none() && params.close.is_none());
    if params.improve && moves {
        // Every step is better than the one before, so with a limit of time there need be no other.
        let rounds = if params.time.is_some() { usize::MAX } else { improve::ROUNDS };
        improve::improve(&mut search, (size, rounds), &mut found, observer)?;
    }
    found.cut_short = search.cut_short;
    Ok(found)
}
