//! Whether what labels tell can be counted as the policy publishes.

use super::super::check::key_span;
use super::super::choices::Missing;
use super::super::node::{Node, Report};

/// Reports places that are emptied for a few people and are no label: emptiness would tell, and nobody counts it.
pub(super) fn check(root: &Node, report: &mut Report) {
    let Some(privacy) = root.get("privacy").filter(|privacy| privacy.get("guess").is_some()) else { return };
    let method = |key: &str| root.get("method").and_then(|method| method.get(key));
    let suppresses = method("suppress").and_then(Node::bool) == Some(true);
    let is_local = method("recoding").and_then(Node::text) == Some("local");
    if suppresses && !is_local && privacy.str("missing") == Some(Missing::Nothing.name()) {
        let message = "what an emptied place tells is not counted where missing values count as nothing";
        let help = "take `suppress` or `missing` out, or publish without `guess`";
        report.error(key_span(privacy, "guess"), message, help);
    }
}
