//! What a publication of sets lost: the metrics of k^m-anonymity.
//!
//! They ask only for the records before and after and for the hierarchies, so that a publication by any method, with
//! one cut for all records, a cut per part, or values left out, can be measured. A record's set is all its quasi
//! values, wherever they stand in its tree. [`SetLoss::new`] takes all measures; the modules' functions take them one
//! by one:
//!
//! - [`ncp`]: the normalized certainty penalty, exact;
//! - [`ml2`]: frequent itemsets lost, and how many levels up they are found, by the miner in [`mine`].

pub mod mine;
pub mod ml2;
pub mod ncp;

use serde_json::{Value, json};

use bosket_model::observe::Observer;
use bosket_model::{Fault, Result};

use crate::trees::{Comparison, Space, check_mapping};

pub use ml2::{ItemsetLoss, LevelLoss, Mining, ThresholdLoss};
pub use ncp::{AttributeNcp, Fate};

/// The loss of a publication by every metric of sets.
#[derive(Clone, Debug, PartialEq)]
pub struct SetLoss {
    /// How many records the input has.
    pub records: usize,
    /// How many records the publication has.
    pub published_records: usize,
    /// NCP, by declared attribute that the input has values of.
    pub attributes: Vec<AttributeNcp>,
    /// Frequent itemsets: ML² and dML²; none if there are too many to mine.
    pub itemsets: Option<ItemsetLoss>,
}

impl SetLoss {
    /// Takes all measures. The error names the attributes with labels that are in no hierarchy, or says that the
    /// mapping does not fit.
    pub fn new(compared: &Comparison<'_>, mining: &Mining, observer: &dyn Observer) -> Result<Self> {
        let space = Space::new(compared.hierarchies, compared.input);
        let input = space.original(compared.input, compared.binding)?;
        let published = space.published(compared.published, compared.binding)?;
        let attributes = ncp_of(compared, observer)?;
        let itemsets = match ItemsetLoss::new(&space, &input, &published, mining, observer) {
            Err(failure) if failure.fault == Fault::Interrupted => return Err(failure),
            mined => mined.ok(),
        };
        Ok(SetLoss {
            records: compared.input.len(),
            published_records: compared.published.len(),
            attributes,
            itemsets,
        })
    }

    /// NCP over all attributes; none if it cannot be told without a mapping.
    pub fn ncp(&self) -> Option<f64> {
        ncp::mean_ncp(&self.attributes)
    }

    /// All of it, for certificates and reports. Holds no value of the data.
    pub fn to_json(&self) -> Value {
        let attributes: Vec<Value> = (self.attributes.iter())
            .map(|a| {
                json!({"path": a.path, "occurrences": a.occurrences, "leaves": a.leaves, "ncp": a.ncp(),
                       "kept": a.fate.map(|f| f.kept),
                       "generalized": a.fate.map(|f| f.generalized),
                       "suppressed": a.fate.map(|f| f.suppressed)})
            })
            .collect();
        let thresholds: Option<Vec<Value>> =
            (self.itemsets.as_ref()).map(|itemsets| itemsets.thresholds.iter().map(threshold_json).collect());
        json!({
            "records": self.records,
            "published_records": self.published_records,
            "ncp": self.ncp(),
            "ml2": self.itemsets.as_ref().map(ItemsetLoss::ml2),
            "dml2": self.itemsets.as_ref().map(ItemsetLoss::dml2),
            "dml2_undetected": self.itemsets.as_ref().and_then(ItemsetLoss::dml2_undetected),
            "attributes": attributes,
            "mining": thresholds,
        })
    }
}

/// NCP alone, by declared attribute that the input has values of.
pub fn ncp_of(compared: &Comparison<'_>, observer: &dyn Observer) -> Result<Vec<AttributeNcp>> {
    let space = Space::new(compared.hierarchies, compared.input);
    let input = space.original(compared.input, compared.binding)?;
    let published = space.published(compared.published, compared.binding)?;
    check_mapping(compared)?;
    let paths: Vec<&str> = compared.binding.declared.iter().map(|d| d.path.as_str()).collect();
    let mut attributes = ncp::penalties(&space, &input, &published, &paths, compared.mapping, observer)?;
    attributes.retain(|a| a.occurrences > 0);
    Ok(attributes)
}

fn threshold_json(loss: &ThresholdLoss) -> Value {
    let levels: Vec<Value> = (loss.levels.iter())
        .map(|l| {
            json!({"level": l.level, "input": l.input, "published": l.published, "kept": l.kept,
                   "distance": l.distance})
        })
        .collect();
    json!({
        "threshold": loss.threshold,
        "ml2": loss.ml2(),
        "dml2": loss.dml2(),
        "dml2_undetected": loss.dml2_undetected(),
        "levels": levels,
    })
}
