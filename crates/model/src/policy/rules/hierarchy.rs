//! Whether the parameters of a hierarchy builder fit together.

use super::{Attribute, suggest};
use crate::policy::check::model;
use crate::policy::choices::Role;
use crate::policy::keys::FROM;
use crate::policy::models::Model;
use crate::policy::node::{Node, Report};
use std::collections::BTreeSet;

/// Reports builder parameters that do not fit together.
pub(super) fn check(root: &Node, report: &mut Report) {
    for hierarchy in root.list("attribute").iter().filter_map(|a| a.get("hierarchy")) {
        match hierarchy.str("build") {
            Some("interval") => {
                bounds(hierarchy, report);
                widths(hierarchy, report);
            }
            Some("range") => {
                bounds(hierarchy, report);
                local(hierarchy, model(root), report);
            }
            Some("date") => date(hierarchy, report),
            Some("order") => order(hierarchy.list("groups"), &mut BTreeSet::new(), report),
            _ => {}
        }
    }
}

/// What is above a value must be declared, to be read at all, and be another attribute.
pub(super) fn sources(attributes: &[Attribute<'_>], report: &mut Report) {
    for attribute in attributes {
        let Some(from) = attribute.node.get("hierarchy").and_then(|h| h.get(FROM)) else { continue };
        if !matches!(attribute.role, Some(Role::Quasi) | None) {
            let help = "give a file or another builder";
            report.error(&from.span, "a hierarchy from other columns is for quasi attributes", help);
        }
        let one = std::slice::from_ref(from);
        let named = if from.text().is_some() { one } else { from.items() };
        for node in named {
            let Some(path) = node.text() else { continue };
            if attribute.path == Some(path) {
                let help = "name the attribute that says what it belongs to";
                report.error(&node.span, "an attribute cannot be above itself", help);
            } else if !attributes.iter().any(|a| a.path == Some(path)) {
                let help = suggest(path, attributes);
                let help = help.unwrap_or_else(|| "declare it, if only with role \"drop\"".to_owned());
                report.error(&node.span, format!("`{path}` is not a declared attribute"), help);
            }
        }
    }
}

/// Ranges differ from group to group, so that only local recoding can use them.
fn local(hierarchy: &Node, model: Option<Model>, report: &mut Report) {
    let Some(model) = model.filter(|m| !m.makes_clusters()) else { return };
    let at = hierarchy.get("build").map_or(&hierarchy.span, |b| &b.span);
    let message = format!("the hierarchy builder \"range\" is not for model \"{model}\"");
    report.error(
        at,
        message,
        "k-anonymity and l-diversity recode group by group and can use it; use \"interval\" here",
    );
}

fn bounds(hierarchy: &Node, report: &mut Report) {
    if let (Some(min), Some(max)) = (hierarchy.get("min"), hierarchy.get("max"))
        && let (Some(a), Some(b)) = (min.number(), max.number())
        && a >= b
    {
        report.error(&max.span, format!("`max` must be more than `min`, which is {a}"), "");
    }
}

fn widths(hierarchy: &Node, report: &mut Report) {
    for pair in hierarchy.list("widths").windows(2) {
        let (Some(a), Some(b)) = (pair[0].number(), pair[1].number()) else { continue };
        let times = b / a;
        // Decimal widths are rarely exact: 0.3 / 0.1 is not 3.
        if !times.is_finite() || times.round() < 2.0 || (times - times.round()).abs() > 1e-9 * times {
            let help = "each level must hold the intervals of the level below as a whole";
            report.error(
                &pair[1].span,
                format!("the width {b} is not a multiple of {a}, the one before"),
                help,
            );
        }
    }
}

fn date(hierarchy: &Node, report: &mut Report) {
    if let (Some(min), Some(max)) = (hierarchy.get("min"), hierarchy.get("max"))
        && let (Some(a), Some(b)) = (min.text(), max.text())
        && a > b
    {
        report.error(&max.span, format!("`max` is before `min`, which is {a}"), "");
    }
    let order =
        |level: &Node| ["month", "quarter", "year", "decade"].iter().position(|l| Some(*l) == level.text());
    for pair in hierarchy.list("levels").windows(2) {
        if let (Some(a), Some(b)) = (order(&pair[0]), order(&pair[1]))
            && a >= b
        {
            report.error(
                &pair[1].span,
                "`levels` must go from fine to coarse",
                "month, quarter, year, decade",
            );
        }
    }
}

fn order<'a>(groups: &'a [Node], seen: &mut BTreeSet<&'a str>, report: &mut Report) {
    for group in groups {
        if let Some(value) = group.text()
            && !seen.insert(value)
        {
            report.error(&group.span, format!("\"{value}\" is in two groups"), "a value has one place");
        }
        order(group.items(), seen, report);
        order(group.list("values"), seen, report);
    }
}
