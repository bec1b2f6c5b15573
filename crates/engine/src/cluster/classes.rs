//! Clusters that take over the classes of earlier releases: kept or merged, never cut anew. Whoever has both releases then
//! finds in each class of the earlier one people who look alike in the new one, too.

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

use super::algorithms::miracle::nearest_cluster;
use super::cells::Facts;
use super::cost::Lm;
use super::diverse::Judge;
use super::forest::Forest;
use super::rep::Joiner;
use super::search::Search;
use super::{Cluster, Clustering, Params, Release, publish, refuse_few, released, room, settle};
use crate::params::Input;

/// Anonymizes vertex trees in the classes that are given, by record numbers; whoever is in none is a class of their own.
pub fn run_on_classes(
    data: &Dataset,
    binding: &Binding,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    classes: &[Vec<u32>],
    observer: &dyn Observer,
) -> Result<Release> {
    let facts = Facts::count(data, binding, observer)?;
    let forest = Forest::new(data, binding, hierarchies, params, (&facts, &Lm), observer)?;
    refuse_few(data, params)?;
    let joiner = Joiner::new(&forest, params.matching, None, params.weighted, observer);
    let mut search = Search::new(joiner, room(&forest, params)?)?;
    let mut found = Clustering::default();
    let mut waiting: Vec<Cluster> = Vec::new();
    let mut is_in = vec![false; data.len()];
    classes.iter().flatten().for_each(|&record| is_in[record as usize] = true);
    let alone = (0..data.len() as u32).filter(|&record| !is_in[record as usize]).map(|record| vec![record]);
    for class in classes.iter().cloned().chain(alone) {
        observer.go_on()?;
        match united(&mut search, &forest, &class)? {
            Some(cluster) => waiting.push(cluster),
            None => found.left.extend(class),
        }
    }
    let judge = params.diverse.as_ref().map(|ask| Judge { forest: &forest, ask, observer });
    let is_good = |cluster: &Cluster| {
        cluster.members.len() >= params.size() && judge.as_ref().is_none_or(|j| j.is_diverse(&cluster.rep))
    };
    let mut good: Vec<bool> = waiting.iter().map(&is_good).collect();
    observer.stage("merging classes", good.iter().filter(|good| !**good).count() as u64);
    // With the nearest of all, good or not: a class that waits for others like it may wait in vain.
    while let Some(at) = good.iter().position(|good| !good) {
        observer.go_on()?;
        good.remove(at);
        let mut cluster = waiting.remove(at);
        let Some(nearest) = nearest_cluster(&mut search, &cluster, &waiting)? else {
            found.left.extend(cluster.members);
            continue;
        };
        good.remove(nearest);
        let other = waiting.remove(nearest);
        match search.join(&cluster.rep, &other.rep)? {
            Some(rep) => cluster.merge(other, rep),
            None => {
                found.left.extend(cluster.members);
                cluster = other;
            }
        }
        observer.advance(1);
        good.push(is_good(&cluster));
        waiting.push(cluster);
    }
    found.clusters.extend(waiting);
    let input = Input { data, binding, hierarchies };
    let found = settle(input, &forest, params, found, observer)?;
    if found.clusters.is_empty() {
        let what = "the classes of the earlier release cannot be published in this form";
        let help = "ask for a smaller k or l, or publish fewer attributes";
        return Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help)));
    }
    let published = publish::publish(data, binding, hierarchies, &forest, &found.clusters, observer)?;
    Ok(released(input, &forest, published, (found.clusters, found.left), false))
}

/// The members of a class as one cluster; none if they have nothing in common.
fn united(search: &mut Search<'_>, forest: &Forest, class: &[u32]) -> Result<Option<Cluster>> {
    let Some((&first, others)) = class.split_first() else { return Ok(None) };
    let mut cluster = Cluster::of(forest, first);
    for &record in others {
        let one = Cluster::of(forest, record);
        match search.join(&cluster.rep, &one.rep)? {
            Some(rep) => cluster.merge(one, rep),
            None => return Ok(None),
        }
    }
    Ok(Some(cluster))
}
