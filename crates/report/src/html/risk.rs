//! Risk before and after.

use std::fmt::Write as _;

use bosket_measure::attack::{Bin, Point, Risk, Told};

use super::chart::{Bar, Part, grouped, lines};
use super::text::{count, escape, percent};
use crate::study::Study;

/// What the attacker of a point knows.
fn knows(point: &Point) -> String {
    match (point.m, point.n) {
        (Some(m), Some(n)) if n > 0 => format!("{} and {}", number(m, "value"), number(n, "relation")),
        (Some(m), _) => number(m, "value"),
        _ => "everything but the sensitive values".to_owned(),
    }
}

fn number(n: u32, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn bin(bin: &Bin) -> String {
    match bin.to {
        Some(to) if to == bin.from => format!("{to}"),
        Some(to) => format!("{}–{to}", bin.from),
        None => format!("{} or more", bin.from),
    }
}

/// The section.
pub(super) fn section(study: &Study, after: &Risk) -> String {
    let before = study.before.as_ref();
    let mut out = String::from("<h2>Risk before and after</h2>\n");
    let (old, Some(point)) = study.claimed() else {
        out.push_str(
            "<p>Attackers as strong as the claim's know more than was counted; these are weaker ones.</p>\n",
        );
        out.push_str(&table(before, after));
        return out;
    };
    let worst = study.worst_attacker().map(|(_, told)| told);
    let _ = writeln!(
        out,
        "<p>{} looks for the records that fit. Of each person the knowledge that fits the fewest records is \
         counted: the worst case.</p>",
        match worst {
            Some(told) => escape(&format!("{}, who knows {} of somebody,", called(told), told.knows)),
            None => format!("An attacker who knows {} of somebody", knows(point)),
        }
    );
    out.push_str(&attackers(before, after));
    if study.is_anatomized() {
        out.push_str(
            "<p>In the publication a person fits all people of the group, who look alike: which of the group's sensitive values \
             are the person's is not told, so one that all of them share is known of each. That somebody is in the data is \
             not hidden.</p>\n",
        );
    } else if study.is_apart() {
        out.push_str(
            "<p>After dissection a person fits all people of the group: the quasi values say which group it is, but not which \
             of its sensitive values are the person's. That somebody is in the data is not hidden.</p>\n",
        );
    }
    out.push_str("<div class=\"two\">\n");
    out.push_str(&distribution(old, point));
    out.push_str(&curves(before, after, worst.map_or(point.n, |_| Some(0))));
    out.push_str("</div>\n");
    out.push_str(&figures(old, point, study));
    out.push_str(&table(before, after));
    out
}

/// What an attacker is called in a sentence.
fn called(told: &Told) -> String {
    told.name.as_ref().map_or("Somebody".to_owned(), |name| format!("The attacker `{name}`"))
}

/// The attackers of the policy, as promised and with one value more; nothing where it names nobody.
fn attackers(before: Option<&Risk>, after: &Risk) -> String {
    if after.attackers.iter().all(|told| told.name.is_none()) {
        return String::new();
    }
    let mut out = String::from(
        "<div class=\"scroll\"><table><thead><tr><th>attacker of the policy</th><th class=\"n\">unique before</th>\
         <th class=\"n\">after</th><th class=\"n\">fewer than asked before</th><th class=\"n\">after</th></tr></thead><tbody>",
    );
    let mut row = |who: &str, old: Option<&Point>, new: &Point| {
        let _ = write!(out, "<tr><td>{}</td>", escape(who));
        for of in [|p: &Point| p.unique.value, |p: &Point| p.below_k.value] {
            for point in [old, Some(new)] {
                let share = point.map_or("–".to_owned(), |p| percent(of(p)));
                let _ = write!(out, "<td class=\"n\">{share}</td>");
            }
        }
        out.push_str("</tr>");
    };
    for told in &after.attackers {
        let old = before.and_then(|risk| risk.attackers.iter().find(|other| other.name == told.name));
        let who = told.name.as_deref().unwrap_or("nobody in particular");
        let who = format!("{who}: knows {}; fewer than {}", told.knows, told.k);
        row(&who, old.map(|old| &old.promised), &told.promised);
        row("the same with one value more than promised", old.map(|old| &old.one_more), &told.one_more);
    }
    out.push_str("</tbody></table></div>\n");
    out
}

fn key(both: bool) -> &'static str {
    if both {
        "<ul class=\"key\"><li><i class=\"before\"></i>before</li>\
         <li><i class=\"after\"></i>after</li></ul>"
    } else {
        "<ul class=\"key\"><li><i class=\"after\"></i>publication</li></ul>"
    }
}

