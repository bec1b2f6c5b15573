//! What a publication of value trees lost: the metrics of k^(m,n)-anonymity, taken literally.
//!
//! They ask only for the trees before and after and for the hierarchies, so that a publication by any method, with
//! one cut for all records or with labels of their own, can be measured. [`TreeLoss::new`] takes all of them; the
//! modules' functions take them one by one:
//!
//! - [`rpd`]: reverse path diversity, and its approximation on the synopsis;
//! - [`ml2`]: frequent subtrees lost and changed, by the miner in [`mine`] and the distances in [`counterpart`];
//! - [`change`]: values and relations that were kept.

pub mod change;
pub mod counterpart;
pub mod forest;
pub mod mine;
pub mod ml2;
pub mod rpd;
pub mod space;

use serde_json::{Value, json};

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Diagnostic, Failure, Fault, Result};

pub use change::{AttributeLoss, RelationLoss};
pub use ml2::{LevelLoss, Mining, MiningLoss};
pub use space::{Located, Space};

/// What is compared.
#[derive(Clone, Copy)]
pub struct Comparison<'a> {
    /// The original trees.
    pub input: &'a ValueTrees,
    /// The published trees.
    pub published: &'a ValueTrees,
    /// The place of the attributes in the policy.
    pub binding: &'a Binding,
    /// Per declared attribute its hierarchy, with a leaf for every value of the input; none means no generalization.
    pub hierarchies: &'a [Option<Hierarchy>],
    /// Pairs (input record, published record), if they are known; input records in none of them were suppressed.
    pub mapping: Option<&'a [(u32, u32)]>,
}

/// Refuses pairs with records that are not there.
pub(crate) fn check_mapping(compared: &Comparison<'_>) -> Result<()> {
    let (inputs, outputs) = (compared.input.len(), compared.published.len());
    let outside = |&&(from, to): &&(u32, u32)| from as usize >= inputs || to as usize >= outputs;
    match compared.mapping.unwrap_or_default().iter().filter(outside).count() {
        0 => Ok(()),
        count => Err(Failure::new(
            Fault::Data,
            Diagnostic::error(format!("{count} lines of the mapping name records that are not there"))
                .help("use the mapping that was written with this publication"),
        )),
    }
}

/// The loss of a publication by every metric of value trees.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeLoss {
    /// How many records the input has.
    pub records: usize,
    /// How many records the publication has.
    pub published_records: usize,
    /// RPD of the publication over the input's records; those that are missing count as published empty.
    pub rpd: f64,
    /// RPD of the input, for comparison.
    pub rpd_input: f64,
    /// RPD_a of the publication's synopsis.
    pub rpd_a: f64,
    /// Frequent subtrees: ML² and dML².
    pub mining: MiningLoss,
    /// What became of values, by declared attribute that the input has values of.
    pub attributes: Vec<AttributeLoss>,
    /// What became of relations; none if it cannot be told without a mapping.
    pub relations: Option<RelationLoss>,
}

impl TreeLoss {
    /// Takes all measures. The error names the attributes with labels that are in no hierarchy, or says that the
    /// mapping does not fit.
    pub fn new(compared: &Comparison<'_>, mining: Mining, observer: &dyn Observer) -> Result<Self> {
        let space = Space::new(compared.hierarchies, compared.input);
        let input = space.original(compared.input, compared.binding)?;
        let published = space.published(compared.published, compared.binding)?;
        let (records, published_records) = (compared.input.len(), compared.published.len());
        check_mapping(compared)?;
        let missing = records.saturating_sub(published_records);
        let own = rpd::rpd(&space, &published, observer)?;
        let total = own * published_records as f64 + rpd::path_rpd([]) * missing as f64;
        let paths: Vec<&str> = compared.binding.declared.iter().map(|d| d.path.as_str()).collect();
        let (mut attributes, relations) =
            change::changes(&space, &input, &published, &paths, compared.mapping, observer)?;
        attributes.retain(|a| a.values > 0);
        Ok(TreeLoss {
            records,
            published_records,
            rpd: if records == 0 { rpd::path_rpd([]) } else { total / (published_records + missing) as f64 },
            rpd_input: rpd::rpd(&space, &input, observer)?,
            rpd_a: rpd::Synopsis::new(&published, observer)?.rpd_a(&space),
            mining: MiningLoss::new(&space, &input, &published, mining, observer)?,
            attributes,
            relations,
        })
    }

    /// All of it, for certificates and reports. Holds no value of the data.
    pub fn to_json(&self) -> Value {
        let levels: Vec<Value> = (self.mining.levels.iter())
            .map(|l| {
                json!({"level": l.level, "input": l.input, "published": l.published, "kept": l.kept,
                       "distance": l.distance})
            })
            .collect();
        let attributes: Vec<Value> = (self.attributes.iter())
            .map(|a| {
                json!({"path": a.path, "values": a.values, "kept": a.kept,
                       "generalized": a.rest.map(|r| r.generalized),
                       "mean_levels": a.rest.map(|r| r.mean_levels),
                       "unpublished": a.rest.map(|r| r.unpublished)})
            })
            .collect();
        let relations = self.relations.map(|r| {
            json!({"relations": r.relations, "kept": r.kept, "broken": r.broken, "unpublished": r.unpublished})
        });
        json!({
            "records": self.records,
            "published_records": self.published_records,
            "rpd": self.rpd,
            "rpd_input": self.rpd_input,
            "rpd_a": self.rpd_a,
            "ml2": self.mining.ml2(),
            "ml2_lost": self.mining.lost(),
            "dml2": self.mining.dml2(),
            "mining": {
                "threshold": self.mining.mining.threshold,
                "most_nodes": self.mining.mining.most_nodes,
                "rooted": self.mining.mining.rooted,
                "levels": levels,
            },
            "attributes": attributes,
            "relations": relations,
        })
    }
}
