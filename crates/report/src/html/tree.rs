//! Trees as nested lists: hierarchies with their cut, and records.

use std::fmt::Write as _;

use bosket_measure::loss::Side;
use bosket_model::MISSING;
use bosket_model::policy::Role;

use super::text::{count, escape};
use crate::cut::{Branch, Cut, Place};

/// A hierarchy down to what is published.
pub(super) fn cut(cut: &Cut) -> String {
    let mut out = format!(
        "<figure><figcaption><b>{}</b>: {} of a hierarchy with {} leaves</figcaption>",
        escape(&cut.path),
        match cut.labels {
            0 => "nothing is published".to_owned(),
            1 => "1 label is published".to_owned(),
            n => format!("{} labels are published", count(n)),
        },
        count(cut.leaves)
    );
    if let Some(root) = &cut.root {
        out.push_str("<ul class=\"tree\">");
        branch(&mut out, root);
        out.push_str("</ul>");
    }
    out.push_str("</figure>\n");
    out
}

fn branch(out: &mut String, node: &Branch) {
    let (class, counted) = match node.place {
        Place::Above => ("node", String::new()),
        Place::Published => ("node published", format!(" <span class=\"soft\">{}</span>", count(node.count))),
        Place::Below => ("node below", format!(" <span class=\"soft\">{}</span>", count(node.count))),
    };
    let _ = write!(out, "<li><span class=\"{class}\">{}</span>{counted}", escape(&node.label));
    if !node.children.is_empty() || node.more > 0 {
        out.push_str("<ul>");
        node.children.iter().for_each(|child| branch(out, child));
        if node.more > 0 {
            let _ = write!(out, "<li class=\"soft\">… {} more</li>", count(node.more));
        }
        out.push_str("</ul>");
    }
    out.push_str("</li>");
}

/// Vertices of a record that are drawn.
const VERTICES: usize = 40;

/// A record: every vertex with its values. Values of attributes that the policy removes are crossed out.
pub(super) fn record(side: Side<'_>, record: usize) -> String {
    let data = side.data;
    let schema = data.schema();
    let range = data.vertices(record);
    let mut out = String::from("<ul class=\"tree\">");
    let mut open: Vec<usize> = Vec::new();
    for v in range.clone().take(VERTICES) {
        while open.last().is_some_and(|&above| Some(above) != data.parent(v)) {
            open.pop();
            out.push_str("</ul></li>");
        }
        let class = schema.class(data.class(v));
        let name = if open.is_empty() { "record" } else { class.name.last().map_or("", String::as_str) };
        let _ = write!(out, "<li><b>{}</b>", escape(name));
        for &a in &class.attributes {
            let code = data.value(v, a);
            if code == MISSING {
                continue;
            }
            let text =
                format!("{} {}", escape(schema.attribute(a).name.last().map_or("", String::as_str)), {
                    let value = data.dictionary(a).text(code);
                    format!("<b>{}</b>", escape(value))
                });
            let shown = match side.binding.role(a) {
                None | Some(Role::Identifying | Role::Drop) => format!("<del>{text}</del>"),
                Some(Role::Sensitive) => format!("<span class=\"node sensitive\">{text}</span>"),
                Some(_) => format!("<span class=\"node\">{text}</span>"),
            };
            let _ = write!(out, " {shown}");
        }
        out.push_str("<ul>");
        open.push(v);
    }
    for _ in open {
        out.push_str("</ul></li>");
    }
    if range.len() > VERTICES {
        let _ = write!(out, "<li class=\"soft\">… {} more</li>", count(range.len() - VERTICES));
    }
    out.push_str("</ul>");
    out
}
