//! Bosket's algorithms, one folder per family.
//!
//! An algorithm turns records into a release that keeps a guarantee. It is judged by the verifier, which shares no code
//! with it.

pub mod cluster;
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
    (Model::KAnonymity, "ctoff", "clusters one after the other, each with its cheapest records"),
    (Model::KAnonymity, "clustree", "ctoff in passes, costly clusters dissolved"),
    (Model::KAnonymity, "miracle", "records stream into open clusters"),
    (Model::KAnonymity, "miraclex", "miracle, vertices matched without their children"),
    (Model::KAnonymity, "blocks", "flat tables: split top-down, clustered bottom-up, rows moved"),
    (Model::KAnonymity, "bitmap", "the single-table baseline: what all members have"),
    (Model::LDiversity, "clustree", "clusters in passes, costly ones dissolved"),
    (Model::LDiversity, "ctoff", "clusters one after the other, each with its cheapest records"),
    (Model::LDiversity, "miracle", "records stream into open clusters"),
    (Model::LDiversity, "miraclex", "miracle, vertices matched without their children"),
    (Model::LDiversity, "dmiracle", "miracle with pairs, then merged until diverse"),
    (Model::LDiversity, "bitmap", "the single-table baseline: what all members have"),
    (Model::Anatomy, "anatomy", "groups of distinct sensitive values, the most frequent first"),
    (Model::Delta, "delta", "groups of values far apart in their hierarchy, as far as can be reached"),
    (Model::None, "plain", "quasi and sensitive parts separated, nothing claimed"),
];
