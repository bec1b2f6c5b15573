//! Records that no cluster was grown for.

use bosket_model::Result;
use rustc_hash::FxHashMap;

use super::profile::Profile;
use super::rep::{FAR, Rep};
use super::search::Search;
use super::{Cluster, Clustering};

/// Clusters that a record is tried in at a time: those with the lowest bounds.
const NEAR: usize = 256;

/// Which clusters around a record are asked for.
#[derive(Clone, Copy)]
pub(super) struct Nearby {
    pub(super) most: usize,
    /// Only those that the record may join as they are.
    pub(super) fitting: bool,
}

/// A record that was left over joins the cluster, of those that are near, where that costs least, if it costs less than
/// giving the record up.
pub(super) fn place(search: &mut Search<'_>, found: &mut Clustering) -> Result<()> {
    // Records that are left over often have the same secret and want the same clusters: who comes too late looks again.
    loop {
        let before = found.left.len();
        once(search, found)?;
        if found.left.is_empty() || found.left.len() == before {
            return Ok(());
        }
    }
}

fn once(search: &mut Search<'_>, found: &mut Clustering) -> Result<()> {
    let forest = search.forest();
    let left = std::mem::take(&mut found.left);
    let mut profiles = Profiles::new(search.room / 4);
    let near = near(search, &found.clusters, &left, Nearby { most: NEAR, fitting: true })?;
    for (record, near) in left.into_iter().zip(near) {
        let mut best: Option<(i64, usize)> = None;
        for (bound, at) in near {
            search.joiner.observer.go_on()?;
            let most = best.map_or(forest.prune[record as usize] - 1, |b| b.0 - 1);
            if bound > most {
                break;
            }
            let rise = rise(search, &found.clusters, at, &mut profiles, record, most)?;
            best = rise.map(|rise| (rise, at)).or(best);
        }
        let joined = match best {
            Some((_, at)) => {
                let rep = search.join(&found.clusters[at].rep, &Rep::of_record(forest, record))?;
                rep.map(|rep| (at, rep))
            }
            None => None,
        };
        match joined {
            Some((at, rep)) => {
                found.clusters[at].add(forest, record, rep);
                profiles.forget(at);
            }
            None => found.left.push(record),
        }
    }
    Ok(())
}

/// Profiles of clusters that the next record may want too. One takes as much as all values and all forms of children
/// together, so only as many are kept as there is room for.
struct Profiles {
    /// With the bytes that each took when it was made: rows grow while they are used.
    known: FxHashMap<usize, (Profile, usize)>,
    bytes: usize,
    room: usize,
}

impl Profiles {
    fn new(room: usize) -> Self {
        Profiles { known: FxHashMap::default(), bytes: 0, room }
    }

    /// The profile of a cluster, made if it is not known.
    fn of(&mut self, search: &mut Search<'_>, clusters: &[Cluster], at: usize) -> Result<&Profile> {
        if !self.known.contains_key(&at) {
            let profile = search.profile(&clusters[at].rep)?;
            let bytes = profile.bytes();
            if self.bytes + bytes > self.room {
                self.known.clear();
                self.bytes = 0;
            }
            self.bytes += bytes;
            self.known.insert(at, (profile, bytes));
        }
        Ok(&self.known[&at].0)
    }

    /// The cluster has changed.
    fn forget(&mut self, at: usize) {
        if let Some((_, bytes)) = self.known.remove(&at) {
            self.bytes -= bytes;
        }
    }
}

/// Per record the clusters around it, by what it would add at least.
pub(super) fn near(
    search: &mut Search<'_>,
    clusters: &[Cluster],
    left: &[u32],
    nearby: Nearby,
) -> Result<Vec<Vec<(i64, usize)>>> {
    let forest = search.forest();
    let mut near: Vec<Vec<(i64, usize)>> = vec![Vec::new(); left.len()];
    if left.is_empty() {
        return Ok(near);
    }
    for (at, cluster) in clusters.iter().enumerate() {
        search.joiner.observer.go_on()?;
        let profile = search.profile(&cluster.rep)?;
        let before = search.joiner.weight(cluster.rep.members()) * cluster.rep.loss;
        let taken = search.taken(&cluster.rep);
        for (list, &record) in near.iter_mut().zip(left) {
            let one = (profile.bound(forest, record) - before, at);
            let close = list.len() < nearby.most || one < list[nearby.most - 1];
            if close && (!nearby.fitting || search.fits(&cluster.rep, &taken, record)) {
                list.insert(list.partition_point(|other| *other < one), one);
                list.truncate(nearby.most);
            }
        }
    }
    Ok(near)
}

/// What a cluster and a record lose more together, if they fit and it is no more than `most`.
fn rise(
    search: &mut Search<'_>,
    clusters: &[Cluster],
    at: usize,
    profiles: &mut Profiles,
    record: u32,
    most: i64,
) -> Result<Option<i64>> {
    let forest = search.forest();
    let cluster = &clusters[at];
    if !search.may_join(&cluster.rep, record) {
        return Ok(None);
    }
    let rise = if search.joiner.weighted {
        let before = cluster.rep.members() as i64 * cluster.rep.loss;
        let limit = most.saturating_add(before).min(FAR);
        let profile = profiles.of(search, clusters, at)?;
        let cost = search.profiled_cost(profile, &cluster.rep, record, limit)?;
        cost.map(|cost| cost - before)
    } else {
        let joined = search.join(&cluster.rep, &Rep::of_record(forest, record))?;
        joined.map(|rep| rep.cost(cluster.had + forest.prune[record as usize]) - cluster.cost())
    };
    Ok(rise.filter(|&rise| rise <= most))
}
