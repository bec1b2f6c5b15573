//! The publication of a solution, with labels of each cell's own where they can be finer than the cut.

use bosket_model::hierarchy::NodeId;
use bosket_model::observe::Observer;
use bosket_model::{Dataset, Result};

use super::domain::Domain;
use super::params::Params;
use super::problem::Solution;
use super::published_rows::{self, Own, Source};
use super::{Attempt, Start};
use crate::local::{self, Cells, Cover, Knower, Label, Promise, Taxonomy};

/// A publication with labels of each cell's own.
pub(super) struct Finer<P> {
    pub(super) published: P,
    /// How many values have one.
    pub(super) lowered: usize,
    /// What all values together lose less than at the cut, weighted by attribute.
    pub(super) gained: f64,
}

/// Starts from the cut, and lowers what can be lowered; none if nothing can. A `first` solution is lowered a little in any case.
pub(super) fn publish_local(
    source: &Source<'_>,
    attempt: &Attempt<'_>,
    domain: &Domain<'_>,
    solution: &Solution,
    params: &Params,
    (start, observer): (Start, &dyn Observer),
) -> Result<Option<Finer<Dataset>>> {
    let (mut cells, places) =
        published_rows::cells(source, attempt, domain, solution, params.root, observer)?;
    let taxonomy = taxonomy(domain);
    let before = cells.label.clone();
    let promise = promise(domain, params);
    let at_cut = local::lost(&cells, &taxonomy);
    match start.is_first && start.is_sound {
        true => local::refine_first(&mut cells, &taxonomy, &promise, observer)?,
        false => local::refine(&mut cells, &taxonomy, (&promise, start.is_sound), observer)?,
    }
    if let Some(guess) = params.guess {
        let told = told(domain, &params.told);
        let cut = Cover { cut: &before, is_sound: start.is_sound, whole: false, told: &told };
        local::cover(&mut cells, cut, (&taxonomy, &promise), guess, observer)?;
    }
    let gained = at_cut - local::lost(&cells, &taxonomy);
    let finer = before.iter().zip(&cells.label).zip(places).filter(|((old, new), _)| old != new);
    let own: Own = finer.map(|((_, &new), place)| (place, new)).collect();
    if own.is_empty() && start.is_sound {
        return Ok(None);
    }
    let published = published_rows::write(source, attempt, domain, solution, &own, observer)?;
    Ok(Some(Finer { published, lowered: own.len(), gained }))
}

/// Whether values alone let an attacker find too few people at a cut. What is `*` everywhere may be left out with its object, so it
/// is not looked at: who is found without it is found with it.
pub(super) fn is_found_by_values(
    source: &Source<'_>,
    attempt: &Attempt<'_>,
    domain: &Domain<'_>,
    solution: &Solution,
    params: &Params,
    observer: &dyn Observer,
) -> Result<bool> {
    let (cells, _) = published_rows::cells(source, attempt, domain, solution, params.root, observer)?;
    let taxonomy = taxonomy(domain);
    let says_something = |&cell: &u32| {
        let label = cells.label[cell as usize];
        taxonomy.parent[label as usize] != label
    };
    let mut told = Cells { first: vec![0], ..Cells::default() };
    for own in cells.first.windows(2) {
        told.label.extend((own[0]..own[1]).filter(says_something).map(|cell| cells.label[cell as usize]));
        told.first.push(told.label.len() as u32);
    }
    let knowers = promise(domain, params).knowers.into_iter().map(|knower| Knower { n: 0, ..knower });
    local::is_kept(&told, &taxonomy, &Promise::new(knowers.collect()), observer).map(|kept| !kept)
}

/// The labels that told too much before.
fn told(domain: &Domain<'_>, labels: &[(usize, String)]) -> Vec<Label> {
    let node = |(declared, label): &(usize, String)| {
        let level = domain.levels.iter().find(|level| level.declared == *declared)?;
        Some(level.root + level.hierarchy.node(label)?.0)
    };
    labels.iter().filter_map(node).collect()
}

/// The hierarchies of all attributes, with the detail that a cell loses at each of their nodes.
fn taxonomy(domain: &Domain<'_>) -> Taxonomy {
    let (mut parent, mut loss, mut attribute) = (Vec::new(), Vec::new(), Vec::new());
    for (number, level) in (0..).zip(&domain.levels) {
        let leaves = |node: NodeId| level.hierarchy.leaves(node).len() as f64;
        let all = leaves(NodeId::ROOT);
        for node in level.hierarchy.nodes() {
            // A node over a single leaf says no more than that leaf.
            let mut above = level.hierarchy.parent(node);
            while let Some(single) = above.filter(|&n| n != NodeId::ROOT && leaves(n) == 1.0) {
                above = level.hierarchy.parent(single);
            }
            parent.push(level.root + above.unwrap_or(node).0);
            let lost = if all < 2.0 { 0.0 } else { (leaves(node) - 1.0) / (all - 1.0) };
            loss.push(lost * level.weight());
            attribute.push(number);
        }
    }
    Taxonomy { parent, attribute, loss, hidden: None }
}

/// Against whom the labels have to hold, with attributes by their places in the search.
fn promise(domain: &Domain<'_>, params: &Params) -> Promise {
    let declared: Vec<usize> = domain.levels.iter().map(|level| level.declared).collect();
    Promise::new(knowers_of(params, &declared))
}

/// The same with attributes by their places in the policy.
pub(super) fn knowers(params: &Params, declared: usize) -> Vec<Knower> {
    knowers_of(params, &(0..declared).collect::<Vec<usize>>())
}

fn knowers_of(params: &Params, declared: &[usize]) -> Vec<Knower> {
    if params.knowers.is_empty() {
        return vec![Knower::of_anything(params.k, params.m, params.n, declared.len())];
    }
    let of = |knower: &bosket_model::policy::Knower| Knower {
        k: knower.k,
        m: knower.m as usize,
        n: knower.n as usize,
        knows: declared.iter().map(|own| knower.knows.contains(own)).collect(),
        among: declared.iter().map(|&own| knower.may_know(own)).collect(),
    };
    params.knowers.iter().map(of).collect()
}
