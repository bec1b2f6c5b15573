//! How far apart the values of a group are.

use bosket_model::hierarchy::{Hierarchy, NodeId};

/// How far apart the values of different people are. None is farther than any number: there are no two to compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Degrees {
    /// Fewest edges between a value and the closest common ancestor of one value per person.
    pub set_wise: Option<u32>,
    /// The same for every two people.
    pub pairwise: Option<u32>,
}

impl Degrees {
    /// The weaker of both, degree by degree.
    #[must_use]
    pub fn and(self, other: Degrees) -> Degrees {
        let least = |a: Option<u32>, b: Option<u32>| a.into_iter().chain(b).min();
        Degrees {
            set_wise: least(self.set_wise, other.set_wise),
            pairwise: least(self.pairwise, other.pairwise),
        }
    }
}

/// The degrees of a group: the values of each of its people, whatever one of each is chosen. Who has none is at
/// infinite distance from everybody.
pub fn degrees(hierarchy: &Hierarchy, people: &[&[NodeId]]) -> Degrees {
    let mut values: Vec<(NodeId, usize)> = Vec::new();
    let mut counted = 0;
    for person in people.iter().filter(|p| !p.is_empty()) {
        values.extend(person.iter().map(|&node| (node, counted)));
        counted += 1;
    }
    if counted < 2 {
        return Degrees::default();
    }
    values.sort_unstable();
    Degrees {
        set_wise: Some(set_wise(hierarchy, &values, counted)),
        pairwise: Some(pairwise(hierarchy, &values)),
    }
}

/// Of all choices with a common ancestor at or below a node, one that takes the highest value below it is the worst. So
/// each value is held against the lowest node above it that everybody has a value under.
fn set_wise(hierarchy: &Hierarchy, values: &[(NodeId, usize)], people: usize) -> u32 {
    let single = values.len() == people;
    let mut seen = vec![usize::MAX; people];
    let mut shared = |round: usize, node: NodeId| {
        let below = hierarchy.subtree(node);
        let from = values.partition_point(|v| v.0.0 < below.start);
        let inside = values[from..].iter().take_while(|v| v.0.0 < below.end);
        if single {
            return inside.count() == people;
        }
        let mut count = 0;
        for &(_, person) in inside {
            count += usize::from(std::mem::replace(&mut seen[person], round) != round);
        }
        count == people
    };
    let mut least = u32::MAX;
    let mut round = 0;
    for &(value, _) in values {
        let mut node = value;
        let mut distance = 0;
        // Farther up there is nothing worse than what was found already.
        while distance < least {
            round += 1;
            if shared(round, node) {
                least = distance;
                break;
            }
            let Some(parent) = hierarchy.parent(node) else { break };
            node = parent;
            distance += 1;
        }
    }
    least
}

/// Depth first, the closest ancestor of two values is the highest of those between neighbours on the way. So nobody is
/// closer to a value than its neighbours that belong to somebody else.
fn pairwise(hierarchy: &Hierarchy, values: &[(NodeId, usize)]) -> u32 {
    let mut least = u32::MAX;
    for (at, &(value, person)) in values.iter().enumerate() {
        let before = values[..at].iter().rev().find(|v| v.1 != person);
        let after = values[at + 1..].iter().find(|v| v.1 != person);
        for &(other, _) in before.into_iter().chain(after) {
            let above = hierarchy.depth(hierarchy.lca(value, other));
            least = least.min(hierarchy.depth(value).min(hierarchy.depth(other)) - above);
        }
    }
    least
}
