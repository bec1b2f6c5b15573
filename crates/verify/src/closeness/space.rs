//! How far the values of an attribute are from each other, and the earth mover's distance that follows.
//!
//! Of two distributions, the distance is the least work of turning one into the other, a share moved from one value to
//! another counting as far as they are apart: 1 for any two (`equal`); by their ranks among the m values that occur,
//! |i − j| / (m − 1) (`ordered`); the height of the lowest node above both, of the height of the hierarchy (`hierarchical`).

use std::collections::BTreeMap;

use bosket_model::Diagnostic;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::policy::Ground;

/// The values of an attribute, by their labels' numbers.
pub(super) enum Space {
    /// All are as far from each other as can be.
    Equal,
    /// Labels by their numbers, ascending; those of one number together.
    Ordered(Vec<Vec<u32>>),
    /// What is below each node, in the order of a walk that ends with the root.
    Hierarchical(Vec<Above>, i128),
}

/// A node of the hierarchy.
pub(super) struct Above {
    height: i128,
    /// Labels that stand here.
    own: Vec<u32>,
    /// The nodes directly below, by their place in the walk.
    below: Vec<usize>,
}

impl Space {
    /// The space of labels, each with a value that has it.
    pub(super) fn new(
        ground: Ground,
        bounds: Option<&[f64]>,
        values: &[&str],
        hierarchy: Option<&Hierarchy>,
    ) -> Result<Self, Box<Diagnostic>> {
        match ground {
            Ground::Equal => Ok(Space::Equal),
            Ground::Ordered => ordered(bounds, values),
            Ground::Hierarchical => {
                let what =
                    "the distance of values needs the hierarchy of their attribute, which is not there";
                let help = "put the file where the policy says";
                hierarchical(values, hierarchy.ok_or_else(|| Box::new(Diagnostic::error(what).help(help)))?)
            }
        }
    }

    /// The work of turning one distribution into the other, in parts of a whole that is divided further by what comes with
    /// it. `counts` is how often each label stands in the publication, `own` those that stand here, `excess` how much of a label
    /// is too much.
    pub(super) fn moved(
        &self,
        counts: &[i128],
        own: impl Iterator<Item = u32>,
        excess: &dyn Fn(u32) -> i128,
    ) -> (i128, i128) {
        match self {
            // What is not there is not too much.
            Space::Equal => (own.map(excess).filter(|e| *e > 0).sum(), 1),
            Space::Ordered(ranks) => {
                let occurs = |rank: &&Vec<u32>| rank.iter().any(|&label| counts[label as usize] > 0);
                let (mut carried, mut moved, mut occurring) = (0, 0, 0);
                for rank in ranks.iter().filter(occurs) {
                    carried += rank.iter().map(|&label| excess(label)).sum::<i128>();
                    moved += carried.abs();
                    occurring += 1;
                }
                (moved, (occurring - 1).max(1))
            }
            Space::Hierarchical(nodes, height) => {
                let mut moved = 0;
                let mut extra: Vec<i128> = Vec::with_capacity(nodes.len());
                for node in nodes {
                    let own = node.own.iter().map(|&label| excess(label));
                    let parts: Vec<i128> = own.chain(node.below.iter().map(|&at| extra[at])).collect();
                    let more: i128 = parts.iter().filter(|e| **e > 0).sum();
                    let less: i128 = -parts.iter().filter(|e| **e < 0).sum::<i128>();
                    moved += node.height * more.min(less);
                    extra.push(more - less);
                }
                (moved, (*height).max(1))
            }
        }
    }
}