fn distribution(before: Option<&Point>, after: &Point) -> String {
    let bars: Vec<Bar<'_>> = (after.bins.iter().enumerate())
        .map(|(i, b)| {
            let mut parts = Vec::new();
            if let Some(old) = before.and_then(|p| p.bins.get(i)) {
                parts.push(Part::new("before", old.people));
            }
            parts.push(Part::new("after", b.people));
            Bar { name: format!("{} fit", bin(b)), parts }
        })
        .collect();
    format!(
        "<figure><figcaption>Share of people by how many records fit them</figcaption>{}{}</figure>\n",
        key(before.is_some()),
        grouped("fits", "Share of people by how many records fit them", &bars)
    )
}

/// The share of people with fewer than k matches over m, for the claim's n.
fn curves(before: Option<&Risk>, after: &Risk, n: Option<u32>) -> String {
    let over = |risk: &Risk| -> Vec<(u32, f64)> {
        let own = risk.points.iter().filter(|p| p.n == n);
        own.filter_map(|p| Some((p.m?, p.below_k.value))).collect()
    };
    let mut series = Vec::new();
    if let Some(before) = before {
        series.push(("before", over(before)));
    }
    series.push(("after", over(after)));
    if series.iter().all(|s| s.1.len() < 2) {
        return String::new();
    }
    let title = format!("Share of people whom fewer than {} records fit", after.k);
    format!(
        "<figure><figcaption>{title}, by the number of values known</figcaption>{}{}</figure>\n",
        key(before.is_some()),
        lines("curve", &title, "values known", &series)
    )
}

fn figures(before: Option<&Point>, after: &Point, study: &Study) -> String {
    let hidden = study.is_apart() && !study.is_anatomized();
    let whom = if hidden { "finding a person's sensitive values" } else { "finding a certain person" };
    let among = if study.is_anatomized() { "its places in a group" } else { "the records that fit" };
    let mut out = String::from(
        "<div class=\"scroll\"><table><thead><tr><th>risk</th><th class=\"n\">before</th><th class=\"n\">after</th>\
         <th>what it is</th></tr></thead><tbody>",
    );
    let mut row = |name: &str, of: &dyn Fn(&Point) -> Option<f64>, about: &str| {
        let shown = |p: Option<&Point>| p.and_then(of).map_or("–".to_owned(), percent);
        if of(after).is_some() {
            let _ = write!(
                out,
                "<tr><td>{name}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{about}</td></tr>",
                shown(before),
                shown(Some(after))
            );
        }
    };
    row("prosecutor", &|p| Some(p.prosecutor), &format!("highest chance of {whom}: the largest 1/matches"));
    row(
        "marketer",
        &|p| Some(p.marketer),
        "share of people found when guessing for everybody: the mean of 1/matches",
    );
    row(
        "random attacker",
        &|p| Some(p.random_marketer),
        "the same when the knowledge is drawn at random, not the worst",
    );
    row(
        "confidence",
        &|p| p.confidence.map(|c| c.0),
        &format!("highest share of a sensitive value among {among}"),
    );
    out.push_str("<tr><td>journalist</td><td class=\"n\">–</td><td class=\"n\">–</td><td>not computed: needs counts of the population</td></tr>");
    out.push_str("</tbody></table></div>\n");
    out
}

fn table(before: Option<&Risk>, after: &Risk) -> String {
    let mut out = format!(
        "<details open><summary>All attackers</summary><div class=\"scroll\"><table><thead><tr><th>attacker knows</th>\
         <th class=\"n\">unique before</th><th class=\"n\">after</th><th class=\"n\">fewer than {} before</th>\
         <th class=\"n\">after</th></tr></thead><tbody>",
        after.k
    );
    // A relation needs two values.
    let possible = |p: &&Point| p.m != Some(1) || p.n.is_none_or(|n| n == 0);
    for point in after.points.iter().filter(possible) {
        let old = before.and_then(|r| r.points.iter().find(|p| (p.m, p.n) == (point.m, point.n)));
        let shown =
            |p: Option<&Point>, of: &dyn Fn(&Point) -> f64| p.map_or("–".to_owned(), |p| percent(of(p)));
        let _ = write!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            knows(point),
            shown(old, &|p| p.unique.value),
            shown(Some(point), &|p| p.unique.value),
            shown(old, &|p| p.below_k.value),
            shown(Some(point), &|p| p.below_k.value)
        );
    }
    out.push_str("</tbody></table></div></details>\n");
    let sampled: Vec<&Point> =
        before.into_iter().chain([after]).flat_map(|r| &r.points).filter(|p| !p.exhaustive).collect();
    if let Some(widest) = sampled.iter().map(|p| p.below_k.high - p.below_k.low).max_by(f64::total_cmp) {
        let people = sampled.iter().map(|p| p.people).min().unwrap_or(0);
        let _ = writeln!(
            out,
            "<p class=\"soft\">Some figures are from a sample of {} people or more; 95 % intervals are at most {} wide.</p>",
            count(people),
            percent(widest)
        );
    }
    if before.into_iter().chain([after]).flat_map(|r| &r.points).any(|p| !p.exact) {
        out.push_str("<p class=\"soft\">Of some people only part of the knowledge was tried: these shares are lower bounds.</p>\n");
    }
    out
}
