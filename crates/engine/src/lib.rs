//! Bosket's algorithms, one folder per family.
//!
//! An algorithm turns records into a release that keeps a guarantee. It is judged by the verifier, which shares no code
//! with it.

pub mod dissect;
pub mod km;
pub mod kmn;

use bosket_model::policy::Model;

/// The algorithms that can be run: model, name as policies spell it, and what it does.
pub const ALGORITHMS: &[(Model, &str, &str)] = &[
    (Model::Kmn, "best", "several searches, judged by exact RPD"),
    (
        Model::Kmn,
        "gcs",
        "GreedyCutSearch: a beam over cuts, relations taken apart where they give people away",
    ),
    (Model::Kmn, "ocs", "OnlyCutSearch: a beam over cuts that need no disassociation"),
    (Model::Kmn, "acs", "AllCutSearch: every cut; for small hierarchies"),
    (Model::Km, "aa", "apriori: rare itemsets repaired by growing size"),
    (Model::Km, "da", "direct: rare itemsets of all sizes repaired in one walk"),
    (Model::Km, "oa", "the cheapest of all cuts; for small domains"),
    (Model::Km, "lra", "local recoding: similar sets together, a cut per part"),
    (Model::Km, "vpa", "the domain in regions, then all of it"),
    (Model::Km, "partition", "top-down to groups of equal sets"),
    (Model::Anatomy, "anatomy", "groups of distinct sensitive values, the most frequent first"),
    (Model::Delta, "delta", "groups of values far apart in their hierarchy, as far as can be reached"),
    (Model::None, "plain", "quasi and sensitive parts separated, nothing claimed"),
];
