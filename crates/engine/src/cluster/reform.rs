//! Records that fit into no cluster as it is: nearby clusters are opened, and formed anew together with them.
//!
//! A record whose secret stands in every cluster around it, or that would make all of them dear, may still have a place: in a
//! cluster of its own, made of members that others do not need. Whoever is left over then is the one who is cheapest to give
//! up. Every step costs less than what was there before, so this ends.

use bosket_model::Result;

use super::leftovers::{self, Nearby};
use super::rep::Rep;
use super::search::Search;
use super::{Cluster, Clustering};

/// Clusters that are opened for a record, two at a time at most: those with the lowest bounds.
const NEAR: usize = 8;

/// Records that are formed anew at a time, in clusters' sizes.
const MOST_SIZES: usize = 4;

/// Times that all who are left over are looked at.
const ROUNDS: usize = 4;

/// Records per pair of clusters that is tried, so that all tries take about as long as the search did.
const PER_TRY: usize = 4;

/// Opens clusters for records that were left over, while that costs less than giving somebody up.
pub(super) fn reform(search: &mut Search<'_>, size: usize, found: &mut Clustering) -> Result<()> {
    let mut tries = search.forest().prune.len() / PER_TRY;
    for _ in 0..ROUNDS {
        if found.left.is_empty() || search.is_over() || !once(search, size, found, &mut tries)? {
            break;
        }
        // Those who are left over now are others.
        leftovers::place(search, found)?;
    }
    Ok(())
}

/// What comes of some clusters and a record.
struct Formed {
    clusters: [Cluster; 2],
    left: Vec<u32>,
    saved: i64,
}

fn once(search: &mut Search<'_>, size: usize, found: &mut Clustering, tries: &mut usize) -> Result<bool> {
    let left = std::mem::take(&mut found.left);
    let near = leftovers::near(search, &found.clusters, &left, Nearby { most: NEAR, fitting: false })?;
    let mut better = false;
    for (record, near) in left.into_iter().zip(near) {
        search.joiner.observer.go_on()?;
        let mut best: Option<(usize, usize, Formed)> = None;
        let pairs = (0..near.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        for (a, b) in pairs.map(|(a, b)| (near[a].1, near[b].1)) {
            if *tries == 0 || search.is_over() {
                break;
            }
            *tries -= 1;
            let least = best.as_ref().map_or(0, |best| best.2.saved);
            let opened = [&found.clusters[a], &found.clusters[b]];
            if let Some(formed) = form(search, size, opened, record)?.filter(|formed| formed.saved > least) {
                best = Some((a, b, formed));
            }
        }
        let Some((a, b, formed)) = best else {
            found.left.push(record);
            continue;
        };
        [found.clusters[a], found.clusters[b]] = formed.clusters;
        found.left.extend(formed.left);
        better = true;
    }
    found.left.sort_unstable();
    Ok(better)
}

/// Two clusters out of the members of two others and a record: one grows around the record, one around the member that is
/// farthest from it, and everybody else joins the one where that costs less.
fn form(search: &mut Search<'_>, size: usize, opened: [&Cluster; 2], record: u32) -> Result<Option<Formed>> {
    let forest = search.forest();
    let before: i64 = opened.iter().map(|c| c.cost()).sum::<i64>() + forest.prune[record as usize];
    let mut members: Vec<u32> = opened.iter().flat_map(|c| c.members.iter().copied()).collect();
    if members.len() > MOST_SIZES * size {
        return Ok(None);
    }
    members.sort_unstable();
    let Some(first) = grow(search, size, Cluster::of(forest, record), &mut members)? else { return Ok(None) };
    let mut farthest: Option<(i64, usize)> = None;
    for (at, &member) in members.iter().enumerate() {
        let cost = search.cost(&first.rep, &Rep::of_record(forest, member))?;
        if farthest.is_none_or(|(most, _)| cost > most) {
            farthest = Some((cost, at));
        }
    }
    let Some((_, at)) = farthest else { return Ok(None) };
    let seed = members.remove(at);
    let Some(second) = grow(search, size, Cluster::of(forest, seed), &mut members)? else { return Ok(None) };
    let mut clusters = [first, second];
    let mut left = Vec::new();
    for member in members {
        search.joiner.observer.go_on()?;
        let mut best: Option<(i64, usize, Rep)> = None;
        for (at, cluster) in clusters.iter().enumerate() {
            if !search.may_join(&cluster.rep, member) {
                continue;
            }
            let Some(rep) = search.join(&cluster.rep, &Rep::of_record(forest, member))? else { continue };
            let rise = rep.cost(cluster.had + forest.prune[member as usize]) - cluster.cost();
            if rise < best.as_ref().map_or(forest.prune[member as usize], |best| best.0) {
                best = Some((rise, at, rep));
            }
        }
        match best {
            Some((_, at, rep)) => clusters[at].add(forest, member, rep),
            None => left.push(member),
        }
    }
    let given_up: i64 = left.iter().map(|&r| forest.prune[r as usize]).sum();
    let after = clusters.iter().map(Cluster::cost).sum::<i64>() + given_up;
    Ok((after < before).then(|| Formed { clusters, left, saved: before - after }))
}

/// Grows a cluster up to a size out of some records, always by the one that costs least; none if too few fit.
fn grow(
    search: &mut Search<'_>,
    size: usize,
    mut cluster: Cluster,
    from: &mut Vec<u32>,
) -> Result<Option<Cluster>> {
    let forest = search.forest();
    while cluster.members.len() < size {
        search.joiner.observer.go_on()?;
        let mut best: Option<(i64, usize)> = None;
        for (at, &record) in from.iter().enumerate() {
            if search.may_join(&cluster.rep, record) {
                let cost = search.cost(&cluster.rep, &Rep::of_record(forest, record))?;
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, at));
                }
            }
        }
        let Some((_, at)) = best else { return Ok(None) };
        let record = from.remove(at);
        let Some(rep) = search.join(&cluster.rep, &Rep::of_record(forest, record))? else { return Ok(None) };
        cluster.add(forest, record, rep);
    }
    Ok(Some(cluster))
}
