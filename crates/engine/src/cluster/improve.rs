//! A last look at finished clusters: other orders of joining, records moved and swapped, while the total cost falls.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::rep::Rep;
use super::search::Search;
use super::{Cluster, Clustering};

/// Other clusters that a record is tried in.
const NEAR: usize = 3;

/// Times that all records are looked at, at most.
const ROUNDS: usize = 4;

/// Larger clusters are not put together in other orders.
const MOST_ORDERS: usize = 12;

/// Improves clusters of at least `size` members.
pub(super) fn improve(
    search: &mut Search<'_>,
    size: usize,
    found: &mut Clustering,
    observer: &dyn Observer,
) -> Result<()> {
    observer.stage("improving clusters", ROUNDS as u64);
    for cluster in &mut found.clusters {
        observer.go_on()?;
        reorder(search, cluster)?;
    }
    for _ in 0..ROUNDS {
        let mut own = places(search.forest().len(), &found.clusters);
        let near = near(search, &found.clusters, &own, observer)?;
        let mut better = false;
        for (record, near) in near.iter().enumerate() {
            for &(_, to) in near {
                observer.go_on()?;
                // An earlier step may have taken the record elsewhere.
                let from = own[record];
                if from != to && exchange(search, size, &mut found.clusters, record as u32, (from, to))? {
                    for at in [from, to] {
                        found.clusters[at].members.iter().for_each(|&r| own[r as usize] = at);
                    }
                    better = true;
                    break;
                }
            }
        }
        observer.advance(1);
        if !better {
            break;
        }
    }
    Ok(())
}

/// The cluster that a record is in, if it is in any.
const NOWHERE: usize = usize::MAX;

fn places(records: usize, clusters: &[Cluster]) -> Vec<usize> {
    let mut own = vec![NOWHERE; records];
    for (at, cluster) in clusters.iter().enumerate() {
        cluster.members.iter().for_each(|&r| own[r as usize] = at);
    }
    own
}

/// Per record the clusters that it could join at the lowest bound; none for records that are in no cluster.
fn near(
    search: &mut Search<'_>,
    clusters: &[Cluster],
    own: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<Vec<(i64, usize)>>> {
    let forest = search.forest();
    let mut near: Vec<Vec<(i64, usize)>> = vec![Vec::new(); forest.len()];
    for (at, cluster) in clusters.iter().enumerate() {
        observer.go_on()?;
        let profile = search.profile(&cluster.rep)?;
        for record in 0..forest.len() {
            if own[record] == NOWHERE || own[record] == at {
                continue;
            }
            // Clusters of one cost are compared by what the record adds.
            let members = search.joiner.weight(cluster.rep.members());
            let bound = profile.bound(forest, record as u32) - members * cluster.rep.loss;
            let list = &mut near[record];
            if list.len() < NEAR || (bound, at) < list[NEAR - 1] {
                let place = list.partition_point(|one| *one < (bound, at));
                list.insert(place, (bound, at));
                list.truncate(NEAR);
            }
        }
    }
    Ok(near)
}

/// Moves a record to another cluster, or swaps it with one of its members, if that lowers the cost.
fn exchange(
    search: &mut Search<'_>,
    size: usize,
    clusters: &mut [Cluster],
    record: u32,
    (from, to): (usize, usize),
) -> Result<bool> {
    let before = clusters[from].cost() + clusters[to].cost();
    let without = |cluster: &Cluster, gone: u32| -> Vec<u32> {
        cluster.members.iter().copied().filter(|&r| r != gone).collect()
    };
    let rest = without(&clusters[from], record);
    let mut best: Option<(i64, Cluster, Cluster)> = None;
    let mut consider = |search: &mut Search<'_>, a: Vec<u32>, b: Vec<u32>| -> Result<()> {
        let Some(a) = build(search, &a)? else { return Ok(()) };
        if best.as_ref().map_or(before, |x| x.0) <= a.cost() {
            return Ok(());
        }
        let Some(b) = build(search, &b)? else { return Ok(()) };
        let cost = a.cost() + b.cost();
        if cost < best.as_ref().map_or(before, |x| x.0) {
            best = Some((cost, a, b));
        }
        Ok(())
    };
    if clusters[from].members.len() > size {
        consider(search, rest.clone(), [clusters[to].members.as_slice(), &[record]].concat())?;
    }
    for &other in &clusters[to].members {
        let a = [rest.as_slice(), &[other]].concat();
        let b = [without(&clusters[to], other).as_slice(), &[record]].concat();
        consider(search, a, b)?;
    }
    match best {
        Some((_, a, b)) => {
            clusters[from] = a;
            clusters[to] = b;
            Ok(true)
        }
        None => Ok(false),
    }
}

/// A cluster of records joined in the order given; none if they do not fit together.
fn build(search: &mut Search<'_>, members: &[u32]) -> Result<Option<Cluster>> {
    let forest = search.forest();
    let mut cluster = Cluster::of(forest, members[0]);
    for &record in &members[1..] {
        if !search.may_join(&cluster.rep, record) {
            return Ok(None);
        }
        search.joiner.observer.go_on()?;
        let Some(rep) = search.join(&cluster.rep, &Rep::of_record(forest, record))? else {
            return Ok(None);
        };
        cluster.add(forest, record, rep);
    }
    Ok(Some(cluster))
}

/// Joins the members of a cluster in other orders: from each of them on, always the nearest next.
fn reorder(search: &mut Search<'_>, cluster: &mut Cluster) -> Result<()> {
    let members = cluster.members.clone();
    if members.len() > MOST_ORDERS || cluster.cost() == 0 {
        return Ok(());
    }
    for &first in &members {
        if let Some(other) = from(search, first, &members)?
            && other.cost() < cluster.cost()
        {
            *cluster = other;
        }
    }
    Ok(())
}

fn from(search: &mut Search<'_>, first: u32, members: &[u32]) -> Result<Option<Cluster>> {
    let forest = search.forest();
    let mut cluster = Cluster::of(forest, first);
    let mut rest: Vec<(u32, Rep)> =
        members.iter().filter(|&&r| r != first).map(|&r| (r, Rep::of_record(forest, r))).collect();
    while !rest.is_empty() {
        let mut best: Option<(i64, usize)> = None;
        for (at, (record, rep)) in rest.iter().enumerate() {
            if search.may_join(&cluster.rep, *record) {
                let cost = search.cost(&cluster.rep, rep)?;
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, at));
                }
            }
        }
        let Some((_, at)) = best else { return Ok(None) };
        let (record, rep) = rest.remove(at);
        let Some(joined) = search.join(&cluster.rep, &rep)? else { return Ok(None) };
        cluster.add(forest, record, joined);
    }
    Ok(Some(cluster))
}
