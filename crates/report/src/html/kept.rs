//! How many rows and values are published of how many.

use std::fmt::Write as _;

use bosket_measure::kept::{Fate, Kept, Lost, OTHERS};

use super::text::{count, escape};

/// The table.
pub(super) fn section(kept: &Kept) -> String {
    if kept.classes.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<h2>How much of it is published</h2>\n<div class=\"scroll\"><table><thead><tr><th>rows and values</th>\
         <th class=\"n\">in</th><th class=\"n\">out</th><th class=\"n\">of these moved</th><th class=\"n\">as anything</th>\
         <th class=\"n\">merged</th><th class=\"n\">pruned</th><th class=\"n\">left out</th><th class=\"n\">suppressed</th>\
         </tr></thead><tbody>",
    );
    for class in &kept.classes {
        let name = match class.path.as_str() {
            "" => "records".to_owned(),
            path => format!("rows of {}", escape(path)),
        };
        row(&mut out, &name, &class.rows);
    }
    for attribute in &kept.attributes {
        let kind = attribute.kind().filter(|_| attribute.path != OTHERS);
        let role = kind.map_or_else(String::new, |kind| format!(" ({kind})"));
        row(&mut out, &format!("{}{role}", escape(&attribute.path)), &attribute.values);
    }
    out.push_str(
        "</tbody></table></div>\n<p class=\"soft\">Moved: stands above its place, apart from its row. As anything: says only that \
         there is something. Merged: a look-alike says the same. Pruned: others of the cluster have nothing like it. Left \
         out: nothing published stands for it. Suppressed: with its whole record. What the policy removes is not counted; \
         what fewer people have than the guarantee asks for is counted together as others.</p>\n",
    );
    out
}

fn row(out: &mut String, name: &str, fate: &Fate) {
    let lost = |of: fn(&Lost) -> u64| fate.lost.as_ref().map(of);
    let numbers = [
        Some(fate.input),
        Some(fate.published),
        Some(fate.moved),
        Some(fate.anything),
        lost(|l| l.merged),
        lost(|l| l.pruned),
        lost(|l| l.left_out),
        lost(|l| l.suppressed),
    ];
    let _ = write!(out, "<tr><td>{name}</td>");
    for number in numbers {
        let text = number.map_or("–".to_owned(), |n| count(n as usize));
        let _ = write!(out, "<td class=\"n\">{text}</td>");
    }
    out.push_str("</tr>");
}
