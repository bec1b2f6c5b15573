//! Whether `source.where` asks for what every person has once, and whether people can be chosen at all.

use super::{Attribute, split_column, suggest};
use crate::policy::check::{key_span, model};
use crate::policy::choices::Format;
use crate::policy::condition::Condition;
use crate::policy::node::{Node, Report, Span};

/// Reports what is wrong with the choice of people.
pub(super) fn check(root: &Node, attributes: &[Attribute<'_>], report: &mut Report) {
    let Some(source) = root.get("source") else { return };
    streams(root, source, report);
    let Some(node) = source.get("where") else { return };
    let Some(text) = node.text() else { return };
    let condition = match Condition::parse(text) {
        Ok(condition) => condition,
        Err(problem) => {
            let help = "as in: country = 'DE' and (year >= 2010 or year is missing)";
            let message = format!("`source.where` cannot be read: {}", problem.message);
            return report.error(&report.inside(&node.span, text, problem.range), message, help);
        }
    };
    let format = source.str("format").and_then(Format::from_name);
    for path in condition.paths() {
        let at = place(report, node, text, path);
        if !attributes.iter().any(|a| a.path == Some(path)) {
            let help = suggest(path, attributes).unwrap_or_else(|| {
                "declare it, if only with role \"drop\"; text stands in 'quotes'".to_owned()
            });
            report.error(&at, format!("`{path}` is not a declared attribute"), help);
        } else if format == Some(Format::Transactions) || is_nested(path, source) {
            let help = "a condition speaks of what a person has once, at the top of the record";
            report.error(&at, format!("a person may have several values of `{path}`"), help);
        }
    }
}

fn place(report: &Report, node: &Node, text: &str, path: &str) -> Span {
    let at = text.find(path).unwrap_or(0);
    report.inside(&node.span, text, at..at + path.len())
}

/// Whether a person may have several values of an attribute.
pub(super) fn is_nested(path: &str, source: &Node) -> bool {
    let tables = source.list("table");
    let names: Vec<&str> = tables.iter().filter_map(|t| t.str("name")).collect();
    match split_column(&names, path) {
        Some((table, _)) => tables
            .iter()
            .find(|t| t.str("name") == Some(table))
            .is_some_and(|t| t.get("parent").is_some() || t.get("person").is_some()),
        None => path.contains("[]") || path.contains("{}"),
    }
}

/// What is taken apart while it is read is never seen as a whole.
fn streams(root: &Node, source: &Node, report: &mut Report) {
    let Some(model) = model(root).filter(|m| m.is_apart()) else { return };
    let streamed = match source.str("format").and_then(Format::from_name) {
        Some(Format::Xml) => true,
        Some(Format::Parquet) => source.list("table").is_empty(),
        _ => false,
    };
    for key in ["where", "sample"] {
        if streamed && source.get(key).is_some() {
            let message = format!(
                "`source.{key}` has no effect for model \"{model}\": people are taken apart while they are read"
            );
            let help = "choose the people before, or convert the data to ndjson with `bosket convert`";
            report.error(key_span(source, key), message, help);
        }
    }
}
