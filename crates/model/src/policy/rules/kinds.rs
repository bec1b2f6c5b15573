//! Where kinds of a class may be named, and what they may say.

use super::super::choices::Format;
use super::super::node::{Node, Report};
use super::Attribute;
use super::masks::two_sides;
use crate::path::{AttributePath, Mark, Notation, has_kind};

pub(super) fn check(root: &Node, attributes: &[Attribute<'_>], report: &mut Report) {
    let source = root.get("source");
    let format = source.and_then(|s| s.str("format")).and_then(Format::from_name);
    let nested_parquet =
        format == Some(Format::Parquet) && source.is_some_and(|s| s.list("table").is_empty());
    // The header of a table may have any signs.
    if format.is_some_and(Format::is_tables) && !nested_parquet {
        return;
    }
    let notation = if format == Some(Format::Xml) { Notation::Slashes } else { Notation::Dots };
    for attribute in attributes {
        let named = |path: &&str| has_kind(path) && (!nested_parquet || path.contains("]."));
        let Some(path) = attribute.path.filter(named) else { continue };
        if !matches!(format, None | Some(Format::Json | Format::Ndjson | Format::Xml)) {
            let what = "kinds of a class are told apart in JSON, NDJSON and XML only";
            report.error(attribute.path_span(), what, "name the whole class with `[]`");
        } else if two_sides(root) {
            let what = "publications in two sides do not tell kinds of a class apart";
            report.error(attribute.path_span(), what, "name the whole class with `[]`");
        }
        let Ok((parsed, marks)) = AttributePath::parse_marked(notation, path) else { continue };
        if let Some(Mark::Kind(kind)) = marks.last()
            && parsed.name == kind.by
        {
            let what = "what tells a kind of a class is part of its name, and published with it";
            report.error(attribute.path_span(), what, "leave this attribute out of the policy");
        }
    }
}
