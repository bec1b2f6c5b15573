//! The publication of a solution, with labels of each cell's own where they can be finer than the cut.

use bosket_model::hierarchy::NodeId;
use bosket_model::observe::Observer;
use bosket_model::{Dataset, Result};

use super::Attempt;
use super::domain::Domain;
use super::params::Params;
use super::problem::Solution;
use super::published_rows::{self, Own, Source};
use crate::local::{self, Promise, Taxonomy};

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
    (first, observer): (bool, &dyn Observer),
) -> Result<Option<Finer<Dataset>>> {
    let (mut cells, places) =
        published_rows::cells(source, attempt, domain, solution, params.root, observer)?;
    let taxonomy = taxonomy(domain);
    let before = cells.label.clone();
    let promise = Promise { k: params.k, m: params.m, n: params.n };
    let at_cut = local::lost(&cells, &taxonomy);
    match first {
        true => local::refine_first(&mut cells, &taxonomy, promise, observer)?,
        false => local::refine(&mut cells, &taxonomy, promise, observer)?,
    }
    let gained = at_cut - local::lost(&cells, &taxonomy);
    let finer = before.iter().zip(&cells.label).zip(places).filter(|((old, new), _)| old != new);
    let own: Own = finer.map(|((_, &new), place)| (place, new)).collect();
    if own.is_empty() {
        return Ok(None);
    }
    let published = published_rows::write(source, attempt, domain, solution, &own, observer)?;
    Ok(Some(Finer { published, lowered: own.len(), gained }))
}

/// The hierarchies of all attributes, with the detail that a cell loses at each of their nodes.
fn taxonomy(domain: &Domain<'_>) -> Taxonomy {
    let (mut parent, mut loss) = (Vec::new(), Vec::new());
    for level in &domain.levels {
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
        }
    }
    Taxonomy { parent, loss, hidden: None }
}
