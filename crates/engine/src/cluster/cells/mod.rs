//! Clusters of more records than one search should compare with each other: like records are put into **cells**, and each cell
//! is clustered for itself.
//!
//! Sound where what holds in each cell holds in all of them together. Records that look alike may come from several cells: a class of
//! the publication is then a union of classes that keep the promise. k-anonymity: counts add up. l-diversity: of fractions count/places
//! below 1/l the mediant is below it as well; the entropy of a mixture is at least the mean of the entropies. Only values that may stand once in a
//! class are not safe: each of two cells may have one. Clusters with such values wait until all cells are done, and are judged
//! together (`listed`).
//!
//! The flow: `facts` counts what a cell must know of the others; `split` makes a `splitter` from a sample, which assigns records; `anonymize`
//! is what happens to a cell, here as on other machines; what is left over in all cells is one more cell (`memory`); figures add up (`tally`).
//!
//! Records of a cell are worked through in the order of what they say, so that it does not matter in which order they came.

mod facts;
mod listed;
mod memory;
mod order;
mod spelling;
mod split;
mod splitter;
mod tally;

use std::collections::BTreeSet;

use bosket_model::observe::Observer;
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, Result};

use super::cost::{Cost, Lm};
use super::forest::{self, Forest};
use super::params::Params;
use super::publish::{self, Published};
use super::secrets::Secrets;
use super::{Cluster, Clustering, best, refuse_nested};
use crate::params::Input;

pub use facts::Facts;
pub use spelling::{ambiguous, spelled};
pub use splitter::Splitter;
pub use tally::Tally;

pub(super) use memory::run;

use listed::Pending;
use order::{by_content, digests};

/// Records that a splitter is made from, at most.
pub const MOST_SAMPLED: usize = 100_000;

/// One cluster in so many is left over by the first round: the costliest. The more are left over, the less matters who was in
/// which cell at first, and the longer it takes.
const COSTLY: usize = 2;

/// The same for algorithms that have only their open clusters to choose from: these lose the more the more records pass by.
const COSTLY_OF_STREAM: usize = 3;

/// Cells of the second round are so many times as large as those of the first, at most: who asks for many wants them small.
const LARGER: u64 = 16;

/// What comes of one cell.
#[derive(Debug)]
pub struct CellRelease {
    /// The published records, cluster by cluster.
    pub data: Dataset,
    /// Per published record the record of the cell that it stems from.
    pub records: Vec<u32>,
    /// Records of the cell by cluster.
    pub clusters: Vec<Vec<u32>>,
    /// Records of the cell that are in no cluster: all of them if they are too few.
    pub left: Vec<u32>,
    /// What became of the published records; those that are left over are not in it.
    pub tally: Tally,
    /// The time was over before the search was.
    pub cut_short: bool,
    /// The quasi attributes of the publication, with the declared ones.
    quasi: Vec<(AttributeId, usize)>,
    /// Clusters that are judged together with those of other cells.
    pending: Vec<Pending>,
}

/// Which records of a batch belong to the sample, if so many there are in all: those that come first in the order of what records say.
/// A few more than are needed, since others may have more of the first.
pub fn sampled(batch: Input<'_>, records: u64, observer: &dyn Observer) -> Result<Vec<bool>> {
    let share = MOST_SAMPLED as f64 * 1.05 / records.max(1) as f64;
    let first = |digest: &[u8; 32]| {
        let head = digest[..8].iter().fold(0u64, |head, &byte| head << 8 | u64::from(byte));
        share >= 1.0 || (head as f64) < share * u64::MAX as f64
    };
    Ok(digests(batch, observer)?.iter().map(first).collect())
}

impl Splitter {
    /// A splitter into so many cells, or fewer where the sample cannot be split. In which order the sample comes does not matter.
    pub fn new(
        sample: Input<'_>,
        params: &Params,
        facts: &Facts,
        wanted: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let order = by_content(sample, observer)?;
        let data = sample.data.picked(&order[..order.len().min(MOST_SAMPLED)]);
        split::splitter(Input { data: &data, ..sample }, params, (facts, &Lm), wanted, observer)
    }
}

/// How often records have been put into cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// The costliest clusters are left over: their members may have somebody nearer in another cell.
    First,
    /// Only who is in no cluster is left over.
    Last,
}

/// Clusters one cell alone. A cell of which nothing can be made is left over as a whole, and is no error.
pub fn anonymize(
    cell: Input<'_>,
    params: &Params,
    facts: &Facts,
    round: Round,
    observer: &dyn Observer,
) -> Result<CellRelease> {
    refuse_partitions(params)?;
    let order = by_content(cell, observer)?;
    let data = cell.data.picked(&order);
    let mut release = clustered(Input { data: &data, ..cell }, params, (facts, &Lm), round, observer)?;
    let own = |record: &mut u32| *record = order[*record as usize];
    release.records.iter_mut().for_each(own);
    release.left.iter_mut().for_each(own);
    release.clusters.iter_mut().flatten().for_each(own);
    Ok(release)
}

