//! Merging clusters until what each says about sensitive values is as close to what all say as asked.
//!
//! The smallest cluster that is too far goes first, into the nearest that makes up for what it says too much of, or else into
//! the nearest of all. Two clusters that look alike are
//! together no farther than the farther of them, but what is pruned on the way to look alike changes both what they say and what
//! all say, so everything is judged again until nothing is too far. Where one cluster of all is left and still too far at
//! some place, the place is pruned; so are, in a second attempt, places below the roots of clusters that are merged no
//! further than their roots need. What loses less is kept.

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use super::close::{Spaces, Where, Whole};
use super::params::{Close, Measure, Params};
use super::publish;
use super::rep::Joiner;
use super::search::Search;
use super::{Cluster, Clustering, Forest, room};
use crate::params::Input;

/// Clusters that one is compared with when the time is over.
const HURRIED: usize = 256;

/// How far sensitive values are from each other.
pub(super) fn spaces(input: Input<'_>, forest: &Forest, ask: &Close) -> Result<Spaces> {
    Spaces::new(input.data, input.binding, input.hierarchies, &forest.secrets, ask)
}

/// Makes clusters as close as asked.
pub(super) fn settle(
    input: Input<'_>,
    (forest, params, ask): (&Forest, &Params, &Close),
    mut found: Clustering,
    observer: &dyn Observer,
) -> Result<Clustering> {
    let mut whole = Whole::new(forest, spaces(input, forest, ask)?, ask.measure);
    if params.suppress_violators {
        suppress(&mut whole, &mut found, observer)?;
        return Ok(found);
    }
    let joiner = Joiner::new(forest, params.matching, None, params.weighted, observer);
    let mut search = Search::new(joiner, room(forest, params)?)?;
    let below = found.clusters.iter().any(|c| !c.rep.kids.is_empty()) && forest.has_secrets_below();
    let attempts: &[Where] = if below { &[Where::Everywhere, Where::AtRoot] } else { &[Where::Everywhere] };
    let mut best: Option<(f64, Vec<Cluster>)> = None;
    let mut gone: Option<(String, Option<f64>)> = None;
    for &which in attempts {
        let mut clusters = found.clusters.clone();
        merge(&mut search, &mut clusters, (&mut whole, which), observer)?;
        let kept = (which == Where::Everywhere && clusters.len() == 1)
            .then(|| clusters.first().and_then(|c| whole.kept(&c.rep)))
            .flatten();
        prune(&mut whole, &mut clusters, observer)?;
        if let Some(path) = whole.vanished() {
            let kept = gone.take().and_then(|gone| gone.1).or(kept);
            gone = Some((path.to_owned(), kept));
            continue;
        }
        let Input { data, binding, hierarchies } = input;
        let lm = publish::lm(data, binding, hierarchies, forest, &clusters, observer)?;
        if best.as_ref().is_none_or(|(least, _)| lm < *least) {
            best = Some((lm, clusters));
        }
    }
    found.cut_short |= search.cut_short;
    match (best, gone) {
        (Some((_, clusters)), _) => Ok(Clustering { clusters, ..found }),
        (None, Some((path, kept))) => Err(unreachable(ask.measure, &path, kept)),
        (None, None) => Ok(found),
    }
}

/// Says that nothing of a path would be left, and what could be kept.
fn unreachable(measure: Measure, path: &str, kept: Option<f64>) -> Failure {
    let (name, asked) = measure.named();
    let what = format!(
        "{name} = {asked} cannot be kept even in one class of all records: no value of it would be left"
    );
    let help = match kept {
        Some(kept) => format!("ask for {name} = {kept}, which one class of all records keeps; or drop it"),
        None => format!("no {name} would do in one class of all records; drop it, or use `l-diversity`"),
    };
    Failure::new(Fault::Unreachable, Diagnostic::error(what).at(Place::default().path(path)).help(help))
}

