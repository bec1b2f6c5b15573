//! `miracle`: records stream into a limited number of open clusters.

use bosket_model::Result;
use bosket_model::observe::Observer;

use crate::cluster::profile::Profile;
use crate::cluster::rep::{FAR, Rep};
use crate::cluster::search::Search;
use crate::cluster::{Cluster, Clustering};

/// Steps of progress are this many records.
const STEP: u64 = 64;

/// A profile holds costs for every kind of child there is. Until it changes, a cluster meets about as many records as there
/// are clusters: with more kinds than so many times their children, comparing trees is cheaper than preparing for it.
const KINDS: usize = 4;

/// A cluster that is not full.
struct Open {
    cluster: Cluster,
    profile: Option<Profile>,
}

/// What the stream depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    /// A cluster with so many members is full.
    pub(crate) size: usize,
    /// Most open clusters.
    pub(crate) climit: usize,
    /// A record farther away opens a cluster.
    pub(crate) th: f64,
}

/// Puts records into clusters. What fits nowhere is left over.
pub(crate) fn miracle(
    search: &mut Search<'_>,
    stream: Stream,
    observer: &dyn Observer,
) -> Result<Clustering> {
    let forest = search.forest();
    observer.stage("clustering", forest.len() as u64);
    let mut open: Vec<Open> = Vec::new();
    let mut found = Clustering::default();
    let kinds = &forest.kinds;
    let prepared = kinds.form.len() * forest.len() <= KINDS * stream.climit * kinds.of_kid.len();
    let profile = |search: &mut Search<'_>, rep: &Rep| prepared.then(|| search.profile(rep)).transpose();
    for record in 0..forest.len() as u32 {
        observer.go_on()?;
        if u64::from(record) % STEP == 0 {
            observer.advance(STEP);
        }
        let this = Rep::of_record(forest, record);
        let nearest = nearest(search, &open, record, &this)?;
        let near = nearest.filter(|&(distance, _)| distance <= stream.th || open.len() >= stream.climit);
        let Some((_, at)) = near else {
            if open.len() >= stream.climit {
                found.left.push(record);
                continue;
            }
            let cluster = Cluster::of(forest, record);
            let profile = profile(search, &cluster.rep)?;
            open.push(Open { cluster, profile });
            continue;
        };
        let Some(rep) = search.join(&open[at].cluster.rep, &this)? else {
            found.left.push(record);
            continue;
        };
        let one = &mut open[at];
        one.cluster.add(forest, record, rep);
        if one.cluster.members.len() >= stream.size {
            found.clusters.push(open.remove(at).cluster);
        } else {
            one.profile = profile(search, &one.cluster.rep)?;
        }
    }
    merge(search, open.into_iter().map(|o| o.cluster).collect(), stream.size, &mut found)?;
    found.left.sort_unstable();
    Ok(found)
}

/// The open cluster that a record costs least per value, with that cost.
fn nearest(search: &mut Search<'_>, open: &[Open], record: u32, this: &Rep) -> Result<Option<(f64, usize)>> {
    let forest = search.forest();
    let mut best: Option<(f64, usize)> = None;
    for (at, Open { cluster, profile }) in open.iter().enumerate() {
        if !search.may_join(&cluster.rep, record) {
            continue;
        }
        let weight = search.joiner.weight(cluster.rep.members());
        let values = (weight * cluster.rep.prune + forest.prune[record as usize]) as f64;
        let nearer = |cost: i64| best.is_none_or(|(distance, _)| (cost as f64 / values) < distance);
        let bound = match profile {
            Some(profile) => profile.bound(forest, record),
            None => search.joiner.head(&cluster.rep, this),
        };
        if !nearer(bound) {
            continue;
        }
        search.joiner.observer.go_on()?;
        let limit = best.map_or(FAR, |(distance, _)| (distance * values).ceil() as i64);
        let cost = match profile {
            Some(profile) => search.profiled_cost(profile, &cluster.rep, record, limit)?,
            None => Some(search.cost(&cluster.rep, this)?),
        };
        let Some(cost) = cost else { continue };
        if nearer(cost) {
            best = Some((cost as f64 / values, at));
        }
    }
    Ok(best)
}

/// Merges clusters that did not fill, the nearest first. What cannot be merged is left over.
fn merge(search: &mut Search<'_>, mut open: Vec<Cluster>, size: usize, found: &mut Clustering) -> Result<()> {
    while !open.is_empty() {
        let mut cluster = open.remove(0);
        while cluster.members.len() < size {
            let Some(at) = nearest_cluster(search, &cluster, &open)? else { break };
            let other = open.remove(at);
            match search.join(&cluster.rep, &other.rep)? {
                Some(rep) => cluster.merge(other, rep),
                None => found.left.extend(other.members),
            }
        }
        if cluster.members.len() >= size {
            found.clusters.push(cluster);
        } else {
            found.left.extend(cluster.members);
        }
    }
    Ok(())
}

/// The cluster that costs least per value to be merged with.
pub(crate) fn nearest_cluster(
    search: &mut Search<'_>,
    one: &Cluster,
    others: &[Cluster],
) -> Result<Option<usize>> {
    let mut best: Option<(f64, usize)> = None;
    for (at, other) in others.iter().enumerate() {
        if !search.fit(&one.rep, &other.rep) {
            continue;
        }
        let joiner = &search.joiner;
        joiner.observer.go_on()?;
        let values = joiner.weight(one.rep.members()) * one.rep.prune
            + joiner.weight(other.rep.members()) * other.rep.prune;
        let distance = search.cost(&one.rep, &other.rep)? as f64 / values as f64;
        if best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, at));
        }
    }
    Ok(best.map(|b| b.1))
}
