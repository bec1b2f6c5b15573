//! Whether attackers know something that there is, and whether it can be counted.

use std::collections::BTreeSet;

use super::super::attacker::is_named;
use super::super::check::key_span;
use super::super::choices::{Missing, Role, RootMode, Rows};
use super::super::node::{Node, Report};
use super::super::read::tables_of;
use super::{Attribute, suggest};

/// Reports attackers who know what nobody can, and options of the promise that are not counted for them.
pub(super) fn check(root: &Node, attributes: &[Attribute<'_>], report: &mut Report) {
    let Some(privacy) = root.get("privacy") else { return };
    let attackers = privacy.list("attacker");
    let Some(first) = attackers.first() else { return };
    let mut names = BTreeSet::new();
    for attacker in attackers {
        if let Some(name) = attacker.str("name")
            && !names.insert(name)
        {
            let message = format!("two attackers are called `{name}`");
            let at = attacker.get("name").map_or(&attacker.span, |n| &n.span);
            report.error(at, message, "give each a name of its own: messages tell them apart by it");
        }
        knows_what_there_is(root, attacker, attributes, report);
        knows_something(attacker, report);
    }
    refuse_uncounted(root, privacy, first, report);
}

fn knows_what_there_is(root: &Node, attacker: &Node, attributes: &[Attribute<'_>], report: &mut Report) {
    let mut seen = BTreeSet::new();
    for known in attacker.list("knows") {
        let Some(path) = known.text() else { continue };
        if !seen.insert(path) {
            report.error(&known.span, format!("`{path}` is named twice"), "name each attribute once");
            continue;
        }
        match attributes.iter().find(|a| a.path == Some(path)) {
            None => {
                let help = suggest(path, attributes)
                    .unwrap_or_else(|| "name an attribute of this policy".to_owned());
                report.error(&known.span, format!("`{path}` is not a declared attribute"), help);
            }
            Some(found) => refuse_unknowable(path, found, known, report),
        }
    }
    for place in attacker.list("among") {
        let Some(path) = place.text() else { continue };
        if !seen.insert(path) {
            let help = "whoever knows it anyway need not count it again: name it once";
            report.error(&place.span, format!("`{path}` is named twice"), help);
            continue;
        }
        if let Some(found) = attributes.iter().find(|a| a.path == Some(path)) {
            refuse_unknowable(path, found, place, report);
            continue;
        }
        let below = |a: &&Attribute<'_>| {
            let own = a.path.unwrap_or_default();
            is_named(path, own, &tables_of(root, own))
        };
        let quasi = attributes.iter().filter(below).any(|a| a.role == Some(Role::Quasi));
        if !quasi {
            let any = attributes.iter().any(|a| below(&a));
            let (what, help) = match any {
                true => (
                    "no quasi attribute stands there",
                    "name a place where something may be known".to_owned(),
                ),
                false => (
                    "is neither an attribute nor an array or table",
                    suggest(path, attributes).unwrap_or_default(),
                ),
            };
            report.error(&place.span, format!("`{path}`: {what}"), help);
        }
    }
}

fn refuse_unknowable(path: &str, found: &Attribute<'_>, at: &Node, report: &mut Report) {
    if found.role.is_some_and(|role| role != Role::Quasi) {
        let message = format!("`{path}` is not a quasi attribute");
        let help = "what an attacker may know has role \"quasi\": change its role, or take it out here";
        report.error(&at.span, message, help);
    } else if let Some(target) = found.follows {
        let message = format!("`{path}` only repeats `{target}`");
        report.error(&at.span, message, format!("name `{target}`"));
    }
}

fn knows_something(attacker: &Node, report: &mut Report) {
    let m = attacker.get("m").and_then(Node::int).unwrap_or(0);
    if attacker.get("knows").is_none() && m == 0 {
        let at = attacker.get("m").map_or(&attacker.span, |m| &m.span);
        let help = "say in `knows` what they know, or give `m`, the number of values that they may know";
        report.error(at, "this attacker knows nothing", help);
    } else if attacker.get("among").is_some() && m == 0 {
        let help = "give `m`, the number of values that they may know besides, or take `among` out";
        report.error(key_span(attacker, "among"), "this attacker knows no further value", help);
    }
}

/// What is not counted within classes of people who look alike to an attacker.
fn refuse_uncounted(root: &Node, privacy: &Node, first: &Node, report: &mut Report) {
    let united = root.get("publish").and_then(|p| p.str("rows")) == Some(Rows::United.name());
    let several = privacy.get("n").and_then(Node::int) >= Some(2);
    let refused: [(&str, bool, &str); 6] = [
        ("guard", privacy.get("guard").and_then(Node::bool) == Some(true), "`guard`"),
        ("negative", privacy.get("negative").is_some(), "`negative`"),
        ("l", privacy.get("l").is_some(), "`l`"),
        ("n", several, "`n` above 1"),
        ("root", privacy.str("root") == Some(RootMode::Chain.name()), "`root = \"chain\"`"),
        ("missing", privacy.str("missing") == Some(Missing::Nothing.name()), "`missing = \"nothing\"`"),
    ];
    for (key, _, what) in refused.iter().filter(|(_, given, _)| *given) {
        let message = format!("{what} is not counted together with attackers");
        let help = format!("take `{key}` out, or say with `m` and `n` alone what somebody may know");
        report.error(key_span(privacy, key), message, help);
    }
    if united {
        let help = "take `rows = \"united\"` out: attackers are counted on rows as they are published";
        report.error(&first.span, "attackers are not counted where rows are united", help);
    }
}
