//! Records that no cluster was grown for.

use super::Clustering;
use super::profile::Profile;
use super::rep::{FAR, Rep};
use super::search::Search;

/// Potentials kept from one record to the next at most.
const MOST_POTENTIALS: usize = 1 << 25;

/// A record that was left over joins the cluster where that costs least, if it costs less than giving the record up.
pub(super) fn place(search: &mut Search<'_>, found: &mut Clustering) {
    let forest = search.forest();
    let left = std::mem::take(&mut found.left);
    let keep = forest.forms.len() * found.clusters.len() <= MOST_POTENTIALS;
    let mut profiles: Vec<Option<Profile>> = Vec::new();
    profiles.resize_with(found.clusters.len(), || None);
    for record in left {
        let mut best: Option<(i64, usize)> = None;
        for (at, cluster) in found.clusters.iter().enumerate() {
            if !search.may_join(&cluster.rep, record) {
                continue;
            }
            // What the members lose more, and the record itself, all of them counted.
            let members = cluster.rep.members() as i64;
            let most = best.map_or(forest.prune[record as usize] - 1, |b| b.0 - 1);
            let profile = match profiles[at].take() {
                Some(profile) => profile,
                None => Profile::new(&mut search.joiner, &mut search.rows, &cluster.rep),
            };
            let before = members * cluster.rep.loss;
            let limit = if search.joiner.weighted { most + before } else { FAR };
            let cost = match profile.bound(forest, record) > limit {
                true => None,
                false => profile.cost(&mut search.joiner, &cluster.rep, record, limit),
            };
            profiles[at] = keep.then_some(profile);
            let Some(cost) = cost else { continue };
            let rise = if search.joiner.weighted {
                cost - before
            } else {
                let Some(joined) = search.joiner.join(&cluster.rep, &Rep::of_record(forest, record)) else {
                    continue;
                };
                joined.cost(cluster.had + forest.prune[record as usize]) - cluster.cost()
            };
            if rise <= most {
                best = Some((rise, at));
            }
        }
        let joined = best.and_then(|(_, at)| {
            let rep = search.joiner.join(&found.clusters[at].rep, &Rep::of_record(forest, record))?;
            Some((at, rep))
        });
        match joined {
            Some((at, rep)) => {
                found.clusters[at].members.push(record);
                found.clusters[at].had += forest.prune[record as usize];
                found.clusters[at].rep = rep;
                profiles[at] = None;
            }
            None => found.left.push(record),
        }
    }
}