fn ordered(bounds: Option<&[f64]>, values: &[&str]) -> Result<Space, Box<Diagnostic>> {
    let mut found: Vec<(f64, u32)> = Vec::new();
    let mut unreadable = 0;
    for (label, text) in values.iter().enumerate() {
        match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => {
                // Zero has one sign, or equal numbers would be apart.
                let at = bounds.map_or(number + 0.0, |b| b.partition_point(|&b| b <= number) as f64);
                found.push((at, label as u32));
            }
            _ => unreadable += 1,
        }
    }
    if unreadable > 0 {
        let what = format!("{unreadable} distinct values are not numbers and have no order");
        return Err(Box::new(
            Diagnostic::error(what).help("use ground = \"equal\", or make the values numbers"),
        ));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let ranks = found.chunk_by(|a, b| a.0 == b.0).map(|rank| rank.iter().map(|r| r.1).collect());
    Ok(Space::Ordered(ranks.collect()))
}

fn hierarchical(values: &[&str], hierarchy: &Hierarchy) -> Result<Space, Box<Diagnostic>> {
    let mut own: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
    let mut unknown = 0;
    for (label, text) in values.iter().enumerate() {
        // A value may stand for an inner node: it hangs there like a leaf.
        match hierarchy.leaf(text).or_else(|| hierarchy.node(text)) {
            Some(node) => own.entry(node).or_default().push(label as u32),
            None => unknown += 1,
        }
    }
    if unknown > 0 {
        let what = format!("{unknown} distinct values are not in the hierarchy");
        let help = "add them to it: their distance from others is measured there";
        return Err(Box::new(Diagnostic::error(what).help(help)));
    }
    // Parents come before their children, so from the last to the first children come before their parents.
    let mut heights = vec![0i128; hierarchy.len()];
    // Where a node stands in the walk; nowhere if nothing at or below it occurs.
    let mut at: Vec<Option<usize>> = vec![None; hierarchy.len()];
    let mut nodes = Vec::new();
    for node in hierarchy.nodes().collect::<Vec<_>>().into_iter().rev() {
        let height = hierarchy.children(node).map(|child| heights[child.index()] + 1).max().unwrap_or(0);
        heights[node.index()] = height;
        let below: Vec<usize> = hierarchy.children(node).filter_map(|child| at[child.index()]).collect();
        let own = own.remove(&node).unwrap_or_default();
        if !own.is_empty() || !below.is_empty() {
            at[node.index()] = Some(nodes.len());
            nodes.push(Above { height, own, below });
        }
    }
    Ok(Space::Hierarchical(nodes, heights[NodeId::ROOT.index()]))
}

#[cfg(test)]
mod tests {
    use bosket_model::hierarchy::csv;

    use super::*;

    fn moved(space: &Space, excess: &[i128]) -> (i128, i128) {
        space.moved(&vec![1; excess.len()], 0..excess.len() as u32, &|label| excess[label as usize])
    }

    #[test]
    fn work_is_that_of_the_paper() {
        // A third of the mass at 3, 4 and 5 against a ninth at each of 3 to 11, and at 6, 8 and 11 (thousand dollars).
        let salaries = ["3", "4", "5", "6", "7", "8", "9", "10", "11"];
        let space = Space::new(Ground::Ordered, None, &salaries, None).expect("numbers");
        let low = [2, 2, 2, -1, -1, -1, -1, -1, -1];
        let spread = [-1, -1, -1, 2, -1, 2, -1, -1, 2];
        assert_eq!(moved(&space, &low), (27, 8), "27 / 9 / 8 = 0.375");
        assert_eq!(moved(&space, &spread), (12, 8), "12 / 9 / 8 = 1/6 = 0.167");
    }

    #[test]
    fn a_value_above_others_hangs_there_like_a_leaf() {
        let tree = csv::parse("h", "a;x;*\nb;x;*\nc;y;*\n").expect("a hierarchy");
        let space =
            Space::new(Ground::Hierarchical, None, &["a", "b", "x", "c"], Some(&tree)).expect("known");
        assert_eq!(moved(&space, &[1, 0, -1, 0]), (1, 2), "below x");
        assert_eq!(moved(&space, &[1, 0, 0, -1]), (2, 2), "below the root");
        assert_eq!(moved(&space, &[2, -1, 0, -1]), (3, 2));
    }
}
