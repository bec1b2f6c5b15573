//! A last look at finished clusters: other orders of joining, records moved and swapped, while the total cost falls.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::rep::Rep;
use super::search::Search;
use super::{Cluster, Clustering};

/// Other clusters that a record is tried in.
const NEAR: usize = 3;

/// Times that all records are looked at, where nobody says how long to go on.
pub(super) const ROUNDS: usize = 4;

/// Larger clusters are not put together in other orders.
const MOST_ORDERS: usize = 12;

/// Improves clusters of at least `size` members, in so many rounds at most, while there is time.
pub(super) fn improve(
    search: &mut Search<'_>,
    (size, rounds): (usize, usize),
    found: &mut Clustering,
    observer: &dyn Observer,
) -> Result<()> {
    observer.stage("improving clusters", rounds as u64);
    for cluster in &mut found.clusters {
        observer.go_on()?;
        if search.is_over() {
            return Ok(());
        }
        reorder(search, cluster)?;
    }
    for _ in 0..rounds {
        let better = round(search, size, &mut found.clusters, observer)?;
        observer.advance(1);
        if !better || search.is_over() {
            break;
        }
    }
    Ok(())
}

/// Tries every record elsewhere; whether anything became better.
fn round(
    search: &mut Search<'_>,
    size: usize,
    clusters: &mut [Cluster],
    observer: &dyn Observer,
) -> Result<bool> {
    let mut own = places(search.forest().len(), clusters);
    let near = near(search, clusters, &own, observer)?;
    let mut rests = Rests::new(search.room / 4);
    let mut better = false;
    for (record, near) in near.iter().enumerate() {
        if search.is_over() {
            break;
        }
        for &(_, to) in near {
            observer.go_on()?;
            // An earlier step may have taken the record elsewhere.
            let from = own[record];
            if from != to && exchange(search, size, clusters, &mut rests, record as u32, (from, to))? {
                for at in [from, to] {
                    clusters[at].members.iter().for_each(|&r| own[r as usize] = at);
                }
                better = true;
                break;
            }
        }
    }
    Ok(better)
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
        if search.is_over() {
            break;
        }
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
    rests: &mut Rests,
    record: u32,
    (from, to): (usize, usize),
) -> Result<bool> {
    let before = clusters[from].cost() + clusters[to].cost();
    let rest = rests.of(search, &clusters[from], record)?.clone();
    let mut best: (i64, Option<Option<u32>>) = (before, None);
    if clusters[from].members.len() > size {
        let most = best.0 - rest.cost();
        if let Some(cost) = cost_with(search, &clusters[to], record, most)? {
            best = (rest.cost() + cost, Some(None));
        }
    }
    for &other in &clusters[to].members {
        search.joiner.observer.go_on()?;
        let others = rests.of(search, &clusters[to], other)?;
        // Whoever joins only adds to what a cluster loses.
        let Some(here) = cost_with(search, &rest, other, best.0 - others.cost())? else { continue };
        if let Some(there) = cost_with(search, others, record, best.0 - here)? {
            best = (here + there, Some(Some(other)));
        }
    }
    let (_, Some(other)) = best else { return Ok(false) };
    let (a, b) = match other {
        None => (Some(rest), with(search, clusters[to].clone(), record)?),
        Some(other) => {
            let others = rests.of(search, &clusters[to], other)?.clone();
            (with(search, rest, other)?, with(search, others, record)?)
        }
    };
    let (Some(a), Some(b)) = (a, b) else { return Ok(false) };
    rests.forget(&clusters[from].members);
    rests.forget(&clusters[to].members);
    (clusters[from], clusters[to]) = (a, b);
    Ok(true)
}

/// What a cluster loses together with a record; none if they do not fit, or if it is not less than `limit`.
fn cost_with(search: &mut Search<'_>, cluster: &Cluster, record: u32, limit: i64) -> Result<Option<i64>> {
    if cluster.cost() >= limit || !search.may_join(&cluster.rep, record) {
        return Ok(None);
    }
    let forest = search.forest();
    let one = Rep::of_record(forest, record);
    let cost = if search.joiner.weighted {
        let pruned = cluster.had - cluster.rep.members() as i64 * cluster.rep.prune;
        Some(pruned + search.cost(&cluster.rep, &one)?)
    } else {
        let had = cluster.had + forest.prune[record as usize];
        search.join(&cluster.rep, &one)?.map(|rep| rep.cost(had))
    };
    Ok(cost.filter(|&cost| cost < limit))
}

/// A cluster together with a record; none if they do not fit.
fn with(search: &mut Search<'_>, mut cluster: Cluster, record: u32) -> Result<Option<Cluster>> {
    let forest = search.forest();
    let joined = search.join(&cluster.rep, &Rep::of_record(forest, record))?;
    Ok(joined.map(|rep| {
        cluster.add(forest, record, rep);
        cluster
    }))
}

/// Clusters without one of their members. Each is wanted again and again, by all records that are near.
struct Rests {
    known: FxHashMap<u32, Cluster>,
    bytes: usize,
    room: usize,
}

impl Rests {
    fn new(room: usize) -> Self {
        Rests { known: FxHashMap::default(), bytes: 0, room }
    }

    /// A cluster without a member.
    fn of(&mut self, search: &mut Search<'_>, cluster: &Cluster, gone: u32) -> Result<&Cluster> {
        if !self.known.contains_key(&gone) {
            let forest = search.forest();
            let mut members = cluster.members.iter().copied().filter(|&r| r != gone);
            let first = members.next().expect("a cluster has at least two members");
            let mut rest = Cluster::of(forest, first);
            for record in members {
                search.joiner.observer.go_on()?;
                rest = with(search, rest, record)?.expect("they are in one cluster");
            }
            let bytes = rest.rep.bytes();
            if self.bytes + bytes > self.room {
                self.known.clear();
                self.bytes = 0;
            }
            self.bytes += bytes;
            self.known.insert(gone, rest);
        }
        Ok(&self.known[&gone])
    }

    /// The cluster of these has changed.
    fn forget(&mut self, members: &[u32]) {
        for record in members {
            if let Some(rest) = self.known.remove(record) {
                self.bytes -= rest.rep.bytes();
            }
        }
    }
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
