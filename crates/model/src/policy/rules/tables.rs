//! Whether the tables of the source form one tree.

use crate::diag::nearest;
use crate::policy::check::key_span;
use crate::policy::node::{Node, Report};

/// Reports what is wrong with `[[source.table]]`.
pub(super) fn check(root: &Node, report: &mut Report) {
    let Some(source) = root.get("source") else { return };
    let tables = source.list("table");
    if tables.is_empty() {
        return;
    }
    let mut names: Vec<&str> = Vec::new();
    for table in tables {
        let Some(node) = table.get("name") else { continue };
        let Some(name) = node.text() else { continue };
        if names.contains(&name) {
            let help = "list a table once; of two tables it could hang below, choose one";
            report.error(&node.span, format!("there are two tables \"{name}\""), help);
        }
        names.push(name);
    }
    let persons: Vec<&Node> = tables.iter().filter(|t| t.get("parent").is_none()).collect();
    // Where rows are grouped by person, other tables may be grouped by the same people.
    let named = |t: &Node| t.strings("person").len();
    let grouped = persons.first().map_or(0, |t| named(t));
    for extra in persons.iter().skip(1).filter(|t| grouped == 0 || named(t) != grouped) {
        let first = persons[0].str("name").unwrap_or("the first");
        if grouped > 0 {
            let help = "say with `parent` and `foreign_key` what it hangs below, or with `person` which columns name \
                        the person, as many as there";
            let at = extra.get("name").map_or(&extra.span, |n| &n.span);
            report.error(
                at,
                format!("the rows of \"{first}\" are grouped by person, but these are not"),
                help,
            );
            continue;
        }
        let help = "say with `parent` and `foreign_key` what it hangs below";
        let at = extra.get("name").map_or(&extra.span, |n| &n.span);
        report.error(at, format!("two tables have no parent: \"{first}\" is the person table already"), help);
    }
    if persons.is_empty() {
        let help = "the table with one row per person has no `parent`";
        report.error(&tables[0].span, "there is no person table: every table has a parent", help);
    }
    for table in tables {
        links(table, tables, &names, report);
        if let Some(person) = table.get("person").filter(|_| table.get("parent").is_some()) {
            let help =
                "it belongs to the table without `parent`; below it, rows are grouped by their foreign key";
            report.error(&person.span, "`person` in a table that is not the person table", help);
        }
    }
    cycle(tables, report);
}

fn find<'a>(tables: &'a [Node], name: &str) -> Option<&'a Node> {
    tables.iter().find(|t| t.str("name") == Some(name))
}

fn links(table: &Node, tables: &[Node], names: &[&str], report: &mut Report) {
    let Some(parent) = table.get("parent") else {
        if table.get("foreign_key").is_some() {
            let help = "name the table whose key it holds with `parent`";
            report.error(key_span(table, "foreign_key"), "`foreign_key` without `parent`", help);
        }
        return;
    };
    if table.get("foreign_key").is_none() {
        let help = "name the column that holds the parent's key with `foreign_key`";
        report.error(&parent.span, "`parent` without `foreign_key`", help);
    }
    let Some(name) = parent.text() else { return };
    let Some(found) = find(tables, name) else {
        let help = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("there are: {}", names.join(", ")),
        };
        return report.error(&parent.span, format!("there is no table \"{name}\""), help);
    };
    let (key, foreign) = (found.strings("key"), table.strings("foreign_key"));
    if found.get("key").is_none() {
        let help = format!("give \"{name}\" its `key`");
        report.error(&parent.span, format!("\"{name}\" has no key to refer to"), help);
    } else if !foreign.is_empty() && !key.is_empty() && key.len() != foreign.len() {
        let message =
            format!("`foreign_key` has {} columns, the key of \"{name}\" has {}", foreign.len(), key.len());
        let at = table.get("foreign_key").map_or(&table.span, |f| &f.span);
        report.error(at, message, "list them in the same order");
    }
}

fn cycle(tables: &[Node], report: &mut Report) {
    let parent = |t: &Node| t.str("parent").and_then(|p| find(tables, p));
    for start in tables {
        let mut seen = vec![start.str("name").unwrap_or_default()];
        let mut at = parent(start);
        while let Some(next) = at {
            let name = next.str("name").unwrap_or_default();
            // Each cycle is told once, at its first table.
            if name == seen[0] {
                let first = tables.iter().find_map(|t| t.str("name").filter(|n| seen.contains(n)));
                if first == Some(seen[0]) {
                    seen.push(name);
                    let node = start.get("parent").map_or(&start.span, |p| &p.span);
                    let message =
                        format!("the tables hang below each other in a circle: {}", seen.join(" → "));
                    report.error(node, message, "one of them must hang below another table, or below none");
                }
                break;
            }
            if seen.contains(&name) {
                break;
            }
            seen.push(name);
            at = parent(next);
        }
    }
}
