//! The annex as a page of tables.

use std::fmt::Write as _;

use super::text::escape;
use crate::annex::{Annex, Cell};

/// The section; it begins a page of its own on paper.
pub(super) fn section(annex: &Annex) -> String {
    let mut out = String::from(
        "<section class=\"annex\" id=\"annex\">\n<h2>Annex: for those who decide</h2>\n\
         <p>What is asked about a release, as far as it was measured or written down. Nothing here says that a law or a standard \
         is met: that is for people to decide, and these are their papers.</p>\n",
    );
    for table in &annex.tables {
        let _ = writeln!(out, "<h3>{}</h3>\n<p>{}</p>", escape(&table.title), escape(&table.meaning));
        out.push_str("<div class=\"scroll\"><table><thead><tr>");
        for column in &table.columns {
            let _ = write!(out, "<th>{}</th>", escape(column));
        }
        out.push_str("</tr></thead><tbody>");
        for row in &table.rows {
            out.push_str("<tr>");
            for cell in row {
                match cell {
                    Cell::Text(text) => {
                        let more = if text.starts_with("MORE") { " class=\"more\"" } else { "" };
                        let _ = write!(out, "<td{more}>{}</td>", escape(text));
                    }
                    Cell::Empty => out.push_str("<td><span class=\"empty\">not filled in</span></td>"),
                }
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div>\n");
    }
    out.push_str("</section>\n");
    out
}
