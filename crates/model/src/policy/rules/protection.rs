//! Whether what an attribute says of its protection is so.

use super::super::choices::{Protection, Role};
use super::super::node::{Node, Report};
use super::Attribute;
use super::masks::two_sides;
use crate::policy::check::key_span;

/// Reports attributes that name a protection which `[privacy]` does not give.
pub(super) fn check(root: &Node, attributes: &[Attribute<'_>], report: &mut Report) {
    for attribute in attributes {
        let said = attribute.node.str("protection").and_then(Protection::from_name);
        match (said, attribute.role) {
            // Who is counted waits to be decided.
            (Some(Protection::Undecided), Some(Role::Identifying)) => {}
            (Some(_), Some(role)) if role != Role::Sensitive => {
                let message = format!("`protection` has no effect on an attribute with role \"{role}\"");
                let at = key_span(attribute.node, "protection");
                report.warning(at, message, "it belongs to role sensitive");
            }
            (Some(said), _) => fits(root, said, attribute, report),
            (None, _) => {}
        }
    }
}

fn fits(root: &Node, said: Protection, attribute: &Attribute<'_>, report: &mut Report) {
    let at = key_span(attribute.node, "protection");
    let given = |key: &str| root.get("privacy").is_some_and(|privacy| privacy.get(key).is_some());
    let missing = |key: &str, report: &mut Report| {
        let message = format!("nothing protects this attribute: there is no `privacy.{key}`");
        report.error(
            at,
            message,
            format!("give `{key}` a value under `[privacy]`, or say what does protect it"),
        );
    };
    match said {
        Protection::Diversity | Protection::Closeness | Protection::Likeness if !given(said.name()) => {
            missing(said.name(), report);
        }
        Protection::Groups if !two_sides(root) => {
            let message =
                "this attribute is not published apart: model and `publish.anatomize` make one side";
            report.error(at, message, "choose `anatomy` or `delta`, or say what does protect it");
        }
        Protection::Nothing => {
            if let Some(key) = ["l", "t", "beta"].into_iter().find(|key| given(key)) {
                let message = format!("`privacy.{key}` protects this attribute, so \"nothing\" is not true");
                report.error(at, message, format!("say `protection = \"{key}\"`"));
            }
        }
        _ => {}
    }
}
