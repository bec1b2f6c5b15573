//! Clusters with values that may stand only once in a class.
//!
//! In two cells clusters may come out alike, each with such a value once; their class has it twice. So no cell publishes
//! them: all of all cells are judged together, and vertices that repeat such a value go, or clusters whose root would have to.
//! Clusters without such a value can be alike to any of them.

use bosket_model::observe::Observer;
use bosket_model::{Dataset, Result};

use super::facts::Facts;
use crate::cluster::cost::Cost;
use crate::cluster::forest::Forest;
use crate::cluster::params::Params;
use crate::cluster::publish::{self, Published};
use crate::cluster::rep::Rep;
use crate::cluster::{Cluster, Clustering, keep_promises};
use crate::params::Input;

/// A cluster that is not published yet. Its vertices are told by their places in their records, which stay when records are copied.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// Its members, as numbered by whoever has it.
    pub(super) members: Vec<u32>,
    rep: Rep,
    had: i64,
}

impl Pending {
    /// A cluster of a cell's data.
    pub(super) fn new(data: &Dataset, cluster: Cluster) -> Self {
        let Cluster { members, mut rep, had } = cluster;
        let starts: Vec<u32> = members.iter().map(|&r| data.vertices(r as usize).start as u32).collect();
        each(&mut rep, &mut |rep| rep.from.iter_mut().zip(&starts).for_each(|(v, start)| *v -= start));
        Pending { members, rep, had }
    }

    /// The same as a cluster of other data, in which its members stand from some record on.
    fn cluster(self, forest: &Forest, first: u32) -> Cluster {
        let Pending { members, mut rep, had } = self;
        let members: Vec<u32> = (first..first + members.len() as u32).collect();
        each(&mut rep, &mut |rep| {
            rep.from.iter_mut().zip(&members).for_each(|(v, &r)| *v += forest.roots[r as usize]);
            let labels = rep.from.iter().flat_map(|&v| forest.secrets.labels(forest.secret[v as usize]));
            rep.labels = labels.copied().collect();
        });
        Cluster { members, rep, had }
    }
}

fn each(rep: &mut Rep, act: &mut dyn FnMut(&mut Rep)) {
    act(rep);
    rep.kids.iter_mut().for_each(|kid| each(kid, act));
}

/// Whether a cluster has a value that may stand only once in a class.
pub(super) fn has_listed(forest: &Forest, rep: &Rep) -> bool {
    rep.labels.iter().any(|&label| forest.secrets.is_listed(label))
        || rep.kids.iter().any(|kid| has_listed(forest, kid))
}

/// What comes of the clusters of all cells that had to wait; whoever is in none of them any more is left over. All records are told
/// as the clusters told their members.
pub(super) struct Judged {
    pub(super) published: Published,
    pub(super) clusters: Vec<Vec<u32>>,
    pub(super) left: Vec<u32>,
}

/// Judges clusters of all cells together. Members are records of the input.
pub(super) fn judge(
    input: Input<'_>,
    pending: Vec<Pending>,
    params: &Params,
    (facts, cost): (&Facts, &dyn Cost),
    observer: &dyn Observer,
) -> Result<Judged> {
    let Input { binding, hierarchies, .. } = input;
    let own: Vec<u32> = pending.iter().flat_map(|p| p.members.iter().copied()).collect();
    let data = input.data.picked(&own);
    let forest = Forest::new(&data, binding, hierarchies, params, (facts, cost), observer)?;
    let mut found = Clustering::default();
    let mut first = 0;
    for pending in pending {
        observer.go_on()?;
        let size = pending.members.len() as u32;
        found.clusters.push(pending.cluster(&forest, first));
        first += size;
    }
    keep_promises(&forest, params, &mut found, observer)?;
    let mut published = publish::publish(&data, binding, hierarchies, &forest, &found.clusters, observer)?;
    let back = |record: &u32| own[*record as usize];
    published.records.iter_mut().for_each(|record| *record = back(record));
    Ok(Judged {
        published,
        clusters: found.clusters.iter().map(|c| c.members.iter().map(back).collect()).collect(),
        left: found.left.iter().map(back).collect(),
    })
}
