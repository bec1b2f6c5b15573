//! How far apart values are, by the definition.

use bosket_model::Result;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;

/// Distances in a group. None is farther than any number: there are no two people to compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distances {
    /// Fewest edges between a value and the closest common ancestor of all.
    pub set_wise: Option<u32>,
    /// Fewest edges between a value and the closest common ancestor of it and another person's.
    pub pairwise: Option<u32>,
}

impl Distances {
    /// The distances of the values of a group. If `many`, one person may have several of them.
    pub fn new(
        hierarchy: &Hierarchy,
        values: &[NodeId],
        people: usize,
        many: bool,
        observer: &dyn Observer,
    ) -> Result<Self> {
        // One person may have no value; of two, the other one may then have all of them, however close.
        if values.len() < 2 || people < 2 || (many && people == 2) {
            return Ok(Distances::default());
        }
        let depth = |node: NodeId| hierarchy.depth(node);
        let common = values.iter().skip(1).fold(values[0], |a, &b| hierarchy.lca(a, b));
        let shallowest = values.iter().map(|&v| depth(v)).min().unwrap_or(0);
        let pairwise = if many {
            several(hierarchy, values, people, observer)?
        } else {
            let mut closest = None;
            for (i, &a) in values.iter().enumerate() {
                observer.go_on()?;
                let own = values[..i].iter().map(|&b| between(hierarchy, a, b)).min();
                closest = closest.into_iter().chain(own).min();
            }
            closest
        };
        Ok(Distances { set_wise: Some(shallowest - depth(common)), pairwise })
    }

    /// The weaker of both.
    #[must_use]
    pub fn and(self, other: Distances) -> Distances {
        let least = |a: Option<u32>, b: Option<u32>| a.into_iter().chain(b).min();
        Distances {
            set_wise: least(self.set_wise, other.set_wise),
            pairwise: least(self.pairwise, other.pairwise),
        }
    }
}

/// Fewest edges between one of two values and their closest common ancestor.
fn between(hierarchy: &Hierarchy, a: NodeId, b: NodeId) -> u32 {
    hierarchy.depth(a).min(hierarchy.depth(b)) - hierarchy.depth(hierarchy.lca(a, b))
}

/// The largest distance for which the values may belong to so many people: values closer than that must be one person's,
/// and one person at most has none.
fn several(
    hierarchy: &Hierarchy,
    values: &[NodeId],
    people: usize,
    observer: &dyn Observer,
) -> Result<Option<u32>> {
    let needed = people - 1;
    let most = values.iter().map(|&v| hierarchy.depth(v)).max().unwrap_or(0);
    for distance in (0..=most).rev() {
        if parts(hierarchy, values, distance, observer)? >= needed {
            return Ok(Some(distance));
        }
    }
    Ok(Some(0))
}

/// Into how many parts values fall if those closer than a distance stay together.
fn parts(hierarchy: &Hierarchy, values: &[NodeId], distance: u32, observer: &dyn Observer) -> Result<usize> {
    let mut part: Vec<usize> = (0..values.len()).collect();
    let mut count = values.len();
    for i in 0..values.len() {
        observer.go_on()?;
        for j in 0..i {
            if part[i] != part[j] && between(hierarchy, values[i], values[j]) < distance {
                let (from, to) = (part[i], part[j]);
                part.iter_mut().filter(|p| **p == from).for_each(|p| *p = to);
                count -= 1;
            }
        }
    }
    Ok(count)
}
