//! `dmiracle`: clusters regardless of sensitive values, then merged until they are diverse.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::miracle::{Stream, miracle, nearest_cluster};
use crate::cluster::diverse::Judge;
use crate::cluster::search::Search;
use crate::cluster::{Cluster, Clustering};

/// Puts records into diverse clusters. A last one that is not diverse is left over.
pub(crate) fn dmiracle(
    search: &mut Search<'_>,
    stream: Stream,
    judge: &Judge<'_>,
    observer: &dyn Observer,
) -> Result<Clustering> {
    let streamed = miracle(search, stream, observer)?;
    let mut found = Clustering { left: streamed.left, ..Clustering::default() };
    let mut bad: Vec<Cluster> = Vec::new();
    for cluster in streamed.clusters {
        observer.go_on()?;
        if judge.is_diverse(&cluster.rep) { found.clusters.push(cluster) } else { bad.push(cluster) }
    }
    observer.stage("merging clusters", bad.len() as u64);
    while bad.len() > 1 {
        observer.go_on()?;
        let mut cluster = bad.remove(0);
        let Some(at) = nearest_cluster(search, &cluster, &bad)? else {
            found.left.extend(cluster.members);
            continue;
        };
        let other = bad.remove(at);
        match search.join(&cluster.rep, &other.rep)? {
            Some(rep) => cluster.merge(other, rep),
            None => found.left.extend(other.members),
        }
        observer.advance(1);
        if judge.is_diverse(&cluster.rep) {
            found.clusters.push(cluster);
        } else {
            bad.push(cluster);
        }
    }
    found.left.extend(bad.into_iter().flat_map(|c| c.members));
    found.left.sort_unstable();
    Ok(found)
}