/// In how many cells those are put who are left over in the first round, in which all records were in so many: cells of the same size, or of
/// the usual one where that is larger and of use. They are fewer, so there is time to look farther than before. One is the last.
pub fn again(left: u64, params: &Params, facts: &Facts, cells: usize) -> usize {
    let same = share(left, cells as u64, facts.records());
    if !params.looks_at_all() {
        return same.try_into().unwrap_or(usize::MAX);
    }
    let vertices = share(left, facts.vertices(), facts.records());
    let larger = same.min(facts::usual(left, vertices)).max(same.div_ceil(LARGER));
    larger.try_into().unwrap_or(usize::MAX)
}

/// What so many records have of what all have, rounded up.
fn share(records: u64, have: u64, all: u64) -> u64 {
    let share = (u128::from(records) * u128::from(have)).div_ceil(u128::from(all.max(1)));
    share.try_into().unwrap_or(u64::MAX)
}

/// What becomes of records of a batch that are not published.
pub fn suppressed(
    batch: Input<'_>,
    records: &[u32],
    params: &Params,
    facts: &Facts,
    observer: &dyn Observer,
) -> Result<Tally> {
    given_up(batch, records, params, (facts, &Lm), observer)
}

fn given_up(
    batch: Input<'_>,
    records: &[u32],
    params: &Params,
    (facts, cost): (&Facts, &dyn Cost),
    observer: &dyn Observer,
) -> Result<Tally> {
    let Input { data, binding, hierarchies } = batch;
    let forest = Forest::new(data, binding, hierarchies, params, (facts, cost), observer)?;
    Ok(publish::given_up(data, binding, &forest, records))
}

/// Refuses, before any search, a batch of which no cell could be made.
pub fn refuse_unfit(batch: Input<'_>, params: &Params) -> Result<()> {
    let Input { data, binding, hierarchies } = batch;
    Secrets::new(data, binding, params)?;
    forest::columns(data, binding, hierarchies)?;
    refuse_nested(data, binding, params)
}

/// Refuses what cannot be promised where nobody sees all cells at once.
///
/// A promise that measures classes against all records (t-closeness, β-likeness) belongs here too, until cells are told what all records
/// are like; `Model::takes_cells` says of it that it has one cell.
pub fn refuse_partitions(params: &Params) -> Result<()> {
    let lists = params.diverse.as_ref().is_some_and(|ask| !ask.distinct_everywhere.is_empty());
    if !lists {
        return Ok(());
    }
    let what = "`distinct_everywhere` cannot be promised for partitions: classes of several of them may look alike, and have the same value";
    let help = "anonymize on one machine with room for all records, or take it out";
    Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)))
}

/// Clusters a cell whose records stand in the order in which they are worked through.
fn clustered(
    cell: Input<'_>,
    params: &Params,
    (facts, cost): (&Facts, &dyn Cost),
    round: Round,
    observer: &dyn Observer,
) -> Result<CellRelease> {
    let Input { data, binding, hierarchies } = cell;
    let forest = Forest::new(data, binding, hierarchies, params, (facts, cost), observer)?;
    let found = match data.len() < params.size() {
        true => Clustering { left: (0..data.len() as u32).collect(), ..Clustering::default() },
        false => best(cell, (&forest, params), observer)?,
    };
    let Clustering { mut clusters, mut left, cut_short } = found;
    if round == Round::First {
        let dear = costliest(&clusters, params);
        let mut at = 0..;
        clusters.retain(|cluster| {
            let stays = !at.next().is_some_and(|at: usize| dear.contains(&at));
            left.extend(cluster.members.iter().copied().filter(|_| !stays));
            stays
        });
        left.sort_unstable();
    }
    let (pending, clusters): (Vec<Cluster>, Vec<Cluster>) =
        clusters.into_iter().partition(|cluster| listed::has_listed(&forest, &cluster.rep));
    let Published { data: published, records, quasi, tally } =
        publish::publish(data, binding, hierarchies, &forest, &clusters, observer)?;
    Ok(CellRelease {
        data: published,
        records,
        clusters: clusters.into_iter().map(|c| c.members).collect(),
        left,
        tally,
        cut_short,
        quasi,
        pending: pending.into_iter().map(|cluster| Pending::new(data, cluster)).collect(),
    })
}

/// The clusters that cost most of what their members had, one in so many.
fn costliest(clusters: &[Cluster], params: &Params) -> BTreeSet<usize> {
    // By members, large records would be left to each other. Where a stream has its last open clusters merged, they had better be.
    let (one_in, by_members) = if params.looks_at_all() { (COSTLY, false) } else { (COSTLY_OF_STREAM, true) };
    let of = |cluster: &Cluster| if by_members { cluster.members.len() as i64 } else { cluster.had };
    let cost = |at: usize| (i128::from(clusters[at].cost()), i128::from(of(&clusters[at])));
    let mut order: Vec<usize> = (0..clusters.len()).filter(|&at| clusters[at].cost() > 0).collect();
    order.sort_by(|&a, &b| {
        let ((a, of_a), (b, of_b)) = (cost(a), cost(b));
        (b * of_a).cmp(&(a * of_b))
    });
    order.truncate(clusters.len() / one_in);
    order.into_iter().collect()
}