/// Leaves out clusters that are too far, until those that are left are not.
fn suppress(whole: &mut Whole<'_>, found: &mut Clustering, observer: &dyn Observer) -> Result<()> {
    loop {
        observer.go_on()?;
        whole.count_anew(&found.clusters);
        let close = |cluster: &mut Cluster| whole.is_close(&cluster.rep, Where::Everywhere);
        let far: Vec<Cluster> = found.clusters.extract_if(.., |cluster| !close(cluster)).collect();
        if far.is_empty() {
            return Ok(());
        }
        found.left.extend(far.into_iter().flat_map(|cluster| cluster.members));
    }
}

/// Merges clusters until none is too far, or one is left.
fn merge(
    search: &mut Search<'_>,
    clusters: &mut Vec<Cluster>,
    (whole, which): (&mut Whole<'_>, Where),
    observer: &dyn Observer,
) -> Result<()> {
    observer.stage("merging clusters", clusters.len() as u64);
    whole.count_anew(clusters);
    loop {
        let mut far: Vec<bool> = Vec::with_capacity(clusters.len());
        for cluster in clusters.iter() {
            observer.go_on()?;
            far.push(!whole.is_close(&cluster.rep, which));
        }
        if !far.contains(&true) {
            return Ok(());
        }
        while let Some(at) = smallest(clusters, &far) {
            observer.go_on()?;
            let Some(other) = nearest(search, clusters, at, (whole, observer))? else { return Ok(()) };
            let Some(rep) = search.join(&clusters[at].rep, &clusters[other].rep)? else { return Ok(()) };
            whole.count(&clusters[at].rep, -1);
            whole.count(&clusters[other].rep, -1);
            whole.count(&rep, 1);
            let its = clusters.remove(other);
            far.remove(other);
            let at = if other < at { at - 1 } else { at };
            clusters[at].merge(its, rep);
            far[at] = !whole.is_close(&clusters[at].rep, which);
            observer.advance(1);
        }
    }
}

/// Of the clusters that are too far the one with the fewest members, the first of those.
fn smallest(clusters: &[Cluster], far: &[bool]) -> Option<usize> {
    let far = (0..clusters.len()).filter(|&at| far[at]);
    far.min_by_key(|&at| (clusters[at].members.len(), at))
}

/// The cluster that adds least to the loss when one is merged with it: of those that make up for what it says, or else of all.
fn nearest(
    search: &mut Search<'_>,
    clusters: &[Cluster],
    at: usize,
    (whole, observer): (&Whole<'_>, &dyn Observer),
) -> Result<Option<usize>> {
    let one = &clusters[at];
    let hurried = if search.is_over() { HURRIED } else { usize::MAX };
    let own = search.joiner.weight(one.rep.members()) * one.rep.loss;
    // The best of all comes behind the best of those that help.
    let mut best: Option<(bool, i64, usize)> = None;
    let others = (1..clusters.len()).map(|step| (at + step) % clusters.len()).take(hurried);
    for other in others {
        observer.go_on()?;
        let rep = &clusters[other].rep;
        let before = own + search.joiner.weight(rep.members()) * rep.loss;
        // What the roots alone cost is the least that it can be.
        if best.is_some_and(|(idle, least, _)| !idle && search.joiner.head(&one.rep, rep) - before > least) {
            continue;
        }
        let rise = search.cost(&one.rep, rep)? - before;
        if best.is_some_and(|b| (false, rise, other) >= b) {
            continue;
        }
        let found = (!whole.complement(&one.members, &clusters[other].members), rise, other);
        if best.is_none_or(|b| found < b) {
            best = Some(found);
        }
    }
    Ok(best.map(|b| b.2))
}

/// Takes away what is still too far below the roots of clusters: of each the farthest place at a time, since the others may be
/// near what is left then.
fn prune(whole: &mut Whole<'_>, clusters: &mut [Cluster], observer: &dyn Observer) -> Result<()> {
    let mut changed = true;
    while changed {
        whole.count_anew(clusters);
        changed = false;
        for cluster in clusters.iter_mut() {
            observer.go_on()?;
            changed |= whole.prune(&mut cluster.rep);
        }
    }
    Ok(())
}
