//! Parameters from a policy.

use bosket_model::policy::{Negative, Policy, Relations, RootMode};
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::{Cost, Shortcuts};

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

/// How a value is parted from one above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disassociation {
    /// The lower value moves up, its children stay: the paper's.
    Value,
    /// The lower value moves up with all below it.
    Subtree,
    /// The upper value is taken out of the path.
    Ancestor,
    /// Whichever of these takes the fewest relations away, rule by rule.
    Cheapest,
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
    /// How relations are taken apart.
    pub disassociation: Disassociation,
    /// Values that would keep their siblings from being published may be left out everywhere.
    pub suppress: bool,
    /// Per declared attribute the first one that shares its cut; itself if none does.
    pub shared: Vec<usize>,
    /// Values whose absence counts as knowledge.
    pub negative: Vec<String>,
    /// Bytes that the search may take for what it remembers.
    pub memory: usize,
    /// The promise goes beyond what the search counts: solutions must be accepted one by one.
    pub beyond: bool,
    /// Look at the winner once more, for needless rules and more detail by exact RPD.
    pub improve: bool,
    /// What makes the search fast; only tests switch it off.
    pub shortcuts: Shortcuts,
}

/// Cuts examined at most, unless the policy says otherwise.
const MAX_CUTS: u64 = 1_000_000;

/// Memory for the search, unless told otherwise.
const MEMORY: usize = 2 << 30;

impl Params {
    /// The parameters that a policy asks for.
    pub fn new(policy: &Policy) -> Result<Self> {
        let privacy = policy.need_privacy()?;
        let method = &policy.method;
        let separate = privacy.root == RootMode::Separate;
        let negative = privacy.negative.iter().filter_map(|n| match n {
            Negative::Value(value) => Some(value.clone()),
            Negative::Pair(..) => None,
        });
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
            disassociation: match method.text("disassociation").as_deref() {
                Some("subtree") => Disassociation::Subtree,
                Some("ancestor") => Disassociation::Ancestor,
                Some("cheapest") => Disassociation::Cheapest,
                _ => Disassociation::Value,
            },
            suppress: method.flag("suppress") == Some(true),
            shared: shared(policy)?,
            negative: negative.collect(),
            memory: MEMORY,
            beyond: privacy.guard
                || privacy.l.is_some()
                || privacy.negative.iter().any(|n| matches!(n, Negative::Pair(..)))
                || (privacy.relations == Relations::Embedded && privacy.n.unwrap_or(0) > 1),
            disassociate: separate,
            // The plain searches stay as the paper has them unless the policy says otherwise.
            improve: method.flag("improve").unwrap_or(algorithm == Algorithm::Best),
            shortcuts: Shortcuts::default(),
        })
    }
}

/// Per attribute the first one that shares its cut. Attributes share one if the policy says so and they name one hierarchy.
fn shared(policy: &Policy) -> Result<Vec<usize>> {
    let all = &policy.attributes;
    let mut problems = Vec::new();
    let first = (0..all.len()).map(|i| {
        let with = |j: &usize| all[*j].shared && all[*j].hierarchy == all[i].hierarchy;
        if !all[i].shared {
            return i;
        }
        if (0..all.len()).filter(with).count() == 1 {
            let what =
                format!("`{}` is to share its cut, but no other attribute shares its hierarchy", all[i].path);
            let help = "give both `shared = true` and the same `hierarchy`";
            problems.push(Diagnostic::error(what).at(all[i].place.clone()).help(help));
        }
        (0..all.len()).find(with).unwrap_or(i)
    });
    let first = first.collect();
    if problems.is_empty() { Ok(first) } else { Err(Failure::all(Fault::Policy, problems)) }
}
