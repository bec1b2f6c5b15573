//! What only the internal report has: examples before and after, worst cases, hierarchies below the cut.

use std::fmt::Write as _;

use bosket_measure::loss::Side;

use super::text::{count, escape};
use super::tree;
use crate::cut::Cut;
use crate::study::Study;

/// A record before and after, each by its number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// In the input.
    pub input: usize,
    /// In the publication; none if it was suppressed.
    pub published: Option<usize>,
}

/// What must not be published.
pub struct Internal<'a> {
    /// The private records.
    pub input: Side<'a>,
    /// The published ones.
    pub published: Side<'a>,
    /// Records to show.
    pub examples: Vec<Example>,
    /// Hierarchies with the input's values.
    pub cuts: Vec<Cut>,
    /// Names and values of whatever else is private.
    pub facts: Vec<(String, String)>,
}

/// The section.
pub(super) fn section(internal: &Internal<'_>, study: &Study) -> String {
    let mut out = String::from("<section class=\"private\"><h2>Private part</h2>\n");
    if !internal.facts.is_empty() {
        out.push_str(&super::list(&internal.facts));
    }
    for example in &internal.examples {
        let _ = write!(
            out,
            "<h3>Record {} before and after</h3><div class=\"two\"><figure><figcaption>before; crossed out is removed</figcaption>{}</figure>",
            count(example.input + 1),
            tree::record(internal.input, example.input)
        );
        let after = match example.published {
            Some(record) => tree::record(internal.published, record),
            None => "<p>suppressed</p>".to_owned(),
        };
        let _ = writeln!(out, "<figure><figcaption>after</figcaption>{after}</figure></div>");
    }
    if let Some(before) = study.before.as_ref().filter(|r| !r.worst.is_empty()) {
        out.push_str(
            "<h3>Worst cases before</h3>\n<div class=\"scroll\"><table><thead><tr><th class=\"n\">record</th>\
             <th class=\"n\">records that fit</th><th>knowledge that singles it out</th></tr></thead><tbody>",
        );
        for worst in &before.worst {
            let known: Vec<String> = (worst.known.iter())
                .map(|k| format!("{} <b>{}</b>", escape(&k.path), escape(&k.value)))
                .collect();
            let _ = write!(
                out,
                "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
                count(worst.record + 1),
                count(worst.matches),
                known.join("; ")
            );
        }
        out.push_str("</tbody></table></div>\n");
    }
    if !internal.cuts.is_empty() {
        out.push_str(
            "<h3>Hierarchies with the values of the input</h3>\n<ul class=\"key\"><li><span class=\"node published\">published</span></li>\
             <li><span class=\"node below\">published only as something more general, and how often it is in the input</span></li></ul>\
             <div class=\"two\">\n",
        );
        internal.cuts.iter().for_each(|cut| out.push_str(&tree::cut(cut)));
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
    out
}
