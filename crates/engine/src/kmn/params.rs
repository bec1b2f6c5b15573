//! Parameters from a policy.

use bosket_model::policy::{Model, Policy, Relations, RootMode};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use super::Cost;

/// Which search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Every cut.
    Acs,
    /// A beam over repaired cuts.
    Gcs,
    /// A beam over cuts that need no repair.
    Ocs,
    /// Several of these, judged by exact RPD.
    Best,
}

/// What a run depends on.
#[derive(Clone, Debug)]
pub struct Params {
    /// Which search.
    pub algorithm: Algorithm,
    /// Fewest records that knowledge may match.
    pub k: u32,
    /// Most known values.
    pub m: usize,
    /// Most known relations.
    pub n: usize,
    /// Width of the beam.
    pub g: usize,
    /// By which figure cuts are compared.
    pub cost: Cost,
    /// Most cuts to examine.
    pub max_cuts: u64,
    /// Per declared attribute, how much its detail counts.
    pub weights: Vec<f64>,
    /// Relations may be taken apart. With the top object's values as a chain they may not: the record has one top object,
    /// which could not hold values that are not related.
    pub disassociate: bool,
    /// The promise goes beyond what the search counts: solutions must be accepted one by one.
    pub beyond: bool,
    /// Look at the winner once more, for needless rules and more detail by exact RPD.
    pub improve: bool,
    /// Use again what is known about a step from the cut above; only tests switch it off.
    pub remember: bool,
}

/// Cuts examined at most, unless the policy says otherwise.
const MAX_CUTS: u64 = 1_000_000;

impl Params {
    /// The parameters that a policy asks for. What this version cannot do is refused with the whole list.
    pub fn new(policy: &Policy) -> Result<Self> {
        let privacy = policy.need_privacy()?;
        let method = &policy.method;
        let disassociation = method.text("disassociation").is_some_and(|d| d != "value");
        let refused: Vec<Diagnostic> = [
            ("attribute.shared", policy.attributes.iter().any(|a| a.shared)),
            ("privacy.negative", !privacy.negative.is_empty()),
            ("method.suppress", method.flag("suppress") == Some(true)),
            ("method.disassociation other than \"value\"", disassociation),
        ]
        .into_iter()
        .filter(|(_, asked)| *asked)
        .map(|(what, _)| {
            Diagnostic::error(format!("this version's algorithms for `{}` cannot do {what}", Model::Kmn))
                .at(Place::source(&policy.name))
                .help("take it out of the policy, or override it with --set")
        })
        .collect();
        if !refused.is_empty() {
            return Err(Failure::all(Fault::Policy, refused));
        }
        let algorithm = match method.algorithm.as_deref() {
            Some("acs") => Algorithm::Acs,
            Some("gcs") => Algorithm::Gcs,
            Some("ocs") => Algorithm::Ocs,
            _ => Algorithm::Best,
        };
        Ok(Params {
            algorithm,
            k: privacy.k.unwrap_or(0),
            m: privacy.m.unwrap_or(0) as usize,
            n: privacy.n.unwrap_or(0) as usize,
            g: method.int("g").unwrap_or(2) as usize,
            cost: match method.text("cost").as_deref() {
                Some("rpd") => Cost::Rpd,
                Some("lm") => Cost::Lm,
                _ => Cost::RpdA,
            },
            max_cuts: method.int("max_cuts").map_or(MAX_CUTS, |n| n as u64),
            weights: policy.attributes.iter().map(|a| a.weight.unwrap_or(1.0)).collect(),
            beyond: privacy.guard
                || privacy.l.is_some()
                || (privacy.relations == Relations::Embedded && privacy.n.unwrap_or(0) > 1),
            disassociate: privacy.root == RootMode::Separate,
            // The plain searches stay as the paper has them unless the policy says otherwise.
            improve: method.flag("improve").unwrap_or(algorithm == Algorithm::Best),
            remember: true,
        })
    }
}
