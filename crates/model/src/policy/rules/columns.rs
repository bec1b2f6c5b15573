//! Whether columns of tables are named rightly: in paths, in lookups, and where they are keys.

use super::Attribute;
use crate::diag::nearest;
use crate::policy::check::key_span;
use crate::policy::choices::Role;
use crate::policy::node::{Node, Report};

/// Takes `table.column` apart. Names of tables may themselves have dots; the longest that fits is meant.
pub(in crate::policy) fn split_column<'a>(tables: &[&'a str], path: &'a str) -> Option<(&'a str, &'a str)> {
    let column = |table: &str| path.strip_prefix(table)?.strip_prefix('.').filter(|c| !c.is_empty());
    let fits = tables.iter().filter_map(|table| Some((*table, column(table)?)));
    fits.max_by_key(|(table, _)| table.len())
}

/// Reports what is wrong with the columns of a policy that has tables.
pub(super) fn check(root: &Node, attributes: &[Attribute<'_>], report: &mut Report) {
    let Some(source) = root.get("source") else { return };
    let tables = source.list("table");
    let names: Vec<&str> = tables.iter().filter_map(|t| t.str("name")).collect();
    if names.is_empty() {
        if !source.list("lookup").is_empty() {
            let help = "say with [[source.table]] whose columns are looked up";
            report.error(key_span(source, "lookup"), "`source.lookup` without tables", help);
        }
        return;
    }
    for attribute in attributes {
        let Some(path) = attribute.path.filter(|p| split_column(&names, p).is_none()) else { continue };
        let near = path.split_once('.').and_then(|(table, column)| {
            let table = nearest(table, names.iter().copied())?;
            Some(format!("did you mean `{table}.{column}`?"))
        });
        let help = near.unwrap_or_else(|| format!("write `table.column`; there are: {}", names.join(", ")));
        report.error(attribute.path_span(), format!("`{path}` names no column of a table"), help);
    }
    for lookup in source.list("lookup") {
        check_lookup(lookup, &names, report);
    }
    for table in tables {
        links_are_free(table, tables, attributes, report);
    }
}

fn check_lookup(lookup: &Node, tables: &[&str], report: &mut Report) {
    let columns = lookup.strings("column");
    let found: Vec<Option<&str>> =
        columns.iter().map(|c| split_column(tables, c).map(|(table, _)| table)).collect();
    let at = lookup.get("column").map_or(&lookup.span, |c| &c.span);
    if found.contains(&None) {
        let help = format!("write `table.column`; there are: {}", tables.join(", "));
        report.error(at, "`column` names no column of a linked table", help);
    } else if found.windows(2).any(|pair| pair[0] != pair[1]) {
        report.error(at, "the columns belong to different tables", "a lookup serves one table; write two");
    }
    let counts = |one: &str, other: &str| {
        let (a, b) = (lookup.strings(one).len(), lookup.strings(other).len());
        (a > 0 && b > 0 && a != b).then(|| format!("`{other}` has {b} columns, `{one}` has {a}"))
    };
    for (one, other) in [("key", "column"), ("value", "as")] {
        if let Some(message) = counts(one, other) {
            report.error(key_span(lookup, other), message, "list them in the same order");
        }
    }
}

/// A column that joins tables holds a fresh number in the publication, so it cannot hold a published value too; unless
/// the column it refers to does.
fn links_are_free(table: &Node, tables: &[Node], attributes: &[Attribute<'_>], report: &mut Report) {
    let Some(name) = table.str("name") else { return };
    let published = |table: &str, column: &str| {
        let path = format!("{table}.{column}");
        let roles = [Role::Quasi, Role::Sensitive, Role::Insensitive, Role::Pseudonym];
        attributes.iter().find(|a| {
            a.path == Some(path.as_str()) && a.role.is_some_and(|r| roles.contains(&r)) && a.follows.is_none()
        })
    };
    let parent = table.str("parent").and_then(|p| tables.iter().find(|t| t.str("name") == Some(p)));
    let key = parent.map(|p| (p.str("name").unwrap_or_default(), p.strings("key")));
    let mut joins: Vec<String> = table.strings("person");
    for (i, column) in table.strings("foreign_key").into_iter().enumerate() {
        let shown = key.as_ref().and_then(|(parent, key)| published(parent, key.get(i)?));
        if shown.is_none() {
            joins.push(column);
        }
    }
    for column in joins {
        if let Some(attribute) = published(name, &column) {
            let help = "leave it out, or make it `identifying`: a fresh number takes its place";
            let message = format!("`{name}.{column}` joins tables and cannot be published");
            report.error(attribute.path_span(), message, help);
        }
    }
}
