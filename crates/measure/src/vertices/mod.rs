//! Loss of vertex trees: LM, DM, class sizes, accuracy of count queries.

mod classes;
mod coded;
mod queries;

use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use serde_json::json;

pub use classes::Sizes;

use coded::{Coded, Held};
use queries::accuracy;

/// Records before and after, each with the place of its attributes.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// The private records.
    pub input: (&'a Dataset, &'a Binding),
    /// What is published of them.
    pub published: (&'a Dataset, &'a Binding),
    /// Per declared attribute.
    pub hierarchies: &'a [Option<Hierarchy>],
}

/// What a publication has lost.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexLoss {
    /// The detail lost per quasi value; those of suppressed vertices are lost altogether.
    pub lm: f64,
    /// The sum over all records of how many look like them; suppressed ones look like all.
    pub dm: u64,
    /// How many records look alike.
    pub sizes: Sizes,
    /// How well counts come out, 1 at best; none without queries.
    pub accuracy: Option<f64>,
    /// From how many queries.
    pub queries: usize,
}

impl VertexLoss {
    /// Compares a publication with its input, by so many queries from a seed.
    pub fn new(compared: &Comparison<'_>, queries: usize, seed: u64) -> Self {
        let input = Coded::new(compared.input, compared.hierarchies, Held::original);
        let published = Coded::new(compared.published, compared.hierarchies, Held::published);
        let sizes = Sizes::new(&published);
        let suppressed = input.records() - published.records();
        let (accuracy, queries) = accuracy(&input, &published, compared.hierarchies, queries, seed);
        VertexLoss {
            lm: lm(&input, &published, compared.hierarchies),
            dm: sizes.squares + (suppressed * input.records()) as u64,
            sizes,
            accuracy,
            queries,
        }
    }

    /// For programs.
    pub fn to_json(&self) -> serde_json::Value {
        json!({
            "lm": self.lm,
            "dm": self.dm,
            "classes": self.sizes.classes,
            "smallest_class": self.sizes.smallest,
            "median_class": self.sizes.median,
            "largest_class": self.sizes.largest,
            "mean_class": self.sizes.mean(),
            "query_accuracy": self.accuracy,
            "queries": self.queries,
        })
    }
}

/// LM of one node: the share of the other leaves that it could also stand for. Missing values are one more leaf.
pub fn lm_of(hierarchy: &Hierarchy, node: NodeId, missing: bool) -> f64 {
    let all = hierarchy.leaf_count() + usize::from(missing);
    let own = if node == NodeId::ROOT { all } else { hierarchy.leaves(node).len() };
    if all > 1 { (own - 1) as f64 / (all - 1) as f64 } else { 0.0 }
}

fn lm(input: &Coded, published: &Coded, hierarchies: &[Option<Hierarchy>]) -> f64 {
    let missing = input.misses(hierarchies.len());
    let (mut before, mut after, mut lost) = (0u64, 0u64, 0.0);
    for v in 0..input.len() {
        before += input.quasi(input.home(v)).len() as u64;
    }
    for v in 0..published.len() {
        // An attribute that is nowhere published is missing in every vertex that is.
        for &declared in input.quasi(published.home(v)) {
            after += 1;
            if let (Some(held), Some(hierarchy)) = (published.value(v, declared), &hierarchies[declared]) {
                lost += match held {
                    Held::Node(node) => lm_of(hierarchy, node, missing[declared]),
                    Held::Range(low, high) => hierarchy.numbers().map_or(1.0, |n| n.share(low, high)),
                };
            }
        }
    }
    if before == 0 { 0.0 } else { (lost + (before - after) as f64) / before as f64 }
}
