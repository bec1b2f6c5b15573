//! Bosket's algorithms, one folder per family.
//!
//! An algorithm turns records into a release that keeps a guarantee. It is judged by the verifier, which shares no code
//! with it.

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
];
