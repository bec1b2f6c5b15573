//! Loss of vertex trees: LM, DM, class sizes, accuracy of count queries.

mod classes;
mod coded;
mod queries;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::{Dataset, Result};
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
    /// How many sensitive values are lost, times what one of them counts.
    pub lost_sensitive: f64,
}

/// What a publication has lost.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexLoss {
    /// The detail lost per quasi value that there was, and per sensitive one that is lost; values of suppressed vertices are
    /// lost altogether.
    pub lm: f64,
    /// The sum over all records of how many look like them; suppressed ones look like all.
    pub dm: u64,
    /// How many records look alike.
    pub sizes: Sizes,
    /// How well counts come out, 1 at best, below 0 where guessing nothing is better; none without queries.
    pub accuracy: Option<f64>,
    /// From how many queries.
    pub queries: usize,
    /// By declared attribute that the input has vertices for.
    pub attributes: Vec<AttributeLm>,
}

/// What became of an attribute's values. One that is missing is none.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeLm {
    /// Its path in the policy.
    pub path: String,
    /// How many values the input has.
    pub values: u64,
    /// Published as they are.
    pub kept: u64,
    /// Published as something more general.
    pub generalized: u64,
    /// Σ LM over all values, 1 for each that is not published.
    pub lost: f64,
}

impl AttributeLm {
    /// The detail lost per value, from 0 to 1.
    pub fn lm(&self) -> f64 {
        if self.values == 0 { 0.0 } else { self.lost / self.values as f64 }
    }

    /// Values that are not published.
    pub fn left_out(&self) -> u64 {
        self.values.saturating_sub(self.kept + self.generalized)
    }
}

impl VertexLoss {
    /// Compares a publication with its input, by so many queries from a seed.
    pub fn new(
        compared: &Comparison<'_>,
        queries: usize,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let input = Coded::new(compared.input, compared.hierarchies, Held::original, observer)?;
        let published = Coded::new(compared.published, compared.hierarchies, Held::published, observer)?;
        let sizes = Sizes::new(&published, observer)?;
        let suppressed = input.records().saturating_sub(published.records());
        let (accuracy, queries) =
            accuracy(&input, &published, compared.hierarchies, (queries, seed), observer)?;
        let attributes = attributes(&input, &published, compared, observer)?;
        let values: u64 = attributes.iter().map(|a| a.values).sum();
        let lost: f64 = attributes.iter().map(|a| a.lost).sum();
        let (lost, all) = (lost + compared.lost_sensitive, values as f64 + compared.lost_sensitive);
        Ok(VertexLoss {
            lm: if all > 0.0 { lost / all } else { 0.0 },
            dm: sizes.squares + (suppressed * input.records()) as u64,
            sizes,
            accuracy,
            queries,
            attributes,
        })
    }

    /// For programs.
    pub fn to_json(&self) -> serde_json::Value {
        let attributes: Vec<serde_json::Value> = (self.attributes.iter())
            .map(|a| {
                json!({"path": a.path, "values": a.values, "kept": a.kept, "generalized": a.generalized,
                       "left_out": a.left_out(), "lm": a.lm()})
            })
            .collect();
        json!({
            "lm": self.lm,
            "dm": self.dm,
            "classes": self.sizes.classes,
            "smallest_class": self.sizes.smallest,
            "median_class": self.sizes.median,
            "largest_class": self.sizes.largest,
            "mean_class": self.sizes.mean(),
            "query_accuracy": self.accuracy.map(|accuracy| accuracy.max(0.0)),
            "worse_than_guessing": self.accuracy.is_some_and(|accuracy| accuracy < 0.0),
            "queries": self.queries,
            "attributes": attributes,
        })
    }
}

/// LM of one node: the share of the other leaves that it could also stand for. Missing values are one more leaf.
pub fn lm_of(hierarchy: &Hierarchy, node: NodeId, missing: bool) -> f64 {
    let all = hierarchy.leaf_count() + usize::from(missing);
    let own = if node == NodeId::ROOT { all } else { hierarchy.leaves(node).len() };
    if all > 1 { (own - 1) as f64 / (all - 1) as f64 } else { 0.0 }
}

/// What became of the values of every attribute.
fn attributes(
    input: &Coded,
    published: &Coded,
    compared: &Comparison<'_>,
    observer: &dyn Observer,
) -> Result<Vec<AttributeLm>> {
    let hierarchies = compared.hierarchies;
    let missing = input.misses(hierarchies.len());
    let declared = compared.input.1.declared.iter();
    let mut all: Vec<AttributeLm> = declared
        .map(|d| AttributeLm { path: d.path.clone(), values: 0, kept: 0, generalized: 0, lost: 0.0 })
        .collect();
    for v in 0..input.len() {
        let there = input.values(v).iter().filter(|(_, held)| held.is_some());
        there.for_each(|&(declared, _)| all[declared].values += 1);
    }
    // Per attribute what is published as the root, which may stand for a missing value too.
    let mut anything = vec![0u64; all.len()];
    for v in 0..published.len() {
        observer.go_on()?;
        for &(declared, held) in published.values(v) {
            let (Some(held), Some(hierarchy)) = (held, &hierarchies[declared]) else { continue };
            let (exact, lost) = match held {
                Held::Node(NodeId::ROOT) if hierarchy.len() > 1 => {
                    anything[declared] += 1;
                    continue;
                }
                Held::Node(node) => (hierarchy.is_leaf(node), lm_of(hierarchy, node, missing[declared])),
                Held::Range(low, high) => {
                    (low == high, hierarchy.numbers().map_or(1.0, |n| n.share(low, high)))
                }
            };
            let own = &mut all[declared];
            let count = if exact { &mut own.kept } else { &mut own.generalized };
            *count += 1;
            own.lost += lost;
        }
    }
    for (declared, own) in all.iter_mut().enumerate() {
        let Some(hierarchy) = &hierarchies[declared] else { continue };
        let any = anything[declared].min(own.left_out());
        own.generalized += any;
        own.lost += any as f64 * lm_of(hierarchy, NodeId::ROOT, missing[declared]);
        own.lost += own.left_out() as f64;
    }
    all.retain(|a| a.values > 0);
    Ok(all)
}
